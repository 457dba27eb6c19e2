// The memory as it is shown: a graph of concepts, taken from pictures; where each lies stays with its id.
import Graph from "graphology";
import type { Columns, Pictured, Theme } from "./api.ts";
import type { Job, Told } from "./layout.worker.ts";

type Traits = {
  label: string; size: number; theme: number; strength: number; mentions: number;
  born: number; touched: number; longTerm: boolean; archived: boolean; pinned: boolean; color: string;
};

export type Concept = Traits & { x: number; y: number; [more: string]: unknown };

export interface Link { weight: number; times: number; size: number; color: string; [more: string]: unknown }

export type Concepts = Graph<Concept, Link>;

const FEW = 12; // concepts: they do not fill the screen
const NODE = 10; // numbers of a node, and of an edge, in what ForceAtlas2 works on
const EDGE = 3;
const GOLDEN = 2.399963;

export class Memory {
  readonly graph: Concepts = new Graph<Concept, Link>({ type: "undirected" });
  themes: Theme[] = [];
  clock = 0;
  total = 0;
  private readonly places = new Map<string, { x: number; y: number }>();
  private readonly colourOf = new Map<string, number>(); // theme id → its colour, for as long as the page shows this memory
  private worker: Worker | null = null;
  private laidOut = false;

  /** Number of a theme's colour: the same at all times. */
  colour(theme: Theme): number {
    if (!this.colourOf.has(theme.id)) this.colourOf.set(theme.id, this.colourOf.size);
    return this.colourOf.get(theme.id)!;
  }

  /** Forget another memory's places and colours. */
  begin(): void {
    this.worker?.terminate();
    this.graph.clear();
    this.places.clear();
    this.colourOf.clear();
    this.laidOut = false;
  }

  /** Show what a picture holds: what is new gets a place near what it is linked with. */
  take(seen: Pictured): void {
    this.themes = seen.themes;
    this.clock = seen.clock;
    this.total = seen.total;
    const { concepts, links } = seen;
    const here = new Set(concepts.ids);
    for (const id of this.graph.nodes()) if (!here.has(id)) this.graph.dropNode(id);
    this.graph.clearEdges();
    const colours = seen.themes.map((theme) => this.colour(theme));
    const near = neighbours(seen);
    const groups = new Map<number, number>(); // theme → how many of it have got a place
    concepts.ids.forEach((id, at) => {
      const attributes = attributesOf(concepts, at, colours);
      if (this.graph.hasNode(id)) return this.graph.mergeNodeAttributes(id, attributes);
      const nth = groups.get(attributes.theme) ?? 0;
      groups.set(attributes.theme, nth + 1);
      const place = this.places.get(id) ?? this.between(near[at]!) ?? nested(attributes.theme, nth);
      this.places.set(id, place);
      this.graph.addNode(id, { ...attributes, ...place });
    });
    links.sources.forEach((source, at) => {
      const [one, other] = [concepts.ids[source]!, concepts.ids[links.targets[at]!]!];
      const weight = links.weights[at]!;
      this.graph.addEdge(one, other, { weight, times: links.times[at]!, size: 0.4 + 5 * weight, color: "#888888" });
    });
  }

  private reach(): number {
    return Math.max(1, ...[...this.places.values()].map(({ x }) => Math.abs(x)));
  }

  /** A place amid those that have one; none where nobody has. */
  private between(ids: string[]): { x: number; y: number } | null {
    const near = ids.map((id) => this.places.get(id)).filter((place) => place !== undefined);
    if (!this.laidOut || !near.length) return null;
    const turn = this.places.size * GOLDEN;
    const away = this.reach() * (0.03 + 0.012 * Math.sqrt(this.places.size % 40));
    return { x: mean(near.map(({ x }) => x)) + away * Math.cos(turn), y: mean(near.map(({ y }) => y)) + away * Math.sin(turn) };
  }

  /** Add concepts that the picture had no room for; `beside` names, for each, those that it should lie near. */
  join(seen: Pictured, beside: Map<string, string[]>): void {
    const { concepts } = seen;
    const colours = seen.themes.map((theme) => this.colour(theme));
    concepts.ids.forEach((id, at) => {
      if (this.graph.hasNode(id)) return;
      const near = beside.get(id)?.filter((other) => this.graph.hasNode(other)) ?? [];
      const place = this.places.get(id) ?? this.between(near) ?? nested(-1, this.graph.order);
      this.places.set(id, place);
      this.graph.addNode(id, { ...attributesOf(concepts, at, colours), ...place });
      const [first] = near;
      if (first !== undefined) this.graph.addEdge(first, id, { weight: 0.02, times: 1, size: 0.5, color: "#888888" });
    });
  }

  /** Lay the concepts out, `wide` times as wide as high; `moved` is called as they move, and at the end with `true`. */
  layOut(wide: number, moved: (done: boolean) => void): void {
    this.worker?.terminate();
    const ids = this.graph.nodes();
    const at = new Map(ids.map((id, place) => [id, place]));
    const nodes = new Float32Array(ids.length * NODE);
    ids.forEach((id, place) => {
      const concept = this.graph.getNodeAttributes(id);
      nodes.set([concept.x, concept.y, 0, 0, 0, 0, 1 + Math.min(this.graph.degree(id), 12), 1, concept.size, 0], place * NODE);
    });
    const worker = new Worker(new URL("./layout.worker.ts", import.meta.url), { type: "module" });
    this.worker = worker;
    worker.onmessage = ({ data }: MessageEvent<Told>) => {
      this.graph.updateEachNodeAttributes((id, concept) => {
        const place = at.get(id);
        if (place === undefined) return concept;
        concept.x = data.nodes[place * NODE]!;
        concept.y = data.nodes[place * NODE + 1]!;
        this.places.set(id, { x: concept.x, y: concept.y });
        return concept;
      }, { attributes: ["x", "y"] });
      if (data.done) worker.terminate();
      this.laidOut ||= data.done;
      moved(data.done);
    };
    const rounds = ids.length > 1500 ? 160 : 400;
    const edges = new Float32Array(this.springs(at).flat());
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    worker.postMessage({ nodes, edges, rounds, tellEvery: still ? rounds : ids.length > 1500 ? 20 : 10, wide } satisfies Job);
  }

  /** Links as springs; the members of a theme hang on its strongest one as well, so that a theme is a place. */
  private springs(at: Map<string, number>): number[][] {
    const springs: number[][] = [];
    this.graph.forEachEdge((_edge, link, one, other) => {
      const [source, target] = [this.graph.getNodeAttributes(one), this.graph.getNodeAttributes(other)];
      const apart = source.theme >= 0 && target.theme >= 0 && source.theme !== target.theme;
      springs.push([at.get(one)! * NODE, at.get(other)! * NODE, (0.3 + link.weight * 3) * (apart ? 0.5 : 1)]);
    });
    const centres = new Map<number, string>();
    this.graph.forEachNode((id, concept) => {
      if (concept.theme < 0) return;
      const centre = centres.get(concept.theme);
      if (centre === undefined) centres.set(concept.theme, id);
      else springs.push([at.get(centre)! * NODE, at.get(id)! * NODE, 1.2]);
    });
    return springs.filter((spring) => spring.length === EDGE);
  }

  /** The corners of everything that has a place, with room around few concepts; null without two places. */
  corners(): { x: [number, number]; y: [number, number] } | null {
    const places = this.graph.mapNodes((_id, { x, y }) => ({ x, y }));
    if (places.length < 2) return null;
    const span = (values: number[]): [number, number] => [Math.min(...values), Math.max(...values)];
    const [x, y] = [span(places.map((place) => place.x)), span(places.map((place) => place.y))];
    const room = (Math.max(x[1] - x[0], y[1] - y[0]) * Math.max(0, FEW - places.length)) / FEW;
    return { x: [x[0] - room, x[1] + room], y: [y[0] - room, y[1] + room] };
  }

  place(id: string): { x: number; y: number } | null {
    return this.graph.hasNode(id) ? this.graph.getNodeAttributes(id) : null;
  }
}

/** The concepts that each is linked with, the strongest links of the picture first. */
function neighbours({ concepts, links }: Pictured): string[][] {
  const near: string[][] = concepts.ids.map(() => []);
  links.sources.forEach((source, at) => {
    const target = links.targets[at]!;
    near[source]!.push(concepts.ids[target]!);
    near[target]!.push(concepts.ids[source]!);
  });
  return near;
}

function attributesOf(concepts: Columns, at: number, colours: number[]): Traits {
  const [strength, mentions] = [concepts.strengths[at]!, concepts.mentions[at]!];
  return {
    label: concepts.labels[at]!, strength, mentions, size: sizeOf(strength, mentions),
    theme: colours[concepts.themes[at]!] ?? -1, born: concepts.born[at]!, touched: concepts.touched[at]!,
    longTerm: concepts.long_term[at]!, archived: concepts.archived[at]!, pinned: concepts.pinned[at] ?? false, color: "#888888",
  };
}

function sizeOf(strength: number, mentions: number): number {
  return 2.2 + 2.4 * Math.sqrt(Math.min(strength, 6)) + 1.1 * Math.log2(1 + mentions);
}

/** A first place: themes around the middle, their members around each; the rest between them. */
function nested(theme: number, nth: number): { x: number; y: number } {
  const ring = theme < 0 ? 0 : 60 + 22 * Math.sqrt(theme + 1);
  const wide = theme < 0 ? 11 : 4;
  return {
    x: ring * Math.cos(theme * GOLDEN) + wide * Math.sqrt(nth + 0.5) * Math.cos(nth * GOLDEN),
    y: ring * Math.sin(theme * GOLDEN) + wide * Math.sqrt(nth + 0.5) * Math.sin(nth * GOLDEN),
  };
}

const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
