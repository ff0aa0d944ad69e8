/** Which code a worker has, where nobody says so. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

/** A hash of the handlers as they are written, and of the file that was started. What they import is not looked at. */
export function hashOf(handlers: ReadonlyMap<string, (...given: never[]) => unknown>): string {
  const hash = createHash("sha256");
  for (const [name, handler] of [...handlers].sort(([one], [other]) => (one < other ? -1 : 1))) {
    hash.update(`${name}\0${handler}\0`);
  }
  try {
    hash.update(readFileSync(process.argv[1] ?? ""));
  } catch {
    // Started without a file, or from one that is gone: the handlers are all there is.
  }
  return hash.digest("hex").slice(0, 16);
}
