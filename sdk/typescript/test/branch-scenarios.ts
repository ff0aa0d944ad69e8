/** The scenarios of branches: races of them, and all of them together. */
import { workflow } from "../src/index.js";
import type { TestServer } from "../src/testing.js";
import { type Scenario, one } from "./scenarios.js";

export const scenarios: Record<string, Scenario> = {
  "any over branches": async (server) => {
    const counts = { afterNap: 0, never: 0 };
    await server.client.deploy(workflow("sleeper").sleep("nap", "10d"));
    await one(server, async (ctx) => {
      const { name: winner, value } = await ctx.any([
        ctx.branch("fast", async () => {
          await ctx.sleep("nap", "1h");
          return ctx.run("after-nap", () => ((counts.afterNap += 1), "slept"));
        }),
        ctx.branch("slow", async () => {
          await ctx.child("helper", "sleeper");
          return ctx.run("never", () => (counts.never += 1));
        }),
        ctx.waitForSignal("withdrawn", "withdrawn", { timeout: "30d" }),
      ]);
      await ctx.sleep("later", "1h");
      return { winner, value };
    });
    const run = await server.client.start<object>("one");
    await server.advance("1h");
    const children: string[] = [];
    for await (const { id, definition } of server.client.runs.list()) if (definition.name === "sleeper") children.push(id);
    const { status: childStatus } = await server.client.runs.find(children[0] ?? "");
    await server.skipWaits(run);
    let openWaitsAtTheEnd = 0;
    for await (const { status } of server.client.waitpoints.list({ runId: run.id })) if (status === "PENDING") openWaitsAtTheEnd += 1;
    const { status } = await run.get();
    return { ...(await run.result()), ...counts, childStatus, openWaitsAtTheEnd, status };
  },

  "all over branches and waits": async (server) => {
    const counts = { a1: 0, a3: 0, c1: 0 };
    const count = (name: keyof typeof counts) => () => (counts[name] += 1);
    await one(server, (ctx) =>
      ctx.all([
        ctx.branch("a", async () => {
          await ctx.run("a1", count("a1"));
          await ctx.sleep("a2", "1h");
          await ctx.run("a3", count("a3"));
          return 1;
        }),
        ctx.sleep("b", "2h"),
        ctx.branch("c", async () => {
          await ctx.run("c1", count("c1"));
          return 3;
        }),
      ]),
    );
    const run = await server.client.start("one");
    const { status } = await server.skipWaits(run);
    return { values: await run.result(), ...counts, status };
  },

  "some of several waits": async (server) => {
    let after = 0;
    await one(server, async (ctx) => {
      const first = await ctx.some(2, [ctx.sleep("a", "3h"), ctx.waitForSignal("b", "b"), ctx.sleep("c", "1h")]);
      await ctx.run("after", () => (after += 1));
      await ctx.sleep("later", "1h");
      return { first: first.map(({ name }) => name), indexes: first.map(({ index }) => index), value: first[0]?.value ?? null };
    });
    const run = await server.client.start<object>("one");
    await server.settle(run);
    await run.signal("b", { why: "now" });
    await server.settle(run);
    await server.advance("1h");
    const { status } = await server.skipWaits(run);
    return { ...(await run.result()), after, cancelled: await cancelled(server, run.id), status };
  },

  "the first of several waits of a step": async (server) => {
    await server.client.deploy(
      workflow("order").waitAny("outcome", {
        paid: { type: "wait_for_event", eventId: "order.paid" },
        stop: { type: "external_event", signalType: "stop" },
        late: { type: "wait", duration: "3d" },
      }),
    );
    const stopped = await server.client.start("order");
    const late = await server.client.start("order");
    await stopped.signal("stop", { why: "no" });
    const told = await stopped.result();
    await server.advance("3d");
    return { stopped: told, late: await late.result(), cancelled: await cancelled(server, stopped.id) };
  },
};

/** The names of the waits of a run that were cancelled, in order. */
async function cancelled(server: TestServer, runId: string): Promise<string[]> {
  const names: string[] = [];
  for await (const { name, status } of server.client.waitpoints.list({ runId })) if (status === "CANCELLED") names.push(name);
  return names.sort();
}
