/** Lists: awaited, the first page; iterated, every item of every page. */
import type { Transport } from "./transport.js";

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

  private page(cursor?: string): Promise<Page<T>> {
    const query = { ...this.query, ...(cursor === undefined ? {} : { cursor }) };
    return this.transport.json<Page<T>>({ method: "GET", path: this.path, query });
  }

  then<A = Page<T>, B = never>(
    fulfilled?: ((page: Page<T>) => A | PromiseLike<A>) | null,
    rejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.page().then(fulfilled, rejected);
  }

  async *[Symbol.asyncIterator](): AsyncIterator<T> {
    let cursor: string | undefined;
    do {
      const page = await this.page(cursor);
      yield* page.data;
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined);
  }
}
