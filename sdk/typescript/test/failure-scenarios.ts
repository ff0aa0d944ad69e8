/** The scenarios of failures and what they tell. */
import type { wire } from "../src/index.js";
import { type Scenario, one } from "./scenarios.js";

class Unweighable extends Error {
  override name = "Unweighable";
}

export const scenarios: Record<string, Scenario> = {
  "a failure that can be read": async (server) => {
    const weigh = (): never => {
      throw new Unweighable("no weight with password=hunter22", { cause: new Error("the scale is at zero") });
    };
    await one(server, (ctx) => ctx.run("weigh", weigh), { maxAttempts: 2 });
    const { error, steps } = await server.skipWaits(await server.client.start("one"));
    const { message = "", detail } = steps[0]?.error ?? {};
    const { type, call, attempt, stack, causes } = detail ?? {};
    return {
      type: type === "Unweighable",
      call,
      attempt,
      stack: stack?.includes("failure-scenarios") ?? false,
      causes: causes?.map((cause) => cause.message),
      message,
      run: { call: error?.detail?.call, stack: error?.detail?.stack !== undefined },
    };
  },

  "a log that is written once": async (server) => {
    let entered = 0;
    await one(server, async (ctx) => {
      entered += 1;
      ctx.log("begins");
      await ctx.sleep("nap", "1h");
      ctx.log.warn("half of %s", "password=hunter22");
      ctx.log("ends");
    });
    const run = await server.client.start("one");
    await server.skipWaits(run);
    const logged = (await server.history(run)).filter(({ type }) => type === "TASK_LOGGED");
    const lines = logged.flatMap((record) => record["lines"] as unknown as wire.LogLine[]);
    return { lines: lines.map(({ level, message }) => `${level}: ${message}`), entered };
  },
};
