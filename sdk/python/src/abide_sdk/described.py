"""Where an exception came from, for whoever reads the run: its type, traceback and causes, and the durable call it was
raised in."""

from __future__ import annotations

import traceback
from typing import Any

from . import wire
from .failure import CallFailed, ChildFailed, RunFailed, WaitCancelled

STACK_CHARS = 16_000
"""The server keeps no more of a stack than this."""
CAUSES = 8
"""Nor more causes."""
CAUSE_CHARS = 2_000


def described(error: BaseException) -> wire.FailureDetail:
    origin = origin_of(error)
    call = call_of(error)
    remembered = isinstance(error, RunFailed) and origin is error
    kind = error.type if remembered and isinstance(error, RunFailed) else type_of(origin)
    stack = "".join(traceback.format_exception(origin, chain=False)) if origin.__traceback__ else ""
    causes: list[wire.FailureCause] = [
        {"type": type_of(cause), "message": str(cause)[:CAUSE_CHARS]} for cause in causes_of(origin)
    ]
    detail: dict[str, Any] = {"type": kind, "call": call, "stack": stack[-STACK_CHARS:], "causes": causes}
    return {name: value for name, value in detail.items() if value}  # type: ignore[return-value]


def call_of(error: BaseException | None) -> str | None:
    """The durable call that failed."""
    if isinstance(error, RunFailed):
        return error.run
    if isinstance(error, ChildFailed):
        return error.child
    if isinstance(error, CallFailed):
        return error.call
    return error.wait if isinstance(error, WaitCancelled) else None


def origin_of(error: BaseException) -> BaseException:
    """What failed in a ``ctx.run`` is the exception of the work, not the one it is wrapped in."""
    return error.__cause__ or error if isinstance(error, RunFailed) else error


def type_of(error: BaseException) -> str:
    kind = type(error)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def causes_of(error: BaseException) -> list[BaseException]:
    causes: list[BaseException] = []
    cause = cause_of(error)
    while cause is not None and cause not in causes and len(causes) < CAUSES:
        causes.append(cause)
        cause = cause_of(cause)
    return causes


def cause_of(error: BaseException) -> BaseException | None:
    if error.__cause__ is not None:
        return error.__cause__
    return None if error.__suppress_context__ else error.__context__
