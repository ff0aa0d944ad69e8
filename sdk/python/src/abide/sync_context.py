"""The same durable calls for handlers that are plain functions. Each runs in a thread, and blocks where it waits."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import Future
from typing import Any, Literal, TypeVar

from . import sync, wire
from .blocking import Transport
from .call import DurableCall, Retry, began, policy, took_too_long
from .context import Approval, Call, Context, First, RequestedApproval, Task, Waitpoint, Waits
from .duration import Duration, Instant, seconds
from .execution import Recalled, inside
from .wait import Wait
from .workflow import Workflow

T = TypeVar("T")
I = TypeVar("I")


class SyncContext(Task):
    def __init__(self, context: Context, loop: asyncio.AbstractEventLoop, transport: Transport) -> None:
        super().__init__(context._execution, context.input)
        self._context = context
        self._loop = loop
        self._transport = transport
        self._client: sync.Client | None = None
        self.waits = SyncWaits(self, context)
        """Waits that are only begun, for ``any`` and ``all``."""

    @property
    def client(self) -> sync.Client:
        """A client of the worker's server, within the trace of this task."""
        if self._client is None:
            self._client = sync.Client(transport=self._transport.traced_by(lambda: self.traceparent))
        return self._client

    def run(
        self,
        name: str,
        work: Callable[[], T] | Callable[[DurableCall], T],
        *,
        retry: Retry | int | None = None,
        timeout: Duration | None = None,
        idempotency_key: str | None = None,
    ) -> T:
        """Does something and records its result: another delivery of the task gets the result without doing it again. It is
        done *at least once* until the result is recorded, and never after: a worker may die in between. ``retry``: the
        attempts of this call alone, a policy or just how many; between two of them the handler is suspended. ``timeout``: how
        long one attempt may take; work that takes longer is left to itself, in a thread. Work that takes an argument is given
        the ``DurableCall``, whose ``idempotency_key`` is for services that take one."""
        execution = self._execution
        given = policy(retry, timeout, idempotency_key)
        acting = execution.acting(name)

        async def begin() -> Recalled | DurableCall:
            begun = await execution.begin_run(name, given)
            if isinstance(begun, DurableCall):
                await acting.__aenter__()
            return begun

        begun = self._do(begin())
        if isinstance(begun, Recalled):
            return begun.value  # type: ignore[no-any-return]
        token = inside.set(name)
        try:
            try:
                value = within(begun, timeout, lambda: began(work, begun))
            except Exception as error:
                again = execution.failed_run(begun, error, given)
            else:
                return self._do(execution.keep(name, value))  # type: ignore[no-any-return]
            finally:
                inside.reset(token)
        finally:
            self._do(acting.__aexit__(None, None, None))
        self._do(execution.back_off(name, begun.attempt, given, again))
        raise again

    def _log(self, level: Literal["debug", "info", "warn", "error"], message: str) -> None:
        self._loop.call_soon_threadsafe(self._execution.log, level, message)

    def sleep(self, name: str, duration: Duration) -> None:
        self._end(lambda: self._context.sleep(name, duration))

    def sleep_until(self, name: str, at: Instant) -> None:
        self._end(lambda: self._context.sleep_until(name, at))

    def wait_for_event(
        self,
        name: str,
        event_id: str,
        *,
        timeout: Duration | None = None,
        match: str | None = None,
        where: dict[str, Any] | None = None,
        lookback: Duration | None = None,
    ) -> Any:
        """The event's data, or None when the time is over."""
        context = self._context
        return self._end(
            lambda: context.wait_for_event(
                name, event_id, timeout=timeout, match=match, where=where, lookback=lookback
            )
        )

    def wait_for_signal(self, name: str, signal_type: str, *, timeout: Duration | None = None) -> Any:
        """The signal's payload, or None when the time is over."""
        return self._end(lambda: self._context.wait_for_signal(name, signal_type, timeout=timeout))

    def create_waitpoint(self, name: str, *, timeout: Duration | None = None, allow_get: bool = False) -> Waitpoint:
        return self._do(self._context.create_waitpoint(name, timeout=timeout, allow_get=allow_get))

    def wait_for_waitpoint(self, waitpoint: Waitpoint | str, *, timeout: Duration | None = None) -> Call | None:
        return self._end(lambda: self._context.wait_for_waitpoint(waitpoint, timeout=timeout))

    def approve(
        self,
        name: str,
        *,
        prompt: str | None = None,
        content: Any = None,
        content_schema: dict[str, Any] | None = None,
        approvers: Sequence[str] = (),
        quorum: int | None = None,
        timeout: Duration | None = None,
    ) -> Approval:
        context = self._context
        return self._end(
            lambda: context.approve(
                name,
                prompt=prompt,
                content=content,
                content_schema=content_schema,
                approvers=approvers,
                quorum=quorum,
                timeout=timeout,
            )
        )

    def request_approval(
        self,
        name: str,
        *,
        prompt: str | None = None,
        content: Any = None,
        content_schema: dict[str, Any] | None = None,
        approvers: Sequence[str] = (),
        quorum: int | None = None,
        timeout: Duration | None = None,
    ) -> RequestedApproval:
        """Asks people, and goes on: what it gives has their links, to be sent before ``wait_for_approval`` waits for
        them."""
        return self._do(
            self._context.request_approval(
                name,
                prompt=prompt,
                content=content,
                content_schema=content_schema,
                approvers=approvers,
                quorum=quorum,
                timeout=timeout,
            )
        )

    def wait_for_approval(self, request: RequestedApproval) -> Approval:
        return self._end(lambda: self._context.wait_for_approval(request))

    def child(self, name: str, workflow: str | Workflow, input: Any = None, *, version: str | None = None) -> Any:
        """The output of a run of another workflow."""
        return self._end(lambda: self._context.child(name, workflow, input, version=version))

    def start_child(
        self, name: str, workflow: str | Workflow, input: Any = None, *, version: str | None = None
    ) -> str:
        """Starts a run of another workflow, once, and goes on without waiting for its end. The run's id."""
        return self._end(lambda: self._context.start_child(name, workflow, input, version=version))

    def map(self, name: str, items: Sequence[I], begin: Callable[[I, str], Wait[T]]) -> list[T]:
        """A wait for every item, all at once, and what they come to in the order of the items. ``begin`` is given the item
        and a name for its wait, which it begins: ``lambda line, name: ctx.waits.child(name, "restock", line)``."""
        return self.all([begin(item, f"{name}[{index}]") for index, item in enumerate(items)])

    def pause(self, name: str, duration: Duration, *, checkpoint: Any = None) -> None:
        self._end(lambda: self._context.pause(name, duration, checkpoint=checkpoint))

    def notify(
        self,
        name: str,
        event_id: str,
        data: Any = None,
        *,
        run_id: str | None = None,
        delivery: Literal["all", "one"] | None = None,
    ) -> wire.SentEvent:
        return self._do(self._context.notify(name, event_id, data, run_id=run_id, delivery=delivery))

    def checkpoint(self, value: Any) -> None:
        self._do(self._context.checkpoint(value))

    def all(self, waits: Sequence[Wait[Any]]) -> list[Any]:
        return self._do(self._context.all(waits))

    def any(self, waits: Sequence[Wait[Any]]) -> First:
        return self._do(self._context.any(waits))

    def _end(self, begin: Callable[[], Wait[T]]) -> T:
        async def wait() -> T:
            return await begin()

        return self._do(wait())

    def _do(self, work: Coroutine[Any, Any, T]) -> T:
        """On the worker's event loop, where everything about a task happens."""
        return asyncio.run_coroutine_threadsafe(caught(work), self._loop).result().get()  # type: ignore[no-any-return]


def within(call: DurableCall, timeout: Duration | None, work: Callable[[], T]) -> T:
    """Does the work, for no longer than it may take."""
    if timeout is None:
        return work()
    done: Future[T] = Future()
    context = contextvars.copy_context()

    def act() -> None:
        try:
            done.set_result(context.run(work))
        except BaseException as error:
            done.set_exception(error)

    threading.Thread(target=act, daemon=True).start()
    try:
        return done.result(seconds(timeout))
    except TimeoutError:
        if done.done():
            raise
        raise took_too_long(call.name, timeout) from None


class SyncWaits(Waits):
    """``Waits``, begun from another thread."""

    def __init__(self, context: SyncContext, waits: Waits) -> None:
        super().__init__(context._execution)
        self._sync = context

    def _wait(
        self, name: str, spec: dict[str, Any], read: Callable[[Any], T], late: Callable[[], Any] = lambda: None
    ) -> Wait[Any]:
        async def begin() -> Wait[Any]:
            return Waits._wait(self, name, spec, read, late)

        return self._sync._do(begin())


class Outcome:
    """A result or an exception, carried from one thread to another. A future would not carry every exception."""

    def __init__(self, value: Any, error: BaseException | None) -> None:
        self._value = value
        self._error = error

    def get(self) -> Any:
        if self._error:
            raise self._error
        return self._value


async def caught(work: Coroutine[Any, Any, Any]) -> Outcome:
    try:
        return Outcome(await work, None)
    except BaseException as error:
        return Outcome(None, error)
