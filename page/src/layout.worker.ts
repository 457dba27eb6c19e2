// Where the concepts lie: ForceAtlas2, in a worker of our own, a file of the same origin.  What comes in is laid out in
// the same way each time: nothing here is left to chance.  What is linked with nothing lies in rows below the others: forces
// would drive it to the edge, as a ring that means nothing.
import iterate from "graphology-layout-forceatlas2/iterate.js";

export interface Job { nodes: Float32Array; edges: Float32Array; rounds: number; tellEvery: number; wide: number }
export interface Told { nodes: Float32Array; done: boolean }

const SETTINGS = {
  linLogMode: false, outboundAttractionDistribution: false, adjustSizes: false, edgeWeightInfluence: 1,
  scalingRatio: 6, strongGravityMode: true, gravity: 0.02, slowDown: 2, barnesHutTheta: 0.6,
};

const DENSE = 500; // concepts: the middle is given more room
const NODE = 10; // numbers of a node
const EDGE = 3; // numbers of an edge: two nodes, as offsets, and its weight

self.onmessage = ({ data }: MessageEvent<Job>) => {
  const { nodes, edges, rounds, tellEvery, wide } = data;
  const linked = new Set<number>(); // offsets in `nodes`
  edges.forEach((end, n) => { if (n % EDGE < 2) linked.add(end); });
  const offsets = [...linked].sort((a, b) => a - b);
  const moved = new Float32Array(offsets.flatMap((offset) => [...nodes.subarray(offset, offset + NODE)]));
  const place = new Map(offsets.map((offset, n) => [offset, n * NODE]));
  const springs = edges.map((end, n) => (n % EDGE < 2 ? place.get(end)! : end));
  const tell = (done: boolean) => {
    offsets.forEach((offset, n) => nodes.set(moved.subarray(n * NODE, n * NODE + 2), offset));
    shelve(nodes, linked, wide);
    self.postMessage({ nodes: nodes.slice(), done } satisfies Told);
  };
  const settings = { ...SETTINGS, barnesHutOptimize: moved.length > 5000 };
  for (let round = 1; round <= rounds && moved.length; round++) {
    iterate(settings, moved, springs);
    if (round % tellEvery === 0 && round < rounds) tell(false);
  }
  if (offsets.length > DENSE) loosen(moved);
  for (let n = 0; n < moved.length; n += NODE) moved[n] = moved[n]! * wide;
  spread(moved);
  tell(true);
};

/** Draw the middle apart: halfway to where as many concepts would lie on each part of a disc. */
function loosen(nodes: Float32Array): void {
  const count = nodes.length / NODE;
  const far = (n: number) => Math.hypot(nodes[n * NODE]!, nodes[n * NODE + 1]!);
  const order = Array.from({ length: count }, (_, n) => n).sort((a, b) => far(a) - far(b));
  const reach = far(order[count - 1]!);
  order.forEach((n, rank) => {
    const by = 0.5 + (0.5 * reach * Math.sqrt((rank + 1) / count)) / Math.max(far(n), 1e-6);
    nodes[n * NODE] = nodes[n * NODE]! * by;
    nodes[n * NODE + 1] = nodes[n * NODE + 1]! * by;
  });
}

/** Put what is not linked into rows, below what is. */
function shelve(nodes: Float32Array, linked: Set<number>, wide: number): void {
  let [left, right, bottom, top] = [Infinity, -Infinity, Infinity, -Infinity];
  for (const n of linked) {
    [left, right] = [Math.min(left, nodes[n]!), Math.max(right, nodes[n]!)];
    [bottom, top] = [Math.min(bottom, nodes[n + 1]!), Math.max(top, nodes[n + 1]!)];
  }
  const count = nodes.length / NODE - linked.size;
  if (!linked.size) [left, right, bottom] = [0, Math.sqrt(count * wide), 0];
  const room = linked.size ? Math.max(right - left, top - bottom) / (2 * Math.sqrt(nodes.length / NODE)) : 1;
  const columns = Math.max(1, Math.floor((right - left) / room));
  let nth = 0;
  for (let n = 0; n < nodes.length; n += NODE) {
    if (linked.has(n)) continue;
    nodes[n] = left + (right - left - (Math.min(columns, count) - 1) * room) / 2 + (nth % columns) * room;
    nodes[n + 1] = bottom - (3 + Math.floor(nth / columns)) * room;
    nth += 1;
  }
}

/** Push apart what lies on top of each other, on a grid, so that labels find room. */
function spread(nodes: Float32Array): void {
  const count = nodes.length / 10;
  let reach = 0;
  for (let n = 0; n < count; n++) reach = Math.max(reach, Math.abs(nodes[n * 10]!), Math.abs(nodes[n * 10 + 1]!));
  const room = (reach * 0.9) / Math.sqrt(count + 1);
  for (let pass = 0; pass < 30; pass++) {
    const cells = new Map<string, number[]>();
    const cell = (n: number) => [Math.floor(nodes[n * 10]! / room), Math.floor(nodes[n * 10 + 1]! / room)] as const;
    for (let n = 0; n < count; n++) {
      const [x, y] = cell(n);
      const key = `${x},${y}`;
      cells.set(key, [...(cells.get(key) ?? []), n]);
    }
    for (let n = 0; n < count; n++) {
      const [x, y] = cell(n);
      for (let dx = -1; dx <= 1; dx++) {
        for (let dy = -1; dy <= 1; dy++) {
          for (const other of cells.get(`${x + dx},${y + dy}`) ?? []) if (other > n) part(nodes, n, other, room);
        }
      }
    }
  }
}

function part(nodes: Float32Array, one: number, other: number, room: number): void {
  let dx = nodes[other * 10]! - nodes[one * 10]!;
  let dy = nodes[other * 10 + 1]! - nodes[one * 10 + 1]!;
  let distance = Math.hypot(dx, dy);
  if (distance >= room) return;
  if (distance < 1e-6) [dx, dy, distance] = [Math.cos(one), Math.sin(one), 1];
  const by = ((room - distance) / distance) * 0.25;
  nodes[one * 10] = nodes[one * 10]! - dx * by;
  nodes[one * 10 + 1] = nodes[one * 10 + 1]! - dy * by;
  nodes[other * 10] = nodes[other * 10]! + dx * by;
  nodes[other * 10 + 1] = nodes[other * 10 + 1]! + dy * by;
}
