import { handler, workflow } from "abide-sdk";

export interface Order {
  id: number;
  amount: number;
}

// Durable code: suspended at every wait, and re-executed from the top when it is over, on any worker.
export const fulfil = handler<Order, string>("fulfil-order", async (ctx, order) => {
  const parcel = await ctx.run("pack", () => `parcel of order ${order.id}`);
  await ctx.sleep("cool-down", "1s");
  const paid = await ctx.waitForEvent("payment", "order.paid", { match: "event.order == input.id", timeout: "7d" });
  if (!paid) return `${parcel} was not paid`;
  const { approved } = await ctx.approve("review", { prompt: `Send the ${parcel}?`, content: order, timeout: "2d" });
  if (!approved) return `${parcel} was held back`;
  return ctx.run("ship", () => `${parcel} was shipped`);
});

export const orders = workflow<Order, string>("orders").task("fulfil", fulfil);
