/** The scenario of new code against recorded journals. */
import { type AnyHandlerFunction, workflow, type wire } from "../src/index.js";
import { type ExportedJournal, type TestServer, replayCheck } from "../src/testing.js";
import type { Scenario } from "./scenarios.js";

/** A task as `abide journals export` writes it. */
export function exported(task: wire.Task, name: string): ExportedJournal {
  const { runId, stepName: step, handler, attempt, input, state, config, checkpoint, journal } = task;
  return { runId, workflow: name, version: "1", step, handler, attempt, input, state, config, checkpoint, journal };
}

async function polled(server: TestServer): Promise<wire.Task> {
  const { tasks } = await server.client.tasks.poll({ handlers: ["work"], maxTasks: 1, waitMs: 5_000, workerId: "exporter" });
  const [task] = tasks;
  if (!task) throw new Error("there is no task");
  return task;
}

export const scenarios: Record<string, Scenario> = {
  "replay check": async (server) => {
    let executed = 0;
    const fetching = (then: AnyHandlerFunction): AnyHandlerFunction => async (ctx, input) => {
      await ctx.run("fetch", () => (executed += 1));
      await then(ctx, input);
      await ctx.run("end", () => (executed += 1));
    };
    const same = fetching((ctx) => ctx.sleep("nap", "1h"));
    const added = fetching(async (ctx) => {
      await ctx.run("added", () => (executed += 1));
      await ctx.sleep("nap", "1h");
    });
    const kind = fetching((ctx) => ctx.waitForEvent("nap", "woken"));

    await server.client.deploy(workflow("one").task("work", "work"));
    const worker = server.worker({ handlers: { work: same } });
    const slept = await server.client.start("one");
    await server.settle(slept);
    await worker.stop();
    await server.client.testClock.move({ advance: "1h" });
    const woken = await polled(server);
    await server.client.start("one");
    const { id, leaseToken } = await polled(server);
    await server.client.tasks.heartbeat(id, { leaseToken, entries: [{ name: "fetch", result: 1 }] });
    await server.client.tasks.release(id, { leaseToken });
    const fetched = await polled(server);
    const journals = [woken, fetched].map((task) => exported(task, "one"));

    executed = 0;
    const check = async (work: AnyHandlerFunction) => (await replayCheck({ work }, journals, { graceMs: 100 })).map(({ verdict }) => verdict);
    return { same: await check(same), added: await check(added), kind: await check(kind), executed };
  },
};
