/** What a handler throws, and what is thrown into it. */
import type { Duration } from "./duration.js";

export interface TaskErrorOptions {
  /** Your own code, for whoever reads the run; `TASK_FAILED` if absent. */
  code?: string;
  /** Whether another attempt may help; true if absent. */
  retryable?: boolean;
  /** Try again after this time, instead of the step's back-off. */
  retryAfter?: Duration;
  cause?: unknown;
}

/** A failure of a task that says what should follow. Any other error is one that may be tried again. */
export class TaskError extends Error {
  override name = "TaskError";
  readonly code: string | undefined;
  readonly retryable: boolean;
  readonly retryAfter: Duration | undefined;

  constructor(message: string, options: TaskErrorOptions = {}) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.code = options.code;
    this.retryable = options.retryable ?? true;
    this.retryAfter = options.retryAfter;
  }
}

/** Another attempt would not help. */
export class NotRetryable extends TaskError {
  override name = "NotRetryable";

  constructor(message: string, options: Omit<TaskErrorOptions, "retryable" | "retryAfter"> = {}) {
    super(message, { ...options, retryable: false });
  }
}

/** Try again after this time. */
export class RetryAfter extends TaskError {
  override name = "RetryAfter";

  constructor(message: string, retryAfter: Duration, options: Omit<TaskErrorOptions, "retryable"> = {}) {
    super(message, { ...options, retryAfter });
  }
}

/** What was done in `ctx.run` failed. When it is caught, it is remembered, and thrown again at every replay. */
export class RunFailed extends TaskError {
  override name = "RunFailed";
  /** The type of the error that the work threw; `cause` is that error, where it was thrown just now. */
  readonly type: string | undefined;

  constructor(
    readonly run: string,
    message: string,
    options: TaskErrorOptions & { type?: string } = {},
  ) {
    super(message, options);
    this.type = options.type;
  }
}

/** Somebody cancelled what the handler waited for. */
export class WaitCancelled extends NotRetryable {
  override name = "WaitCancelled";

  constructor(readonly wait: string) {
    super(`the wait \`${wait}\` was cancelled`, { code: "WAIT_CANCELLED" });
  }
}

/** A run that the handler started and waited for did not complete. */
export class ChildFailed extends NotRetryable {
  override name = "ChildFailed";

  constructor(
    readonly child: string,
    message: string,
    code: string,
  ) {
    super(message, { code });
  }
}

/** A call that the engine made did not come to an answer that counts. `code` says why: `HTTP_STATUS`, for instance. */
export class CallFailed extends NotRetryable {
  override name = "CallFailed";

  constructor(
    readonly call: string,
    message: string,
    code: string,
  ) {
    super(message, { code });
  }
}

/** The code does not fit what an earlier execution of the task recorded. */
export class CodeChanged extends NotRetryable {
  override name = "CodeChanged";

  constructor(
    /** What the journal holds. */
    readonly recorded: string,
    /** What the code came to instead. */
    readonly found: string,
  ) {
    super(`the journal holds ${recorded}, and the code comes to ${found}`, { code: "CODE_CHANGED" });
  }
}

/** A handler caught its own suspension and went on. */
export class SuspensionSwallowed extends NotRetryable {
  override name = "SuspensionSwallowed";

  constructor(message: string) {
    super(message, { code: "SUSPENSION_SWALLOWED" });
  }
}

/** The durable calls of a handler were used in a way that cannot be replayed. */
export class Misused extends NotRetryable {
  override name = "Misused";

  constructor(message: string) {
    super(message, { code: "DURABLE_CALL_MISUSED" });
  }
}

/**
 * Thrown into a handler that has to wait: it is suspended, and re-executed when the wait is over. Let it pass. A
 * `catch` around a wait should begin with `if (isSuspended(error)) throw error`.
 */
export class Suspended extends Error {
  override readonly name = "Suspended";

  constructor(readonly waits: string[]) {
    super(`the handler waits for ${waits.map((name) => `\`${name}\``).join(", ")}; let this pass`);
  }
}

export function isSuspended(error: unknown): error is Suspended | Cancelled {
  return error instanceof Suspended || error instanceof Cancelled;
}

/** The task is not this worker's any more: its run was cancelled, or the lease was lost. Nothing it does counts. */
export class Cancelled extends Error {
  override readonly name = "Cancelled";

  constructor(readonly code: string) {
    super(`the task was taken back: ${code}`);
  }
}
