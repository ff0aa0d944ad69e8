// The Python SDK on FastAPI and on Flask: its runs are started by a plain message to the endpoint.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";
import { Client } from "@upstash/qstash";
import * as application from "./app.mjs";
import { cutting, losing } from "./faults.mjs";
import { Abide, freePort } from "./server.mjs";

const python = process.env.ABIDE_PYTHON;
const faults = new Set((process.env.ABIDE_FAULTS ?? "").split(",").filter(Boolean));
let abide, ext, lost, killing;
let kills = 0;

before(async () => {
  abide = await Abide.start();
  abide.useCredentials();
  ext = await application.start();
  if (faults.has("requests")) {
    lost = await losing(() => abide.url);
    process.env.QSTASH_URL = lost.url;
  }
  if (faults.has("kills")) killing = abide.killEvery(1_000, () => (kills += 1));
});
after(async () => {
  await killing?.stop();
  ext.close();
  lost?.close();
  await abide.stop();
});

/** An app in a process of its own, and what it tells, line by line. */
const start = async (file) => {
  const port = await freePort();
  const base = `http://127.0.0.1:${port}`;
  const app = spawn(python, [`python/${file}`, String(port), ext.base], { stdio: ["ignore", "pipe", "ignore"] });
  const told = [];
  const waiting = [];
  createInterface({ input: app.stdout }).on("line", (line) => {
    if (!line.startsWith("{")) return;
    const said = JSON.parse(line);
    const next = waiting.shift();
    if (next) next(said);
    else told.push(said);
  });
  while (!(await fetch(base).then(() => true, () => false))) await new Promise((resolve) => setTimeout(resolve, 50));
  const next = () => (told.length > 0 ? Promise.resolve(told.shift()) : new Promise((resolve) => waiting.push(resolve)));
  /** What is told of something next; a step that was interrupted by a kill may tell it again. */
  const tells = async (what) => {
    let said = await next();
    while (said.what !== what) said = await next();
    return said;
  };
  const proxy = faults.has("answers") ? await cutting(base) : undefined;
  const stop = () => (app.kill(), proxy?.close());
  return { base: proxy?.url ?? base, tells, stop, cut: proxy?.cut };
};

for (const file of ["fast.py", "flask_app.py"]) {
  test(`${file}: steps, sleeps, a call and a failure function`, { timeout: 120_000 }, async () => {
    const app = await start(file);
    const client = new Client({ baseUrl: abide.otherUrl, token: process.env.QSTASH_TOKEN, retry: { retries: 20, backoff: () => 250 } });
    try {
      await client.publishJSON({ url: `${app.base}/basic`, body: { text: "“quo”" }, headers: { "x-user-header": "uh" } });
      const basic = await app.tells("basic");
      assert.deepEqual(basic, { what: "basic", two: { a: "one “quo”", n: 7 }, header: "uh" });
      await client.publishJSON({ url: `${app.base}/failing`, body: {} });
      const failed = await app.tells("failed");
      assert.deepEqual([failed.what, failed.status], ["failed", 500]);
      assert.match(failed.response, /my-error/);
      if (faults.has("answers")) assert.ok(app.cut.count > 0);
      if (faults.has("kills")) assert.ok(kills > 0);
    } finally {
      app.stop();
    }
  });
}
