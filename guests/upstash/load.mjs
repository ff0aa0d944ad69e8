// Many runs of some steps at once, and what a step costs: `ABIDE_BIN=… node load.mjs [runs] [steps]`.
import { Client } from "@upstash/workflow";
import { serve } from "@upstash/workflow/express";
import express from "express";
import { Abide } from "./server.mjs";

const runs = Number(process.argv[2] ?? 1_000);
const steps = Number(process.argv[3] ?? 10);
const abide = await Abide.start();
abide.useCredentials();
const gaps = [];
const early = [];
const late = [];
let done = 0;
let finished;
const all = new Promise((resolve) => (finished = resolve));
const app = express();
app.use(express.json({ limit: "8mb" }));
const last = new Map();
app.use("/wf", serve(async (context) => {
  for (let step = 1; step <= steps; step++) {
    await context.run(`step ${step}`, () => {
      const now = performance.now();
      const before = last.get(context.workflowRunId);
      if (before !== undefined) {
        gaps.push(now - before);
        (step <= steps / 2 ? early : late).push(now - before);
      }
      last.set(context.workflowRunId, now);
      if (step === steps && ++done === runs) finished();
      return step;
    });
  }
}));
const listener = app.listen(0, "127.0.0.1", async () => {
  const url = `http://127.0.0.1:${listener.address().port}/wf`;
  const client = new Client({ baseUrl: abide.url, token: process.env.QSTASH_TOKEN });
  const begun = performance.now();
  for (let at = 0; at < runs; at += 100) {
    await client.trigger(Array.from({ length: Math.min(100, runs - at) }, () => ({ url, body: {} })));
  }
  await all;
  const seconds = (performance.now() - begun) / 1_000;
  gaps.sort((a, b) => a - b);
  const at = (share) => gaps[Math.floor((gaps.length - 1) * share)].toFixed(1);
  console.log(`${runs} runs of ${steps} steps in ${seconds.toFixed(1)} s: ${((runs * steps) / seconds).toFixed(0)} steps/s; gap between two steps p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`);
  const metrics = await fetch(`${abide.url}/metrics`).then((answer) => answer.text());
  const { user, system } = process.cpuUsage();
  const cpu = /process_cpu_seconds_total ([\d.]+)/.exec(metrics)[1];
  const [sum, count] = ["sum", "count"].map((what) => Number(new RegExp(`abide_commit_seconds_${what} ([\\d.]+)`).exec(metrics)[1]));
  const mean = (list) => (list.reduce((sum, one) => sum + one, 0) / list.length).toFixed(1);
  console.log(`mean gap in the first half of the steps ${mean(early)} ms, in the second ${mean(late)} ms`);
  console.log(`processor time: the app and its SDK ${((user + system) / 1e6).toFixed(1)} s, the server ${cpu} s; ${count} commits of ${((sum / count) * 1_000).toFixed(1)} ms`);
  listener.close();
  await abide.stop();
  process.exit(0);
});
