/** What a handler makes of a call that the engine made, by what was recorded of it. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";

import { CallFailed, type AnyHandlerFunction, type wire } from "../src/index.js";
import { TestServer, replayCheck } from "../src/testing.js";
import { service } from "./http-scenarios.js";
import { one } from "./scenarios.js";

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

test("a call that loses a race is not made; a status counts as the code says; a call that uses up its attempts fails", async () => {
  const broken = await service({ status: 503, body: { why: "closed" } });
  const server = await TestServer.start({ args: ["--allow-address", "127.0.0.1"] });
  try {
    await one(server, async (ctx) => {
      const { name } = await ctx.any([ctx.http("slow", { url: broken.url, retry: { maxAttempts: 20, backoffMs: 300_000 } }), ctx.branch("quick", () => 1)]);
      const { status } = await ctx.http("taken", { url: broken.url, failOn: [500] });
      try {
        await ctx.http("rate", { url: broken.url, method: "POST", body: { to: "usd" }, retry: 2 });
      } catch (error) {
        if (error instanceof CallFailed) return [name, status, error.call, error.code];
        throw error;
      }
      return [];
    });
    assert.deepEqual(await server.runThrough("one"), ["quick", 503, "rate", "HTTP_STATUS"]);
    assert.equal(broken.requests(), 3);
  } finally {
    await server.close();
    broken.close();
  }
});
