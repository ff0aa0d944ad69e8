"""A worker: handlers by name, tasks from one long poll, reports in batches.

    poll (one at a time, for as many as there is room) ──▶ executions ──▶ reports (batched)
                                               heartbeats (batched) ──▶ taken back? the handler is cancelled
    SIGTERM: no more polls, executions are finished; once more, or after ``drain``: tasks are given back"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import socket
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypedDict, TypeVar

from . import wire
from .build import hash_of_code
from .client import Client
from .described import call_of, origin_of
from .duration import backoff
from .execution import Execution, Report
from .handlers import Handlers
from .middleware import Middleware
from .problem import Problem, Unreachable
from .reports import Reports

log = logging.getLogger("abide_sdk")

FIRST_BACKOFF = 0.1
LONGEST_BACKOFF = 5.0
MOST_TASKS = 1_000

Function = TypeVar("Function", bound=Callable[..., object])


class WorkerOptions(TypedDict, total=False):
    """What a worker takes beside its client and handlers; see ``Worker``."""

    concurrency: int
    name: str | None
    build_id: str | None
    lease: float
    heartbeat: float | None
    poll: float
    drain: float
    grace: float
    middleware: Sequence[Middleware]


class Worker:
    def __init__(
        self,
        client: Client | None = None,
        handlers: dict[str, Callable[..., object]] | None = None,
        *,
        concurrency: int = 100,
        name: str | None = None,
        build_id: str | None = None,
        lease: float = 30.0,
        heartbeat: float | None = None,
        poll: float = 30.0,
        drain: float = 30.0,
        grace: float = 2.0,
        middleware: Sequence[Middleware] = (),
    ) -> None:
        """All times are in seconds. ``build_id``: which code this worker has; handlers whose journal it does not fit wait for
        a worker with another one. ``ABIDE_BUILD_ID``, or a hash of the program's own modules, if absent; a commit's hash is
        better. ``concurrency``: tasks at the same time. ``lease``: how long a task stays here after
        its last heartbeat. ``heartbeat``: how often the worker asks whether its tasks are still wanted. ``drain``: how
        long a shutdown waits for handlers. ``grace``: how long a journal may hold something the code has not come to,
        before the code counts as changed. ``middleware``: what is put around handlers and calls, the first outermost."""
        self.client = client or Client()
        self.name = name or f"{socket.gethostname()}-{os.getpid()}"
        self._build_id = build_id or os.environ.get("ABIDE_BUILD_ID")
        self._handlers = Handlers(self.client, middleware, concurrency)
        self._concurrency = concurrency
        self._lease = lease
        self._heartbeat = heartbeat if heartbeat is not None else min(5.0, lease / 3)
        self._poll_time = poll
        self._drain = drain
        self._grace = grace
        self._active: dict[Execution, float] = {}
        self._tasks: dict[Execution, asyncio.Task[None]] = {}
        self._stopping = asyncio.Event()
        self._changed = asyncio.Event()
        self._polling: asyncio.Task[wire.PolledTasks] | None = None
        for handler_name, function in (handlers or {}).items():
            self.handle(handler_name, function)

    def handle(self, name: str, function: Callable[..., object]) -> None:
        """Registers a handler: a coroutine function, or a plain one, which gets a thread. Called with the context, and
        with the input if it takes two arguments."""
        self._handlers.add(name, function)

    def handler(self, name: str) -> Callable[[Function], Function]:
        """Registers what it decorates."""

        def register(function: Function) -> Function:
            self.handle(name, function)
            function.handler_name = name  # type: ignore[attr-defined]
            return function

        return register

    def run(self) -> None:
        """Works until SIGTERM or SIGINT, then finishes what it has."""
        asyncio.run(self._run())

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()

        def stop() -> None:
            if self._stopping.is_set():
                self._give_back()
            else:
                self._begin_to_stop()

        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, stop)
        await self.start()

    async def start(self) -> None:
        """Works until ``stop``. Ends with an error if the server refuses this worker."""
        if not self._handlers.names:
            raise ValueError("a worker needs at least one handler")
        self._reports = Reports(self.client.transport, self._lease)
        beating = asyncio.ensure_future(self._beat())
        try:
            await self._poll()
            while self._active:
                await self._room()
            await self._reports.sent()
        finally:
            beating.cancel()
            await self._handlers.close()

    async def stop(self) -> None:
        """Takes no more tasks and finishes those it has. What is not done in time is given back."""
        self._begin_to_stop()
        while self._active:
            await self._room()

    def _begin_to_stop(self) -> None:
        if self._stopping.is_set():
            return
        self._stopping.set()
        if self._polling:
            self._polling.cancel()
        self._changed.set()
        asyncio.get_running_loop().call_later(self._drain, self._give_back)

    def _give_back(self) -> None:
        """Gives every task back at once, for another worker."""
        for execution in list(self._active):
            execution.cancel("WORKER_STOPPED")
            self._reports.send({"type": "release", "leaseToken": execution.task["leaseToken"]})
            # Threads cannot be stopped, and are not waited for.
            self._leave(execution)

    async def _poll(self) -> None:
        failures = 0
        while not self._stopping.is_set():
            free = self._concurrency - len(self._active)
            if free <= 0:
                await self._room()
                continue
            poll: wire.PollTasks = {
                "handlers": self._handlers.names,
                "maxTasks": min(free, MOST_TASKS),
                "waitMs": int(self._poll_time * 1_000),
                "workerId": self.name,
                "leaseMs": int(self._lease * 1_000),
            }
            build_id = self._build_id or hash_of_code()
            if build_id:
                poll["buildId"] = build_id
            self._polling = asyncio.ensure_future(self.client.tasks.poll(poll))
            try:
                polled = await self._polling
            except asyncio.CancelledError:
                if self._stopping.is_set():
                    return
                raise
            except (Problem, Unreachable) as error:
                if isinstance(error, Problem) and error.status < 500 and error.status != 429:
                    raise
                if failures == 0:
                    log.warning("%s; trying again", error)
                failures += 1
                with contextlib.suppress(TimeoutError):
                    pause = backoff(failures, FIRST_BACKOFF, LONGEST_BACKOFF)
                    await asyncio.wait_for(self._stopping.wait(), pause)
                continue
            if failures:
                log.warning("%s is back", self.client.transport.server)
            failures = 0
            for task in polled["tasks"]:
                self._take(task)

    def _take(self, task: wire.Task) -> None:
        execution = Execution(task, self._reports, self._grace)
        self._active[execution] = time.monotonic()
        doing = asyncio.ensure_future(self._execute(execution))
        execution.handler = self._tasks[execution] = doing
        doing.add_done_callback(lambda _: self._leave(execution))

    async def _execute(self, execution: Execution) -> None:
        task = execution.task
        try:
            report = await execution.run(lambda: self._handlers.call(execution))
            if report and report["type"] == "fail":
                tell(execution)
            if report:
                await deliver(self._reports, task, report)
        except Unreachable:
            log.warning("task %s could not be reported; it will be handed out again", task["id"])
        except Exception:
            log.exception("task %s could not be reported", task["id"])

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(max(0.05, self._heartbeat / 4))
            now = time.monotonic()
            for execution, last in list(self._active.items()):
                lease = (execution.task["heartbeatMs"] or self._lease * 1_000) / 1_000
                if now - last >= min(self._heartbeat, lease / 3):
                    self._active[execution] = now
                    sent = self._reports.send({"type": "heartbeat", "leaseToken": execution.task["leaseToken"]})
                    sent.add_done_callback(partial(heard, execution))

    def _leave(self, execution: Execution) -> None:
        self._active.pop(execution, None)
        self._tasks.pop(execution, None)
        self._changed.set()

    async def _room(self) -> None:
        """Returns when a task has ended."""
        self._changed.clear()
        await self._changed.wait()


async def deliver(reports: Reports, task: wire.Task, report: Report) -> None:
    """Sends the last report on a task. One that the server cannot take is a failure, and no other attempt would help."""
    done = await reports.send(report)
    problem = done.get("problem")
    if done["ok"] or not problem:
        return
    changed = problem["code"] in ("JOURNAL_CONFLICT", "JOURNAL_MISMATCH")
    if problem["status"] in (401, 404, 409) and not changed:
        log.warning("task %s: %s: %s", task["id"], problem["code"], problem["detail"])
        return
    message = f"the report was refused: {problem['code']}: {problem['detail']}"
    failed = {"type": "fail", "leaseToken": task["leaseToken"], "message": message}
    mismatch = {"mismatch": {"recorded": problem["detail"], "found": "something else"}} if changed else {}
    await reports.send({**failed, "code": problem["code"], "retryable": False, **mismatch})


def tell(execution: Execution) -> None:
    """A failure is told here, too, with its traceback: whoever watches the worker need not look elsewhere."""
    error, task = execution.failed_with, execution.task
    call, shown = call_of(error), origin_of(error) if error else None
    place = task["handler"] if call is None else f"{task['handler']} › {call}"
    log.error("%s failed in attempt %s of %s: %s", place, task["attempt"], task["runId"], shown, exc_info=shown)


def heard(execution: Execution, done: asyncio.Future[wire.ReportDone]) -> None:
    if done.cancelled() or done.exception():
        execution.cancel("UNREACHABLE")
    else:
        execution.heed(done.result())
