// A refund desk: an order that is asked back, cooled off, returned or withdrawn, approved, paid and put back on the shelf.
import { type Context, handler, workflow } from "abide-sdk";

export interface Line {
  sku: string;
  cents: number;
}
export interface Order {
  id: number;
  lines: Line[];
}
/** What the desk needs of the rest of the shop. */
export interface Shop {
  order(id: number): Promise<Order>;
  pay(order: number, cents: number, key: string): Promise<string>;
  tell(who: string, link: string): Promise<void>;
}

const refund = {
  type: "object",
  required: ["cents"],
  properties: { cents: { type: "integer", minimum: 0 }, note: { type: "string" } },
};

export const restock = workflow<Line, string>("restock", { output: "{{ input.sku }}" }).sleep("inspect", "1h");
export const desk = workflow<{ order: number }, string>("refund-desk").task("desk", "refund-desk");

export const refunds = (shop: Shop) =>
  handler<{ order: number }, string>("refund-desk", async (ctx: Context<{ order: number }>, input) => {
    const where = { order: input.order };
    await ctx.waitForEvent("asked", "refund.requested", { where });
    const order = await ctx.run("fetch", () => shop.order(input.order));

    await ctx.sleep("cooling-off", "2d");
    const first = await ctx.any([
      ctx.waitForEvent("parcel", "parcel.returned", { where, timeout: "14d" }),
      ctx.waitForEvent("withdrawal", "refund.withdrawn", { where }),
    ]);
    if (first.name === "withdrawal") return "withdrawn";
    if (first.value === undefined) return "not returned";

    const cents = order.lines.reduce((sum, line) => sum + line.cents, 0);
    const content = { cents, note: "" };
    const review = await ctx.requestApproval("review", { content, contentSchema: refund, approvers: ["ana"], timeout: "3d" });
    await ctx.run("tell-ana", () => shop.tell("ana", review.links["ana"] ?? ""));
    const decided = await ctx.waitForApproval(review);
    if (!decided.approved) return decided.decision === "timeout" ? "nobody decided" : "rejected";

    ctx.log("pays %d cents back", decided.content.cents);
    const paid = await ctx.run("pay", () => shop.pay(order.id, decided.content.cents, `refund-${order.id}`));
    const back = await ctx.map("restock", order.lines, (line, name) => ctx.child(name, restock, line), { concurrency: 2 });
    return `${paid}; ${back.join(" and ")} back on the shelf`;
  });
