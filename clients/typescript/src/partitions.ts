// The partition that holds a graph, as the Java client's default partitioner finds it.

/** Kafka's murmur2 of a key, unsigned 32 bit. */
export function murmur2(key: Uint8Array): number {
  const m = 0x5bd1e995;
  const view = new DataView(key.buffer, key.byteOffset, key.byteLength);
  const whole = key.length & ~3;
  let h = 0x9747b28c ^ key.length;
  for (let i = 0; i < whole; i += 4) {
    let k = Math.imul(view.getUint32(i, true), m);
    k = Math.imul(k ^ (k >>> 24), m);
    h = Math.imul(h, m) ^ k;
  }
  let rest = 0;
  for (let i = key.length - 1; i >= whole; i--) rest = (rest << 8) | key[i]!;
  if (whole < key.length) h = Math.imul(h ^ rest, m);
  h = Math.imul(h ^ (h >>> 13), m);
  return (h ^ (h >>> 15)) >>> 0;
}

/** One of `partitions`, from 0. */
export function partitionOf(graph: string, partitions: number): number {
  return (murmur2(new TextEncoder().encode(graph)) & 0x7fffffff) % partitions;
}
