/** What the kinds of waits are asked with, and what they come to. */
import type { CallRetry } from "./call.js";
import type { WorkflowRef } from "./client.js";
import { type Duration, field } from "./duration.js";
import { CallFailed, ChildFailed } from "./failure.js";
import { asJson } from "./json.js";
import type { WaitSpec } from "./wait.js";
import type * as wire from "./wire.js";
import type { Json, Vote } from "./wire.js";

/** A waitpoint with a URL that ends it. */
export interface Waitpoint {
  readonly name: string;
  readonly id: string;
  readonly resumeUrl: string;
}

/** A call on a resume URL. */
export interface Call<T = Json> {
  body: T;
  headers: Record<string, string>;
  queryParams: Record<string, string>;
}

export interface EventOptions {
  timeout?: Duration;
  /** An expression that the event must satisfy: `event.order == input.id`. */
  match?: string;
  /** What fields of the event must be, by their paths: `{ "order.id": orderId }`. Values of the code go here, not into `match`. */
  where?: Record<string, Json>;
  /** How far back to look for events; to the run's creation if absent. */
  lookback?: Duration;
}

export interface ApprovalOptions<T = unknown> {
  prompt?: string;
  /** What is to be approved. */
  content?: T;
  /** A JSON Schema that edited content must satisfy; the page behind a link makes a form of it. */
  contentSchema?: unknown;
  /** Who may decide; every key with the scope `approve`, and whoever has a link, if absent. */
  approvers?: string[];
  /** Approvals that are needed; 1 if absent. */
  quorum?: number;
  timeout?: Duration;
}

/** What was decided. Neither approved nor rejected: nobody decided in time. */
export interface Approval<T = Json> {
  decision: "approve" | "reject" | "edit" | "timeout";
  /** True for `approve`, and for `edit`, which approves what it makes. */
  approved: boolean;
  /** What was approved: as it was asked, or as it was edited. Null if nothing was given. */
  content: T;
  /** Who said what. */
  votes: Vote[];
}

/** An approval that people were asked for, and who decides where. */
export interface RequestedApproval<T = unknown> {
  readonly name: string;
  readonly id: string;
  /** The link for anyone, if one voice of anyone is enough. */
  readonly url: string | undefined;
  /** A link for each approver who is named. What is decided by it is recorded under that name. */
  readonly links: Readonly<Record<string, string>>;
  /** What was asked. */
  readonly options: ApprovalOptions<T>;
}

export interface ChildOptions {
  /** The newest if absent. */
  version?: string;
}

/** What is told of the run of a `child`. */
export interface ChildEnd {
  status: "STARTED" | "COMPLETED" | "FAILED" | "CANCELLED";
  runId?: string;
  output?: Json;
  error?: { code: string; message: string };
}

/** A call that the engine makes. */
export interface HttpRequest {
  url: string;
  /** `GET` if absent. */
  method?: wire.WorkflowMethod;
  headers?: Record<string, string>;
  /** JSON, or text when it is a string. */
  body?: unknown;
  /** How long one attempt may take. */
  timeout?: Duration;
  /** Statuses that fail an attempt; `4xx` and `5xx` if absent. */
  failOn?: wire.WorkflowStatusPattern[];
  /** A policy, or just how many attempts, at most 20; 3 if absent. */
  retry?: CallRetry | number;
}

/** What was answered. */
export interface HttpAnswer<T = Json> {
  status: number;
  headers: Record<string, string>;
  /** What the JSON is, or the text where it is none. */
  body: T;
}

export function approvalOf(options: ApprovalOptions): WaitSpec {
  const { timeout, ...rest } = options;
  return { type: "approval", ...rest, ...field("timeout", timeout) };
}

export function childOf(workflow: WorkflowRef, input: unknown, { version }: ChildOptions): WaitSpec {
  const name = typeof workflow === "string" ? workflow : workflow.name;
  const spec = { type: "child", workflow: name, input: asJson("input", input) };
  return version === undefined ? spec : { ...spec, version };
}

/** Nobody but an operator ends the wait so. */
export function childTimedOut(name: string): never {
  throw new ChildFailed(name, `the wait for the run of \`${name}\` was timed out`, "CHILD_TIMED_OUT");
}

export function childFailed(name: string, payload: ChildEnd | null): ChildFailed {
  if (payload?.status === "CANCELLED") return new ChildFailed(name, `the run of \`${name}\` was cancelled`, "CHILD_CANCELLED");
  const { code = "UNKNOWN", message = "it ended without a result" } = payload?.error ?? {};
  return new ChildFailed(name, `the run of \`${name}\` failed: ${code}: ${message}`, "CHILD_FAILED");
}

export function callFailed(name: string, payload: ChildEnd | null): CallFailed {
  if (payload?.status === "CANCELLED") return new CallFailed(name, `the call \`${name}\` was cancelled`, "CALL_CANCELLED");
  const { code = "UNKNOWN", message = "it ended without an answer" } = payload?.error ?? {};
  return new CallFailed(name, `the call \`${name}\` failed: ${message}`, code);
}
