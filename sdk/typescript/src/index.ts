/** abide for TypeScript: a client, a worker, durable code in handlers, and workflows written in code. */
export { Branch } from "./branch.js";
export type { CallRetry, DurableCall, Limit, RunOptions } from "./call.js";
export { InvalidWorkflow, type WorkflowProblem } from "./check.js";
export * from "./client.js";
export { Context, type First, type Log } from "./context.js";
export type { Duration } from "./duration.js";
export { captureConsole } from "./console.js";
export * from "./failure.js";
export { type AnyHandlerFunction, type Handler, type HandlerFunction, type Handlers, type Handles, handler } from "./handling.js";
export type { Json, Jsonify } from "./json.js";
export type { CallInContext, Middleware } from "./middleware.js";
export { type Page, Pages } from "./pages.js";
export * from "./problem.js";
export {
  Admin,
  Approvals,
  Definitions,
  type DeliveryQuery,
  Events,
  type Keyed,
  type LimitQuery,
  Limits,
  type Paged,
  type RunQuery,
  Runs,
  Schedules,
  type SendOptions,
  Tasks,
  TestClock,
  Triggers,
  type WaitpointQuery,
  Waitpoints,
  Webhooks,
} from "./resources.js";
export type { ClientOptions } from "./transport.js";
export { Wait } from "./wait.js";
export type {
  Approval,
  ApprovalOptions,
  Call,
  ChildOptions,
  EventOptions,
  HttpAnswer,
  HttpRequest,
  RequestedApproval,
  Waitpoint,
} from "./waits.js";
export * from "./worker.js";
export { type AnyWorkflow, type HookOptions, Workflow, type WorkflowFields, workflow } from "./workflow.js";
export type * as wire from "./wire.js";
