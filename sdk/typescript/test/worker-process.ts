/** A worker in a process of its own, for scenarios that kill it. Its task `slow` takes as long as its standard input is open. */
import { Worker } from "../src/index.js";

const worker = new Worker({ client: { url: process.argv[2] ?? "" }, leaseMs: 2_000, concurrency: 1 });

worker.handle("nap", async (ctx) => {
  const before = await ctx.run("who", () => process.pid);
  await ctx.sleep("nap", "500ms");
  return { before, after: process.pid };
});

worker.handle("long-nap", async (ctx) => {
  const before = await ctx.run("who", () => process.pid);
  await ctx.sleep("nap", "1h");
  return { before, after: process.pid };
});

worker.handle("slow", async (ctx) => {
  const before = await ctx.run("who", () => process.pid);
  await new Promise((go) => process.stdin.once("end", go).resume());
  return { before, after: process.pid, attempt: ctx.attempt };
});

await worker.run();
