/**
 * The client: the whole HTTP API by its resources, and what most programs need of it, `start`, `startAndWait`, `signal` and
 * `notify`.
 */
import { instant } from "./duration.js";
import type { Jsonify } from "./json.js";
import { RunNotCompleted } from "./problem.js";
import {
  Admin,
  Approvals,
  Definitions,
  ENDED,
  Events,
  type Keyed,
  Limits,
  Runs,
  Schedules,
  type SendOptions,
  Tasks,
  TestClock,
  Triggers,
  Waitpoints,
  Webhooks,
  at,
  keyed,
} from "./resources.js";
import { follow } from "./stream.js";
import { type ClientOptions, Transport } from "./transport.js";
import type { AnyWorkflow, Workflow } from "./workflow.js";
import type * as wire from "./wire.js";

/** How long a start waits for the result before the run is followed instead. */
const START_WAIT = "30s";

export interface StartOptions extends Keyed {
  version?: string;
  /** Begin then, not now. */
  runAt?: Date | string;
  tags?: string[];
  signal?: AbortSignal;
}

/** A workflow by its name, or as it was built. */
export type WorkflowRef = string | AnyWorkflow;

/** The input of a workflow, and what else may be said: a workflow whose input has a type needs it. */
export type Given<I, Options> = undefined extends I ? [input?: I, options?: Options] : [input: I, options?: Options];

/** A run that has changed. `missed`: there were more, and the lists should be read again. */
export type Change = { runId: string; status: wire.Run["status"]; version: number } | { missed: number };

export class Client {
  readonly definitions: Definitions;
  readonly runs: Runs;
  readonly waitpoints: Waitpoints;
  readonly events: Events;
  readonly approvals: Approvals;
  readonly triggers: Triggers;
  readonly schedules: Schedules;
  readonly limits: Limits;
  readonly webhooks: Webhooks;
  readonly tasks: Tasks;
  readonly admin: Admin;
  readonly testClock: TestClock;
  readonly transport: Transport;

  constructor(options: ClientOptions | Transport = {}) {
    this.transport = options instanceof Transport ? options : new Transport(options);
    this.definitions = new Definitions(this.transport);
    this.runs = new Runs(this.transport);
    this.waitpoints = new Waitpoints(this.transport);
    this.events = new Events(this.transport);
    this.approvals = new Approvals(this.transport);
    this.triggers = new Triggers(this.transport);
    this.schedules = new Schedules(this.transport);
    this.limits = new Limits(this.transport);
    this.webhooks = new Webhooks(this.transport);
    this.tasks = new Tasks(this.transport);
    this.admin = new Admin(this.transport);
    this.testClock = new TestClock(this.transport);
  }

  deploy(definition: wire.Workflow | AnyWorkflow): Promise<wire.DeployedDefinition> {
    return this.definitions.deploy(definition);
  }

  /** Starts a run. When this returns, it is on disk. */
  start<I, O>(workflow: Workflow<I, O>, ...given: Given<I, StartOptions>): Promise<RunHandle<Jsonify<O>>>;
  start<O = wire.Json>(workflow: string, input?: unknown, options?: StartOptions): Promise<RunHandle<O>>;
  async start(workflow: WorkflowRef, input?: unknown, options: StartOptions = {}): Promise<RunHandle<unknown>> {
    const { id } = await this.runs.start(startOf(workflow, input, options), options);
    return new RunHandle(this, id);
  }

  /**
   * Starts a run for each input, with one request: up to 5,000, of together 8 MiB. Each has its own answer, in the same order;
   * one that is refused hinders no other. `runs.startMany` takes versions, keys, tags and instants of each.
   */
  startMany<I, O>(workflow: Workflow<I, O>, inputs: I[], options?: StartOptions): Promise<wire.StartedRuns>;
  startMany(workflow: string, inputs: unknown[], options?: StartOptions): Promise<wire.StartedRuns>;
  startMany(workflow: WorkflowRef, inputs: unknown[], options: StartOptions = {}): Promise<wire.StartedRuns> {
    return this.runs.startMany(
      inputs.map((input) => startOf(workflow, input, options)),
      options,
    );
  }

  /** Starts a run and returns its output. A run that does not complete is a `RunNotCompleted`. */
  startAndWait<I, O>(workflow: Workflow<I, O>, ...given: Given<I, StartOptions>): Promise<Jsonify<O>>;
  startAndWait<O = wire.Json>(workflow: string, input?: unknown, options?: StartOptions): Promise<O>;
  async startAndWait(workflow: WorkflowRef, input?: unknown, options: StartOptions = {}): Promise<unknown> {
    const request = keyed("POST", at`/workflow-runs`, startOf(workflow, input, options), options);
    const query = { wait: START_WAIT };
    const run = await this.transport.json<wire.Run>({ ...request, query, signal: options.signal });
    return outputOf(ENDED.has(run.status) ? run : await this.runs.wait(run.id, options.signal));
  }

  signal(runId: string, signalType: string, payload?: unknown, options: Keyed = {}): Promise<wire.Signalled> {
    return this.runs.signal(runId, signalType, payload, options);
  }

  notify(eventId: string, data?: unknown, options: SendOptions = {}): Promise<wire.EventSent> {
    return this.events.send(eventId, data, options);
  }

  /** Every change of every run of the workspace, from now on, until the signal ends it. */
  async *feed(signal?: AbortSignal): AsyncGenerator<Change, void, undefined> {
    const request = { method: "GET", path: at`/feed`, signal };
    for await (const { event, data } of follow(this.transport, request, () => false)) {
      yield event === "missed" ? { missed: Number(data) } : (JSON.parse(data) as Change);
    }
  }
}

/** A run that was started. */
export class RunHandle<O = wire.Json> {
  constructor(
    private readonly client: Client,
    readonly id: string,
  ) {}

  get(): Promise<wire.Run> {
    return this.client.runs.find(this.id);
  }

  /** Its output, when it has ended. A run that does not complete is a `RunNotCompleted`. */
  async result(signal?: AbortSignal): Promise<O> {
    return outputOf<O>(await this.client.runs.wait(this.id, signal));
  }

  signal(signalType: string, payload?: unknown, options: Keyed = {}): Promise<wire.Signalled> {
    return this.client.runs.signal(this.id, signalType, payload, options);
  }

  cancel(reason?: string): Promise<wire.CommandedRun> {
    return this.client.runs.cancel(this.id, reason === undefined ? {} : { reason });
  }

  follow(signal?: AbortSignal): AsyncGenerator<wire.HistoryRecord, void, undefined> {
    return this.client.runs.follow(this.id, { signal });
  }
}

function startOf(workflow: WorkflowRef, input: unknown, options: StartOptions): wire.StartRun {
  const { version, runAt, tags } = options;
  return {
    name: typeof workflow === "string" ? workflow : workflow.name,
    ...(version === undefined ? {} : { version }),
    ...(input === undefined ? {} : { input: input as wire.Json }),
    ...(runAt === undefined ? {} : { runAt: instant(runAt) }),
    ...(tags === undefined ? {} : { tags }),
  };
}

function outputOf<O>(run: wire.Run): O {
  if (run.status !== "COMPLETED") throw new RunNotCompleted(run);
  return run.output as O;
}
