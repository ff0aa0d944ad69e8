/**
 * A worker: handlers by name, tasks from one long poll, reports in batches.
 *
 * ```text
 *   poll (one at a time, for as many as there is room) ──▶ executions ──▶ reports (batched)
 *                                              heartbeats (batched) ──▶ taken back? the handler is told
 *   SIGTERM: no more polls, executions are finished; once more, or after `drainMs`: tasks are given back
 * ```
 */
import { hostname } from "node:os";

import { hashOf } from "./build.js";
import { Client } from "./client.js";
import { failureOf } from "./described.js";
import { backoff, pauseFor } from "./duration.js";
import { Execution } from "./execution.js";
import { type AnyHandlerFunction, type HandlerFunction, type Handlers, byName, handle } from "./handling.js";
import type { Middleware } from "./middleware.js";
import { NotFound, Problem, Unreachable } from "./problem.js";
import { Reports } from "./reports.js";
import type { ClientOptions } from "./transport.js";
import type { Task, TaskReport } from "./wire.js";

export interface WorkerOptions {
  client?: Client | ClientOptions;
  handlers?: Handlers;
  /** Code around handlers and durable calls; the first is outermost. */
  middleware?: readonly Middleware[];
  /** Tasks at the same time; 100 if absent. */
  concurrency?: number;
  /** How it is called in histories; the machine's name and the process' number if absent. */
  name?: string;
  /**
   * Which code this worker has: handlers whose journal it does not fit wait for a worker with another one. `ABIDE_BUILD_ID`,
   * or a hash of the handlers and of the file that was started, if absent. A commit's hash is better: it knows every file.
   */
  buildId?: string;
  /** How long a task stays with this worker after its last heartbeat; 30,000 if absent. */
  leaseMs?: number;
  /** How often it asks whether its tasks are still wanted; 5,000, or a third of the lease, if absent. */
  heartbeatMs?: number;
  /** How long a poll waits for a task; 30,000 if absent. */
  pollMs?: number;
  /** How long a shutdown waits for handlers before it gives their tasks back; 30,000 if absent. */
  drainMs?: number;
  /** How long a journal may hold something the code has not come to, before the code counts as changed. */
  graceMs?: number;
  /** What the worker has to say; `console.warn` if absent. */
  log?: (message: string) => void;
}

const FIRST_BACKOFF_MS = 100;
const LONGEST_BACKOFF_MS = 5_000;
const MOST_TASKS = 1_000;

export class Worker {
  readonly client: Client;
  readonly name: string;
  private readonly givenBuildId: string | undefined;
  private readonly handlers: Map<string, AnyHandlerFunction>;
  private readonly reports: Reports;
  private readonly active = new Map<Execution, number>();
  private readonly stopping = new AbortController();
  private readonly options: Required<Omit<WorkerOptions, "client" | "handlers" | "name" | "buildId">>;
  private whenFree: (() => void)[] = [];
  private work: Promise<void> | undefined;

  constructor(options: WorkerOptions = {}) {
    const { client, handlers = [], name, buildId, ...rest } = options;
    this.givenBuildId = buildId ?? process.env["ABIDE_BUILD_ID"];
    this.client = client instanceof Client ? client : new Client(client);
    this.name = name ?? `${hostname()}-${process.pid}`;
    const leaseMs = rest.leaseMs ?? 30_000;
    this.options = {
      concurrency: 100,
      middleware: [],
      heartbeatMs: Math.min(5_000, leaseMs / 3),
      pollMs: 30_000,
      drainMs: 30_000,
      graceMs: 2_000,
      log: (message) => console.warn(`abide: ${message}`),
      ...rest,
      leaseMs,
    };
    this.reports = new Reports(this.client.transport, leaseMs);
    this.handlers = byName(handlers);
  }

  /** Registers a handler. Before the worker starts. */
  handle<I = unknown>(name: string, run: HandlerFunction<I>): this {
    if (this.handlers.has(name)) throw new Error(`there are two handlers \`${name}\``);
    this.handlers.set(name, run as AnyHandlerFunction);
    return this;
  }

  /** Which code this worker has. */
  get buildId(): string {
    return this.givenBuildId ?? hashOf(this.handlers);
  }

  /** Works until SIGTERM or SIGINT, then finishes what it has. */
  async run(): Promise<void> {
    const stop = () => {
      if (this.stopping.signal.aborted) this.giveBack();
      else void this.stop();
    };
    process.on("SIGTERM", stop);
    process.on("SIGINT", stop);
    try {
      await this.start();
    } finally {
      process.off("SIGTERM", stop);
      process.off("SIGINT", stop);
    }
  }

  /** Works until `stop`. Ends with an error if the server refuses this worker. */
  start(): Promise<void> {
    if (this.handlers.size === 0) throw new Error("a worker needs at least one handler");
    this.work ??= this.live();
    return this.work;
  }

  /** Takes no more tasks and finishes those it has. What is not done in time is given back. */
  async stop(): Promise<void> {
    this.stopping.abort();
    const giveUp = setTimeout(() => this.giveBack(), this.options.drainMs);
    try {
      await this.work;
    } finally {
      clearTimeout(giveUp);
    }
  }

  /** Gives every task back at once, for another worker. */
  private giveBack(): void {
    for (const execution of this.active.keys()) {
      const { leaseToken } = execution.task;
      execution.cancel("WORKER_STOPPED");
      this.reports.send({ type: "release", leaseToken }).catch(() => {});
      // Handlers that do not listen to the signal are not waited for.
      this.leave(execution);
    }
  }

  private async live(): Promise<void> {
    const beat = setInterval(() => this.heartbeat(), Math.max(50, this.options.heartbeatMs / 4));
    try {
      await this.poll();
      while (this.active.size > 0) await this.room();
    } finally {
      clearInterval(beat);
    }
  }

  private async poll(): Promise<void> {
    const { concurrency, pollMs, leaseMs, log } = this.options;
    const { signal } = this.stopping;
    const handlers = [...this.handlers.keys()];
    const { buildId } = this;
    for (let failures = 0; !signal.aborted; ) {
      const free = concurrency - this.active.size;
      if (free <= 0) {
        await this.room();
        continue;
      }
      const maxTasks = Math.min(free, MOST_TASKS);
      try {
        const poll = { handlers, maxTasks, waitMs: pollMs, workerId: this.name, buildId, leaseMs };
        const { tasks } = await this.client.tasks.poll(poll, signal);
        if (failures > 0) log(`${this.client.transport.server} is back`);
        failures = 0;
        tasks.forEach((task) => this.take(task));
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof Problem && error.status < 500 && error.status !== 429) throw error;
        if (failures === 0) log(`${(error as Error).message}; trying again`);
        failures += 1;
        await pauseFor(backoff(failures, FIRST_BACKOFF_MS, LONGEST_BACKOFF_MS), signal);
      }
    }
  }

  private take(task: Task): void {
    const execution = new Execution(task, this.reports, this.options.graceMs);
    this.active.set(execution, Date.now());
    void this.execute(execution).finally(() => this.leave(execution));
  }

  private async execute(execution: Execution): Promise<void> {
    const { task } = execution;
    const { handlers, client } = this;
    try {
      const report = await handle(execution, { handlers, client, middleware: this.options.middleware });
      if (report?.type === "fail") this.tell(execution);
      if (report) await this.deliver(execution, report);
    } catch (error) {
      const reason = error instanceof Unreachable ? "it will be handed out again" : String(error);
      this.options.log(`task ${task.id} could not be reported: ${reason}`);
    }
  }

  /** A failure is told here, too, with its stack: whoever watches the worker need not look elsewhere. */
  private tell({ task, failedWith }: Execution): void {
    this.options.log(failureOf(task, failedWith));
  }

  private async deliver(execution: Execution, report: TaskReport): Promise<void> {
    const { ok, problem } = await this.reports.send(report);
    if (ok || !problem) return;
    // What the server cannot take as a result is a failure, and no other attempt would help.
    const refusal = Problem.of(problem);
    const lost = refusal instanceof NotFound || refusal.status === 409 || refusal.status === 401;
    const changed = problem.code === "JOURNAL_CONFLICT" || problem.code === "JOURNAL_MISMATCH";
    if (lost && !changed) return this.options.log(`task ${execution.task.id}: ${refusal.message}`);
    const { leaseToken } = execution.task;
    const message = `the report was refused: ${refusal.message}`;
    const mismatch = changed ? { mismatch: { recorded: refusal.message, found: "something else" } } : {};
    await this.reports.send({ type: "fail", leaseToken, message, code: problem.code, retryable: false, ...mismatch });
  }

  private heartbeat(): void {
    const now = Date.now();
    for (const [execution, last] of this.active) {
      const lease = execution.task.heartbeatMs ?? this.options.leaseMs;
      if (now - last < Math.min(this.options.heartbeatMs, lease / 3)) continue;
      this.active.set(execution, now);
      const { leaseToken } = execution.task;
      this.reports.send({ type: "heartbeat", leaseToken }).then(
        (done) => execution.heed(done),
        () => execution.cancel("UNREACHABLE"),
      );
    }
  }

  private leave(execution: Execution): void {
    this.active.delete(execution);
    this.whenFree.splice(0).forEach((go) => go());
  }

  /** Returns when a task has ended. */
  private room(): Promise<void> {
    return new Promise((go) => this.whenFree.push(go));
  }
}
