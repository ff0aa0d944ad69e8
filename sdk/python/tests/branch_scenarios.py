"""The scenarios of ``any`` and ``all`` over waits and branches."""

from __future__ import annotations

from collections import Counter
from typing import Any

from abide_sdk import Context, Workflow
from abide_sdk.testing import TestServer

from .scenarios import one, scenario


@scenario("any over branches")
async def any_over_branches(server: TestServer) -> Any:
    done = Counter[str]()
    said: dict[str, Any] = {}

    async def work(ctx: Context) -> None:
        async def fast() -> str:
            await ctx.sleep("nap", "1h")
            await ctx.run("after-nap", lambda: done.update(["after-nap"]))
            return "slept"

        async def slow() -> str:
            await ctx.child("helper", "sleeper")
            await ctx.run("never", lambda: done.update(["never"]))
            return "helped"

        withdrawn = ctx.wait_for_signal("withdrawn", "withdrawn", timeout="30d")
        first = await ctx.any([ctx.branch("fast", fast), ctx.branch("slow", slow), withdrawn])
        said.update(winner=first.name, value=first.value)
        await ctx.sleep("later", "1h")

    await server.client.deploy(Workflow("sleeper").sleep("long", "10d"))
    await one(server, work)
    run = await server.client.start("one")
    await server.settle(run)
    await server.advance("1h")
    [child] = [found async for found in server.client.runs.list(definition="sleeper")]
    await server.advance("1h")
    ended = await server.settle(run)
    opened = server.client.waitpoints.list(status="PENDING", run_id=run.id)
    return {
        **said,
        "never": done["never"],
        "afterNap": done["after-nap"],
        "childStatus": child["status"],
        "openWaitsAtTheEnd": len([wait async for wait in opened]),
        "status": ended["status"],
    }


@scenario("all over branches and waits")
async def all_over_branches_and_waits(server: TestServer) -> Any:
    done = Counter[str]()

    async def work(ctx: Context) -> Any:
        async def a() -> int:
            await ctx.run("a1", lambda: done.update(["a1"]))
            await ctx.sleep("a2", "1h")
            await ctx.run("a3", lambda: done.update(["a3"]))
            return 1

        async def c() -> int:
            await ctx.run("c1", lambda: done.update(["c1"]))
            return 3

        return await ctx.all([ctx.branch("a", a), ctx.sleep("b", "2h"), ctx.branch("c", c)])

    await one(server, work)
    run = await server.client.start("one")
    ended = await server.skip_waits(run)
    return {"values": ended.get("output"), **done, "status": ended["status"]}
