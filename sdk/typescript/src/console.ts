/** What a handler writes with `console`, in its run's log as well. */
import { AsyncLocalStorage } from "node:async_hooks";
import { format } from "node:util";

import type { Execution } from "./execution.js";
import type { LogLine } from "./wire.js";

const LEVELS = { debug: "debug", log: "info", info: "info", warn: "warn", error: "error" } as const;
type Method = keyof typeof LEVELS;

/** The execution that the code belongs to. */
const executions = new AsyncLocalStorage<Execution>();

export const recordedBy = <T>(execution: Execution, work: () => T): T => executions.run(execution, work);

let undo: (() => void) | undefined;

/**
 * From now on, what is written with `console.debug`, `log`, `info`, `warn` and `error` while a handler runs goes to the log of its
 * run as well, under the same rules as `ctx.log`. What is written elsewhere is not touched. Gives a function that undoes it.
 */
export function captureConsole(): () => void {
  if (undo) return undo;
  const before = Object.keys(LEVELS).map((name) => {
    const method = name as Method;
    const original = console[method];
    const captured = (...parts: unknown[]): void => {
      original.apply(console, parts);
      write(LEVELS[method], parts);
    };
    console[method] = captured;
    return () => {
      // Somebody may have come after us.
      if (console[method] === captured) console[method] = original;
    };
  });
  undo = () => {
    undo = undefined;
    before.forEach((restore) => restore());
  };
  return undo;
}

function write(level: LogLine["level"], parts: unknown[]): void {
  executions.getStore()?.log(level, format(...parts));
}
