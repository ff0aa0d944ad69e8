"""A worker in a process of its own, for scenarios that kill it. Its task `slow` takes as long as its standard input is open."""

import asyncio
import os
import sys
from typing import Any

from abide_sdk import Client, Context, Worker

worker = Worker(Client(sys.argv[1]), lease=2.0, concurrency=1)


@worker.handler("nap")
async def nap(ctx: Context) -> Any:
    before = await ctx.run("who", os.getpid)
    await ctx.sleep("nap", "500ms")
    return {"before": before, "after": os.getpid()}


@worker.handler("long-nap")
async def long_nap(ctx: Context) -> Any:
    before = await ctx.run("who", os.getpid)
    await ctx.sleep("nap", "1h")
    return {"before": before, "after": os.getpid()}


@worker.handler("slow")
async def slow(ctx: Context) -> Any:
    before = await ctx.run("who", os.getpid)
    await asyncio.to_thread(sys.stdin.read)
    return {"before": before, "after": os.getpid(), "attempt": ctx.attempt}


if __name__ == "__main__":
    worker.run()
