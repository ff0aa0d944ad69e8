/** The scenarios of limits in durable code. */
import { type Scenario, failure, one } from "./scenarios.js";
import type { Limit } from "../src/index.js";

export const scenarios: Record<string, Scenario> = {
  "room for a durable call": async (server) => {
    let [inHand, most] = [0, 0];
    const limit: Limit = { name: "partner", concurrency: 1 };
    await one(server, (ctx) =>
      ctx.run(
        "call",
        async ({ attempt }) => {
          inHand += 1;
          most = Math.max(most, inHand);
          await new Promise((go) => setTimeout(go, 5));
          inHand -= 1;
          if (attempt === 1) throw new Error("not yet");
          return attempt;
        },
        { limit, retry: 2 },
      ),
    );
    const runs = await Promise.all([1, 2, 3].map(() => server.client.start("one")));
    const outputs = [];
    for (const run of runs) outputs.push((await server.skipWaits(run)).output);
    const asked = (await server.history(runs[0] ?? "")).some(({ type }) => type === "CAPACITY_TAKEN");
    return { most, outputs, asked };
  },

  "room for several durable calls": async (server) => {
    await one(server, (ctx) => {
      const { n, timeout } = ctx.input as { n: number; timeout?: string };
      const limit: Limit = { name: "desk", concurrency: 1, ...(timeout === undefined ? {} : { timeout }) };
      return ctx.withLimit(limit, "body", async () => {
        await ctx.sleep("nap", "1h");
        return ctx.run("n", () => n);
      });
    });
    const waits = [];
    const runs = [];
    for (const input of [{ n: 1 }, { n: 2 }, { n: 3, timeout: "10m" }]) {
      const run = await server.client.start("one", input);
      waits.push((await server.settle(run)).waitingFor[0]?.kind);
      runs.push(run);
    }
    const [first, second, third] = runs as [(typeof runs)[0], (typeof runs)[0], (typeof runs)[0]];
    await server.advance("11m");
    const { code: late } = await failure(server, third);
    const outputs = [];
    for (const run of [first, second]) outputs.push((await server.skipWaits(run)).output);
    return { waits, late, outputs };
  },
};
