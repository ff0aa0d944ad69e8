/** `ctx.run`: the attempts of one durable call, until its result is recorded. */
import { AsyncLocalStorage } from "node:async_hooks";

import { type DurableCall, type Limit, type RunOptions, attemptsOf, backOff, backOffName, room, roomName, within } from "./call.js";
import { type Remembered, messageOf, termsOf } from "./described.js";
import type { Execution } from "./execution.js";
import { Cancelled, RunFailed, Suspended, TaskError } from "./failure.js";
import { asJson } from "./json.js";
import { currentScope, never } from "./scope.js";
import { Wait } from "./wait.js";

const inside = new AsyncLocalStorage<string>();

/** The name of the `ctx.run` that the code is in. */
export const currentRun = (): string | undefined => inside.getStore();

/** Does something and records its result, or gives what was recorded. */
export async function runOnce<T>(
  execution: Execution,
  name: string,
  work: (call: DurableCall) => T | PromiseLike<T>,
  options: RunOptions = {},
): Promise<T> {
  const entry = execution.ask(name, "run");
  const failed = execution.rememberedFailure(name);
  if (failed) throw new RunFailed(name, failed.message, failed);
  if (entry) return entry.result as T;
  let attempt = 1;
  for (; execution.isRecorded(backOffName(name, attempt)); attempt += 1) await backingOff(execution, name, attempt, options);
  if (options.limit) await waitForRoom(execution, name, options.limit);
  const done = await execution.act(name, () => attemptOnce(execution, name, attempt, work, options));
  if ("value" in done) return done.value;
  await backingOff(execution, name, attempt, options, done.again);
  throw done.again;
}

/** One attempt of a call: what it gave, or why it is made again. */
async function attemptOnce<T>(
  execution: Execution,
  name: string,
  attempt: number,
  work: (call: DurableCall) => T | PromiseLike<T>,
  options: RunOptions,
): Promise<{ value: T } | { again: TaskError }> {
  const idempotencyKey = options.idempotencyKey ?? execution.idempotencyKey(name);
  let value: T;
  try {
    const run = (signal: AbortSignal) => {
      const call = { name, attempt, idempotencyKey, signal };
      return inside.run(name, () => execution.aroundCall(call, async () => work(call)) as Promise<T>);
    };
    value = await within(name, options.timeout, execution.signal, run);
  } catch (error) {
    if (currentScope()?.isLost) return never();
    if (error instanceof Suspended || error instanceof Cancelled || execution.isFatal(error)) throw error;
    const known = error instanceof TaskError ? error : new TaskError(messageOf(error));
    if (known.retryable && attempt < attemptsOf(options)) return { again: known };
    throw noteFailure(execution, name, error, options.retry !== undefined);
  }
  if (currentScope()?.isLost) return never();
  const result = asJson(name, value);
  await execution.record({ entries: [{ name, result }] });
  return { value: result as T };
}

/** Waits until a call is made again. A handler that only waits for that is suspended. */
async function backingOff(execution: Execution, name: string, attempt: number, options: RunOptions, error?: TaskError): Promise<void> {
  const nothing = () => undefined;
  await new Wait(execution, backOffName(name, attempt), backOff(name, attempt, options, error), nothing, nothing);
}

/** Waits until there is room for a call. A handler that only waits for that is suspended. */
async function waitForRoom(execution: Execution, name: string, limit: Limit): Promise<void> {
  const late = (): never => {
    throw new TaskError(`there was no room under \`${limit.name}\` for \`${name}\` in time`, { code: "CAPACITY_TIMED_OUT", retryable: false });
  };
  await new Wait(execution, roomName(name), room(name, limit), () => undefined, late);
}

/** Does several things while it has room, which is given back when they are done or have failed. */
export async function withRoom<T>(execution: Execution, limit: Limit, name: string, body: () => T | PromiseLike<T>): Promise<T> {
  const isOver = execution.ask(name, "run") !== undefined || execution.rememberedFailure(name) !== undefined;
  if (!isOver) await waitForRoom(execution, name, limit);
  let value: T;
  try {
    value = await body();
  } catch (error) {
    if (!isOver && !(error instanceof Suspended) && !(error instanceof Cancelled) && !execution.isFatal(error)) {
      noteFailure(execution, name, error, false);
    }
    throw error;
  }
  if (!isOver) await execution.act(name, () => execution.record({ entries: [{ name, result: null }] }));
  return value;
}

function noteFailure(execution: Execution, name: string, error: unknown, hasPolicy: boolean): RunFailed {
  const { code, retryAfter, type, ...known } = termsOf(error);
  // A call that had attempts of its own has used them up: another attempt of the handler would only go beyond.
  const retryable = known.retryable && !hasPolicy;
  const message = messageOf(error);
  execution.noteFailed(name, { message, code, retryable, retryAfter, type } as Remembered);
  return new RunFailed(name, message, { code, retryable, retryAfter, type, cause: error } as object);
}
