/** Durable code at its edges: what cannot be replayed is refused, and what can be is. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { Client, type Context, type HandlerFunction, RunNotCompleted, Worker, workflow } from "../src/index.js";
import { TestServer } from "../src/testing.js";
import { type Request, Transport } from "../src/transport.js";

let server: TestServer;
let count = 0;
before(async () => {
  server = await TestServer.start();
});
after(() => server.close());

/** Starts a run of one task with a handler of its own. */
async function start(run: HandlerFunction, fields: object = {}): Promise<{ id: string; worker: Worker }> {
  const name = `case-${(count += 1)}`;
  const worker = server.worker({ handlers: { [name]: run }, graceMs: 200, drainMs: 100 });
  await server.client.deploy(workflow(name).task("work", name, fields));
  return { id: (await server.client.start(name)).id, worker };
}

async function through(run: HandlerFunction, fields: object = {}): Promise<any> {
  const { id, worker } = await start(run, fields);
  const ended = await server.skipWaits(id);
  await worker.stop();
  if (ended.status !== "COMPLETED") throw new RunNotCompleted(ended);
  return ended.output;
}

test("a name that is used twice is refused at once", async () => {
  const twice = async (ctx: Context) => {
    await ctx.run("a", () => 1);
    await ctx.run("a", () => 2);
  };
  await assert.rejects(through(twice), { code: "DURABLE_CALL_MISUSED", message: /`a` is used twice/ });
});

test("a durable call inside of a run is refused, whatever the handler makes of it", async () => {
  const nested = async (ctx: Context) => {
    await ctx.run("outer", () => ctx.sleep("inner", "1h")).catch(() => {});
    return "went on";
  };
  await assert.rejects(through(nested), { code: "DURABLE_CALL_MISUSED", message: /`inner` is inside of `outer`/ });
});

test("a run that becomes a wait is changed code", async () => {
  let entered = 0;
  const changing = async (ctx: Context) => {
    entered += 1;
    if (entered === 1) await ctx.run("a", () => 1);
    else await ctx.sleep("a", "1h");
    await ctx.sleep("b", "1h");
  };
  await assert.rejects(through(changing, { onCodeChange: "fail" }), { code: "CODE_CHANGED", message: /`a` as a run, and the code comes to `a` as a wait/ });
});

test("a handler that ends before it comes to what it recorded is changed code", async () => {
  let entered = 0;
  const shorter = async (ctx: Context) => {
    entered += 1;
    if (entered > 1) return "short";
    await ctx.run("a", () => 1);
    await ctx.sleep("b", "1h");
    return "long";
  };
  await assert.rejects(through(shorter, { onCodeChange: "fail" }), { code: "CODE_CHANGED", message: /`a`/ });
});

test("branches may come to their calls in any order, and take their time between them", async () => {
  let entered = 0;
  const output = await through(async (ctx: Context) => {
    entered += 1;
    const slowAtFirst = async () => {
      if (entered > 1) await new Promise((go) => setTimeout(go, 20));
      return ctx.run("slow", () => "slow");
    };
    const other = async () => {
      await ctx.sleep("nap", "1h");
      return ctx.run("after the nap", () => "other");
    };
    return Promise.all([slowAtFirst(), other()]);
  });
  assert.deepEqual([output, entered], [["slow", "other"], 2]);
});

test("of branches that fail together, what succeeded is kept, and the failure is tried again", async () => {
  const done: string[] = [];
  const output = await through(
    async (ctx: Context) => {
      const slow = ctx.run("slow", async () => {
        await new Promise((go) => setTimeout(go, 20));
        done.push("slow");
        return 1;
      });
      const broken = ctx.run("broken", () => {
        done.push("broken");
        if (ctx.attempt === 1) throw new Error("not yet");
        return 2;
      });
      return Promise.all([slow, broken]);
    },
    { retry: { maxAttempts: 2 } },
  );
  assert.deepEqual([output, done], [[1, 2], ["broken", "slow", "broken"]]);
});

test("what any decided stays decided, also beside other waits", async () => {
  const seen: unknown[] = [];
  const { id, worker } = await start(async (ctx: Context) => {
    const race = async () => {
      const { name } = await ctx.any([ctx.waitForSignal("x", "x"), ctx.waitForSignal("y", "y")]);
      seen.push(name);
      return ctx.run("noted", () => name);
    };
    const [name] = await Promise.all([race(), ctx.sleep("long", "1d")]);
    return name;
  });
  await server.settle(id);
  await server.client.signal(id, "y");
  await server.settle(id);
  await server.client.signal(id, "x");
  const { output } = await server.skipWaits(id);
  await worker.stop();
  assert.deepEqual([output, new Set(seen)], ["y", new Set(["y"])]);
});

test("a sleep that is begun early counts from its beginning", async () => {
  const begun = (await server.now()).getTime();
  const output = await through(async (ctx: Context) => {
    const deadline = ctx.sleep("deadline", "2h");
    await ctx.sleep("nap", "1h");
    await deadline;
    return (await server.now()).getTime();
  });
  assert.equal(output - begun, 2 * 3_600_000);
});

test("a wait that somebody cancels is an error of its own", async () => {
  const { id, worker } = await start((ctx: Context) => ctx.waitForSignal("word", "word"));
  const { waitingFor } = await server.settle(id);
  await server.client.waitpoints.cancel(waitingFor[0]?.waitpointId ?? "");
  const { error } = await server.settle(id);
  await worker.stop();
  assert.equal(error?.code, "WAIT_CANCELLED");
});

test("finally runs when the handler is left", async () => {
  let closed = 0;
  const output = await through(async (ctx: Context) => {
    try {
      await ctx.sleep("nap", "1h");
      return "slept";
    } finally {
      closed += 1;
    }
  });
  assert.deepEqual([output, closed], ["slept", 2]);
});

test("a result that is not JSON fails the task, and says whose it is", async () => {
  const circular = async (ctx: Context) => ctx.run("loop", () => ({ n: 1n }));
  await assert.rejects(through(circular), { code: "NOT_JSON", message: /`loop`/ });
});

test("state is merged, and every task of a run has one trace", async () => {
  const traces: string[] = [];
  const { id, worker } = await start(async (ctx: Context) => {
    traces.push(ctx.traceparent);
    await ctx.sleep("nap", "1h");
    ctx.setState({ a: 1 });
    ctx.setState({ b: 2 });
  });
  const { state } = await server.skipWaits(id);
  await worker.stop();
  const ids = new Set(traces.map((trace) => trace.split("-")[1]));
  assert.deepEqual([state, traces.length, ids.size], [{ a: 1, b: 2 }, 2, 1]);
});

test("a worker that is stopped gives back what it cannot finish", async () => {
  const names: string[] = [];
  const hang: HandlerFunction = (ctx) => {
    names.push(ctx.task.leaseToken);
    return names.length > 1 ? "done" : new Promise(() => {});
  };
  const { id, worker } = await start(hang);
  while (names.length === 0) await new Promise((go) => setImmediate(go));
  const stopped = new Worker({ client: server.client, handlers: { [`case-${count}`]: hang } });
  await worker.stop();
  const other = stopped.start();
  const { output } = await server.client.runs.wait(id);
  await stopped.stop();
  await other;
  const retries = (await server.history(id)).filter(({ type }) => type === "STEP_RETRYING");
  assert.deepEqual([output, names.length, retries], ["done", 2, []]);
});

test("reports that come together go out together", async () => {
  let requests = 0;
  const counting = new (class extends Transport {
    override json<T>(request: Request): Promise<T> {
      if (request.path.endsWith("/tasks/report")) requests += 1;
      return super.json<T>(request);
    }
  })({ url: server.url });
  const handlers = { many: () => null };
  await server.client.deploy(workflow("many").map("all", "{{ input }}", { type: "task", handler: "many" }, { concurrency: 500 }));
  const run = await server.client.start("many", Array.from({ length: 500 }, (_, n) => n));
  const worker = new Worker({ client: new Client(counting), handlers, concurrency: 500 });
  const working = worker.start();
  await run.result();
  await worker.stop();
  await working;
  assert.ok(requests <= 20, `${requests} requests`);
});

test("a backup is a store", async () => {
  const file = await new Response(await server.client.admin.backup()).arrayBuffer();
  assert.equal(Buffer.from(file).subarray(0, 15).toString(), "SQLite format 3");
});

test("a worker that the server refuses ends with the reason", async () => {
  const worker = server.worker({ handlers: { ["x".repeat(300)]: () => null } });
  await assert.rejects(worker.start(), { code: "MALFORMED" });
});
