// The contract of clients/contract.json, over the transports that EMGAS_TEST_URLS names: addresses between spaces, and
// for Kafka the prefix of the topics in EMGAS_TEST_PREFIX. tests/clients/ starts what stands there.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { after, before, describe, it } from "node:test";
import { connect, EmgasError, type Command, type MemoryClient, NoAnswerError, partitionOf, QueryFailedError, type Question, TransportError, type Turn } from "../src/index.ts";

interface Step {
  tell?: Command;
  ask?: Question;
  publish?: Turn;
  gives?: unknown;
  saved?: string;
  refused?: string;
  as?: string;
  fails?: string[];
  seconds?: number;
  times?: number;
}

const contract = JSON.parse(readFileSync(new URL("../../contract.json", import.meta.url), "utf8")) as {
  cases: { name: string; steps: Step[] }[];
  partitions: { key: string; of: number; partition: number }[];
};
const urls = (process.env["EMGAS_TEST_URLS"] ?? "").split(" ").filter((url) => url !== "");
const options = { seconds: 60, prefix: process.env["EMGAS_TEST_PREFIX"] ?? "emgas" };

/** Put values where their names stand in braces; what is nothing but a name becomes the value itself. */
function filled(part: unknown, values: Record<string, unknown>): unknown {
  if (typeof part === "string") {
    const whole = /^\{(\w+)\}$/.exec(part)?.[1];
    if (whole !== undefined && whole in values) return values[whole];
    return part.replace(/\{(\w+)\}/g, (all, name: string) => (name in values ? String(values[name]) : all));
  }
  if (Array.isArray(part)) return part.map((each) => filled(each, values));
  if (typeof part !== "object" || part === null) return part;
  return Object.fromEntries(Object.entries(part).map(([name, value]) => [name, filled(value, values)]));
}

function holds(found: unknown, wanted: unknown, where = "answer"): void {
  if (Array.isArray(wanted)) {
    assert.ok(Array.isArray(found) && found.length === wanted.length, `${where}: ${JSON.stringify(found)} has not ${wanted.length} parts`);
    wanted.forEach((each, place) => holds(found[place], each, `${where}[${place}]`));
  } else if (typeof wanted === "object" && wanted !== null) {
    for (const [name, value] of Object.entries(wanted)) holds((found as Record<string, unknown>)[name], value, `${where}.${name}`);
  } else assert.equal(found, wanted, where);
}

function kindOf(error: unknown): string {
  if (error instanceof QueryFailedError) return error.code;
  return error instanceof NoAnswerError ? "no-answer" : String(error);
}

async function run(connected: MemoryClient, step: Step, values: Record<string, unknown>): Promise<void> {
  const memory = step.as === undefined ? connected : connected.onBehalfOf(step.as);
  const call = async (): Promise<unknown> => {
    if (step.publish) return await memory.publish(filled(step.publish, values) as Turn, step.seconds);
    if (step.tell) return await memory.tell(filled(step.tell, values) as Command, step.seconds);
    return await memory.ask(filled(step.ask, values) as Question, step.seconds);
  };
  if (step.fails) {
    await assert.rejects(call, (error) => step.fails!.includes(kindOf(error)));
  } else if (step.refused) {
    const said = await call().then((outcome) => JSON.stringify(outcome), (error: unknown) => (error instanceof EmgasError ? error.message : String(error)));
    assert.ok(said.includes(step.refused), `${said} does not say ${step.refused}`);
    assert.ok(!said.includes('"accepted"'), said);
  } else {
    const found = await call();
    if (step.gives !== undefined) holds(found, filled(step.gives, values));
    if (step.saved) values[step.saved] = (found as { offset: number }).offset;
  }
}

it("is told where to try", () => assert.ok(urls.length > 0, "set EMGAS_TEST_URLS: tests/clients does"));

for (const url of urls) {
  describe(new URL(url).protocol, () => {
    let memory: MemoryClient;
    before(async () => (memory = await connect(url, options)));
    after(async () => await memory.close());

    for (const { name, steps } of contract.cases) {
      it(name, async () => {
        const values: Record<string, unknown> = { graph: `test-${randomUUID().slice(0, 13)}` };
        for (const step of steps) {
          const each = Array.from({ length: step.times ?? 1 }, (_, n) => run(memory, step, step.times ? { ...values, n } : values));
          await Promise.all(each);
        }
      });
    }
  });
}

describe("what is out of reach", () => {
  it("is told at once by Kafka", async () => {
    await assert.rejects(connect("kafka://127.0.0.1:1"), TransportError);
  });

  it("is told at the first call over HTTP", async () => {
    const memory = await connect("http://127.0.0.1:1");
    await assert.rejects(memory.query("ada", "who?"), TransportError);
  });

  it("may be an address of neither kind", async () => {
    await assert.rejects(connect("redis://127.0.0.1"), /http:\/\/host:port or kafka:\/\/host:port/);
  });
});

describe("a key", () => {
  for (const { key, of, partition } of contract.partitions) {
    it(`${key.slice(0, 20)} of ${of} lies where Java's default partitioner puts it`, () => assert.equal(partitionOf(key, of), partition));
  }
});
