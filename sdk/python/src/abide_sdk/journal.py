"""One execution of a task, as durable calls see it: what the journal holds, what is new, and whether the handler only waits.

    replay: what the journal holds is answered at once
    ──▶ something new: done when the code has come to everything that the journal holds
    ──▶ a wait that is not over, and nothing else to do: the handler is left (``Suspended``)

The journal does not change during an execution, so a wait that is open stays open until the next one."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Literal, NoReturn

from . import wire
from .asked import mismatch
from .branch import Scope, has_lost, scope
from .call import DurableCall
from .failure import BranchLost, Cancelled, CodeChanged, Misused, Suspended, TaskError
from .middleware import Next
from .reports import Reports
from .run_log import Level, RunLog
from .wait import Wait

OWN = "!"
"""Names of entries that are ours: ``!charge`` is how ``charge`` failed."""
NAME_CHARS = 190
"""The server takes 200 characters."""
KEY_CHARS = 255
"""The server takes 255 characters."""
TAKEN_BACK = {"STALE_LEASE", "RUN_ENDED", "UNKNOWN_RUN", "WRONG_STEP_STATUS", "BAD_LEASE", "UNKNOWN_TASK"}
"""Refusals that mean that the task is somebody else's, or nobody's, by now."""
HOPS = 20
"""Turns of the event loop without a durable call after which a handler counts as waiting."""

WEBHOOK: dict[str, Any] = {"type": "webhook"}
"""What a waitpoint with a URL is waited for by."""

inside: ContextVar[str | None] = ContextVar("inside", default=None)
"""The name of the ``ctx.run`` that the code is in."""


@dataclass(slots=True)
class Group:
    """What is waited for together, and when it is over."""

    waits: list[Wait[Any]]
    wake: Literal["all", "any", "each"]
    over: asyncio.Future[None]
    scope: Scope | None


@dataclass(slots=True)
class Held:
    """Something new that is not done before it is clear that the code fits the journal."""

    found: str
    go: asyncio.Future[None]


@dataclass(slots=True, eq=False)
class Act:
    """Something new that is being done."""

    scope: Scope | None


class Journal:
    def __init__(self, task: wire.Task, reports: Reports, grace: float) -> None:
        self.task = task
        self.state_updates: dict[str, Any] | None = None
        self.opened: list[tuple[Wait[Any], Scope | None]] = []
        self.failed_with: BaseException | None = None
        """What the handler failed with in this execution."""
        self.lost: Cancelled | None = None
        """The task is not ours any more."""
        self.handler: asyncio.Task[Any] | None = None
        self._reports = reports
        self._grace = grace
        self._journal = {entry["name"]: entry for entry in task["journal"]}
        # What the journal holds and the code has not come to, in its order.
        # The back-off of a call is no call of its own.
        self._unasked = {
            name: None
            for name, entry in self._journal.items()
            if not name.startswith(OWN) and not is_back_off(entry)
        }
        self._asked: set[str] = set()
        # How often the code has paused under a name.
        self._pauses: dict[str, int] = {}
        self._groups: list[Group] = []
        self._held: list[Held] = []
        self._grace_timer: asyncio.Handle | None = None
        self._log: RunLog | None = None
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self.around: Callable[[DurableCall, Next], Next] | None = None
        """What is put around the work of a call."""
        # Entries that must be stored before anything new is done.
        self._unsaved: list[wire.NewJournalEntry] = []
        # Waits that lost a race, and are cancelled with the entry that says who won.
        self._cancels: list[str] = []
        # What runs beside the handler, for `any` and `all`.
        self.branches: dict[asyncio.Task[Any], Scope] = {}
        # Waitpoints that were made in this execution, and whose they are.
        self._made: list[tuple[str, Scope | None]] = []
        # Waits that were open when their branch lost.
        self._dropped: set[str] = set()
        # Branches that lost, and came to the end of what they had recorded.
        self._stopped: list[asyncio.Future[None]] = []
        self._acts: set[Act] = set()
        # Threads that are between two durable calls: who knows what they come to.
        self._threads: set[Act] = set()
        self._quiet = asyncio.Event()
        self._quiet.set()
        self._hops = 0
        self._suspension: Suspended | None = None
        self._swallowed_at: str | None = None
        self._fatal: TaskError | None = None
        # The handler has returned or raised; a branch of it may still be under way.
        self._settled = False

    def pause_name(self, name: str) -> str:
        """The name of the next pause under this one: ``poll``, ``poll#2``, ``poll#3``, …"""
        count = self._pauses[name] = self._pauses.get(name, 0) + 1
        return name if count == 1 else f"{name}#{count}"

    def log(self, level: Level, message: str) -> None:
        """Writes a line to the run's log, unless an earlier execution has."""
        if not (self._unasked or self._settled or self.lost or has_lost(scope.get())):
            self._log = self._log or RunLog(self._reports, self.task["leaseToken"])
            self._log.write(level, message)

    def log_from_anywhere(self, level: Level, message: str) -> None:
        """The same, also from another thread."""
        if threading.get_ident() == self._thread:
            self.log(level, message)
        else:
            self._loop.call_soon_threadsafe(self.log, level, message)

    def ask(
        self, name: str, kind: Literal["run", "wait", "waitpoint", "back_off"], spec: dict[str, Any] = WEBHOOK
    ) -> wire.JournalEntry | None:
        """What the journal holds for a call. A call that does not fit it, or cannot be, ends the task."""
        if self.lost:
            raise self.lost
        if self._suspension:
            self._swallowed_at = self._swallowed_at or name
            raise self._suspension
        if self._fatal:
            raise self._fatal
        if self._settled:
            raise Cancelled("HANDLER_ENDED")
        if kind != "back_off":
            self._check_name(name)
        call = f"waitpoint {name}" if kind == "waitpoint" else name
        if call in self._asked:
            advice = f"each durable call needs a name of its own, such as `{name}-2`"
            raise self._break(Misused(f"`{name}` is used twice; {advice}"))
        self._asked.add(call)
        self._unasked.pop(name, None)
        if not self._unasked:
            self._release()
        self.stir()
        entry = self._journal.get(name)
        failed = OWN + name in self._journal
        is_run = kind == "run"
        if (entry is not None and is_run == bool(entry.get("wait"))) or (failed and not is_run):
            now, was = ("a run", "a wait") if is_run else ("a wait", "a run")
            raise self._break(CodeChanged(f"`{name}` as {was}", f"`{name}` as {now}"))
        recorded = entry.get("wait") if entry is not None else None
        changed = mismatch(name, recorded, spec) if recorded else None
        if changed is not None:
            raise self._break(CodeChanged(*changed))
        return entry

    def _check_name(self, name: str) -> None:
        within = inside.get()
        if within is not None:
            raise self._break(Misused(f"`{name}` is inside of `{within}`; what `run` does cannot itself be durable"))
        if not 1 <= len(name) <= NAME_CHARS or name[0] in (OWN, "$"):
            message = f"`{name}` is not a name: 1 to {NAME_CHARS} characters, the first not `!` or `$`"
            raise self._break(Misused(message))

    @asynccontextmanager
    async def acting(self, name: str) -> AsyncGenerator[None, None]:
        """Around something new, once it is clear that the code fits the journal."""
        branch = scope.get()
        if has_lost(branch):
            await self.stop()
        act = Act(branch)
        self._acts.add(act)
        self._quiet.clear()
        try:
            await self.fits(name)
            if self._unsaved:
                await self._save()
            if self._settled:
                raise Cancelled("HANDLER_ENDED")
            if not has_lost(branch):
                yield
                return
        finally:
            self._done(act)
        await self.stop()

    def goes(self, thread: Act) -> None:
        """A thread of the handler goes on by itself, until it comes to a durable call."""
        if not has_lost(thread.scope):
            self._threads.add(thread)

    def halts(self, thread: Act) -> None:
        self._threads.discard(thread)
        self.stir()

    def _done(self, act: Act) -> None:
        self._acts.discard(act)
        self.stir()
        if not self._acts:
            self._quiet.set()

    async def fits(self, name: str) -> None:
        """Returns when the code has come to everything that the journal holds."""
        if self._unasked:
            held = Held(f"`{name}`", asyncio.get_running_loop().create_future())
            self._hold(held)
            await held.go

    async def until(self, waits: list[Wait[Any]], wake: Literal["all", "any", "each"]) -> None:
        """Waits until a group is over; in this execution that is either so already, or never."""
        over = all(wait.has_ended for wait in waits) or (wake == "any" and any(wait.has_happened for wait in waits))
        if has_lost(scope.get()) and (not over or any(wait.name in self._dropped for wait in waits)):
            await self.stop()
        if over:
            return
        if self.lost:
            raise self.lost
        if self._fatal:
            raise self._fatal
        if self._suspension:
            self._swallowed_at = self._swallowed_at or waits[0].name
            raise self._suspension
        group = Group(waits, wake, asyncio.get_running_loop().create_future(), scope.get())
        self._groups.append(group)
        self.stir()
        await group.over

    def begin(self, wait: Wait[Any]) -> None:
        self.opened.append((wait, scope.get()))

    def make(self, name: str) -> None:
        """A waitpoint is made before it is waited for."""
        self._made.append((name, scope.get()))

    def check(self) -> None:
        """Raises what ends the handler, if something does."""
        ending = self.lost or self._fatal or self._suspension
        if ending:
            raise ending

    async def stop(self) -> NoReturn:
        """A branch that lost goes no further."""
        if not self._settled:
            stopped: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._stopped.append(stopped)
            await stopped
        raise BranchLost()

    def _cancel_losers(self) -> None:
        """What they had recorded has been reached: they are of no use any more."""
        for task, branch in self.branches.items():
            if branch.is_lost and not task.cancelling():
                task.cancel()

    def idempotency_key(self, name: str) -> str:
        """What other services may know a call by: the same at every attempt and every replay."""
        return f"{self.task['id']}/{name}"[:KEY_CHARS]

    def waitpoint_id(self, name: str) -> str:
        """Of a wait that the journal holds."""
        entry = self._journal.get(name)
        wait = entry.get("wait") if entry else None
        return wait["waitpointId"] if wait else ""

    def patched(self, id: str) -> bool:
        """Whether a planned change of the code is in effect for this run: it is, unless the run has gone beyond it already.
        What was decided once stays decided."""
        name = f"{OWN}patch {id}"
        decided = self._journal.get(name) or next((entry for entry in self._unsaved if entry["name"] == name), None)
        if decided is not None:
            return decided.get("result") is True
        result = not self._unasked
        if not has_lost(scope.get()):
            self._unsaved.append({"name": name, "result": result})
        return result

    async def _save(self) -> None:
        # A failure that nobody catches ends the handler first, and is then not remembered.
        for _ in range(HOPS):
            await asyncio.sleep(0)
        entries, self._unsaved = self._unsaved, []
        cancels, self._cancels = self._cancels, []
        if entries and not self._settled and not self._suspension:
            await self.record(entries=entries, cancels=cancels)

    async def record(self, **more: Any) -> None:
        report = {"type": "heartbeat", "leaseToken": self.task["leaseToken"], **more}
        done = await asyncio.shield(self._reports.send(report))
        self.heed(done)
        if self.lost:
            raise self.lost
        problem = done.get("problem")
        if not done["ok"] and problem:
            raise self._break(TaskError(problem["detail"], code=problem["code"], retryable=False))

    def heed(self, done: wire.ReportDone) -> None:
        """What the answer to a report says about the task itself."""
        problem = done.get("problem")
        if problem and problem["code"] in TAKEN_BACK:
            self.cancel(problem["code"])

    def stir(self) -> None:
        """Looks, after everything that can go on has gone on, whether the handler only waits."""
        if self._hops == 0:
            asyncio.get_running_loop().call_soon(self._hop)
        self._hops = HOPS

    def _hop(self) -> None:
        self._hops -= 1
        if self._hops > 0:
            asyncio.get_running_loop().call_soon(self._hop)
        else:
            self._suspend_if_idle()

    def _suspend_if_idle(self) -> None:
        if self._settled or self.lost or self._suspension or self._fatal or not self._groups:
            return
        if self._acts or self._threads:
            return
        names = [wait.name for group in self._groups for wait in group.waits if not wait.has_ended]
        if self._unasked:
            go = asyncio.get_running_loop().create_future()
            go.add_done_callback(lambda done: None if done.cancelled() or done.exception() else self.stir())
            return self._hold(Held(f"`{names[0]}`", go))
        self._suspension = Suspended(names)
        for group in self._groups:
            fail(group.over, self._suspension)

    def _hold(self, held: Held) -> None:
        """The journal holds something the code has not come to. Another branch may yet: it is given some time."""
        self._held.append(held)
        if self._grace_timer is None:
            self._grace_timer = asyncio.get_running_loop().call_later(self._grace, self._last_turn)

    def _last_turn(self) -> None:
        """Lets a branch go on whose own timer was due before the end of the grace, in a loop that was held up for that long."""
        self._grace_timer = asyncio.get_running_loop().call_soon(self._give_up)

    def _give_up(self) -> None:
        left = next(iter(self._unasked))
        self._break(CodeChanged(f"`{left}`", ", ".join(held.found for held in self._held)))

    def _release(self) -> None:
        self._stop_grace()
        held, self._held = self._held, []
        for one in held:
            if not one.go.done():
                one.go.set_result(None)
        self._cancel_losers()

    def misused(self, message: str) -> TaskError:
        return self._break(Misused(message))

    def end(self, error: TaskError) -> TaskError:
        """Ends the handler here, whatever it makes of it."""
        return self._break(error)

    def _break(self, error: TaskError) -> TaskError:
        """Ends the handler with an error that counts, whatever the handler makes of it."""
        self._fatal = self._fatal or error
        self._end_all(error)
        return error

    def cancel(self, code: str) -> None:
        """The task is not ours any more."""
        if self.lost or self._settled:
            return
        self.lost = Cancelled(code)
        self._end_all(self.lost)
        if self.handler:
            self.handler.cancel()

    def _end_all(self, error: BaseException) -> None:
        self._stop_grace()
        for held in self._held:
            fail(held.go, error)
        for group in self._groups:
            fail(group.over, error)
        self._held, self._groups = [], []

    def _stop_grace(self) -> None:
        if self._grace_timer:
            self._grace_timer.cancel()
            self._grace_timer = None


def is_back_off(entry: wire.JournalEntry) -> bool:
    """Whether it is a part of a durable call: its back-off, or its wait for room."""
    wait = entry.get("wait")
    return wait is not None and wait["kind"] in ("RETRY", "CAPACITY")


def fail(future: asyncio.Future[None], error: BaseException) -> None:
    if not future.done():
        future.set_exception(error)
        # In a branch that nobody looks at any more this is no news.
        future.exception()
