"""How one durable call is made: its attempts, its time, and the key that other services know it by."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypedDict

from .duration import Duration, field
from .failure import TaskError

ATTEMPTS = 3


@dataclass(frozen=True, slots=True)
class Retry:
    """The attempts of one durable call: a retry policy, as a step has one. Between two of them the handler is suspended, and
    holds no worker."""

    max_attempts: int = ATTEMPTS
    """All attempts together, 1 to 1,000."""
    backoff_ms: int | None = None
    """The initial back-off, drawn between zero and this (full jitter); 1,000 if absent."""
    backoff_multiplier: float | None = None
    """What it is multiplied with after each attempt; 2 if absent."""
    max_backoff_ms: int | None = None
    """The longest back-off; 300,000 if absent."""


@dataclass(frozen=True, slots=True)
class Limit:
    """A limit that a durable call asks for room under: ``concurrency``, ``rate`` with ``per``, or both. Until there is room
    the handler is suspended, and holds no worker."""

    name: str
    """What it is called. Steps and calls that name the same limit share it."""
    key: str | None = None
    """Each key has room of its own; without it, all share one."""
    scope: Literal["workflow", "workspace"] | None = None
    """Who shares it: the runs of this workflow (if absent), or all of the workspace."""
    concurrency: int | None = None
    """How many may have room at the same time."""
    rate: int | None = None
    """How many may begin in the time of ``per``."""
    per: Duration | None = None
    burst: int | None = None
    """How many may begin at once after a quiet time; 1 if absent."""
    timeout: Duration | None = None
    """How long room is waited for at most; then the call fails with ``CAPACITY_TIMED_OUT``."""


@dataclass(frozen=True, slots=True)
class DurableCall:
    """What the work of a ``ctx.run`` is told, if it takes an argument."""

    name: str
    attempt: int
    """Which attempt of this call it is, from 1."""
    idempotency_key: str
    """The same at every attempt, at every replay and on every worker: pass it on to services that take one."""


class CallOptions(TypedDict, total=False):
    """How a durable call is made."""

    retry: Retry | int | None
    """The attempts of this call alone: a policy, or just how many. Between two of them the handler is suspended."""
    timeout: Duration | None
    """How long one attempt may take."""
    idempotency_key: str | None
    """What other services know the call by, instead of its own key."""
    limit: Limit | None
    """Room that the call needs: it is made when there is some, and gives it back with its result."""


@dataclass(frozen=True, slots=True)
class Policy:
    """What a call was given."""

    retry: Retry | None
    timeout: Duration | None
    idempotency_key: str | None
    limit: Limit | None

    @property
    def attempts(self) -> int:
        return self.retry.max_attempts if self.retry else 1


def policy(options: CallOptions) -> Policy:
    retry = options.get("retry")
    return Policy(
        Retry(retry) if isinstance(retry, int) else retry,
        options.get("timeout"),
        options.get("idempotency_key"),
        options.get("limit"),
    )


def retry_of(retry: Retry | int | None) -> dict[str, Any]:
    """A policy, as the server takes it."""
    given = Retry(retry) if isinstance(retry, int) else retry
    if given is None:
        return {}
    fields = {
        "maxAttempts": given.max_attempts,
        "backoffMs": given.backoff_ms,
        "backoffMultiplier": given.backoff_multiplier,
        "maxBackoffMs": given.max_backoff_ms,
    }
    return {name: value for name, value in fields.items() if value is not None}


def back_off_name(call: str, attempt: int) -> str:
    """The name under which the back-off after an attempt is recorded."""
    return f"{call}#retry-{attempt}"


def back_off(call: str, attempt: int, given: Policy, error: TaskError | None) -> dict[str, Any]:
    """The back-off after an attempt that failed."""
    code = error.code if error else None
    return {
        "type": "retry",
        "call": call,
        "attempt": attempt,
        "message": error.message if error else "",
        **retry_of(given.retry),
        "maxAttempts": max(given.attempts, attempt + 1),
        **({} if code is None else {"code": code}),
        **field("retryAfter", error.retry_after if error else None),
    }


def room_name(call: str) -> str:
    """The name under which the wait of a call for room is recorded."""
    return f"{call}#room"


def room(call: str, limit: Limit) -> dict[str, Any]:
    """The wait of a call for room."""
    fields = {
        "name": limit.name,
        "key": limit.key,
        "scope": limit.scope,
        "concurrency": limit.concurrency,
        "rate": limit.rate,
        "burst": limit.burst,
    }
    asked = {name: value for name, value in fields.items() if value is not None}
    return {"type": "capacity", "call": call, "limit": {**asked, **field("per", limit.per)}, **field("timeout", limit.timeout)}


def no_room(call: str, limit: Limit) -> TaskError:
    return TaskError(f"there was no room under `{limit.name}` for `{call}` in time", code="CAPACITY_TIMED_OUT", retryable=False)


def began(work: Callable[..., Any], call: DurableCall) -> Any:
    """Begins the work, and tells it about the call if it takes an argument."""
    try:
        takes_call = any(
            parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
            and parameter.default is parameter.empty
            for parameter in inspect.signature(work).parameters.values()
        )
    except (TypeError, ValueError):
        takes_call = False
    return work(call) if takes_call else work()


def took_too_long(name: str, timeout: Duration) -> TaskError:
    return TaskError(f"`{name}` took longer than {timeout}", code="CALL_TIMED_OUT")
