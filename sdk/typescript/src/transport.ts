/**
 * One door to the server: URLs, keys, retries. What may safely be repeated is repeated; what may not, is not.
 */
import { randomUUID } from "node:crypto";

import { backoff, pauseFor } from "./duration.js";
import { Busy, Problem, Unreachable } from "./problem.js";
import type { Problem as Body } from "./wire.js";

export const DEFAULT_URL = "http://127.0.0.1:22433";
const FIRST_BACKOFF_MS = 100;
const LONGEST_BACKOFF_MS = 5_000;

export interface ClientOptions {
  /** Where the server is; `ABIDE_SERVER`, or this machine, if absent. */
  url?: string;
  /** An API key; `ABIDE_API_KEY` if absent. */
  apiKey?: string;
  /** How often a request that may be repeated is tried again; 4 if absent. */
  retries?: number;
  /** Called for each request; what it gives is sent as `traceparent`. */
  traceparent?: () => string | undefined;
}

export interface Request {
  method: string;
  path: string;
  query?: Record<string, unknown>;
  body?: unknown;
  /** Sent as `Idempotency-Key`; `true` makes one up. With it, a request may be repeated. */
  key?: string | true | undefined;
  /** Twice is the same as once, by what it is. */
  repeatable?: boolean;
  accept?: string;
  headers?: Record<string, string>;
  signal?: AbortSignal | undefined;
  /** Already written JSON. */
  text?: string;
}

export class Transport {
  readonly server: string;
  private readonly apiKey: string | undefined;
  private readonly retries: number;
  private readonly traceparent: () => string | undefined;

  constructor(private readonly options: ClientOptions = {}) {
    this.server = (options.url ?? process.env["ABIDE_SERVER"] ?? DEFAULT_URL).replace(/\/+$/, "");
    this.apiKey = options.apiKey ?? process.env["ABIDE_API_KEY"];
    this.retries = options.retries ?? 4;
    this.traceparent = options.traceparent ?? (() => undefined);
  }

  /** The same door, for requests that belong to a trace. */
  tracedBy(traceparent: () => string | undefined): Transport {
    return new Transport({ ...this.options, url: this.server, traceparent });
  }

  async json<T>(request: Request): Promise<T> {
    const response = await this.send(request);
    const text = await response.text();
    return (text === "" ? undefined : JSON.parse(text)) as T;
  }

  /** The answer, if it is a yes; a `Problem` otherwise. */
  async send(request: Request): Promise<Response> {
    const headers = this.headers(request);
    const body = request.text ?? (request.body === undefined ? undefined : JSON.stringify(request.body));
    const repeatable = request.method === "GET" || request.key !== undefined || request.repeatable === true;
    for (let attempt = 0; ; attempt += 1) {
      const error = await this.once(request, headers, body);
      if (error instanceof Response) return error;
      request.signal?.throwIfAborted();
      // Busy means that nothing was changed.
      const again = error instanceof Busy || (repeatable && isPassing(error));
      if (!again || attempt >= this.retries) throw error;
      const asked = error instanceof Problem ? (error.retryAfterMs ?? 0) : 0;
      await pauseFor(Math.max(asked, backoff(attempt, FIRST_BACKOFF_MS, LONGEST_BACKOFF_MS)), request.signal);
      request.signal?.throwIfAborted();
    }
  }

  private async once(
    request: Request,
    headers: Record<string, string>,
    body: string | undefined,
  ): Promise<Response | Problem | Unreachable> {
    try {
      const init: RequestInit = { method: request.method, headers };
      if (body !== undefined) init.body = body;
      if (request.signal) init.signal = request.signal;
      const response = await fetch(this.url(request), init);
      return response.ok ? response : await problemOf(response);
    } catch (error) {
      return new Unreachable(this.server, error);
    }
  }

  private url({ path, query }: Request): string {
    const base = path.startsWith("http") ? path : `${this.server}${path}`;
    const pairs = Object.entries(query ?? {}).filter(([, value]) => value !== undefined && value !== null);
    const text = new URLSearchParams(pairs.map(([name, value]) => [name, written(value)])).toString();
    return text === "" ? base : `${base}${base.includes("?") ? "&" : "?"}${text}`;
  }

  private headers(request: Request): Record<string, string> {
    const headers: Record<string, string> = { accept: request.accept ?? "application/json", ...request.headers };
    if (request.body !== undefined || request.text !== undefined) headers["content-type"] = "application/json";
    // A resume URL may be anybody's, and needs no key.
    if (this.apiKey && request.path.startsWith("/")) headers["authorization"] = `Bearer ${this.apiKey}`;
    if (request.key !== undefined) {
      headers["idempotency-key"] = request.key === true ? randomUUID() : request.key;
    }
    const traceparent = this.traceparent();
    if (traceparent) headers["traceparent"] = traceparent;
    return headers;
  }
}

function written(value: unknown): string {
  return value instanceof Date ? value.toISOString() : String(value);
}

/** Whether it may be better in a while, even though it is not known whether anything was done. */
function isPassing(error: Problem | Unreachable): boolean {
  return error instanceof Unreachable || error.status === 502 || error.status === 504;
}

async function problemOf(response: Response): Promise<Problem> {
  const seconds = Number(response.headers.get("retry-after") ?? Number.NaN);
  const retryAfterMs = Number.isFinite(seconds) ? seconds * 1_000 : undefined;
  const text = await response.text();
  try {
    const body = JSON.parse(text) as Body | null;
    if (typeof body?.code === "string") return Problem.of(body, retryAfterMs);
  } catch {
    // Not one of ours: something between us and the server said it.
  }
  const { status, statusText: title } = response;
  const detail = text.slice(0, 500) || title;
  return Problem.of({ type: "about:blank", title, status, code: `HTTP_${status}`, detail }, retryAfterMs);
}
