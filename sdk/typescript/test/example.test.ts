/** The example in three files, as a user would run it. */
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { TestServer } from "../src/testing.js";

const place = (name: string) => fileURLToPath(new URL(`../examples/${name}.js`, import.meta.url));
const source = (name: string) => new URL(`../../examples/${name}.ts`, import.meta.url);

function run(name: string, server: TestServer): ChildProcess {
  const env = { ...process.env, ABIDE_SERVER: server.url };
  return spawn(process.execPath, [place(name)], { env, stdio: ["ignore", "pipe", "inherit"] });
}

test("an order sleeps, waits for its payment, asks for approval, and is shipped", { timeout: 300_000 }, async () => {
  const server = await TestServer.start({ realTime: true });
  const worker = run("worker", server);
  try {
    const starter = run("start", server);
    let said = "";
    starter.stdout?.on("data", (text) => (said += text));
    const code = await new Promise((go) => starter.once("exit", go));
    assert.deepEqual([code, said], [0, "parcel of order 7 was shipped\n"]);
  } finally {
    worker.kill("SIGTERM");
    await new Promise((go) => worker.once("exit", go));
    await server.close();
  }
});

test("the example has at most 40 lines", () => {
  const lines = ["order", "worker", "start"].flatMap((name) => readFileSync(source(name), "utf8").split("\n"));
  assert.ok(lines.filter((line) => line.trim() !== "").length <= 40);
});
