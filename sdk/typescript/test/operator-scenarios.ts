/** The scenarios of what operators rely on: runs that stay with their build, and handlers of a failure or a cancel. */
import { type Context, type HandlerFunction, NotRetryable, type RunHandle, workflow, type wire } from "../src/index.js";
import type { TestServer } from "../src/testing.js";
import { type Scenario, named, worker } from "./scenarios.js";

/** Lets an hour pass, though there is a task that nobody takes. */
async function passAnHour(server: TestServer): Promise<void> {
  let { now, target } = await server.client.testClock.move({ advance: "1h" });
  const to = target ?? now;
  while (Date.parse(now) < Date.parse(to)) ({ now } = await server.client.testClock.move({ to }));
}

/** What a handler of a failure or a cancel is given. */
type Ended = Pick<wire.Run, "input" | "state"> & {
  run: { id: string; name: string };
  error: wire.Failure | null;
  reason?: string | null;
};

/** What the handler of a run's end was told, as it gave it back. */
async function told(server: TestServer, run: RunHandle<unknown>) {
  const { status, handledBy } = await run.get();
  const handled = await server.skipWaits(handledBy ?? "");
  const { run: ended, input, state, error, reason = null } = handled.output as unknown as Ended;
  const failure = error && { code: error.code, message: error.message, step: error.step };
  return { status, sameRun: ended.id === run.id, name: ended.name, input, state, error: failure, reason };
}

export const scenarios: Record<string, Scenario> = {
  "a run that stays with its build": async (server) => {
    const noting = (build: string): HandlerFunction => async (ctx, input) => {
      if (input === "short") return build;
      const noted = [await ctx.run("first", () => build)];
      await ctx.sleep("one hour", "1h");
      noted.push(await ctx.run("second", () => build));
      await ctx.sleep("another hour", "1h");
      return [...noted, await ctx.run("third", () => build)];
    };
    const { client } = server;
    await client.deploy(workflow("pinned", { pinToBuild: true }).task("work", "work"));
    await client.deploy(workflow("free").task("work", "work"));
    const first = worker(server, "old", noting("old"));
    const run = await client.start("pinned");
    await server.settle(run);
    await first.stop();
    worker(server, "new", noting("new"));
    await passAnHour(server);
    // It was ready before this one, and would have been taken before it.
    const beside = await client.startAndWait("free", "short");
    const { kind, sentence = "" } = (await run.get()).waitingFor.find((wait) => wait.kind === "WORKER") ?? {};
    const again = worker(server, "old", noting("old"));
    await server.settle(run);
    await again.stop();
    await client.runs.pin(run.id, "new");
    await server.advance("1h");
    return { kind, names: named(sentence, "old", "new"), beside, noted: await run.result() };
  },

  "handlers of a failure and of a cancel": async (server) => {
    const { client } = server;
    const handlers: string[] = [];
    const pay = async (ctx: Context, { pays }: { pays: string }) => {
      if (pays === "never") throw new NotRetryable("no money", { code: "CARD_DECLINED" });
      if (pays === "later") await ctx.sleep("payday", "30d");
    };
    const tell = async (ctx: Context, ended: Ended) => {
      await ctx.sleep("office hours", "1h");
      handlers.push("tell");
      return ended;
    };
    const release = (_: Context, ended: Ended) => {
      handlers.push("release");
      return ended;
    };
    server.worker({ handlers: { reserve: () => "12A", pay, tell, release } });
    const trip = workflow("trip").task("reserve", "reserve", { saveAs: "seat" }).task("pay", "pay");
    await client.deploy(trip.onFailure("tell").onCancel("release"));
    const failing = await client.start("trip", { pays: "never" });
    await server.settle(failing);
    const failed = await told(server, failing);
    const waiting = await client.start("trip", { pays: "later" });
    await server.settle(waiting);
    await waiting.cancel("changed my mind");
    const cancelled = await told(server, waiting);
    const paid = await client.start("trip", { pays: "now" });
    const { status, handledBy = null } = await server.settle(paid);
    return { failed, cancelled, completed: { status, handledBy }, handlers };
  },
};
