from abide_sdk import Context, Workflow


# Durable code: suspended at every wait, and re-executed from the top when it is over, on any worker.
async def fulfil(ctx: Context, order: dict[str, int]) -> str:
    parcel = await ctx.run("pack", lambda: f"parcel of order {order['id']}")
    await ctx.sleep("cool-down", "1s")
    paid = await ctx.wait_for_event("payment", "order.paid", match="event.order == input.id", timeout="7d")
    if paid is None:
        return f"{parcel} was not paid"
    review = await ctx.approve("review", prompt=f"Send the {parcel}?", content=order, timeout="2d")
    if not review.approved:
        return f"{parcel} was held back"
    return await ctx.run("ship", lambda: f"{parcel} was shipped")


orders = Workflow("orders").task("fulfil", "fulfil-order")
