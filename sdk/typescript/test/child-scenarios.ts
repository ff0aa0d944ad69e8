/** The scenarios of work in other runs, and of what becomes of it. */
import { ChildFailed, type Context, type wire, workflow } from "../src/index.js";
import type { TestServer } from "../src/testing.js";
import { type Scenario, failure, one } from "./scenarios.js";

const HOUR = 3_600_000;

/** A workflow that sleeps, and then says something. */
async function deployNap(server: TestServer, name: string, nap: string): Promise<void> {
  const say = (_: Context, input: { say: unknown }): unknown => {
    if (input.say === "no") throw new Error("it says no");
    return input.say;
  };
  server.worker({ handlers: { [name]: say } });
  const retry = { maxAttempts: 1 };
  await server.client.deploy(workflow(name, { output: "{{ steps.say.output }}" }).sleep("nap", nap).task("say", name, { retry }));
}

const hoursSince = async (server: TestServer, before: Date): Promise<number> =>
  Math.round(((await server.now()).getTime() - before.getTime()) / HOUR);

async function runsOf(server: TestServer, name: string): Promise<number> {
  let count = 0;
  for await (const run of server.client.runs.list()) if (run.definition.name === name) count += 1;
  return count;
}

export const scenarios: Record<string, Scenario> = {
  "a child": async (server) => {
    await deployNap(server, "restock", "1d");
    await one(server, async (ctx) => {
      const output = await ctx.child("tea", "restock", { say: "tea is back" });
      try {
        await ctx.child("coffee", "restock", { say: "no" });
      } catch (error) {
        if (error instanceof ChildFailed) return { output, failed: error.code };
        throw error;
      }
      return { output };
    });
    const before = await server.now();
    const run = await server.client.start<object>("one");
    await server.advance("1d");
    const hours = await hoursSince(server, before);
    await server.skipWaits(run);
    return { ...(await run.result()), children: await runsOf(server, "restock"), hours };
  },

  "a child that is only started": async (server) => {
    await deployNap(server, "restock", "1d");
    await one(server, async (ctx, { workflow }: { workflow: string }) => (await ctx.startChild("tea", workflow, { say: "tea" })).id);
    const id = await server.client.startAndWait<string>("one", { workflow: "restock" });
    const { status: child } = await server.client.runs.find(id);
    await server.advance("1d");
    const { status: later } = await server.client.runs.find(id);
    const unknown = await failure(server, await server.client.start("one", { workflow: "nothing" }));
    return { parent: "COMPLETED", child, later, started: await runsOf(server, "restock"), unknown: unknown.code };
  },

  "a map of children, two at a time": async (server) => {
    await deployNap(server, "restock", "1h");
    await one(server, async (ctx) => {
      const restock = (item: number, name: string) => ctx.child<number>(name, "restock", { say: item * 10 });
      return ctx.map("restock", [0, 1, 2, 3, 4], restock, { concurrency: 2 });
    });
    const before = await server.now();
    const run = await server.client.start("one");
    await server.skipWaits(run);
    const hours = await hoursSince(server, before);
    return { outputs: await run.result(), hours, runs: await runsOf(server, "restock") };
  },

  "a loser beside other waits is cancelled": async (server) => {
    await deployNap(server, "restock", "1d");
    await one(server, async (ctx) => {
      const race = async () => {
        const { name } = await ctx.any([ctx.waitForSignal("reply", "reply"), ctx.child("tea", "restock", { say: "tea" })]);
        return name;
      };
      const [first] = await Promise.all([race(), ctx.sleep("long", "2d")]);
      return first;
    });
    const run = await server.client.start("one");
    await server.settle(run);
    await run.signal("reply", "yes");
    const { status } = await server.settle(run);
    let loser: wire.Waitpoint | undefined;
    for await (const wait of server.client.waitpoints.list({ runId: run.id })) if (wait.name === "tea") loser = wait;
    const childId = loser?.listensFor.type === "child" ? loser.listensFor.runId : "";
    const child = await server.client.runs.find(childId);
    await server.skipWaits(run);
    const output = await run.result();
    return { first: output, loser: loser?.status, child: child.status, run: status, output };
  },

  "values of the code in a wait for an event": async (server) => {
    await one(server, async (ctx, { unknown }: { unknown?: boolean }) => {
      const orderId = 7;
      if (unknown) return ctx.waitForEvent("news", "order.paid", { match: "event.order.id == orderId", timeout: "1d" });
      return ctx.waitForEvent("payment", "order.paid", { where: { "order.id": orderId }, timeout: "1d" });
    });
    const run = await server.client.start("one", {});
    await server.settle(run);
    await server.client.notify("order.paid", { order: { id: 8 } });
    await server.client.notify("order.paid", { order: { id: 7 }, paid: true });
    const received = await run.result();
    const { code, message } = await failure(server, await server.client.start("one", { unknown: true }));
    return { received, code, names: message.includes("`orderId`") ? ["orderId"] : [] };
  },
};
