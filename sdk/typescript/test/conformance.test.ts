/** Every scenario of sdk/conformance/scenarios.md, against a real server. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { TestServer } from "../src/testing.js";
import { scenarios as ofApprovals } from "./approval-scenarios.js";
import { scenarios as ofBranches } from "./branch-scenarios.js";
import { scenarios as ofChildren } from "./child-scenarios.js";
import { scenarios as ofFailures } from "./failure-scenarios.js";
import { scenarios as ofHttp } from "./http-scenarios.js";
import { scenarios as ofLimits } from "./limit-scenarios.js";
import { scenarios as ofKeys } from "./key-scenarios.js";
import { scenarios as ofMiddleware } from "./middleware-scenarios.js";
import { scenarios as ofOperators } from "./operator-scenarios.js";
import { REAL_TIME, scenarios as inProcesses } from "./process-scenarios.js";
import { scenarios as ofPush } from "./push-scenarios.js";
import { scenarios as ofReplays } from "./replay-scenarios.js";
import { scenarios as ofWaits } from "./scenarios.js";

const scenarios = { ...ofWaits, ...ofFailures, ...ofChildren, ...ofApprovals, ...ofBranches, ...ofMiddleware, ...ofReplays, ...ofPush, ...ofHttp, ...ofKeys, ...ofLimits, ...ofOperators };

const text = readFileSync(new URL("../../../conformance/scenarios.md", import.meta.url), "utf8");
const expected = new Map(
  text
    .split(/^## /m)
    .slice(1)
    .map((part) => [part.split("\n")[0] as string, JSON.parse(/```json\n([^]*?)\n```/.exec(part)?.[1] ?? "null")]),
);

test("there is a function for every scenario, and a scenario for every function", () => {
  const names = [...Object.keys(scenarios), ...Object.keys(inProcesses)];
  assert.deepEqual(names.sort(), [...expected.keys()].sort());
});

for (const [name, scenario] of Object.entries({ ...scenarios, ...inProcesses })) {
  test(name, { timeout: 300_000 }, async () => {
    const server = await TestServer.start({ realTime: REAL_TIME.has(name) });
    try {
      assert.deepEqual(await scenario(server), expected.get(name));
    } finally {
      await server.close();
    }
  });
}
