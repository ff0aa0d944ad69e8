/**
 * Whether new code fits what runs have recorded, before it is deployed: handlers are run against exported journals, without a
 * server. Nothing is executed: a handler that comes to something new has got past its journal, and is left there.
 */
import { readFileSync } from "node:fs";

import { Client } from "./client.js";
import { Execution } from "./execution.js";
import { CodeChanged } from "./failure.js";
import { type Handlers, type Handling, byName, handle } from "./handling.js";
import type { JournalEntry, Json, ReportDone, Task } from "./wire.js";

/** A line of `abide journals export`: where a handler of a run stands. */
export interface ExportedJournal {
  runId: string;
  workflow: string;
  version: string;
  step: string;
  handler: string;
  attempt: number;
  input: Json;
  state: Json;
  config: Json;
  checkpoint: Json;
  journal: JournalEntry[];
}

export interface ReplayVerdict {
  runId: string;
  step: string;
  handler: string;
  /** `mismatch`: the run would wait for other code. `failed`: the handler would fail, or comes to no end. */
  verdict: "fits" | "mismatch" | "failed" | "noHandler";
  /** Of a mismatch: what the journal holds. */
  recorded?: string;
  /** Of a mismatch: what the code came to instead. */
  cameTo?: string;
  /** What it is, in words. */
  message?: string;
}

export interface ReplayOptions {
  /** How long a journal may hold something the code has not come to; 2,000 if absent, as with a worker. */
  graceMs?: number;
  /** How long a handler may take to get through its journal; 30,000 if absent. */
  timeoutMs?: number;
}

/** The exported file, by its path, or its lines. */
export type Journals = string | URL | readonly ExportedJournal[];

/** Journals that are looked at together. */
const AT_ONCE = 100;

/** What would become of each journal with these handlers. */
export async function replayCheck(handlers: Handlers, journals: Journals, options: ReplayOptions = {}): Promise<ReplayVerdict[]> {
  const client = new Client({ url: "http://replay.invalid", apiKey: "", retries: 0 });
  const handling: Handling = { handlers: byName(handlers), middleware: [], client };
  const lines = typeof journals === "string" || journals instanceof URL ? read(journals) : [...journals];
  const verdicts = new Array<ReplayVerdict>(lines.length);
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let at = next++; at < lines.length; at = next++) verdicts[at] = await verdictOn(lines[at] as ExportedJournal, handling, options);
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, lines.length) }, lane));
  return verdicts;
}

/** The same, as an assertion: throws with a list of the journals that do not fit. */
export async function assertReplays(handlers: Handlers, journals: Journals, options: ReplayOptions = {}): Promise<void> {
  const verdicts = await replayCheck(handlers, journals, options);
  const bad = verdicts.filter(({ verdict }) => verdict !== "fits");
  if (bad.length === 0) return;
  const lines = bad.map(({ runId, step, handler, verdict, message }) => `  ${runId} ${step} (${handler}): ${verdict}: ${message}`);
  throw new Error(`${bad.length} of ${verdicts.length} journals do not fit the code:\n${lines.join("\n")}`);
}

function read(path: string | URL): ExportedJournal[] {
  const lines = readFileSync(path, "utf8").split("\n");
  return lines.flatMap((line, index) => {
    if (line.trim() === "") return [];
    try {
      return [JSON.parse(line) as ExportedJournal];
    } catch (error) {
      throw new Error(`line ${index + 1} of ${path} is not JSON: ${(error as Error).message}`);
    }
  });
}

async function verdictOn(line: ExportedJournal, handling: Handling, options: ReplayOptions): Promise<ReplayVerdict> {
  const { runId, step, handler } = line;
  const about = { runId, step, handler };
  if (!handling.handlers.has(handler)) return { ...about, verdict: "noHandler", message: `there is no handler \`${handler}\`` };
  const timeoutMs = options.timeoutMs ?? 30_000;
  const told = { send: (): Promise<ReportDone> => Promise.resolve({ ok: true }) };
  const execution = new Execution(taskOf(line), told, options.graceMs ?? 2_000);
  const beyond = new Promise<"beyond">((go) => (execution.onNew = () => go("beyond")));
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<"late">((go) => (timer = setTimeout(() => go("late"), timeoutMs)));
  const report = await Promise.race([handle(execution, handling), beyond, late]);
  clearTimeout(timer);
  if (report === "late") return { ...about, verdict: "failed", message: `the handler came to no end in ${timeoutMs} ms` };
  if (report === "beyond" || report?.type !== "fail") return { ...about, verdict: "fits" };
  const error = execution.failedWith;
  if (!(error instanceof CodeChanged)) return { ...about, verdict: "failed", message: report.message };
  return { ...about, verdict: "mismatch", recorded: error.recorded, cameTo: error.found, message: error.message };
}

/** The task as it would be handed out. */
function taskOf({ runId, step, handler, attempt, input, state, config, checkpoint, journal }: ExportedJournal): Task {
  return {
    id: `${runId}/${step}`,
    runId,
    stepName: step,
    handler,
    attempt,
    input,
    state,
    config,
    checkpoint,
    journal,
    executionType: journal.length > 0 ? "RESUME" : "BEGIN",
    leaseToken: "replay",
    leasedUntil: "9999-12-31T00:00:00Z",
    deadline: null,
    heartbeatMs: null,
    resumePayload: null,
    resumedBy: null,
    traceparent: null,
  };
}
