/** Which branch of a handler the code is in, and whether it has lost. */
import { AsyncLocalStorage } from "node:async_hooks";

/** What a branch does, and everything that is begun in it. */
export class Scope {
  private readonly controller = new AbortController();
  readonly signal: AbortSignal;
  hasLost = false;

  constructor(private readonly parent: Scope | undefined) {
    this.signal = parent ? AbortSignal.any([parent.signal, this.controller.signal]) : this.controller.signal;
  }

  get isLost(): boolean {
    return this.hasLost || (this.parent?.isLost ?? false);
  }

  /** Whether it is this branch, or one inside of it. */
  isWithin(other: Scope): boolean {
    return this === other || (this.parent?.isWithin(other) ?? false);
  }

  lose(): void {
    if (this.hasLost) return;
    this.hasLost = true;
    this.controller.abort(new Error("another branch was first"));
  }
}

const scopes = new AsyncLocalStorage<Scope>();

/** The branch that the code is in; nothing outside of any. */
export const currentScope = (): Scope | undefined => scopes.getStore();

export const inScope = <T>(scope: Scope, work: () => T): T => scopes.run(scope, work);

/** What a call of a branch that has lost gives. */
export const never = <T>(): Promise<T> => new Promise<T>(() => {});
