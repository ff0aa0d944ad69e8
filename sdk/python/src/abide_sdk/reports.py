"""Reports on tasks, sent many at a time. What is reported while a request is under way goes into the next one."""

from __future__ import annotations

import asyncio
import time
from typing import Any

from . import wire
from .duration import backoff
from .plain import write
from .problem import Busy, Invalid, Problem, Unreachable
from .transport import Request, Transport

# The server takes 1,000 reports and 8 MiB in one request.
MOST_REPORTS = 1_000
MOST_BYTES = 7 * 1024 * 1024
# More would not be quicker: the server commits what comes together anyway.
REQUESTS_UNDER_WAY = 2

Waiting = tuple[bytes, "asyncio.Future[wire.ReportDone]"]


class Reports:
    def __init__(self, transport: Transport, patience: float) -> None:
        """``patience``: how many seconds a server that does not answer is tried. The leases are lost by then."""
        self._transport = transport
        self._patience = patience
        self._queue: list[Waiting] = []
        self._under_way: set[asyncio.Task[None]] = set()
        self._scheduled = False

    def send(self, report: dict[str, Any]) -> asyncio.Future[wire.ReportDone]:
        future: asyncio.Future[wire.ReportDone] = asyncio.get_running_loop().create_future()
        # Whoever does not look at it has gone.
        future.add_done_callback(lambda done: done.cancelled() or done.exception())
        self._queue.append((write(report), future))
        self._schedule()
        return future

    async def sent(self) -> None:
        """Returns when nothing is left to be sent."""
        while self._queue or self._under_way:
            await asyncio.wait([*self._under_way], timeout=0.05) if self._under_way else await asyncio.sleep(0)

    def _schedule(self) -> None:
        if not self._scheduled and len(self._under_way) < REQUESTS_UNDER_WAY:
            self._scheduled = True
            asyncio.get_running_loop().call_soon(self._begin)

    def _begin(self) -> None:
        self._scheduled = False
        if not self._queue:
            return
        task = asyncio.ensure_future(self._flush(self._take()))
        self._under_way.add(task)
        task.add_done_callback(self._ended)
        if self._queue:
            self._schedule()

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._under_way.discard(task)
        if self._queue:
            self._schedule()

    def _take(self) -> list[Waiting]:
        size = count = 0
        for text, _ in self._queue:
            size += len(text) + 1
            if count and (count >= MOST_REPORTS or size > MOST_BYTES):
                break
            count += 1
        batch, self._queue = self._queue[:count], self._queue[count:]
        return batch

    async def _flush(self, batch: list[Waiting]) -> None:
        try:
            results = await self._post([text for text, _ in batch])
            for (_, future), result in zip(batch, results, strict=True):
                if not future.done():
                    future.set_result(result)
        except (Problem, Unreachable) as error:
            # One report that cannot be read must not take the others with it.
            if len(batch) > 1 and isinstance(error, Problem):
                for one in batch:
                    await self._flush([one])
                return
            for _, future in batch:
                if future.done():
                    continue
                # A report that the server cannot read is refused like one that it does not take: whoever sent it fails
                # its task.
                if isinstance(error, Invalid):
                    future.set_result({"ok": False, "problem": error.body, "reported": None})
                else:
                    future.set_exception(error)

    async def _post(self, texts: list[bytes]) -> list[wire.ReportDone]:
        request = Request(
            "POST", "/api/v1/tasks/report", text=b'{"reports":[' + b",".join(texts) + b"]}", repeatable=True
        )
        until, attempt = time.monotonic() + self._patience, 0
        while True:
            try:
                reported: wire.ReportedTasks = await self._transport.json(request)
                return reported["results"]
            except (Unreachable, Busy):
                if time.monotonic() > until:
                    raise
            await asyncio.sleep(backoff(attempt, 0.1, 2.0))
            attempt += 1
