/** The scenarios of branches: races of them, and all of them together. */
import { workflow } from "../src/index.js";
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
};
