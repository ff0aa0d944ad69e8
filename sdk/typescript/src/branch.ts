/**
 * Branches of a handler: functions with durable calls of their own, which can win or lose a race.
 *
 * ```text
 *   any([branch, branch, wait]) ──▶ the first that is over ──▶ recorded before anything after it is done
 *                               └─▶ the others have lost: open waits are cancelled, work is aborted
 * ```
 *
 * A branch that has lost answers from the journal only: a call that is recorded gives what it gave, so that its name is
 * reached at every replay, and the first one that is not never returns.
 */
import { createHash } from "node:crypto";

import { type Remembered, callOf, messageOf, termsOf } from "./described.js";
import type { Execution } from "./execution.js";
import { RunFailed, WaitCancelled, isSuspended } from "./failure.js";
import { asJson } from "./json.js";
import { Scope, currentScope, inScope, never } from "./scope.js";
import { Wait } from "./wait.js";
import type { Json } from "./wire.js";

/** What is kept of the names of those in a race. */
const RACE_CHARS = 100;

/** A named part of a handler, for `ctx.any` and `ctx.all`. It begins when it is awaited, alone or among others. */
export class Branch<T, N extends string = string> implements PromiseLike<T> {
  readonly scope = new Scope(currentScope());
  private promise: Promise<T> | undefined;

  constructor(
    readonly name: N,
    private readonly work: () => T | PromiseLike<T>,
  ) {}

  /** A branch that has lost gives nothing to whoever awaits it all the same. */
  start(): Promise<T> {
    return this.scope.hasLost ? Promise.reject(new WaitCancelled(this.name)) : this.begin();
  }

  begin(): Promise<T> {
    this.promise ??= inScope(this.scope, async () => this.work());
    // A branch that nobody looks at any more must not end the process when it fails.
    this.promise.catch(() => {});
    return this.promise;
  }

  then<A = T, B = never>(
    fulfilled?: ((value: T) => A | PromiseLike<A>) | null,
    rejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    const next = this.start().then(fulfilled, rejected);
    next.catch(() => {});
    return next;
  }
}

export type Member = Wait<unknown> | Branch<unknown>;

/** How a race among branches ended. */
export interface Decided {
  index: number;
  name: string;
  value: unknown;
}

/** The first that is over, where at least one is a branch. */
export async function race(execution: Execution, members: readonly Member[]): Promise<Decided> {
  const scope = currentScope();
  const name = raceName(members);
  const branches = members.filter((member) => member instanceof Branch);
  const waits = members.filter((member) => member instanceof Wait);
  const recorded = recordedRace(execution, name);
  if (recorded) {
    lose(execution, members, recorded.index);
    branches.forEach((branch) => execution.lose(branch.scope));
    branches.forEach((branch) => branch.begin());
    if (recorded.error) throw recorded.error;
    return { ...recorded, value: valueOf(members[recorded.index], recorded.value) };
  }
  const over = members.findIndex((member) => member instanceof Wait && member.hasHappened);
  if (over >= 0 && !scope?.isLost) {
    lose(execution, members, over);
    // What they have recorded is still to be reached.
    branches.forEach((branch) => branch.begin());
    noteRace(execution, name, { index: over, name: members[over]?.name ?? "" });
    return { index: over, name: members[over]?.name ?? "", value: valueOf(members[over], undefined) };
  }
  const first = await firstOf(execution, members, waits);
  if (scope?.isLost) return never();
  lose(execution, members, first.index);
  const winner = members[first.index]?.name ?? "";
  if ("error" in first) throw noteFailedRace(execution, name, winner, first);
  return { index: first.index, name: winner, value: noteRace(execution, name, { ...first, name: winner }) };
}

/** How a race was decided by an earlier execution. */
function recordedRace(execution: Execution, name: string): (Omit<Decided, "value"> & { value?: unknown; error?: Error }) | undefined {
  const entry = execution.ask(name, "run");
  const failed = execution.rememberedFailure(name);
  if (!failed) return entry?.result as unknown as Decided | undefined;
  const { index = 0, name: winner = "", run = name, message } = failed;
  return { index, name: winner, error: new RunFailed(run, message, failed) };
}

/** Remembers who has won, before anything new is done. The value, as it will be after a replay. */
function noteRace(execution: Execution, name: string, won: { index: number; name: string; value?: unknown }): unknown {
  const result = asJson(won.name, won) as { value?: Json };
  execution.note(name, result as Json);
  return result.value ?? null;
}

/** A branch that failed was first, too. */
function noteFailedRace(execution: Execution, name: string, winner: string, { index, error }: { index: number; error: unknown }): RunFailed {
  const failed = error instanceof RunFailed ? error : new RunFailed(callOf(error) ?? winner, messageOf(error), termsOf(error));
  const { code, retryable, retryAfter, type, message, run } = failed;
  execution.noteFailed(name, { index, name: winner, run, message, code, retryable, retryAfter, type } as Remembered);
  return failed;
}

type Finish = { index: number; value: unknown } | { index: number; error: unknown };

/** The first branch to end. No wait ends in this execution: one that is over would have won already. */
function firstOf(execution: Execution, members: readonly Member[], waits: Wait<unknown>[]): Promise<Finish> {
  return new Promise<Finish>((resolve, reject) => {
    const open = waits.filter((wait) => !wait.hasEnded);
    if (open.length > 0) execution.until(open, "any").catch(reject);
    members.forEach((member, index) => {
      if (!(member instanceof Branch)) return;
      member.start().then(
        (value) => resolve({ index, value }),
        (error: unknown) => (isSuspended(error) || execution.isFatal(error) ? reject(error) : resolve({ index, error })),
      );
    });
  });
}

function lose(execution: Execution, members: readonly Member[], winner: number): void {
  members.forEach((member, index) => {
    if (index === winner) return;
    if (member instanceof Branch) execution.lose(member.scope);
    else execution.drop(member);
  });
}

/** The values of all, when all are over. */
export async function gather(execution: Execution, members: readonly Member[]): Promise<unknown[]> {
  const waits = members.filter((member) => member instanceof Wait);
  const started = members.map((member) => (member instanceof Branch ? member.start() : undefined));
  const waited = execution.until(waits, "all");
  waited.catch(() => {});
  return Promise.all(members.map((member, index) => started[index] ?? waited.then(() => (member as Wait<unknown>).value())));
}

function valueOf(member: Member | undefined, recorded: unknown): unknown {
  if (member === undefined) throw new WaitCancelled("");
  return member instanceof Wait ? member.value() : recorded;
}

function raceName(members: readonly Member[]): string {
  const name = `any:${members.map((member) => member.name).join("|")}`;
  if (name.length <= RACE_CHARS) return name;
  const hash = createHash("sha256").update(name).digest("hex").slice(0, 12);
  return `${name.slice(0, RACE_CHARS - hash.length - 1)}#${hash}`;
}
