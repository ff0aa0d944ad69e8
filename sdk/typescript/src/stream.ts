/** Server-sent events, as an iterator that comes back where it stopped. */
import { backoff, pauseFor } from "./duration.js";
import { Busy, Unreachable } from "./problem.js";
import type { Request, Transport } from "./transport.js";

export interface ServerEvent {
  id: string | undefined;
  event: string;
  data: string;
}

const FIRST_BACKOFF_MS = 50;
const LONGEST_BACKOFF_MS = 5_000;
/** How often in a row a stream is opened in vain. */
const TRIES = 20;

/**
 * Follows a stream for as long as the server has something to say. A connection that breaks is opened again, with
 * the id of the last event, so that nothing is missed and nothing comes twice.
 */
export async function* follow(
  transport: Transport,
  request: Request,
  isLast: (event: ServerEvent) => boolean,
  lastId?: string,
): AsyncGenerator<ServerEvent, void, undefined> {
  for (let failures = 0; ; failures += 1) {
    if (failures > 0) await pauseFor(backoff(failures, FIRST_BACKOFF_MS, LONGEST_BACKOFF_MS), request.signal);
    try {
      const headers: Record<string, string> = lastId === undefined ? {} : { "last-event-id": lastId };
      const response = await transport.send({ ...request, accept: "text/event-stream", headers });
      if (response.status === 204 || response.body === null) return;
      for await (const event of events(response.body)) {
        failures = 0;
        if (event.id !== undefined) lastId = event.id;
        yield event;
        if (isLast(event)) return;
      }
    } catch (error) {
      request.signal?.throwIfAborted();
      const passing = error instanceof Unreachable || error instanceof Busy || error instanceof TypeError;
      if (!passing || failures >= TRIES) throw error;
    }
  }
}

/** The events of one connection. */
export async function* events(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent, void, undefined> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const bytes of body) {
    rest += decoder.decode(bytes, { stream: true });
    for (let end = rest.indexOf("\n\n"); end >= 0; end = rest.indexOf("\n\n")) {
      const event = parse(rest.slice(0, end));
      rest = rest.slice(end + 2);
      if (event) yield event;
    }
  }
}

function parse(block: string): ServerEvent | undefined {
  const event: ServerEvent = { id: undefined, event: "message", data: "" };
  const data: string[] = [];
  for (const line of block.split("\n")) {
    const colon = line.indexOf(":");
    if (colon <= 0) continue;
    const value = line.slice(colon + 1).replace(/^ /, "");
    const name = line.slice(0, colon);
    if (name === "data") data.push(value);
    else if (name === "id") event.id = value;
    else if (name === "event") event.event = value;
  }
  event.data = data.join("\n");
  return data.length > 0 ? event : undefined;
}
