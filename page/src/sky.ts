// The graph on screen: sigma draws concepts and links with WebGL; below it a soft light in each theme's colour, and the
// themes' names.  What a concept looks like is decided in `looks` alone, for the screen and for what is saved.
import Sigma from "sigma";
import { EdgeLineProgram, EdgeRectangleProgram, NodeCircleProgram } from "sigma/rendering";
import type { NodeDisplayData, PartialButFor, RenderParams } from "sigma/types";
import { clear, mixed, ofTheme, sheer, type Shade } from "./colours.ts";
import type { Concept, Concepts, Link, Memory } from "./memory.ts";
import { Travel } from "./travel.ts";

export const FONT = 'ui-sans-serif, system-ui, "Segoe UI", "Noto Sans", "Noto Sans CJK SC", "PingFang SC", "Microsoft YaHei", sans-serif';
const COARSE = 4; // of the light below: it is soft anyway
const SPRITE = 64;
const ROOM = 2800; // px² of the screen for each concept: where there is less, all are drawn smaller
const SMALLEST = 0.36; // of their size
const SURE = 3; // level of what is named even where a turn lies
const FEW = 60; // concepts: all of them are named
export const CROWD = 1000; // concepts: links are drawn thin then, and all of it as a picture while the camera moves

/** What stands out just now: concepts with how awake they are, and the links that woke them. */
export interface Focus { awake: Map<string, number>; links: Set<string>; named: Set<string>; chosen: string | null; near: Set<string> | null }

export interface Look { color: string; size: number; label: string; forceLabel: boolean; zIndex: number; hidden: boolean }

interface Point { x: number; y: number }

export interface Box { left: number; top: number; right: number; bottom: number }

type Drawn = PartialButFor<NodeDisplayData, "x" | "y" | "size" | "label" | "color"> & { key?: string };

export interface LinkLook { color: string; alpha: number; size: number; zIndex: number; hidden: boolean; type: string }

export class Sky {
  readonly sigma: Sigma<Concept, Link>;
  shade: Shade;
  focus: Focus = { awake: new Map(), links: new Set(), named: new Set(), chosen: null, near: null };
  named = new Map<string, Point>(); // concepts whose names are on the screen, and where: the middle of the upper edge
  reserved: () => Box[] = () => []; // of the screen, where no name may lie
  private asked: Drawn[] = []; // names that are to be on the frame that is drawn
  private hovered: string | null = null;
  private readonly travel: Travel;
  private readonly light: CanvasRenderingContext2D;
  private readonly sprites = new Map<string, HTMLCanvasElement>();

  constructor(
    private readonly memory: Memory, private readonly container: HTMLElement, private readonly canvas: HTMLCanvasElement,
    shade: Shade, private readonly drawn: () => void,
  ) {
    this.shade = shade;
    this.light = canvas.getContext("2d")!;
    const travel = (this.travel = new Travel(() => memory.graph.order > CROWD, () => this.shade.back));
    class Nodes extends NodeCircleProgram<Concept, Link> {
      override render(params: RenderParams): void { if (!travel.isShown) super.render(params); }
    }
    class Thin extends EdgeLineProgram<Concept, Link> {
      override render(params: RenderParams): void { if (!travel.isShown) super.render(params); }
    }
    this.sigma = new Sigma<Concept, Link>(memory.graph as Concepts, container, {
      allowInvalidContainer: true, zIndex: true, hideEdgesOnMove: false, labelFont: FONT, labelWeight: "500",
      labelDensity: 1, labelGridCellSize: 80, labelRenderedSizeThreshold: 0, stagePadding: 46, minCameraRatio: 0.03,
      maxCameraRatio: 4, zoomToSizeRatioFunction: (ratio) => ratio ** 0.3, defaultEdgeType: "thin", edgeProgramClasses: { thin: Thin, thick: EdgeRectangleProgram },
      nodeProgramClasses: { circle: Nodes },
      defaultDrawNodeLabel: (_context, data) => void this.asked.push(data),
      defaultDrawNodeHover: (context, data) => this.drawHover(context, data),
      nodeReducer: (id, concept) => ({ ...concept, ...this.looks(id, concept) }),
      edgeReducer: (edge, link) => {
        const look = this.linkLooks(edge, link);
        return { ...link, ...look, color: sheer(look.color, look.alpha) };
      },
    });
    this.sigma.on("enterNode", ({ node }) => this.hover(node));
    this.sigma.on("leaveNode", () => this.hover(null));
    this.sigma.on("beforeRender", () => this.travel.begin(this.sigma));
    this.sigma.on("afterRender", () => this.paint());
  }

  private hover(id: string | null): void {
    this.hovered = id;
    this.container.style.cursor = id === null ? "" : "pointer";
    this.sigma.refresh({ skipIndexation: true });
  }

  /** Whether only some concepts stand out. */
  get isDim(): boolean {
    return this.focus.awake.size > 0 || this.focus.near !== null || this.focus.chosen !== null;
  }

  /** How large dots are: smaller where there are many for the screen, else they hide each other. */
  private get scale(): number {
    const { width, height } = this.sigma.getDimensions();
    return Math.min(1, Math.max(SMALLEST, Math.sqrt((width * height) / ROOM / Math.max(1, this.memory.graph.order))));
  }

  looks(id: string, concept: Concept): Look {
    const { awake, chosen, near } = this.focus;
    const energy = awake.get(id) ?? 0;
    const own = ofTheme(this.shade, concept.theme);
    const size = this.scale * (concept.theme < 0 ? concept.size * 0.85 : concept.size * 1.12);
    const colour = concept.archived ? mixed(own, this.shade.back, 0.6) : own;
    const look: Look = { color: colour, size, label: concept.label, forceLabel: false, zIndex: 0, hidden: false };
    if (near !== null && !near.has(id)) return { ...look, hidden: true };
    if (this.memory.graph.order < FEW) look.forceLabel = true;
    const beside = chosen !== null && (id === chosen || this.memory.graph.areNeighbors(id, chosen));
    if (energy > 0) {
      look.color = mixed(colour, this.shade.awake, 0.35 + 0.6 * Math.min(1, energy));
      look.size = size * (1 + 0.5 * Math.min(1, energy));
      look.forceLabel = this.focus.named.has(id);
      look.zIndex = energy < 1 ? 2 : SURE; // 1: it was asked for
    } else if (beside) {
      look.zIndex = 1;
      look.forceLabel = true;
    } else if (awake.size > 0 || (chosen !== null && near === null)) {
      look.color = mixed(this.shade.asleep, colour, 0.22);
      look.label = "";
    }
    if (id === chosen) Object.assign(look, { zIndex: SURE, forceLabel: true, size: size * 1.4 });
    if (id === this.hovered) look.forceLabel = true;
    return look;
  }

  linkLooks(edge: string, link: Link): LinkLook {
    const graph = this.memory.graph;
    const [one, other] = graph.extremities(edge) as [string, string];
    const { awake, links, chosen, near } = this.focus;
    const hidden = near !== null && !(near.has(one) && near.has(other));
    const [from, to] = [graph.getNodeAttribute(one, "theme"), graph.getNodeAttribute(other, "theme")];
    const inTheme = from === to && from >= 0;
    const type = graph.order > CROWD ? "thin" : "thick";
    const plain = inTheme ? ofTheme(this.shade, from) : this.shade.link;
    const strong = Math.min(1, link.weight * 5);
    if (chosen !== null && (one === chosen || other === chosen)) {
      return { color: ofTheme(this.shade, graph.getNodeAttribute(chosen, "theme")), alpha: 0.75, size: link.size + 0.6, zIndex: 2, hidden, type };
    }
    if (links.has(edge)) return { color: this.shade.awake, alpha: 0.3, size: link.size, zIndex: 1, hidden, type };
    const faint = awake.size > 0 || (chosen !== null && near === null);
    const alpha = (inTheme || graph.order < FEW ? 0.38 : 0.14) + 0.28 * strong;
    return { color: plain, alpha: faint ? alpha * 0.25 : alpha, size: link.size, zIndex: 0, hidden, type };
  }

  /** Write the names of a frame, of the most important first; a name that would lie on another is left out. */
  private drawLabels(): void {
    const context = this.sigma.getCanvases()["labels"]!.getContext("2d")!;
    const [turns, names] = [this.reserved(), [] as Box[]];
    this.named = new Map();
    for (const data of this.asked.sort((a, b) => (b.zIndex ?? 0) - (a.zIndex ?? 0) || b.size - a.size)) {
      if (!data.label) continue;
      const size = setFont(context, data);
      const half = context.measureText(data.label).width / 2 + 3;
      const around = (at: Point): Box => ({ left: at.x - half, right: at.x + half, top: at.y - 1, bottom: at.y + size * 1.1 });
      const places = placesFor(data, half, size);
      const free = (taken: Box[]) => places.find((place) => !taken.some((other) => overlap(around(place), other)));
      const at = free([...turns, ...names]) ?? (data.zIndex === SURE ? free(names) : undefined);
      if (at === undefined) continue;
      names.push(around(at));
      this.named.set(data.key!, at);
      this.drawLabel(context, data, at);
    }
  }

  private drawLabel(context: CanvasRenderingContext2D, data: Drawn, at: Point = below(data)): void {
    if (!data.label || this.travel.isShown) return;
    setFont(context, data);
    context.textAlign = "center";
    context.textBaseline = "top";
    context.lineJoin = "round";
    context.lineWidth = 3.5;
    context.strokeStyle = clear(this.shade.back, 0.85);
    context.strokeText(data.label, at.x, at.y);
    context.fillStyle = mixed(data.color.startsWith("#") ? data.color : this.shade.ink, this.shade.ink, 0.62);
    context.fillText(data.label, at.x, at.y);
  }

  private drawHover(context: CanvasRenderingContext2D, data: Drawn): void {
    context.beginPath();
    context.arc(data.x, data.y, data.size + 4, 0, 7);
    context.strokeStyle = clear(this.shade.ink, 0.8);
    context.lineWidth = 1.5;
    context.stroke();
    this.drawLabel(context, data);
  }

  /** Paint the light below the graph, and the names above it. */
  private paint(): void {
    if (!this.travel.isShown) {
      this.paintAll();
      this.drawLabels();
    }
    this.asked = [];
    this.travel.end(this.sigma, (context) => {
      const { x, y } = this.container.getBoundingClientRect();
      const scale = context.canvas.width / this.sigma.getDimensions().width;
      context.setTransform(scale, 0, 0, scale, -x * scale, -y * scale);
      context.drawImage(this.canvas, 0, 0, this.canvas.width * COARSE, this.canvas.height * COARSE);
    });
    this.drawn();
  }

  private paintAll(): void {
    const [width, height] = [innerWidth, innerHeight];
    if (this.canvas.width !== Math.ceil(width / COARSE) || this.canvas.height !== Math.ceil(height / COARSE)) {
      this.canvas.width = Math.ceil(width / COARSE);
      this.canvas.height = Math.ceil(height / COARSE);
    }
    const { x, y } = this.container.getBoundingClientRect();
    this.paintLight(this.light, 1 / COARSE, { width, height, x, y });
  }

  /** `frame`: how large, and where in it the graph begins; without it, as large as the graph. */
  paintLight(context: CanvasRenderingContext2D, scale: number, frame = { ...this.sigma.getDimensions(), x: 0, y: 0 }): void {
    const { width, height } = frame;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.fillStyle = this.shade.back;
    context.fillRect(0, 0, width * scale, height * scale);
    context.globalCompositeOperation = this.shade.dark ? "lighter" : "multiply";
    const zoom = this.scale / Math.sqrt(this.sigma.getCamera().ratio);
    const strong = this.isDim ? 0.35 : 1;
    this.memory.graph.forEachNode((id, concept) => {
      const energy = this.focus.awake.get(id) ?? 0;
      if ((concept.theme < 0 && !energy) || concept.archived || (this.focus.near && !this.focus.near.has(id))) return;
      const seen = this.sigma.graphToViewport(concept);
      const at = { x: seen.x + frame.x, y: seen.y + frame.y };
      const reach = (34 + concept.size * 5) * zoom * (energy ? 1 + energy * 0.4 : 1);
      if (at.x < -reach || at.y < -reach || at.x > width + reach || at.y > height + reach) return;
      context.globalAlpha = Math.min(1, (energy ? 0.12 + 0.5 * energy * energy : 0.3 * strong));
      const sprite = this.sprite(energy ? this.shade.awake : ofTheme(this.shade, concept.theme));
      context.drawImage(sprite, (at.x - reach) * scale, (at.y - reach) * scale, reach * 2 * scale, reach * 2 * scale);
    });
    context.globalAlpha = 1;
    context.globalCompositeOperation = "source-over";
  }

  /** A soft light around a point: a canvas's own shadows take many times as long. */
  glow(context: CanvasRenderingContext2D, at: { x: number; y: number }, reach: number, colour: string, alpha: number): void {
    context.globalAlpha = alpha;
    context.drawImage(this.sprite(colour), at.x - reach, at.y - reach, reach * 2, reach * 2);
    context.globalAlpha = 1;
  }

  private sprite(colour: string): HTMLCanvasElement {
    const known = this.sprites.get(colour + this.shade.back);
    if (known) return known;
    const made = document.createElement("canvas");
    made.width = made.height = SPRITE;
    const context = made.getContext("2d")!;
    const gradient = context.createRadialGradient(SPRITE / 2, SPRITE / 2, 0, SPRITE / 2, SPRITE / 2, SPRITE / 2);
    const most = this.shade.dark ? 0.34 : 0.3;
    gradient.addColorStop(0, clear(colour, most));
    gradient.addColorStop(0.4, clear(colour, most * 0.4));
    gradient.addColorStop(1, clear(colour, 0));
    context.fillStyle = gradient;
    context.fillRect(0, 0, SPRITE, SPRITE);
    this.sprites.set(colour + this.shade.back, made);
    return made;
  }

  /** Give every concept and link its look anew. */
  refresh(): void {
    this.sigma.refresh();
  }

  /** The same where nothing moved: what is near what need not be found again. */
  recolour(): void {
    this.sigma.refresh({ skipIndexation: true });
  }

  /** Keep the frame as it is for all times. */
  frame(): void {
    this.sigma.setCustomBBox(this.memory.corners());
  }

  fit(): void {
    void this.sigma.getCamera().animate({ x: 0.5, y: 0.5, ratio: 1, angle: 0 }, { duration: 350 });
  }

  /** Bring these concepts into view. */
  show(ids: Iterable<string>, least = 0.45): void {
    const seen = [...ids].map((id) => this.sigma.getNodeDisplayData(id)).filter((data) => data !== undefined);
    if (!seen.length) return;
    const [xs, ys] = [seen.map(({ x }) => x), seen.map(({ y }) => y)];
    const [[left, right], [top, bottom]] = [most(xs), most(ys)];
    const ratio = Math.max(least, Math.min(1.1, 1.6 * Math.max(right - left, bottom - top)));
    void this.sigma.getCamera().animate({ x: (left + right) / 2, y: (top + bottom) / 2, ratio }, { duration: 600 });
  }

  zoom(by: number): void {
    const camera = this.sigma.getCamera();
    void camera.animate({ ratio: camera.ratio * by }, { duration: 200 });
  }
}

/** Set the font of a name; return its size. */
function setFont(context: CanvasRenderingContext2D, data: Drawn): number {
  const size = Math.min(17, 10.5 + data.size * 0.34);
  context.font = `${data.size > 9 ? 600 : 500} ${size}px ${FONT}`;
  return size;
}

const below = ({ x, y, size }: Drawn): Point => ({ x, y: y + size + 3 });

/** Where a name may be written: below its dot; if it must be seen, on any other side. */
function placesFor(data: Drawn, half: number, size: number): Point[] {
  const { x, y, size: radius } = data;
  const beside = radius + half + 2;
  const other = [{ x, y: y - radius - size - 3 }, { x: x + beside, y: y - size / 2 }, { x: x - beside, y: y - size / 2 }];
  return data.forceLabel ? [below(data), ...other] : [below(data)];
}

export function overlap(one: Box, other: Box): boolean {
  return one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;
}

/** The span in which most of the values lie: the farthest tenth on either side is left out. */
function most(values: number[]): [number, number] {
  const sorted = [...values].sort((a, b) => a - b);
  const cut = Math.floor(sorted.length / 10);
  return [sorted[cut]!, sorted[sorted.length - 1 - cut]!];
}
