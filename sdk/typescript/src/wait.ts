/** Something that a handler waits for. Awaiting it is what makes the handler wait; until then it is only begun. */
import type { Execution } from "./execution.js";
import { WaitCancelled } from "./failure.js";
import { currentScope } from "./scope.js";
import type { Json, JournalWait } from "./wire.js";

/** What is reported to the server, but for the name. */
export interface WaitSpec {
  type: string;
  eventId?: unknown;
  match?: unknown;
  where?: unknown;
  signalType?: unknown;
  workflow?: unknown;
  version?: unknown;
  input?: unknown;
  detached?: unknown;
  content?: unknown;
  url?: unknown;
  method?: unknown;
  body?: unknown;
  approvers?: unknown;
  quorum?: unknown;
  limit?: unknown;
  [field: string]: unknown;
}

export class Wait<T, N extends string = string> implements PromiseLike<T> {
  private readonly known: JournalWait | undefined;
  private promise: Promise<T> | undefined;
  private dropped = false;
  /** The branch that it was begun in. */
  readonly scope = currentScope();

  constructor(
    private readonly execution: Execution,
    readonly name: N,
    readonly spec: WaitSpec,
    private readonly read: (payload: Json) => T,
    private readonly timedOut: () => T,
  ) {
    this.known = execution.ask(name, spec.type === "retry" || spec.type === "capacity" ? "backOff" : "wait", spec)?.wait ?? undefined;
    if (this.scope?.isLost) execution.forget(this as Wait<unknown>);
    else execution.add(this);
  }

  /** It has lost a race. */
  drop(): void {
    this.dropped = true;
  }

  /** As the server knows it; nothing if it does not yet. */
  get status(): JournalWait["status"] | undefined {
    return this.known?.status;
  }

  get hasEnded(): boolean {
    return this.dropped || (this.known !== undefined && this.known.status !== "PENDING");
  }

  /** It came, or its time was over. */
  get hasHappened(): boolean {
    return this.hasEnded && !this.isCancelled;
  }

  private get isCancelled(): boolean {
    return this.dropped || this.known?.status === "CANCELLED";
  }

  /** What it came to. */
  value(): T {
    if (this.isCancelled) throw new WaitCancelled(this.name);
    return this.known?.status === "TIMED_OUT" ? this.timedOut() : this.read(this.known?.payload ?? null);
  }

  then<A = T, B = never>(
    fulfilled?: ((value: T) => A | PromiseLike<A>) | null,
    rejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    this.promise ??= this.over().then(() => this.value());
    const next = this.promise.then(fulfilled, rejected);
    // A branch that nobody looks at any more must not end the process when it is left.
    next.catch(() => {});
    return next;
  }

  private over(): Promise<void> {
    // The wait of a branch that lost was cancelled for that, as a rule, and nobody is told.
    if (this.isCancelled && this.scope?.isLost) return new Promise((go) => this.execution.park(go));
    return this.execution.until([this as Wait<unknown>], "all");
  }
}
