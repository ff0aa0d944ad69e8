/** A builder tells what the server's check would: E25, `build()` never gave an error and deploy did. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { InvalidWorkflow, workflow } from "../src/index.js";
import { problems } from "../src/check.js";

interface Case {
  name: string;
  workflow: object;
  problems: [string, string][];
}

/** From `dist/test`, where the compiled tests are. */
const cases: Case[] = JSON.parse(readFileSync(new URL("../../../conformance/checks.json", import.meta.url), "utf8"));

for (const one of cases) {
  test(`check: ${one.name}`, () => {
    const told = problems(one.workflow).map(({ pointer, code }) => [pointer, code]);
    assert.deepEqual(told.sort(), one.problems);
  });
}

test("build throws what is wrong, all of it", () => {
  const lost = workflow("lost").task("a", "h", { next: "nowhere" }).task("a", "h", { retry: { maxAttempts: 99 } });
  assert.throws(() => lost.build(), (error: unknown) => {
    assert.ok(error instanceof InvalidWorkflow);
    const codes = error.problems.map(({ code }) => code);
    assert.deepEqual(codes.sort(), ["DUPLICATE_NAME", "OUT_OF_RANGE", "UNKNOWN_STEP"]);
    return true;
  });
});

test("the handlers of a failure and of a cancel are in the document", () => {
  const built = workflow("order").task("pay", "pay").onFailure("tell-ops", { retry: { maxAttempts: 10 } }).onCancel("release", { timeout: "30s" });
  const document = built.build();
  assert.deepEqual(document.onFailure, { handler: "tell-ops", retry: { maxAttempts: 10 } });
  assert.deepEqual(document.onCancel, { handler: "release", timeout: "30s" });
});
