"""One execution of a task, from the call of its handler to the last report on it."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeGuard

from .asked import asked_of
from .branch import has_lost, scope
from .call import DurableCall, Limit, Policy, back_off, back_off_name, began, no_room, room, room_name, took_too_long
from .decode import Decoder, Undecodable, Unsupported, decoder_of, decoder_of_result
from .journal import OWN, inside
from .described import described, type_of
from .duration import Duration, field, seconds
from .failure import CodeChanged, Misused, RunFailed, Suspended, SuspensionSwallowed, TaskError, quoted
from .middleware import Next
from .plain import as_json, is_plain
from .race import Racing
from .wait import Wait
from .wire import Json

Report = dict[str, Any]

current: ContextVar[Execution | None] = ContextVar("current", default=None)
"""The execution that the code belongs to."""


@dataclass(frozen=True, slots=True)
class Recalled:
    """A result that the journal holds."""

    value: Any


class Execution(Racing):
    async def run(self, handler: Callable[[], Awaitable[Any]]) -> Report | None:
        """Runs the handler. The last report on this execution, or nothing if the task is not ours any more."""
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
        if self._log:
            await self._log.finish()
        return report

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

    def recall(self, name: str) -> Recalled | None:
        entry = self.ask(name, "run")
        failed = self._journal.get(OWN + name)
        if failed is not None:
            remembered: Any = failed.get("result") or {}
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
        if given.limit is not None:
            await self.wait_for_room(name, given.limit)
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

    async def wait_for_room(self, name: str, limit: Limit) -> None:
        """Waits until there is room for a call. A handler that only waits for that is suspended."""

        def late() -> None:
            raise no_room(name, limit)

        await Wait(self, room_name(name), room(name, limit), lambda _: None, late)

    async def enter(self, limit: Limit, name: str) -> bool:
        """Waits for the room of a body, unless an earlier execution has left it. Says whether it is to be left."""
        is_over = self.ask(name, "run") is not None or OWN + name in self._journal
        if not is_over:
            await self.wait_for_room(name, limit)
        return not is_over

    async def leave(self, name: str) -> None:
        """Gives back the room of a body that is done."""
        async with self.acting(name):
            await self.record(entries=[{"name": name, "result": None}])

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
        remembered: dict[str, Json] = {
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
