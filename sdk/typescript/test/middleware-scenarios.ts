/** The scenarios of code around handlers, and of their own logger. */
import { type Context, type Middleware, captureConsole, isSuspended, workflow, type wire } from "../src/index.js";
import { type Scenario, one } from "./scenarios.js";

export const scenarios: Record<string, Scenario> = {
  "middleware around handlers and calls": async (server) => {
    const notes: string[] = [];
    const noting: Middleware = {
      async handler(_, next) {
        notes.push("handler:begin");
        try {
          const output = await next();
          notes.push("handler:ok");
          return output;
        } catch (error) {
          notes.push(isSuspended(error) ? "handler:suspended" : "handler:error");
          throw error;
        }
      },
      call({ name }, next) {
        notes.push(`call:${name}`);
        return next();
      },
    };
    const work = async (ctx: Context): Promise<void> => {
      await ctx.run("one", () => 1);
      await ctx.sleep("nap", "1h");
      await ctx.run("two", () => 2);
    };
    server.worker({ handlers: { work }, middleware: [noting] });
    await server.client.deploy(workflow("one").task("work", "work"));
    await server.runThrough("one");
    return { notes };
  },

  "the language's own logger": async (server) => {
    const undo = captureConsole();
    try {
      await one(server, async (ctx) => {
        console.info("packing");
        await ctx.sleep("nap", "1h");
        console.warn("sent");
      });
      const run = await server.client.start("one");
      await server.skipWaits(run);
      console.info("nobody's line");
      const logged = (await server.history(run)).filter(({ type }) => type === "TASK_LOGGED");
      const lines = logged.flatMap((record) => record["lines"] as unknown as wire.LogLine[]);
      return { lines: lines.map(({ level, message }) => [level, message]) };
    } finally {
      undo();
    }
  },
};
