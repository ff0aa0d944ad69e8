/**
 * Durable handlers behind a URL, where no worker can poll: functions as a service, web frameworks. The server posts each task
 * (`--handler-url NAME=URL`), and the handler does what it can before the request is answered.
 *
 * ```text
 *   task, signed ──▶ the handler, with its journal ──▶ entries are reported as they are made
 *                                                  ──▶ suspended: reported, then 202   ended: the answer says how
 * ```
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import type { ReadableStream as NodeStream } from "node:stream/web";

import { Client } from "./client.js";
import { failureOf } from "./described.js";
import { type Duration, milliseconds } from "./duration.js";
import { Execution } from "./execution.js";
import { type Handlers, type Handling, byName, handle } from "./handling.js";
import type { Middleware } from "./middleware.js";
import { Problem } from "./problem.js";
import { Reports } from "./reports.js";
import { keysOf, refusal } from "./signature.js";
import type { ClientOptions } from "./transport.js";
import type { Task, TaskReport } from "./wire.js";

export interface ServeOptions {
  handlers: Handlers;
  /**
   * What tasks are signed with: `whsec_…`, several with spaces between them, or a list: the keys of the workspaces whose tasks are
   * taken. `ABIDE_SIGNING_KEY` if absent.
   */
  signingKey?: string | readonly string[];
  /** Take tasks from anyone. Only where nobody else can reach the URL. */
  unsigned?: boolean;
  /** Where what is recorded is reported to: `ABIDE_SERVER`, or where the signed task came from, with `ABIDE_API_KEY`, if absent. */
  client?: Client | ClientOptions;
  middleware?: readonly Middleware[];
  /** The largest body that is read; 16 MiB if absent. */
  maxBytes?: number;
  /** How far the time of a signature may be off; five minutes if absent. */
  tolerance?: Duration;
  /** How long a journal may hold something the code has not come to, before the code counts as changed; 2,000 if absent. */
  graceMs?: number;
  /** What is said about failures; `console.warn` if absent. */
  log?: (message: string) => void;
}

/** A task as it is posted. */
type PostedTask = Task & { reportUrl?: string; workspace?: string };

const MOST_BYTES = 16 * 1024 * 1024;
const TOLERANCE = "5m";
const GRACE_MS = 2_000;
/** How long a server that does not answer is tried. */
const PATIENCE_MS = 10_000;
/** Where the address of a task begins, behind the server's. */
const TASKS = "/api/v1/tasks/";
/** How often it is asked whether the task is still wanted. */
const HEARTBEAT_MS = 5_000;
/** Of a task that is not ours any more: long enough to be refused, too short to hold anything up. */
const LOST_LEASE_MS = 1_000;

/** The handlers as one function from a request to its answer, as `fetch` has them. */
export function serve(options: ServeOptions): (request: Request) => Promise<Response> {
  const handlers = byName(options.handlers);
  const given = options.signingKey ?? process.env["ABIDE_SIGNING_KEY"];
  if (given === undefined && options.unsigned !== true) {
    throw new Error("tasks are signed: give `signingKey`, set ABIDE_SIGNING_KEY, or say `unsigned: true` where nobody else can reach this URL");
  }
  const keys = given === undefined ? undefined : keysOf(given);
  const toleranceMs = milliseconds(options.tolerance ?? TOLERANCE);
  const clientOf = clients(options.client, keys !== undefined);
  const log = options.log ?? ((message) => console.warn(`abide: ${message}`));

  return async (request) => {
    if (request.method !== "POST") return refused(405, "tasks are posted", { allow: "POST" });
    const body = await bounded(request.body, options.maxBytes ?? MOST_BYTES);
    if (body === undefined) return refused(413, "the task is larger than this handler takes");
    const why = keys && refusal(request.headers, body, keys, toleranceMs);
    if (why !== undefined) return refused(401, `the request is not the server's: ${why}`);
    const task = parsed(body);
    if (typeof task === "string") return refused(400, task);
    const client = clientOf(task);
    if (!client) return refused(500, "it is not known where to report to: set ABIDE_SERVER");
    const handling = { handlers, middleware: options.middleware ?? [], client };
    return perform(task, handling, { graceMs: options.graceMs ?? GRACE_MS, signal: request.signal, log });
  };
}

interface Terms {
  graceMs: number;
  signal: AbortSignal;
  log: (message: string) => void;
}

async function perform(task: PostedTask, handling: Handling, { graceMs, signal, log }: Terms): Promise<Response> {
  if (!handling.handlers.has(task.handler)) {
    const message = `there is no handler \`${task.handler}\` behind this URL`;
    return Response.json({ fail: { message, code: "UNKNOWN_HANDLER", retryable: true } });
  }
  const reports = new Reports(handling.client.transport, PATIENCE_MS);
  const execution = new Execution(task, reports, graceMs);
  const gone = () => execution.cancel("CALLER_GONE");
  signal.addEventListener("abort", gone);
  const { leaseToken } = task;
  const beat = setInterval(() => {
    reports.send({ type: "heartbeat", leaseToken }).then(
      (done) => execution.heed(done),
      () => {},
    );
  }, HEARTBEAT_MS);
  try {
    const report = await handle(execution, handling);
    if (report?.type === "fail") log(failureOf(task, execution.failedWith));
    return report ? await answered(report, reports) : Response.json({ leaseMs: LOST_LEASE_MS }, { status: 202 });
  } catch (error) {
    log(`task ${task.id} could not be reported: ${String(error)}`);
    return refused(503, "what was done could not be reported");
  } finally {
    clearInterval(beat);
    signal.removeEventListener("abort", gone);
  }
}

/** What an answer can say is said by it. The rest is reported, and then there is nothing left to say. */
async function answered(report: TaskReport, reports: Reports): Promise<Response> {
  switch (report.type) {
    case "complete": {
      const { output = null, stateUpdates } = report;
      return Response.json({ output, ...(stateUpdates ? { stateUpdates } : {}) });
    }
    case "pause": {
      const { type: _, leaseToken: __, ...pause } = report;
      return Response.json({ pause });
    }
    case "fail": {
      if (report.mismatch) return reported(report, reports);
      const { message, code, retryable, detail } = report;
      const retryAfterMs = report.retryAfterMs ?? (report.retryAfter == null ? undefined : milliseconds(report.retryAfter));
      return Response.json({ fail: { message, code, retryable, retryAfterMs, detail } });
    }
    case "suspend":
    case "heartbeat":
    case "log":
    case "release":
      return reported(report, reports);
  }
}

async function reported(report: TaskReport, reports: Reports): Promise<Response> {
  const { ok, problem } = await reports.send(report);
  if (ok || !problem) return new Response(null, { status: 202 });
  const refusal = Problem.of(problem);
  const changed = problem.code === "JOURNAL_CONFLICT" || problem.code === "JOURNAL_MISMATCH";
  // Somebody else has the task by now.
  if (!changed && [401, 404, 409].includes(refusal.status)) return Response.json({ leaseMs: LOST_LEASE_MS }, { status: 202 });
  const message = `the report was refused: ${refusal.message}`;
  return Response.json({ fail: { message, code: problem.code, retryable: false } });
}

/** Whom a task is reported to. Only a task that is signed is believed where it came from: a key of ours goes there. */
function clients(given: Client | ClientOptions | undefined, isSigned: boolean): (task: PostedTask) => Client | undefined {
  if (given instanceof Client) return () => given;
  if (given?.url !== undefined || process.env["ABIDE_SERVER"] !== undefined) {
    const client = new Client(given);
    return () => client;
  }
  const known = new Map<string, Client>();
  return ({ reportUrl }) => {
    const end = reportUrl?.lastIndexOf(TASKS) ?? -1;
    if (!isSigned || reportUrl === undefined || end <= 0) return undefined;
    const url = reportUrl.slice(0, end);
    if (!known.has(url)) known.set(url, new Client({ ...given, url }));
    return known.get(url);
  };
}

function parsed(body: Uint8Array): PostedTask | string {
  try {
    const task = JSON.parse(new TextDecoder().decode(body)) as Partial<PostedTask> | null;
    const isTask = typeof task?.id === "string" && typeof task.handler === "string" && Array.isArray(task.journal);
    if (!isTask) return "the body is not a task";
    return typeof task.leaseToken === "string" ? (task as PostedTask) : "the task has no lease token: nothing can be reported";
  } catch {
    return "the body is not JSON";
  }
}

/** The whole of a body, if it is not too large. */
async function bounded(stream: ReadableStream<Uint8Array> | null, most: number): Promise<Uint8Array | undefined> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of stream ?? []) {
    bytes += part.byteLength;
    if (bytes > most) return undefined;
    parts.push(part);
  }
  return Buffer.concat(parts);
}

const refused = (status: number, detail: string, headers: Record<string, string> = {}): Response =>
  Response.json({ status, detail }, { status, headers: { ...headers, "content-type": "application/problem+json" } });

/** The same for `createServer` of Node's `http`, and whatever has its requests. */
export function toNode(
  answer: (request: Request) => Promise<Response>,
): (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void> {
  return async (incoming, outgoing) => {
    const gone = new AbortController();
    outgoing.on("close", () => {
      if (!outgoing.writableFinished) gone.abort();
    });
    try {
      const response = await answer(requestOf(incoming, gone.signal));
      outgoing.writeHead(response.status, Object.fromEntries(response.headers));
      outgoing.end(Buffer.from(await response.arrayBuffer()));
    } catch (error) {
      if (!outgoing.headersSent) outgoing.writeHead(500);
      outgoing.end();
      console.error(error);
    }
  };
}

function requestOf(incoming: IncomingMessage, signal: AbortSignal): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(incoming.headers)) {
    for (const one of [value ?? []].flat()) headers.append(name, one);
  }
  const method = incoming.method ?? "GET";
  const url = new URL(incoming.url ?? "/", "http://handler.invalid");
  if (method === "GET" || method === "HEAD") return new Request(url, { method, headers, signal });
  const body = Readable.toWeb(incoming) as NodeStream<Uint8Array> as ReadableStream<Uint8Array<ArrayBuffer>>;
  return new Request(url, { method, headers, signal, body, duplex: "half" } as RequestInit);
}
