/** The client has a method for every operation of the API, and its types are those of the API's document. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { Client } from "../src/index.js";
import { type Request, Transport } from "../src/transport.js";

const root = new URL("../../../../", import.meta.url);

/** Pages for people, their sessions, and the document itself. */
const PAGES = [
  "GET /",
  "GET /docs",
  "GET /openapi.json",
  "GET /api/v1/session",
  "POST /api/v1/session",
  "DELETE /api/v1/session",
];
/** These take any method, and mean the same; the client sends a POST. */
const ANY_METHOD = /\/(triggers|workflow-runs\/\{id\}\/waitpoints)\/\{\w+\}(\/sync)?$/;

class Recorder extends Transport {
  readonly asked: string[] = [];

  override async send({ method, path, accept }: Request): Promise<Response> {
    this.asked.push(`${method} ${path}`);
    if (accept === "text/event-stream") return new Response(null, { status: 204 });
    return new Response('{"data": [], "id": "x", "status": "COMPLETED"}');
  }
}

test("the types are those of the document", () => {
  execFileSync(fileURLToPath(new URL("sdk/generate", root)), ["--check"], { stdio: "pipe" });
});

test("there is a method for every operation", async () => {
  const document = JSON.parse(readFileSync(new URL("schema/openapi.json", root), "utf8"));
  const operations = Object.entries(document.paths as object).flatMap(([path, methods]) =>
    Object.keys(methods as object)
      .map((method) => [method.toUpperCase(), path] as const)
      .filter(([method, path]) => !path.endsWith("/confirm") && (method === "POST" || !ANY_METHOD.test(path)))
      .map(([method, path]) => `${method} ${path}`)
      .filter((operation) => !PAGES.includes(operation)),
  );
  const transport = new Recorder();
  const client = new Client(transport);
  for (const resource of Object.values(client) as unknown[]) {
    if (resource instanceof Transport || typeof resource !== "object" || resource === null) continue;
    for (const name of Object.getOwnPropertyNames(Object.getPrototypeOf(resource))) {
      if (name !== "constructor") await call(resource, name);
    }
  }
  await client.startAndWait("x");
  for await (const _ of client.feed());
  const shapes = operations.map((operation) => operation.replace(/\{[^}]*\}/g, "x"));
  const missing = shapes.filter((shape) => !transport.asked.includes(shape));
  assert.deepEqual(missing, []);
  const unknown = [...new Set(transport.asked)].filter((asked) => !shapes.includes(asked) && asked !== "POST x");
  assert.deepEqual(unknown, []);
});

async function call(resource: object, name: string): Promise<void> {
  const method = (resource as Record<string, (...args: unknown[]) => unknown>)[name];
  const result = method?.call(resource, ...Array<string>(3).fill("x"));
  if (result !== null && typeof result === "object" && Symbol.asyncIterator in result) {
    for await (const _ of result as AsyncIterable<unknown>);
  } else {
    const given = await result;
    if (given instanceof ReadableStream) await given.cancel();
  }
}
