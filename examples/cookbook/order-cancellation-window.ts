// An order may be cancelled for 30 minutes. Then it is packed, and a cancellation comes too late.
import { handler, workflow } from "abide-sdk";
import { TestServer } from "abide-sdk/testing";

interface Order {
  id: number;
}
const orders = handler<Order, string>("fulfil", async (ctx, order) => {
  await ctx.run("charge", () => `charged order ${order.id}`);
  const first = await ctx.any([
    ctx.waitForEvent("cancelled", "order.cancelled", { where: { id: order.id } }),
    ctx.sleep("window", "30m"),
  ]);
  if (first.name === "cancelled") {
    await ctx.run("refund", () => `refunded order ${order.id}`);
    return "cancelled and refunded";
  }
  await ctx.run("pack", () => `packed order ${order.id}`);
  return "packed";
});
const shop = workflow<Order, string>("fulfil").task("fulfil", orders);

const server = await TestServer.start();
server.worker({ handlers: [orders] });
await server.client.deploy(shop);
const changed = await server.client.start(shop, { id: 1 });
const kept = await server.client.start(shop, { id: 2 });
await server.advance("10m");
await server.client.notify("order.cancelled", { id: 1 });
await server.advance("20m");
await server.client.notify("order.cancelled", { id: 2 }); // half an hour has passed
console.log("order 1:", await changed.result());
console.log("order 2:", await kept.result());
await server.close();
