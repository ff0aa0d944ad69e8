/** The one way to the server: JSON in, JSON out, and a `Refused` that says what was wrong in the server's words. */
import { clock } from '../clock.svelte';
import type { Finding, Problem } from './types';

/** Where the server is, for those who come through its public URL. Ends in a slash. */
export const BASE = new URL(document.baseURI).pathname.replace(/[^/]*$/, '');
export const API = `${BASE}api/v1`;

export type Query = Record<string, string | number | boolean | null | undefined>;

/** The server, or the way to it, said no. */
export class Refused extends Error {
  readonly status: number;
  readonly code: string;
  readonly problems: Finding[];
  readonly problem: Problem | null;

  constructor(status: number, code: string, detail: string, problem: Problem | null = null) {
    super(detail);
    this.status = status;
    this.code = code;
    this.problem = problem;
    this.problems = problem?.problems ?? [];
  }
}

type Listener = (refused: Refused) => void;
const unauthenticated = new Set<Listener>();

/** Calls back when the server asks who one is. */
export function onUnauthenticated(listener: Listener): void {
  unauthenticated.add(listener);
}

export function url(path: string, query: Query = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== null && value !== undefined && value !== '') search.set(name, String(value));
  }
  const text = search.toString();
  return `${API}${path}${text ? `?${text}` : ''}`;
}

export interface Options {
  query?: Query;
  body?: unknown;
  signal?: AbortSignal;
}

export async function call<T>(method: string, path: string, options: Options = {}): Promise<T> {
  const headers: Record<string, string> = { accept: 'application/json' };
  if (options.body !== undefined) headers['content-type'] = 'application/json';
  // A click that is sent twice because the first answer was lost counts once.
  const attempts = method === 'GET' ? 1 : 2;
  if (method === 'POST' || method === 'PATCH') headers['idempotency-key'] = crypto.randomUUID?.() ?? fallbackKey();
  const request: RequestInit = {
    method,
    headers,
    body: options.body === undefined ? null : JSON.stringify(options.body),
    signal: options.signal ?? null,
  };
  let response: Response | null = null;
  for (let attempt = 1; response === null; attempt += 1) {
    try {
      response = await fetch(url(path, options.query), request);
    } catch (error) {
      if (error instanceof DOMException && error.name === 'AbortError') throw error;
      const idempotent = 'idempotency-key' in headers;
      if (attempt >= attempts || !idempotent) throw new Refused(0, 'UNREACHABLE', 'The server does not answer.');
    }
  }
  const time = response.headers.get('abide-time');
  if (time) clock.correct(time);
  if (response.ok) return (response.status === 204 ? null : await response.json()) as T;
  const refused = await refusal(response);
  if (refused.status === 401) unauthenticated.forEach((listener) => listener(refused));
  throw refused;
}

/** Pages that are not from loopback or over TLS have no `randomUUID`. */
function fallbackKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

async function refusal(response: Response): Promise<Refused> {
  try {
    const problem = (await response.json()) as Problem;
    return new Refused(response.status, problem.code, problem.detail, problem);
  } catch {
    return new Refused(response.status, `HTTP_${response.status}`, response.statusText || 'The server said no.');
  }
}

export const get = <T>(path: string, query?: Query, signal?: AbortSignal): Promise<T> =>
  call<T>('GET', path, { ...(query ? { query } : {}), ...(signal ? { signal } : {}) });
export const post = <T>(path: string, body?: unknown): Promise<T> => call<T>('POST', path, { body });
export const patch = <T>(path: string, body: unknown): Promise<T> => call<T>('PATCH', path, { body });
export const remove = <T>(path: string): Promise<T> => call<T>('DELETE', path);

/** An error in one sentence. */
export function sentence(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
