/** The programs of the README run to their end as they stand. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { TestServer } from "../src/testing.js";

const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8");
const place = (name: string) => fileURLToPath(new URL(`../examples/${name}.js`, import.meta.url));
const source = (name: string) => readFileSync(new URL(`../../examples/${name}.ts`, import.meta.url), "utf8");

test("every program of the README is an example", () => {
  const programs = [...readme.matchAll(/```ts\n([^]*?)```/g)].map((found) => found[1]);
  assert.deepEqual(programs, [source("readme"), source("virtual-time")]);
});

test("the README's programs run to their end", { timeout: 300_000 }, async () => {
  const server = await TestServer.start({ realTime: true });
  try {
    const env = { ...process.env, ABIDE_SERVER: server.url };
    const run = (name: string) => promisify(execFile)(process.execPath, [place(name)], { env });
    assert.equal((await run("readme")).stdout, "parcel of order 7 was shipped\n");
    assert.equal((await run("virtual-time")).stdout, "done true\n");
  } finally {
    await server.close();
  }
});
