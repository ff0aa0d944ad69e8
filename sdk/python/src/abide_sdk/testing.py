"""A server for tests: a process of its own, a store that is thrown away, and time that passes when you say so."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import signal
import tempfile
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Self, Unpack

from . import wire
from .client import Client, RunHandle, WorkflowRef
from .decode import Returned
from .duration import Duration
from .replay import ReplayFailed, ReplayVerdict, assert_replays, replay_check
from .resources import ENDED
from .worker import Worker, WorkerOptions

__all__ = ["ReplayFailed", "ReplayVerdict", "TestServer", "assert_replays", "replay_check"]

PATIENCE = 60.0
"""How many seconds workers may take for what they have, in real time."""
LOOK_AGAIN = 0.002
# Where the server leaves the first key of a store that has none.
FIRST_KEY = "abide.db.admin-key"


class TestServer:
    """``async with TestServer() as server: …``"""

    __test__ = False

    def __init__(
        self,
        *,
        bin: str | None = None,
        real_time: bool = False,
        args: tuple[str, ...] = (),
        env: dict[str, str] | None = None,
    ) -> None:
        """``bin``: the abide binary; ABIDE_BIN, or ``abide`` from the path, if absent. ``real_time``: go by the machine's
        clock, not by one that the test moves. ``args``: more arguments of ``abide serve``; with ``--auth required``,
        ``client`` has the first key of the store. ``env``: variables for it, beside those of this process."""
        self._env = {**os.environ, **(env or {})}
        self._bin = bin or os.environ.get("ABIDE_BIN", "abide")
        self._flags = (*(() if real_time else ("--test-clock",)), *args)
        self._directory = tempfile.TemporaryDirectory(prefix="abide-test-")
        self._workers: list[tuple[Worker, asyncio.Task[None]]] = []
        self._process: asyncio.subprocess.Process | None = None
        self.url = ""
        self.client = Client()

    async def __aenter__(self) -> Self:
        try:
            await self._serve("127.0.0.1:0")
        except BaseException:
            self._directory.cleanup()
            raise
        self.client = self._first_client()
        return self

    async def __aexit__(self, *_: object) -> None:
        for worker, working in self._workers:
            await worker.stop()
            with contextlib.suppress(asyncio.CancelledError):
                await working
            await worker.client.close()
        await self._kill()
        await self.client.close()
        self._directory.cleanup()

    def _first_client(self) -> Client:
        """A client with the first key of the store, if keys are needed."""
        key = Path(self._directory.name) / FIRST_KEY
        return Client(self.url, key.read_text().strip() if key.exists() else None)

    def worker(
        self,
        handlers: dict[str, Callable[..., object]],
        *,
        client: Client | None = None,
        **options: Unpack[WorkerOptions],
    ) -> Worker:
        """A worker that works until the server is closed; with a client of its own, if one is given."""
        given: WorkerOptions = {"poll": 5.0, "drain": 1.0, **options}
        worker = Worker(client or self._first_client(), handlers, **given)
        self._workers.append((worker, asyncio.ensure_future(worker.start())))
        return worker

    async def now(self) -> datetime:
        return datetime.fromisoformat((await self.client.test_clock.find())["now"])

    async def advance(self, duration: Duration) -> None:
        """Lets time pass. Workers do what falls due on the way, when it does."""
        await self._idle()
        clock = await self.client.test_clock.move(advance=duration)
        target = clock.get("target") or clock["now"]
        while datetime.fromisoformat(clock["now"]) < datetime.fromisoformat(target):
            await self._idle()
            clock = await self.client.test_clock.move(to=target)
        await self._idle()

    async def skip_waits(self, run: RunHandle | str) -> wire.Run:
        """Lets time pass until the run has ended, or waits for something that time does not bring."""
        while True:
            clock = await self._idle()
            now = await self.client.runs.find(id_of(run))
            over = now["status"] in ENDED or clock["nextTimer"] is None
            if over or not await self._waits_for_time(now):
                return now
            await self.client.test_clock.move()

    async def _waits_for_time(self, run: wire.Run) -> bool:
        """Whether time brings what a run waits for, or what one of its children does."""
        if any(wait.get("until") for wait in run["waitingFor"]):
            return True
        for wait in run["waitingFor"]:
            waitpoint = wait.get("waitpointId")
            if wait["kind"] == "CHILD" and waitpoint:
                listens_for = (await self.client.waitpoints.find(waitpoint))["listensFor"]
                if listens_for["type"] != "child":
                    continue
                if await self._waits_for_time(await self.client.runs.find(listens_for["runId"])):
                    return True
        return False

    async def settle(self, run: RunHandle | str) -> wire.Run:
        """Returns when nothing is being done: the run has ended, or waits."""
        await self._idle()
        return await self.client.runs.find(id_of(run))

    async def run_through(
        self, workflow: WorkflowRef, input: object = None, *, returns: type[Returned] | None = None
    ) -> Returned:
        """Starts a run, skips every wait of it, and gives its output, read as the type it is said to be."""
        run = await self.client.start(workflow, input)
        await self.skip_waits(run)
        return await asyncio.wait_for(run.result(returns=returns), PATIENCE)

    async def history(self, run: RunHandle | str) -> list[wire.HistoryRecord]:
        """What happened to a run, whole."""
        return [record async for record in self.client.runs.history(id_of(run))]

    async def crash(self) -> None:
        """Kills the server as a power cut would, and starts it again on the same store and address.

        A task that was on its way to a worker then comes again when its lease is over: `settle` first, unless that is
        what a test is about.
        """
        await self._kill()
        await self._serve(self.url.removeprefix("http://"))

    async def _idle(self) -> wire.TestClock:
        """Returns when no worker has, or could take, a task."""
        until = time.monotonic() + PATIENCE
        while True:
            clock = await self.client.test_clock.find()
            if clock["tasks"] == 0:
                return clock
            if time.monotonic() > until:
                count, advice = clock["tasks"], "is there a worker for each handler?"
                raise TimeoutError(f"{count} task(s) are not done after {PATIENCE} s: {advice}")
            await asyncio.sleep(LOOK_AGAIN)

    async def _serve(self, address: str) -> None:
        store = f"sqlite:{Path(self._directory.name) / 'abide.db'}"
        command = [self._bin, "serve", "--listen", address, "--store", store, "--log", "error", *self._flags]
        pipe = asyncio.subprocess.PIPE
        try:
            self._process = await asyncio.create_subprocess_exec(
                *command, stdout=pipe, cwd=self._directory.name, env=self._env
            )
        except OSError as error:
            raise RuntimeError(f"{self._bin} cannot be started: {error}; set ABIDE_BIN") from error
        assert self._process.stdout
        said = (await self._process.stdout.readline()).decode()
        url = re.search(r"listens on (http:\S+)", said)
        if not url:
            raise RuntimeError(f"{self._bin} did not start: {said}")
        self.url = url[1]

    async def _kill(self) -> None:
        if self._process and self._process.returncode is None:
            self._process.send_signal(signal.SIGKILL)
            await self._process.wait()


def id_of(run: RunHandle | str) -> str:
    return run if isinstance(run, str) else run.id
