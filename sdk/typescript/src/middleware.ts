/** Code around handlers and around the work of durable calls: for error trackers, traces, metrics. */
import type { DurableCall } from "./call.js";
import type { Context } from "./context.js";

export interface Middleware {
  /**
   * Around each execution of a task to its handler, re-executions included (`ctx.replaying`). `next` gives what the handler
   * returned, or throws what it threw. A suspension is thrown, too, and must be let pass: `isSuspended(error)`.
   */
  handler?(ctx: Context, next: () => Promise<unknown>): unknown;
  /** Around each real execution of the work of a `ctx.run`, never at a replay. */
  call?(call: CallInContext, next: () => Promise<unknown>): unknown;
}

/** A durable call, and the handler that makes it. */
export interface CallInContext extends DurableCall {
  readonly ctx: Context;
}

/** The first of them is outermost. */
export function aroundHandler(middleware: readonly Middleware[], ctx: Context, work: () => Promise<unknown>): Promise<unknown> {
  const wrap = (next: () => Promise<unknown>, one: Middleware) => (one.handler ? async () => one.handler?.(ctx, next) : next);
  return middleware.reduceRight(wrap, work)();
}

export function aroundCall(middleware: readonly Middleware[], call: CallInContext, work: () => Promise<unknown>): Promise<unknown> {
  const wrap = (next: () => Promise<unknown>, one: Middleware) => (one.call ? async () => one.call?.(call, next) : next);
  return middleware.reduceRight(wrap, work)();
}
