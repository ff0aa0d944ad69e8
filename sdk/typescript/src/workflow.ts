/** Workflows written in TypeScript. `build` gives exactly the JSON that the server takes, once its structure is sound. */
import { InvalidWorkflow, problems } from "./check.js";
import { type Duration, field, instant } from "./duration.js";
import type { Jsonify } from "./json.js";
import type { Handler, Handles } from "./handling.js";
import type * as wire from "./wire.js";

type Common = "type" | "name" | "duration" | "durationMs" | "timeout" | "timeoutMs" | "heartbeat" | "heartbeatMs";
/** The fields of a step, but for those that the builder's method takes, with lengths of time as one field. */
type Fields<S, Taken extends string = never> = Omit<S, Common | Taken> &
  ("timeoutMs" extends keyof S ? { timeout?: Duration } : {}) &
  ("heartbeatMs" extends keyof S ? { heartbeat?: Duration } : {});

export interface WorkflowFields {
  version?: string;
  description?: string;
  inputSchema?: unknown;
  timeout?: Duration;
  defaultRetry?: wire.WorkflowRetry;
  /** Whether tasks stay with the build that took them first, for those that do not say so themselves. */
  pinToBuild?: boolean;
  /** How many runs may be at work at once, and how many may begin in a time. */
  limits?: wire.WorkflowLimit[];
  /** Which of several runs that wait for the same room gets it first: 0 to 9, or a template that gives it. */
  priority?: number | string;
  /** Starts that come shortly after each other begin one run together. */
  debounce?: wire.WorkflowDebounce;
  /** Offers the workflow to clients of the Model Context Protocol; `{}` makes it a tool. */
  mcp?: wire.WorkflowMcp;
  output?: unknown;
}

/** What a hook has beside its handler. */
export type HookOptions = Fields<wire.WorkflowHook, "handler">;

type TaskFields = Fields<wire.WorkflowStepTask, "handler">;
/** What a handler must take: the input as it is after JSON, if it has a type. */
type Taken<I> = unknown extends I ? never : Jsonify<I>;

type AnyStep = { type: string; name: string; [field: string]: unknown };

/** A workflow of whatever input and output. */
export interface AnyWorkflow {
  readonly name: string;
  build(): wire.Workflow;
}

/** A workflow for inputs `I` and outputs `O`. Steps run in the order written, or, if one says `after`, as a graph. */
export class Workflow<I = unknown, O = wire.Json> implements AnyWorkflow {
  /** Only for the compiler. */
  declare readonly types: { input: I; output: O };
  private readonly steps: AnyStep[] = [];
  private readonly hooks: { onFailure?: object; onCancel?: object } = {};
  private readonly events: { startOn?: object[]; cancelOn?: object[]; restartOn?: object[] } = {};

  constructor(
    readonly name: string,
    private readonly fields: WorkflowFields = {},
  ) {}

  /** The handler that is called each time a run fails, in a run of its own: cleanup belongs here, not into a `finally`. */
  onFailure(handler: string | Handles, options: HookOptions = {}): this {
    this.hooks.onFailure = hook(handler, options);
    return this;
  }

  /** The handler that is called when a run was cancelled. */
  onCancel(handler: string | Handles, options: HookOptions = {}): this {
    this.hooks.onCancel = hook(handler, options);
    return this;
  }

  /** An event that starts runs of the newest version. */
  startOn(eventId: string, options: Omit<wire.WorkflowStartOn, "eventId"> = {}): this {
    (this.events.startOn ??= []).push({ eventId, ...options });
    return this;
  }

  /** An event that cancels a run, wherever it is. */
  cancelOn(eventId: string, options: Omit<wire.WorkflowCancelOn, "eventId"> = {}): this {
    (this.events.cancelOn ??= []).push({ eventId, ...options });
    return this;
  }

  /** An event that cancels a run and starts another in its place. */
  restartOn(eventId: string, options: Omit<wire.WorkflowRestartOn, "eventId"> = {}): this {
    (this.events.restartOn ??= []).push({ eventId, ...options });
    return this;
  }

  /** Work for a handler. Without an `input` of its own it gets the workflow's, and must be one that takes it. */
  task(name: string, handler: string, fields?: TaskFields): this;
  task(name: string, handler: Handler, fields: TaskFields & { input: wire.Json }): this;
  task(name: string, handler: Handler<Taken<I>>, fields?: TaskFields): this;
  task(name: string, handler: string | Handles, fields: TaskFields = {}): this {
    return this.add("task", name, {
      handler: typeof handler === "string" ? handler : handler.handlerName,
      ...lengths(fields),
    });
  }

  /** Sleeps, without a worker, a thread or memory. */
  sleep(name: string, duration: Duration, fields: Fields<wire.WorkflowStepWait, Times> = {}): this {
    return this.add("wait", name, { ...field("duration", duration), ...fields });
  }

  sleepUntil(name: string, at: Date | string, fields: Fields<wire.WorkflowStepWait, Times> = {}): this {
    return this.add("wait", name, { untilTimestamp: instant(at), ...fields });
  }

  /** Sleeps until a cron line is due. */
  cron(
    name: string,
    cron: string,
    fields: Fields<wire.WorkflowStepWait, Exclude<Times, "timezone">> = {},
  ): this {
    return this.add("wait", name, { cron, ...fields });
  }

  /** Waits for a signal to this run. */
  waitForSignal(
    name: string,
    signalType: string,
    fields: Fields<wire.WorkflowStepExternalEvent, "signalType"> = {},
  ): this {
    return this.add("external_event", name, { signalType, ...lengths(fields) });
  }

  /** Waits for an event to everyone. */
  waitForEvent(
    name: string,
    eventId: string,
    fields: Fields<wire.WorkflowStepWaitForEvent, "eventId" | "lookbackMs" | "lookback"> & { lookback?: Duration } = {},
  ): this {
    return this.add("wait_for_event", name, { eventId, ...lengths(fields) });
  }

  /** Waits for a call on its resume URL. */
  webhook(name: string, fields: Fields<wire.WorkflowStepWebhook> = {}): this {
    return this.add("webhook", name, lengths(fields));
  }

  /** Waits for people. */
  approve(name: string, fields: Fields<wire.WorkflowStepApproval>): this {
    return this.add("approval", name, lengths(fields));
  }

  condition(
    name: string,
    expression: string,
    fields: Fields<wire.WorkflowStepCondition, "expression">,
  ): this {
    return this.add("condition", name, { expression, ...fields });
  }

  llm(name: string, fields: Fields<wire.WorkflowStepLlm>): this {
    return this.add("llm", name, lengths(fields));
  }

  http(name: string, url: string, fields: Fields<wire.WorkflowStepHttp, "url"> = {}): this {
    return this.add("http", name, { url, ...lengths(fields) });
  }

  notify(name: string, eventId: string, fields: Fields<wire.WorkflowStepNotify, "eventId"> = {}): this {
    return this.add("notify", name, { eventId, ...fields });
  }

  /** Answers the caller that started the run; the run goes on. */
  respond(name: string, fields: Fields<wire.WorkflowStepRespond> = {}): this {
    return this.add("respond", name, fields);
  }

  /** Starts a child run and waits for it. */
  child(
    name: string,
    definition: string | AnyWorkflow,
    fields: Fields<wire.WorkflowStepSubWorkflow, "definition"> = {},
  ): this {
    const child = typeof definition === "string" ? definition : definition.name;
    return this.add("workflow", name, { definition: child, ...lengths(fields) });
  }

  /** One step over a list, in parallel. */
  map(name: string, items: wire.WorkflowStepMap["items"], step: wire.WorkflowMapStep, fields: Fields<wire.WorkflowStepMap, "items" | "step"> = {}): this {
    return this.add("map", name, { items, step, ...fields });
  }

  /** Waits for the first of several waits; the others are cancelled with it. `goto` leads on by the one that came. */
  waitAny(
    name: string,
    waits: Record<string, wire.WorkflowMember>,
    fields: Fields<wire.WorkflowStepWaitAny, "waits"> = {},
  ): this {
    return this.add("wait_any", name, { waits, ...lengths(fields) });
  }

  /** Waits for all of several waits. */
  waitAll(
    name: string,
    waits: Record<string, wire.WorkflowMember>,
    fields: Fields<wire.WorkflowStepWaitAll, "waits"> = {},
  ): this {
    return this.add("wait_all", name, { waits, ...lengths(fields) });
  }

  /** Waits for `count` of several waits; the others are cancelled with the last of them. */
  waitSome(
    name: string,
    count: number,
    waits: Record<string, wire.WorkflowMember>,
    fields: Fields<wire.WorkflowStepWaitSome, "waits" | "count"> = {},
  ): this {
    return this.add("wait_some", name, { waits, count, ...lengths(fields) });
  }

  /** Any step, as in a document. */
  step(step: wire.WorkflowStep): this {
    this.steps.push(step as AnyStep);
    return this;
  }

  /**
   * The document, as it is posted. Throws `InvalidWorkflow` with all that is wrong with its structure: names, targets, cycles,
   * bounds. The server checks that too, and also what expressions and templates say.
   */
  build(): wire.Workflow {
    const document = this.toJSON();
    const found = problems(document);
    if (found.length > 0) throw new InvalidWorkflow(this.name, found);
    return document;
  }

  /** The document as it stands, unchecked. */
  toJSON(): wire.Workflow {
    const { timeout, ...fields } = this.fields;
    return { name: this.name, ...fields, ...field("timeout", timeout), ...this.events, ...this.hooks, steps: this.steps } as unknown as wire.Workflow;
  }

  private add(type: string, name: string, fields: object): this {
    this.steps.push({ type, name, ...fields });
    return this;
  }
}

function hook(handler: string | Handles, options: HookOptions): object {
  return { handler: typeof handler === "string" ? handler : handler.handlerName, ...lengths(options) };
}

type Times = "untilTimestamp" | "cron" | "timezone";

const LENGTHS = ["timeout", "heartbeat", "lookback"];

function lengths(fields: object): Record<string, unknown> {
  const written = Object.entries(fields).flatMap(([name, value]) =>
    LENGTHS.includes(name) ? Object.entries(field(name, value as Duration)) : [[name, value] as const],
  );
  return Object.fromEntries(written);
}

/** A workflow to build. */
export function workflow<I = unknown, O = wire.Json>(name: string, fields: WorkflowFields = {}): Workflow<I, O> {
  return new Workflow<I, O>(name, fields);
}
