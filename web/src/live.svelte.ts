/**
 * What changes, as it changes: one stream of the server for the whole page, open only while it is looked at. Whoever
 * shows something asks to be called; calls are spaced so that a busy server is not asked more often than it answers.
 */
import { url } from './api/client';

export interface Change {
  runId: string;
  status: string;
  version: number;
}

type Listener = (change: Change | null) => void;

/** Between two tries to connect. The server ends streams when it restarts. */
const AGAIN_MS = 2000;

class Live {
  state = $state<'off' | 'connecting' | 'on' | 'lost'>('off');
  #source: EventSource | null = null;
  #listeners = new Set<Listener>();
  #retry: ReturnType<typeof setTimeout> | undefined;
  #wasOn = false;

  start(): void {
    document.addEventListener('visibilitychange', () => (document.hidden ? this.#close() : this.#open()));
    this.#open();
  }

  stop(): void {
    this.#close();
    this.#wasOn = false;
  }

  /** Calls back for each change; `null` means that some may have been missed. Gives what ends it. */
  follow(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #tell(change: Change | null): void {
    for (const listener of this.#listeners) listener(change);
  }

  #open(): void {
    if (this.#source || document.hidden) return;
    this.state = this.state === 'lost' ? 'lost' : 'connecting';
    const source = new EventSource(url('/feed'));
    this.#source = source;
    source.addEventListener('open', () => {
      this.state = 'on';
      // Whatever happened in between was not heard.
      if (this.#wasOn) this.#tell(null);
      this.#wasOn = true;
    });
    source.addEventListener('run', (event) => this.#tell(JSON.parse((event as MessageEvent<string>).data) as Change));
    source.addEventListener('missed', () => this.#tell(null));
    source.addEventListener('error', () => {
      this.#close();
      this.state = 'lost';
      this.#retry = setTimeout(() => this.#open(), AGAIN_MS);
    });
  }

  #close(): void {
    clearTimeout(this.#retry);
    this.#source?.close();
    this.#source = null;
    if (this.state === 'on') this.state = 'off';
  }
}

export const live = new Live();
