"""An incident pages one person after another until somebody acknowledges it."""

import asyncio

from abide_sdk import Context, Workflow
from abide_sdk.testing import TestServer

ON_CALL = ["ana", "ben", "cleo"]
paged: list[str] = []


async def page(ctx: Context, incident: dict[str, str]) -> str:
    for turn, who in enumerate(ON_CALL):
        await ctx.run(f"page-{turn}", lambda who=who: paged.append(f"{who}: {incident['title']}"))
        ack = await ctx.wait_for_signal(f"ack-{turn}", "acknowledged", timeout="15m", returns=str)
        if ack is not None:
            return f"acknowledged by {ack}, who was paged as number {turn + 1}"
    await ctx.notify("all-hands", "incident.unanswered", incident)
    return "nobody answered; everybody was told"


async def main() -> None:
    incidents = Workflow("incident-escalation").task("page", "page")
    async with TestServer() as server:
        server.worker({"page": page})
        await server.client.deploy(incidents)
        run = await server.client.start(incidents, {"title": "the tea is cold"})
        await server.advance("20m")  # ana sleeps; ben is paged
        await run.signal("acknowledged", "ben")
        print(await run.result())
        print(paged)
        print(await server.run_through(incidents, {"title": "the cups are gone"}))


asyncio.run(main())
