/** A worker in a process of its own, for scenarios that kill it. */
import { Worker } from "../src/index.js";

const pause = (ms: number) => new Promise<void>((go) => setTimeout(go, ms));

const worker = new Worker({ client: { url: process.argv[2] ?? "" }, leaseMs: 2_000, concurrency: 1 });

worker.handle("nap", async (ctx) => {
  const before = await ctx.run("who", () => process.pid);
  await ctx.sleep("nap", "500ms");
  return { before, after: process.pid };
});

worker.handle("slow", async (ctx) => {
  const before = await ctx.run("who", () => process.pid);
  await pause(500);
  return { before, after: process.pid, attempt: ctx.attempt };
});

await worker.run();
