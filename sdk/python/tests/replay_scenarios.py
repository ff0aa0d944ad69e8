"""The scenario of the replay check, with journals of a real server."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from abide_sdk import Context, Workflow, wire
from abide_sdk.testing import TestServer, replay_check

from .scenarios import scenario


async def journals(server: TestServer) -> list[dict[str, Any]]:
    """Lines for a run that slept, and for one that was given back after its first call."""
    fetched = asyncio.Event()

    async def work(ctx: Context, input: Any) -> None:
        await ctx.run("fetch", lambda: {"id": 7})
        if input["hangs"]:
            fetched.set()
            await asyncio.Event().wait()
        await ctx.sleep("nap", "1h")

    worker = server.worker({"work": work}, drain=0.05)
    await server.client.deploy(Workflow("one").task("work", "work"))
    slept = await server.client.start("one", {"hangs": False})
    await server.settle(slept)
    await server.client.start("one", {"hangs": True})
    await fetched.wait()
    await worker.stop()
    await server.client.test_clock.move(advance="1h")
    tasks: list[wire.Task] = []
    while len(tasks) < 2:
        poll: wire.PollTasks = {"handlers": ["work"], "maxTasks": 2, "waitMs": 5_000, "workerId": "x", "leaseMs": 60_000}
        tasks += (await server.client.tasks.poll(poll))["tasks"]
    tasks.sort(key=lambda task: task["runId"] != slept.id)
    assert [[entry["name"] for entry in task["journal"]] for task in tasks] == [["fetch", "nap"], ["fetch"]]
    return [line_of(task) for task in tasks]


def line_of(task: wire.Task) -> dict[str, Any]:
    same: dict[str, Any] = {**task}
    names = ("runId", "handler", "attempt", "input", "state", "config", "checkpoint", "journal")
    return {"workflow": "one", "version": "1", "step": task["stepName"], **{name: same[name] for name in names}}


@scenario("replay check")
async def the_replay_check(server: TestServer) -> Any:
    executed = 0

    def act() -> int:
        nonlocal executed
        executed += 1
        return executed

    async def same(ctx: Context) -> None:
        await ctx.run("fetch", lambda: act() and {})
        await ctx.sleep("nap", "1h")

    async def added(ctx: Context) -> None:
        await ctx.run("fetch", lambda: {})
        await ctx.run("added", act)
        await ctx.sleep("nap", "1h")

    async def kind(ctx: Context) -> None:
        await ctx.run("fetch", lambda: {})
        await ctx.wait_for_event("nap", "nap.over")

    async def check(handler: Callable[..., Any]) -> list[str]:
        return [verdict.verdict for verdict in await replay_check({"work": handler}, lines, grace=0.1)]

    lines = await journals(server)
    return {"same": await check(same), "added": await check(added), "kind": await check(kind), "executed": executed}
