"""How many trivial tasks a second one worker does: ``python -m tests.throughput [TASKS]``, with ABIDE_BIN."""

from __future__ import annotations

import asyncio
import json
import sys
import time

from abide_sdk import Client, Context, Worker, Workflow
from abide_sdk.testing import TestServer


async def main(count: int, concurrency: int) -> None:
    async with TestServer(real_time=True) as server:
        await server.client.deploy(Workflow("one").task("work", "work"))
        for _ in range(0, count, 100):
            await asyncio.gather(*(server.client.start("one", {"n": 1}) for _ in range(100)))
        done = 0
        over = asyncio.Event()

        async def work(ctx: Context) -> dict[str, bool]:
            nonlocal done
            done += 1
            if done == count:
                over.set()
            return {"ok": True}

        worker = Worker(Client(server.url), {"work": work}, concurrency=concurrency)
        begun, cpu = time.monotonic(), time.process_time()
        working = asyncio.ensure_future(worker.start())
        await over.wait()
        await worker.stop()
        await working
        seconds, cpu = time.monotonic() - begun, time.process_time() - cpu
        left = await server.client.runs.list(status=["PENDING", "RUNNING"]).page()
        figures = {
            "tasks": count,
            "left": len(left.data),
            "perSecond": round(count / seconds),
            "workerCpuMicrosPerTask": round(cpu / count * 1_000_000),
        }
        print(json.dumps(figures))
        await worker.client.close()


if __name__ == "__main__":
    tasks = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    asyncio.run(main(tasks, int(sys.argv[2]) if len(sys.argv) > 2 else 400))
