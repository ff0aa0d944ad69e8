/** Handlers behind a URL: what they answer, whom they believe, and what they do with a real server. */
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";

import { NotRetryable, RetryAfter, workflow } from "../src/index.js";
import { serve } from "../src/push.js";
import { KEY, behindUrl } from "./push-scenarios.js";

const task = (handler: string) => ({
  id: "task_1",
  runId: "run_01m7h3qy00f49t7jpe51y1013k",
  stepName: "desk",
  handler,
  attempt: 1,
  input: { n: 1 },
  state: {},
  config: null,
  checkpoint: null,
  journal: [],
  leaseToken: "token",
});

function posted(body: string, { key = KEY, at = Date.now(), headers = {} }: { key?: string; at?: number; headers?: Record<string, string> } = {}): Request {
  const timestamp = String(Math.floor(at / 1_000));
  const signature = createHmac("sha256", Buffer.from(key.slice("whsec_".length), "base64")).update(`id.${timestamp}.${body}`).digest("base64");
  const signed = { "webhook-id": "id", "webhook-timestamp": timestamp, "webhook-signature": `v1,${signature}` };
  return new Request("http://handler.invalid/", { method: "POST", body, headers: { ...signed, ...headers } });
}

const client = { url: "http://127.0.0.1:9" };
const answer = serve({
  client,
  signingKey: KEY,
  maxBytes: 2_000,
  log: () => {},
  handlers: {
    add: (ctx, input: { n: number }) => {
      ctx.setState({ seen: true });
      return input.n + 1;
    },
    fail: () => {
      throw new NotRetryable("no money", { code: "NO_MONEY" });
    },
    later: () => {
      throw new RetryAfter("busy", "2h");
    },
    pause: (ctx) => ctx.pause("settle", "2d"),
  },
});

const said = async (handler: string) => (await answer(posted(JSON.stringify(task(handler))))).json() as Promise<Record<string, Record<string, unknown>>>;

test("what a handler comes to without recording anything is the answer", async () => {
  assert.deepEqual(await said("add"), { output: 2, stateUpdates: { seen: true } });
  const { fail } = await said("fail");
  assert.deepEqual([fail?.["code"], fail?.["message"], fail?.["retryable"]], ["NO_MONEY", "no money", false]);
  assert.equal((await said("later"))["fail"]?.["retryAfterMs"], 7_200_000);
  assert.deepEqual(await said("pause"), { pause: { name: "settle", duration: "2d" } });
  assert.equal((await said("unknown"))["fail"]?.["code"], "UNKNOWN_HANDLER");
});

test("only what is signed, now, with the key, is believed", async () => {
  const body = JSON.stringify(task("add"));
  const other = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
  const status = async (request: Request) => (await answer(request)).status;
  assert.equal(await status(posted(body)), 200);
  assert.equal(await status(posted(body, { key: other })), 401);
  assert.equal(await status(posted(body, { at: Date.now() - 3_600_000 })), 401);
  assert.equal(await status(posted(body, { headers: { "webhook-timestamp": "soon" } })), 401);
  assert.equal(await status(new Request("http://handler.invalid/", { method: "POST", body })), 401);
  assert.equal(await status(posted(`${body} `.repeat(20))), 413);
  assert.equal(await status(posted("{}")), 400);
  assert.equal(await status(new Request("http://handler.invalid/")), 405);
  const both = serve({ client, signingKey: `${other} ${KEY}`, handlers: { add: () => 1 } });
  assert.equal((await both(posted(body))).status, 200);
});

test("without a key nothing is served, unless that is said", async () => {
  const handlers = { add: () => 1 };
  assert.throws(() => serve({ client, handlers }), /signingKey/);
  assert.throws(() => serve({ client, handlers, signingKey: "secret" }), /whsec_/);
  const open = serve({ client, handlers, unsigned: true });
  const request = new Request("http://handler.invalid/", { method: "POST", body: JSON.stringify(task("add")) });
  assert.equal((await open(request)).status, 200);
});

test("code that does not fit the journal waits for other code", async () => {
  let isNew = false;
  const { server, close } = await behindUrl({
    graceMs: 100,
    handlers: {
      desk: async (ctx) => {
        await ctx.run(isNew ? "bill" : "charge", () => 1);
        await ctx.sleep("nap", "1h");
      },
    },
  });
  try {
    await server.client.deploy(workflow("desk").task("desk", "desk"));
    const run = await server.client.start("desk");
    await server.settle(run);
    isNew = true;
    await server.advance("1h");
    const { waitingFor } = await server.settle(run);
    assert.equal(waitingFor[0]?.kind, "CODE");
    isNew = false;
    await server.client.waitpoints.complete(waitingFor[0]?.waitpointId ?? "");
    await run.result();
  } finally {
    await close();
  }
});

test("a child, a race and a call with attempts are the same behind a URL", async () => {
  let tries = 0;
  const { server, close } = await behindUrl({
    handlers: {
      desk: async (ctx) => {
        const work = () => {
          if ((tries += 1) < 3) throw new Error("not yet");
          return "paid";
        };
        const paid = await ctx.run("pay", work, { retry: 5 });
        const { name } = await ctx.any([ctx.branch("slow", () => ctx.sleep("long", "9d").then(() => 1)), ctx.sleep("short", "1h")]);
        ctx.log("raced");
        await ctx.child("rest", "nap");
        return [paid, name];
      },
    },
  });
  try {
    await server.client.deploy(workflow("nap").sleep("nap", "1h"));
    await server.client.deploy(workflow("desk").task("desk", "desk"));
    assert.deepEqual(await server.runThrough("desk"), ["paid", "short"]);
  } finally {
    await close();
  }
});
