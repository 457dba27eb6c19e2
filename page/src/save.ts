// What is on the screen as a file: PNG as it is drawn, SVG as shapes that other programs can change.
import type { Passage } from "./api.ts";
import { clear } from "./colours.ts";
import type { Memory } from "./memory.ts";
import { isHabit, isHistory } from "./panel.ts";
import { FONT, type Sky } from "./sky.ts";
import type { Wave } from "./wave.ts";

const TIMES = 2; // a PNG has so many pixels a side for one of the page

interface Scene { memory: Memory; sky: Sky; wave: Wave; caption: string }

interface Shape { from: { x: number; y: number }; to: { x: number; y: number }; color: string; width: number }
interface Bead { x: number; y: number; radius: number; color: string; name: { label: string; x: number; y: number } | null; zIndex: number; pinned: boolean }

function shapes({ memory, sky }: Scene): { lines: Shape[]; beads: Bead[] } {
  const { width, height } = sky.sigma.getDimensions();
  const place = (id: string) => sky.sigma.graphToViewport(memory.place(id)!);
  const lines: Shape[] = [];
  memory.graph.forEachEdge((edge, link, one, other) => {
    const look = sky.linkLooks(edge, link);
    if (!look.hidden) lines.push({ from: place(one), to: place(other), color: clear(look.color, look.alpha), width: Math.max(0.6, look.size * 0.8) });
  });
  const beads: Bead[] = [];
  memory.graph.forEachNode((id, concept) => {
    const look = sky.looks(id, concept);
    const { x, y } = place(id);
    if (look.hidden || x < -50 || y < -50 || x > width + 50 || y > height + 50) return;
    const at = sky.named.get(id);
    const name = at ? { label: look.label, ...at } : null;
    beads.push({ x, y, radius: sky.sigma.scaleSize(look.size), color: look.color, name, zIndex: look.zIndex, pinned: concept.pinned });
  });
  return { lines, beads: beads.sort((a, b) => a.zIndex - b.zIndex) };
}

const fontSize = (radius: number) => Math.min(17, 10.5 + radius * 0.34);

export function png(scene: Scene, name: string): void {
  const { sky, wave } = scene;
  const { width, height } = sky.sigma.getDimensions();
  const canvas = document.createElement("canvas");
  canvas.width = width * TIMES;
  canvas.height = height * TIMES;
  const context = canvas.getContext("2d")!;
  sky.paintLight(context, TIMES);
  context.setTransform(TIMES, 0, 0, TIMES, 0, 0);
  const { lines, beads } = shapes(scene);
  for (const line of lines) {
    context.strokeStyle = line.color;
    context.lineWidth = line.width;
    context.beginPath();
    context.moveTo(line.from.x, line.from.y);
    context.lineTo(line.to.x, line.to.y);
    context.stroke();
  }
  for (const bead of beads) {
    context.fillStyle = bead.color;
    context.beginPath();
    context.arc(bead.x, bead.y, bead.radius, 0, 7);
    context.fill();
  }
  context.textAlign = "center";
  context.textBaseline = "top";
  context.lineJoin = "round";
  for (const { name, radius } of beads) {
    if (name === null) continue;
    context.font = `500 ${fontSize(radius)}px ${FONT}`;
    context.lineWidth = 3.5;
    context.strokeStyle = clear(sky.shade.back, 0.85);
    context.strokeText(name.label, name.x, name.y);
    context.fillStyle = sky.shade.ink;
    context.fillText(name.label, name.x, name.y);
  }
  wave.drawOn(context);
  context.textAlign = "left";
  context.font = `500 12px ${FONT}`;
  context.fillStyle = sky.shade.faint;
  context.fillText(scene.caption, 16, height - 24);
  canvas.toBlob((blob) => blob && download(blob, `${name}.png`), "image/png");
}

export function svg(scene: Scene, name: string): void {
  const { sky, wave } = scene;
  const { width, height } = sky.sigma.getDimensions();
  const { lines, beads } = shapes(scene);
  const awake = sky.shade.awake;
  const written = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="${escaped(FONT)}">`,
    `<rect width="${width}" height="${height}" fill="${sky.shade.back}"/>`,
    ...lines.map(({ from, to, color, width: wide }) =>
      `<line x1="${at(from.x)}" y1="${at(from.y)}" x2="${at(to.x)}" y2="${at(to.y)}" stroke="${color}" stroke-width="${wide.toFixed(2)}"/>`),
    ...beads.map(({ x, y, radius, color, name }) =>
      `<circle cx="${at(x)}" cy="${at(y)}" r="${at(radius)}" fill="${color}">${name ? `<title>${escaped(name.label)}</title>` : ""}</circle>`),
    ...beads.flatMap(({ radius, name }) => (name ? [{ radius, ...name }] : [])).map(({ x, y, radius, label }) =>
      `<text x="${at(x)}" y="${at(y + 10)}" text-anchor="middle" font-size="${at(fontSize(radius))}" fill="${sky.shade.ink}" ` +
      `stroke="${sky.shade.back}" stroke-width="3" paint-order="stroke">${escaped(label)}</text>`),
    ...beads.filter(({ pinned }) => pinned).map(({ x, y, radius }) =>
      `<text x="${at(x + radius * 0.8)}" y="${at(y - radius * 0.4)}" text-anchor="middle" font-size="${at(10 + radius * 0.5)}" fill="${awake}">★</text>`),
    ...wave.turns.flatMap((turn) => {
      const place = sky.sigma.graphToViewport(turn);
      return [
        ...turn.holds.map((id) => {
          const held = sky.sigma.graphToViewport(scene.memory.place(id)!);
          return `<line x1="${at(place.x)}" y1="${at(place.y)}" x2="${at(held.x)}" y2="${at(held.y)}" stroke="${awake}" stroke-dasharray="2 4"/>`;
        }),
        mark(turn.passage, place, sky),
        ...(turn.passage.pinned ? [`<text class="pin" x="${at(place.x + 11)}" y="${at(place.y - 6)}" text-anchor="middle" font-size="16" fill="${awake}">★</text>`] : []),
        `<text x="${at(place.x)}" y="${at(place.y + 4)}" text-anchor="middle" font-size="12" font-weight="700" fill="#1c2233">${turn.rank}</text>`,
      ];
    }),
    `<text x="16" y="${height - 16}" font-size="12" fill="${sky.shade.faint}">${escaped(scene.caption)}</text>`,
    "</svg>",
  ].join("\n");
  download(new Blob([written], { type: "image/svg+xml" }), `${name}.svg`);
}

const at = (value: number) => value.toFixed(1);

/** A turn: what recurs is round, and what is no longer so is faint, with a broken edge, as on the screen. */
function mark(passage: Passage, { x, y }: { x: number; y: number }, { shade }: Sky): string {
  const title = `<title>${escaped(passage.text)}</title>`;
  if (isHabit(passage)) return `<circle class="habit" cx="${at(x)}" cy="${at(y)}" r="12" fill="${shade.awake}">${title}</circle>`;
  const look = isHistory(passage)
    ? `class="history" fill="${shade.faint}" stroke="${shade.awake}" stroke-width="1.5" stroke-dasharray="3 3"`
    : `fill="${shade.awake}"`;
  return `<rect x="${at(x - 11)}" y="${at(y - 11)}" width="22" height="22" rx="5" ${look}>${title}</rect>`;
}

function escaped(text: string): string {
  const plain = text.replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, "\ufffd");
  return plain.replace(/[&<>"]/g, (found) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[found]!);
}

function download(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
