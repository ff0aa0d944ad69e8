/** Branches that win and lose, against a real server. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { Cancelled, NotRetryable, RunFailed, isSuspended } from "../src/index.js";
import { TestServer } from "../src/testing.js";
import { one } from "./scenarios.js";

async function serving(work: (server: TestServer) => Promise<void>): Promise<void> {
  const server = await TestServer.start();
  try {
    await work(server);
  } finally {
    await server.close();
  }
}

test("the work of a branch that loses is told, and what it gives is not recorded", () =>
  serving(async (server) => {
    let told = false;
    const after: string[] = [];
    await one(server, async (ctx) => {
      let begun = () => {};
      const working = new Promise<void>((go) => (begun = go));
      const { name } = await ctx.any([
        ctx.branch("slow", async () => {
          await ctx.run("download", async ({ signal }) => {
            begun();
            await new Promise<void>((go) => signal.addEventListener("abort", () => go()));
            told = true;
            return "too late";
          });
          after.push("download");
        }),
        ctx.branch("quick", () => working),
      ]);
      await ctx.sleep("nap", "1h");
      return name;
    });
    const run = await server.client.start("one");
    await server.skipWaits(run);
    assert.equal(await run.result(), "quick");
    assert.equal(told, true);
    assert.deepEqual(after, []);
    const recorded = JSON.stringify(await server.history(run));
    assert.equal(recorded.includes("any:slow|quick"), true);
    assert.equal(recorded.includes("too late"), false);
  }));

test("what a loser has recorded is reached at every replay, and is not done again", () =>
  serving(async (server) => {
    let steps = 0;
    await one(server, async (ctx) => {
      const { value } = await ctx.any([
        ctx.branch("loser", async () => {
          await ctx.run("step-1", () => (steps += 1));
          await ctx.sleep("nap-1", "1h");
          await ctx.run("step-2", () => (steps += 1));
          await ctx.sleep("nap-2", "10h");
          await ctx.run("step-3", () => (steps += 1));
        }),
        ctx.waitForSignal("stop", "stop"),
      ]);
      await ctx.sleep("later", "1d");
      await ctx.sleep("much-later", "1d");
      return value;
    });
    const run = await server.client.start("one");
    await server.advance("2h");
    await run.signal("stop", "enough");
    await server.skipWaits(run);
    assert.equal(await run.result(), "enough");
    assert.equal(steps, 2);
  }));

test("a branch that fails first is thrown, and remembered once the handler has caught it", () =>
  serving(async (server) => {
    let charged = 0;
    const caught: string[] = [];
    await one(server, async (ctx) => {
      try {
        await ctx.any([
          ctx.branch("pay", () =>
            ctx.run("charge", () => {
              charged += 1;
              throw new NotRetryable("no money", { code: "NO_MONEY" });
            }),
          ),
          ctx.sleep("too-late", "1d"),
        ]);
      } catch (error) {
        if (isSuspended(error)) throw error;
        caught.push(`${(error as RunFailed).run} ${(error as RunFailed).code} ${(error as Error).message}`);
      }
      await ctx.sleep("nap", "1h");
      return "went on";
    });
    const run = await server.client.start("one");
    await server.skipWaits(run);
    assert.equal(await run.result(), "went on");
    assert.equal(charged, 1);
    assert.deepEqual(caught, ["charge NO_MONEY no money", "charge NO_MONEY no money"]);
  }));

test("a branch that fails, and is not caught, is tried again with the handler", () =>
  serving(async (server) => {
    let tried = 0;
    const work = () => {
      if ((tried += 1) < 2) throw new Error("not yet");
      return "done";
    };
    await one(server, async (ctx) => (await ctx.any([ctx.branch("a", () => ctx.run("try", work)), ctx.sleep("nap", "1d")])).value);
    assert.equal(await server.runThrough("one"), "done");
    assert.equal(tried, 2);
  }));

test("races within races: the branches of a loser lose", () =>
  serving(async (server) => {
    const done: string[] = [];
    const call = (name: string) => () => done.push(name);
    await one(server, async (ctx) => {
      const { name } = await ctx.any([
        ctx.branch("outer", async () => {
          await ctx.any([
            ctx.branch("inner-a", async () => {
              await ctx.run("a-1", call("a-1"));
              await ctx.sleep("a-nap", "5h");
              await ctx.run("a-2", call("a-2"));
            }),
            ctx.branch("inner-b", () => ctx.sleep("b-nap", "6h").then(() => "b")),
          ]);
          await ctx.run("outer-end", call("outer-end"));
        }),
        ctx.branch("other", async () => {
          await ctx.sleep("other-nap", "1h");
        }),
      ]);
      await ctx.sleep("later", "1d");
      return name;
    });
    const run = await server.client.start("one");
    await server.skipWaits(run);
    assert.equal(await run.result(), "other");
    assert.deepEqual(done, ["a-1"]);
  }));

test("a wait that lost is cancelled for whoever awaits it all the same", () =>
  serving(async (server) => {
    await one(server, async (ctx) => {
      const nap = ctx.sleep("nap", "1d");
      await ctx.any([nap, ctx.branch("at-once", () => 1)]);
      try {
        await nap;
      } catch (error) {
        if (isSuspended(error)) throw error;
        await ctx.sleep("after", "1h");
        return (error as Cancelled & { code: string }).code;
      }
      return "slept";
    });
    assert.equal(await server.runThrough("one"), "WAIT_CANCELLED");
  }));

test("a handler may be at its end before what has lost is replayed", () =>
  serving(async (server) => {
    await one(server, async (ctx) => {
      const { name } = await ctx.any([
        ctx.branch("long", async () => {
          for (let step = 0; step < 20; step += 1) await ctx.run(`step-${step}`, () => step);
          await ctx.sleep("nap", "2h");
        }),
        ctx.sleep("short", "1h"),
      ]);
      return name;
    });
    assert.equal(await server.runThrough("one"), "short");
  }));

test("a handler that goes on after a failure may be at its end before the branches beside it are replayed", () =>
  serving(async (server) => {
    await one(server, async (ctx) => {
      const failing = async () => {
        await ctx.sleep("nap", "1h");
        return ctx.run("fails", () => {
          throw new NotRetryable("no");
        });
      };
      const long = async () => {
        for (let step = 0; step < 20; step += 1) await ctx.run(`step-${step}`, () => step);
        await ctx.sleep("long", "9h");
      };
      try {
        await ctx.all([ctx.branch("failing", failing), ctx.branch("long", long)]);
      } catch (error) {
        if (isSuspended(error)) throw error;
      }
      return ctx.sleep("last", "1h").then(() => "went on");
    });
    assert.equal(await server.runThrough("one"), "went on");
  }));

test("a branch that lost is cancelled for whoever awaits it all the same", () =>
  serving(async (server) => {
    await one(server, async (ctx) => {
      const loser = ctx.branch("loser", () => ctx.sleep("nap", "1d"));
      await ctx.any([loser, ctx.branch("at-once", () => 1)]);
      try {
        await loser;
      } catch (error) {
        if (isSuspended(error)) throw error;
        await ctx.sleep("after", "1h");
        return (error as RunFailed).code;
      }
      return "slept";
    });
    assert.equal(await server.runThrough("one"), "WAIT_CANCELLED");
  }));
