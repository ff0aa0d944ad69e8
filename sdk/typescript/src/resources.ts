/** The resources of the HTTP API: a method for every operation. */
import { type Duration, field, instant } from "./duration.js";
import { Pages } from "./pages.js";
import { follow } from "./stream.js";
import type { Request, Transport } from "./transport.js";
import type { AnyWorkflow } from "./workflow.js";
import type * as wire from "./wire.js";

const API = "/api/v1";
const LAST_RECORDS = new Set(["WORKFLOW_COMPLETED", "WORKFLOW_FAILED", "WORKFLOW_CANCELLED"]);
export const ENDED = new Set(["COMPLETED", "FAILED", "CANCELLED"]);

/** The same key and the same request are the same request, however often it is sent. */
export interface Keyed {
  idempotencyKey?: string;
}

export interface Paged {
  cursor?: string;
  limit?: number;
}

/** Runs with one of these states, and so on. */
export type RunQuery = Omit<wire.RunFilter, "status"> & Paged & { status?: wire.Run["status"] | wire.Run["status"][] };
export type WaitpointQuery = wire.WaitpointFilter & Paged;
export type LimitQuery = Paged & { name?: string; workflow?: string; key?: string; pressure?: boolean };
export type DeliveryQuery = Paged & { status?: wire.Delivery["status"] };

export const at = (path: TemplateStringsArray, ...ids: string[]): string =>
  API + String.raw({ raw: path }, ...ids.map(encodeURIComponent));

/** A request that carries a key, so that it may be repeated. */
export const keyed = (method: string, path: string, body?: unknown, { idempotencyKey }: Keyed = {}): Request => ({
  method,
  path,
  key: idempotencyKey ?? true,
  ...(body === undefined ? {} : { body }),
});

const isBuilder = (definition: object): definition is AnyWorkflow => typeof (definition as AnyWorkflow).build === "function";

class Resource {
  constructor(protected readonly transport: Transport) {}

  protected get<T>(path: string, query?: Record<string, unknown>): Promise<T> {
    return this.transport.json<T>({ method: "GET", path, ...(query ? { query } : {}) });
  }

  protected post<T>(path: string, body?: unknown, more: Partial<Request> = {}): Promise<T> {
    return this.transport.json<T>({ method: "POST", path, ...(body === undefined ? {} : { body }), ...more });
  }
}

export class Definitions extends Resource {
  /** Stores a workflow. The very same again is fine; another one of the same name and version is refused. */
  deploy(definition: wire.Workflow | AnyWorkflow): Promise<wire.DeployedDefinition> {
    const body = isBuilder(definition) ? definition.build() : definition;
    return this.post(at`/workflow-definitions`, body, { repeatable: true });
  }

  /** Everything that is wrong with a document, without storing it. */
  check(document: unknown): Promise<wire.CheckedDefinition> {
    return this.post(at`/workflow-definitions/check`, document, { repeatable: true });
  }

  /** Which of the runs that wait would fit a new version, and which it would strand; a page of them. Stores nothing. */
  checkRuns(document: unknown, query: { from?: string; cursor?: string; limit?: number } = {}): Promise<wire.CheckedRuns> {
    return this.post(at`/workflow-definitions/check-runs`, document, { query, repeatable: true });
  }

  list(query: Paged & { name?: string } = {}): Pages<wire.DefinitionSummary> {
    return new Pages(this.transport, at`/workflow-definitions`, query);
  }

  /** By id, or by name: its newest version, unless one is given. */
  find(idOrName: string, query: { version?: string } = {}): Promise<wire.Definition> {
    return this.get(at`/workflow-definitions/${idOrName}`, query);
  }
}

export class Runs extends Resource {
  start(run: wire.StartRun, options: Keyed = {}): Promise<wire.StartedRun> {
    return this.transport.json(keyed("POST", at`/workflow-runs`, run, options));
  }

  /**
   * Starts many runs with one request: up to 5,000, of together 8 MiB. Each has its own answer, in the same order; one that is
   * refused hinders no other. When this returns, the runs are on disk.
   */
  startMany(runs: wire.StartRun[], options: Keyed = {}): Promise<wire.StartedRuns> {
    return this.transport.json(keyed("POST", at`/workflow-runs/batch`, { runs }, options));
  }

  list(query: RunQuery = {}): Pages<wire.RunSummary> {
    const { status, ...rest } = query;
    return new Pages(this.transport, at`/workflow-runs`, { ...rest, status: status && [status].flat().join(",") });
  }

  find(id: string): Promise<wire.Run> {
    return this.get(at`/workflow-runs/${id}`);
  }

  /** Returns when the run has ended, however it did. */
  async wait(id: string, signal?: AbortSignal): Promise<wire.Run> {
    let run = await this.find(id);
    while (!ENDED.has(run.status)) {
      for await (const _ of this.follow(id, { after: run.version, signal }));
      run = await this.find(id);
    }
    return run;
  }

  /** What has happened to a run so far. */
  history(id: string, query: Paged & { after?: number } = {}): Pages<wire.HistoryRecord> {
    return new Pages(this.transport, at`/workflow-runs/${id}/events`, query);
  }

  /** What has happened, then what happens, until the run has ended. Survives broken connections. */
  async *follow(
    id: string,
    { after = 0, signal }: { after?: number; signal?: AbortSignal | undefined } = {},
  ): AsyncGenerator<wire.HistoryRecord, void, undefined> {
    const request = { method: "GET", path: at`/workflow-runs/${id}/events`, signal };
    const isLast = ({ event }: { event: string }) => LAST_RECORDS.has(event);
    for await (const { data } of follow(this.transport, request, isLast, String(after))) yield JSON.parse(data);
  }

  signal(id: string, signalType: string, payload?: unknown, options: Keyed = {}): Promise<wire.Signalled> {
    const body = { signalType, ...(payload === undefined ? {} : { payload }) };
    return this.transport.json(keyed("POST", at`/workflow-runs/${id}/resume`, body, options));
  }

  cancel(id: string, options: Keyed & { reason?: string } = {}): Promise<wire.CommandedRun> {
    const body = options.reason === undefined ? {} : { reason: options.reason };
    return this.transport.json(keyed("POST", at`/workflow-runs/${id}/cancel`, body, options));
  }

  pause(id: string, options: Keyed = {}): Promise<wire.CommandedRun> {
    return this.transport.json(keyed("POST", at`/workflow-runs/${id}/pause`, undefined, options));
  }

  unpause(id: string, options: Keyed = {}): Promise<wire.CommandedRun> {
    return this.transport.json(keyed("POST", at`/workflow-runs/${id}/unpause`, undefined, options));
  }

  /** Takes a failed run up again where it failed. */
  retry(id: string, options: Keyed = {}): Promise<wire.CommandedRun> {
    return this.transport.json(keyed("POST", at`/workflow-runs/${id}/retry`, undefined, options));
  }

  /** Only workers of this build are given the run's pinned tasks from now on, or those of one handler. */
  pin(id: string, build: string, options: Keyed & { handler?: string } = {}): Promise<wire.CommandedRun> {
    const body = options.handler === undefined ? { build } : { build, handler: options.handler };
    return this.transport.json(keyed("POST", at`/workflow-runs/${id}/pin`, body, options));
  }

  /** Workers of any build may have the run's pinned tasks, or those of one handler. They are not pinned again. */
  unpin(id: string, options: Keyed & { handler?: string } = {}): Promise<wire.CommandedRun> {
    const body = options.handler === undefined ? {} : { handler: options.handler };
    return this.transport.json(keyed("POST", at`/workflow-runs/${id}/unpin`, body, options));
  }

  /**
   * Takes a run that waits over to another version of its workflow, where its past fits. With `dryRun` nothing is changed.
   * One that does not fit is refused with `RUN_DOES_NOT_FIT`, and every reason.
   */
  move(id: string, version: string, options: { dryRun?: boolean } = {}): Promise<wire.MovedRun> {
    return this.post(at`/workflow-runs/${id}/move`, { version, ...options }, { repeatable: true });
  }

  /** What its calls to models cost. */
  cost(id: string): Promise<wire.RunCost> {
    return this.get(at`/workflow-runs/${id}/cost`);
  }

  /** One thing done to every run that a filter finds. */
  bulk(command: wire.BulkCommand): Promise<wire.BulkDone> {
    return this.post(at`/workflow-runs/bulk`, command);
  }
}

export class Waitpoints extends Resource {
  list(query: WaitpointQuery = {}): Pages<wire.Waitpoint> {
    return new Pages(this.transport, at`/waitpoints`, query);
  }

  /** As a worker: the same name gives the same waitpoint. */
  create(waitpoint: wire.CreateWaitpoint): Promise<wire.Waitpoint> {
    return this.post(at`/waitpoints`, waitpoint, { repeatable: true });
  }

  find(id: string): Promise<wire.Waitpoint> {
    return this.get(at`/waitpoints/${id}`);
  }

  reschedule(id: string, resumeAt: Date | string, options: Keyed = {}): Promise<wire.Waitpoint> {
    return this.transport.json(keyed("PATCH", at`/waitpoints/${id}`, { resumeAt: instant(resumeAt) }, options));
  }

  /** Ends a wait as if what it waits for had come. */
  complete(id: string, payload?: unknown, options: Keyed = {}): Promise<wire.Waitpoint> {
    const body = payload === undefined ? {} : { payload };
    return this.transport.json(keyed("POST", at`/waitpoints/${id}/complete`, body, options));
  }

  /** Completes the step of a wait for other code (CODE) with this output, without its handler. */
  skip(id: string, output: wire.Json = null, options: Keyed & { reason?: string } = {}): Promise<wire.Waitpoint> {
    const body = options.reason === undefined ? { output } : { output, reason: options.reason };
    return this.transport.json(keyed("POST", at`/waitpoints/${id}/skip`, body, options));
  }

  /** Ends a wait as if its time were over. */
  timeOut(id: string, options: Keyed = {}): Promise<wire.Waitpoint> {
    return this.transport.json(keyed("POST", at`/waitpoints/${id}/timeout`, undefined, options));
  }

  cancel(id: string, options: Keyed = {}): Promise<wire.Waitpoint> {
    return this.transport.json(keyed("POST", at`/waitpoints/${id}/cancel`, undefined, options));
  }

  /** A resume URL for one person: what is done with it is recorded under that name. */
  makeLink(id: string, recipient?: string): Promise<wire.Link> {
    return this.post(at`/waitpoints/${id}/link`, recipient === undefined ? {} : { recipient });
  }

  /** Makes every resume URL of the waitpoint void. */
  revokeLinks(id: string): Promise<wire.Waitpoint> {
    return this.transport.json({ method: "DELETE", path: at`/waitpoints/${id}/link` });
  }

  /** One thing done to every pending wait that a filter finds. */
  bulk(steering: wire.BulkSteering): Promise<wire.BulkSteered> {
    return this.post(at`/waitpoints/bulk`, steering);
  }

  /** As whoever has the resume URL: ends the wait with this body. */
  resume(resumeUrl: string, body: unknown = {}, options: Keyed = {}): Promise<wire.Resumed> {
    return this.transport.json(keyed("POST", resumeUrl, body, options));
  }

  /** Resumes a step by its name, even before it has begun. */
  resumeStep(runId: string, step: string, body: unknown = {}, options: Keyed = {}): Promise<wire.Resumed> {
    return this.transport.json(keyed("POST", at`/workflow-runs/${runId}/waitpoints/${step}`, body, options));
  }

  /** The same, answered with what the run says next. */
  resumeStepSync(runId: string, step: string, body: unknown = {}, options: Keyed = {}): Promise<wire.Json> {
    return this.transport.json(keyed("POST", at`/workflow-runs/${runId}/waitpoints/${step}/sync`, body, options));
  }
}

export interface SendOptions extends Keyed {
  /** Only to this run. */
  runId?: string;
  /** To everyone who waits (`all`), or only to the one who has waited longest. */
  delivery?: "all" | "one";
  /** Only say whom it would wake. */
  dryRun?: boolean;
  /** Of the task whose handler sends it: a key with the scope `worker` alone needs it. `ctx.notify` says its own. */
  leaseToken?: string;
}

export class Events extends Resource {
  /** To everyone who waits for it, now or later. */
  send(eventId: string, data?: unknown, options: SendOptions = {}): Promise<wire.EventSent> {
    const { runId: workflowRunId, delivery, dryRun, leaseToken } = options;
    const body = { eventId, eventData: data ?? null, workflowRunId, delivery, dryRun, leaseToken };
    return this.transport.json(keyed("POST", at`/events`, body, options));
  }

  list(query: Paged & { eventId?: string } = {}): Pages<wire.StoredEvent> {
    return new Pages(this.transport, at`/events`, query);
  }

  waiters(eventId: string, query: Paged = {}): Pages<wire.Waiter> {
    return new Pages(this.transport, at`/events/${eventId}/waiters`, query);
  }

  /** Which workflows start on which event, and which start was refused last. */
  starts(query: Paged & { eventId?: string } = {}): Pages<wire.StartedOnEvent> {
    return new Pages(this.transport, at`/events/starts`, query);
  }
}

export class Approvals extends Resource {
  list(query: Paged & { pending?: boolean; runId?: string } = {}): Pages<wire.ApprovalRequest> {
    return new Pages(this.transport, at`/approval-requests`, query);
  }

  find(id: string): Promise<wire.ApprovalRequest> {
    return this.get(at`/approval-requests/${id}`);
  }

  decide(id: string, decision: wire.Decide, options: Keyed = {}): Promise<wire.Decided> {
    return this.transport.json(keyed("POST", at`/approval-requests/${id}/decide`, decision, options));
  }
}

export class Triggers extends Resource {
  /** Starts a run with a call, as a webhook of somebody else would. */
  call(workflow: string, body: unknown = {}, options: Keyed = {}): Promise<wire.StartedRun> {
    return this.transport.json(keyed("POST", at`/triggers/${workflow}`, body, options));
  }

  /** The same, answered with what the run says first. */
  callSync(workflow: string, body: unknown = {}, options: Keyed = {}): Promise<wire.Json> {
    return this.transport.json(keyed("POST", at`/triggers/${workflow}/sync`, body, options));
  }
}

/** Workflows that start again and again, by the clock. */
export class Schedules extends Resource {
  list(query: Paged = {}): Pages<wire.Schedule> {
    return new Pages(this.transport, at`/schedules`, query);
  }

  create(schedule: wire.NewSchedule): Promise<wire.Schedule> {
    return this.post(at`/schedules`, schedule);
  }

  find(id: string): Promise<wire.Schedule> {
    return this.get(at`/schedules/${id}`);
  }

  /** What is not named stays as it is. Another rule of time begins now. */
  change(id: string, change: wire.ChangeSchedule): Promise<wire.Schedule> {
    return this.transport.json({ method: "PATCH", path: at`/schedules/${id}`, body: change, repeatable: true });
  }

  /** Runs that it started go on. */
  async remove(id: string): Promise<void> {
    await this.transport.json({ method: "DELETE", path: at`/schedules/${id}` });
  }

  /** Nothing comes while it is paused, and nothing of that is made up for later. */
  pause(id: string): Promise<wire.Schedule> {
    return this.post(at`/schedules/${id}/pause`, undefined, { repeatable: true });
  }

  unpause(id: string): Promise<wire.Schedule> {
    return this.post(at`/schedules/${id}/unpause`, undefined, { repeatable: true });
  }

  /** Starts one more run now, as the overlap policy allows; the next occurrence stays as it is. */
  trigger(id: string, options: Keyed = {}): Promise<wire.Triggered> {
    return this.transport.json(keyed("POST", at`/schedules/${id}/trigger`, undefined, options));
  }
}

/** Limits: how much room there is, who has it, who waits for it, and what is set at run time. */
export class Limits extends Resource {
  /** Keys of limits that somebody has room under or waits for; with `pressure`, those for which most wait first. */
  list(query: LimitQuery = {}): Pages<wire.LimitKey> {
    return new Pages(this.transport, at`/limits`, query);
  }

  /** One limit: its keys, who has room, who waits, what is set. Without a workflow it is the one that all workflows share. */
  find(name: string, query: { workflow?: string; key?: string; limit?: number } = {}): Promise<wire.LimitDetail> {
    return this.get(at`/limits/${name}`, query);
  }

  /** Changes, pauses, resumes or empties a limit: it stands above what definitions say until it is removed. */
  set(name: string, change: wire.SetLimit): Promise<wire.LimitSet> {
    return this.transport.json({ method: "PUT", path: at`/limits/${name}`, body: change, repeatable: true });
  }
}

/** URLs of yours that are told what happens, and what they were told. */
export class Webhooks extends Resource {
  list(): Pages<wire.Webhook> {
    return new Pages(this.transport, at`/webhooks`, {});
  }

  /** The secret is in the answer, and nowhere else. */
  create(webhook: wire.NewWebhook): Promise<wire.MadeWebhook> {
    return this.post(at`/webhooks`, webhook);
  }

  find(id: string): Promise<wire.Webhook> {
    return this.get(at`/webhooks/${id}`);
  }

  /** What is not named stays as it is. */
  change(id: string, change: wire.ChangeWebhook): Promise<wire.Webhook> {
    return this.transport.json({ method: "PATCH", path: at`/webhooks/${id}`, body: change, repeatable: true });
  }

  /** With all its deliveries; what it was still to be told is not sent. */
  async remove(id: string): Promise<void> {
    await this.transport.json({ method: "DELETE", path: at`/webhooks/${id}` });
  }

  /** What was kept for it is sent at once. */
  enable(id: string): Promise<wire.Webhook> {
    return this.post(at`/webhooks/${id}/enable`, undefined, { repeatable: true });
  }

  /** The new secret is in the answer, and nowhere else. The one before signs beside it for a while. */
  rotateSecret(id: string, options: wire.RotateSecret = {}): Promise<wire.MadeWebhook> {
    return this.post(at`/webhooks/${id}/rotate-secret`, options);
  }

  /** What it was told, the newest first. */
  deliveries(id: string, query: DeliveryQuery = {}): Pages<wire.Delivery> {
    return new Pages(this.transport, at`/webhooks/${id}/deliveries`, query);
  }

  /** One delivery, with what is sent. */
  findDelivery(id: string, deliveryId: string): Promise<wire.WholeDelivery> {
    return this.get(at`/webhooks/${id}/deliveries/${deliveryId}`);
  }

  /** Sends a delivery again, with the same id. */
  replay(id: string, deliveryId: string): Promise<wire.Replayed> {
    return this.post(at`/webhooks/${id}/deliveries/${deliveryId}/replay`);
  }

  /** Sends every failed delivery again. */
  replayFailed(id: string): Promise<wire.Replayed> {
    return this.post(at`/webhooks/${id}/replay`);
  }
}

type Lease = { leaseToken: string };

/** Work, as a worker takes and reports it. The `Worker` does all of this by itself. */
export class Tasks extends Resource {
  poll(poll: wire.PollTasks, signal?: AbortSignal): Promise<wire.PolledTasks> {
    return this.post(at`/tasks/poll`, poll, { signal });
  }

  /** What handlers of open runs have recorded: what a worker would be given if their waits ended now. */
  journals(query: { handler?: string; workflow?: string; cursor?: string } = {}): Pages<wire.TaskJournal> {
    return new Pages(this.transport, at`/tasks/journals`, query);
  }

  report(reports: wire.TaskReport[]): Promise<wire.ReportedTasks> {
    return this.post(at`/tasks/report`, { reports }, { repeatable: true });
  }

  complete(id: string, report: Lease & { output?: unknown; stateUpdates?: object }): Promise<wire.Reported> {
    return this.post(at`/tasks/${id}/complete`, report);
  }

  fail(
    id: string,
    report: Lease & { message: string; code?: string; retryable?: boolean; retryAfterMs?: number },
  ): Promise<wire.Reported> {
    return this.post(at`/tasks/${id}/fail`, report);
  }

  pause(
    id: string,
    report: Lease & { name: string; durationMs?: number; duration?: string; checkpoint?: unknown },
  ): Promise<wire.Reported> {
    return this.post(at`/tasks/${id}/pause`, report);
  }

  suspend(
    id: string,
    report: Lease & { waits: wire.TaskWait[]; wake?: "all" | "any" | "each"; entries?: wire.NewJournalEntry[] },
  ): Promise<wire.Reported> {
    return this.post(at`/tasks/${id}/suspend`, report);
  }

  heartbeat(id: string, report: Lease & { entries?: wire.NewJournalEntry[] }): Promise<wire.Reported> {
    return this.post(at`/tasks/${id}/heartbeat`, report, { repeatable: true });
  }

  log(id: string, report: Lease & { lines: wire.LogLine[] }): Promise<wire.Reported> {
    return this.post(at`/tasks/${id}/log`, report);
  }

  checkpoint(id: string, report: Lease & { checkpoint: unknown }): Promise<wire.Reported> {
    return this.post(at`/tasks/${id}/checkpoint`, report, { repeatable: true });
  }

  release(id: string, report: Lease): Promise<wire.Reported> {
    return this.post(at`/tasks/${id}/release`, report);
  }
}

export class Admin extends Resource {
  keys(): Promise<wire.KeyList> {
    return this.get(at`/keys`);
  }

  /** The secret is in the answer, and nowhere else. */
  createKey(key: wire.NewKey): Promise<wire.MadeKey> {
    return this.post(at`/keys`, key);
  }

  async revokeKey(id: string): Promise<void> {
    await this.transport.json({ method: "DELETE", path: at`/keys/${id}`, repeatable: true });
  }

  /** New links are signed with a new secret; the old ones stay valid. */
  async rotateLinkSecret(): Promise<void> {
    await this.post(at`/link-secrets`);
  }

  /** The secrets that links are signed with, without what they are. */
  linkSecrets(): Promise<wire.LinkSecretList> {
    return this.get(at`/link-secrets`);
  }

  /** Every link and lease token that was signed with it is refused from then on. */
  async retireLinkSecret(id: number | string): Promise<void> {
    await this.transport.json({ method: "DELETE", path: at`/link-secrets/${String(id)}`, repeatable: true });
  }

  /** Makes every link of the workspace void. */
  async revokeLinks(): Promise<void> {
    await this.transport.json({ method: "DELETE", path: at`/links`, repeatable: true });
  }

  /** What calls of the workspace are signed with. */
  signingKey(): Promise<wire.SigningKey> {
    return this.get(at`/signing-key`);
  }

  /** Control actions, the last one first. */
  audit(query: Paged = {}): Pages<wire.AuditEntry> {
    return new Pages(this.transport, at`/audit`, query);
  }

  /** Whether the audit log is as it was written. */
  verifyAudit(): Promise<wire.AuditVerified> {
    return this.get(at`/audit/verify`);
  }

  /** Runs and schedules that are held, and why. */
  held(query: Paged = {}): Pages<wire.HeldItem> {
    return new Pages(this.transport, at`/held`, query);
  }

  /** Holds a run or a schedule: nothing of it goes on until it is released. */
  hold(id: string, reason?: string): Promise<wire.HeldItem> {
    return this.post(at`/held`, reason === undefined ? { id } : { id, reason });
  }

  /** Lets what is held go on. */
  async release(id: string): Promise<void> {
    await this.transport.json({ method: "DELETE", path: at`/held/${id}`, repeatable: true });
  }

  workspaces(): Promise<wire.WorkspaceList> {
    return this.get(at`/workspaces`);
  }

  createWorkspace(name: string): Promise<wire.Workspace> {
    return this.post(at`/workspaces`, { name });
  }

  /** Changes what a workspace, named or by its id, may have. */
  changeWorkspace(workspace: string, quotas: wire.Quotas): Promise<wire.Workspace> {
    return this.transport.json({ method: "PATCH", path: at`/workspaces/${workspace}`, body: { quotas }, repeatable: true });
  }

  /** Workers that polled lately. */
  workers(): Promise<wire.WorkerList> {
    return this.get(at`/workers`);
  }

  /** How many runs and waits there are, and how it goes. */
  overview(): Promise<wire.Overview> {
    return this.get(at`/overview`);
  }

  /** When waits end, counted over time. */
  wakeUps(query: { buckets?: number; from?: Date | string; until?: Date | string } = {}): Promise<wire.WakeUps> {
    return this.get(at`/wake-ups`, { ...query });
  }

  /** What calls to models cost, by day, workflow and model. */
  costs(
    query: { definition?: string; model?: string; from?: Date | string; until?: Date | string } = {},
  ): Promise<wire.CostSummary> {
    return this.get(at`/cost/summary`, { ...query });
  }

  health(): Promise<wire.Health> {
    return this.get("/health");
  }

  ready(): Promise<wire.Health> {
    return this.get("/ready");
  }

  /** A copy of the whole store, as of one instant: a file like any other store. */
  async backup(): Promise<ReadableStream<Uint8Array>> {
    const response = await this.transport.send({ method: "GET", path: at`/backup`, accept: "application/vnd.sqlite3" });
    return response.body ?? new ReadableStream();
  }

  async metrics(): Promise<string> {
    const response = await this.transport.send({ method: "GET", path: "/metrics", accept: "text/plain" });
    return response.text();
  }
}

/** The clock of a server that was started with `--test-clock`. */
export class TestClock extends Resource {
  find(): Promise<wire.TestClock> {
    return this.get(at`/test/clock`);
  }

  /** Lets time pass: at most to an instant, or by a time; to the next timer if that is due before. */
  move({ to, advance }: { to?: Date | string; advance?: Duration } = {}): Promise<wire.TestClock> {
    const target = to === undefined ? {} : { to: instant(to) };
    return this.post(at`/test/clock`, { ...target, ...field("advance", advance) });
  }
}
