"""One delivery of a task: the handler, its journal, and what becomes of them.

    replay: what the journal holds is answered at once
    ──▶ new work: done, recorded, answered
    ──▶ a wait that is not over, and nothing else to do: the handler is left (``Suspended``), the waits are reported

The journal does not change during a delivery, so a wait that is open stays open until the next one."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal, NoReturn, TypeGuard

from . import wire
from .asked import asked_of, mismatch
from .branch import Racer, Scope, has_lost, scope
from .call import DurableCall, Policy, back_off, back_off_name, began, took_too_long
from .described import described, type_of
from .decode import Decoder, Undecodable, Unsupported, decoder_of, decoder_of_result
from .duration import Duration, field, seconds
from .failure import (
    BranchLost,
    Cancelled,
    CodeChanged,
    Misused,
    RunFailed,
    Suspended,
    SuspensionSwallowed,
    TaskError,
    quoted,
)
from .plain import as_json, is_plain
from .middleware import Next
from .reports import Reports
from .run_log import Level, RunLog
from .wait import Pending, Wait

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

Report = dict[str, Any]

WEBHOOK: dict[str, Any] = {"type": "webhook"}
"""What a waitpoint with a URL is waited for by."""

current: ContextVar[Execution | None] = ContextVar("current", default=None)
"""The execution that the code belongs to."""
inside: ContextVar[str | None] = ContextVar("inside", default=None)
"""The name of the ``ctx.run`` that the code is in."""


@dataclass(slots=True)
class Group:
    """What is waited for together, and when it is over."""

    waits: list[Wait[Any]]
    wake: Literal["all", "any"]
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


@dataclass(frozen=True, slots=True)
class Recalled:
    """A result that the journal holds."""

    value: Any


class Execution:
    def __init__(self, task: wire.Task, reports: Reports, grace: float) -> None:
        self.task = task
        self.state_updates: dict[str, Any] | None = None
        self.opened: list[tuple[Wait[Any], Scope | None]] = []
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
        self._log = RunLog(reports, task["leaseToken"])
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
        # Waitpoints that were made in this delivery, and whose they are.
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

    async def run(self, handler: Callable[[], Awaitable[Any]]) -> Report | None:
        """Runs the handler. The last report on this delivery, or nothing if the task is not ours any more."""
        error: BaseException | None = None
        output: Any = None
        try:
            output = await handler()
        except BaseException as raised:
            error = raised
        if error is None and self._unasked and self._has_losers():
            error = await self._end_of_handler()
        self._settled = True
        try:
            return await self._last_report(output, error)
        finally:
            self._close_branches()

    async def _last_report(self, output: Any, error: BaseException | None) -> Report | None:
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
        await self._log.finish()
        return report

    def log(self, level: Level, message: str) -> None:
        """Writes a line to the run's log, unless an earlier delivery has."""
        if not (self._unasked or self._settled or self.lost or has_lost(scope.get())):
            self._log.write(level, message)

    def log_from_anywhere(self, level: Level, message: str) -> None:
        """The same, also from another thread."""
        if threading.get_ident() == self._thread:
            self.log(level, message)
        else:
            self._loop.call_soon_threadsafe(self.log, level, message)

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
        begun = [
            wait
            for wait, branch in self.opened
            if wait.status is None and wait not in awaited and not has_lost(branch)
        ]
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

    async def fits(self, name: str) -> None:
        """Returns when the code has come to everything that the journal holds."""
        if self._unasked:
            held = Held(f"`{name}`", asyncio.get_running_loop().create_future())
            self._hold(held)
            await held.go

    def _done(self, act: Act) -> None:
        self._acts.discard(act)
        self.stir()
        if not self._acts:
            self._quiet.set()

    def recall(self, name: str) -> Recalled | None:
        entry = self.ask(name, "run")
        failed = self._journal.get(OWN + name)
        if failed is not None:
            remembered: dict[str, Any] = failed.get("result") or {}
            raise RunFailed(name, **remembered)
        return None if entry is None else Recalled(entry.get("result"))

    async def run_once(self, name: str, work: Callable[..., Any], given: Policy, read: Decoder | None) -> Any:
        begun = await self.begin_run(name, given)
        if isinstance(begun, Recalled):
            return decoded(f"what `{name}` recorded", read, begun.value)
        async with self.acting(name):
            token = inside.set(name)
            try:
                value = await self.surrounded(begun, lambda: in_time(begun, work, given.timeout))
            except Exception as error:
                again = self.failed_run(begun, error, given)
            else:
                return await self.keep(name, value, read)
            finally:
                inside.reset(token)
        await self.back_off(name, begun.attempt, given, again)
        raise again

    async def surrounded(self, call: DurableCall, work: Next) -> Any:
        """Does the work, with what is put around it."""
        return await (self.around(call, work) if self.around else work)()

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
        if not has_lost(scope.get()):
            self._unsaved.append({"name": name, "result": result})
        return result

    async def keep(self, name: str, value: Any, read: Decoder | None) -> Any:
        """Records what a run gave. What a branch did that has lost meanwhile is not recorded."""
        if has_lost(scope.get()):
            await self.stop()
        result = self.as_json(name, value)
        if read is None and not is_plain(value):
            kind = type(value).__name__
            advice = f"say which type it is to be read as, such as `returns={kind}`, or declare what the work returns"
            message = f"`{name}` gives a {kind}, of which only JSON is recorded; {advice}"
            raise TaskError(message, code="NOT_JSON", retryable=False)
        given = decoded(f"what `{name}` gives", read, result)
        await self.record(entries=[{"name": name, "result": result}])
        return given

    def decoder(self, name: str, returns: Any, work: Callable[..., Any] | None = None) -> Decoder | None:
        """How what a call gives is read: as it says, or as its work declares."""
        if returns is None:
            return None if work is None else decoder_of_result(work)
        try:
            return decoder_of(returns)
        except Unsupported as error:
            raise self._break(Misused(f"`{name}` cannot return that: {error}")) from None

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
            first = next((wait for wait in waits if wait.name == decided.get("result")), None)
        else:
            first = next((wait for wait in waits if wait.has_happened), None)
        if decided is None and first and any(wait is not first and wait.status != "CANCELLED" for wait in waits):
            self._unsaved.append({"name": name, "result": first.name})
            self._cancels += [wait.name for wait in waits if wait.status == "PENDING"]
        if first:
            self._give_up_waits([wait for wait in waits if wait is not first])
        return first

    # Branches

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

    def settle_race(self, call: str, winner: Racer[Any], racers: list[Racer[Any]]) -> None:
        """It is decided who won, which is stored before anything new is done."""
        losers = [racer for racer in racers if racer is not winner]
        for racer in losers:
            racer.scope.lose()
        made = [name for name, branch in self._made if has_lost(branch)]
        cancels = [*(wait.name for wait in self._lost_waits(losers) if wait.status == "PENDING"), *made]
        index = racers.index(winner)
        self._unsaved.append({"name": call, "result": {"index": index, "name": winner.name, "cancelled": cancels}})
        self._cancels += cancels
        self._drop(losers, cancels)

    def replay_race(self, winner: Racer[Any], racers: list[Racer[Any]], cancelled: list[str]) -> None:
        losers = [racer for racer in racers if racer is not winner]
        for racer in losers:
            racer.scope.lose()
        self._drop(losers, cancelled)

    def _lost_waits(self, losers: list[Racer[Any]]) -> list[Wait[Any]]:
        given: list[Pending[Any]] = [racer.item for racer in losers]
        return [wait for wait, branch in self.opened if wait in given or has_lost(branch)]

    def _drop(self, losers: list[Racer[Any]], cancelled: list[str]) -> None:
        waits = self._lost_waits(losers)
        self._dropped.update(cancelled, (wait.name for wait in waits if not wait.has_ended))
        # What they are at holds nobody back any more.
        for group in [group for group in self._groups if has_lost(group.scope)]:
            self._groups.remove(group)
            self._stopped.append(group.over)
        self._give_up_waits(waits)
        self._threads = {thread for thread in self._threads if not has_lost(thread.scope)}
        for act in [act for act in self._acts if has_lost(act.scope)]:
            self._done(act)
        if not self._unasked:
            self._cancel_losers()

    def _give_up_waits(self, waits: list[Wait[Any]]) -> None:
        """They are cancelled, as the server will say at the next delivery. Whoever waits for one of them elsewhere is told."""
        for wait in waits:
            if not wait.has_ended:
                wait.status = "CANCELLED"
        for group in [group for group in self._groups if all(wait.has_ended for wait in group.waits)]:
            self._groups.remove(group)
            if not group.over.done():
                group.over.set_result(None)

    def _has_losers(self) -> bool:
        return any(branch.is_lost for branch in self.branches.values())

    def _cancel_losers(self) -> None:
        """What they had recorded has been reached: they are of no use any more."""
        for task, branch in self.branches.items():
            if branch.is_lost and not task.cancelling():
                task.cancel()

    async def stop(self) -> NoReturn:
        """A branch that lost goes no further."""
        if not self._settled:
            stopped: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._stopped.append(stopped)
            await stopped
        raise BranchLost()

    def _close_branches(self) -> None:
        for stopped in self._stopped:
            fail(stopped, BranchLost())
        for task in self.branches:
            task.add_done_callback(lambda done: None if done.cancelled() else done.exception())
            task.cancel()

    async def _end_of_handler(self) -> BaseException | None:
        """A branch that lost may yet come to what it had recorded."""
        end = Held("the end of the handler", asyncio.get_running_loop().create_future())
        self._hold(end)
        try:
            await end.go
        except BaseException as error:
            return error
        return None

    def recorded_failure(self, call: str) -> int | None:
        """Which item of an ``all`` failed first."""
        entry = self._journal.get(OWN + call)
        return None if entry is None else int(entry.get("result") or 0)

    def note_failure_of_all(self, call: str, index: int) -> None:
        self._unsaved.append({"name": OWN + call, "result": index})

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

    # Letting go

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
            self._grace_timer = asyncio.get_running_loop().call_later(self._grace, self._give_up)

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

    def end(self, error: TaskError) -> TaskError:
        """Ends the handler here, whatever it makes of it."""
        return self._break(error)

    def waitpoint_id(self, name: str) -> str:
        """Of a wait that the journal holds."""
        entry = self._journal.get(name)
        wait = entry.get("wait") if entry else None
        return wait["waitpointId"] if wait else ""

    def misused(self, message: str) -> TaskError:
        return self._break(Misused(message))

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


async def in_time(call: DurableCall, work: Callable[..., Any], timeout: Duration | None) -> Any:
    """Does the work, for no longer than it may take."""
    value = began(work, call)
    if not inspect.isawaitable(value):
        return value
    if timeout is None:
        return await value
    over = asyncio.timeout(seconds(timeout))
    try:
        async with over:
            return await value
    except TimeoutError:
        if over.expired():
            raise took_too_long(call.name, timeout) from None
        raise


def fail(future: asyncio.Future[None], error: BaseException) -> None:
    if not future.done():
        future.set_exception(error)
        # In a branch that nobody looks at any more this is no news.
        future.exception()


def decoded(what: str, read: Decoder | None, value: Any) -> Any:
    """JSON as the type that the code declares."""
    if read is None:
        return value
    try:
        return read(value)
    except Undecodable as error:
        message = f"{what} is not of the type that the code declares: {error}"
        raise TaskError(message, code="UNEXPECTED_DATA", retryable=False) from error


def is_group(error: BaseException) -> TypeGuard[BaseExceptionGroup[BaseException]]:
    return isinstance(error, BaseExceptionGroup)


def only_suspended(error: BaseException) -> bool:
    if is_group(error):
        return all(only_suspended(one) for one in error.exceptions)
    return isinstance(error, Suspended)


def message_of(error: BaseException) -> str:
    return str(error) or type(error).__name__
