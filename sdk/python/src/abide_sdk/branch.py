"""Several pieces of durable code at once: ``any`` goes on with the first that is over, ``all`` when all are.

    any: every item is a racer, a task with a scope of its own
      ──▶ the first that is over wins: its name is recorded before anything new is done
      ──▶ the others have lost: their open waits are cancelled; they go on only through what the journal holds already, and
          stop for good at the first call that it does not

What a branch came to is not recorded: at a replay it is re-executed, and comes to the same."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Sequence
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from .wait import Pending, T_co, Wait

if TYPE_CHECKING:
    from .execution import Execution

T = TypeVar("T")

CHOICE_CHARS = 100
"""What is kept of the name under which a winner is recorded."""


class Branch(Pending[T_co]):
    """A named piece of durable code, for ``any`` and ``all``. It begins when it is given to one of them."""

    def __init__(self, name: str, work: Callable[[], Awaitable[T_co]]) -> None:
        self.name = name
        self._work = work

    async def until_over(self) -> T_co:
        return await self._work()


class Scope:
    """Whose a durable call is: of which branch, within which other."""

    def __init__(self, parent: Scope | None) -> None:
        self.parent = parent
        self._is_lost = False

    @property
    def is_lost(self) -> bool:
        return self._is_lost or (self.parent is not None and self.parent.is_lost)

    def lose(self) -> None:
        self._is_lost = True


scope: ContextVar[Scope | None] = ContextVar("scope", default=None)
"""The branch that the code is in."""


def has_lost(branch: Scope | None) -> bool:
    return branch is not None and branch.is_lost


class Racer(Generic[T]):
    """One item of an ``any`` or ``all``, under way."""

    def __init__(self, execution: Execution, item: Pending[T]) -> None:
        self.name = item.name
        self.item = item
        self.scope = Scope(scope.get())
        self._execution = execution
        token = scope.set(self.scope)
        try:
            self.task: asyncio.Task[T] = asyncio.get_running_loop().create_task(self._go())
        finally:
            scope.reset(token)
        execution.branches[self.task] = self.scope

    async def _go(self) -> T:
        try:
            return await self.item.until_over()
        finally:
            self._execution.stir()

    @property
    def is_over(self) -> bool:
        """It came to something. A wait that somebody cancelled did not."""
        cancelled = isinstance(self.item, Wait) and self.item.status == "CANCELLED"
        return self.task.done() and not cancelled


async def first_of(execution: Execution, items: Sequence[Pending[T]]) -> tuple[int, T]:
    """Which item was over first, and what it came to."""
    call = choice_name("any", items)
    entry = execution.ask(call, "run")
    racers = [Racer(execution, item) for item in items]
    try:
        if entry is None:
            winner = await the_first(execution, call, racers)
            execution.settle_race(call, winner, racers)
        else:
            decided: Any = entry.get("result") or {}
            winner = racers[int(decided["index"])]
            execution.replay_race(winner, racers, decided["cancelled"])
            await asyncio.wait([winner.task])
            execution.check()
        return racers.index(winner), winner.task.result()
    except asyncio.CancelledError:
        for racer in racers:
            racer.task.cancel()
        raise


async def the_first(execution: Execution, call: str, racers: list[Racer[T]]) -> Racer[T]:
    left = {racer.task for racer in racers}
    while left:
        _, left = await asyncio.wait(left, return_when=asyncio.FIRST_COMPLETED)
        execution.check()
        if any(racer.is_over for racer in racers):
            # Until everything that was recorded has been reached, it is not clear whose it is.
            await execution.fits(call)
            return next(racer for racer in racers if racer.is_over)
    # Every wait was cancelled, and there is no branch: whoever gives none is told by the first of them.
    return racers[0]


async def all_of(execution: Execution, items: Sequence[Pending[Any]]) -> list[Any]:
    """What all items came to. The first failure is that of all; which one that was stays the same at every replay."""
    call = choice_name("all", items)
    execution.ask(call, "run")
    tasks = [Racer(execution, item).task for item in items]
    failed = execution.recorded_failure(call)
    try:
        if failed is None:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
            execution.check()
            failed = next((at for at, task in enumerate(tasks) if task.done() and is_failure(task)), None)
            if failed is not None:
                execution.note_failure_of_all(call, failed)
        else:
            await asyncio.wait([tasks[failed]])
            execution.check()
        return [tasks[failed].result()] if failed is not None else [task.result() for task in tasks]
    except asyncio.CancelledError:
        for task in tasks:
            task.cancel()
        raise


def is_failure(task: asyncio.Task[Any]) -> bool:
    return task.cancelled() or task.exception() is not None


def choice_name(kind: str, items: Sequence[Pending[Any]]) -> str:
    """The name under which it is recorded who won, or failed."""
    whole = f"{kind}:" + "|".join(item.name for item in items)
    if len(whole) <= CHOICE_CHARS:
        return whole
    digest = hashlib.sha256(whole.encode()).hexdigest()[:12]
    return f"{whole[: CHOICE_CHARS - len(digest) - 1]}~{digest}"
