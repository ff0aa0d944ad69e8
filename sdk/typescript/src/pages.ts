/** Lists: iterated, every item of every page; `all` gives them at once, `pages` page by page; awaited, the first page. */
import type { Transport } from "./transport.js";

/** What `all` gives at most, if it is not told otherwise. */
const MOST_ITEMS = 10_000;

export interface Page<T> {
  data: T[];
  nextCursor: string | null;
}

export class Pages<T> implements PromiseLike<Page<T>>, AsyncIterable<T> {
  constructor(
    private readonly transport: Transport,
    private readonly path: string,
    private readonly query: object = {},
  ) {}

  /** The page at a cursor; the first if there is none. */
  page(cursor?: string): Promise<Page<T>> {
    const query = { ...this.query, ...(cursor === undefined ? {} : { cursor }) };
    return this.transport.json<Page<T>>({ method: "GET", path: this.path, query });
  }

  then<A = Page<T>, B = never>(
    fulfilled?: ((page: Page<T>) => A | PromiseLike<A>) | null,
    rejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.page().then(fulfilled, rejected);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for await (const page of this.pages()) yield* page.data;
  }

  /** One page after the other. */
  async *pages(): AsyncGenerator<Page<T>, void, undefined> {
    let cursor: string | undefined;
    do {
      const page = await this.page(cursor);
      yield page;
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined);
  }

  /** Every item of every page. A list of more than `most` (10,000 if absent) is refused, not cut off: iterate over it. */
  async all({ most = MOST_ITEMS }: { most?: number } = {}): Promise<T[]> {
    const items: T[] = [];
    for await (const { data } of this.pages()) {
      items.push(...data);
      if (items.length > most) {
        throw new RangeError(`there are more than ${most}: iterate over the list, or say \`all({ most: … })\``);
      }
    }
    return items;
  }
}
