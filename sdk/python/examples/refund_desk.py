"""A refund desk: an order that is asked back, cooled off, returned or withdrawn, approved, paid and put back on the shelf."""

from collections.abc import Awaitable, Callable
from typing import Protocol, TypedDict

from abide_sdk import Context, Workflow

Line = TypedDict("Line", {"sku": str, "cents": int})
Order = TypedDict("Order", {"id": int, "lines": list[Line]})
Refund = TypedDict("Refund", {"cents": int, "note": str})


class Shop(Protocol):
    """What the desk needs of the rest of the shop."""

    def order(self, id: int) -> Order: ...
    def pay(self, order: int, cents: int, key: str) -> str: ...
    def tell(self, who: str, link: str) -> None: ...


REFUND = {
    "type": "object",
    "required": ["cents"],
    "properties": {"cents": {"type": "integer", "minimum": 0}, "note": {"type": "string"}},
}
restock = Workflow("restock", output="{{ input.sku }}").sleep("inspect", "1h")
desk = Workflow("refund-desk").task("desk", "refund-desk")


def refunds(shop: Shop) -> Callable[[Context, dict[str, int]], Awaitable[str]]:
    async def handle(ctx: Context, input: dict[str, int]) -> str:
        where = {"order": input["order"]}
        await ctx.wait_for_event("asked", "refund.requested", where=where)
        order = await ctx.run("fetch", lambda: shop.order(input["order"]))

        await ctx.sleep("cooling-off", "2d")
        parcel = ctx.wait_for_event("parcel", "parcel.returned", where=where, timeout="14d")
        withdrawal = ctx.wait_for_event("withdrawal", "refund.withdrawn", where=where)
        first = await ctx.any([parcel, withdrawal])
        if first.name == "withdrawal":
            return "withdrawn"
        if first.value is None:
            return "not returned"

        content = Refund(cents=sum(line["cents"] for line in order["lines"]), note="")
        review = await ctx.request_approval(
            "review", content=content, content_schema=REFUND, approvers=["ana"], timeout="3d", returns=Refund
        )
        await ctx.run("tell-ana", lambda: shop.tell("ana", review.links["ana"]))
        decided = await ctx.wait_for_approval(review)
        if not decided.approved:
            return "nobody decided" if decided.decision == "timeout" else "rejected"

        cents = decided.content["cents"]
        ctx.log("pays %d cents back", cents)
        paid = await ctx.run("pay", lambda: shop.pay(order["id"], cents, f"refund-{order['id']}"))
        back = await ctx.map(
            "restock", order["lines"], lambda line, name: ctx.child(name, restock, line, returns=str), concurrency=2
        )
        return f"{paid}; {' and '.join(back)} back on the shelf"

    return handle
