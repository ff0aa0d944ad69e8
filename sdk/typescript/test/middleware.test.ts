/** What middleware sees and does, against a real server. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { type Middleware, NotRetryable, captureConsole, workflow } from "../src/index.js";
import { TestServer } from "../src/testing.js";

async function played(middleware: Middleware[], work: Parameters<TestServer["worker"]>[0]["handlers"]) {
  const server = await TestServer.start();
  try {
    server.worker({ handlers: work ?? {}, middleware, log: () => {} });
    await server.client.deploy(workflow("one").task("work", "work", { retry: { maxAttempts: 1 } }));
    return await server.skipWaits(await server.client.start("one"));
  } finally {
    await server.close();
  }
}

test("the first middleware is outermost, and each sees what is inside of it", async () => {
  const notes: string[] = [];
  const noting = (name: string): Middleware => ({
    async handler(ctx, next) {
      notes.push(`${name} in, replaying ${ctx.replaying}`);
      const output = await next();
      notes.push(`${name} out with ${String(output)}`);
      return output;
    },
    async call({ name: call, attempt, idempotencyKey, ctx }, next) {
      notes.push(`${name} ${call} ${attempt} ${idempotencyKey === ctx.idempotencyKey(call)}`);
      return `${String(await next())}!`;
    },
  });
  const { output } = await played([noting("a"), noting("b")], { work: (ctx) => ctx.run("one", () => "done") });
  assert.equal(output, "done!!");
  assert.deepEqual(notes, [
    "a in, replaying false",
    "b in, replaying false",
    "a one 1 true",
    "b one 1 true",
    "b out with done!!",
    "a out with done!!",
  ]);
});

test("what a middleware throws is the handler's error", async () => {
  const refusing: Middleware = {
    handler() {
      throw new NotRetryable("not on Sundays", { code: "SUNDAY" });
    },
  };
  const { error } = await played([refusing], { work: () => "never" });
  assert.deepEqual([error?.code, error?.message], ["SUNDAY", "not on Sundays"]);
});

test("a middleware that keeps a suspension to itself is told so", async () => {
  const swallowing: Middleware = {
    async handler(_, next) {
      return next().catch(() => "swallowed");
    },
  };
  const { error } = await played([swallowing], { work: (ctx) => ctx.sleep("nap", "1h") });
  assert.equal(error?.code, "SUSPENSION_SWALLOWED");
});

test("the console is as it was when the capture is undone", () => {
  const { log, warn } = console;
  const undo = captureConsole();
  assert.notEqual(console.log, log);
  assert.equal(captureConsole(), undo);
  undo();
  assert.equal(console.log, log);
  assert.equal(console.warn, warn);
});
