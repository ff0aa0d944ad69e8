"""A worker in a process of its own, for scenarios that kill it."""

import asyncio
import os
import sys
from typing import Any

from abide import Client, Context, Worker

worker = Worker(Client(sys.argv[1]), lease=2.0, concurrency=1)


@worker.handler("nap")
async def nap(ctx: Context) -> Any:
    before = await ctx.run("who", os.getpid)
    await ctx.sleep("nap", "500ms")
    return {"before": before, "after": os.getpid()}


@worker.handler("slow")
async def slow(ctx: Context) -> Any:
    before = await ctx.run("who", os.getpid)
    await asyncio.sleep(0.5)
    return {"before": before, "after": os.getpid(), "attempt": ctx.attempt}


if __name__ == "__main__":
    worker.run()
