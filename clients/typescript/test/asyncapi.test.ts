// The AsyncAPI document is one, as its own parser reads it; the parser needs no network for that.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { it } from "node:test";
import { DiagnosticSeverity, Parser } from "@asyncapi/parser";

it("the document of the topics is valid AsyncAPI 3", async () => {
  const text = readFileSync(new URL("../../../emgas/schema/asyncapi.json", import.meta.url), "utf8");
  const { document, diagnostics } = await new Parser().parse(text);
  const wrong = diagnostics.filter(({ severity }) => Number(severity) <= Number(DiagnosticSeverity.Warning));
  assert.deepEqual(wrong.map(({ path, message }) => `${path.join(".")}: ${message}`), []);
  assert.ok(document?.operations().has("answer"));
});
