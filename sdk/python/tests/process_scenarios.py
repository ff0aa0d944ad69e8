"""The scenarios of sdk/conformance/scenarios.md whose workers are processes that can be killed and stopped."""

from __future__ import annotations

import asyncio
import signal
import sys
import time
from pathlib import Path
from typing import Any

from abide_sdk import RunHandle, Workflow
from abide_sdk.testing import TestServer

from .scenarios import Scenario

WORKER = Path(__file__).with_name("worker_process.py")
Process = asyncio.subprocess.Process


async def worker(server: TestServer, stdin: int = asyncio.subprocess.DEVNULL) -> Process:
    return await asyncio.create_subprocess_exec(sys.executable, str(WORKER), server.url, stdin=stdin)


async def slow_worker(server: TestServer) -> Process:
    """A worker whose task `slow` takes as long as its standard input is open."""
    return await worker(server, asyncio.subprocess.PIPE)


async def end(process: Process) -> None:
    process.kill()
    await process.wait()


async def start(server: TestServer, handler: str) -> RunHandle:
    await server.client.deploy(Workflow(handler).task("work", handler))
    return await server.client.start(handler)


async def until(run: RunHandle, kind: str) -> None:
    """Follows a run until a record of this type has come."""
    async for record in run.follow():
        if record["type"] == kind:
            return


async def recorded(server: TestServer, run: RunHandle, name: str) -> int:
    records: list[Any] = [record for record in await server.history(run) if record["type"] == "JOURNAL_RECORDED"]
    return sum(any(entry["name"] == name for entry in record["entries"]) for record in records)


async def sleep_across_the_kill_of_a_worker(server: TestServer) -> Any:
    first = await worker(server)
    run = await start(server, "long-nap")
    await until(run, "STEP_WAITING")
    await end(first)
    second = await worker(server)
    [nap] = (await run.get())["waitingFor"]
    await server.client.waitpoints.complete(nap.get("waitpointId") or "")
    output = await run.result(returns=dict[str, int])
    await end(second)
    return {
        "sameWorker": output["before"] == output["after"],
        "recordedOnce": await recorded(server, run, "who") == 1,
        "status": (await run.get())["status"],
    }


async def sleep_across_the_kill_of_the_server(server: TestServer) -> Any:
    begun = time.monotonic()
    own = await worker(server)
    run = await start(server, "nap")
    await until(run, "STEP_WAITING")
    await server.crash()
    await run.result()
    early = time.monotonic() - begun < 0.5
    await end(own)
    status = (await run.get())["status"]
    return {"status": status, "early": early, "recordedOnce": await recorded(server, run, "who") == 1}


async def lose_the_lease(server: TestServer, run: RunHandle) -> None:
    """Lets time pass until the lease is over. A heartbeat that was on its way when the worker was stopped may renew it once more."""
    while not any(record["type"] == "TASK_REDELIVERED" for record in await server.history(run)):
        await server.client.test_clock.move(advance="3s")


async def heartbeat_loss(server: TestServer) -> Any:
    first = await slow_worker(server)
    run = await start(server, "slow")
    await until(run, "JOURNAL_RECORDED")
    first.send_signal(signal.SIGSTOP)
    await lose_the_lease(server, run)
    second = await worker(server)
    output = await run.result(returns=dict[str, int])
    first.send_signal(signal.SIGCONT)
    await end(first)
    await end(second)
    redelivered = [record for record in await server.history(run) if record["type"] == "TASK_REDELIVERED"]
    return {
        "status": (await run.get())["status"],
        "sameWorker": output["before"] == output["after"],
        "redelivered": len(redelivered),
        "attempt": output["attempt"],
    }


async def drain(server: TestServer) -> Any:
    own = await slow_worker(server)
    run = await start(server, "slow")
    await until(run, "JOURNAL_RECORDED")
    own.terminate()
    second = await server.client.start("slow")
    assert own.stdin
    own.stdin.close()
    code = await own.wait()
    return {"first": (await run.get())["status"], "second": (await second.get())["status"], "exit": code}


# Played by the machine's clock: a killed worker's poll is given up by it, and a server that starts again goes by it.
REAL_TIME = {"sleep across the kill of a worker", "sleep across the kill of the server"}

scenarios: dict[str, Scenario] = {
    "sleep across the kill of a worker": sleep_across_the_kill_of_a_worker,
    "sleep across the kill of the server": sleep_across_the_kill_of_the_server,
    "heartbeat loss": heartbeat_loss,
    "drain": drain,
}
