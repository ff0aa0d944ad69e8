// Written by sdk/generate from schema/openapi.json; change that, not this.

/** Any JSON value. */
export type Json = string | number | boolean | null | Json[] | { [field: string]: Json };

/** Of the whole server, one sample after the other. */
export interface Activity {
  everyMs: number;
  samples: ActivitySample[];
}

/** What happened between two looks. */
export interface ActivitySample {
  /** When it ended. */
  at: string;
  /** From a timer's instant to its firing, in milliseconds: half of them were quicker. */
  latenessP50Ms: number;
  /** 99 of 100 were quicker. */
  latenessP99Ms: number;
  /** Records written to histories. */
  records: number;
  /** Timers that fired. */
  timers: number;
}

/** A link that lets somebody decide. */
export interface ApprovalLink {
  /** For people: a page that shows the content, and asks. */
  confirmUrl: string;
  /** Whom it is for; null: anyone. */
  recipient: string | null;
  /** For programs: a POST decides. */
  resumeUrl: string;
}

/** A request, and what was decided. */
export interface ApprovalRequest {
  /** Whether whoever started the run may decide. */
  allowSelfApproval: boolean;
  /** Empty: anyone with the scope `approve`. */
  approvers: string[];
  /** The durable call of a handler that asks; absent where the step itself does. */
  call?: string | null;
  content: Json;
  /** Stands for the content that is shown: send it along with a decision. */
  contentDigest: string;
  /** What edited content must satisfy. */
  contentSchema?: Json;
  createdAt: string;
  decisions: Vote[];
  id: string;
  /** What was decided. */
  outcome?: Json;
  prompt?: string | null;
  quorum: number;
  resolvedAt?: string | null;
  resolvedBy?: string | null;
  /** The wait's deadline; null: none. */
  resumeAt: string | null;
  /** A URL with which one can decide without a key. Shown to those who may decide. */
  resumeUrl?: string | null;
  runId: string;
  status: "PENDING" | "COMPLETED" | "TIMED_OUT" | "CANCELLED";
  stepName?: string | null;
}

/** A part of a list. */
export interface ApprovalRequestList {
  data: ApprovalRequest[];
  /** Give it as `cursor` to get what follows; null at the end. */
  nextCursor: string | null;
}

/** What people are asked to decide, and what they have decided so far. */
export interface ApprovalState {
  /** Whether whoever started the run may decide. */
  allowSelfApproval: boolean;
  /** Empty: anyone with the scope `approve`. */
  approvers: string[];
  content: Json;
  /** Stands for the content that is shown: send it along with a decision. */
  contentDigest: string;
  /** What edited content must satisfy. */
  contentSchema?: Json;
  decisions: Vote[];
  prompt?: string | null;
  quorum: number;
}

/** What people are asked. */
export interface Ask {
  /** Every key with the scope `approve`, and whoever has a link, if absent. */
  approvers?: string[];
  /** What is to be approved. */
  content?: Json;
  /** A JSON Schema that edited content must satisfy. */
  contentSchema?: Json;
  prompt?: string | null;
  /** Approvals that are needed; 1 if absent. */
  quorum?: number | null;
}

export interface Attempt {
  at: string;
  /** Why there was no answer. */
  error?: string | null;
  /** The beginning of the answer. */
  response?: string | null;
  /** The status of the answer. */
  status?: number | null;
  tookMs: number;
}

/** A control action. */
export interface AuditEntry {
  /** Such as `key.made`. */
  action: string;
  /** Where the request came from. */
  address?: string | null;
  at: string;
  /** The name of the key. */
  by: string;
  detail?: Json;
  /** Of this entry and of the one before. */
  hash: string;
  /** The key's id; absent where no key was needed. */
  key?: string | null;
  /** From 1 on, over all workspaces. */
  number: number;
  requestId?: string | null;
  /** The path of the request. */
  target: string;
  workspace: string;
}

/** A part of a list. */
export interface AuditEntryList {
  data: AuditEntry[];
  /** Give it as `cursor` to get what follows; null at the end. */
  nextCursor: string | null;
}

/** Whether the audit log is as it was written. */
export interface AuditVerified {
  /** The first that is not what it was. */
  brokenAt?: number | null;
  /** How many there are, where it is whole. */
  entries?: number | null;
  /** The hash of the last one, where it is whole. */
  last?: string | null;
  whole: boolean;
}

export interface BulkCommand {
  action: "cancel" | "pause" | "unpause" | "retry" | "pin" | "unpin" | "move";
  /** With `pin`: the build whose workers are given their tasks. */
  build?: string | null;
  /** The `nextCursor` of the request before. */
  cursor?: string | null;
  /** Only count. */
  dryRun?: boolean;
  /** An empty filter finds every run. */
  filter: RunFilter;
  /** With `pin` and `unpin`: only tasks of this handler; all if absent. */
  handler?: string | null;
  /** Runs at most; 10000 if absent. */
  limit?: number | null;
  /** With `cancel`: stands in the histories. */
  reason?: string | null;
  /** With `move`: the version that the runs go on with. */
  version?: string | null;
}

/** What became of many runs. */
export interface BulkDone {
  /** Runs that did as they were told, or would be moved. */
  done: number;
  dryRun: boolean;
  /** Runs that the filter found. */
  matched: number;
  /** There may be more: give it as `cursor`. */
  nextCursor: string | null;
  /** The first of those that could not, and why. */
  refusals: RefusedRun[];
  /** Runs that could not. */
  refused: number;
}

/** What became of many waits. */
export interface BulkSteered {
  done: number;
  dryRun: boolean;
  /** Waits that the filter found. */
  matched: number;
  /** There may be more: give it as `cursor`. */
  nextCursor: string | null;
  /** The first of those that could not be steered, and why. */
  refusals: RefusedWaitpoint[];
  refused: number;
}

export interface BulkSteering {
  action: "complete" | "skip" | "reschedule" | "timeout" | "cancel";
  /** The `nextCursor` of the request before. */
  cursor?: string | null;
  /** Only count. */
  dryRun?: boolean;
  /** Only pending waits are found. */
  filter: WaitpointFilter;
  /** Waits at most; 10000 if absent. */
  limit?: number | null;
  /** With `skip`: the output of the steps; null if absent. */
  output?: Json;
  /** With `complete`: as if this had come. */
  payload?: Json;
  /** With `skip`: stands in the histories. */
  reason?: string | null;
  /** With `reschedule`: the new instant. */
  resumeAt?: string | null;
}

/** A limit that a durable call asks for room under: `concurrency`, `rate` with `per`, or both. */
export interface CallLimit {
  /** How many may begin at once after a quiet time; 1 if absent. */
  burst?: number | null;
  /** How many may have room at the same time. */
  concurrency?: number | null;
  /** Each key has room of its own; all share one if absent. */
  key?: string | null;
  /** What the limit is called. With `scope: workspace`, all that name it share it. */
  name: string;
  /** `perMs` as text: `1m`. */
  per?: string | null;
  perMs?: number | null;
  /** How many may begin in the time of `per`. */
  rate?: number | null;
  /** `workflow` if absent. */
  scope?: LimitScope | null;
}

/** How often a call that the engine makes is tried, and after what time. */
export interface CallRetry {
  /** The longest time before the second attempt; 1000 if absent. */
  backoffMs?: number | null;
  /** By how much that grows from attempt to attempt; 2 if absent. */
  backoffMultiplier?: number | null;
  /** All attempts together; 3 if absent. */
  maxAttempts?: number | null;
  /** The longest back-off in milliseconds; 300000 if absent. */
  maxBackoffMs?: number | null;
}

export interface Caller {
  /** What histories say: the key's name. */
  name: string;
  scopes: ("read" | "deploy" | "run" | "worker" | "approve" | "admin")[];
  /** The workspace's id. */
  workspace: string;
}

export interface CancelRun {
  /** Stands in the history. */
  reason?: string | null;
}

export interface ChangeSchedule {
  catchUp?: "none" | "last" | "all";
  cron?: string | null;
  definition?: string | null;
  every?: string | null;
  everyMs?: number | null;
  input?: Json;
  name?: string | null;
  overlap?: "skip" | "queue" | "cancelPrevious" | "allow";
  tags?: string[] | null;
  timezone?: string | null;
  version?: string | null;
}

export interface ChangeWebhook {
  description?: string | null;
  /** `false`: nothing is sent, and what was still to be sent is kept. */
  enabled?: boolean | null;
  events?: ("workflow.completed" | "workflow.failed" | "workflow.cancelled" | "approval.requested" | "approval.decided" | "wait.overdue")[];
  url?: string | null;
}

export interface ChangeWorkspace {
  quotas: Quotas;
}

/** What a check found. */
export interface CheckedDefinition {
  problems: Finding[];
  valid: boolean;
  warnings: Finding[];
}

/** Runs of one version that wait at the same steps, and what keeps them from the new one. */
export interface CheckedGroup {
  /** Some of them. */
  examples: string[];
  fits: boolean;
  misfits: Misfit[];
  /** How many there are. */
  runs: number;
  version: string;
  /** The steps where they wait; empty: for their start. */
  waitingAt: string[];
}

/** How the runs that wait would fit a new version. */
export interface CheckedRuns {
  /** Those that could be moved. */
  fit: number;
  /** Runs alike. */
  groups: CheckedGroup[];
  /** Runs that were looked at. */
  lookedAt: number;
  /** Of the new version. */
  name: string | null;
  /** There may be more: give it as `cursor`. */
  nextCursor: string | null;
  /** Runs of groups that are not told, because there are too many. */
  notTold: number;
  problems: Finding[];
  /** Those whose past does not fit. */
  stranded: number;
  /** Those that have changed since they were found, or cannot be read. */
  unclear: number;
  /** Whether the document is a workflow; otherwise `problems` says what is wrong, and no run was looked at. */
  valid: boolean;
  version: string | null;
}

/** What was recorded, and what the code came to instead. */
export interface CodeMismatch {
  /** What the code came to. */
  found: string;
  /** What the journal holds. */
  recorded: string;
}

/** A run that did as it was told. */
export interface CommandedRun {
  /** False: what was asked for was so already. */
  changed: boolean;
  id: string;
  /** A pause is asked for, or in effect. */
  pausing: boolean;
  status: "PENDING" | "RUNNING" | "WAITING" | "PAUSED" | "COMPLETED" | "FAILED" | "CANCELLED";
}

export interface CompleteWaitpoint {
  /** As if this had come. */
  payload?: Json;
}

export interface CostSummary {
  data: DayCost[];
  total: Spent;
}

export interface Counted {
  count: number;
  /** There are more than were counted. */
  more: boolean;
}

export interface CreateWaitpoint {
  /** Of a WEBHOOK: let a plain GET resume it. Link scanners open every link. */
  allowGet?: boolean;
  /** Of an APPROVAL: what is asked. */
  approval?: Ask | null;
  /** What the code asks for, in its own words. A recorded wait answers only code that asks the same. */
  asked?: string | null;
  /** Of the task that will wait for it. */
  leaseToken: string;
  name: string;
  /** The reply to whoever started or resumed the run and listens. It leaves at once; the handler goes on, and can wait. */
  responseToSend?: ResponseToSend | null;
  /** Of a DELAY: when it ends. A past instant is over at once. */
  resumeDateTime?: string | null;
  /** `timeoutMs` as text: `2d 4h`. */
  timeout?: string | null;
  /** Of a WEBHOOK or an APPROVAL: how long it may take; no limit if absent. */
  timeoutMs?: number | null;
  /** `WEBHOOK`: a call on its `resumeUrl` ends it. `DELAY`: the clock does, at `resumeDateTime`. `APPROVAL`: people do, whom its `links` can be given to. `WEBHOOK` if absent. */
  type?: "WEBHOOK" | "DELAY" | "APPROVAL";
}

/** Tokens and money. */
export interface DayCost {
  /** Input tokens that a provider had seen before, a part of all input tokens. */
  cachedInputTokens: number;
  /** Failed ones too. */
  calls: number;
  /** In millionths of the currency of the price table. */
  costMicros: number;
  day: string;
  definition: string;
  inputTokens: number;
  model: string;
  outputTokens: number;
  /** Calls that used tokens of a model without a price. */
  unpricedCalls: number;
}

export interface Decide {
  comment?: string | null;
  /** The `contentDigest` of what was shown: if the content is another now, nothing is decided. */
  contentDigest?: string | null;
  decision: "approve" | "reject" | "edit";
  /** With `edit`: what replaces the content. */
  editedContent?: Json;
  /** As the header `Idempotency-Key`. */
  idempotencyKey?: string | null;
}

/** Where a request stands after a decision. */
export interface Decided {
  approvals: number;
  id: string;
  /** Approvals that are needed. */
  quorum: number;
  /** Whether the run goes on. */
  resolved: boolean;
  runId: string;
}

/** A version of a workflow. It never changes. */
export interface Definition {
  createdAt: string;
  /** The workflow as it was posted. */
  document: Json;
  id: string;
  name: string;
  version: string;
}

export interface DefinitionRef {
  id?: string | null;
  name: string;
  version: string;
}

/** A definition in a list. */
export interface DefinitionSummary {
  createdAt: string;
  id: string;
  name: string;
  version: string;
}

/** A part of a list. */
export interface DefinitionSummaryList {
  data: DefinitionSummary[];
  /** Give it as `cursor` to get what follows; null at the end. */
  nextCursor: string | null;
}

/** One thing a webhook is told. */
export interface Delivery {
  /** The last attempts, the oldest first. */
  attempts: Attempt[];
  createdAt: string;
  event: "workflow.completed" | "workflow.failed" | "workflow.cancelled" | "approval.requested" | "approval.decided" | "wait.overdue";
  /** Sent as `webhook-id`, the same at every attempt. */
  id: string;
  /** Null when nothing more is to be done, or while the webhook is disabled. */
  nextAttemptAt: string | null;
  runId: string;
  status: "PENDING" | "DELIVERED" | "FAILED";
  webhookId: string;
}

/** A part of a list. */
export interface DeliveryList {
  data: Delivery[];
  /** Give it as `cursor` to get what follows; null at the end. */
  nextCursor: string | null;
}

/** A definition that is stored. */
export interface DeployedDefinition {
  /** False when the very same was there already. */
  created: boolean;
  id: string;
  name: string;
  version: string;
  /** What is doubtful about it. */
  warnings: Finding[];
}

/** An event. */
export interface StoredEvent {
  eventData: Json;
  eventId: string;
  id: string;
  receivedAt: string;
}

/** A part of a list. */
export interface StoredEventList {
  data: StoredEvent[];
  /** Give it as `cursor` to get what follows; null at the end. */
  nextCursor: string | null;
}

/** Whom an event woke. */
export interface EventSent {
  /** The event is stored, and on its way to more waiters, or to more runs that it starts, than one round has room for. That goes on by itself, after a restart too; there is no need to send it again. */
  delivering: boolean;
  dryRun: boolean;
  /** Null for a dry run. */
  id: string | null;
  /** For whom: `everyone`, or the run it was sent to. Null: it was not stored. */
  keptFor: string | null;
  /** What it started, by the `startOn` of workflows, before this answer was given; with `dryRun`: what it would start. */
  started: EventStart[];
  /** The event is kept: a wait that begins later, and looks back to it, takes it. To send it again would be a second event. */
  stored: boolean;
  /** The waits that took it before this answer was given. */
  waiters: Woken[];
}

/** What an event started, was to start, or would start. */
export interface EventStart {
  outcome: EventStartOutcome;
  /** Why there is no run. */
  problem?: StartProblem | null;
  /** The run, if there is one. */
  runId?: string | null;
  version: string;
  /** The workflow's name. */
  workflow: string;
}

export type EventStartOutcome = "started" | "collected" | "repeated" | "refused" | "wouldStart";

/** Why a step or a run failed. */
export interface Failure {
  code: string;
  /** Where in the handler it came from. The stack is with the step, not with its run. */
  detail?: FailureDetail | null;
  message: string;
  step?: string | null;
}

/** An error that another one was caused by. */
export interface FailureCause {
  message: string;
  /** The error's type in the handler's language. */
  type?: string | null;
}

/** Where a failure of a handler came from. What is too long is cut, and what looks like a secret is hidden. */
export interface FailureDetail {
  /** Of the step, from 1. The server knows it. */
  attempt?: number | null;
  /** The durable call that failed. */
  call?: string | null;
  /** What the error was caused by, the nearest first. */
  causes?: FailureCause[];
  stack?: string | null;
  /** The error's type in the handler's language. */
  type?: string | null;
}

/** One thing that is wrong, at one place. */
export interface Finding {
  code: string;
  /** What would be right. */
  expected?: string | null;
  message: string;
  /** The nearest valid name. */
  nearest?: string | null;
  /** A JSON pointer; `/limit` for the query parameter `limit`. */
  pointer: string;
}

export interface Health {
  /** At `/ready`: runs and schedules that are held, of all workspaces. */
  held?: number | null;
  /** `ok`; at `/ready`, `paused` where the server only shows what there is. */
  status: string;
  /** At `/ready`: the id of the store, which no other has, not even a copy of it. */
  store?: string | null;
  version: string;
}

/** Since when something is held, and why. */
export interface Held {
  by: string;
  reason: string;
  since: string;
}

export interface HeldItem {
  /** `engine`, or who asked for it. */
  by: string;
  /** Of a run or of a schedule. */
  id: string;
  reason: string;
  since: string;
}

/** A part of a list. */
export interface HeldItemList {
  data: HeldItem[];
  /** Give it as `cursor` to get what follows; null at the end. */
  nextCursor: string | null;
}

export interface Hold {
  /** Of a run or of a schedule. */
  id: string;
  /** Shown wherever it is. */
  reason?: string | null;
}

/** A result of durable code, or a wait of it. */
export interface JournalEntry {
  name: string;
  result?: Json;
  wait?: JournalWait | null;
}

export interface JournalWait {
  /** What the code asked for when the wait was opened, in its SDK's words. */
  asked: string | null;
  /** Of an event: which one, and when it was received. */
  event?: TakenEvent | null;
  kind: "DELAY" | "WEBHOOK" | "SIGNAL" | "EVENT" | "APPROVAL" | "CHILD" | "PAUSE" | "RETRY" | "SCHEDULE" | "CODE" | "CAPACITY";
  payload: Json;
  status: "PENDING" | "COMPLETED" | "TIMED_OUT" | "CANCELLED";
  waitpointId: string;
}

/** A key, without its secret. */
export interface Key {
  createdAt: string;
  expiresAt: string | null;
  id: string;
  /** Exact to a minute. */
  lastUsedAt: string | null;
  name: string;
  /** The first characters of the secret. */
  prefix: string;
  revokedAt: string | null;
  scopes: ("read" | "deploy" | "run" | "worker" | "approve" | "admin")[];
  workspace: string;
}

/** A part of a list. */
export interface KeyList {
  data: Key[];
  /** Give it as `cursor` to get what follows; null at the end. */
  nextCursor: string | null;
}

/** A limit that room is asked of. */
export interface LimitAsk {
  id: string;
  /** Empty where the limit has no keys. */
  key: string;
  name: string;
  /** The workflow of the limit; absent: all of the workspace that name it share it. */
  workflow?: string | null;
}

/** A limit: its keys, who has room, who waits, and what is set. */
export interface LimitDetail {
  /** Who has room, the longest first; at most 32 are named. */
  holders: LimitHolder[];
  /** Keys that somebody has room under or waits for, those for which most wait first. */
  keys: LimitKey[];
  /** Who waits, the next one first. */
  line: LimitWaiter[];
  name: string;
  /** What is set at run time; null: nothing. */
  settings: LimitSettings | null;
  /** Null: all workflows of the workspace that name it share it. */
  workflow: string | null;
}

/** How many were let in or cancelled. */
export interface LimitEmptied {
  /** Waits that ended. */
  done: number;
  /** There are more: ask again. */
  more: boolean;
  /** Waits that could not be ended: they ended otherwise meanwhile. */
  refused: number;
}

/** A run, or an attempt of one of its steps, that has room. */
export interface LimitHolder {
  runId: string;
  since: string;
  /** Null: the run itself. */
  stepName: string | null;
}

/** One key of a limit. */
export interface LimitKey {
  /** What definitions say. */
  defined: LimitRoom;
  id: string;
  /** Empty where the limit has no keys. */
  key: string;
  name: string;
  /** When the rate lets the next one begin; null: there is room, or somebody gives it back first. */
  nextAt: string | null;
  /** Since when the longest waits, of those that come next; null if nobody waits. */
  oldest: string | null;
  /** Nobody is let in. */
  paused: boolean;
  /** What holds: what is set at run time, or else what definitions say. */
  room: LimitRoom;
  /** How many have room. */
  used: number;
  /** How many wait for it. */
  waiting: number;
  /** The workflow whose runs share it; null: all of the workspace that name it. */
  workflow: string | null;
}

/** A part of a list. */
export interface LimitKeyList {
  data: LimitKey[];
  /** Give it as `cursor` to get what follows; null at the end. */
  nextCursor: string | null;
}

/** How many may have room or begin. */
export interface LimitKeySetting {
  /** How many may begin at once after a quiet time. */
  burst: number | null;
  /** How many may have room at the same time; null: any number. */
  concurrency: number | null;
  key: string;
  /** Nobody is let in. */
  paused: boolean;
  perMs: number | null;
  /** How many may begin in the time of `perMs`; null: any number. */
  rate: number | null;
}

/** How many may have room or begin. */
export interface LimitRoom {
  /** How many may begin at once after a quiet time. */
  burst: number | null;
  /** How many may have room at the same time; null: any number. */
  concurrency: number | null;
  perMs: number | null;
  /** How many may begin in the time of `perMs`; null: any number. */
  rate: number | null;
}

/** Who shares a limit of the same name. */
export type LimitScope = "workflow" | "workspace";

/** A limit after something was set. */
export interface LimitSet {
  /** With `empty`: how many waits ended. */
  emptied: LimitEmptied | null;
  limit: LimitDetail;
}

/** How many may have room or begin. */
export interface LimitSetting {
  /** How many may begin at once after a quiet time. */
  burst: number | null;
  /** How many may have room at the same time; null: any number. */
  concurrency: number | null;
  /** Nobody is let in. */
  paused: boolean;
  perMs: number | null;
  /** How many may begin in the time of `perMs`; null: any number. */
  rate: number | null;
}

/** What is set for a limit at run time. */
export interface LimitSettings {
  /** For all keys. */
  all: LimitSetting;
  changedAt: string;
  changedBy: string;
  /** For single keys, which stand above those for all. */
  keys: LimitKeySetting[];
}

/** A wait for room. */
export interface LimitWaiter {
  /** The place in line, from 1. */
  place: number;
  /** 0 to 9. A level counts as much as a minute of waiting. */
  priority: number;
  runId: string;
  since: string;
  /** Null: the run itself. */
  stepName: string | null;
  waitpointId: string;
}

/** A resume URL. */
export interface Link {
  /** The URL of a page where a person confirms. */
  confirmUrl: string;
  /** Null: with its waitpoint. */
  expiresAt: string | null;
  resumeUrl: string;
}

/** A secret that resume URLs are signed with, without what it is. */
export interface LinkSecret {
  createdAt: string;
  id: number;
  /** New resume URLs are signed with it. */
  signs: boolean;
}

/** A part of a list. */
export interface LinkSecretList {
  data: LinkSecret[];
  /** Give it as `cursor` to get what follows; null at the end. */
  nextCursor: string | null;
}

/** What ends it, besides what ends any. */
export type ListensFor = {
  type: "time";
} | {
  signalType: string;
  type: "signal";
} | {
  eventId: string;
  /** Events received between `since` and this may have been forgotten before the wait began. */
  forgottenBefore?: string | null;
  match?: string | null;
  /** Events received before this are not looked at. */
  since: string;
  type: "event";
} | {
  allowGet: boolean;
  type: "call";
} | {
  type: "approval";
} | {
  runId: string;
  type: "child";
} | {
  /** The attempt that failed, from 1. */
  attempt: number;
  call: string;
  /** Why it failed. */
  error: Failure;
  /** All that the call may have. */
  maxAttempts: number;
  type: "attempt";
} | {
  /** The builds that do not fit, the last one last. The empty one did not say which it is. */
  builds: string[];
  /** What the code came to instead. */
  found: string;
  handler: string;
  /** The only build that may have the task, which does not fit: an operator decides. */
  pinnedTo?: string | null;
  /** What the journal holds. */
  recorded: string;
  type: "code";
} | {
  limits: LimitAsk[];
  /** 0 to 9. A level counts as much as a minute of waiting. */
  priority: number;
  type: "capacity";
  /** The limit in whose line it stands: one that had no room. */
  waitsUnder?: string | null;
} | {
  /** Whether the run gets the inputs of all of them. */
  collect: boolean;
  /** What the starts have in common; empty where all of the workflow belong together. */
  key: string;
  /** The run begins at once when it has so many. */
  most: number;
  /** How many starts there are so far. */
  starts: number;
  type: "starts";
  /** The run begins then at the latest. */
  until: string;
};

/** A line of a run's log. */
export interface LogLine {
  /** `info` if absent. */
  level?: "debug" | "info" | "warn" | "error";
  message: string;
}

/** A new key, with its secret. */
export interface MadeKey {
  createdAt: string;
  expiresAt: string | null;
  id: string;
  /** Exact to a minute. */
  lastUsedAt: string | null;
  name: string;
  /** The first characters of the secret. */
  prefix: string;
  revokedAt: string | null;
  scopes: ("read" | "deploy" | "run" | "worker" | "approve" | "admin")[];
  /** Shown once. */
  secret: string;
  workspace: string;
}

/** A webhook, with a secret that was just made. */
export interface MadeWebhook {
  createdAt: string;
  description: string | null;
  disabledAt: string | null;
  /** Why it was disabled: by whom, or because nothing reached it for days. */
  disabledReason: string | null;
  events: ("workflow.completed" | "workflow.failed" | "workflow.cancelled" | "approval.requested" | "approval.decided" | "wait.overdue")[];
  /** Since when every attempt has failed. */
  failingSince: string | null;
  id: string;
  /** Shown once. */
  secret: string;
  status: WebhookStatus;
  url: string;
}

export interface MakeLink {
  /** `expiresInMs` as text: `2d 4h`. */
  expiresIn?: string | null;
  /** How long the link is valid; as long as its waitpoint if absent. */
  expiresInMs?: number | null;
  /** Whom it is for; anyone if absent. */
  recipient?: string | null;
}

export type Method = "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS";

/** One reason why a run does not fit another version. */
export interface Misfit {
  /** Stable; see `docs/reference/definitions.md`. */
  code: string;
  reason: string;
  /** The step it is about. */
  step: string | null;
}

export interface MoveClock {
  /** `advanceMs` as text: `2d 4h`. */
  advance?: string | null;
  /** At most by this time. */
  advanceMs?: number | null;
  /** At most to this instant. */
  to?: string | null;
}

export interface MoveRun {
  /** Only say whether it fits. */
  dryRun?: boolean;
  /** The version to go on with. */
  version: string;
}

/** A run that was moved, or could be. */
export interface MovedRun {
  /** False: it was of that version already, or this was a dry run. */
  changed: boolean;
  dryRun: boolean;
  /** The version it had. */
  from: string;
  id: string;
  status: "PENDING" | "RUNNING" | "WAITING" | "PAUSED" | "COMPLETED" | "FAILED" | "CANCELLED";
  /** The version that was asked for. */
  to: string;
}

/** A named result of durable code. */
export interface NewJournalEntry {
  name: string;
  result?: Json;
}

export interface NewKey {
  /** Refused from then on. */
  expiresAt?: string | null;
  /** Whose it is: what histories say, and what a step's `approvers` name. */
  name: string;
  scopes: ("read" | "deploy" | "run" | "worker" | "approve" | "admin")[];
  /** Only an admin of the default workspace may make keys for another. */
  workspace?: string | null;
}

/** What is started, and when. */
export interface NewSchedule {
  /** What to do about occurrences that were missed; `last` if absent. */
  catchUp?: "none" | "last" | "all";
  /** A cron line: `0 9 * * 1-5`. */
  cron?: string | null;
  /** The workflow's name. */
  definition: string;
  /** In place of a cron line: `15m`. */
  every?: string | null;
  /** `every` as a number of milliseconds. */
  everyMs?: number | null;
  /** Null if absent. */
  input?: Json;
  /** No two in a workspace have the same. */
  name: string;
  /** What to do when the run before has not ended; `skip` if absent. */
  overlap?: "skip" | "queue" | "cancelPrevious" | "allow";
  tags?: string[];
  /** Of the cron line; UTC if absent. */
  timezone?: string | null;
  /** The newest at each occurrence, if absent. */
  version?: string | null;
}

export interface NewWebhook {
  description?: string | null;
  /** What to tell. */
  events: ("workflow.completed" | "workflow.failed" | "workflow.cancelled" | "approval.requested" | "approval.decided" | "wait.overdue")[];
  /** Where to send: `http` or `https`. */
  url: string;
}

export interface NewWorkspace {
  name: string;
}

/** How many there are, what has waited longest, and how it goes. */
export interface Overview {
  /** What the server did in the last hour. */
  activity: Activity;
  /** The server's clock. */
  now: string;
  /** The oldest runs that wait, each with its oldest wait. */
  oldest: Waitpoint[];
  /** Open waits whose instant has passed. */
  overdue: Counted;
  runs: RunCount[];
  /** Open waits. */
  waits: WaitCount[];
}

export interface PinRun {
  build: string;
  /** Only tasks of this handler; all if absent. */
  handler?: string | null;
}

export interface PollTasks {
  /** Which code the worker has. Tasks whose journal it does not fit wait for a worker with another one. */
  buildId?: string | null;
  /** The names of the handlers that this worker has. */
  handlers: string[];
  /** How long the worker has a task before it must report; 60000 if absent. A step's `heartbeatMs` comes first. */
  leaseMs?: number | null;
  /** Tasks at most; 1 if absent. */
  maxTasks?: number | null;
  /** How long to wait for a task; 30000 if absent. */
  waitMs?: number | null;
  /** Who works; shown in histories and at `/workers`. */
  workerId: string;
}

export interface PolledTasks {
  tasks: Task[];
}

/** The body of an answer that says no (`application/problem+json`). */
export interface Problem {
  /** Stable; what a program may rely on. */
  code: string;
  /** The state that stands against the request. */
  current?: Json;
  /** What was wrong, where, and what would be right. */
  detail: string;
  /** What a waitpoint that is resolved already came to. */
  outcome?: Json;
  /** The place in the body, as a JSON pointer. */
  pointer?: string | null;
  /** Everything that was wrong with the body or the query, each with its place. */
  problems?: Finding[];
  status: number;
  title: string;
  /** Where the code is explained. */
  type: string;
  /** What is doubtful about a definition. */
  warnings?: Finding[];
}

/** What a workspace may have; an absent figure is that of the server, or none. */
export interface Quotas {
  /** Calls of one kind (`http` steps, models, handlers at URLs) under way at the same time. */
  calls?: number | null;
  /** Runs that have not ended, when one more is started. */
  openRuns?: number | null;
  schedules?: number | null;
  /** How many turns in a row the workspace has where several wait: for calls, reads, requests and tasks of the engine. 1 if absent. */
  share?: number | null;
  /** Runs started by requests in a second; as many may be started at once. */
  startsPerSecond?: number | null;
  /** Bytes that histories and events take. With more, no run is started and no event is taken; runs that are under way go on. */
  storedBytes?: number | null;
  webhooks?: number | null;
}

/** A record of a run's history. Its `type` says which further fields it has; see `docs/reference/histories.md`. */
export interface HistoryRecord {
  by: string;
  /** A completed step went on because its wait had ended. */
  resumedFromWait?: boolean;
  /** Counted from 1 without gaps. */
  seq: number;
  /** The step it is about. */
  stepName?: string | null;
  /** What it says, in a sentence for people, of at most 500 characters. Instants in it are RFC 3339, names are between backticks. It may be worded otherwise in another version. */
  text: string;
  time: string;
  type: string;
  /** The waitpoint it is about. */
  waitpointId?: string | null;
  [field: string]: Json | undefined;
}

/** A part of a list. */
export interface HistoryRecordList {
  data: HistoryRecord[];
  /** Give it as `cursor` to get what follows; null at the end. */
  nextCursor: string | null;
}

export interface RefusedRun {
  problem: Problem;
  runId: string;
}

/** A start on an event that was refused. */
export interface RefusedStart {
  at: string;
  code: string;
  detail: string;
  event: string;
}

export interface RefusedWaitpoint {
  problem: Problem;
  waitpointId: string;
}

export interface Replayed {
  /** How many are sent again. */
  replayed: number;
}

/** Either recorded, or why not. */
export interface ReportDone {
  ok: boolean;
  problem?: Problem | null;
  reported?: Reported | null;
}

export interface ReportTasks {
  reports: TaskReport[];
}

/** What became of a report. */
export interface Reported {
  /** After a heartbeat: when the attempt's time is over, if it has a limit. */
  deadline?: string | null;
  /** After a pause: the waitpoint. */
  waitpointId?: string | null;
}

export interface ReportedTasks {
  /** In the order of the reports. */
  results: ReportDone[];
}

export interface RescheduleWaitpoint {
  resumeAt: string;
}

/** A reply: what a `respond` step would say. */
export interface ResponseToSend {
  body?: Json;
  headers?: Record<string, string> | null;
  /** 200 if absent. */
  status?: number | null;
}

/** A wait that was ended. */
export interface Resumed {
  /** The `runId`. */
  flowRunId?: string | null;
  /** The `resumeAt`. */
  resumeDateTime?: string | null;
  runId: string;
  /** PENDING where an approval needs more votes. */
  status: "PENDING" | "COMPLETED" | "TIMED_OUT" | "CANCELLED";
  /** The `kind`. */
  type?: "DELAY" | "WEBHOOK" | "SIGNAL" | "EVENT" | "APPROVAL" | "CHILD" | "PAUSE" | "RETRY" | "SCHEDULE" | "CODE" | "CAPACITY";
  waitpointId: string;
}

/** A wait of a handler that is over. */
export interface ResumedBy {
  kind: "DELAY" | "WEBHOOK" | "SIGNAL" | "EVENT" | "APPROVAL" | "CHILD" | "PAUSE" | "RETRY" | "SCHEDULE" | "CODE" | "CAPACITY";
  name: string;
  status: "PENDING" | "COMPLETED" | "TIMED_OUT" | "CANCELLED";
  waitpointId: string;
}

export interface RotateSecret {
  /** How long the secret before signs beside the new one; a day if absent. */
  overlapMs?: number | null;
}

/** A run, with its steps and what it waits for. */
export interface Run {
  createdAt: string;
  createdBy: string;
  /** When the whole run must be over. */
  deadline?: string | null;
  definition: DefinitionRef;
  endedAt?: string | null;
  /** Of a failed run. */
  error?: Failure | null;
  /** The run that calls the handler of `onFailure` or `onCancel`, where the workflow has one and this run has ended so. */
  handledBy?: string | null;
  /** Nothing is decided about it until it is released. */
  held?: Held | null;
  id: string;
  input: Json;
  /** Of a completed run. */
  output?: Json;
  /** The run that started this one, or sent the event that it was started on. */
  parentRunId?: string | null;
  /** A pause is asked for, or in effect. */
  pausing: boolean;
  startedAt?: string | null;
  /** The event that it was started on, by the `startOn` of its workflow. */
  startedOn?: StartedOn | null;
  state: Record<string, Json>;
  status: "PENDING" | "RUNNING" | "WAITING" | "PAUSED" | "COMPLETED" | "FAILED" | "CANCELLED";
  steps: Step[];
  tags: string[];
  /** The trace of the request that started it. */
  traceparent?: string | null;
  /** Records in its history. */
  version: number;
  /** Every open wait, the oldest first; then the tasks that nobody does. */
  waitingFor: WaitingFor[];
}

export interface RunCost {
  /** What the run may spend, if its workflow says so. */
  budgetMicros: number | null;
  byStep: StepCost[];
  runId: string;
  total: Spent;
}

export interface RunCount {
  count: number;
  status: "PENDING" | "RUNNING" | "WAITING" | "PAUSED" | "COMPLETED" | "FAILED" | "CANCELLED";
}

/** What narrows a list of runs. */
export interface RunFilter {
  /** Before this instant. */
  createdBefore?: string | null;
  /** At or after this instant. */
  createdFrom?: string | null;
  /** The workflow's name. */
  definition?: string | null;
  /** Runs with an open wait for this event id. */
  eventId?: string | null;
  /** Runs with an open wait for this signal type. */
  signalType?: string | null;
  /** Separated by commas. */
  status?: ("PENDING" | "RUNNING" | "WAITING" | "PAUSED" | "COMPLETED" | "FAILED" | "CANCELLED")[];
  tag?: string | null;
  version?: string | null;
  /** Runs with an open wait of this kind. */
  waitsFor?: "DELAY" | "WEBHOOK" | "SIGNAL" | "EVENT" | "APPROVAL" | "CHILD" | "PAUSE" | "RETRY" | "SCHEDULE" | "CODE" | "CAPACITY";
}

/** A run in a list. */
export interface RunSummary {
  createdAt: string;
  definition: DefinitionRef;
  id: string;
  status: "PENDING" | "RUNNING" | "WAITING" | "PAUSED" | "COMPLETED" | "FAILED" | "CANCELLED";
  tags: string[];
  updatedAt: string;
  version: number;
}

/** A part of a list. */
export interface RunSummaryList {
  data: RunSummary[];
  /** Give it as `cursor` to get what follows; null at the end. */
  nextCursor: string | null;
}

export interface Schedule {
  catchUp: "none" | "last" | "all";
  createdAt: string;
  createdBy: string;
  cron?: string | null;
  /** The workflow's name. */
  definition: string;
  everyMs?: number | null;
  id: string;
  input: Json;
  /** The run it started last. */
  lastRunId: string | null;
  name: string;
  /** When it comes next; null while it is paused. */
  nextAt: string | null;
  overlap: "skip" | "queue" | "cancelPrevious" | "allow";
  paused: boolean;
  /** Occurrences that wait for that run to end. */
  queued: number;
  /** What became of the last occurrences, the newest first. */
  recent: Waitpoint[];
  tags: string[];
  timezone?: string | null;
  updatedAt: string;
  /** Null: the newest at each occurrence. */
  version: string | null;
  /** The wait for that; steer it like any other. */
  waitpointId: string | null;
}

/** A part of a list. */
export interface ScheduleList {
  data: Schedule[];
  /** Give it as `cursor` to get what follows; null at the end. */
  nextCursor: string | null;
}

export interface SendEvent {
  /** To everyone who waits, or only to the one who has waited longest. */
  delivery?: "all" | "one";
  /** Only say whom it would wake, and what it would start. */
  dryRun?: boolean;
  /** Null if absent. */
  eventData?: Json;
  eventId: string;
  /** As the header `Idempotency-Key`. */
  idempotencyKey?: string | null;
  /** Of the task whose handler sends it. The event is sent only while the task is leased to it, and stands in the history of its run; the same request again under its idempotency key is answered later, too. */
  leaseToken?: string | null;
  /** Only to this run. */
  workflowRunId?: string | null;
}

export interface SendSignal {
  /** As the header `Idempotency-Key`. */
  idempotencyKey?: string | null;
  /** Null if absent. */
  payload?: Json;
  signalType: string;
}

/** Who asks. */
export interface Session {
  /** Null where a key is needed, and none was given. */
  caller: Caller | null;
  /** The server was started by `abide dev`: workflows change without a new version, and waits may be skipped. */
  development: boolean;
  /** Without a key nothing is shown. */
  keysNeeded: boolean;
  /** The server was started with `--paused`: it shows what there is and changes nothing. */
  paused: boolean;
  /** By a cookie. */
  signedIn: boolean;
  /** Time stands still until `POST /test/clock` moves it. */
  testClock: boolean;
}

export interface SetLimit {
  /** With `rate`: how many may begin at once after a quiet time; 1 if absent. */
  burst?: number | null;
  /** How many may have room at the same time; null: as the definition says. */
  concurrency?: number | null;
  /** Also if no workflow has a limit of this name that is shared: one that only durable code names, or that is to come. Without it, a name that nobody knows is refused. */
  create?: boolean | null;
  /** Ends the waits of those who stand in line: `letIn` past the line, or `cancel` (a run is cancelled, a step fails). */
  empty?: "letIn" | "cancel";
  /** Only this key; absent: all of them. */
  key?: string | null;
  /** Nobody is let in, or somebody is again. */
  paused?: boolean | null;
  /** With `rate`: the time that it is about, such as `1m`. */
  per?: string | null;
  /** `per` as a number of milliseconds. */
  perMs?: number | null;
  /** How many may begin in the time of `per`; null: as the definition says. */
  rate?: number | null;
  /** The workflow of the limit; absent: all of the workspace that name it. */
  workflow?: string | null;
}

export interface SignIn {
  /** An API key: `abk_…`. */
  key: string;
}

/** What became of a signal. */
export interface Signalled {
  runId: string;
  /** The wait that took it at once; null: it is kept for the next one. */
  takenBy: string | null;
}

export interface SigningKey {
  /** `whsec_…`, as Standard Webhooks. */
  keys: string[];
  /** The workspace's id. */
  workspace: string;
}

export interface SkipWaitpoint {
  /** The step's output; null if absent. */
  output?: Json;
  /** Stands in the history. */
  reason?: string | null;
}

/** Tokens and money. */
export interface Spent {
  /** Input tokens that a provider had seen before, a part of all input tokens. */
  cachedInputTokens: number;
  /** Failed ones too. */
  calls: number;
  /** In millionths of the currency of the price table. */
  costMicros: number;
  inputTokens: number;
  outputTokens: number;
  /** Calls that used tokens of a model without a price. */
  unpricedCalls: number;
}

export type StartOutcome = "created" | "skipped" | "collected" | "repeated" | "refused";

/** Why an event started no run. */
export interface StartProblem {
  /** Stable; what a program may rely on. */
  code: string;
  detail: string;
}

/** What became of one of many starts. */
export interface StartResult {
  /** The run, unless the start was refused. */
  id?: string | null;
  /** The place of the start in the request, from 0. */
  index: number;
  outcome: StartOutcome;
  /** Why the start was refused. Its places are in the start, not in the whole request. */
  problem?: Problem | null;
  /** Where the run can be seen. */
  url?: string | null;
}

export interface StartRun {
  /** Which version of which workflow; or give `name`. */
  definitionId?: string | null;
  /** As the header `Idempotency-Key`. */
  idempotencyKey?: string | null;
  /** Null if absent. */
  input?: Json;
  /** The workflow's name; its newest version, unless `version` is given. */
  name?: string | null;
  /** Begin then, not now. A past instant begins now. */
  runAt?: string | null;
  tags?: string[];
  version?: string | null;
}

/** The body, as it is documented. */
export interface StartRuns {
  runs: StartRun[];
}

/** The event that a run was started on. */
export interface StartedOn {
  /** The event's own number. */
  event: string;
  eventId: string;
}

/** A workflow that an event starts. */
export interface StartedOnEvent {
  eventId: string;
  /** The last start that was refused. */
  lastRefused?: RefusedStart | null;
  /** The condition that an event must satisfy. */
  match?: string | null;
  /** The newest version of the workflow. */
  version: string;
  /** The workflow's name. */
  workflow: string;
}

/** A part of a list. */
export interface StartedOnEventList {
  data: StartedOnEvent[];
  /** Give it as `cursor` to get what follows; null at the end. */
  nextCursor: string | null;
}

/** A run that was started. */
export interface StartedRun {
  /** Whether the start was added to a run that collects those of its key, by the `debounce` of its workflow; absent where the run is the start's own. */
  collected?: boolean;
  id: string;
  /** Whether the run was cancelled at once, because there was no room under a limit whose `whenFull` is `skip`; absent where it was not. */
  skipped?: boolean;
  /** Where the run can be seen. */
  url: string;
}

/** What became of many starts. */
export interface StartedRuns {
  /** How many starts were added to runs that collect those of their key, by the `debounce` of the workflow. */
  collected: number;
  /** How many runs were started. */
  created: number;
  /** How many starts were refused. */
  refused: number;
  /** How many starts were carried out before, under the same idempotency key. */
  repeated: number;
  /** In the order of the starts. */
  results: StartResult[];
  /** How many runs were cancelled at once, because there was no room under a limit whose `whenFull` is `skip`. */
  skipped: number;
}

/** An HTTP status such as `404`, or a class of them such as `5xx`. */
export type StatusPattern = number | "1xx" | "2xx" | "3xx" | "4xx" | "5xx";

export interface Step {
  /** Of this visit, from 1; 0 before the first. */
  attempt: number;
  checkpoint?: Json;
  endedAt?: string | null;
  error?: Failure | null;
  /** Of a `wait_for_event`: the event whose data is the output. */
  event?: TakenEvent | null;
  /** Of a map: its items so far. */
  items?: Step[];
  /** The durable calls of its handler, in the order in which it came to them; the last 100. Of a step that waits for several things, its waits in the order of their names. */
  journal?: StepCall[];
  /** Durable calls before those of `journal`. */
  journalOmitted?: number;
  /** An item of a map ends in its index: `send[3]`. */
  name: string;
  output?: Json;
  /** Of a step that has gone on since: why an earlier attempt of this visit failed. */
  previousError?: Failure | null;
  startedAt?: string | null;
  status: "PENDING" | "RUNNING" | "WAITING" | "COMPLETED" | "FAILED" | "SKIPPED" | "CANCELLED";
  type: string;
  /** More than 1 when a failed run was retried. */
  visit: number;
  /** The waits of this visit by name. */
  waits?: StepWait[];
  /** Of a step that sleeps, or has slept: until when. */
  wakeAt?: string | null;
  /** The worker that has it, or had it last. */
  worker?: string | null;
}

/** A durable call of a handler: what it recorded, or what it waits for. */
export interface StepCall {
  /** Attempts so far. */
  attempts: number;
  endedAt?: string | null;
  /** Why it failed, or why its last attempt did. */
  error?: string | null;
  /** `RUN`, or the kind of its wait. */
  kind: "RUN" | "DELAY" | "WEBHOOK" | "SIGNAL" | "EVENT" | "APPROVAL" | "CHILD" | "PAUSE" | "RETRY" | "SCHEDULE" | "CODE" | "CAPACITY";
  name: string;
  /** When it began. Of a RUN: the earliest instant at which its last attempt can have begun. */
  startedAt?: string | null;
  /** PENDING: it waits, or is to be made again. */
  status: "PENDING" | "COMPLETED" | "FAILED" | "TIMED_OUT" | "CANCELLED";
  /** When time ends it, its deadline, or when it is made again. */
  until?: string | null;
  waitpointId?: string | null;
}

/** Tokens and money. */
export interface StepCost {
  /** Input tokens that a provider had seen before, a part of all input tokens. */
  cachedInputTokens: number;
  /** Failed ones too. */
  calls: number;
  /** In millionths of the currency of the price table. */
  costMicros: number;
  inputTokens: number;
  model: string;
  outputTokens: number;
  stepName: string;
  /** Calls that used tokens of a model without a price. */
  unpricedCalls: number;
}

export interface StepWait {
  name: string;
  waitpointId: string;
}

/** The event that a wait took. One that was received long before the wait began was found by looking back. */
export interface TakenEvent {
  id: string;
  receivedAt: string;
}

export interface Task {
  /** Of this visit, from 1. */
  attempt: number;
  /** What an earlier execution left, or null. */
  checkpoint: Json;
  config: Json;
  /** When the attempt's time is over, if it has a limit. */
  deadline: string | null;
  /** `RESUME` when a wait of the handler is over, `BEGIN` before that. */
  executionType: "BEGIN" | "RESUME";
  handler: string;
  /** How often a heartbeat is expected, in milliseconds. */
  heartbeatMs: number | null;
  id: string;
  input: Json;
  /** What earlier executions recorded, in the order it was. */
  journal: JournalEntry[];
  /** Every report carries it. Opaque. */
  leaseToken: string;
  /** Until when the worker has it, unless it sends a heartbeat. */
  leasedUntil: string;
  /** What ended it: `{body, headers, queryParams}` of a call, an event's data, …; of a delay, the same with nothing in it. */
  resumePayload: Json;
  /** The wait that ended last; null before the first. */
  resumedBy: ResumedBy | null;
  runId: string;
  state: Json;
  stepName: string;
  /** The trace of the run, to go on with in the worker; null if there is none. */
  traceparent: string | null;
}

/** A task that is under way, with all that its handler has recorded: what new code can be tried on. */
export interface TaskJournal {
  /** Of this visit, from 1. */
  attempt: number;
  /** What an earlier execution left, or null. */
  checkpoint: Json;
  config: Json;
  handler: string;
  input: Json;
  /** What earlier executions recorded, in the order it was; waits that are open among it. */
  journal: JournalEntry[];
  runId: string;
  state: Json;
  /** The step's name; an item's of a map ends in its index. */
  step: string;
  version: string;
  /** The name of its definition, and the version. */
  workflow: string;
}

/** A part of a list. */
export interface TaskJournalList {
  data: TaskJournal[];
  /** Give it as `cursor` to get what follows; null at the end. */
  nextCursor: string | null;
}

/** A report, by its type. */
export type TaskReport = {
  leaseToken: string;
  /** Null if absent. */
  output?: Json;
  /** Merged into `state`, or stored under the step's `saveAs`. */
  stateUpdates?: Record<string, Json> | null;
  type: "complete";
} | {
  /** Your own; `TASK_FAILED` if absent. */
  code?: string | null;
  /** Where in the handler it came from. */
  detail?: FailureDetail | null;
  leaseToken: string;
  message: string;
  /** The code does not fit what the handler has recorded. The step waits for a worker with another build, unless its `onCodeChange` says that it fails. */
  mismatch?: CodeMismatch | null;
  /** `retryAfterMs` as text: `2d 4h`. */
  retryAfter?: string | null;
  /** Try again after this time, instead of the step's back-off. */
  retryAfterMs?: number | null;
  /** Whether another attempt may help; true if absent. */
  retryable?: boolean | null;
  type: "fail";
} | {
  /** Handed back with the task. An earlier one stays when this is absent. */
  checkpoint?: Json;
  /** `durationMs` as text: `2d 4h`. */
  duration?: string | null;
  durationMs?: number | null;
  leaseToken: string;
  /** Of the pause; once per name and visit of the step. */
  name: string;
  type: "pause";
} | {
  /** Names of waits that the code has no use for any more; those that are still open are cancelled. */
  cancels?: string[];
  /** Handed back with the task. An earlier one stays when this is absent. */
  checkpoint?: Json;
  /** Results that the journal does not hold yet. */
  entries?: NewJournalEntry[];
  leaseToken: string;
  type: "suspend";
  /** What it waits for. A name that has a waitpoint already is waited for as it is. */
  waits: TaskWait[];
  /** When it goes on: when `all` have ended (if absent), `any` (the others are cancelled), or `each` time one ends. */
  wake?: "all" | "any" | "each";
} | {
  /** Names of waits that the code has no use for any more; those that are still open are cancelled. */
  cancels?: string[];
  /** Handed back with the task when it is handed out again. */
  checkpoint?: Json;
  /** Results that the journal does not hold yet. */
  entries?: NewJournalEntry[];
  leaseToken: string;
  type: "heartbeat";
} | {
  leaseToken: string;
  lines: LogLine[];
  type: "log";
} | {
  leaseToken: string;
  type: "release";
};

/** A wait, by its type. */
export type TaskWait = {
  /** What the code asks for, in its own words. A recorded wait answers only code that asks the same. */
  asked?: string | null;
  /** `durationMs` as text: `2d 4h`. */
  duration?: string | null;
  durationMs?: number | null;
  name: string;
  type: "sleep";
} | {
  /** What the code asks for, in its own words. A recorded wait answers only code that asks the same. */
  asked?: string | null;
  /** A past instant is over at once. */
  at: string;
  name: string;
  type: "until";
} | {
  /** What the code asks for, in its own words. A recorded wait answers only code that asks the same. */
  asked?: string | null;
  name: string;
  signalType: string;
  timeout?: string | null;
  timeoutMs?: number | null;
  type: "signal";
} | {
  /** What the code asks for, in its own words. A recorded wait answers only code that asks the same. */
  asked?: string | null;
  eventId: string;
  lookback?: string | null;
  /** How far back to look for events; to the run's creation if absent. */
  lookbackMs?: number | null;
  /** An expression that the event must satisfy. */
  match?: string | null;
  name: string;
  timeout?: string | null;
  timeoutMs?: number | null;
  type: "event";
  /** What fields of the event must be, by their paths: `{"order.id": 7}`. */
  where?: Record<string, Json>;
} | {
  allowGet?: boolean;
  /** What the code asks for, in its own words. A recorded wait answers only code that asks the same. */
  asked?: string | null;
  name: string;
  timeout?: string | null;
  timeoutMs?: number | null;
  type: "webhook";
} | {
  name: string;
  type: "waitpoint";
} | {
  /** What the code asks for, in its own words. A recorded wait answers only code that asks the same. */
  asked?: string | null;
  /** The attempt that failed, from 1. */
  attempt: number;
  /** The initial back-off, drawn between zero and this (full jitter); 1000 if absent. */
  backoffMs?: number | null;
  /** What it is multiplied with after each attempt; 2 if absent. */
  backoffMultiplier?: number | null;
  /** The durable call's name. */
  call: string;
  /** Your own; `TASK_FAILED` if absent. */
  code?: string | null;
  /** All that the call may have. */
  maxAttempts: number;
  /** The longest back-off; 300000 if absent. */
  maxBackoffMs?: number | null;
  /** Why the attempt failed. */
  message: string;
  /** Of the wait: each attempt of the call has one. */
  name: string;
  /** `retryAfterMs` as text: `2d 4h`. */
  retryAfter?: string | null;
  /** Try again after this time, instead of the back-off. */
  retryAfterMs?: number | null;
  type: "retry";
} | {
  /** What the code asks for, in its own words. A recorded wait answers only code that asks the same. */
  asked?: string | null;
  /** The durable call's name. */
  call: string;
  limit: CallLimit;
  name: string;
  timeout?: string | null;
  timeoutMs?: number | null;
  type: "capacity";
} | {
  /** Anyone with the scope `approve` if absent. */
  approvers?: string[];
  /** What the code asks for, in its own words. A recorded wait answers only code that asks the same. */
  asked?: string | null;
  content?: Json;
  /** A JSON Schema that edited content must satisfy. */
  contentSchema?: Json;
  name: string;
  prompt?: string | null;
  /** Approvals that are needed; 1 if absent. */
  quorum?: number | null;
  timeout?: string | null;
  timeoutMs?: number | null;
  type: "approval";
} | {
  /** What the code asks for, in its own words. A recorded wait answers only code that asks the same. */
  asked?: string | null;
  /** The wait is over when the run is started, with `{"status": "STARTED", "runId": …}`; the run goes on by itself. */
  detached?: boolean;
  input?: Json;
  name: string;
  timeout?: string | null;
  timeoutMs?: number | null;
  type: "child";
  /** The newest if absent. */
  version?: string | null;
  /** The name of the workflow. */
  workflow: string;
} | {
  /** What the code asks for, in its own words. A recorded wait answers only code that asks the same. */
  asked?: string | null;
  /** JSON, or text when it is a string; no body if absent. */
  body?: Json;
  /** Statuses that fail an attempt, such as `4xx`, `5xx` or `404`; both classes if absent. */
  failOn?: StatusPattern[] | null;
  headers?: Record<string, string>;
  /** `GET` if absent. */
  method?: Method | null;
  name: string;
  /** How often the call is made; that of an `http` step if absent. */
  retry?: CallRetry | null;
  /** `timeoutMs` as text: `30s`. */
  timeout?: string | null;
  /** How long one attempt may take. */
  timeoutMs?: number | null;
  type: "http";
  /** Taken as it stands: nothing in a call is a template. */
  url: string;
};

export interface TestClock {
  /** When the next timer is due; null: time alone brings nothing more. */
  nextTimer: string | null;
  now: string;
  /** Where it was to go. It is there when `now` is. */
  target?: string | null;
  /** Tasks that workers have, or could take. While there are some, time should not pass. */
  tasks: number;
}

/** What a trigger came to. */
export interface Triggered {
  /** `started`, or `skipped`, `queued`, `queueFull` as the overlap policy has it, or `failed`. */
  outcome: string;
  runId: string | null;
}

export interface UnpinRun {
  /** Only tasks of this handler; all if absent. */
  handler?: string | null;
}

export interface Vote {
  by: string;
  comment?: string | null;
  decision: "approve" | "reject" | "edit";
  /** The link it was decided by; absent for a key. */
  link?: VoteLink | null;
}

export interface VoteLink {
  /** The link is for nobody in particular. */
  forAnyone: boolean;
  /** Who made the link. */
  madeBy: string;
}

export interface WaitCount {
  count: number;
  kind: "DELAY" | "WEBHOOK" | "SIGNAL" | "EVENT" | "APPROVAL" | "CHILD" | "PAUSE" | "RETRY" | "SCHEDULE" | "CODE" | "CAPACITY";
  /** There are more than were counted. */
  more: boolean;
}

/** A wait for an event. */
export interface Waiter {
  /** The condition that an event must satisfy. */
  match?: string | null;
  /** The wait's deadline; null: none. */
  resumeAt: string | null;
  runId: string;
  since: string;
  waitpointId: string;
}

/** A part of a list. */
export interface WaiterList {
  data: Waiter[];
  /** Give it as `cursor` to get what follows; null at the end. */
  nextCursor: string | null;
}

/** An open wait, or a task that nobody does, in words. */
export interface WaitingFor {
  /** The durable call of a handler that waits, or that is to be made again. */
  call?: string | null;
  /** Of a CHILD: the run that is waited for. */
  childRunId?: string | null;
  /** Of a wait its kind; `WORKER` of a task whose handler no worker has. */
  kind: "DELAY" | "WEBHOOK" | "SIGNAL" | "EVENT" | "APPROVAL" | "CHILD" | "PAUSE" | "RETRY" | "SCHEDULE" | "CODE" | "CAPACITY" | "WORKER";
  /** What is waited for, in a sentence. */
  sentence: string;
  since: string;
  /** Absent: the run has not begun. */
  stepName?: string | null;
  /** When time ends it, or its deadline. */
  until?: string | null;
  /** Absent: a task that waits for a worker. */
  waitpointId?: string | null;
}

/** A pause of a run, or of a schedule. */
export interface Waitpoint {
  /** Of an APPROVAL: what is asked, and who has decided what. */
  approval?: ApprovalState | null;
  /** The durable call of a handler that waits, or that is to be made again; of a step that waits for several things, the name of this one. Absent where the step itself waits. */
  call?: string | null;
  createdAt: string;
  /** Of the run; absent for a schedule's wait. */
  definition?: DefinitionRef | null;
  /** Of an EVENT that has ended: the event that ended it. */
  event?: TakenEvent | null;
  /** The `runId`. */
  flowRunId?: string | null;
  id: string;
  kind: "DELAY" | "WEBHOOK" | "SIGNAL" | "EVENT" | "APPROVAL" | "CHILD" | "PAUSE" | "RETRY" | "SCHEDULE" | "CODE" | "CAPACITY";
  /** Of an APPROVAL, in answers to `POST /waitpoints`: a link for everyone who may decide by one. */
  links?: ApprovalLink[];
  listensFor: ListensFor;
  /** Unique in its step; those that begin with `$` are the engine's. */
  name: string;
  resolvedAt?: string | null;
  resolvedBy?: string | null;
  responseToSend?: Json;
  /** When a DELAY, RETRY, PAUSE or SCHEDULE ends; the deadline of the others; null if there is none. */
  resumeAt: string | null;
  /** The `resumeAt`. */
  resumeDateTime?: string | null;
  resumePayload?: Json;
  /** A URL that ends it without a key. Shown to callers that may end it themselves. */
  resumeUrl?: string | null;
  /** Null: a schedule's wait. */
  runId: string | null;
  /** Of a SCHEDULE: whose next occurrence it is. */
  scheduleId?: string | null;
  status: "PENDING" | "COMPLETED" | "TIMED_OUT" | "CANCELLED";
  /** Absent: the run's delayed start. */
  stepName?: string | null;
  /** The `kind`. */
  type?: "DELAY" | "WEBHOOK" | "SIGNAL" | "EVENT" | "APPROVAL" | "CHILD" | "PAUSE" | "RETRY" | "SCHEDULE" | "CODE" | "CAPACITY";
}

/** What narrows a list of waitpoints. */
export interface WaitpointFilter {
  /** `resumeAt` at or after this instant. */
  dueAfter?: string | null;
  /** `resumeAt` before this instant. */
  dueBefore?: string | null;
  /** Waits for this event id. */
  eventId?: string | null;
  kind?: "DELAY" | "WEBHOOK" | "SIGNAL" | "EVENT" | "APPROVAL" | "CHILD" | "PAUSE" | "RETRY" | "SCHEDULE" | "CODE" | "CAPACITY";
  runId?: string | null;
  /** Waits for this signal type. */
  signalType?: string | null;
  status?: "PENDING" | "COMPLETED" | "TIMED_OUT" | "CANCELLED";
}

/** A part of a list. */
export interface WaitpointList {
  data: Waitpoint[];
  /** Give it as `cursor` to get what follows; null at the end. */
  nextCursor: string | null;
}

/** When waits end. */
export interface WakeUps {
  buckets: WakeUpsBucket[];
  from: string;
  until: string;
}

export interface WakeUpsBucket {
  /** Waits that the clock ends: DELAY, PAUSE, RETRY. */
  byTime: number;
  /** Deadlines of the others. */
  deadlines: number;
  from: string;
  /** There are more than were counted. */
  more: boolean;
  until: string;
}

/** A webhook, without its secret. */
export interface Webhook {
  createdAt: string;
  description: string | null;
  disabledAt: string | null;
  /** Why it was disabled: by whom, or because nothing reached it for days. */
  disabledReason: string | null;
  events: ("workflow.completed" | "workflow.failed" | "workflow.cancelled" | "approval.requested" | "approval.decided" | "wait.overdue")[];
  /** Since when every attempt has failed. */
  failingSince: string | null;
  id: string;
  status: WebhookStatus;
  url: string;
}

/** A part of a list. */
export interface WebhookList {
  data: Webhook[];
  /** Give it as `cursor` to get what follows; null at the end. */
  nextCursor: string | null;
}

export type WebhookStatus = "ENABLED" | "DISABLED" | "FAILING";

/** One thing a webhook is told. */
export interface WholeDelivery {
  /** The last attempts, the oldest first. */
  attempts: Attempt[];
  /** What is sent. */
  body: Json;
  createdAt: string;
  event: "workflow.completed" | "workflow.failed" | "workflow.cancelled" | "approval.requested" | "approval.decided" | "wait.overdue";
  /** Sent as `webhook-id`, the same at every attempt. */
  id: string;
  /** Null when nothing more is to be done, or while the webhook is disabled. */
  nextAttemptAt: string | null;
  runId: string;
  status: "PENDING" | "DELIVERED" | "FAILED";
  webhookId: string;
}

export interface Woken {
  runId: string;
  waitpointId: string;
}

export interface Worker {
  /** Which code it has, if it said so. */
  buildId?: string | null;
  handlers: string[];
  id: string;
  seenAt: string;
  /** Tasks it has now. */
  tasks: number;
}

/** A part of a list. */
export interface WorkerList {
  data: Worker[];
  /** Give it as `cursor` to get what follows; null at the end. */
  nextCursor: string | null;
}

/** A workflow: steps that run in the order written, or as a graph if any step says `after`. */
export interface Workflow {
  /** What all calls to models of a run together may cost, in millionths of the currency of the price table. */
  budgetMicros?: number | null;
  /** Events that cancel a run, wherever it is. */
  cancelOn?: WorkflowCancelOn[] | null;
  /** Starts that come shortly after each other begin one run together. */
  debounce?: WorkflowDebounce | null;
  /** The retry policy of steps that have none of their own. */
  defaultRetry?: WorkflowRetry | null;
  description?: string | null;
  /** A JSON Schema that every run's input must satisfy. */
  inputSchema?: Json;
  /** Headers of a call that starts a run by a trigger that its input keeps, beside those that always are: `content-type`, `user-agent`, `webhook-id`, `webhook-timestamp` and `webhook-signature`. */
  keepHeaders?: string[] | null;
  /** Limits of the runs of this workflow: how many may be at work at once, and how many may begin in a time. */
  limits?: WorkflowLimit[] | null;
  /** Offers the workflow to clients of the Model Context Protocol. */
  mcp?: WorkflowMcp | null;
  /** What the workflow is called; runs are started by it. */
  name: string;
  /** Called when a run was cancelled, in a run of its own. */
  onCancel?: WorkflowHook | null;
  /** What becomes of a handler whose code does not fit what it has recorded, for tasks that do not say so themselves. */
  onCodeChange?: WorkflowOnCodeChange | null;
  /** Called when a run has failed, each time it does, in a run of its own. */
  onFailure?: WorkflowHook | null;
  /** What a completed run's `output` is; templates allowed. Without it, the output of the last step that has one. */
  output?: Json;
  /** Whether a task stays with the build that took it first, for tasks that do not say so themselves. */
  pinToBuild?: boolean | null;
  /** Which of several runs that wait for the same room gets it first: 0 (if absent) to 9, or a template that gives it. */
  priority?: Json;
  /** Events that cancel a run and start another of the newest version in its place. */
  restartOn?: WorkflowRestartOn[] | null;
  /** Events that start runs, each when it is received. Those of the newest version count. */
  startOn?: WorkflowStartOn[] | null;
  steps: WorkflowStep[];
  /** `timeoutMs` as a duration, such as `2d 4h` or `PT30M`. */
  timeout?: string | null;
  /** How long a whole run may take, in milliseconds; then it fails, wherever it is. */
  timeoutMs?: number | null;
  /** Definitions are immutable: change the version to change a workflow. A run keeps the version it began with. */
  version?: string;
}

/** An event that cancels a run. */
export interface WorkflowCancelOn {
  /** The event's id. */
  eventId: string;
  /** An expression over `event`, the event's data, and the run's `input`; only events for which it is true count. */
  match?: string | null;
}

/** One run for all starts of a key that come shortly after each other: it begins when no more have come for a while. */
export interface WorkflowDebounce {
  /** `atMostMs` as a duration, such as `5m`. */
  atMost?: string | null;
  /** The run begins so long after the first start at the latest, in milliseconds; ten times `quiet` if absent. */
  atMostMs?: number | null;
  /** Whether the run gets the inputs of all starts, as `{"inputs": […]}`. If not, it gets that of the last one. */
  collect?: boolean | null;
  /** Starts with the same value of this template over `input` belong together; without it, all of the workflow do. */
  key?: string | null;
  /** `quietMs` as a duration, such as `30s`. */
  quiet?: string | null;
  /** The run begins when no start has come for so long, in milliseconds. */
  quietMs?: number | null;
  /** With `collect`: the run begins at once when it has so many inputs. */
  size?: number | null;
}

export type WorkflowFanOut = "all" | "one";

/** A check of a model's answer. */
export type WorkflowGuardrail = {
  onFailure?: WorkflowOnGuardrail | null;
  schema?: Json;
  type: "schema_validation";
} | {
  blocked?: string[] | null;
  judgeModel?: string | null;
  onFailure?: WorkflowOnGuardrail | null;
  type: "content_safety";
} | {
  minimum: number;
  onFailure?: WorkflowOnGuardrail | null;
  path?: string | null;
  type: "confidence_threshold";
};

/** How long room under a limit is kept. */
export type WorkflowHolds = "work" | "run";

/** A handler that is called when a run has ended, with what became of it: `{run, input, state, error}`. */
export interface WorkflowHook {
  /** Settings for the handler; templates allowed, over the `input` that the handler gets. */
  config?: Json;
  /** The handler's registered name. It may be durable code like any other. */
  handler: string;
  /** The `defaultRetry` of the workflow if absent. */
  retry?: WorkflowRetry | null;
  /** `timeoutMs` as a duration. */
  timeout?: string | null;
  /** How long one attempt may work, in milliseconds; waiting does not count. */
  timeoutMs?: number | null;
}

/** A limit: room for so many at once (`concurrency`), so many in a time (`rate`), or both. Who finds no room waits for it. */
export interface WorkflowLimit {
  /** How many may begin at once after a quiet time; 1 if absent. */
  burst?: number | null;
  /** How many may have room at the same time, for each key. */
  concurrency?: number | null;
  /** How long room is kept; `work` if absent. */
  holds?: WorkflowHolds | null;
  /** Each value of this template has room of its own, such as `{{ input.account }}`; without it, all share one. */
  key?: string | null;
  /** What the limit is called. With `scope: workspace`, all workflows that name it share it. */
  name: string;
  /** What happens then; `fail` if absent. A whole run can only fail. */
  onTimeout?: WorkflowOnTimeout | null;
  /** `perMs` as a duration, such as `1m`. */
  per?: string | null;
  /** The time that `rate` is about, in milliseconds. */
  perMs?: number | null;
  /** How many may begin in the time of `per`, for each key. They are spaced evenly, but for a `burst`. */
  rate?: number | null;
  /** `workflow` if absent. */
  scope?: WorkflowLimitScope | null;
  /** `timeoutMs` as a duration. */
  timeout?: string | null;
  /** How long room is waited for at most, in milliseconds. */
  timeoutMs?: number | null;
  /** What becomes of one that finds no room; `queue` if absent. */
  whenFull?: WorkflowWhenFull | null;
}

/** Who shares a limit of the same name. */
export type WorkflowLimitScope = "workflow" | "workspace";

/** The step of a `map`: any step that does something or waits. */
export type WorkflowMapStep = WorkflowMapStepTask | WorkflowMapStepWait | WorkflowMapStepExternalEvent | WorkflowMapStepWaitForEvent | WorkflowMapStepWebhook | WorkflowMapStepLlm | WorkflowMapStepHttp | WorkflowMapStepNotify | WorkflowMapStepSubWorkflow;

/** Waits for a signal sent to this run. */
export interface WorkflowMapStepExternalEvent {
  /** What happens when the time is over; `fail` if absent. */
  onTimeout?: WorkflowOnTimeout | null;
  retry?: WorkflowRetry | null;
  /** The signal's type, such as `payment.received`. */
  signalType: string;
  timeout?: string | null;
  timeoutMs?: number | null;
  type: "external_event" | "wait_for_signal";
}

/** The engine makes an HTTP call. `{{ secret.NAME }}` in its URL, headers and body is filled in when the call is made. */
export interface WorkflowMapStepHttp {
  /** JSON, or text when it is a string; templates allowed. */
  body?: Json;
  /** Statuses that fail the step, such as `4xx`, `5xx` or `404`; both classes if absent. */
  failOn?: WorkflowStatusPattern[] | null;
  /** Templates allowed. */
  headers?: Record<string, string> | null;
  /** Limits of the attempts of this step: how many may be at work at once, and how many may begin in a time. */
  limits?: WorkflowLimit[] | null;
  /** `GET` if absent. */
  method?: WorkflowMethod | null;
  retry?: WorkflowRetry | null;
  /** Sign the call with the server's signing key, as Standard Webhooks. */
  sign?: boolean;
  timeout?: string | null;
  timeoutMs?: number | null;
  type: "http";
  /** Templates allowed. */
  url: string;
}

/** Calls a model. Each call and each tool round is journalled, so that a crash pays for none twice. */
export interface WorkflowMapStepLlm {
  /** What all calls of the step together may cost, in millionths of the currency of the price table. A call that could cost more than is left is not made. */
  budgetMicros?: number | null;
  /** Models to try, in order, when this one fails. */
  fallbackModels?: string[] | null;
  guardrails?: WorkflowGuardrail[] | null;
  /** Limits of the attempts of this step: how many may be at work at once, and how many may begin in a time. */
  limits?: WorkflowLimit[] | null;
  maxTokens?: number | null;
  /** How many rounds of tool calls are allowed; 10 if absent. */
  maxToolRounds?: number | null;
  messages: WorkflowMessage[];
  /** The model's name, as in the server's settings. */
  model: string;
  /** A JSON Schema the answer must satisfy; needs `responseFormat: json`. */
  outputSchema?: Json;
  responseFormat?: WorkflowResponseFormat | null;
  retry?: WorkflowRetry | null;
  /** Templates allowed. */
  systemPrompt?: string | null;
  temperature?: number | null;
  /** `timeoutMs` as a duration. */
  timeout?: string | null;
  /** How long one attempt may work, in milliseconds. */
  timeoutMs?: number | null;
  tools?: WorkflowTool[] | null;
  type: "llm";
}

/** Sends an event to everyone who waits for it. */
export interface WorkflowMapStepNotify {
  /** Templates allowed. */
  data?: Json;
  /** `all` if absent. */
  delivery?: WorkflowFanOut | null;
  /** Templates allowed. */
  eventId: string;
  retry?: WorkflowRetry | null;
  /** Only this run gets it; templates allowed. */
  runId?: string | null;
  type: "notify";
}

/** Starts a run of another workflow and waits for it. */
export interface WorkflowMapStepSubWorkflow {
  /** The other workflow's name. */
  definition: string;
  /** Templates allowed. */
  input?: Json;
  retry?: WorkflowRetry | null;
  type: "workflow" | "child";
  /** The newest version if absent. */
  version?: string | null;
  /** Wait for the run to end; true if absent. */
  wait?: boolean | null;
}

/** Runs a registered handler: in process, a polling worker, or a URL called by the engine. */
export interface WorkflowMapStepTask {
  /** Settings for the handler; templates allowed. */
  config?: Json;
  /** The handler's registered name. */
  handler: string;
  /** `heartbeatMs` as a duration. */
  heartbeat?: string | null;
  /** The worker is taken for lost when it has not reported for this long, in milliseconds. */
  heartbeatMs?: number | null;
  /** What the handler gets as its input; templates allowed. Without it, the run's input. */
  input?: Json;
  /** Limits of the attempts of this step: how many may be at work at once, and how many may begin in a time. */
  limits?: WorkflowLimit[] | null;
  /** What becomes of it when its code does not fit what it has recorded; `wait` if absent. */
  onCodeChange?: WorkflowOnCodeChange | null;
  /** Only workers of the build that takes it first are given it again, in this run; `false` if absent. Until an operator unpins it, it waits for them, however long they are away. */
  pinToBuild?: boolean | null;
  retry?: WorkflowRetry | null;
  /** `timeoutMs` as a duration. */
  timeout?: string | null;
  /** How long one attempt may work, in milliseconds; waiting does not count. */
  timeoutMs?: number | null;
  type: "task";
}

/** Suspends the run durably: for a time, until an instant, or until the next time of a cron line. */
export interface WorkflowMapStepWait {
  /** Waits for the next time of this cron line, in `timezone`. */
  cron?: string | null;
  /** How long to wait: `30s`, `2d 4h`, `PT30M`, or a template that gives one. */
  duration?: string | null;
  /** How long to wait, in milliseconds. */
  durationMs?: number | null;
  retry?: WorkflowRetry | null;
  /** An IANA zone such as `Europe/Berlin`; UTC if absent. */
  timezone?: string | null;
  type: "wait" | "sleep";
  /** The instant to wait for, in RFC 3339, or a template that gives one. A past instant goes on at once. */
  untilTimestamp?: string | null;
}

/** Waits for an event that is sent to everyone. */
export interface WorkflowMapStepWaitForEvent {
  /** The event's id; templates allowed, such as `order-{{ input.orderId }}`. */
  eventId: string;
  /** `lookbackMs` as a duration. Without either, every event since the run was created counts. */
  lookback?: string | null;
  /** Events received up to this long before the wait begins count too, in milliseconds. */
  lookbackMs?: number | null;
  /** An expression over `event`, the event's data, and the run; only events for which it is true count. */
  match?: string | null;
  /** What happens when the time is over; `continue` if absent. */
  onTimeout?: WorkflowOnTimeout | null;
  retry?: WorkflowRetry | null;
  timeout?: string | null;
  timeoutMs?: number | null;
  type: "wait_for_event";
}

/** Waits for a call on its resume URL. */
export interface WorkflowMapStepWebhook {
  /** Let a plain GET resume the run. Off by default: link scanners open every link. */
  allowGet?: boolean;
  /** Let whoever has the link call it with `/sync`, and get what a `respond` step or a webhook says next. Off by default. They never get the run's output. */
  allowSync?: boolean;
  /** Headers of the call that are kept, beside those that always are: `content-type`, `user-agent`, `webhook-id`, `webhook-timestamp` and `webhook-signature`. */
  keepHeaders?: string[] | null;
  /** What happens when the time is over; `fail` if absent. */
  onTimeout?: WorkflowOnTimeout | null;
  /** The reply given at once to the caller that started the run. */
  responseToSend?: WorkflowRespond | null;
  retry?: WorkflowRetry | null;
  timeout?: string | null;
  timeoutMs?: number | null;
  type: "webhook";
}

/** How MCP clients see the workflow: a tool that they call, or a prompt that they get. Those of the newest version count. The description and the schema of the arguments are the workflow's own. */
export interface WorkflowMcp {
  /** What the caller is asked while the run waits, by the type of the signal that it waits for. */
  ask?: Record<string, WorkflowMcpAsk> | null;
  /** Fields of the input that the caller is asked for before the run starts, if the arguments lack them. */
  askFirst?: Record<string, WorkflowMcpAsk> | null;
  /** The tool may destroy something, where it is not `readOnly`. */
  destructive?: boolean | null;
  /** To call the tool again with the same arguments changes nothing more. */
  idempotent?: boolean | null;
  /** `tool` if absent. */
  kind?: WorkflowMcpKind | null;
  /** The tool reaches what is outside of your own systems. */
  openWorld?: boolean | null;
  /** The tool changes nothing. */
  readOnly?: boolean | null;
  /** Whether a call may become a task; `whenLong` if absent. */
  task?: WorkflowMcpTask | null;
  /** What people are shown instead of the name. */
  title?: string | null;
}

/** What a caller is asked: a person with a form, its model, or for its folders. Exactly one of `message`, `sampling` and `roots`. */
export interface WorkflowMcpAsk {
  /** What a person is asked; templates allowed. */
  message?: string | null;
  /** The folders that the client works in. */
  roots?: boolean | null;
  /** What the client's model is asked: the parameters of `sampling/createMessage`, such as `messages` and `maxTokens`; templates allowed. */
  sampling?: Json;
  /** With `message`: the JSON Schema of the form, an object whose fields are text, numbers, booleans or choices. */
  schema?: Json;
}

/** What a workflow is for an MCP client. */
export type WorkflowMcpKind = "tool" | "prompt";

/** Whether a call of a tool may become a task. */
export type WorkflowMcpTask = "whenLong" | "always" | "never";

/** One of several waits of a step. Its deadline is the step's. */
export type WorkflowMember = WorkflowMemberWait | WorkflowMemberExternalEvent | WorkflowMemberWaitForEvent | WorkflowMemberWebhook | WorkflowMemberApproval | WorkflowMemberWorkflow | WorkflowMemberWaitAny | WorkflowMemberWaitAll | WorkflowMemberWaitSome;

/** One of several waits: for people to approve, reject or edit. */
export interface WorkflowMemberApproval {
  /** Whether whoever started the run may decide; true if absent. */
  allowSelfApproval?: boolean | null;
  /** Who may decide: people by name, or `scope:approve` and `scope:admin` for any key with that scope. */
  approvers?: string[] | null;
  /** The key of `state` whose value is shown, and replaced when it is edited. */
  contentKey: string;
  /** A JSON Schema that edited content must satisfy. */
  contentSchema?: Json;
  /** What a rejection does: `fail` the step at once (if absent), or `continue`: it counts as having come. */
  onReject?: WorkflowOnRejectedMember | null;
  /** What is asked; templates allowed. */
  prompt?: string | null;
  /** How many must approve; 1 if absent. */
  quorum?: number | null;
  type: "approval";
}

/** One of several waits: for a signal sent to this run. */
export interface WorkflowMemberExternalEvent {
  /** The signal's type, such as `payment.received`. */
  signalType: string;
  type: "external_event" | "wait_for_signal";
}

/** Suspends the run durably: for a time, until an instant, or until the next time of a cron line. */
export interface WorkflowMemberWait {
  /** Waits for the next time of this cron line, in `timezone`. */
  cron?: string | null;
  /** How long to wait: `30s`, `2d 4h`, `PT30M`, or a template that gives one. */
  duration?: string | null;
  /** How long to wait, in milliseconds. */
  durationMs?: number | null;
  /** An IANA zone such as `Europe/Berlin`; UTC if absent. */
  timezone?: string | null;
  type: "wait" | "sleep";
  /** The instant to wait for, in RFC 3339, or a template that gives one. A past instant goes on at once. */
  untilTimestamp?: string | null;
}

/** One of several waits: for all of others. */
export interface WorkflowMemberWaitAll {
  type: "wait_all";
  /** The waits, by name; none of them has others inside. */
  waits: Record<string, WorkflowMember>;
}

/** One of several waits: for the first of others. */
export interface WorkflowMemberWaitAny {
  type: "wait_any";
  /** The waits, by name; none of them has others inside. */
  waits: Record<string, WorkflowMember>;
}

/** One of several waits: for an event that is sent to everyone. */
export interface WorkflowMemberWaitForEvent {
  /** The event's id; templates allowed, such as `order-{{ input.orderId }}`. */
  eventId: string;
  /** `lookbackMs` as a duration. Without either, every event since the run was created counts. */
  lookback?: string | null;
  /** Events received up to this long before the wait begins count too, in milliseconds. */
  lookbackMs?: number | null;
  /** An expression over `event`, the event's data, and the run; only events for which it is true count. */
  match?: string | null;
  type: "wait_for_event";
}

/** One of several waits: for so many of others. */
export interface WorkflowMemberWaitSome {
  /** How many of them must come. */
  count: number;
  type: "wait_some";
  /** The waits, by name; none of them has others inside. */
  waits: Record<string, WorkflowMember>;
}

/** One of several waits: for a call on its resume URL. */
export interface WorkflowMemberWebhook {
  /** Let a plain GET resume the run. Off by default: link scanners open every link. */
  allowGet?: boolean;
  /** Let whoever has the link call it with `/sync`, and get what a `respond` step or a webhook says next. Off by default. */
  allowSync?: boolean;
  /** Headers of the call that are kept, beside those that always are. */
  keepHeaders?: string[] | null;
  type: "webhook";
}

/** One of several waits: for a child run, which is started with it. */
export interface WorkflowMemberWorkflow {
  /** The other workflow's name. */
  definition: string;
  /** Templates allowed. */
  input?: Json;
  type: "workflow" | "child";
  /** The newest version if absent. */
  version?: string | null;
}

/** One message to a model. */
export interface WorkflowMessage {
  /** Templates allowed. */
  content: string;
  role: WorkflowRole;
}

export type WorkflowMethod = "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS";

/** What happens when nobody decided in time. */
export type WorkflowOnApprovalTimeout = "fail" | "continue" | "approve" | "reject" | {
  goto: string;
};

/** What becomes of a handler whose code does not fit what it has recorded. */
export type WorkflowOnCodeChange = "wait" | "fail";

export type WorkflowOnGuardrail = "block" | "warn" | "retry_with_feedback";

export type WorkflowOnItemFailure = "fail" | "collect";

/** What a rejection does to a step that waits for more than the approval. */
export type WorkflowOnRejectedMember = "fail" | "continue";

/** What happens when a wait's time is over, or an approval is rejected. */
export type WorkflowOnTimeout = "fail" | "continue" | {
  goto: string;
};

/** Answers the caller that started the run; the run goes on. */
export interface WorkflowRespond {
  /** Templates allowed. */
  body?: Json;
  /** Templates allowed. */
  headers?: Record<string, string> | null;
  /** 200 if absent. */
  status?: number | null;
}

export type WorkflowResponseFormat = "text" | "json";

/** An event that cancels a run and starts another in its place. */
export interface WorkflowRestartOn {
  /** The event's id. */
  eventId: string;
  /** The new run's input; templates over `event` allowed. That of the run it replaces if absent. */
  input?: Json;
  /** An expression over `event`, the event's data, and the run's `input`; only events for which it is true count. */
  match?: string | null;
}

/** How often, and after what time, a failed step is tried again. */
export interface WorkflowRetry {
  /** The initial back-off, before the second try, in milliseconds; 1000 if absent. Back-off has full jitter. */
  backoffMs?: number | null;
  /** By how much that grows from try to try; 2 if absent. */
  backoffMultiplier?: number | null;
  /** All tries together; 3 if absent. */
  maxAttempts?: number | null;
  /** The longest back-off, in milliseconds; 300000 if absent. */
  maxBackoffMs?: number | null;
}

export type WorkflowRole = "system" | "user" | "assistant";

/** An event that starts a run of the workflow's newest version. */
export interface WorkflowStartOn {
  /** The event's id. */
  eventId: string;
  /** A template over `event`; events that give the same key start one run together. */
  idempotencyKey?: string | null;
  /** The run's input; templates over `event` allowed. The event's data if absent. */
  input?: Json;
  /** An expression over `event`, the event's data; only events for which it is true start a run. */
  match?: string | null;
}

/** An HTTP status such as `404`, or a class of them such as `5xx`. */
export type WorkflowStatusPattern = number | "1xx" | "2xx" | "3xx" | "4xx" | "5xx";

/** One step of a workflow. */
export type WorkflowStep = WorkflowStepTask | WorkflowStepWait | WorkflowStepCondition | WorkflowStepExternalEvent | WorkflowStepWaitForEvent | WorkflowStepWebhook | WorkflowStepApproval | WorkflowStepLlm | WorkflowStepHttp | WorkflowStepNotify | WorkflowStepRespond | WorkflowStepSubWorkflow | WorkflowStepMap | WorkflowStepWaitAny | WorkflowStepWaitAll | WorkflowStepWaitSome;

/** Waits for people to approve, reject or edit. */
export interface WorkflowStepApproval {
  /** The steps that must be done before this one starts. If any step has it, the workflow is a graph. */
  after?: string[] | null;
  /** Whether whoever started the run may decide; true if absent. */
  allowSelfApproval?: boolean | null;
  /** Who may decide: people by name, or `scope:approve` and `scope:admin` for any key with that scope. Every key with the scope `approve`, and whoever has a link, if absent. */
  approvers?: string[] | null;
  /** The key of `state` whose value is shown, and replaced when it is edited. */
  contentKey: string;
  /** A JSON Schema that edited content must satisfy. */
  contentSchema?: Json;
  description?: string | null;
  /** When others may decide too, after it was asked. */
  escalateAfter?: string | null;
  escalateAfterMs?: number | null;
  /** Who may decide from then on, besides the approvers. */
  escalateTo?: string[] | null;
  /** Unique in the workflow. `steps.<name>.output` is what it produced. */
  name: string;
  /** In a written sequence: the step to go on with, further down, or `end`. */
  next?: string | null;
  /** What happens when it is rejected; `fail` if absent. */
  onReject?: WorkflowOnTimeout | null;
  /** What happens when the time is over; `fail` if absent. */
  onTimeout?: WorkflowOnApprovalTimeout | null;
  /** What is asked; templates allowed. */
  prompt?: string | null;
  /** How many must approve; 1 if absent. */
  quorum?: number | null;
  /** When those who may decide are reminded, after they were asked: `["4h", "1d"]`. */
  remindAfter?: string[] | null;
  retry?: WorkflowRetry | null;
  /** The key of `state` under which the step's result is stored. */
  saveAs?: string | null;
  timeout?: string | null;
  timeoutMs?: number | null;
  type: "approval";
  /** An expression; when it is false, the step is skipped. */
  when?: string | null;
}

/** Goes on with one step or another. */
export interface WorkflowStepCondition {
  /** The steps that must be done before this one starts. If any step has it, the workflow is a graph. */
  after?: string[] | null;
  description?: string | null;
  /** Such as `state.leadScore >= 80`. */
  expression: string;
  /** The step to go on with when it is false, or `end`; without it, the one that follows in order. */
  falseStep?: string | null;
  /** Unique in the workflow. `steps.<name>.output` is what it produced. */
  name: string;
  /** In a written sequence: the step to go on with, further down, or `end`. */
  next?: string | null;
  retry?: WorkflowRetry | null;
  /** The key of `state` under which the step's result is stored. */
  saveAs?: string | null;
  /** The step to go on with when it is true, or `end`. */
  trueStep: string;
  type: "condition";
  /** An expression; when it is false, the step is skipped. */
  when?: string | null;
}

/** Waits for a signal sent to this run. */
export interface WorkflowStepExternalEvent {
  /** The steps that must be done before this one starts. If any step has it, the workflow is a graph. */
  after?: string[] | null;
  description?: string | null;
  /** Unique in the workflow. `steps.<name>.output` is what it produced. */
  name: string;
  /** In a written sequence: the step to go on with, further down, or `end`. */
  next?: string | null;
  /** What happens when the time is over; `fail` if absent. */
  onTimeout?: WorkflowOnTimeout | null;
  retry?: WorkflowRetry | null;
  /** The key of `state` under which the step's result is stored. */
  saveAs?: string | null;
  /** The signal's type, such as `payment.received`. */
  signalType: string;
  timeout?: string | null;
  timeoutMs?: number | null;
  type: "external_event" | "wait_for_signal";
  /** An expression; when it is false, the step is skipped. */
  when?: string | null;
}

/** The engine makes an HTTP call. `{{ secret.NAME }}` in its URL, headers and body is filled in when the call is made. */
export interface WorkflowStepHttp {
  /** The steps that must be done before this one starts. If any step has it, the workflow is a graph. */
  after?: string[] | null;
  /** JSON, or text when it is a string; templates allowed. */
  body?: Json;
  description?: string | null;
  /** Statuses that fail the step, such as `4xx`, `5xx` or `404`; both classes if absent. */
  failOn?: WorkflowStatusPattern[] | null;
  /** Templates allowed. */
  headers?: Record<string, string> | null;
  /** Limits of the attempts of this step: how many may be at work at once, and how many may begin in a time. */
  limits?: WorkflowLimit[] | null;
  /** `GET` if absent. */
  method?: WorkflowMethod | null;
  /** Unique in the workflow. `steps.<name>.output` is what it produced. */
  name: string;
  /** In a written sequence: the step to go on with, further down, or `end`. */
  next?: string | null;
  retry?: WorkflowRetry | null;
  /** The key of `state` under which the step's result is stored. */
  saveAs?: string | null;
  /** Sign the call with the server's signing key, as Standard Webhooks. */
  sign?: boolean;
  timeout?: string | null;
  timeoutMs?: number | null;
  type: "http";
  /** Templates allowed. */
  url: string;
  /** An expression; when it is false, the step is skipped. */
  when?: string | null;
}

/** Calls a model. Each call and each tool round is journalled, so that a crash pays for none twice. */
export interface WorkflowStepLlm {
  /** The steps that must be done before this one starts. If any step has it, the workflow is a graph. */
  after?: string[] | null;
  /** What all calls of the step together may cost, in millionths of the currency of the price table. A call that could cost more than is left is not made. */
  budgetMicros?: number | null;
  description?: string | null;
  /** Models to try, in order, when this one fails. */
  fallbackModels?: string[] | null;
  guardrails?: WorkflowGuardrail[] | null;
  /** Limits of the attempts of this step: how many may be at work at once, and how many may begin in a time. */
  limits?: WorkflowLimit[] | null;
  maxTokens?: number | null;
  /** How many rounds of tool calls are allowed; 10 if absent. */
  maxToolRounds?: number | null;
  messages: WorkflowMessage[];
  /** The model's name, as in the server's settings. */
  model: string;
  /** Unique in the workflow. `steps.<name>.output` is what it produced. */
  name: string;
  /** In a written sequence: the step to go on with, further down, or `end`. */
  next?: string | null;
  /** A JSON Schema the answer must satisfy; needs `responseFormat: json`. */
  outputSchema?: Json;
  responseFormat?: WorkflowResponseFormat | null;
  retry?: WorkflowRetry | null;
  /** The key of `state` under which the step's result is stored. */
  saveAs?: string | null;
  /** Templates allowed. */
  systemPrompt?: string | null;
  temperature?: number | null;
  /** `timeoutMs` as a duration. */
  timeout?: string | null;
  /** How long one attempt may work, in milliseconds. */
  timeoutMs?: number | null;
  tools?: WorkflowTool[] | null;
  type: "llm";
  /** An expression; when it is false, the step is skipped. */
  when?: string | null;
}

/** Does one step for every item of a list, in parallel; the results are in the items' order. */
export interface WorkflowStepMap {
  /** The steps that must be done before this one starts. If any step has it, the workflow is a graph. */
  after?: string[] | null;
  /** How many items at a time; all if absent. */
  concurrency?: number | null;
  description?: string | null;
  /** The list, or an expression or template that gives one. */
  items: Json;
  /** Unique in the workflow. `steps.<name>.output` is what it produced. */
  name: string;
  /** In a written sequence: the step to go on with, further down, or `end`. */
  next?: string | null;
  /** What a failed item does: `fail` the step at once (if absent), or `collect` it as `{"error": …}`. */
  onItemFailure?: WorkflowOnItemFailure | null;
  retry?: WorkflowRetry | null;
  /** The key of `state` under which the step's result is stored. */
  saveAs?: string | null;
  /** The step to do; its templates see `item` and `index`. */
  step: WorkflowMapStep;
  type: "map";
  /** An expression; when it is false, the step is skipped. */
  when?: string | null;
}

/** Sends an event to everyone who waits for it. */
export interface WorkflowStepNotify {
  /** The steps that must be done before this one starts. If any step has it, the workflow is a graph. */
  after?: string[] | null;
  /** Templates allowed. */
  data?: Json;
  /** `all` if absent. */
  delivery?: WorkflowFanOut | null;
  description?: string | null;
  /** Templates allowed. */
  eventId: string;
  /** Unique in the workflow. `steps.<name>.output` is what it produced. */
  name: string;
  /** In a written sequence: the step to go on with, further down, or `end`. */
  next?: string | null;
  retry?: WorkflowRetry | null;
  /** Only this run gets it; templates allowed. */
  runId?: string | null;
  /** The key of `state` under which the step's result is stored. */
  saveAs?: string | null;
  type: "notify";
  /** An expression; when it is false, the step is skipped. */
  when?: string | null;
}

/** Answers the caller that started the run; the run goes on. */
export interface WorkflowStepRespond {
  /** The steps that must be done before this one starts. If any step has it, the workflow is a graph. */
  after?: string[] | null;
  /** Templates allowed. */
  body?: Json;
  description?: string | null;
  /** Templates allowed. */
  headers?: Record<string, string> | null;
  /** Unique in the workflow. `steps.<name>.output` is what it produced. */
  name: string;
  /** In a written sequence: the step to go on with, further down, or `end`. */
  next?: string | null;
  retry?: WorkflowRetry | null;
  /** The key of `state` under which the step's result is stored. */
  saveAs?: string | null;
  /** 200 if absent. */
  status?: number | null;
  type: "respond";
  /** An expression; when it is false, the step is skipped. */
  when?: string | null;
}

/** Starts a run of another workflow and waits for it. */
export interface WorkflowStepSubWorkflow {
  /** The steps that must be done before this one starts. If any step has it, the workflow is a graph. */
  after?: string[] | null;
  /** The other workflow's name. */
  definition: string;
  description?: string | null;
  /** Templates allowed. */
  input?: Json;
  /** Unique in the workflow. `steps.<name>.output` is what it produced. */
  name: string;
  /** In a written sequence: the step to go on with, further down, or `end`. */
  next?: string | null;
  retry?: WorkflowRetry | null;
  /** The key of `state` under which the step's result is stored. */
  saveAs?: string | null;
  type: "workflow" | "child";
  /** The newest version if absent. */
  version?: string | null;
  /** Wait for the run to end; true if absent. */
  wait?: boolean | null;
  /** An expression; when it is false, the step is skipped. */
  when?: string | null;
}

/** Runs a registered handler: in process, a polling worker, or a URL called by the engine. */
export interface WorkflowStepTask {
  /** The steps that must be done before this one starts. If any step has it, the workflow is a graph. */
  after?: string[] | null;
  /** Settings for the handler; templates allowed. */
  config?: Json;
  description?: string | null;
  /** The handler's registered name. */
  handler: string;
  /** `heartbeatMs` as a duration. */
  heartbeat?: string | null;
  /** The worker is taken for lost when it has not reported for this long, in milliseconds. */
  heartbeatMs?: number | null;
  /** What the handler gets as its input; templates allowed. Without it, the run's input. */
  input?: Json;
  /** Limits of the attempts of this step: how many may be at work at once, and how many may begin in a time. */
  limits?: WorkflowLimit[] | null;
  /** Unique in the workflow. `steps.<name>.output` is what it produced. */
  name: string;
  /** In a written sequence: the step to go on with, further down, or `end`. */
  next?: string | null;
  /** What becomes of it when its code does not fit what it has recorded; `wait` if absent. */
  onCodeChange?: WorkflowOnCodeChange | null;
  /** Only workers of the build that takes it first are given it again, in this run; `false` if absent. Until an operator unpins it, it waits for them, however long they are away. */
  pinToBuild?: boolean | null;
  retry?: WorkflowRetry | null;
  /** The key of `state` under which the step's result is stored. */
  saveAs?: string | null;
  /** `timeoutMs` as a duration. */
  timeout?: string | null;
  /** How long one attempt may work, in milliseconds; waiting does not count. */
  timeoutMs?: number | null;
  type: "task";
  /** An expression; when it is false, the step is skipped. */
  when?: string | null;
}

/** Suspends the run durably: for a time, until an instant, or until the next time of a cron line. */
export interface WorkflowStepWait {
  /** The steps that must be done before this one starts. If any step has it, the workflow is a graph. */
  after?: string[] | null;
  /** Waits for the next time of this cron line, in `timezone`. */
  cron?: string | null;
  description?: string | null;
  /** How long to wait: `30s`, `2d 4h`, `PT30M`, or a template that gives one. */
  duration?: string | null;
  /** How long to wait, in milliseconds. */
  durationMs?: number | null;
  /** Unique in the workflow. `steps.<name>.output` is what it produced. */
  name: string;
  /** In a written sequence: the step to go on with, further down, or `end`. */
  next?: string | null;
  retry?: WorkflowRetry | null;
  /** The key of `state` under which the step's result is stored. */
  saveAs?: string | null;
  /** An IANA zone such as `Europe/Berlin`; UTC if absent. */
  timezone?: string | null;
  type: "wait" | "sleep";
  /** The instant to wait for, in RFC 3339, or a template that gives one. A past instant goes on at once. */
  untilTimestamp?: string | null;
  /** An expression; when it is false, the step is skipped. */
  when?: string | null;
}

/** Waits for all of several waits. */
export interface WorkflowStepWaitAll {
  /** The steps that must be done before this one starts. If any step has it, the workflow is a graph. */
  after?: string[] | null;
  description?: string | null;
  /** Unique in the workflow. `steps.<name>.output` is what it produced. */
  name: string;
  /** In a written sequence: the step to go on with, further down, or `end`. */
  next?: string | null;
  /** What happens when the time is over; `fail` if absent. */
  onTimeout?: WorkflowOnTimeout | null;
  retry?: WorkflowRetry | null;
  /** The key of `state` under which the step's result is stored. */
  saveAs?: string | null;
  /** How long all of them together may take. */
  timeout?: string | null;
  timeoutMs?: number | null;
  type: "wait_all";
  /** The waits, by name. */
  waits: Record<string, WorkflowMember>;
  /** An expression; when it is false, the step is skipped. */
  when?: string | null;
}

/** Waits for the first of several waits; the others are cancelled with it. */
export interface WorkflowStepWaitAny {
  /** The steps that must be done before this one starts. If any step has it, the workflow is a graph. */
  after?: string[] | null;
  description?: string | null;
  /** The step to go on with, by the name of the wait that came; without one, the step that follows in order. */
  goto?: Record<string, string> | null;
  /** Unique in the workflow. `steps.<name>.output` is what it produced. */
  name: string;
  /** In a written sequence: the step to go on with, further down, or `end`. */
  next?: string | null;
  /** What happens when the time is over; `fail` if absent. */
  onTimeout?: WorkflowOnTimeout | null;
  retry?: WorkflowRetry | null;
  /** The key of `state` under which the step's result is stored. */
  saveAs?: string | null;
  /** How long all of them together may take. */
  timeout?: string | null;
  timeoutMs?: number | null;
  type: "wait_any";
  /** The waits, by name. Those that come in the same moment count in the order of their names. */
  waits: Record<string, WorkflowMember>;
  /** An expression; when it is false, the step is skipped. */
  when?: string | null;
}

/** Waits for an event that is sent to everyone. */
export interface WorkflowStepWaitForEvent {
  /** The steps that must be done before this one starts. If any step has it, the workflow is a graph. */
  after?: string[] | null;
  description?: string | null;
  /** The event's id; templates allowed, such as `order-{{ input.orderId }}`. */
  eventId: string;
  /** `lookbackMs` as a duration. Without either, every event since the run was created counts. */
  lookback?: string | null;
  /** Events received up to this long before the wait begins count too, in milliseconds. */
  lookbackMs?: number | null;
  /** An expression over `event`, the event's data, and the run; only events for which it is true count. */
  match?: string | null;
  /** Unique in the workflow. `steps.<name>.output` is what it produced. */
  name: string;
  /** In a written sequence: the step to go on with, further down, or `end`. */
  next?: string | null;
  /** What happens when the time is over; `continue` if absent. */
  onTimeout?: WorkflowOnTimeout | null;
  retry?: WorkflowRetry | null;
  /** The key of `state` under which the step's result is stored. */
  saveAs?: string | null;
  timeout?: string | null;
  timeoutMs?: number | null;
  type: "wait_for_event";
  /** An expression; when it is false, the step is skipped. */
  when?: string | null;
}

/** Waits for so many of several waits; the others are cancelled with the last of them. */
export interface WorkflowStepWaitSome {
  /** The steps that must be done before this one starts. If any step has it, the workflow is a graph. */
  after?: string[] | null;
  /** How many of them must come. */
  count: number;
  description?: string | null;
  /** The step to go on with, by the name of the wait that came first; without one, the step that follows in order. */
  goto?: Record<string, string> | null;
  /** Unique in the workflow. `steps.<name>.output` is what it produced. */
  name: string;
  /** In a written sequence: the step to go on with, further down, or `end`. */
  next?: string | null;
  /** What happens when the time is over; `fail` if absent. */
  onTimeout?: WorkflowOnTimeout | null;
  retry?: WorkflowRetry | null;
  /** The key of `state` under which the step's result is stored. */
  saveAs?: string | null;
  /** How long all of them together may take. */
  timeout?: string | null;
  timeoutMs?: number | null;
  type: "wait_some";
  /** The waits, by name. Those that come in the same moment count in the order of their names. */
  waits: Record<string, WorkflowMember>;
  /** An expression; when it is false, the step is skipped. */
  when?: string | null;
}

/** Waits for a call on its resume URL. */
export interface WorkflowStepWebhook {
  /** The steps that must be done before this one starts. If any step has it, the workflow is a graph. */
  after?: string[] | null;
  /** Let a plain GET resume the run. Off by default: link scanners open every link. */
  allowGet?: boolean;
  /** Let whoever has the link call it with `/sync`, and get what a `respond` step or a webhook says next. Off by default. They never get the run's output. */
  allowSync?: boolean;
  description?: string | null;
  /** Headers of the call that are kept, beside those that always are: `content-type`, `user-agent`, `webhook-id`, `webhook-timestamp` and `webhook-signature`. */
  keepHeaders?: string[] | null;
  /** Unique in the workflow. `steps.<name>.output` is what it produced. */
  name: string;
  /** In a written sequence: the step to go on with, further down, or `end`. */
  next?: string | null;
  /** What happens when the time is over; `fail` if absent. */
  onTimeout?: WorkflowOnTimeout | null;
  /** The reply given at once to the caller that started the run. */
  responseToSend?: WorkflowRespond | null;
  retry?: WorkflowRetry | null;
  /** The key of `state` under which the step's result is stored. */
  saveAs?: string | null;
  timeout?: string | null;
  timeoutMs?: number | null;
  type: "webhook";
  /** An expression; when it is false, the step is skipped. */
  when?: string | null;
}

/** Something a model may call: a handler, or another workflow. */
export interface WorkflowTool {
  description?: string | null;
  /** The handler that serves it; the tool's name if absent. */
  handler?: string | null;
  name: string;
  /** A JSON Schema of the arguments. */
  parameters?: Json;
  /** The workflow that serves it, instead of a handler. */
  workflow?: string | null;
}

/** What becomes of a run that finds no room. */
export type WorkflowWhenFull = "queue" | "skip" | "replace" | "refuse";

export interface Workspace {
  createdAt: string;
  id: string;
  name: string;
  /** Runs that have not ended. */
  openRuns: number;
  /** What it may have: its own figures, and those of the server where it has none. */
  quotas: Quotas;
  /** What its histories and events take. */
  storedBytes: number;
}

/** A part of a list. */
export interface WorkspaceList {
  data: Workspace[];
  /** Give it as `cursor` to get what follows; null at the end. */
  nextCursor: string | null;
}

export type ProblemCode = "NOT_JSON" | "BAD_REQUEST" | "UNAUTHENTICATED" | "BAD_LINK" | "BAD_LEASE" | "FORBIDDEN" | "NOT_AN_APPROVER" | "SELF_APPROVAL" | "SYNC_NOT_ALLOWED" | "MAY_NOT_DECIDE" | "HOST_REFUSED" | "PROXY_REFUSED" | "ORIGIN_REFUSED" | "NOT_FOUND" | "UNKNOWN_RUN" | "UNKNOWN_DEFINITION" | "UNKNOWN_STEP" | "UNKNOWN_WAITPOINT" | "UNKNOWN_TASK" | "UNKNOWN_KEY" | "UNKNOWN_LINK_SECRET" | "NO_SIGNING_KEY" | "UNKNOWN_LIMIT" | "UNKNOWN_SCHEDULE" | "UNKNOWN_WEBHOOK" | "UNKNOWN_DELIVERY" | "NOT_HELD" | "UNKNOWN_WORKSPACE" | "METHOD_NOT_ALLOWED" | "READ_ONLY" | "BODY_TIMEOUT" | "ALREADY_RESOLVED" | "ALREADY_DECIDED" | "QUORUM_NOT_REACHED" | "CONTENT_CHANGED" | "WRONG_WAITPOINT_KIND" | "EVENT_DOES_NOT_MATCH" | "NOT_DUE" | "NO_SUCH_TIMER" | "RUN_ENDED" | "NO_TEST_CLOCK" | "HELD" | "RUN_NOT_FAILED" | "RUN_NOT_WAITING" | "RUN_DOES_NOT_FIT" | "RUN_BUSY" | "WRONG_STEP_STATUS" | "STALE_LEASE" | "TASK_ALREADY_TAKEN" | "PINNED_TO_BUILD" | "JOURNAL_CONFLICT" | "JOURNAL_MISMATCH" | "DEFINITION_EXISTS" | "SCHEDULE_EXISTS" | "DELIVERY_PENDING" | "WORKSPACE_EXISTS" | "WAITPOINT_TIMED_OUT" | "WAITPOINT_CANCELLED" | "WAITPOINT_EXPIRED" | "LINK_REVOKED" | "LINK_EXPIRED" | "BODY_TOO_LARGE" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "MALFORMED" | "BAD_CURSOR" | "INVALID_DEFINITION" | "INVALID_INPUT" | "INVALID_CONTENT" | "LIMIT_EXCEEDED" | "IDEMPOTENCY_KEY_REUSED" | "RUN_FAILED" | "RUN_CANCELLED" | "LIMIT_FULL" | "RATE_LIMITED" | "QUOTA_EXCEEDED" | "HEADERS_TOO_LARGE" | "DAMAGED" | "INTERNAL" | "ILLEGAL_TRANSITION" | "OVERLOADED" | "STORE_UNAVAILABLE" | "PAUSED" | "ENGINE_STUCK" | "STOPPING";
