"""Would this code go on where runs have come to? Handlers are replayed against stored journals, without a server: nothing is
executed, nothing is recorded, and a handler that comes to something new has got past its journal."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from . import wire
from .branch import has_lost, scope
from .client import Client
from .context import Context, RequestedApproval, T, Waitpoint
from .duration import Duration
from .execution import Execution
from .failure import CodeChanged, NotRetryable
from .handlers import Handlers
from .reports import Reports
from .transport import Request, ServerEvent, Traceparent, Transport

GRACE = 0.5
"""How many seconds a branch may take to come to what was recorded."""
PATIENCE = 30.0
"""How many seconds one handler may take."""
AT_ONCE = 100
"""Journals that are replayed at the same time."""

Journals: TypeAlias = str | Path | Iterable[Mapping[str, object]]
"""A file that ``abide journals export`` wrote, or its lines."""


@dataclass(frozen=True, slots=True)
class ReplayVerdict:
    """What became of one journal."""

    run_id: str
    step: str
    handler: str
    verdict: Literal["fits", "mismatch", "failed", "no_handler"]
    recorded: str | None = None
    """What the journal holds, where the code does not fit it."""
    came_to: str | None = None
    """What the code came to instead."""
    message: str | None = None

    def __str__(self) -> str:
        return f"{self.run_id} {self.step} ({self.handler}): {self.verdict}" + (f": {self.message}" if self.message else "")


class ReplayFailed(AssertionError):
    """The code does not fit some of the journals."""

    def __init__(self, verdicts: list[ReplayVerdict]) -> None:
        self.verdicts = [verdict for verdict in verdicts if verdict.verdict != "fits"]
        lines = "\n".join(f"  {verdict}" for verdict in self.verdicts)
        super().__init__(f"{len(self.verdicts)} of {len(verdicts)} journals do not fit the code:\n{lines}")


async def replay_check(
    handlers: dict[str, Callable[..., object]], journals: Journals, *, grace: float = GRACE, patience: float = PATIENCE
) -> list[ReplayVerdict]:
    """Replays handlers against journals, and gives a verdict for each, in their order. Times are in seconds."""
    known = Handlers(Client(transport=Offline()), (), AT_ONCE, ReplayContext)
    for name, function in handlers.items():
        known.add(name, function)
    room = asyncio.Semaphore(AT_ONCE)

    async def one(line: Mapping[str, object]) -> ReplayVerdict:
        async with room:
            return await verdict_on(known, line, grace, patience)

    try:
        return list(await asyncio.gather(*(one(line) for line in lines_of(journals))))
    finally:
        await known.close()


async def assert_replays(
    handlers: dict[str, Callable[..., object]], journals: Journals, *, grace: float = GRACE, patience: float = PATIENCE
) -> None:
    """Raises ``ReplayFailed``, with a list, unless the handlers fit all journals."""
    verdicts = await replay_check(handlers, journals, grace=grace, patience=patience)
    if any(verdict.verdict != "fits" for verdict in verdicts):
        raise ReplayFailed(verdicts)


def lines_of(journals: Journals) -> list[Mapping[str, object]]:
    if not isinstance(journals, (str, Path)):
        return list(journals)
    text = Path(journals).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.split("\n") if line.strip()]


async def verdict_on(handlers: Handlers, line: Mapping[str, object], grace: float, patience: float) -> ReplayVerdict:
    run_id, step, handler = str(line["runId"]), str(line["step"]), str(line["handler"])
    if handler not in handlers:
        return ReplayVerdict(run_id, step, handler, "no_handler", message=f"there is no handler `{handler}`")
    replay = Replay(task_of(line), Unsent(Offline(), 0.0), grace)
    replaying = asyncio.ensure_future(replay.run(lambda: handlers.call(replay)))
    done, _ = await asyncio.wait([replaying], timeout=patience)
    if not done:
        replaying.cancel()
        message = f"the handler did not come to anything durable within {patience} s"
        return ReplayVerdict(run_id, step, handler, "failed", message=message)
    error = replay.failed_with
    if error is None or isinstance(error, PastJournal):
        return ReplayVerdict(run_id, step, handler, "fits")
    if isinstance(error, CodeChanged):
        return ReplayVerdict(run_id, step, handler, "mismatch", error.recorded, error.found, str(error))
    return ReplayVerdict(run_id, step, handler, "failed", message=f"{type(error).__name__}: {error}")


def task_of(line: Mapping[str, Any]) -> wire.Task:
    return {
        "id": f"{line['runId']}/{line['step']}",
        "runId": line["runId"],
        "stepName": line["step"],
        "handler": line["handler"],
        "attempt": line.get("attempt", 1),
        "input": line.get("input"),
        "state": line.get("state") or {},
        "config": line.get("config"),
        "checkpoint": line.get("checkpoint"),
        "journal": line["journal"],
        "executionType": "RESUME" if line["journal"] else "BEGIN",
        "resumedBy": None,
        "resumePayload": None,
        "traceparent": None,
        "deadline": None,
        "heartbeatMs": None,
        "leaseToken": "",
        "leasedUntil": "",
    }


class PastJournal(NotRetryable):
    """The handler has come to something that is not recorded yet."""


class Replay(Execution):
    """An execution that ends where the journal does."""

    @asynccontextmanager
    async def acting(self, name: str) -> AsyncGenerator[None, None]:
        if has_lost(scope.get()):
            await self.stop()
        await self.fits(name)
        raise self.end(PastJournal(f"`{name}` is not recorded yet"))
        yield

    async def record(self, **more: Any) -> None:
        """Nothing is recorded."""

    def log_from_anywhere(self, level: str, message: str) -> None:
        """Nor written."""


class Unsent(Reports):
    """Reports that nobody gets."""

    def send(self, report: dict[str, Any]) -> asyncio.Future[wire.ReportDone]:
        done: asyncio.Future[wire.ReportDone] = asyncio.get_running_loop().create_future()
        done.set_result({"ok": True, "problem": None, "reported": None})
        return done


class ReplayContext(Context):
    """What was made before is known by the journal; the links to it are not."""

    async def _make_waitpoint(self, name: str, timeout: Duration | None, allow_get: bool) -> Waitpoint:
        return Waitpoint(name, self._execution.waitpoint_id(name), "")

    async def _ask_people(
        self,
        name: str,
        spec: dict[str, Any],
        approval: dict[str, Any],
        timeout: Duration | None,
        returns: type[T] | None,
    ) -> RequestedApproval[T]:
        links = {approver: "" for approver in approval["approvers"]}
        return RequestedApproval(name, self._execution.waitpoint_id(name), None, links, spec, returns)


class Offline(Transport):
    """There is no server."""

    def apart(self) -> Transport:
        return self

    def traced_by(self, traceparent: Traceparent) -> Transport:
        return self

    async def json(self, request: Request) -> Any:
        raise refused(request)

    async def text(self, request: Request) -> str:
        raise refused(request)

    async def parts(self, request: Request) -> AsyncIterator[bytes]:
        raise refused(request)
        yield b""

    async def events(
        self, request: Request, is_last: Callable[[ServerEvent], bool], last_id: str | None = None
    ) -> AsyncIterator[ServerEvent]:
        raise refused(request)
        yield ServerEvent(None, "", "")


def refused(request: Request) -> RuntimeError:
    advice = "what talks to the server belongs into `ctx.run`"
    return RuntimeError(f"{request.method} {request.path} outside of a durable call: in a replay there is no server; {advice}")
