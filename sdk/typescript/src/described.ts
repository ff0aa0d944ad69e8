/** Where an error came from, for whoever reads the run: its type, stack and causes, and the durable call it was thrown in. */
import { field } from "./duration.js";
import { CallFailed, ChildFailed, CodeChanged, RunFailed, TaskError, type TaskErrorOptions, WaitCancelled } from "./failure.js";
import { Problem } from "./problem.js";
import type { FailureDetail, Task, TaskReport } from "./wire.js";

/** The server keeps no more of a stack than this. */
const STACK_CHARS = 16_000;
/** Nor more causes. */
const CAUSES = 8;
const CAUSE_CHARS = 2_000;

export function described(error: unknown): FailureDetail {
  // What failed in a `ctx.run` is the error of the work, not the one it is wrapped in.
  const call = callOf(error);
  const origin = error instanceof RunFailed ? (error.cause ?? error) : error;
  const type = error instanceof RunFailed && origin === error ? error.type : typeOf(origin);
  const stack = origin instanceof Error ? origin.stack : undefined;
  const causes = causesOf(origin).map((cause) => ({ type: typeOf(cause), message: shortened(textOf(cause), CAUSE_CHARS) }));
  return {
    ...(type === undefined ? {} : { type }),
    ...(call === undefined ? {} : { call }),
    ...(stack === undefined ? {} : { stack: shortened(stack, STACK_CHARS) }),
    ...(causes.length === 0 ? {} : { causes }),
  };
}

/** The durable call that failed. */
export function callOf(error: unknown): string | undefined {
  if (error instanceof RunFailed) return error.run;
  if (error instanceof ChildFailed) return error.child;
  if (error instanceof CallFailed) return error.call;
  return error instanceof WaitCancelled ? error.wait : undefined;
}

/** On one's own console: the whole of it, causes and all. */
export function told(error: unknown): string {
  const origin = error instanceof RunFailed ? (error.cause ?? error) : error;
  const causes = causesOf(origin).map((cause) => `\n  caused by ${typeOf(cause)}: ${textOf(cause)}`);
  const stack = origin instanceof Error ? (origin.stack ?? `${typeOf(origin)}: ${origin.message}`) : String(origin);
  return `${stack}${causes.join("")}`;
}

/** How a task failed, for whoever watches the handlers. */
export function failureOf(task: Pick<Task, "handler" | "attempt" | "runId">, error: unknown): string {
  const call = callOf(error);
  const place = call === undefined ? task.handler : `${task.handler} › ${call}`;
  return `${place} failed in attempt ${task.attempt} of ${task.runId}: ${told(error)}`;
}

export function typeOf(error: unknown): string {
  if (error instanceof Error) return error.name !== "Error" ? error.name : error.constructor.name;
  return error === null ? "null" : typeof error;
}

function causesOf(error: unknown): unknown[] {
  const causes: unknown[] = [];
  for (let cause = causeOf(error); cause !== undefined && causes.length < CAUSES; cause = causeOf(cause)) {
    if (causes.includes(cause)) break;
    causes.push(cause);
  }
  return causes;
}

function causeOf(error: unknown): unknown {
  if (!(error instanceof Error)) return undefined;
  // `Promise.any`, and connections that were tried at several addresses.
  return error.cause ?? (error instanceof AggregateError ? error.errors[0] : undefined);
}

function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code } = error as { code?: unknown };
  return typeof code === "string" && !error.message.includes(code) ? `${error.message} (${code})` : error.message;
}

const shortened = (text: string, chars: number): string => (text.length <= chars ? text : `${text.slice(0, chars - 1)}…`);

export function messageOf(error: unknown): string {
  if (error instanceof Problem) return error.message;
  return error instanceof Error ? error.message || error.name : String(error);
}

/** What a failure says about itself, besides its message. */
export function termsOf(error: unknown) {
  const { code, retryable, retryAfter } = error instanceof TaskError ? error : new TaskError("");
  const type = error instanceof RunFailed ? error.type : typeOf(error);
  return { code, retryable, retryAfter, type, cause: error } as TaskErrorOptions & { type: string; retryable: boolean };
}

/** How a call failed that the handler went on after. */
export interface Remembered extends TaskErrorOptions {
  message: string;
  type?: string;
  /** Of a race: who was first, and the call that failed in it. */
  index?: number;
  name?: string;
  run?: string;
}

/** The report of a handler that failed. */
export function failureReport(leaseToken: string, error: unknown): TaskReport {
  const known = error instanceof TaskError ? error : new TaskError(messageOf(error));
  return {
    type: "fail",
    leaseToken,
    message: known.message || known.name,
    retryable: known.retryable,
    ...(known.code === undefined ? {} : { code: known.code }),
    ...field("retryAfter", known.retryAfter),
    detail: described(error),
    ...(known instanceof CodeChanged ? { mismatch: { recorded: known.recorded, found: known.found } } : {}),
  } as TaskReport;
}
