"""The lines that a handler writes to its run's log, gathered for a moment and sent together."""

from __future__ import annotations

import asyncio
from typing import Literal, TypeAlias

from . import wire
from .reports import Reports

Level: TypeAlias = Literal["debug", "info", "warn", "error"]

LINE_CHARS = 8_000
"""What is kept of a line of the log."""
MOST_LINES = 500
"""Lines of the log in one report."""
LOG_DELAY = 0.2
"""How long lines of the log are gathered, in seconds."""


class RunLog:
    def __init__(self, reports: Reports, lease_token: str) -> None:
        self._reports = reports
        self._lease_token = lease_token
        self._lines: list[wire.LogLine] = []
        self._sending: asyncio.Future[wire.ReportDone] | None = None
        self._timer: asyncio.TimerHandle | None = None

    def write(self, level: Level, message: str) -> None:
        self._lines.append({"level": level, "message": message[:LINE_CHARS]})
        if len(self._lines) >= MOST_LINES:
            self._flush()
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(LOG_DELAY, self._flush)

    async def finish(self) -> None:
        """What was written before is there before the task is over; what is left goes along with the last report."""
        if self._sending:
            await asyncio.wait([self._sending])
        self._flush()

    def _flush(self) -> None:
        if self._timer:
            self._timer.cancel()
            self._timer = None
        lines, self._lines = self._lines, []
        if lines:
            self._sending = self._reports.send({"type": "log", "leaseToken": self._lease_token, "lines": lines})
            # A line that is lost is no reason to fail.
            self._sending.add_done_callback(lambda done: None if done.cancelled() else done.exception())
