/**
 * One execution of a task: the handler, its journal, and what becomes of them.
 *
 * ```text
 *   replay: what the journal holds is answered at once
 *   ──▶ new work: done, recorded, answered
 *   ──▶ a wait that is not over, and nothing else to do: the handler is left (`Suspended`), the waits are reported
 * ```
 *
 * The journal does not change during an execution, so a wait that is open stays open until the next one.
 */
import { askedOf, mismatch } from "./asked.js";
import { type Remembered, failureReport, messageOf } from "./described.js";
import type { DurableCall } from "./call.js";
import { Cancelled, CodeChanged, Misused, Suspended, SuspensionSwallowed, TaskError } from "./failure.js";
import type { Reports } from "./reports.js";
import { currentRun } from "./run.js";
import { RunLog } from "./run-log.js";
import { type Scope, currentScope, never } from "./scope.js";
import { AT_THE_END, Unasked } from "./unasked.js";
import type { Wait, WaitSpec } from "./wait.js";
import type { Json, JournalEntry, LogLine, NewJournalEntry, ReportDone, Task, TaskReport } from "./wire.js";

/** Names of entries that are ours: `!charge` is how `charge` failed. */
const OWN = "!";
/** The server takes 200 characters. */
const NAME_CHARS = 190;
/** The server takes 255 characters. */
const KEY_CHARS = 255;
/** Refusals that mean that the task is somebody else's, or nobody's, by now. */
const TAKEN_BACK = new Set(["STALE_LEASE", "RUN_ENDED", "UNKNOWN_RUN", "WRONG_STEP_STATUS", "BAD_LEASE", "UNKNOWN_TASK"]);

/** What is waited for together, and when it is over. */
interface Group {
  waits: Wait<unknown>[];
  wake: "all" | "any" | "each";
  reject: (error: Error) => void;
  scope: Scope | undefined;
}

/** Something new that is being done. */
interface Act {
  scope: Scope | undefined;
}

type Outcome = { output: Json } | { error: unknown };
type State = "running" | "over" | "lost";

export class Execution {
  readonly controller = new AbortController();
  stateUpdates: Record<string, Json> | undefined;
  /** Where nothing is executed: told when the code has got past its journal. */
  onNew: ((name: string) => void) | undefined;
  /** Code around the work of each durable call. */
  aroundCall: (call: DurableCall, work: () => Promise<unknown>) => Promise<unknown> = (_, work) => work();
  /** What the handler failed with in this execution. */
  failedWith: unknown;
  private state: State = "running";
  private readonly journal: Map<string, JournalEntry>;
  private readonly unasked: Unasked;
  private readonly asked = new Set<string>();
  /** How often the code has paused under a name. */
  private readonly pauses = new Map<string, number>();
  private readonly opened: Wait<unknown>[] = [];
  private readonly groups: Group[] = [];
  private readonly runLog: RunLog;
  /** Entries that must be stored before anything new is done. */
  private unsaved: NewJournalEntry[] = [];
  /** Over when what was to be stored is. */
  private saving: Promise<void> = Promise.resolve();
  /** Waits that lost a race, and are cancelled with the entry that says who won. */
  private readonly cancels = new Set<string>();
  private readonly acts = new Set<Act>();
  private whenQuiet: (() => void)[] = [];
  private activity = 0;
  private suspension: Suspended | undefined;
  private swallowedAt: string | undefined;
  private fatal: TaskError | undefined;
  /** The handler has returned or thrown; a branch of it may still be under way. */
  private settled = false;

  constructor(
    readonly task: Task,
    private readonly reports: Pick<Reports, "send">,
    graceMs: number,
  ) {
    this.journal = new Map(task.journal.map((entry) => [entry.name, entry]));
    // The back-off of a call, and its wait for room, are no calls of their own.
    const calls = task.journal.filter(({ name, wait }) => !name.startsWith(OWN) && wait?.kind !== "RETRY" && wait?.kind !== "CAPACITY");
    const names = calls.map(({ name }) => name);
    this.unasked = new Unasked(names, graceMs, (error) => this.break(error));
    this.runLog = new RunLog(reports, task.leaseToken);
  }

  /** The name of the next pause under this one: `poll`, `poll#2`, `poll#3`, … */
  pauseName(name: string): string {
    const count = (this.pauses.get(name) ?? 0) + 1;
    this.pauses.set(name, count);
    return count === 1 ? name : `${name}#${count}`;
  }

  /** Runs the handler. The last report on this execution, or nothing if the task is not ours any more. */
  async run(handler: () => Promise<Json>): Promise<TaskReport | undefined> {
    let outcome: Outcome;
    try {
      outcome = { output: await handler() };
    } catch (error) {
      outcome = { error };
    }
    this.settled = true;
    // A sibling that is still at work may record what it has done.
    await this.quiet();
    if ("output" in outcome) await this.othersThrough();
    this.unasked.stop();
    if (this.state === "lost") return undefined;
    const report = this.verdict(outcome);
    if (report.type === "pause" && this.unsaved.length + this.cancels.size > 0) {
      // A pause carries no entries: what is to be remembered goes before it.
      const { unsaved: entries } = this;
      const cancels = [...this.cancels];
      this.heed(await this.reports.send({ type: "heartbeat", leaseToken: report.leaseToken, entries, cancels }));
    }
    await this.runLog.end();
    this.state = "over";
    return report;
  }

  /** Writes a line to the run's log, unless an earlier execution has. */
  log(level: LogLine["level"], message: string): void {
    if (this.unasked.size > 0 || this.state !== "running" || currentScope()?.isLost) return;
    this.runLog.write(level, message);
  }

  /** Branches that the handler does not wait for are replayed beside it, and it may be at its end before them. */
  private async othersThrough(): Promise<void> {
    if (this.unasked.size === 0 || this.suspension || this.fatal) return;
    await new Promise<void>((go) => this.unasked.hold({ go, reject: () => go() }));
  }

  private verdict(outcome: Outcome): TaskReport {
    const { leaseToken } = this.task;
    if (this.fatal) return this.failure(this.fatal);
    if (this.suspension) {
      const passed = "error" in outcome && outcome.error === this.suspension && this.swallowedAt === undefined;
      return passed ? this.letGo() : this.failure(this.swallowed(this.suspension, outcome));
    }
    if ("error" in outcome) return this.failure(outcome.error);
    const left = this.unasked.first;
    if (left !== undefined) return this.failure(new CodeChanged(`\`${left}\``, AT_THE_END));
    const stateUpdates = this.stateUpdates;
    return { type: "complete", leaseToken, output: outcome.output, ...(stateUpdates ? { stateUpdates } : {}) };
  }

  private swallowed(suspension: Suspended, outcome: Outcome): SuspensionSwallowed {
    const waits = suspension.waits.map((name) => `\`${name}\``).join(", ");
    const then =
      this.swallowedAt !== undefined
        ? `went on to \`${this.swallowedAt}\``
        : "error" in outcome
          ? `threw something else: ${messageOf(outcome.error)}`
          : "returned";
    const advice = "A catch or finally around a wait must let the suspension pass: `if (isSuspended(error)) throw error`";
    return new SuspensionSwallowed(`the handler was to be left at ${waits}, and ${then}. ${advice}`);
  }

  private failure(error: unknown): TaskReport {
    this.failedWith = error;
    return failureReport(this.task.leaseToken, error);
  }

  private letGo(): TaskReport {
    const { leaseToken } = this.task;
    const pause = this.groups.flatMap(({ waits }) => waits).find((wait) => wait.spec.type === "pause");
    if (pause) return { leaseToken, name: pause.name, ...pause.spec } as TaskReport;
    const awaited = this.groups.flatMap(({ waits }) => waits);
    // What was begun and is not awaited yet begins now, too: its time counts from here.
    const begun = this.opened.filter((wait) => wait.status === undefined && !awaited.includes(wait));
    const open = [...new Set([...awaited, ...begun])].filter((wait) => !wait.hasEnded && wait.spec.type !== "pause");
    const alone = this.groups.length === 1 && begun.length === 0 ? this.groups[0] : undefined;
    const waits = open.map((wait) => ({ name: wait.name, asked: askedOf(wait.spec), ...wait.spec }));
    const wake = open.length === 1 ? "all" : (alone?.wake ?? "each");
    const report = { type: "suspend", leaseToken, waits, wake, entries: this.unsaved, cancels: [...this.cancels] };
    return report as unknown as TaskReport;
  }

  // The durable calls

  /** What the journal holds for a call. A call that does not fit it, or cannot be, ends the task. */
  ask(name: string, kind: "run" | "wait" | "waitpoint" | "backOff", spec: WaitSpec = { type: "webhook" }): JournalEntry | undefined {
    if (this.state === "lost") throw this.controller.signal.reason;
    if (this.suspension) {
      if (!currentScope()?.isLost) this.swallowedAt ??= name;
      throw this.suspension;
    }
    if (this.fatal) throw this.fatal;
    if (this.settled && !this.isRecorded(name) && !currentScope()?.isLost) throw new Cancelled("HANDLER_ENDED");
    if (kind !== "backOff") this.checkName(name);
    const call = kind === "waitpoint" ? `waitpoint ${name}` : name;
    if (this.asked.has(call)) {
      const advice = `each durable call needs a name of its own, such as \`${name}-2\``;
      throw this.break(new Misused(`\`${name}\` is used twice; ${advice}`));
    }
    this.asked.add(call);
    this.unasked.reached(name);
    this.stir();
    const entry = this.journal.get(name);
    const failed = this.journal.has(OWN + name);
    if ((entry && (kind === "run") === Boolean(entry.wait)) || (failed && kind !== "run")) {
      const [now, was] = kind === "run" ? ["a run", "a wait"] : ["a wait", "a run"];
      throw this.break(new CodeChanged(`\`${name}\` as ${was}`, `\`${name}\` as ${now}`));
    }
    const changed = entry?.wait ? mismatch(name, entry.wait, spec) : undefined;
    if (changed !== undefined) throw this.break(new CodeChanged(...changed));
    return entry;
  }

  isRecorded(name: string): boolean {
    return this.journal.has(name) || this.journal.has(OWN + name);
  }

  private checkName(name: string): void {
    const within = currentRun();
    if (within !== undefined) {
      throw this.break(new Misused(`\`${name}\` is inside of \`${within}\`; what \`run\` does cannot itself be durable`));
    }
    const [first] = name;
    if (name.length < 1 || name.length > NAME_CHARS || first === OWN || first === "$") {
      throw this.break(new Misused(`\`${name}\` is not a name: 1 to ${NAME_CHARS} characters, the first not \`!\` or \`$\``));
    }
  }

  /** Does something new, once it is clear that the code fits the journal. */
  async act<T>(name: string, work: () => Promise<T>): Promise<T> {
    const scope = currentScope();
    if (scope?.isLost) return never();
    const act: Act = { scope };
    this.acts.add(act);
    try {
      if (this.unasked.size > 0) await new Promise<void>((go, reject) => this.unasked.hold({ name, scope, go, reject }));
      if (this.onNew) {
        this.onNew(name);
        return await never<T>();
      }
      if (this.unsaved.length + this.cancels.size > 0) this.saving = this.saving.then(() => this.save());
      await this.saving;
      if (this.settled) throw new Cancelled("HANDLER_ENDED");
      if (scope?.isLost) return await never<T>();
      const done = await work();
      return scope?.isLost ? await never<T>() : done;
    } catch (error) {
      if (scope?.isLost) return await never<T>();
      throw error;
    } finally {
      this.end(act);
    }
  }

  private end(act: Act): void {
    this.acts.delete(act);
    this.stir();
    if (this.acts.size === 0) this.whenQuiet.splice(0).forEach((quiet) => quiet());
  }

  /** What other services may know a call by: the same at every attempt and every replay. */
  idempotencyKey(name: string): string {
    return `${this.task.id}/${name}`.slice(0, KEY_CHARS);
  }

  /**
   * Whether a planned change of the code is in effect for this run: it is, unless the run has gone beyond it already. What
   * was decided once stays decided.
   */
  patched(id: string): boolean {
    const name = `${OWN}patch ${id}`;
    const decided = this.journal.get(name) ?? this.unsaved.find((entry) => entry.name === name);
    if (decided) return decided.result === true;
    if (currentScope()?.isLost) return false;
    const result = this.unasked.size === 0;
    this.note(name, result);
    return result;
  }

  // Races of branches

  /** Ends when nothing that the branch, or the whole handler, does counts any more. */
  get signal(): AbortSignal {
    const scope = currentScope();
    return scope ? AbortSignal.any([this.controller.signal, scope.signal]) : this.controller.signal;
  }

  isFatal(error: unknown): boolean {
    return error === this.fatal && error !== undefined;
  }

  /** How a call failed in an earlier execution that went on after it. */
  rememberedFailure(name: string): Remembered | undefined {
    return this.journal.get(OWN + name)?.result as unknown as Remembered | undefined;
  }

  /** Remembers something before anything new is done. */
  note(name: string, result: Json): void {
    this.unsaved.push({ name, result });
  }

  /** As with a `run`: a failure is remembered if the handler catches it and goes on. */
  noteFailed(name: string, failure: Remembered): void {
    this.note(OWN + name, JSON.parse(JSON.stringify(failure)) as Json);
  }

  /** Another branch was first: nothing that is done in this one counts, and what it waits for is cancelled. */
  lose(scope: Scope): void {
    scope.lose();
    const of = (other: Scope | undefined) => other?.isWithin(scope) ?? false;
    this.opened.filter((wait) => of(wait.scope)).forEach((wait) => this.forget(wait));
    this.groups.splice(0, Infinity, ...this.groups.filter((group) => !of(group.scope)));
    this.unasked.lose(scope);
    [...this.acts].filter((act) => of(act.scope)).forEach((act) => this.end(act));
  }

  /** A wait that has lost. Whoever awaits it all the same is told that it was cancelled. */
  drop(wait: Wait<unknown>): void {
    wait.drop();
    this.forget(wait);
  }

  /** What the server waits for is cancelled with the next report; what it does not know yet is never begun. */
  forget(wait: Wait<unknown>): void {
    if (wait.status === "PENDING") this.cancels.add(wait.name);
    const index = this.opened.indexOf(wait);
    if (index >= 0) this.opened.splice(index, 1);
  }

  park(go: () => void): void {
    this.unasked.park(go);
  }

  /** Which of several waits was first: what was decided once stays decided. */
  winner(waits: Wait<unknown>[]): number {
    const name = `${OWN}first ${waits[0]?.name}`;
    const decided = this.journal.get(name)?.result as string | undefined;
    if (decided !== undefined) return waits.findIndex((wait) => wait.name === decided);
    const first = waits.findIndex((wait) => wait.hasHappened);
    const others = waits.some((wait, index) => index !== first && wait.status !== "CANCELLED");
    if (first >= 0 && others) {
      this.note(name, waits[first]?.name ?? null);
      waits.filter((_, index) => index !== first).forEach((wait) => this.drop(wait));
    }
    return first;
  }

  /** Which of several waits were the first `count`: what was decided once stays decided. Nothing while it is not decided. */
  winners(count: number, waits: Wait<unknown>[]): number[] | undefined {
    const name = `${OWN}some ${waits[0]?.name}`;
    const decided = this.journal.get(name)?.result as string[] | undefined;
    if (decided) return decided.map((winner) => waits.findIndex((wait) => wait.name === winner));
    const first = [...waits.keys()].filter((index) => waits[index]?.hasHappened).slice(0, count);
    if (first.length < count) return undefined;
    if (waits.some((wait, index) => !first.includes(index) && wait.status !== "CANCELLED")) {
      this.note(name, first.map((index) => waits[index]?.name ?? null));
      waits.filter((_, index) => !first.includes(index)).forEach((wait) => this.drop(wait));
    }
    return first;
  }

  private async save(): Promise<void> {
    // A failure that nobody catches ends the handler first, and is then not remembered.
    await new Promise<void>((go) => setImmediate(go));
    const entries = this.unsaved.splice(0);
    const cancels = [...this.cancels];
    this.cancels.clear();
    if (entries.length + cancels.length > 0 && !this.settled && !this.suspension) await this.record({ entries, cancels });
  }

  async record(more: { entries?: NewJournalEntry[]; cancels?: string[]; checkpoint?: Json }): Promise<void> {
    const done = await this.reports.send({ type: "heartbeat", leaseToken: this.task.leaseToken, ...more });
    this.heed(done);
    if (this.state === "lost") throw this.controller.signal.reason;
    if (!done.ok) {
      const { code = "REFUSED", detail = "the report was refused" } = done.problem ?? {};
      throw this.break(new TaskError(detail, { code, retryable: false }));
    }
  }

  /** What the answer to a report says about the task itself. */
  heed(done: ReportDone): void {
    const code = done.problem?.code;
    if (!done.ok && code !== undefined && TAKEN_BACK.has(code)) this.cancel(code);
  }

  add<T>(wait: Wait<T>): void {
    this.opened.push(wait as Wait<unknown>);
  }

  /** Waits until a group is over; in this execution that is either so already, or never. */
  until(waits: Wait<unknown>[], wake: "all" | "any" | "each"): Promise<void> {
    const over = wake === "any" ? this.isDecided(waits) : waits.every((wait) => wait.hasEnded);
    if (over) return Promise.resolve();
    const scope = currentScope() ?? waits[0]?.scope;
    if (scope?.isLost) return never();
    if (this.state === "lost") return Promise.reject(this.controller.signal.reason);
    if (this.fatal) return Promise.reject(this.fatal);
    if (this.suspension) {
      this.swallowedAt ??= waits[0]?.name;
      return Promise.reject(this.suspension);
    }
    return new Promise<void>((_, reject) => {
      this.groups.push({ waits, wake, reject, scope });
      this.stir();
    });
  }

  private isDecided(waits: Wait<unknown>[]): boolean {
    return waits.some((wait) => wait.hasHappened) || waits.every((wait) => wait.hasEnded);
  }

  // Letting go

  /** Looks, after everything that can go on has gone on, whether the handler only waits. */
  private stir(): void {
    const activity = ++this.activity;
    setImmediate(() =>
      setImmediate(() => {
        if (activity === this.activity) this.suspendIfIdle();
      }),
    );
  }

  private suspendIfIdle(): void {
    const [group] = this.groups;
    if (this.state !== "running" || this.settled || this.suspension || this.fatal || this.acts.size > 0 || !group) return;
    if (this.unasked.size > 0) {
      const name = group.waits.find((wait) => !wait.hasEnded)?.name ?? "";
      return this.unasked.hold({ name, go: () => this.stir(), reject: () => {} });
    }
    const names = this.groups.flatMap(({ waits }) => waits).filter((wait) => !wait.hasEnded);
    this.suspension = new Suspended(names.map((wait) => wait.name));
    this.groups.forEach(({ reject }) => reject(this.suspension as Suspended));
  }

  /** Ends the handler with an error that counts, whatever the handler makes of it. */
  private break(error: TaskError): TaskError {
    this.fatal ??= error;
    this.endAll(error);
    return error;
  }

  /** The task is not ours any more. */
  cancel(code: string): void {
    if (this.state !== "running") return;
    this.state = "lost";
    const reason = new Cancelled(code);
    this.controller.abort(reason);
    this.endAll(reason);
  }

  private endAll(error: Error): void {
    this.unasked.end(error);
    this.groups.splice(0).forEach(({ reject }) => reject(error));
  }

  private quiet(): Promise<void> {
    return this.acts.size === 0 ? Promise.resolve() : new Promise((quiet) => this.whenQuiet.push(quiet));
  }
}
