"""The scenarios of work in other runs, and of what becomes of it."""

from __future__ import annotations

import asyncio
from datetime import datetime
from typing import Any

from abide_sdk import ChildFailed, Context, Wait, Workflow
from abide_sdk.testing import TestServer

from .scenarios import failure, one, scenario


async def deploy_nap(server: TestServer, name: str, nap: str) -> None:
    """A workflow that sleeps, and then says something."""

    async def say(ctx: Context, input: Any) -> Any:
        if input["say"] == "no":
            raise RuntimeError("it says no")
        return input["say"]

    server.worker({name: say})
    napping = Workflow(name, output="{{ steps.say.output }}").sleep("nap", nap)
    await server.client.deploy(napping.task("say", name, retry={"maxAttempts": 1}))


async def hours_since(server: TestServer, before: datetime) -> int:
    return round((await server.now() - before).total_seconds() / 3_600)


async def runs_of(server: TestServer, name: str) -> int:
    return len([run async for run in server.client.runs.list() if run["definition"]["name"] == name])


@scenario("a child")
async def a_child(server: TestServer) -> Any:
    async def work(ctx: Context) -> Any:
        output = await ctx.child("tea", "restock", {"say": "tea is back"})
        try:
            await ctx.child("coffee", "restock", {"say": "no"})
        except ChildFailed as error:
            return {"output": output, "failed": error.code}

    await deploy_nap(server, "restock", "1d")
    await one(server, work)
    before = await server.now()
    run = await server.client.start("one")
    await server.advance("1d")
    hours = await hours_since(server, before)
    await server.skip_waits(run)
    return {**await run.result(returns=dict[str, str]), "children": await runs_of(server, "restock"), "hours": hours}


@scenario("a child that is only started")
async def a_child_that_is_only_started(server: TestServer) -> Any:
    async def work(ctx: Context, input: Any) -> str:
        return await ctx.start_child("tea", input["workflow"], {"say": "tea"})

    await deploy_nap(server, "restock", "1d")
    await one(server, work)
    id = await server.client.start_and_wait("one", {"workflow": "restock"}, returns=str)
    child = (await server.client.runs.find(id))["status"]
    await server.advance("1d")
    later = (await server.client.runs.find(id))["status"]
    unknown = await failure(server, await server.client.start("one", {"workflow": "nothing"}))
    started = await runs_of(server, "restock")
    return {"parent": "COMPLETED", "child": child, "later": later, "started": started, "unknown": unknown["code"]}


@scenario("a map of children, two at a time")
async def a_map_of_children(server: TestServer) -> Any:
    async def work(ctx: Context) -> Any:
        def restock(item: int, name: str) -> Wait[Any]:
            return ctx.child(name, "restock", {"say": item * 10})

        return await ctx.map("restock", range(5), restock, concurrency=2)

    await deploy_nap(server, "restock", "1h")
    await one(server, work)
    before = await server.now()
    run = await server.client.start("one")
    await server.skip_waits(run)
    hours = await hours_since(server, before)
    return {"outputs": await run.result(), "hours": hours, "runs": await runs_of(server, "restock")}


@scenario("a loser beside other waits is cancelled")
async def a_loser_beside_other_waits(server: TestServer) -> Any:
    async def work(ctx: Context) -> Any:
        async def race() -> str:
            reply, child = ctx.wait_for_signal("reply", "reply"), ctx.child("tea", "restock", {"say": "tea"})
            return (await ctx.any([reply, child])).name

        async def nap() -> None:
            await ctx.sleep("long", "2d")

        first, _ = await asyncio.gather(race(), nap())
        return first

    await deploy_nap(server, "restock", "1d")
    await one(server, work)
    run = await server.client.start("one")
    await server.settle(run)
    await run.signal("reply", "yes")
    status = (await server.settle(run))["status"]
    waits = [wait async for wait in server.client.waitpoints.list(run_id=run.id)]
    loser: Any = next(wait for wait in waits if wait["name"] == "tea")
    child = await server.client.runs.find(loser["listensFor"]["runId"])
    await server.skip_waits(run)
    output = await run.result()
    ended = {"loser": loser["status"], "child": child["status"], "run": status}
    return {"first": output, **ended, "output": output}


@scenario("values of the code in a wait for an event")
async def values_of_the_code(server: TestServer) -> Any:
    async def work(ctx: Context, input: Any) -> Any:
        order_id = 7
        if input.get("unknown"):
            return await ctx.wait_for_event("news", "order.paid", match="event.order.id == orderId", timeout="1d")
        return await ctx.wait_for_event("payment", "order.paid", where={"order.id": order_id}, timeout="1d")

    await one(server, work)
    run = await server.client.start("one", {})
    await server.settle(run)
    await server.client.notify("order.paid", {"order": {"id": 8}})
    await server.client.notify("order.paid", {"order": {"id": 7}, "paid": True})
    received = await run.result()
    failed = await failure(server, await server.client.start("one", {"unknown": True}))
    names = ["orderId"] if "`orderId`" in failed["message"] else []
    return {"received": received, "code": failed["code"], "names": names}
