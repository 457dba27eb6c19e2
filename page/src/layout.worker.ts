// Where the concepts lie: ForceAtlas2, in a worker of our own, a file of the same origin.  What comes in is laid out in
// the same way each time: nothing here is left to chance.
import iterate from "graphology-layout-forceatlas2/iterate.js";

export interface Job { nodes: Float32Array; edges: Float32Array; rounds: number; tellEvery: number }
export interface Told { nodes: Float32Array; done: boolean }

const SETTINGS = {
  linLogMode: false, outboundAttractionDistribution: false, adjustSizes: false, edgeWeightInfluence: 1,
  scalingRatio: 6, strongGravityMode: true, gravity: 0.02, slowDown: 2, barnesHutTheta: 0.6,
};

const WIDER = 1.5; // than high: as screens are

self.onmessage = ({ data }: MessageEvent<Job>) => {
  const { nodes, edges, rounds, tellEvery } = data;
  const settings = { ...SETTINGS, barnesHutOptimize: nodes.length > 5000 };
  for (let round = 1; round <= rounds; round++) {
    iterate(settings, nodes, edges);
    if (round % tellEvery === 0 && round < rounds) tell(nodes, false);
  }
  for (let n = 0; n < nodes.length; n += 10) nodes[n] = nodes[n]! * WIDER;
  spread(nodes);
  tell(nodes, true);
};

function tell(nodes: Float32Array, done: boolean): void {
  self.postMessage({ nodes: nodes.slice(), done } satisfies Told);
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
