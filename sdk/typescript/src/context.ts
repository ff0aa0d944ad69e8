/** What a handler is given: the task, and durable calls whose results outlive the worker. */
import { randomBytes } from "node:crypto";
import { format } from "node:util";

import { askedOf } from "./asked.js";
import { Branch, type Decided, type Member, gather, race } from "./branch.js";
import type { DurableCall, Limit, RunOptions } from "./call.js";
import { Client, type Given, RunHandle, type WorkflowRef } from "./client.js";
import { type Duration, field, instant } from "./duration.js";
import type { Execution } from "./execution.js";
import { CallFailed, CodeChanged, TaskError, WaitCancelled } from "./failure.js";
import { type Jsonify, asJson } from "./json.js";
import { runOnce, withRoom } from "./run.js";
import type { SendOptions } from "./resources.js";
import { currentScope, never } from "./scope.js";
import { Wait, type WaitSpec } from "./wait.js";
import {
  type Approval,
  type ApprovalOptions,
  type Call,
  type ChildEnd,
  type ChildOptions,
  type EventOptions,
  type HttpAnswer,
  type HttpRequest,
  type RequestedApproval,
  type Waitpoint,
  approvalOf,
  callFailed,
  childFailed,
  childOf,
  childTimedOut,
} from "./waits.js";
import type { Workflow } from "./workflow.js";
import type * as wire from "./wire.js";
import type { Json, EventSent, Task } from "./wire.js";

/** The first of several waits and branches. Its `index`, or its `name`, tells what its `value` is. */
export type First<M extends readonly Member[] = readonly Member[]> = {
  [K in keyof M]: { index: Position<K>; name: M[K]["name"]; value: RecordedOf<M[K]> };
}[number];

type Position<K> = K extends `${infer I extends number}` ? I : number;
type ValueOf<M> = M extends Wait<infer T> ? T : M extends Branch<infer T> ? T : never;
/** Who has won is recorded, with what it gave. */
type RecordedOf<M> = M extends Branch<infer T> ? Jsonify<T> : ValueOf<M>;
type Values<M extends readonly Member[]> = { -readonly [K in keyof M]: ValueOf<M[K]> };

export class Context<I = unknown> {
  readonly task: Task;
  readonly input: I;
  /** Ends when the run was cancelled, or the lease lost: nothing done after that counts. */
  readonly signal: AbortSignal;
  private traced: Client | undefined;
  private trace: string | undefined;

  constructor(
    private readonly execution: Execution,
    private readonly workers: Client,
  ) {
    this.task = execution.task;
    this.input = this.task.input as I;
    this.signal = execution.controller.signal;
    const at =
      (level: wire.LogLine["level"]) =>
      (...parts: unknown[]): void =>
        execution.log(level, format(...parts));
    this.log = Object.assign(at("info"), { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") });
  }

  /** A client of the worker's server, within the trace of this task. */
  get client(): Client {
    this.traced ??= new Client(this.workers.transport.tracedBy(() => this.traceparent));
    return this.traced;
  }

  /** The trace that the run was started in, or one of its own: the same for every task of a run, for calls to others. */
  get traceparent(): string {
    this.trace ??= this.task.traceparent ?? traceOf(this.task.runId);
    return this.trace;
  }

  /** Whether an earlier execution has recorded something: this one begins with a replay. */
  get replaying(): boolean {
    return this.task.journal.length > 0;
  }

  get runId(): string {
    return this.task.runId;
  }

  get attempt(): number {
    return this.task.attempt;
  }

  get state(): Record<string, Json> {
    return this.task.state as Record<string, Json>;
  }

  get config(): Json {
    return this.task.config;
  }

  /** What `checkpoint` or `pause` left before, or null. */
  get lastCheckpoint(): Json {
    return this.task.checkpoint;
  }

  /**
   * Does something and records its result: another execution of the task gets the result without doing it again. It is done
   * *at least once* until the result is recorded, and never after: a worker may die in between. Pass `call.idempotencyKey` on
   * to services that take one.
   */
  run<T>(name: string, work: (call: DurableCall) => T | PromiseLike<T>, options: RunOptions = {}): Promise<Jsonify<T>> {
    const done = runOnce(this.execution, name, work, options) as Promise<Jsonify<T>>;
    // In a branch that nobody looks at any more, a failure must not end the process.
    done.catch(() => {});
    return done;
  }

  /**
   * Does several things, durable calls and waits among them, while it has room under a limit. The room is asked for before,
   * kept while the body waits, and given back when the body is done or has failed.
   */
  withLimit<T>(limit: Limit, name: string, body: () => T | PromiseLike<T>): Promise<T> {
    const done = withRoom(this.execution, limit, name, body);
    done.catch(() => {});
    return done;
  }

  /** What other services may know a call of this handler by: the same at every attempt and every replay. */
  idempotencyKey(name: string): string {
    return this.execution.idempotencyKey(name);
  }

  /**
   * Whether a planned change of this handler's code is in effect: true for runs that had not come this far when it was
   * deployed, false for those that had, at every replay. Both ways stay in the code until the old runs have ended.
   */
  patched(id: string): boolean {
    return this.execution.patched(id);
  }

  /** Sleeps. The worker is free meanwhile. */
  sleep<const N extends string>(name: N, duration: Duration): Wait<void, N> {
    return this.wait(name, { type: "sleep", ...field("duration", duration) }, nothing, nothing);
  }

  sleepUntil<const N extends string>(name: N, at: Date | string): Wait<void, N> {
    return this.wait(name, { type: "until", at: instant(at) }, nothing, nothing);
  }

  /** Waits for an event to everyone. Its data, or undefined when the time is over. */
  waitForEvent<T = Json, const N extends string = string>(
    name: N,
    eventId: string,
    options: EventOptions = {},
  ): Wait<Jsonify<T> | undefined, N> {
    const { timeout, lookback, ...conditions } = options;
    const spec = { type: "event", eventId, ...conditions, ...field("timeout", timeout), ...field("lookback", lookback) };
    return this.wait(name, spec, given<Jsonify<T>>, nothing);
  }

  /** Waits for a signal to this run. Its payload, or undefined when the time is over. */
  waitForSignal<T = Json, const N extends string = string>(
    name: N,
    signalType: string,
    options: { timeout?: Duration } = {},
  ): Wait<Jsonify<T> | undefined, N> {
    return this.wait(name, { type: "signal", signalType, ...field("timeout", options.timeout) }, given<Jsonify<T>>, nothing);
  }

  /** A waitpoint with a URL, to be given away before it is waited for. The same name gives the same one. */
  createWaitpoint(name: string, options: { timeout?: Duration; allowGet?: boolean } = {}): Promise<Waitpoint> {
    const known = this.execution.ask(name, "waitpoint");
    const make = async (): Promise<Waitpoint> => {
      if (this.execution.onNew) return { name, id: known?.wait?.waitpointId ?? "", resumeUrl: NOWHERE };
      const { timeout, ...more } = options;
      const { leaseToken } = this.task;
      const made = await this.client.waitpoints.create({ leaseToken, name, ...field("timeout", timeout), ...more });
      return { name, id: made.id, resumeUrl: made.resumeUrl ?? "" };
    };
    return known ? make() : this.execution.act(name, make);
  }

  /** Waits for a call on the URL of a waitpoint. The call, or undefined when the time is over. */
  waitForWaitpoint<T = Json>(waitpoint: Waitpoint | string, options: { timeout?: Duration } = {}): Wait<Call<Jsonify<T>> | undefined> {
    const name = typeof waitpoint === "string" ? waitpoint : waitpoint.name;
    return this.wait(name, { type: "webhook", ...field("timeout", options.timeout) }, given<Call<Jsonify<T>>>, nothing);
  }

  /** Asks people, and goes on: what it gives has their links, to be sent before `waitForApproval` waits for them. */
  requestApproval<T = unknown>(name: string, options: ApprovalOptions<T> = {}): Promise<RequestedApproval<T>> {
    const spec = approvalOf(options);
    const known = this.execution.ask(name, "waitpoint", spec);
    const make = async (): Promise<RequestedApproval<T>> => {
      if (this.execution.onNew) return { name, id: known?.wait?.waitpointId ?? "", url: NOWHERE, links: {}, options };
      const { timeout, ...approval } = options;
      const { leaseToken } = this.task;
      const asked = { leaseToken, name, type: "APPROVAL", approval, asked: askedOf(spec), ...field("timeout", timeout) };
      const { id, links: made = [] } = await this.client.waitpoints.create(asked as wire.CreateWaitpoint);
      const named = made.flatMap(({ recipient, confirmUrl }) => (recipient == null ? [] : [[recipient, confirmUrl] as const]));
      const url = made.find(({ recipient }) => recipient == null)?.confirmUrl;
      return { name, id, url, links: Object.fromEntries(named), options };
    };
    return known ? make() : this.execution.act(name, make);
  }

  /** Waits for what was decided on an approval that was asked for before. */
  waitForApproval<T>(request: RequestedApproval<T>): Wait<Approval<Jsonify<T>>> {
    return this.approve<T>(request.name, request.options);
  }

  /** Asks people, and waits for what they decide. */
  approve<T = unknown, const N extends string = string>(name: N, options: ApprovalOptions<T> = {}): Wait<Approval<Jsonify<T>>, N> {
    const asked = asJson("content", options.content) as Jsonify<T>;
    const read = (payload: Json): Approval<Jsonify<T>> => {
      const { decision, content = asked, votes = [] } = (payload ?? {}) as Partial<Approval<Jsonify<T>>>;
      // What is absent never means yes.
      if (decision === undefined) throw new CodeChanged(`\`${name}\` without a decision`, `\`${name}\` as an approval`);
      return { decision, approved: decision === "approve" || decision === "edit", content, votes };
    };
    const late = (): Approval<Jsonify<T>> => ({ decision: "timeout", approved: false, content: asked, votes: [] });
    return this.wait(name, approvalOf(options), read, late);
  }

  /**
   * Starts a run of another workflow, and waits for its output. A run that does not complete is a `ChildFailed`. If the
   * wait is cancelled (it lost an `any`, or the handler's own run is cancelled), so is the child.
   */
  child<I, O, const N extends string>(name: N, workflow: Workflow<I, O>, ...given: Given<I, ChildOptions>): Wait<Jsonify<O>, N>;
  child<O = Json, const N extends string = string>(name: N, workflow: string, input?: unknown, options?: ChildOptions): Wait<Jsonify<O>, N>;
  child(name: string, workflow: WorkflowRef, input?: unknown, options: ChildOptions = {}): Wait<unknown> {
    const read = (payload: Json): unknown => {
      const ended = payload as ChildEnd | null;
      if (ended?.status === "COMPLETED") return ended.output;
      throw childFailed(name, ended);
    };
    return this.wait(name, childOf(workflow, input, options), read, () => childTimedOut(name));
  }

  /** Starts a run of another workflow, once, and goes on without waiting for its end. */
  startChild<I, O, const N extends string>(
    name: N,
    workflow: Workflow<I, O>,
    ...given: Given<I, ChildOptions>
  ): Wait<RunHandle<Jsonify<O>>, N>;
  startChild<O = Json, const N extends string = string>(
    name: N,
    workflow: string,
    input?: unknown,
    options?: ChildOptions,
  ): Wait<RunHandle<O>, N>;
  startChild(name: string, workflow: WorkflowRef, input?: unknown, options: ChildOptions = {}): Wait<RunHandle<unknown>> {
    const read = (payload: Json): RunHandle<unknown> => {
      const begun = payload as ChildEnd | null;
      if (begun?.status === "STARTED") return new RunHandle(this.client, begun.runId ?? "");
      throw childFailed(name, begun);
    };
    const spec = { ...childOf(workflow, input, options), detached: true };
    return this.wait(name, spec, read, () => childTimedOut(name));
  }

  /**
   * A call over HTTP that the engine makes: no worker is held while it lasts, nor between its attempts. The answer, or a
   * `CallFailed` when its attempts are used up. Nothing in it is a template.
   */
  http<T = Json, const N extends string = string>(name: N, request: HttpRequest): Wait<HttpAnswer<Jsonify<T>>, N> {
    const { timeout, retry, body, ...rest } = request;
    const spec = {
      type: "http",
      ...rest,
      ...(body === undefined ? {} : { body: asJson("body", body) }),
      ...(retry === undefined ? {} : { retry: typeof retry === "number" ? { maxAttempts: retry } : retry }),
      ...field("timeout", timeout),
    };
    const read = (payload: Json): HttpAnswer<Jsonify<T>> => {
      const ended = payload as ChildEnd | null;
      if (ended?.status === "COMPLETED") return ended.output as unknown as HttpAnswer<Jsonify<T>>;
      throw callFailed(name, ended);
    };
    const timedOut = (): never => {
      throw new CallFailed(name, `the call \`${name}\` was timed out`, "CALL_TIMED_OUT");
    };
    return this.wait(name, spec, read, timedOut);
  }

  /**
   * The work of every item, in parallel branches, and the results in the order of the items. `work` is given the item
   * and a name of its own, for the durable calls of its branch: `name[0]`, `name[1]`, … When one fails, no other is begun.
   */
  async map<T, R>(
    name: string,
    items: readonly T[],
    work: (item: T, name: string, index: number) => R | PromiseLike<R>,
    options: { concurrency?: number } = {},
  ): Promise<R[]> {
    const results = new Array<R>(items.length);
    let next = 0;
    const lane = async (): Promise<void> => {
      try {
        while (next < items.length) {
          const index = next++;
          results[index] = await work(items[index] as T, `${name}[${index}]`, index);
        }
      } catch (error) {
        next = items.length;
        throw error;
      }
    };
    const lanes = Math.min(items.length, Math.max(1, options.concurrency ?? items.length));
    await Promise.all(Array.from({ length: lanes }, lane));
    return results;
  }

  /** Lets go for a while. The step stays RUNNING, and no attempt is used up. A loop may use one name: each turn of it pauses. */
  pause(name: string, duration: Duration, options: { checkpoint?: unknown } = {}): Wait<void> {
    const { checkpoint } = options;
    const spec = { type: "pause", ...field("duration", duration) };
    return this.wait(this.execution.pauseName(name), checkpoint === undefined ? spec : { ...spec, checkpoint }, nothing, nothing);
  }

  /** Sends an event to everyone, once. */
  notify(
    name: string,
    eventId: string,
    data?: unknown,
    options: Omit<SendOptions, "idempotencyKey" | "dryRun" | "leaseToken"> = {},
  ): Promise<EventSent> {
    const { leaseToken } = this.task;
    const idempotencyKey = this.idempotencyKey(name);
    return this.run(name, () => this.client.notify(eventId, data, { ...options, idempotencyKey, leaseToken }));
  }

  /**
   * Lines for the run's log, shown on its page and with `abide logs`. What an earlier execution has written is not written
   * again. The log of a run is bounded (256 KiB).
   */
  readonly log: Log;

  /** Leaves a value for the next execution, should there be one: see `lastCheckpoint`. */
  async checkpoint(value: unknown): Promise<void> {
    if (currentScope()?.isLost) return never();
    await this.execution.record({ checkpoint: asJson("checkpoint", value) });
  }

  /**
   * A named part of the handler with durable calls of its own, for `any` and `all`. It begins when it is awaited, alone or
   * among others. If another one is first in an `any`, its open waits are cancelled, its work is aborted, and its next
   * durable call never returns.
   */
  branch<T, const N extends string = string>(name: N, work: () => T | PromiseLike<T>): Branch<T, N> {
    return new Branch(name, work);
  }

  /** The values of all waits and branches, when all are over. */
  all<const M extends readonly Member[]>(members: M): Promise<Values<M>> {
    const done = gather(this.execution, members) as Promise<Values<M>>;
    done.catch(() => {});
    return done;
  }

  /** The first of several waits and branches that is over. The others are cancelled. */
  any<const M extends readonly Member[]>(members: M): Promise<First<M>> {
    const done = this.first(members) as Promise<First<M>>;
    done.catch(() => {});
    return done;
  }

  /** The first `count` of several waits that are over, in the order of the list. The others are cancelled. */
  some<const M extends readonly Wait<unknown>[]>(count: number, waits: M): Promise<First<M>[]> {
    const done = this.firstOf(count, [...waits]) as Promise<First<M>[]>;
    done.catch(() => {});
    return done;
  }

  private async firstOf(count: number, waits: Wait<unknown>[]): Promise<Decided[]> {
    if (!Number.isInteger(count) || count < 1 || count > waits.length) {
      throw new TaskError(`${count} of ${waits.length} waits cannot come`, { retryable: false });
    }
    for (;;) {
      const winners = this.execution.winners(count, waits);
      if (winners) {
        return winners.map((index) => ({ index, name: waits[index]?.name ?? "", value: waits[index]?.value() }));
      }
      const cancelled = waits.filter((wait) => wait.hasEnded && !wait.hasHappened);
      if (cancelled[0] && waits.length - cancelled.length < count) throw new WaitCancelled(cancelled[0].name);
      await this.execution.until(waits.filter((wait) => !wait.hasEnded), "each");
    }
  }

  private async first(members: readonly Member[]): Promise<Decided> {
    const waits = members.filter((member) => member instanceof Wait);
    if (waits.length < members.length) return race(this.execution, members);
    await this.execution.until(waits, "any");
    const index = this.execution.winner(waits);
    const wait = waits[index];
    if (!wait) throw new WaitCancelled(waits[0]?.name ?? "");
    return { index, name: wait.name, value: wait.value() };
  }

  /** Merged into the run's `state` when the task completes. */
  setState(updates: Record<string, unknown>): void {
    if (currentScope()?.isLost) return;
    this.execution.stateUpdates = { ...this.execution.stateUpdates, ...(asJson("state", updates) as Record<string, Json>) };
  }

  private wait<T, const N extends string>(name: N, spec: WaitSpec, read: (payload: Json) => T, timedOut: () => T): Wait<T, N> {
    return new Wait(this.execution, name, spec, read, timedOut);
  }
}

/** What stands for a link where no server is asked for one. */
const NOWHERE = "http://replay.invalid/";

type Write = (...parts: unknown[]) => void;
/** Writes to a run's log, as `console` does to the terminal. */
export type Log = Write & { debug: Write; info: Write; warn: Write; error: Write };

const nothing = (): undefined => undefined;
const given = <T>(payload: Json): T => payload as T;

/** The digits of ids: base32 without `i`, `l`, `o` and `u`. */
const DIGITS = "0123456789abcdefghjkmnpqrstvwxyz";

/** A run that was started outside of any trace is one of its own, whose id is the run's. */
function traceOf(runId: string): string {
  const number = [...runId.replace("run_", "")].reduce((sum, digit) => sum * 32n + BigInt(DIGITS.indexOf(digit)), 0n);
  return `00-${number.toString(16).padStart(32, "0")}-${randomBytes(8).toString("hex")}-01`;
}
