/**
 * What a durable wait asks for, in words. It is stored with the wait, and a recorded wait answers only code that asks the
 * same: an ended sleep is never read as an approval, nor one event as another. How long a wait may take is no part of it:
 * a sleep that was made longer, or computed from the clock, is still that sleep.
 */
import { createHash } from "node:crypto";

import type { WaitSpec } from "./wait.js";
import type { Json, JournalWait } from "./wire.js";

/** The server takes 200 characters. */
const CHARS = 200;

const KINDS: Record<string, JournalWait["kind"]> = {
  sleep: "DELAY",
  until: "DELAY",
  event: "EVENT",
  signal: "SIGNAL",
  webhook: "WEBHOOK",
  approval: "APPROVAL",
  child: "CHILD",
  http: "CHILD",
  pause: "PAUSE",
  retry: "RETRY",
  capacity: "CAPACITY",
};

const IN_WORDS: Partial<Record<JournalWait["kind"], string>> = {
  DELAY: "a sleep",
  EVENT: "an event",
  SIGNAL: "a signal",
  WEBHOOK: "a call",
  APPROVAL: "an approval",
  CHILD: "a run",
  PAUSE: "a pause",
  RETRY: "a back-off",
  CAPACITY: "room",
};

export function askedOf(spec: WaitSpec): string {
  const words = inWords(spec);
  return words.length <= CHARS ? words : `${words.slice(0, CHARS - 20)}… ${digest(words)}`;
}

function inWords(spec: WaitSpec): string {
  switch (spec.type) {
    case "event": {
      const fields = spec.where === undefined ? undefined : sorted(spec.where as Json);
      const where = [spec.match, fields].filter((part) => part !== undefined).join(" and ");
      return `event ${spec.eventId}${where === "" ? "" : ` where ${where}`}`;
    }
    case "child": {
      const version = spec.version === undefined ? "" : ` ${spec.version}`;
      return `${spec.detached ? "start" : "run"} of ${spec.workflow}${version} with ${digest(sorted((spec.input ?? null) as Json))}`;
    }
    case "http": {
      // A key may stand in a query, or before the host: what is shown has neither.
      const url = String(spec.url).replace(/[?#].*$/, "").replace(/\/\/[^/@]*@/, "//");
      const whole = { url: spec.url, body: spec.body ?? null } as Json;
      return `call of ${spec.method ?? "GET"} ${url} with ${digest(sorted(whole))}`;
    }
    case "capacity": {
      const { name, key } = spec.limit as { name: string; key?: string };
      return `room under ${name}${key === undefined ? "" : ` ${key}`}`;
    }
    case "signal":
      return `signal ${spec.signalType}`;
    case "approval": {
      const by = (spec.approvers as string[] | undefined)?.length ? ` by ${(spec.approvers as string[]).join(", ")}` : "";
      const quorum = Number(spec.quorum ?? 1) > 1 ? ` with ${spec.quorum} votes` : "";
      return `approval of ${digest(sorted((spec.content ?? null) as Json))}${by}${quorum}`;
    }
    default:
      return IN_WORDS[KINDS[spec.type] ?? "DELAY"] ?? spec.type;
  }
}

/** What was recorded and what the code asks for, in words, where one is no answer to the other. */
export function mismatch(name: string, recorded: JournalWait, spec: WaitSpec): [string, string] | undefined {
  const asked = askedOf(spec);
  const same = recorded.asked == null ? recorded.kind === KINDS[spec.type] : recorded.asked === asked;
  if (same) return undefined;
  return [`\`${name}\` as ${recorded.asked ?? IN_WORDS[recorded.kind] ?? recorded.kind}`, `\`${name}\` as ${asked}`];
}

const digest = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 16);

/** JSON whose text does not depend on the order in which keys were written. */
function sorted(value: Json): string {
  const inOrder = (_: string, part: unknown): unknown =>
    part !== null && typeof part === "object" && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([one], [other]) => (one < other ? -1 : 1)))
      : part;
  return JSON.stringify(value, inOrder) ?? "null";
}
