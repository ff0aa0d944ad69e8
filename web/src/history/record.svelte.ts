/** A run's history as it grows: read in pages once, then only what was added. */
import { get, Refused, sentence } from '../api/client';
import type { HistoryRecord, Page } from '../api/types';

/** Read without being asked; a run of ten thousand items has more. */
const AT_FIRST = 2000;
const PAGE = 500;

export class History {
  records = $state.raw<HistoryRecord[]>([]);
  error = $state.raw<Refused | null>(null);
  /** There are records that were not read. */
  more = $state(false);
  loaded = $state(false);
  #id: string;
  #reading = false;
  #again = false;

  constructor(id: string) {
    this.#id = id;
  }

  /** Reads what was added since. */
  async read(limit = AT_FIRST): Promise<void> {
    if (this.#reading) {
      this.#again = true;
      return;
    }
    this.#reading = true;
    try {
      do {
        this.#again = false;
        await this.#readOn(limit);
      } while (this.#again);
      this.error = null;
    } catch (error) {
      this.error = error instanceof Refused ? error : new Refused(0, 'PAGE', sentence(error));
    }
    this.loaded = true;
    this.#reading = false;
  }

  /** Reads as much again as is there. */
  async readMore(): Promise<void> {
    await this.read(this.records.length + AT_FIRST);
  }

  async #readOn(limit: number): Promise<void> {
    const room = Math.max(limit, this.records.length + PAGE);
    for (;;) {
      const after = this.records.at(-1)?.seq ?? 0;
      const page = await get<Page<HistoryRecord>>(`/workflow-runs/${this.#id}/events`, { after, limit: PAGE });
      if (page.data.length > 0) this.records = [...this.records, ...page.data];
      this.more = page.nextCursor !== null;
      if (!this.more || this.records.length >= room) return;
    }
  }
}
