/** Something that is read from the server and shown: loading, there, or refused; read again when it has changed. */
import { untrack } from 'svelte';
import { Refused, sentence } from './api/client';
import { live, type Change } from './live.svelte';

/** At least this long from one reading to the next that nobody asked for. */
const SPACE_MS = 400;
/** And this many times as long as the reading took. */
const SPACE_FACTOR = 4;

export class Resource<T> {
  value = $state.raw<T | null>(null);
  error = $state.raw<Refused | null>(null);
  loading = $state(false);

  #read: (signal: AbortSignal) => Promise<T>;
  #abort: AbortController | null = null;
  #later: ReturnType<typeof setTimeout> | undefined;
  #next = 0;

  constructor(read: (signal: AbortSignal) => Promise<T>) {
    this.#read = read;
  }

  /** Reads it anew. What is shown stays until the answer is there. */
  async refresh(): Promise<void> {
    clearTimeout(this.#later);
    this.#later = undefined;
    this.#abort?.abort();
    const abort = new AbortController();
    this.#abort = abort;
    this.loading = true;
    const begun = performance.now();
    try {
      // What it reads on the way is not what makes it be read again.
      const value = await untrack(() => this.#read(abort.signal));
      if (abort.signal.aborted) return;
      this.value = value;
      this.error = null;
    } catch (error) {
      if (abort.signal.aborted) return;
      this.error = error instanceof Refused ? error : new Refused(0, 'PAGE', sentence(error));
    }
    this.loading = false;
    const now = performance.now();
    this.#next = now + Math.max(SPACE_MS, (now - begun) * SPACE_FACTOR);
  }

  /** Forgets what is shown: it is about something else. */
  clear(): void {
    this.value = null;
    this.error = null;
  }

  /** Reads it anew when it is time. */
  soon(): void {
    if (this.#later !== undefined) return;
    const delay = Math.max(60, this.#next - performance.now());
    this.#later = setTimeout(() => {
      this.#later = undefined;
      void this.refresh();
    }, delay);
  }

  /** Reads it, and again after each change that concerns it. For an effect: gives what ends it. */
  keep(concerns: (change: Change) => boolean = () => true): () => void {
    void this.refresh();
    const unfollow = live.follow((change) => {
      if (change === null || concerns(change)) this.soon();
    });
    return () => {
      unfollow();
      clearTimeout(this.#later);
      this.#later = undefined;
      this.#abort?.abort();
    };
  }
}
