// What happens above the graph: activation as it spreads, round by round, to concepts and then to turns; and rings around
// what changed.  A canvas of its own: only what is awake is drawn anew in each frame, however large the graph below is.
import type { Activated, Passage, Reply } from "./api.ts";
import { clear, type Shade } from "./colours.ts";
import type { Memory } from "./memory.ts";
import { isHabit, isHistory } from "./panel.ts";
import { FONT, overlap, type Box, type Sky } from "./sky.ts";

const ROUND_MS = 900;
const TURN_MS = 110; // between one turn and the next
const NAMED = 22; // concepts, at most, whose names are always shown
const SNIPPET_FONT = `500 12px ${FONT}`;
const LINKED = 6; // concepts, at most, that a turn is drawn with lines to

interface Woken { id: string; from: string | null; energy: number }

export interface PlacedTurn { passage: Passage; rank: number; x: number; y: number; holds: string[] }

export type Ring = "born" | "grew" | "faded" | "gone";

export class Wave {
  turns: PlacedTurn[] = [];
  chosen: string | null = null; // a turn
  rings = new Map<string, Ring>();
  private rounds: Woken[][] = [];
  private began = 0;
  private running = 0;
  private readonly context: CanvasRenderingContext2D;

  constructor(private readonly memory: Memory, private readonly sky: Sky, private readonly canvas: HTMLCanvasElement) {
    this.context = canvas.getContext("2d")!;
    sky.reserved = () => this.boxes();
  }

  /** Play an answer; `stepped` is called as each round begins, with how many have, and at the end. */
  play(reply: Reply, stepped: (round: number, done: boolean) => void): void {
    this.stop();
    this.rounds = rounds(reply);
    this.turns = this.placed(reply);
    const focus = this.sky.focus;
    focus.awake = new Map();
    focus.links = new Set();
    const strongest = reply.concepts.slice(0, NAMED).map(({ id }) => id);
    focus.named = new Set([...reply.seeds.map(({ id }) => id), ...strongest]);
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.began = performance.now() - (still ? 1e6 : 0);
    let begun = -1;
    const frame = () => {
      const time = performance.now() - this.began;
      const now = Math.min(this.rounds.length, Math.floor(time / ROUND_MS + 0.35)); // a concept wakes as the light reaches it
      if (now !== begun) {
        begun = now;
        this.wake(this.rounds.slice(0, now).flat());
        stepped(now, false);
      }
      this.draw();
      const end = this.rounds.length * ROUND_MS + this.turns.length * TURN_MS + 600;
      if (time < end) {
        this.running = requestAnimationFrame(frame);
      } else {
        this.running = 0;
        stepped(this.rounds.length, true);
      }
    };
    frame();
  }

  private wake(woken: Woken[]): void {
    const { awake, links } = this.sky.focus;
    const most = Math.max(...this.rounds.slice(1).flat().map(({ energy }) => energy), 1e-9);
    const graph = this.memory.graph;
    for (const { id, from, energy } of woken) {
      if (!graph.hasNode(id)) continue;
      awake.set(id, from === null ? 1 : 0.15 + 0.65 * Math.sqrt(Math.min(1, energy / most)));
      const edge = from !== null && graph.hasNode(from) ? graph.edge(from, id) : undefined;
      if (edge !== undefined) links.add(edge);
    }
    this.sky.recolour();
  }

  /** Let everything go to sleep again. */
  stop(): void {
    cancelAnimationFrame(this.running);
    this.running = 0;
    this.rounds = [];
    this.turns = [];
    this.chosen = null;
    this.sky.focus.awake = new Map();
    this.sky.focus.links = new Set();
  }

  get isPlaying(): boolean {
    return this.running !== 0;
  }

  /** The turn that lies under a point of the screen. */
  turnAt(x: number, y: number): PlacedTurn | null {
    return this.turns.find((turn) => {
      const at = this.sky.sigma.graphToViewport(turn);
      return Math.abs(at.x - x) < 14 && Math.abs(at.y - y) < 14;
    }) ?? null;
  }

  /** Give each turn a place: amid what it holds, pushed outwards, away from the others. */
  private placed(reply: Reply): PlacedTurn[] {
    const energy = new Map(reply.concepts.map((concept) => [concept.id, concept.energy]));
    const box = this.sky.sigma.getBBox();
    const wide = Math.max(box.x[1] - box.x[0], box.y[1] - box.y[0], 1);
    const [middleX, middleY] = [(box.x[0] + box.x[1]) / 2, (box.y[0] + box.y[1]) / 2];
    const turns: PlacedTurn[] = [];
    const named = ({ why, members }: Passage): string[] => [
      ...(why?.mentions ?? []).filter(({ distance }) => distance === 0).map(({ concept }) => concept),
      ...(why?.associations ?? []).map(({ target }) => target),
      ...(why?.mentions ?? []).map(({ concept }) => concept),
      ...(why?.kinds ?? []).map(({ member }) => member),
      ...(members ? reply.seeds.map(({ id }) => id) : []), // what recurs has no words of its own: it was asked for by these
    ];
    reply.passages.forEach((passage, at) => {
      const holds = [...new Set(named(passage))].filter((id) => this.memory.graph.hasNode(id)).slice(0, LINKED);
      if (!holds.length) return;
      const weights = holds.map((id) => 0.05 + (energy.get(id) ?? 0));
      const sum = weights.reduce((total, weight) => total + weight, 0);
      const places = holds.map((id) => this.memory.place(id)!);
      const x = places.reduce((total, place, n) => total + place.x * weights[n]!, 0) / sum;
      const y = places.reduce((total, place, n) => total + place.y * weights[n]!, 0) / sum;
      const angle = Math.atan2(y - middleY, x - middleX) + (at % 2 ? 0.5 : -0.5) * at * 0.35;
      turns.push({ passage, rank: at + 1, holds, x: x + Math.cos(angle) * wide * 0.11, y: y + Math.sin(angle) * wide * 0.11 });
    });
    for (let pass = 0; pass < 60; pass++) for (const one of turns) for (const other of turns) part(one, other, wide * 0.062);
    return turns;
  }

  /** Draw all of it, as it is now. */
  draw(): void {
    const { width, height } = this.sky.sigma.getDimensions();
    const ratio = devicePixelRatio || 1;
    if (this.canvas.width !== Math.round(width * ratio) || this.canvas.height !== Math.round(height * ratio)) {
      this.canvas.width = Math.round(width * ratio);
      this.canvas.height = Math.round(height * ratio);
    }
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.context.clearRect(0, 0, width, height);
    this.drawOn(this.context);
  }

  drawOn(context: CanvasRenderingContext2D): void {
    const time = this.rounds.length ? performance.now() - this.began : 0;
    this.drawMarks(context);
    this.drawRings(context);
    this.rounds.forEach((round, at) => {
      const part = ease((time - at * ROUND_MS) / ROUND_MS);
      if (part > 0) for (const woken of round) this.drawWoken(context, woken, part, this.sky.shade);
    });
    const since = time - this.rounds.length * ROUND_MS;
    const snippets = this.snippets();
    for (const turn of this.turns) {
      const part = ease((since - (turn.rank - 1) * TURN_MS) / 400);
      if (part <= 0) continue;
      this.drawLines(context, turn, part);
      const snippet = snippets.get(turn);
      if (snippet) this.drawSnippet(context, snippet, part);
    }
    for (const turn of this.turns) {
      const part = ease((since - (turn.rank - 1) * TURN_MS) / 400);
      if (part > 0) this.drawTurn(context, turn, part);
    }
  }

  private at(id: string): { x: number; y: number; size: number } | null {
    const data = this.sky.sigma.getNodeDisplayData(id);
    const place = this.memory.place(id);
    if (!data || !place || data.hidden) return null;
    return { ...this.sky.sigma.graphToViewport(place), size: this.sky.sigma.scaleSize(data.size) };
  }

  private drawWoken(context: CanvasRenderingContext2D, { id, from, energy }: Woken, part: number, shade: Shade): void {
    const to = this.at(id);
    if (!to) return;
    const start = from === null ? null : this.at(from);
    if (start) {
      const head = { x: start.x + (to.x - start.x) * part, y: start.y + (to.y - start.y) * part };
      const gradient = context.createLinearGradient(start.x, start.y, head.x, head.y);
      gradient.addColorStop(0, clear(shade.awake, 0.1));
      gradient.addColorStop(1, clear(shade.awake, part < 1 ? 0.95 : 0.5));
      context.strokeStyle = gradient;
      context.lineWidth = 1 + Math.min(2, energy * 5);
      context.beginPath();
      context.moveTo(start.x, start.y);
      context.lineTo(head.x, head.y);
      context.stroke();
      if (part < 1) this.dot(context, head, 3.2, shade.awake);
    }
    if (from === null || part >= 1) {
      const pulse = from === null ? part : 1;
      context.strokeStyle = clear(shade.awake, from === null ? 0.9 : 0.35);
      context.lineWidth = from === null ? 2 : 1;
      context.beginPath();
      context.arc(to.x, to.y, to.size + 3 + (1 - pulse) * 40, 0, 7);
      context.stroke();
    }
  }

  private drawLines(context: CanvasRenderingContext2D, turn: PlacedTurn, part: number): void {
    const { shade } = this.sky;
    const at = this.sky.sigma.graphToViewport(turn);
    const isChosen = this.chosen === turn.passage.id;
    context.setLineDash([2, 4]);
    context.lineWidth = isChosen ? 2 : 1;
    context.strokeStyle = clear(isChosen ? shade.awake : shade.ink, (isChosen ? 0.95 : 0.32) * part);
    for (const id of turn.holds) {
      const held = this.at(id);
      if (!held) continue;
      context.beginPath();
      context.moveTo(held.x, held.y);
      context.lineTo(held.x + (at.x - held.x) * part, held.y + (at.y - held.y) * part);
      context.stroke();
    }
    context.setLineDash([]);
  }

  private drawTurn(context: CanvasRenderingContext2D, turn: PlacedTurn, part: number): void {
    const { shade } = this.sky;
    const at = this.sky.sigma.graphToViewport(turn);
    const isChosen = this.chosen === turn.passage.id;
    const half = (turn.rank === 1 ? 13 : 10.5) * part * (isChosen ? 1.2 : 1);
    this.sky.glow(context, at, half * 2.6, shade.awake, turn.rank === 1 || isChosen ? 1 : 0.5);
    const plain = shade.dark ? "#f3ecd9" : "#fffdf6";
    const past = isHistory(turn.passage); // it is no longer so: faint, with a broken edge
    context.fillStyle = past ? shade.faint : isChosen || turn.rank === 1 ? shade.awake : plain;
    context.beginPath();
    if (isHabit(turn.passage)) context.arc(at.x, at.y, half * 1.1, 0, 7); // what recurs is round
    else context.roundRect(at.x - half, at.y - half, half * 2, half * 2, 5);
    context.fill();
    context.strokeStyle = clear(shade.awake, 0.9);
    context.lineWidth = 1.5;
    context.setLineDash(past ? [3, 3] : []);
    context.stroke();
    context.setLineDash([]);
    if (turn.passage.pinned) this.star(context, at, half);
    context.fillStyle = "#1c2233";
    context.font = `700 ${Math.max(1, half)}px ${FONT}`;
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.fillText(String(turn.rank), at.x, at.y + 0.5);
  }

  /** Where on the screen the number of a turn is. */
  private mark(turn: PlacedTurn): Box {
    const { x, y } = this.sky.sigma.graphToViewport(turn);
    return { left: x - 13, right: x + 13, top: y - 13, bottom: y + 13 };
  }

  /** The beginnings of turns, and where they are written: beside their numbers, where they hide no other. */
  private snippets(): Map<PlacedTurn, { text: string; box: Box }> {
    const taken = this.turns.map((turn) => this.mark(turn));
    const found = new Map<PlacedTurn, { text: string; box: Box }>();
    for (const turn of this.turns) {
      const isChosen = this.chosen === turn.passage.id;
      if (turn.rank > 3 && !isChosen) continue;
      const { text, boxes } = this.snippet(turn);
      const box = boxes.find((one) => !taken.some((other) => overlap(one, other))) ?? (isChosen ? boxes[0] : undefined);
      if (box === undefined) continue;
      taken.push(box);
      found.set(turn, { text, box });
    }
    return found;
  }

  /** The beginning of a turn, and where it could be written: on either side that has room. */
  private snippet(turn: PlacedTurn): { text: string; boxes: Box[] } {
    const at = this.sky.sigma.graphToViewport(turn);
    const wide = /[\u3400-\u9fff]/.test(turn.passage.text) ? 16 : 32;
    const text = turn.passage.text.length > wide ? `${turn.passage.text.slice(0, wide)}…` : turn.passage.text;
    this.context.font = SNIPPET_FONT;
    const width = this.context.measureText(text).width + 14;
    const room = this.sky.sigma.getDimensions().width;
    const boxes = [at.x + 17, at.x - 17 - width].map((left) => ({ left, right: left + width, top: at.y - 11, bottom: at.y + 11 }));
    return { text, boxes: boxes.filter(({ left, right }) => left >= 0 && right <= room) };
  }

  private drawSnippet(context: CanvasRenderingContext2D, { text, box }: { text: string; box: Box }, part: number): void {
    const { shade } = this.sky;
    context.globalAlpha = part;
    context.font = SNIPPET_FONT;
    context.textAlign = "left";
    context.textBaseline = "middle";
    context.fillStyle = clear(shade.back, 0.82);
    context.beginPath();
    context.roundRect(box.left, box.top, box.right - box.left, box.bottom - box.top, 7);
    context.fill();
    context.fillStyle = shade.ink;
    context.fillText(text, box.left + 7, box.top + 11.5);
    context.globalAlpha = 1;
  }

  /** The parts of the screen that turns cover: no name is written there. */
  private boxes(): Box[] {
    return [...this.turns.map((turn) => this.mark(turn)), ...[...this.snippets().values()].map(({ box }) => box)];
  }

  private drawMarks(context: CanvasRenderingContext2D): void {
    const many = this.memory.graph.order > 1500; // rings would only be noise; pins are few
    context.lineWidth = 1.2;
    this.memory.graph.forEachNode((id, concept) => {
      if (!concept.pinned && (many || (!concept.longTerm && !concept.archived))) return;
      const at = this.at(id);
      if (!at) return;
      if (concept.pinned) {
        this.star(context, at, at.size * 0.8);
      }
      if (many || (!concept.longTerm && !concept.archived)) return;
      context.strokeStyle = clear(concept.archived ? this.sky.shade.faint : this.sky.shade.ink, this.sky.isDim ? 0.25 : 0.7);
      context.setLineDash(concept.archived ? [2, 3] : []);
      context.beginPath();
      context.arc(at.x, at.y, at.size + 2.5, 0, 7);
      context.stroke();
    });
    context.setLineDash([]);
  }

  /** A pin: a star at the upper right of what lies `half` around a point. */
  private star(context: CanvasRenderingContext2D, at: { x: number; y: number }, half: number): void {
    context.font = `${10 + half * 0.6}px ${FONT}`;
    context.textAlign = "center";
    context.textBaseline = "bottom";
    context.fillStyle = this.sky.shade.awake;
    context.fillText("★", at.x + half, at.y - half * 0.5);
  }

  private dot(context: CanvasRenderingContext2D, at: { x: number; y: number }, radius: number, colour: string): void {
    this.sky.glow(context, at, radius * 4, colour, 1);
    context.fillStyle = colour;
    context.beginPath();
    context.arc(at.x, at.y, radius, 0, 7);
    context.fill();
  }

  private drawRings(context: CanvasRenderingContext2D): void {
    const { shade } = this.sky;
    for (const [id, ring] of this.rings) {
      const at = this.at(id);
      if (!at) continue;
      context.strokeStyle = clear(shade[ring], 0.85);
      context.lineWidth = ring === "born" ? 2 : 1.4;
      context.beginPath();
      context.arc(at.x, at.y, at.size + (ring === "born" ? 5 : 3.5), 0, 7);
      context.stroke();
      if (ring === "born") this.dot(context, { x: at.x + at.size + 4, y: at.y - at.size - 4 }, 2.4, shade.born);
    }
  }
}

/** The steps of an answer: what it asks for, then what each round woke. */
export function rounds(reply: Reply): Woken[][] {
  const steps: Woken[][] = [reply.seeds.map(({ id, energy }) => ({ id, from: null, energy }))];
  const seeds = new Set(reply.seeds.map(({ id }) => id));
  for (const concept of reply.concepts) {
    if (seeds.has(concept.id)) continue;
    const step = Math.max(1, concept.path.length - 1);
    while (steps.length <= step) steps.push([]);
    steps[step]!.push({ id: concept.id, from: before(concept), energy: concept.energy });
  }
  return steps.filter((step) => step.length);
}

const before = (concept: Activated) => concept.path.at(-2) ?? null;

const ease = (part: number) => {
  const clamped = Math.max(0, Math.min(1, part));
  return 1 - (1 - clamped) ** 3;
};

function part(one: PlacedTurn, other: PlacedTurn, room: number): void {
  if (one.rank >= other.rank) return;
  const [dx, dy] = [other.x - one.x, other.y - one.y];
  const distance = Math.hypot(dx, dy) || 1e-3;
  if (distance >= room) return;
  const by = ((room - distance) / distance) * 0.5;
  const [x, y] = distance > 1e-2 ? [dx, dy] : [Math.cos(other.rank), Math.sin(other.rank)];
  one.x -= x * by;
  one.y -= y * by;
  other.x += x * by;
  other.y += y * by;
}
