"""One delivery of a task: the handler, its journal, and what becomes of them.

    replay: what the journal holds is answered at once
    ──▶ new work: done, recorded, answered
    ──▶ a wait that is not over, and nothing else to do: the handler is left (``Suspended``), the waits are reported

The journal does not change during a delivery, so a wait that is open stays open until the next one."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal

from . import wire
from .asked import asked_of, mismatch
from .call import DurableCall, Policy, back_off, back_off_name, began, took_too_long
from .described import described, type_of
from .duration import Duration, field, seconds
from .failure import (
    Cancelled,
    CodeChanged,
    Misused,
    RunFailed,
    Suspended,
    SuspensionSwallowed,
    TaskError,
    quoted,
)
from .plain import as_json
from .reports import Reports
from .wait import Wait

OWN = "!"
"""Names of entries that are ours: ``!charge`` is how ``charge`` failed."""
NAME_CHARS = 190
"""The server takes 200 characters."""
KEY_CHARS = 255
"""The server takes 255 characters."""
TAKEN_BACK = {"STALE_LEASE", "RUN_ENDED", "UNKNOWN_RUN", "WRONG_STEP_STATUS", "BAD_LEASE", "UNKNOWN_TASK"}
"""Refusals that mean that the task is somebody else's, or nobody's, by now."""
LINE_CHARS = 8_000
"""What is kept of a line of the log."""
MOST_LINES = 500
"""Lines of the log in one report."""
LOG_DELAY = 0.2
"""How long lines of the log are gathered, in seconds."""
HOPS = 20
"""Turns of the event loop without a durable call after which a handler counts as waiting."""

Report = dict[str, Any]

WEBHOOK: dict[str, Any] = {"type": "webhook"}
"""What a waitpoint with a URL is waited for by."""

inside: ContextVar[str | None] = ContextVar("inside", default=None)
"""The name of the ``ctx.run`` that the code is in."""


@dataclass(slots=True)
class Group:
    """What is waited for together, and when it is over."""

    waits: list[Wait[Any]]
    wake: Literal["all", "any"]
    over: asyncio.Future[None]


@dataclass(slots=True)
class Held:
    name: str
    go: asyncio.Future[None]


@dataclass(frozen=True, slots=True)
class Recalled:
    """A result that the journal holds."""

    value: Any


class Execution:
    def __init__(self, task: wire.Task, reports: Reports, grace: float) -> None:
        self.task = task
        self.state_updates: dict[str, Any] | None = None
        self.opened: list[Wait[Any]] = []
        self.failed_with: BaseException | None = None
        """What the handler failed with in this delivery."""
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
        self._grace_timer: asyncio.TimerHandle | None = None
        # Lines of the log that are still to be sent.
        self._lines: list[wire.LogLine] = []
        self._logging: asyncio.Future[wire.ReportDone] | None = None
        self._log_timer: asyncio.TimerHandle | None = None
        # Entries that must be stored before anything new is done.
        self._unsaved: list[wire.NewJournalEntry] = []
        # Waits that lost a race, and are cancelled with the entry that says who won.
        self._cancels: list[str] = []
        self._busy = 0
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

    async def run(self, handler: Callable[[], Awaitable[Any]]) -> Report | None:
        """Runs the handler. The last report on this delivery, or nothing if the task is not ours any more."""
        error: BaseException | None = None
        output: Any = None
        try:
            output = await handler()
        except BaseException as raised:
            error = raised
        self._settled = True
        # A sibling that is still at work may record what it has done.
        await self._quiet.wait()
        self._stop_grace()
        if self.lost:
            return None
        if isinstance(error, asyncio.CancelledError) and not self._suspension and not self._fatal:
            raise error
        report = self._verdict(output, error)
        if report["type"] == "pause" and self._unsaved:
            # A pause carries no entries: what is to be remembered goes before it.
            saved = {"type": "heartbeat", "leaseToken": report["leaseToken"], "entries": self._unsaved}
            self.heed(await self._reports.send({**saved, "cancels": self._cancels}))
        # What was written before is there before the task is over; what is left goes along with the last report.
        if self._logging:
            await asyncio.wait([self._logging])
        self._flush_log()
        return report

    def log(self, level: Literal["debug", "info", "warn", "error"], message: str) -> None:
        """Writes a line to the run's log, unless an earlier delivery has."""
        if self._unasked or self._settled or self.lost:
            return
        self._lines.append({"level": level, "message": message[:LINE_CHARS]})
        if len(self._lines) >= MOST_LINES:
            self._flush_log()
        elif self._log_timer is None:
            self._log_timer = asyncio.get_running_loop().call_later(LOG_DELAY, self._flush_log)

    def _flush_log(self) -> None:
        if self._log_timer:
            self._log_timer.cancel()
            self._log_timer = None
        lines, self._lines = self._lines, []
        if lines:
            self._logging = self._reports.send({"type": "log", "leaseToken": self.task["leaseToken"], "lines": lines})
            # A line that is lost is no reason to fail.
            self._logging.add_done_callback(lambda done: None if done.cancelled() else done.exception())

    def _verdict(self, output: Any, error: BaseException | None) -> Report:
        if self._fatal:
            return self._failure(self._fatal)
        if self._suspension:
            passed = error is not None and only_suspended(error) and self._swallowed_at is None
            return self._let_go() if passed else self._failure(self._swallowed(self._suspension, error))
        if error is not None:
            return self._failure(error)
        for left in self._unasked:
            return self._failure(CodeChanged(f"`{left}`", "the end of the handler"))
        report = {"type": "complete", "leaseToken": self.task["leaseToken"], "output": output}
        return report if self.state_updates is None else {**report, "stateUpdates": self.state_updates}

    def _swallowed(self, suspension: Suspended, error: BaseException | None) -> SuspensionSwallowed:
        if self._swallowed_at is not None:
            then = f"went on to `{self._swallowed_at}`"
        else:
            then = "returned" if error is None else f"raised something else: {message_of(error)}"
        advice = "An except or finally around a wait must let the suspension pass: catch `Exception`, never everything"
        return SuspensionSwallowed(f"the handler was to be left at {quoted(suspension.waits)}, and {then}. {advice}")

    def _failure(self, error: BaseException) -> Report:
        self.failed_with = error
        known = error if isinstance(error, TaskError) else TaskError(message_of(error))
        report: Report = {
            "type": "fail",
            "leaseToken": self.task["leaseToken"],
            "message": known.message or type(known).__name__,
            "retryable": known.retryable,
            **field("retryAfter", known.retry_after),
            "detail": described(error),
        }
        if isinstance(known, CodeChanged):
            report["mismatch"] = {"recorded": known.recorded, "found": known.found}
        return report if known.code is None else {**report, "code": known.code}

    def _let_go(self) -> Report:
        token = self.task["leaseToken"]
        awaited = [wait for group in self._groups for wait in group.waits]
        for wait in awaited:
            if wait.spec["type"] == "pause":
                return {"leaseToken": token, "name": wait.name, **wait.spec}
        # What was begun and is not awaited yet begins now, too: its time counts from here.
        begun = [wait for wait in self.opened if wait.status is None and wait not in awaited]
        both = dict.fromkeys([*awaited, *begun])
        open_waits = [wait for wait in both if not wait.has_ended and wait.spec["type"] != "pause"]
        alone = self._groups[0].wake if len(self._groups) == 1 and not begun else "each"
        return {
            "type": "suspend",
            "leaseToken": token,
            "waits": [{"name": wait.name, "asked": asked_of(wait.spec), **wait.spec} for wait in open_waits],
            "wake": "all" if len(open_waits) == 1 else alone,
            "entries": self._unsaved,
            "cancels": self._cancels,
        }

    # The durable calls

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
        self._stir()
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
    async def acting(self, name: str) -> AsyncIterator[None]:
        """Around something new, once it is clear that the code fits the journal."""
        self._busy += 1
        self._quiet.clear()
        try:
            if self._unasked:
                held = Held(name, asyncio.get_running_loop().create_future())
                self._hold(held)
                await held.go
            if self._unsaved:
                await self._save()
            if self._settled:
                raise Cancelled("HANDLER_ENDED")
            yield
        finally:
            self._busy -= 1
            self._stir()
            if self._busy == 0:
                self._quiet.set()

    def recall(self, name: str) -> Recalled | None:
        entry = self.ask(name, "run")
        failed = self._journal.get(OWN + name)
        if failed is not None:
            raise RunFailed(name, **failed["result"])
        return None if entry is None else Recalled(entry.get("result"))

    async def run_once(self, name: str, work: Callable[..., Any], given: Policy) -> Any:
        begun = await self.begin_run(name, given)
        if isinstance(begun, Recalled):
            return begun.value
        async with self.acting(name):
            token = inside.set(name)
            try:
                value = began(work, begun)
                if inspect.isawaitable(value):
                    value = await within(name, given.timeout, value)
            except Exception as error:
                again = self.failed_run(begun, error, given)
            else:
                return await self.keep(name, value)
            finally:
                inside.reset(token)
        await self.back_off(name, begun.attempt, given, again)
        raise again

    async def begin_run(self, name: str, given: Policy) -> Recalled | DurableCall:
        """What was recorded, or the attempt that is to be made, when it is time for it."""
        known = self.recall(name)
        if known:
            return known
        attempt = 1
        while back_off_name(name, attempt) in self._journal:
            await self.back_off(name, attempt, given, None)
            attempt += 1
        return DurableCall(name, attempt, given.idempotency_key or self.idempotency_key(name))

    def failed_run(self, call: DurableCall, error: Exception, given: Policy) -> TaskError:
        """Why a call is made again. Raises the failure of one that is not."""
        known = error if isinstance(error, TaskError) else TaskError(message_of(error))
        if known.retryable and call.attempt < given.attempts:
            return known
        raise self.note_failure(call.name, error, has_policy=given.retry is not None) from error

    async def back_off(self, name: str, attempt: int, given: Policy, error: TaskError | None) -> None:
        """Waits until a call is made again. A handler that only waits for that is suspended."""
        spec = back_off(name, attempt, given, error)
        await Wait(self, back_off_name(name, attempt), spec, lambda _: None, lambda: None)

    def idempotency_key(self, name: str) -> str:
        """What other services may know a call by: the same at every attempt and every replay."""
        return f"{self.task['id']}/{name}"[:KEY_CHARS]

    def patched(self, id: str) -> bool:
        """Whether a planned change of the code is in effect for this run: it is, unless the run has gone beyond it already.
        What was decided once stays decided."""
        name = f"{OWN}patch {id}"
        decided = self._journal.get(name) or next((entry for entry in self._unsaved if entry["name"] == name), None)
        if decided is not None:
            return decided.get("result") is True
        result = not self._unasked
        self._unsaved.append({"name": name, "result": result})
        return result

    async def keep(self, name: str, value: Any) -> Any:
        """Records what a run gave."""
        result = self.as_json(name, value)
        await self.record(entries=[{"name": name, "result": result}])
        return result

    def as_json(self, name: str, value: Any) -> Any:
        try:
            return as_json(value)
        except (TypeError, ValueError) as error:
            raise TaskError(f"what `{name}` gives is not JSON: {error}", code="NOT_JSON", retryable=False) from error

    def note_failure(self, name: str, error: Exception, *, has_policy: bool) -> RunFailed:
        known = error if isinstance(error, TaskError) else TaskError(message_of(error))
        # A call that had attempts of its own has used them up: another attempt of the handler would only go beyond.
        retryable = known.retryable and not has_policy
        after = known.retry_after
        remembered = {
            "message": known.message,
            "code": known.code,
            "retryable": retryable,
            "type": type_of(error),
            "retry_after": after if after is None or isinstance(after, str) else f"{after // timedelta(milliseconds=1)}ms",
        }
        self._unsaved.append({"name": OWN + name, "result": remembered})
        return RunFailed(
            name,
            known.message,
            code=known.code,
            retryable=retryable,
            retry_after=known.retry_after,
            type=type_of(error),
        )

    def winner(self, waits: list[Wait[Any]]) -> Wait[Any] | None:
        """Which of several waits was first: what was decided once stays decided."""
        name = f"{OWN}first {waits[0].name}"
        decided = self._journal.get(name)
        if decided is not None:
            return next((wait for wait in waits if wait.name == decided.get("result")), None)
        first = next((wait for wait in waits if wait.has_happened), None)
        if first and any(wait is not first and wait.status != "CANCELLED" for wait in waits):
            self._unsaved.append({"name": name, "result": first.name})
            self._cancels += [wait.name for wait in waits if wait.status == "PENDING"]
        return first

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

    async def until(self, waits: list[Wait[Any]], wake: Literal["all", "any"]) -> None:
        """Waits until a group is over; in this delivery that is either so already, or never."""
        over = all(wait.has_ended for wait in waits)
        if over or (wake == "any" and any(wait.has_happened for wait in waits)):
            return
        if self.lost:
            raise self.lost
        if self._fatal:
            raise self._fatal
        if self._suspension:
            self._swallowed_at = self._swallowed_at or waits[0].name
            raise self._suspension
        group = Group(waits, wake, asyncio.get_running_loop().create_future())
        self._groups.append(group)
        self._stir()
        await group.over

    # Letting go

    def _stir(self) -> None:
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
        if self._settled or self.lost or self._suspension or self._fatal or self._busy or not self._groups:
            return
        names = [wait.name for group in self._groups for wait in group.waits if not wait.has_ended]
        if self._unasked:
            go = asyncio.get_running_loop().create_future()
            go.add_done_callback(lambda done: None if done.cancelled() or done.exception() else self._stir())
            return self._hold(Held(names[0], go))
        self._suspension = Suspended(names)
        for group in self._groups:
            fail(group.over, self._suspension)

    def _hold(self, held: Held) -> None:
        """The journal holds something the code has not come to. Another branch may yet: it is given some time."""
        self._held.append(held)
        if self._grace_timer is None:
            self._grace_timer = asyncio.get_running_loop().call_later(self._grace, self._give_up)

    def _give_up(self) -> None:
        left, names = next(iter(self._unasked)), quoted([held.name for held in self._held])
        self._break(CodeChanged(f"`{left}`", names))

    def _release(self) -> None:
        self._stop_grace()
        held, self._held = self._held, []
        for one in held:
            if not one.go.done():
                one.go.set_result(None)

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
    wait = entry.get("wait")
    return wait is not None and wait["kind"] == "RETRY"


async def within(name: str, timeout: Duration | None, work: Awaitable[Any]) -> Any:
    """Does the work, for no longer than it may take."""
    if timeout is None:
        return await work
    over = asyncio.timeout(seconds(timeout))
    try:
        async with over:
            return await work
    except TimeoutError:
        if over.expired():
            raise took_too_long(name, timeout) from None
        raise


def fail(future: asyncio.Future[None], error: BaseException) -> None:
    if not future.done():
        future.set_exception(error)
        # In a branch that nobody looks at any more this is no news.
        future.exception()


def only_suspended(error: BaseException) -> bool:
    if isinstance(error, BaseExceptionGroup):
        return all(only_suspended(one) for one in error.exceptions)
    return isinstance(error, Suspended)


def message_of(error: BaseException) -> str:
    return str(error) or type(error).__name__
