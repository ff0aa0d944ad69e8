/**
 * A server for tests: a process of its own, a store that is thrown away, and time that passes when you say so.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { Client, type Given, RunHandle, type StartOptions, type WorkflowRef } from "./client.js";
import { type Duration, pauseFor } from "./duration.js";
import type { Jsonify } from "./json.js";
import { Worker, type WorkerOptions } from "./worker.js";
import type { Workflow } from "./workflow.js";
import type { HistoryRecord, Json, Run, TestClock } from "./wire.js";

export { type ExportedJournal, type Journals, type ReplayOptions, type ReplayVerdict, assertReplays, replayCheck } from "./replay.js";

export interface TestServerOptions {
  /** The `abide` binary; `ABIDE_BIN`, or `abide` from the path, if absent. */
  bin?: string;
  /** Go by the machine's clock, not by one that the test moves. */
  realTime?: boolean;
  /** More arguments for `abide serve`. With `--auth required`, `client` has the first key of the store. */
  args?: string[];
  /** More of the environment for it, such as secrets. */
  env?: Record<string, string>;
}

/** How long workers may take for what they have, in real time. */
const PATIENCE_MS = 60_000;
const LOOK_AGAIN_MS = 2;
/** Where the server leaves the first key of a store that has none. */
const FIRST_KEY = "abide.db.admin-key";

export class TestServer {
  readonly client: Client;
  private readonly workers: Worker[] = [];

  private constructor(
    readonly url: string,
    private process: ChildProcess,
    private readonly directory: string,
    private readonly options: TestServerOptions,
  ) {
    this.client = this.firstClient();
  }

  static async start(options: TestServerOptions = {}): Promise<TestServer> {
    const directory = mkdtempSync(join(tmpdir(), "abide-test-"));
    const { process, url } = await serve(directory, "127.0.0.1:0", options);
    return new TestServer(url, process, directory, options);
  }

  /** A client with the first key of the store, if keys are needed. */
  private firstClient(): Client {
    const key = join(this.directory, FIRST_KEY);
    return new Client({ url: this.url, ...(existsSync(key) ? { apiKey: readFileSync(key, "utf8").trim() } : {}) });
  }

  /** A worker that works until the server is closed; with a client of its own, if one is given. */
  worker(options: WorkerOptions): Worker {
    const worker = new Worker({ client: this.firstClient(), pollMs: 5_000, drainMs: 1_000, ...options });
    this.workers.push(worker);
    worker.start().catch((error: unknown) => console.error(String(error)));
    return worker;
  }

  async now(): Promise<Date> {
    return new Date((await this.client.testClock.find()).now);
  }

  /** Lets time pass. Workers do what falls due on the way, when it does. */
  async advance(duration: Duration): Promise<void> {
    await this.idle();
    let { now, target } = await this.client.testClock.move({ advance: duration });
    const to = target ?? now;
    while (Date.parse(now) < Date.parse(to)) {
      await this.idle();
      ({ now } = await this.client.testClock.move({ to }));
    }
    await this.idle();
  }

  /** Lets time pass until the run has ended, or waits for something that time does not bring. */
  async skipWaits(run: RunHandle<unknown> | string): Promise<Run> {
    const id = typeof run === "string" ? run : run.id;
    for (;;) {
      const clock = await this.idle();
      const now = await this.client.runs.find(id);
      const over = ["COMPLETED", "FAILED", "CANCELLED"].includes(now.status) || clock.nextTimer === null;
      if (over || !(await this.waitsForTime(now))) return now;
      await this.client.testClock.move();
    }
  }

  /** Whether time brings what a run waits for, or what one of its children does. */
  private async waitsForTime(run: Run): Promise<boolean> {
    if (run.waitingFor.some(({ until }) => until != null)) return true;
    for (const { kind, waitpointId } of run.waitingFor) {
      if (kind !== "CHILD" || waitpointId == null) continue;
      const { listensFor } = await this.client.waitpoints.find(waitpointId);
      if (listensFor.type !== "child") continue;
      if (await this.waitsForTime(await this.client.runs.find(listensFor.runId))) return true;
    }
    return false;
  }

  /** Returns when nothing is being done: the run has ended, or waits. */
  async settle(run: RunHandle<unknown> | string): Promise<Run> {
    await this.idle();
    return this.client.runs.find(typeof run === "string" ? run : run.id);
  }

  /** Skips every wait of a run, and gives its output. */
  runThrough<I, O>(workflow: Workflow<I, O>, ...given: Given<I, StartOptions>): Promise<Jsonify<O>>;
  runThrough<O = Json>(workflow: string, input?: unknown, options?: StartOptions): Promise<O>;
  async runThrough(workflow: WorkflowRef, input?: unknown, options: StartOptions = {}): Promise<unknown> {
    const name = typeof workflow === "string" ? workflow : workflow.name;
    const handle = await this.client.start<unknown>(name, input, options);
    await this.skipWaits(handle);
    return handle.result(AbortSignal.timeout(PATIENCE_MS));
  }

  /** What happened to a run, whole. */
  async history(run: RunHandle<unknown> | string): Promise<HistoryRecord[]> {
    const records: HistoryRecord[] = [];
    for await (const record of this.client.runs.history(typeof run === "string" ? run : run.id)) records.push(record);
    return records;
  }

  /**
   * Kills the server as a power cut would, and starts it again on the same store and address. A task that was on its way to a
   * worker then comes again when its lease is over: `settle` first, unless that is what a test is about.
   */
  async crash(): Promise<void> {
    await ended(this.process, "SIGKILL");
    const address = new URL(this.url).host;
    this.process = (await serve(this.directory, address, this.options)).process;
  }

  async close(): Promise<void> {
    await Promise.allSettled(this.workers.map((worker) => worker.stop()));
    await ended(this.process, "SIGKILL");
    rmSync(this.directory, { recursive: true, force: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Returns when no worker has, or could take, a task. */
  private async idle(): Promise<TestClock> {
    const until = Date.now() + PATIENCE_MS;
    for (;;) {
      const clock = await this.client.testClock.find();
      if (clock.tasks === 0) return clock;
      if (Date.now() > until) {
        const advice = "is there a worker for each handler?";
        throw new Error(`${clock.tasks} task(s) are not done after ${PATIENCE_MS} ms: ${advice}`);
      }
      await pauseFor(LOOK_AGAIN_MS);
    }
  }
}

function serve(directory: string, address: string, options: TestServerOptions): Promise<{ process: ChildProcess; url: string }> {
  const bin = options.bin ?? process.env["ABIDE_BIN"] ?? "abide";
  const args = ["serve", "--listen", address, "--store", `sqlite:${join(directory, "abide.db")}`, "--log", "error"];
  if (!options.realTime) args.push("--test-clock");
  const child = spawn(bin, [...args, ...(options.args ?? [])], {
    stdio: ["ignore", "pipe", "pipe"],
    cwd: directory,
    env: { ...process.env, ...options.env },
  });
  return new Promise((resolve, reject) => {
    let said = "";
    const hear = (text: Buffer) => {
      said += text.toString();
      const url = /listens on (http:\S+)\n/.exec(said)?.[1];
      if (url) resolve({ process: child, url });
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    child.on("error", (error) => reject(new Error(`${bin} cannot be started: ${error.message}; set ABIDE_BIN`)));
    child.on("exit", (code) => reject(new Error(`${bin} ended with ${code}: ${said}`)));
  });
}

function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    child.once("exit", () => resolve());
    child.kill(signal);
  });
}
