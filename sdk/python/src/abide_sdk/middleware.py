"""What is put around handlers and around the work of durable calls: for tracing, error reporting, metrics.

    worker ──▶ handler of the first ──▶ … ──▶ handler of the last ──▶ the handler itself
    ctx.run ──▶ call of the first ──▶ … ──▶ call of the last ──▶ the work, when it is really done"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from .context import Context

Next: TypeAlias = Callable[[], Awaitable[Any]]
"""Goes on inwards, and gives what comes of it."""


@dataclass(frozen=True, slots=True)
class MiddlewareCall:
    """One execution of the work of a ``ctx.run``."""

    name: str
    attempt: int
    """Which attempt of this call it is, from 1."""
    idempotency_key: str
    ctx: Context
    """The handler that it belongs to."""


class Middleware:
    """Overwrite one of these, or both. What they raise is the failure of what they are around."""

    async def handler(self, ctx: Context, next: Next) -> Any:
        """Around each execution of a task to a handler, re-executions included: ``ctx.replaying`` says so. A suspension passes
        through as ``Suspended``; let it pass."""
        return await next()

    async def call(self, call: MiddlewareCall, next: Next) -> Any:
        """Around each real execution of the work of a ``ctx.run``, never at a replay."""
        return await next()


def around_handler(middleware: Sequence[Middleware], ctx: Context, handle: Next) -> Next:
    for one in reversed(middleware):
        handle = _inside(one.handler, ctx, handle)
    return handle


def around_call(middleware: Sequence[Middleware], call: MiddlewareCall, work: Next) -> Next:
    for one in reversed(middleware):
        work = _inside(one.call, call, work)
    return work


def _inside(wrap: Callable[[Any, Next], Awaitable[Any]], about: Any, next: Next) -> Next:
    return lambda: wrap(about, next)
