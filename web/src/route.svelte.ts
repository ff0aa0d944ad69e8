/** Where one is: the path and the query of the URL, which also hold every filter, so that all one sees can be linked. */
import { BASE } from './api/client';

type Changes = Record<string, string | null | undefined>;

function read(): { path: string; search: string } {
  const { pathname, search } = window.location;
  const path = pathname.startsWith(BASE) ? `/${pathname.slice(BASE.length)}` : pathname;
  return { path: path.length > 1 ? path.replace(/\/+$/, '') : path, search };
}

class Route {
  #at = $state.raw(read());

  get path(): string {
    return this.#at.path;
  }

  get search(): string {
    return this.#at.search;
  }

  /** `/runs/run_1` → `['runs', 'run_1']`. */
  get parts(): string[] {
    return this.path.split('/').filter(Boolean).map(decodeURIComponent);
  }

  query(name: string): string {
    return new URLSearchParams(this.search).get(name) ?? '';
  }

  follow(): void {
    this.#at = read();
  }

  go(to: string, replace = false): void {
    if (replace) window.history.replaceState(null, '', to);
    else window.history.pushState(null, '', to);
    const moved = read();
    const sameplace = moved.path === this.path;
    this.#at = moved;
    if (!sameplace) window.scrollTo(0, 0);
  }

  /** Changes some of the query. A change of a filter begins the list anew. */
  filter(changes: Changes, replace = true): void {
    this.go(this.filtered(changes), replace);
  }

  filtered(changes: Changes): string {
    const query = new URLSearchParams(this.search);
    if (!('cursor' in changes)) query.delete('cursor');
    for (const [name, value] of Object.entries(changes)) {
      if (value) query.set(name, value);
      else query.delete(name);
    }
    const text = query.toString();
    return `${BASE}${this.path.slice(1)}${text ? `?${text}` : ''}`;
  }
}

export const route = new Route();

export function href(path: string, query: Changes = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value) search.set(name, value);
  const text = search.toString();
  return `${BASE}${path.slice(1)}${text ? `?${text}` : ''}`;
}

export const runHref = (id: string, query: Changes = {}): string => href(`/runs/${id}`, query);
export const definitionHref = (name: string, query: Changes = {}): string =>
  href(`/definitions/${encodeURIComponent(name)}`, query);

/** A limit, or one key of it. */
export const limitHref = (limit: { name: string; workflow?: string | null; key?: string | null }): string =>
  href(`/limits/${encodeURIComponent(limit.name)}`, { workflow: limit.workflow ?? '', key: limit.key ?? '' });

/** Paths that the server answers itself. */
const ELSEWHERE = ['api', 'v1', 'docs', 'openapi.json', 'metrics', 'health', 'ready'];

/** Follows links inside the page without loading it anew. */
export function followLinks(): void {
  window.addEventListener('popstate', () => route.follow());
  document.addEventListener('click', (event) => {
    if (event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = (event.target as Element | null)?.closest('a');
    if (!link || link.target || link.hasAttribute('download') || link.origin !== window.location.origin) return;
    const inside = link.pathname.startsWith(BASE) ? link.pathname.slice(BASE.length) : null;
    if (inside === null || ELSEWHERE.includes(inside.split('/')[0] ?? '')) return;
    event.preventDefault();
    route.go(link.pathname + link.search + link.hash);
  });
}
