/** The scenarios of sdk/conformance/scenarios.md that need one process. Each gives what it came to. */
import { isDeepStrictEqual } from "node:util";

import {
  Client,
  type Context,
  type DurableCall,
  type AnyHandlerFunction,
  type HandlerFunction,
  NotRetryable,
  Problem,
  RetryAfter,
  type RunHandle,
  TaskError,
  type Worker,
  isSuspended,
  workflow,
  type wire,
} from "../src/index.js";
import { TestServer } from "../src/testing.js";

export type Scenario = (server: TestServer) => Promise<unknown>;

/** A workflow of one task. */
export async function one(server: TestServer, run: AnyHandlerFunction, retry?: wire.WorkflowRetry): Promise<void> {
  server.worker({ handlers: { work: run }, graceMs: 100, heartbeatMs: 50 });
  await server.client.deploy(workflow("one").task("work", "work", retry ? { retry } : {}));
}

/** The failure of a run that does not complete. */
export async function failure(server: TestServer, run: RunHandle): Promise<wire.Failure & { attempts: number }> {
  const { error, steps } = await server.skipWaits(run);
  return { ...(error as wire.Failure), attempts: steps[0]?.attempt ?? 0 };
}

export const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "none",
    (error: unknown) => (error instanceof Problem ? error.code : String(error)),
  );

export const named = (message: string, ...names: string[]): string[] => names.filter((name) => message.includes(`\`${name}\``));

/** A worker of the code that it is told to be. */
export const worker = (server: TestServer, buildId: string, work: HandlerFunction): Worker =>
  server.worker({ handlers: { work }, buildId, graceMs: 100, heartbeatMs: 50 });

/** Charges, or bills in its place, and sleeps for an hour. */
const charging =
  (name: "charge" | "bill", counts: Record<"charge" | "bill", number>): HandlerFunction =>
  async (ctx) => {
    await ctx.run(name, () => (counts[name] += 1));
    await ctx.sleep("nap", "1h");
  };

/** What a run waits for when other code has woken up in it, and what becomes of it with the code of before. */
async function rolledBack(
  server: TestServer,
  old: HandlerFunction,
  changed: HandlerFunction,
  { names, first, then }: { names: string[]; first?: () => Promise<void>; then?: (run: RunHandle) => Promise<unknown> },
) {
  const before = worker(server, "old", old);
  await server.client.deploy(workflow("one").task("work", "work"));
  const run = await server.client.start("one");
  await server.settle(run);
  await first?.();
  await server.settle(run);
  await before.stop();
  const bad = worker(server, "new", changed);
  await server.advance("1h");
  const { waitingFor, steps } = await server.settle(run);
  const [{ kind, sentence } = { kind: "none", sentence: "" }] = waitingFor;
  await bad.stop();
  worker(server, "old", old);
  await then?.(run);
  await run.result();
  return { kind, names: named(sentence, ...names), attempts: steps[0]?.attempt, after: (await run.get()).status };
}

/** The call that a run is to make again. */
async function attemptOf(server: TestServer, run: RunHandle) {
  const { status, waitingFor } = await server.settle(run);
  const [wait] = waitingFor;
  const { listensFor } = await server.client.waitpoints.find(wait?.waitpointId ?? "");
  if (listensFor.type !== "attempt") throw new Error(JSON.stringify(listensFor));
  const { call, attempt, maxAttempts, error } = listensFor;
  return { status, kind: wait?.kind, call, attempt, maxAttempts, code: error.code };
}

export const scenarios: Record<string, Scenario> = {
  "start and wait": async (server) => {
    await one(server, (_, { a, b }: Record<"a" | "b", number>) => a + b);
    const { client } = server;
    const output = await client.startAndWait("one", { a: 2, b: 3 });
    const key = { idempotencyKey: "order-7" };
    const first = await client.start("one", { a: 1, b: 1 }, key);
    const again = await client.start("one", { a: 1, b: 1 }, key);
    const otherInput = await codeOf(client.start("one", { a: 1, b: 2 }, key));
    return { output, sameRun: first.id === again.id, otherInput };
  },

  "start many": async ({ client }) => {
    const inputSchema = { type: "object", properties: { n: { type: "integer" } } };
    await client.deploy(workflow("many", { inputSchema }).sleep("nap", "1h"));
    const inputs = [{ n: 1 }, { n: "two" }, { n: 3 }];
    const first = await client.startMany("many", inputs, { idempotencyKey: "night" });
    const again = await client.startMany("many", inputs, { idempotencyKey: "night" });
    const ids = (started: wire.StartedRuns) => started.results.flatMap(({ id }) => id ?? []);
    return {
      outcomes: first.results.map(({ outcome }) => outcome),
      code: first.results[1]?.problem?.code,
      again: again.results.map(({ outcome }) => outcome),
      sameRuns: ids(first).join() === ids(again).join(),
      inputs: await Promise.all(ids(first).map(async (id) => (await client.runs.find(id)).input)),
    };
  },

  "start on an event": async (server) => {
    const { client } = server;
    server.worker({ handlers: { sync: (_ctx: Context, input: unknown) => input } });
    const flow = workflow("sync").startOn("account.changed", {
      match: 'event.region == "EU"',
      input: { account: "{{ event.id }}" },
      idempotencyKey: "{{ event.id }}",
    });
    await client.deploy(flow.task("work", "sync"));
    const data = { region: "EU", id: 7 };
    const dry = await client.notify("account.changed", data, { dryRun: true });
    const first = await client.notify("account.changed", data);
    const again = await client.notify("account.changed", data);
    const other = await client.notify("account.changed", { region: "US", id: 7 });
    const outcomes = ({ started }: wire.EventSent) => started.map(({ outcome }) => outcome);
    const run = first.started[0]?.runId ?? "";
    return {
      dryRun: outcomes(dry),
      first: outcomes(first),
      again: outcomes(again),
      sameRun: again.started[0]?.runId === run,
      other: outcomes(other),
      output: (await client.runs.wait(run)).output,
    };
  },

  "cancel on an event": async (server) => {
    const { client } = server;
    const match = "event.id == input.account";
    const flow = workflow("sync")
      .cancelOn("account.closed", { match })
      .restartOn("account.moved", { match, input: { account: "{{ event.to }}" } })
      .sleep("nap", "1h");
    await client.deploy(flow);
    const first = await client.start("sync", { account: 7 });
    const second = await client.start("sync", { account: 8 });
    await client.notify("account.closed", { id: 7 });
    const cancelled = [(await first.get()).status, (await second.get()).status];
    await client.notify("account.moved", { id: 8, to: 9 });
    const waiting: wire.RunSummary[] = [];
    for await (const run of client.runs.list({ status: "WAITING" })) waiting.push(run);
    return {
      cancelled,
      restarted: (await second.get()).status,
      next: (await client.runs.find(waiting[0]?.id ?? "")).input,
    };
  },

  retries: async (server) => {
    await one(server, ({ attempt }) => {
      if (attempt < 3) throw new Error("not yet");
      return { attempt };
    });
    const run = await server.client.start("one");
    const { output } = await server.skipWaits(run);
    const history = await server.history(run);
    return { output, retrying: history.filter(({ type }) => type === "STEP_RETRYING").length };
  },

  "not retryable": async (server) => {
    await one(server, () => {
      throw new NotRetryable("no money", { code: "CARD_DECLINED" });
    });
    const { code, message, attempts } = await failure(server, await server.client.start("one"));
    return { code, message, attempts };
  },

  "retry after": async (server) => {
    await one(server, ({ attempt }) => {
      if (attempt === 1) throw new RetryAfter("come back later", "1h");
      return attempt;
    });
    const before = await server.now();
    const { output } = await server.skipWaits(await server.client.start("one"));
    return { output, waitedMs: (await server.now()).getTime() - before.getTime() };
  },

  "event before the wait": async (server) => {
    let sent: Promise<unknown> | undefined;
    await one(server, async (ctx) => {
      sent ??= (async () => {
        await server.client.notify("paid", { order: 8 });
        await server.client.notify("paid", { order: 7, paid: true });
      })();
      await sent;
      return ctx.waitForEvent("payment", "paid", { match: "event.order == input.order", timeout: "1d" });
    });
    return { received: await server.client.startAndWait("one", { order: 7 }) };
  },

  lookback: async (server) => {
    await one(server, async (ctx, { lookback }: { lookback?: string }) => {
      const event = await ctx.waitForEvent("early", "early", { timeout: "1h", ...(lookback ? { lookback } : {}) });
      return event ?? null;
    });
    await server.client.notify("early", { n: 1 });
    await server.advance("1m");
    const without = await server.runThrough("one", {});
    return { without, with: await server.runThrough("one", { lookback: "1d" }) };
  },

  "waitpoint URL called before the handler waits": async (server) => {
    const urls: string[] = [];
    const codes: string[] = [];
    await one(server, async (ctx) => {
      const waitpoint = await ctx.createWaitpoint("signature", { timeout: "1d" });
      urls.push(waitpoint.resumeUrl);
      if (urls.length === 1) await ctx.client.waitpoints.resume(waitpoint.resumeUrl, { signed: "ada" });
      codes.push(await codeOf(ctx.client.waitpoints.resume(waitpoint.resumeUrl, { signed: "bob" })));
      const call = await ctx.waitForWaitpoint(waitpoint);
      return call?.body;
    });
    const body = await server.client.startAndWait("one");
    return { body, sameUrl: urls.length === 2 && urls[0] === urls[1], again: codes[0] };
  },

  "signals in their order": async (server) => {
    await one(server, async (ctx) => {
      await ctx.sleep("first", "1h");
      const take = (name: string) => ctx.waitForSignal(name, "word", { timeout: "1h" });
      return [await take("a"), await take("b"), (await take("c")) ?? null];
    });
    const run = await server.client.start("one");
    await run.signal("word", "first");
    await run.signal("word", "second");
    await server.skipWaits(run);
    return { taken: await run.result() };
  },

  "pause with checkpoint": async (server) => {
    await one(server, async (ctx) => {
      if (ctx.lastCheckpoint === null) await ctx.checkpoint({ page: 2 });
      await ctx.pause("rest", "1d", { checkpoint: { page: 3 } });
      return { checkpoint: ctx.lastCheckpoint, attempt: ctx.attempt };
    });
    const run = await server.client.start<object>("one");
    const paused = await server.settle(run);
    await server.skipWaits(run);
    return { ...(await run.result()), while: paused.steps[0]?.status };
  },

  "pause in a loop": async (server) => {
    await one(server, async (ctx) => {
      let asked = 0;
      for (; asked < 3; asked++) await ctx.pause("poll-again", "1h");
      return { asked, attempt: ctx.attempt };
    });
    const before = await server.now();
    const run = await server.client.start<object>("one");
    await server.skipWaits(run);
    const waited = (await server.now()).getTime() - before.getTime();
    return { ...(await run.result()), waitedMs: waited };
  },

  "any, and the loser is cancelled": (server) => first(server, (run) => run.signal("reply", { yes: true })),
  "any, and time wins": (server) => first(server, (run) => server.skipWaits(run)),

  all: async (server) => {
    let entered = 0;
    await one(server, (ctx) => {
      entered += 1;
      return ctx.all([ctx.sleep("nap", "1h"), ctx.waitForSignal("word", "word"), ctx.waitForEvent("event", "event")]);
    });
    const run = await server.client.start("one");
    await server.settle(run);
    await run.signal("word", "signal");
    await server.client.notify("event", "event");
    await server.skipWaits(run);
    return { values: await run.result(), entered };
  },

  "branches that wait": async (server) => {
    const begun = await server.now();
    const hours: number[] = [];
    await one(server, async (ctx) => {
      const branch = async (name: string, duration: string, value: number) => {
        await ctx.sleep(`${name} sleeps`, duration);
        return ctx.run(`${name} works`, async () => {
          hours.push(((await server.now()).getTime() - begun.getTime()) / 3_600_000);
          return value;
        });
      };
      const [a, b] = await Promise.all([branch("a", "1h", 1), branch("b", "24h", 2)]);
      return a + b;
    });
    const run = await server.client.start("one");
    await server.skipWaits(run);
    return { hours, sum: await run.result() };
  },

  approve: async (server) => {
    await one(server, async (ctx) => {
      const ask = (name: string) => ctx.approve(name, { prompt: `${name}?`, content: { name }, timeout: "1d" });
      const answers = [await ask("one"), await ask("two"), await ask("three")];
      return { decisions: answers.map(({ decision }) => decision), approved: answers.map(({ approved }) => approved) };
    });
    const run = await server.client.start("one");
    for (const decision of ["approve", "reject"] as const) {
      await server.settle(run);
      const { data } = await server.client.approvals.list({ pending: true, runId: run.id });
      await server.client.approvals.decide(data[0]?.id ?? "", { decision });
    }
    await server.skipWaits(run);
    return run.result();
  },

  notify: async (server) => {
    await one(server, async (ctx) => {
      await ctx.notify("tell", "told", { n: 1 });
      await ctx.sleep("nap", "1h");
    });
    await server.runThrough("one");
    const { data } = await server.client.events.list({ eventId: "told" });
    return { events: data.length, data: data[0]?.eventData };
  },

  cancel: async (server) => {
    const working = moment();
    const over = moment();
    let told = false;
    await one(server, async (ctx) => {
      working.come();
      await new Promise<void>((stop) => ctx.signal.addEventListener("abort", () => stop()));
      told = true;
      over.come();
      return "too late";
    });
    const run = await server.client.start("one");
    await working.came;
    await run.cancel("changed my mind");
    await over.came;
    return { status: (await run.get()).status, told };
  },

  "changed code": async (server) => {
    const counts = { charge: 0, bill: 0 };
    const { kind, names, attempts, after } = await rolledBack(server, charging("charge", counts), charging("bill", counts), {
      names: ["charge", "bill"],
    });
    return { kind, names, billed: counts.bill, charged: counts.charge, attempts, after };
  },

  "a wait that changed its kind": (server) => {
    const old: HandlerFunction = async (ctx) => {
      await ctx.sleep("gate", "1h");
      await ctx.waitForSignal("go", "go");
    };
    const asking: HandlerFunction = async (ctx) => (await ctx.approve("gate")).approved;
    return rolledBack(server, old, asking, { names: ["gate"], then: (run) => run.signal("go") });
  },

  "another event under the same name": (server) => {
    const waiting = (event: string): HandlerFunction => async (ctx) => {
      await ctx.waitForEvent("news", event);
      await ctx.sleep("nap", "1h");
    };
    const first = async () => {
      await server.client.notify("order.paid", { ok: true });
    };
    return rolledBack(server, waiting("order.paid"), waiting("order.refused"), { names: ["news"], first });
  },

  "changed code that is to fail": async (server) => {
    const counts = { charge: 0, bill: 0 };
    const before = worker(server, "old", charging("charge", counts));
    await server.client.deploy(workflow("one").task("work", "work", { onCodeChange: "fail" }));
    const run = await server.client.start("one");
    await server.settle(run);
    await before.stop();
    worker(server, "new", charging("bill", counts));
    const { code, message, attempts } = await failure(server, run);
    return { code, names: named(message, "charge", "bill"), attempts };
  },

  "old and new code side by side": async (server) => {
    const counts = { charge: 0, bill: 0 };
    worker(server, "old", charging("charge", counts));
    await server.client.deploy(workflow("one").task("work", "work"));
    const runs = await Promise.all(Array.from({ length: 20 }, () => server.client.start("one")));
    await server.settle(runs[0] as RunHandle);
    worker(server, "new", charging("bill", counts));
    await server.advance("1h");
    await Promise.all(runs.map((run) => run.result()));
    return { completed: runs.length, charged: counts.charge, billed: counts.bill };
  },

  "a planned change": async (server) => {
    const ordering = (isNew: boolean): HandlerFunction => async (ctx) => {
      const done: string[] = [];
      const call = async (name: string) => done.push(await ctx.run(name, () => name));
      await call("order");
      if (isNew && ctx.patched("fraud")) await call("fraud");
      await ctx.sleep("nap", "1d");
      await call("end");
      return done;
    };
    const before = worker(server, "old", ordering(false));
    await server.client.deploy(workflow("one").task("work", "work"));
    const old = await server.client.start("one");
    await server.settle(old);
    await before.stop();
    worker(server, "new", ordering(true));
    const fresh = await server.client.start("one");
    await server.skipWaits(fresh);
    return { old: await old.result(), new: await fresh.result() };
  },

  "a call with its own attempts": async (server) => {
    let charged = 0;
    const keys = new Set<string>();
    const work = ({ idempotencyKey }: DurableCall) => {
      keys.add(idempotencyKey);
      if ((charged += 1) < 5) throw new TaskError("no money", { code: "NO_MONEY" });
      return "paid";
    };
    await one(server, (ctx) => ctx.run("charge", work, { retry: { maxAttempts: 5 } }));
    const run = await server.client.start("one");
    const { status, ...wait } = await attemptOf(server, run);
    const { steps } = await server.skipWaits(run);
    return { while: status, wait, charged, keys: keys.size, attempts: steps[0]?.attempt, output: await run.result() };
  },

  "a call that uses up its attempts": async (server) => {
    let charged = 0;
    await one(server, (ctx) => {
      const work = () => {
        charged += 1;
        throw new TaskError("no money", { code: "NO_MONEY" });
      };
      return ctx.run("charge", work, { retry: 3 });
    });
    const { code, attempts } = await failure(server, await server.client.start("one"));
    return { code, charged, attempts };
  },

  "a call that takes too long": async (server) => {
    let tried = 0;
    const work = () => ((tried += 1) === 1 ? new Promise<string>(() => {}) : "paid");
    await one(server, (ctx) => ctx.run("charge", work, { retry: 2, timeout: "50ms" }));
    const run = await server.client.start("one");
    const { code } = await attemptOf(server, run);
    const { steps } = await server.skipWaits(run);
    return { code, output: await run.result(), attempts: steps[0]?.attempt };
  },

  "progress renews the attempts": async (server) => {
    let tries = 0;
    const work: HandlerFunction = async (ctx) => {
      for (let call = 0; call < 30; call += 1) {
        await ctx.run(`call-${call}`, () => {
          if ((tries += 1) % 2 === 1) throw new Error("not yet");
        });
        await ctx.sleep(`day-${call}`, "1d");
      }
      return 30;
    };
    await one(server, work, { maxAttempts: 2 });
    return { output: await server.runThrough("one"), tries };
  },

  "a retried run keeps its waits": async (server) => {
    let charged = 0;
    let broken = true;
    await one(server, async (ctx) => {
      await ctx.run("charge", () => (charged += 1));
      await ctx.sleep("cooling-off", "2d");
      const parcel = await ctx.waitForEvent<{ parcel: number }>("parcel", "parcel.returned", { timeout: "14d" });
      if (broken) throw new NotRetryable("the bank is closed");
      return parcel;
    });
    const run = await server.client.start("one");
    await server.settle(run);
    await server.advance("2d");
    await server.settle(run);
    await server.client.notify("parcel.returned", { parcel: 7 });
    await server.settle(run);
    broken = false;
    const before = (await server.history(run)).length;
    await server.client.runs.retry(run.id);
    const output = await run.result();
    const waits = (await server.history(run)).slice(before).filter(({ type }) => type === "STEP_WAITING");
    return { charged, output, waitsOfTheRetriedRun: waits.length };
  },

  "a sleep that is over before it begins": async (server) => {
    await one(server, async (ctx) => {
      await ctx.sleep("nap", -5);
      return "awake";
    });
    const run = await server.client.start("one");
    const output = await run.result();
    return { output, attempts: (await run.get()).steps[0]?.attempt };
  },

  "swallowed suspension": async (server) => {
    await one(server, async (ctx) => {
      try {
        await ctx.sleep("nap", "1h");
      } catch {
        return "swallowed";
      }
      return "slept";
    });
    const { code, message, attempts } = await failure(server, await server.client.start("one"));
    return { code, names: named(message, "nap"), attempts };
  },

  "a caught failure is remembered": async (server) => {
    let charged = 0;
    await one(server, async (ctx) => {
      try {
        await ctx.run("charge", () => {
          charged += 1;
          throw new NotRetryable("no money");
        });
      } catch (error) {
        if (isSuspended(error)) throw error;
        const refund = await ctx.run("refund", () => "refunded");
        await ctx.sleep("nap", "1h");
        return [(error as Error).message, refund];
      }
      return [];
    });
    const output = await server.runThrough("one");
    return { charged, output };
  },

  "a caught failure is remembered across a pause": async (server) => {
    let charged = 0;
    await one(server, async (ctx) => {
      const charge = () => {
        charged += 1;
        throw new Error("no money");
      };
      const failed = await ctx.run("charge", charge).catch((error: Error) => error.message);
      await ctx.pause("rest", "1h");
      return failed;
    });
    const output = await server.runThrough("one");
    return { charged, output };
  },

  "100 parallel runs": async (server) => {
    let done = 0;
    await one(server, async (ctx) => {
      const works = Array.from({ length: 100 }, (_, n) => ctx.run(`work-${n}`, () => ((done += 1), n)));
      const numbers = await Promise.all(works);
      await ctx.sleep("nap", "1h");
      return numbers.reduce((sum, n) => sum + n, 0);
    });
    const sum = await server.runThrough("one");
    return { sum, done };
  },

  "unicode and large payloads": async (server) => {
    const name = "größe-名前-🍵";
    await one(server, async (ctx, input: { tooLarge?: boolean }) => {
      const text = await ctx.run(name, () => input);
      await ctx.sleep("nap", "1h");
      if (input.tooLarge) return "x".repeat(1_100_000);
      return text;
    });
    const input = { text: "é".repeat(60_000) + "🍵名\u0001\u2028", name, more: "x".repeat(839_996) };
    const run = await server.client.start<typeof input>("one", input);
    await server.skipWaits(run);
    const output = await run.result();
    const characters = [...output.text].length + output.more.length;
    const large = await server.client.start("one", { tooLarge: true });
    const { code } = await failure(server, large);
    const same = isDeepStrictEqual(output, input);
    return { same, characters, name: output.name, tooLarge: code };
  },

  "one trace": async (server) => {
    const traces: string[] = [];
    let child = "";
    await one(server, async (ctx, input: { parent?: boolean }) => {
      traces.push(traceIdOf(ctx.traceparent));
      if (!input.parent) return;
      child = await ctx.run("start", async () => (await ctx.client.start("one", {})).id);
      await ctx.sleep("nap", "1h");
    });
    const trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    const traced = new Client({ url: server.url, traceparent: () => `00-${trace}-00f067aa0ba902b7-01` });
    await server.skipWaits(await traced.start("one", { parent: true }));
    const { traceparent } = await server.settle(child);
    const handler = traces.length === 3 && traces.every((seen) => seen === trace);
    const alone = await server.client.start("one", {});
    await alone.result();
    const own = traces.at(-1) !== trace && /^[0-9a-f]{32}$/.test(traces.at(-1) ?? "");
    return { handler, child: traceIdOf(traceparent ?? "") === trace, own };
  },

  "refusals have codes": async (server) => {
    const { client } = server;
    await one(server, () => null);
    const run = await client.start("one");
    await run.result();
    const wrong = { name: "wrong", steps: [{ type: "task", name: "a", handlr: "h" }] } as unknown as wire.Workflow;
    const refused = await client.deploy(wrong).catch((error: unknown) => error);
    const codes = [
      await codeOf(client.runs.find("run_01m7h3qy00f49t7jpe51y1013k")),
      refused instanceof Problem ? refused.code : "",
      await codeOf(run.signal("late")),
    ];
    return { codes, pointer: refused instanceof Problem ? refused.problems.find((p) => p.nearest)?.pointer : undefined };
  },

  "history as it happens": async (server) => {
    await server.client.deploy(workflow("signals").waitForSignal("a", "a").waitForSignal("b", "b").waitForSignal("c", "c"));
    const run = await server.client.start("signals");
    const records: wire.HistoryRecord[] = [];
    const following = (async () => {
      for await (const record of run.follow()) records.push(record);
    })();
    await run.signal("a");
    while (records.length < 4) await new Promise<void>((go) => setImmediate(go));
    await server.crash();
    await run.signal("b");
    await run.signal("c");
    await following;
    const gaps = records.filter(({ seq }, index) => seq !== index + 1).length;
    return { gaps, last: records.at(-1)?.type };
  },

  "a graph in code": async (server) => {
    const add = (_: Context, { a, b }: Record<"a" | "b", number>) => a + b;
    server.worker({ handlers: { add } });
    const graph = workflow("graph")
      .task("left", "add", { input: { a: 1, b: 2 } })
      .task("right", "add", { input: { a: 2, b: 2 } })
      .task("join", "add", { after: ["left", "right"], input: { a: "{{ steps.left.output }}", b: "{{ steps.right.output }}" } });
    const { valid } = await server.client.definitions.check(graph.build());
    await server.client.deploy(graph);
    return { valid, output: await server.client.startAndWait(graph) };
  },

  "thirty days": async (server) => {
    server.worker({ handlers: { work: () => "done" } });
    await server.client.deploy(workflow("month").sleep("month", "30d").waitForSignal("go", "go").task("work", "work"));
    const before = await server.now();
    const run = await server.client.start("month");
    await server.skipWaits(run);
    await run.signal("go");
    const output = await run.result();
    const days = ((await server.now()).getTime() - before.getTime()) / 86_400_000;
    return { days, output };
  },
};

/** A signal against a sleep of a day. */
async function first(server: TestServer, happens: (run: RunHandle<unknown>) => Promise<unknown>): Promise<unknown> {
  await one(server, async (ctx: Context) => {
    const { index, name, value } = await ctx.any([ctx.waitForSignal("reply", "reply"), ctx.sleep("too-late", "1d")]);
    return { index, name, value: value ?? null };
  });
  const run = await server.client.start<{ name: string }>("one");
  await server.settle(run);
  await happens(run);
  const output = await run.result();
  const waits = await server.client.waitpoints.list({ runId: run.id });
  return { ...output, loser: waits.data.find(({ name }) => name !== output.name)?.status };
}

const traceIdOf = (traceparent: string): string => traceparent.split("-")[1] ?? "";

function moment(): { came: Promise<void>; come: () => void } {
  let come = () => {};
  const came = new Promise<void>((go) => (come = go));
  return { came, come };
}
