import { Client, Worker, handler, workflow } from "abide-sdk";

const fulfil = handler<{ id: number }, string>("fulfil-order", async (ctx, order) => {
  const parcel = await ctx.run("pack", () => `parcel of order ${order.id}`);
  await ctx.sleep("cool-down", "2s"); // or "30d": it holds no worker, no thread and no memory
  const paid = await ctx.waitForEvent("payment", "order.paid", { where: { order: order.id }, timeout: "7d" });
  return paid ? ctx.run("ship", () => `${parcel} was shipped`) : `${parcel} was not paid`;
});
const orders = workflow<{ id: number }, string>("orders").task("fulfil", fulfil);

const client = new Client(); // ABIDE_SERVER, ABIDE_API_KEY
await client.deploy(orders);
const worker = new Worker({ client, handlers: [fulfil] });
void worker.start();
const run = await client.start(orders, { id: 7 });
await client.notify("order.paid", { order: 7 });
console.log(await run.result());
await worker.stop();
