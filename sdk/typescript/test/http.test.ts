/** What a handler makes of a call that the engine made, by what was recorded of it. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";

import { CallFailed, type AnyHandlerFunction, type wire } from "../src/index.js";
import { replayCheck } from "../src/testing.js";

const url = "https://me:secret@rates.example.com/eur?key=secret";
const request = { url, method: "POST", body: { to: "usd" }, retry: 3, timeout: "10s" } as const;
const digest = createHash("sha256").update(JSON.stringify({ body: { to: "usd" }, url })).digest("hex").slice(0, 16);
const asked = `call of POST https://rates.example.com/eur with ${digest}`;

async function played(payload: wire.Json, status: wire.JournalWait["status"], ask: string = asked) {
  let came: unknown;
  const desk: AnyHandlerFunction = async (ctx) => {
    try {
      came = await ctx.http<{ rate: number }>("rate", request);
    } catch (error) {
      came = error;
      throw error;
    }
  };
  const entry: wire.JournalEntry = { name: "rate", wait: { asked: ask, kind: "CHILD", payload, status, waitpointId: "wp_1" } };
  const line = { runId: "run_a", workflow: "one", version: "1", step: "desk", handler: "desk", attempt: 1 };
  const [verdict] = await replayCheck({ desk }, [{ ...line, input: null, state: {}, config: null, checkpoint: null, journal: [entry] }], { graceMs: 50 });
  return { came, verdict };
}

test("an answer is given as it came", async () => {
  const output = { status: 200, headers: { "content-type": "application/json" }, body: { rate: 3 } };
  const { came } = await played({ status: "COMPLETED", output }, "COMPLETED");
  assert.deepEqual(came, output);
});

test("a call that failed is thrown with its code", async () => {
  const error = { code: "HTTP_STATUS", message: "it answered 503" };
  const { came } = await played({ status: "FAILED", error }, "COMPLETED");
  assert.ok(came instanceof CallFailed);
  assert.deepEqual([came.call, came.code, came.retryable], ["rate", "HTTP_STATUS", false]);
  assert.match(came.message, /`rate` failed: it answered 503/);
  const cancelled = await played({ status: "CANCELLED" }, "COMPLETED");
  assert.equal((cancelled.came as CallFailed).code, "CALL_CANCELLED");
  const late = await played(null, "TIMED_OUT");
  assert.equal((late.came as CallFailed).code, "CALL_TIMED_OUT");
});

test("nothing that was recorded is no answer", async () => {
  const { came } = await played(null, "COMPLETED");
  assert.ok(came instanceof CallFailed);
});

test("another call under the same name is changed code", async () => {
  const { verdict } = await played(null, "COMPLETED", "call of GET https://rates.example.com/eur");
  assert.equal(verdict?.verdict, "mismatch");
});
