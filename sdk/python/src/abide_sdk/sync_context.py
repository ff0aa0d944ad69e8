"""The same durable calls for handlers that are plain functions. Each runs in a thread, and blocks where it waits."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import functools
import queue
import threading
from collections.abc import Callable, Coroutine, Generator, Sequence
from concurrent.futures import Future
from typing import Any, Concatenate, ParamSpec, TypeVar, Unpack, overload

from . import sync
from .blocking import Transport
from .branch import Branch, scope
from .call import CallOptions, DurableCall, Limit, began, policy, took_too_long
from .context import Context, First, Task, Waits, Work
from .journal import Act, inside
from .duration import Duration, seconds
from .execution import Recalled, decoded
from .wait import Pending, Wait

P = ParamSpec("P")
T = TypeVar("T")
I = TypeVar("I")
A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
D = TypeVar("D")


own_thread: contextvars.ContextVar[Act | None] = contextvars.ContextVar("own_thread", default=None)
"""The thread that the code is in, if it is one of the handler's."""


def waited(method: Callable[Concatenate[Context, P], Wait[T]]) -> Callable[Concatenate[SyncContext, P], T]:
    """What begins a wait there, and blocks until it is over here."""

    def block(self: SyncContext, /, *args: P.args, **kwargs: P.kwargs) -> T:
        async def wait() -> T:
            return await method(self._context, *args, **kwargs)

        return self._do(wait())

    functools.update_wrapper(block, method)
    return block


def awaited(
    method: Callable[Concatenate[Context, P], Coroutine[Any, Any, T]],
) -> Callable[Concatenate[SyncContext, P], T]:
    """What is awaited there, and blocks here."""

    def block(self: SyncContext, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self._do(method(self._context, *args, **kwargs))

    functools.update_wrapper(block, method)
    return block


class SyncContext(Task):
    def __init__(self, context: Context, loop: asyncio.AbstractEventLoop, transport: Transport) -> None:
        super().__init__(context._execution, context.input)
        self._context = context
        self._loop = loop
        self._transport = transport
        self._client: sync.Client | None = None
        self.waits = SyncWaits(self)
        """Waits that are only begun, for ``any`` and ``all``."""

    @property
    def client(self) -> sync.Client:
        """A client of the worker's server, within the trace of this task."""
        if self._client is None:
            self._client = sync.Client(transport=self._transport.traced_by(lambda: self.traceparent))
        return self._client

    sleep = waited(Context.sleep)
    sleep_until = waited(Context.sleep_until)
    wait_for_event = waited(Context.wait_for_event)
    wait_for_signal = waited(Context.wait_for_signal)
    wait_for_waitpoint = waited(Context.wait_for_waitpoint)
    approve = waited(Context.approve)
    wait_for_approval = waited(Context.wait_for_approval)
    child = waited(Context.child)
    start_child = waited(Context.start_child)
    http = waited(Context.http)
    pause = waited(Context.pause)
    create_waitpoint = awaited(Context.create_waitpoint)
    request_approval = awaited(Context.request_approval)
    notify = awaited(Context.notify)
    checkpoint = awaited(Context.checkpoint)

    @overload
    def run(self, name: str, work: Work[object], *, returns: type[T], **options: Unpack[CallOptions]) -> T: ...
    @overload
    def run(self, name: str, work: Work[T], **options: Unpack[CallOptions]) -> T: ...
    def run(
        self,
        name: str,
        work: Callable[..., Any],
        *,
        returns: Any = None,
        **options: Unpack[CallOptions],
    ) -> Any:
        """As in a coroutine (``Context.run``). Work that takes longer than its ``timeout`` is left to itself, in a thread."""
        execution = self._execution
        given, read = policy(options), execution.decoder(name, returns, work)
        acting = execution.acting(name)

        async def begin() -> Recalled | DurableCall:
            begun = await execution.begin_run(name, given)
            if isinstance(begun, DurableCall):
                await acting.__aenter__()
            return begun

        begun = self._do(begin())
        if isinstance(begun, Recalled):
            return decoded(f"what `{name}` recorded", read, begun.value)
        token = inside.set(name)
        try:
            try:
                value = self._surrounded(begun, lambda: within(begun, given.timeout, lambda: began(work, begun)))
            except Exception as error:
                again = execution.failed_run(begun, error, given)
            else:
                return self._do(execution.keep(name, value, read))
            finally:
                inside.reset(token)
        finally:
            self._do(acting.__aexit__(None, None, None))
        self._do(execution.back_off(name, begun.attempt, given, again))
        raise again

    def with_limit(self, limit: Limit, name: str, body: Callable[[], T]) -> T:
        """As in a coroutine (``Context.with_limit``)."""
        has_room = self._do(self._execution.enter(limit, name))
        try:
            value = body()
        except Exception as error:
            if has_room:
                self._execution.note_failure(name, error, has_policy=False)
            raise
        if has_room:
            self._do(self._execution.leave(name))
        return value

    def _surrounded(self, call: DurableCall, work: Callable[[], Any]) -> Any:
        """Does the work in this thread, with what is put around it on the event loop."""
        if self._execution.around is None:
            return work()
        asked: queue.SimpleQueue[tuple[contextvars.Context, asyncio.Future[Outcome]] | None] = queue.SimpleQueue()

        async def ask() -> Any:
            done: asyncio.Future[Outcome] = self._loop.create_future()
            asked.put((contextvars.copy_context(), done))
            return (await done).get()

        surrounded = caught(self._execution.surrounded(call, ask))
        doing = asyncio.run_coroutine_threadsafe(surrounded, self._loop)
        doing.add_done_callback(lambda _: asked.put(None))
        while (one := asked.get()) is not None:
            context, done = one
            self._loop.call_soon_threadsafe(settle, done, outcome_of(lambda: context.run(work)))
        return doing.result().get()

    def map(self, name: str, items: Sequence[I], begin: Callable[[I, str], Wait[T]]) -> list[T]:
        """A wait for every item, all at once, and what they come to in the order of the items. ``begin`` is given the item
        and a name for its wait, which it begins: ``lambda line, name: ctx.waits.child(name, "restock", line)``."""
        return self.all([begin(item, f"{name}[{index}]") for index, item in enumerate(items)])

    def branch(self, name: str, work: Callable[[], T]) -> Branch[T]:
        """A named branch for ``any`` and ``all``: a plain function with durable calls of its own, which gets a thread. What
        a branch that lost is doing is left to itself."""
        return Branch(name, lambda: self._in_thread(name, work))

    @overload
    def all(self, items: tuple[Pending[A], Pending[B]]) -> tuple[A, B]: ...  # type: ignore[overload-overlap]
    @overload
    def all(self, items: tuple[Pending[A], Pending[B], Pending[C]]) -> tuple[A, B, C]: ...  # type: ignore[overload-overlap]
    @overload
    def all(self, items: tuple[Pending[A], Pending[B], Pending[C], Pending[D]]) -> tuple[A, B, C, D]: ...  # type: ignore[overload-overlap]
    @overload
    def all(self, items: Sequence[Pending[T]]) -> list[T]: ...
    def all(self, items: Sequence[Pending[Any]]) -> Any:
        """What all waits and branches came to, when all are over: a list, or a tuple if it is given one. The first failure
        is that of all."""
        return self._do(self._context.all(items))

    def any(self, items: Sequence[Pending[T]]) -> First[T]:
        """The first wait or branch that is over. The others are cancelled: their open waits, children with them."""
        return self._do(self._context.any(items))

    def some(self, count: int, waits: Sequence[Wait[T]]) -> list[First[T]]:
        """The first ``count`` of several waits that are over, in the order of the list. The others are cancelled."""
        return self._do(self._context.some(count, waits))

    def _do(self, work: Coroutine[Any, Any, T]) -> T:
        """On the worker's event loop, where everything about a task happens."""
        return asyncio.run_coroutine_threadsafe(self._halted(work), self._loop).result().get()  # type: ignore[no-any-return]

    async def _halted(self, work: Coroutine[Any, Any, Any]) -> Outcome:
        thread = own_thread.get()
        if thread is None:
            return await caught(work)
        self._execution.halts(thread)
        outcome = await caught(work)
        self._execution.goes(thread)
        return outcome

    async def _in_thread(self, name: str, work: Callable[[], T]) -> T:
        """Does the work in a thread of its own: one of the worker's might be held by whoever waits for it."""
        done: asyncio.Future[Outcome] = self._loop.create_future()

        def act() -> None:
            outcome = outcome_of(work)
            # A worker that has ended wants to know nothing any more.
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(settle, done, outcome)

        with self.going() as context:
            threading.Thread(target=context.run, args=(act,), name=f"abide-branch-{name}", daemon=True).start()
            return (await done).get()  # type: ignore[no-any-return]

    @contextlib.contextmanager
    def going(self) -> Generator[contextvars.Context, None, None]:
        """Around a thread of the handler: in what context it is to run."""
        thread = Act(scope.get())
        context = contextvars.copy_context()
        context.run(own_thread.set, thread)
        self._execution.goes(thread)
        try:
            yield context
        finally:
            self._execution.halts(thread)


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

    def __init__(self, context: SyncContext) -> None:
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


def outcome_of(work: Callable[[], Any]) -> Outcome:
    try:
        return Outcome(work(), None)
    except BaseException as error:
        return Outcome(None, error)


def settle(done: asyncio.Future[Outcome], outcome: Outcome) -> None:
    if not done.done():
        done.set_result(outcome)


async def caught(work: Coroutine[Any, Any, Any]) -> Outcome:
    try:
        return Outcome(await work, None)
    except BaseException as error:
        return Outcome(None, error)
