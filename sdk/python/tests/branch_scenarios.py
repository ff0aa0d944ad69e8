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


async def cancelled(server: TestServer, run_id: str) -> list[str]:
    """The names of the waits of a run that were cancelled, in order."""
    waits = server.client.waitpoints.list(status="CANCELLED", run_id=run_id)
    return sorted([wait["name"] async for wait in waits])


@scenario("some of several waits")
async def some_of_several_waits(server: TestServer) -> Any:
    done = Counter[str]()

    async def work(ctx: Context) -> Any:
        waits: list[Any] = [ctx.sleep("a", "3h"), ctx.wait_for_signal("b", "b"), ctx.sleep("c", "1h")]
        first = await ctx.some(2, waits)
        await ctx.run("after", lambda: done.update(["after"]))
        await ctx.sleep("later", "1h")
        return {"first": [one.name for one in first], "indexes": [one.index for one in first], "value": first[0].value}

    await one(server, work)
    run = await server.client.start("one")
    await server.settle(run)
    await run.signal("b", {"why": "now"})
    await server.settle(run)
    await server.advance("1h")
    ended = await server.skip_waits(run)
    output: Any = ended.get("output")
    return {**output, **done, "cancelled": await cancelled(server, run.id), "status": ended["status"]}


@scenario("the first of several waits of a step")
async def the_first_of_several_waits_of_a_step(server: TestServer) -> Any:
    waits = {
        "paid": {"type": "wait_for_event", "eventId": "order.paid"},
        "stop": {"type": "external_event", "signalType": "stop"},
        "late": {"type": "wait", "duration": "3d"},
    }
    await server.client.deploy(Workflow("order").wait_any("outcome", waits))
    stopped = await server.client.start("order")
    late = await server.client.start("order")
    await stopped.signal("stop", {"why": "no"})
    told = await stopped.result()
    await server.advance("3d")
    return {"stopped": told, "late": await late.result(), "cancelled": await cancelled(server, stopped.id)}
