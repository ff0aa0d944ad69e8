/** The scenarios of sdk/conformance/scenarios.md whose workers are processes that can be killed and stopped. */
import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

import { type RunHandle, workflow } from "../src/index.js";
import type { TestServer } from "../src/testing.js";
import type { Scenario } from "./scenarios.js";

const WORKER = fileURLToPath(new URL("./worker-process.js", import.meta.url));

function worker(server: TestServer, stdin: "ignore" | "pipe" = "ignore"): ChildProcess {
  return spawn(process.execPath, [WORKER, server.url], { stdio: [stdin, "inherit", "inherit"] });
}

/** A worker whose task `slow` takes as long as its standard input is open. */
const slowWorker = (server: TestServer): ChildProcess => worker(server, "pipe");

const ended = (child: ChildProcess): Promise<number | null> =>
  child.exitCode !== null ? Promise.resolve(child.exitCode) : new Promise((go) => child.once("exit", (code) => go(code)));

async function end(child: ChildProcess): Promise<void> {
  child.kill("SIGKILL");
  await ended(child);
}

/** What the handlers of the worker's process give. */
interface Slept {
  before: string;
  after: string;
  attempt: number;
}

async function start(server: TestServer, handler: string): Promise<RunHandle<Slept>> {
  await server.client.deploy(workflow(handler).task("work", handler));
  return server.client.start<Slept>(handler);
}

/** Follows a run until a record of this type has come. */
async function until(run: RunHandle<unknown>, ...types: string[]): Promise<void> {
  for await (const record of run.follow()) if (types.includes(record.type)) return;
}

const recorded = async (server: TestServer, run: RunHandle<unknown>, name: string): Promise<number> => {
  const records = (await server.history(run)).filter(({ type }) => type === "JOURNAL_RECORDED");
  return records.filter((record) => (record["entries"] as { name: string }[]).some((entry) => entry.name === name)).length;
};

/** Lets time pass until the lease is over. A heartbeat that was on its way when the worker was stopped may renew it once more. */
async function loseTheLease(server: TestServer, run: RunHandle<unknown>): Promise<void> {
  while (!(await server.history(run)).some(({ type }) => type === "TASK_REDELIVERED")) await server.client.testClock.move({ advance: "3s" });
}

/** Played by the machine's clock: a killed worker's poll is given up by it, and a server that starts again goes by it. */
export const REAL_TIME = new Set(["sleep across the kill of a worker", "sleep across the kill of the server"]);

export const scenarios: Record<string, Scenario> = {
  "sleep across the kill of a worker": async (server) => {
    const first = worker(server);
    const run = await start(server, "long-nap");
    await until(run, "STEP_WAITING");
    await end(first);
    const second = worker(server);
    const [nap] = (await run.get()).waitingFor;
    await server.client.waitpoints.complete(nap?.waitpointId ?? "");
    const { before, after } = await run.result();
    await end(second);
    const { status } = await run.get();
    return { sameWorker: before === after, recordedOnce: (await recorded(server, run, "who")) === 1, status };
  },

  "sleep across the kill of the server": async (server) => {
    const begun = Date.now();
    const own = worker(server);
    const run = await start(server, "nap");
    await until(run, "STEP_WAITING");
    await server.crash();
    await run.result();
    const early = Date.now() - begun < 500;
    await end(own);
    const { status } = await run.get();
    return { status, early, recordedOnce: (await recorded(server, run, "who")) === 1 };
  },

  "heartbeat loss": async (server) => {
    const first = slowWorker(server);
    const run = await start(server, "slow");
    await until(run, "JOURNAL_RECORDED");
    first.kill("SIGSTOP");
    await loseTheLease(server, run);
    const second = worker(server);
    const { before, after, attempt } = await run.result();
    first.kill("SIGCONT");
    await end(first);
    await end(second);
    const redelivered = (await server.history(run)).filter(({ type }) => type === "TASK_REDELIVERED").length;
    const { status } = await run.get();
    return { status, sameWorker: before === after, redelivered, attempt };
  },

  drain: async (server) => {
    const own = slowWorker(server);
    const run = await start(server, "slow");
    await until(run, "JOURNAL_RECORDED");
    own.kill("SIGTERM");
    const second = await server.client.start("slow");
    own.stdin?.end();
    const exit = await ended(own);
    return { first: (await run.get()).status, second: (await second.get()).status, exit };
  },
};
