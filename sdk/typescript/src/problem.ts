/**
 * What can go wrong, as types. The server's refusals have a stable `code`; `docs/reference/errors.md` lists them all.
 */
import type { Finding, Json, Problem as Body, ProblemCode, Run } from "./wire.js";

/** What would help where no key was given, or not the right one. */
const NO_KEY = "; give a key as `apiKey`, or in ABIDE_API_KEY";

/** A request that the server refused. */
export class Problem extends Error {
  /** Stable: what a program may rely on. */
  readonly code: ProblemCode;
  readonly status: number;
  readonly detail: string;
  /** The place in the body, as a JSON pointer. */
  readonly pointer: string | undefined;
  /** Everything that was wrong with the request, each with its place. */
  readonly problems: Finding[];
  /** The state that stands against the request. */
  readonly current: Json | undefined;
  /** What a waitpoint that is resolved already came to. */
  readonly outcome: Json | undefined;
  /** How long the server asks to be left alone. */
  readonly retryAfterMs: number | undefined;

  constructor(
    /** The answer as it came. */
    readonly body: Body,
    retryAfterMs?: number,
  ) {
    super(`${body.code}: ${body.detail}${body.code === "UNAUTHENTICATED" ? NO_KEY : ""}`);
    this.name = new.target.name;
    this.code = body.code as ProblemCode;
    this.status = body.status;
    this.detail = body.detail;
    this.pointer = body.pointer ?? undefined;
    this.problems = body.problems ?? [];
    this.current = body.current;
    this.outcome = body.outcome;
    this.retryAfterMs = retryAfterMs;
  }

  /** Whether an error is a refusal, and one with this code. */
  static is(error: unknown, ...codes: ProblemCode[]): error is Problem {
    return error instanceof Problem && (codes.length === 0 || codes.includes(error.code));
  }

  static of(body: Body, retryAfterMs?: number): Problem {
    return new (kindOf(body.status))(body, retryAfterMs);
  }
}

/** 401, 403: no key, or one that may not do this. */
export class NotAllowed extends Problem {}
/** 404: there is no such thing in this workspace. */
export class NotFound extends Problem {}
/** 409: the state of things stands against it. */
export class Conflict extends Problem {}
/** 410: it was there, and its time is over. */
export class Gone extends Problem {}
/** 400, 405, 413, 415, 422, 431: the request itself is wrong. */
export class Invalid extends Problem {}
/** 429, 503: come back later. Nothing was changed. */
export class Busy extends Problem {}

function kindOf(status: number): typeof Problem {
  switch (status) {
    case 401:
    case 403:
      return NotAllowed;
    case 404:
      return NotFound;
    case 409:
      return Conflict;
    case 410:
      return Gone;
    case 400:
    case 405:
    case 413:
    case 415:
    case 422:
    case 431:
      return Invalid;
    case 429:
    case 503:
      return Busy;
    default:
      return Problem;
  }
}

/** The server did not answer. */
export class Unreachable extends Error {
  override readonly name = "Unreachable";

  constructor(server: string, cause: unknown) {
    super(`${server} does not answer: ${reasonOf(cause)}`, { cause });
  }
}

function reasonOf(cause: unknown): string {
  const inner = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause;
  return inner instanceof Error ? inner.message || String((inner as { code?: string }).code) : String(inner);
}

/** A run that was waited for did not complete. */
export class RunNotCompleted extends Error {
  override readonly name = "RunNotCompleted";
  /** Of the failure; `RUN_CANCELLED` if it was cancelled. */
  readonly code: string;

  constructor(readonly run: Run) {
    const why = run.error ? `${run.error.code}: ${run.error.message}` : run.status;
    super(`${run.id} of ${run.definition.name} is ${run.status}: ${why}`);
    this.code = run.error?.code ?? `RUN_${run.status}`;
  }
}
