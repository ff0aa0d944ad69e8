"""The scenarios of limits in durable code."""

from __future__ import annotations

import asyncio
from typing import Any

from abide_sdk import Context, DurableCall, Limit
from abide_sdk.testing import TestServer

from .scenarios import failure, one, scenario


@scenario("room for a durable call")
async def room_for_a_durable_call(server: TestServer) -> Any:
    in_hand, most = 0, 0

    async def call(call: DurableCall) -> int:
        nonlocal in_hand, most
        in_hand += 1
        most = max(most, in_hand)
        await asyncio.sleep(0.005)
        in_hand -= 1
        if call.attempt == 1:
            raise ValueError("not yet")
        return call.attempt

    async def work(ctx: Context) -> int:
        return await ctx.run("call", call, limit=Limit("partner", concurrency=1), retry=2)

    await one(server, work)
    runs = [await server.client.start("one") for _ in range(3)]
    outputs = [(await server.skip_waits(run)).get("output") for run in runs]
    asked = any(record["type"] == "CAPACITY_TAKEN" for record in await server.history(runs[0]))
    return {"most": most, "outputs": outputs, "asked": asked}


@scenario("room for several durable calls")
async def room_for_several_durable_calls(server: TestServer) -> Any:
    async def work(ctx: Context, input: Any) -> int:
        async def body() -> int:
            await ctx.sleep("nap", "1h")
            return await ctx.run("n", lambda: int(input["n"]))

        limit = Limit("desk", concurrency=1, timeout=input.get("timeout"))
        return await ctx.with_limit(limit, "body", body)

    await one(server, work)
    waits, runs = [], []
    for input in ({"n": 1}, {"n": 2}, {"n": 3, "timeout": "10m"}):
        run = await server.client.start("one", input)
        waits.append((await server.settle(run))["waitingFor"][0]["kind"])
        runs.append(run)
    await server.advance("11m")
    late = (await failure(server, runs[2]))["code"]
    outputs = [(await server.skip_waits(run)).get("output") for run in runs[:2]]
    return {"waits": waits, "late": late, "outputs": outputs}
