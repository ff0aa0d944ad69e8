// What a sleeping guest costs beside a plain sleeper, in bytes of the store: `ABIDE_BIN=… node sleepers.mjs [runs]`.
// With `ABIDE_KEEP=1` the stores are left where they are.
import { randomBytes } from "node:crypto";
import { rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@upstash/workflow";
import { serve } from "@upstash/workflow/express";
import express from "express";
import { Abide } from "./server.mjs";
import { until } from "./until.mjs";

const runs = Number(process.argv[2] ?? 20_000);
const asleep = (abide) =>
  until(async () => {
    const metrics = await fetch(`${abide.url}/metrics`).then((answer) => answer.text());
    return Number(/abide_runs\{workspace="default",status="WAITING"\} (\d+)/.exec(metrics)?.[1]) >= runs;
  }, 3_600_000);
const measured = async (what, begin) => {
  const abide = await Abide.start();
  abide.useCredentials();
  await begin(abide);
  const begun = performance.now();
  await asleep(abide);
  const memory = /process_resident_memory_bytes (\d+)/.exec(await fetch(`${abide.url}/metrics`).then((answer) => answer.text()))[1];
  for (const node of abide.nodes) await node.end("SIGTERM");
  const bytes = ["abide.db", "abide.db-wal"].reduce((sum, name) => {
    const found = statSync(join(abide.folder, name), { throwIfNoEntry: false });
    return sum + (found?.size ?? 0);
  }, 0);
  console.log(`${what}: ${(bytes / runs).toFixed(0)} bytes each in the store, ${(memory / 1e6).toFixed(0)} MB of memory, asleep ${((performance.now() - begun) / 1000).toFixed(1)} s after the last start`);
  if (process.env.ABIDE_KEEP) console.log(`  kept in ${abide.folder}`);
  else rmSync(abide.folder, { recursive: true, force: true });
  return bytes / runs;
};
const post = (abide, path, body) => abide.api(path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
/** Starts plain sleepers, a thousand at a time. */
const plain = (start) => async (abide) => {
  await post(abide, "/workflow-definitions", { name: "sleeper", steps: [{ type: "wait", name: "long", duration: "30d" }] });
  for (let at = 0; at < runs; at += 1_000) {
    await post(abide, "/workflow-runs/batch", { runs: Array.from({ length: Math.min(1_000, runs - at) }, start) });
  }
};
const id = () => `wfr_${randomBytes(15).toString("base64url")}`;

const bare = await measured(`${runs} plain sleepers`, plain(() => ({ name: "sleeper", input: {} })));
// What a guest cannot do without: an id that its client chose, under which it is started once and found.
const named = await measured(`${runs} plain sleepers with a key and two tags`, plain(() => {
  const key = id();
  return { name: "sleeper", input: {}, idempotencyKey: key, tags: [`upstash:${key}`, "url:http://127.0.0.1:12345/wf"] };
}));
const guests = await measured(`${runs} sleeping guests`, async (abide) => {
  const app = express();
  app.use(express.json());
  app.use("/wf", serve(async (context) => void (await context.sleep("long", "30d"))));
  const listener = await new Promise((resolve) => { const it = app.listen(0, "127.0.0.1", () => resolve(it)); });
  const client = new Client({ baseUrl: abide.url, token: process.env.QSTASH_TOKEN });
  const url = `http://127.0.0.1:${listener.address().port}/wf`;
  for (let at = 0; at < runs; at += 100) {
    await client.trigger(Array.from({ length: Math.min(100, runs - at) }, () => ({ url, body: {} })));
  }
});
console.log(`a sleeping guest is ${(guests / bare).toFixed(2)} plain sleepers, and ${(guests / named).toFixed(2)} of those with a key and tags`);
process.exit(0);
