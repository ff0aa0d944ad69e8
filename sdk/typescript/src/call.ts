/** How one durable call is made: its attempts, its time, and the key that other services know it by. */
import { type Duration, field, milliseconds } from "./duration.js";
import { TaskError } from "./failure.js";
import type { WaitSpec } from "./wait.js";

/** A retry policy, as a step has one. */
export interface CallRetry {
  /** All attempts together, 1 to 1,000; 3 if absent. */
  maxAttempts?: number;
  /** The initial back-off, drawn between zero and this (full jitter); 1,000 if absent. */
  backoffMs?: number;
  /** What it is multiplied with after each attempt; 2 if absent. */
  backoffMultiplier?: number;
  /** The longest back-off; 300,000 if absent. */
  maxBackoffMs?: number;
}

/** A limit that a durable call asks for room under: `concurrency`, `rate` with `per`, or both. */
export interface Limit {
  /** What it is called. Steps and calls that name the same limit share it. */
  name: string;
  /** Each key has room of its own; without it, all share one. */
  key?: string;
  /** Who shares it: the runs of this workflow, or all of the workspace; `workflow` if absent. */
  scope?: "workflow" | "workspace";
  /** How many may have room at the same time. */
  concurrency?: number;
  /** How many may begin in the time of `per`. */
  rate?: number;
  per?: Duration;
  /** How many may begin at once after a quiet time; 1 if absent. */
  burst?: number;
  /** How long room is waited for at most; then the call fails with `CAPACITY_TIMED_OUT`. */
  timeout?: Duration;
}

export interface RunOptions {
  /**
   * The attempts of this call alone: a policy, or just how many. Between two of them the handler is suspended, and holds no
   * worker. Without it, a failure is thrown into the handler at once.
   */
  retry?: CallRetry | number;
  /** How long one attempt may take; no limit if absent. */
  timeout?: Duration;
  /**
   * Room that the call needs: it is made when there is some, and gives it back with its result. Until then the handler is
   * suspended, and holds no worker.
   */
  limit?: Limit;
  /** What other services are to know the call by; derived from the run, the step and the call's name if absent. */
  idempotencyKey?: string;
}

/** What the work of a `ctx.run` is told. */
export interface DurableCall {
  readonly name: string;
  /** Which attempt of this call it is, from 1. */
  readonly attempt: number;
  /** The same at every attempt, at every replay and on every worker: pass it on to services that take one. */
  readonly idempotencyKey: string;
  /** Ends when the time of the attempt is over, or nothing that is done counts any more. */
  readonly signal: AbortSignal;
}

const ATTEMPTS = 3;

/** All attempts that a call may have. */
export function attemptsOf({ retry }: RunOptions): number {
  return typeof retry === "object" ? (retry.maxAttempts ?? ATTEMPTS) : (retry ?? 1);
}

/** The name under which the back-off after an attempt is recorded. */
export const backOffName = (call: string, attempt: number): string => `${call}#retry-${attempt}`;

/** The back-off after an attempt that failed. */
export function backOff(call: string, attempt: number, options: RunOptions, error?: TaskError): WaitSpec {
  const { maxAttempts: _, ...policy } = typeof options.retry === "object" ? options.retry : {};
  const maxAttempts = Math.max(attemptsOf(options), attempt + 1);
  const why = { message: error?.message ?? "", ...(error?.code === undefined ? {} : { code: error.code }) };
  const after = error?.retryAfter;
  const later = after === undefined ? {} : typeof after === "number" ? { retryAfterMs: after } : { retryAfter: after };
  return { type: "retry", call, attempt, maxAttempts, ...policy, ...why, ...later };
}

/** The name under which the wait of a call for room is recorded. */
export const roomName = (call: string): string => `${call}#room`;

/** The wait of a call for room. */
export function room(call: string, limit: Limit): WaitSpec {
  const { per, timeout, ...rest } = limit;
  return { type: "capacity", call, limit: { ...rest, ...field("per", per) }, ...field("timeout", timeout) };
}

/** Does the work, for no longer than it may take. */
export async function within<T>(
  name: string,
  timeout: Duration | undefined,
  taskSignal: AbortSignal,
  work: (signal: AbortSignal) => T | PromiseLike<T>,
): Promise<T> {
  if (timeout === undefined) return work(taskSignal);
  const ms = milliseconds(timeout);
  const late = new AbortController();
  const over = new Promise<never>((_, reject) => {
    late.signal.addEventListener("abort", () => reject(late.signal.reason));
  });
  const error = new TaskError(`\`${name}\` took longer than ${timeout}${typeof timeout === "number" ? " ms" : ""}`, { code: "CALL_TIMED_OUT" });
  const timer = setTimeout(() => late.abort(error), ms);
  try {
    return await Promise.race([work(AbortSignal.any([taskSignal, late.signal])), over]);
  } finally {
    clearTimeout(timer);
  }
}
