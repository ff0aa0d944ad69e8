/**
 * What the journal holds and the code has not come to. Nothing new is done before the code has come to all of it: another branch may
 * yet, and is given some time. What is left after that is changed code.
 */
import { CodeChanged } from "./failure.js";
import type { Scope } from "./scope.js";

export const AT_THE_END = "the end of the handler";

/** Something that does not go on before the journal is through. */
interface Held {
  /** Nothing at the end of the handler. */
  name?: string;
  scope?: Scope | undefined;
  go: () => void;
  reject: (error: Error) => void;
}

export class Unasked {
  private readonly names: Set<string>;
  private held: Held[] = [];
  private grace: NodeJS.Timeout | undefined;
  private parked: (() => void)[] = [];

  constructor(
    names: Iterable<string>,
    private readonly graceMs: number,
    private readonly changed: (error: CodeChanged) => void,
  ) {
    this.names = new Set(names);
  }

  get size(): number {
    return this.names.size;
  }

  get first(): string | undefined {
    const [first] = this.names;
    return first;
  }

  reached(name: string): void {
    this.names.delete(name);
    if (this.names.size > 0) return;
    this.stop();
    this.held.splice(0).forEach(({ go }) => go());
  }

  hold(held: Held): void {
    this.held.push(held);
    this.grace ??= setTimeout(() => this.over(), this.graceMs);
  }

  /** A wait of a branch that has lost, which was cancelled for that, as a rule: it ends only if there is no other way through the journal. */
  park(go: () => void): void {
    this.parked.push(go);
  }

  /** What is held in a branch that has lost is held for good. */
  lose(scope: Scope): void {
    this.held = this.held.filter((held) => !held.scope?.isWithin(scope));
  }

  end(error: Error): void {
    this.stop();
    this.held.splice(0).forEach(({ reject }) => reject(error));
  }

  stop(): void {
    clearTimeout(this.grace);
    this.grace = undefined;
  }

  private over(): void {
    this.grace = undefined;
    const parked = this.parked.splice(0);
    if (parked.length > 0) {
      parked.forEach((go) => go());
      this.held.splice(0).forEach((held) => this.hold(held));
      return;
    }
    const names = this.held.map(({ name }) => (name === undefined ? AT_THE_END : `\`${name}\``)).join(", ");
    this.changed(new CodeChanged(`\`${this.first}\``, names));
  }
}
