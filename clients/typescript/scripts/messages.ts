// Writes src/messages.ts from the AsyncAPI document; with --check only compares, and exits 1.

import { readFileSync, writeFileSync } from "node:fs";
import { compile, type JSONSchema } from "json-schema-to-typescript";

const document = JSON.parse(readFileSync(new URL("../../../emgas/schema/asyncapi.json", import.meta.url), "utf8"));
const file = new URL("../src/messages.ts", import.meta.url);
const { schemas, messages } = document.components;

/** Let the schemas refer to each other as definitions of one schema, and be named by their keys alone. */
function asDefinitions(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(asDefinitions);
  if (typeof part !== "object" || part === null) return part;
  const entries = Object.entries(part as Record<string, unknown>).filter(([name, value]) => !(name === "title" && typeof value === "string"));
  return Object.fromEntries(
    entries.map(([name, value]) => [name, name === "$ref" ? String(value).replace("#/components/schemas/", "#/definitions/") : asDefinitions(value)]),
  );
}

/** What may be left out has a default; what comes back has all of it. */
const sent = new Set([...Object.keys(document.channels.turns.messages), ...Object.keys(document.channels.queries.messages)]);
const union = (name: string, channel: string) => `export type ${name} = ${Object.keys(document.channels[channel].messages).join(" | ")};\n`;

/** What is left out of an answer where there is nothing to say. */
const MAY_LACK: Record<string, string[]> = {
  Description: ["mode", "rerank", "weights", "timezone", "unrecorded", "uncounted", "access", "measures"],
  Ending: ["topic"],
  Failure: ["moved_to"],
  Habit: ["rewritten", "rewritten_by"],
  How: ["guidance"],
  InMind: ["paused"],
  Inspection: ["unavailable"],
  KnownConcept: ["anchored"],
  KnownRelation: ["history"],
  KnownTie: ["role"],
  KnownValue: ["role"],
  Neighbour: ["first", "last"],
  Outcome: ["again", "redacted", "remains", "moved_to"],
  RecalledPassage: ["likelihood", "in_context", "archived", "pinned", "kind", "members", "superseded_by", "importance", "origin", "expires_at", "masked", "attachments", "topic", "why"],
  RecordedTurn: ["pinned", "importance", "origin", "expires_at", "anchor", "times", "mentions", "novelty", "uncounted", "advised"],
  Reply: ["matched", "note", "known", "paused", "relations", "timezone", "how"],
  SessionRecap: ["ended", "topics"],
  Span: ["moods"],
  Stage: ["mass", "coverage", "enough"],
  Theme: ["name", "by"],
  Trended: ["moods"],
};

const definitions = asDefinitions(schemas) as Record<string, JSONSchema>;
const answered = [...Object.keys(messages)].filter((name) => !sent.has(name) && name !== "Change");
function complete(name: string): void {
  const schema = definitions[name];
  if (schema?.type !== "object" || schema.properties === undefined || (schema as { complete?: true }).complete) return;
  Object.defineProperty(schema, "complete", { value: true });
  schema.required = Object.keys(schema.properties).filter((field) => !MAY_LACK[name]?.includes(field));
  for (const [, inner] of JSON.stringify(schema).matchAll(/#\/definitions\/(\w+)/g)) complete(String(inner));
}
answered.forEach(complete);

const root: JSONSchema = { type: "object", additionalProperties: false, definitions };
const made = await compile(root, "Messages", {
  additionalProperties: false,
  bannerComment: "// Written by scripts/messages.ts from emgas/schema/asyncapi.json.\n",
  ignoreMinAndMaxItems: true,
  unreachableDefinitions: true,
  style: { printWidth: 120 },
});
const referenced = / \*\n \* This interface was referenced by `Messages`'s JSON-Schema\n \* via the `definition` "\w+"\.\n/g;
const content = `${made.replace(/export interface Messages \{\}\n/, "").replace(referenced, "")}\n${union("Command", "turns")}${union("Question", "queries")}${union("Answer", "replies")}`;
if (!process.argv.includes("--check")) writeFileSync(file, content);
else if (readFileSync(file, "utf8") !== content) {
  console.error("src/messages.ts is stale: run `npm run messages`");
  process.exit(1);
}
