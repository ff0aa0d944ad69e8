/** How many trivial tasks a second one worker does: `node dist/test/throughput.js [TASKS]`, with ABIDE_BIN. */
import { Worker, workflow } from "../src/index.js";
import { TestServer } from "../src/testing.js";

const count = Number(process.argv[2] ?? 20_000);
const server = await TestServer.start({ realTime: true });
await server.client.deploy(workflow("one").task("work", "work"));
for (let started = 0; started < count; started += 200) {
  await Promise.all(Array.from({ length: 200 }, () => server.client.start("one", { n: 1 })));
}

let done = 0;
let over = () => {};
const all = new Promise<void>((go) => (over = go));
const handlers = {
  work: () => {
    done += 1;
    if (done === count) over();
    return { ok: true };
  },
};
const worker = new Worker({ client: { url: server.url }, handlers, concurrency: Number(process.argv[3] ?? 400) });
const begun = performance.now();
const before = process.cpuUsage();
worker.start().catch(console.error);
await all;
await worker.stop();
const seconds = (performance.now() - begun) / 1_000;
const { user, system } = process.cpuUsage(before);
const left = (await server.client.runs.list({ status: ["PENDING", "RUNNING"] })).data.length;
console.log(
  JSON.stringify({
    tasks: count,
    left,
    perSecond: Math.round(count / seconds),
    workerCpuMicrosPerTask: Math.round((user + system) / count),
  }),
);
await server.close();
