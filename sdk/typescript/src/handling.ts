/** A task handed to its handler, with everything around it. */
import type { Client } from "./client.js";
import { recordedBy } from "./console.js";
import { Context } from "./context.js";
import type { Execution } from "./execution.js";
import { asJson } from "./json.js";
import { type Middleware, aroundCall, aroundHandler } from "./middleware.js";
import type { TaskReport } from "./wire.js";

export type HandlerFunction<I = unknown, O = unknown> = (ctx: Context<I>, input: I) => O | Promise<O>;

/** A handler of whatever input. Where the code does not say what it takes, that is `unknown`. */
export type AnyHandlerFunction = { run(ctx: Context, input: unknown): unknown }["run"];

/** Something with a handler's name. */
export interface Handles {
  readonly handlerName: string;
}

/** A handler with its name: what workers register and workflows name. */
export interface Handler<I = never, O = unknown> extends Handles {
  readonly run: HandlerFunction<I, O>;
}

export function handler<I = unknown, O = unknown>(name: string, run: HandlerFunction<I, O>): Handler<I, O> {
  return { handlerName: name, run };
}

/** Handlers as they are given: with names of their own, or by name. */
export type Handlers = readonly Handler[] | Readonly<Record<string, AnyHandlerFunction>>;

export function byName(handlers: Handlers): Map<string, AnyHandlerFunction> {
  const given =
    handlers instanceof Array
      ? handlers.map(({ handlerName, run }) => [handlerName, run as AnyHandlerFunction] as const)
      : Object.entries(handlers);
  const named = new Map<string, AnyHandlerFunction>();
  for (const [name, run] of given) {
    if (named.has(name)) throw new Error(`there are two handlers \`${name}\``);
    named.set(name, run);
  }
  return named;
}

/** Who handles tasks. */
export interface Handling {
  readonly handlers: ReadonlyMap<string, AnyHandlerFunction>;
  readonly middleware: readonly Middleware[];
  readonly client: Client;
}

/** Runs the handler of an execution. The last report on it, or nothing if the task is not ours any more. */
export function handle(execution: Execution, { handlers, middleware, client }: Handling): Promise<TaskReport | undefined> {
  const { task } = execution;
  const run = handlers.get(task.handler);
  const ctx = new Context(execution, client);
  execution.aroundCall = (call, work) => aroundCall(middleware, { ...call, ctx }, work);
  return execution.run(() =>
    recordedBy(execution, async () => {
      const output = await aroundHandler(middleware, ctx, async () => {
        if (!run) throw new Error(`there is no handler \`${task.handler}\``);
        return run(ctx, ctx.input);
      });
      return asJson(task.handler, output);
    }),
  );
}
