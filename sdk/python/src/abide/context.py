"""What a handler is given: the task, and durable calls whose results outlive the worker."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar, overload

from . import wire
from .client import Client
from .duration import Duration, Instant, field, instant
from .execution import Execution
from .failure import CodeChanged, WaitCancelled
from .resources import given
from .wait import Wait

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Waitpoint:
    """A waitpoint with a URL that ends it."""

    name: str
    id: str
    resume_url: str


@dataclass(frozen=True, slots=True)
class Call:
    """A call on a resume URL."""

    body: Any
    headers: dict[str, str]
    query_params: dict[str, str]


@dataclass(frozen=True, slots=True)
class Approval:
    """What was decided. Neither approved nor rejected: nobody decided in time."""

    decision: Literal["approve", "reject", "edit", "timeout"]
    approved: bool
    """True for ``approve``, and for ``edit``, which approves what it makes."""
    content: Any
    """What was approved: as it was asked, or as it was edited."""
    votes: list[wire.Vote]
    """Who said what."""


@dataclass(frozen=True, slots=True)
class First:
    """The first of several waits."""

    index: int
    name: str
    value: Any


class Waits:
    """Waits that are begun, and waited for when they are awaited or given to ``any`` or ``all``."""

    def __init__(self, execution: Execution) -> None:
        self._execution = execution

    def sleep(self, name: str, duration: Duration) -> Wait[None]:
        """Sleeps. The worker is free meanwhile."""
        return self._wait(name, {"type": "sleep", **field("duration", duration)}, nothing)

    def sleep_until(self, name: str, at: Instant) -> Wait[None]:
        return self._wait(name, {"type": "until", "at": instant(at)}, nothing)

    def wait_for_event(
        self,
        name: str,
        event_id: str,
        *,
        timeout: Duration | None = None,
        match: str | None = None,
        lookback: Duration | None = None,
    ) -> Wait[Any]:
        """Waits for an event to everyone. Its data, or None when the time is over. ``match`` is an expression that
        the event must satisfy: ``event.order == input.id``."""
        spec = {"type": "event", "eventId": event_id, **given(match=match)}
        return self._wait(name, {**spec, **field("timeout", timeout), **field("lookback", lookback)}, same)

    def wait_for_signal(self, name: str, signal_type: str, *, timeout: Duration | None = None) -> Wait[Any]:
        """Waits for a signal to this run. Its payload, or None when the time is over."""
        return self._wait(name, {"type": "signal", "signalType": signal_type, **field("timeout", timeout)}, same)

    def wait_for_waitpoint(self, waitpoint: Waitpoint | str, *, timeout: Duration | None = None) -> Wait[Call | None]:
        """Waits for a call on the URL of a waitpoint. The call, or None when the time is over."""
        name = waitpoint if isinstance(waitpoint, str) else waitpoint.name
        return self._wait(name, {"type": "webhook", **field("timeout", timeout)}, call_of)

    def approve(
        self,
        name: str,
        *,
        prompt: str | None = None,
        content: Any = None,
        approvers: Sequence[str] = (),
        quorum: int | None = None,
        timeout: Duration | None = None,
    ) -> Wait[Approval]:
        """Asks people. Without approvers, anyone with the scope ``approve`` may decide."""

        def read(payload: Any) -> Approval:
            decision = (payload or {}).get("decision")
            # What is absent never means yes.
            if decision is None:
                raise CodeChanged(f"what was recorded for `{name}` holds no decision")
            approved = decision in ("approve", "edit")
            return Approval(decision, approved, payload.get("content", content), payload.get("votes", []))

        asked = {"content": content, "approvers": list(approvers), **given(prompt=prompt, quorum=quorum)}
        late = Approval("timeout", False, content, [])
        return Wait(self._execution, name, {"type": "approval", **asked, **field("timeout", timeout)}, read, lambda: late)

    def pause(self, name: str, duration: Duration, *, checkpoint: Any = None) -> Wait[None]:
        """Lets go for a while. The step stays RUNNING, and no attempt is used up. A loop may use one name: each turn of it
        pauses."""
        return self._wait(self._execution.pause_name(name), {"type": "pause", **field("duration", duration), **given(checkpoint=checkpoint)}, nothing)

    def _wait(self, name: str, spec: dict[str, Any], read: Callable[[Any], T]) -> Wait[Any]:
        return Wait(self._execution, name, spec, read, lambda: None)


class Task:
    """What a task says, in both kinds of handlers."""

    def __init__(self, execution: Execution, input: Any) -> None:
        self._execution = execution
        self._traceparent: str | None = None
        self.task: wire.Task = execution.task
        self.input = input
        self.run_id: str = self.task["runId"]
        self.attempt: int = self.task["attempt"]
        self.state: dict[str, Any] = self.task["state"]
        self.config: Any = self.task["config"]
        self.last_checkpoint: Any = self.task["checkpoint"]
        """What ``checkpoint`` or ``pause`` left before, or None."""

    @property
    def cancelled(self) -> bool:
        """The run was cancelled, or the lease lost: nothing done from now on counts."""
        return self._execution.lost is not None

    @property
    def traceparent(self) -> str:
        """The trace that the run was started in, or one of its own: the same for every task of a run, for calls to
        others."""
        if self._traceparent is None:
            self._traceparent = self.task["traceparent"] or trace_of(self.run_id)
        return self._traceparent

    def set_state(self, **updates: Any) -> None:
        """Merged into the run's ``state`` when the task completes."""
        self._execution.state_updates = {**(self._execution.state_updates or {}), **updates}


class Context(Task, Waits):
    """For handlers that are coroutines. What begins a wait gives something to await."""

    def __init__(self, execution: Execution, client: Client, input: Any) -> None:
        Task.__init__(self, execution, input)
        self._workers_client = client
        self._client: Client | None = None

    @property
    def client(self) -> Client:
        """A client of the worker's server, within the trace of this task."""
        if self._client is None:
            traced = self._workers_client.transport.traced_by(lambda: self.traceparent)
            self._client = Client(transport=traced)
        return self._client

    @overload
    async def run(self, name: str, work: Callable[[], Awaitable[T]]) -> T: ...
    @overload
    async def run(self, name: str, work: Callable[[], T]) -> T: ...
    async def run(self, name: str, work: Callable[[], Any]) -> Any:
        """Does something once. Its result is recorded, and another delivery of the task gets it without doing it again."""
        return await self._execution.run_once(name, work)

    async def create_waitpoint(
        self, name: str, *, timeout: Duration | None = None, allow_get: bool = False
    ) -> Waitpoint:
        """A waitpoint with a URL, to be given away before it is waited for. The same name gives the same one."""
        if self._execution.ask(name, "waitpoint") is None:
            async with self._execution.acting(name):
                return await self._make_waitpoint(name, timeout, allow_get)
        return await self._make_waitpoint(name, timeout, allow_get)

    async def _make_waitpoint(self, name: str, timeout: Duration | None, allow_get: bool) -> Waitpoint:
        lease_token = self.task["leaseToken"]
        made = await self.client.waitpoints.create(lease_token, name, timeout=timeout, allow_get=allow_get)
        return Waitpoint(name, made["id"], made.get("resumeUrl") or "")

    async def notify(
        self,
        name: str,
        event_id: str,
        data: Any = None,
        *,
        run_id: str | None = None,
        delivery: Literal["all", "one"] | None = None,
    ) -> wire.SentEvent:
        """Sends an event to everyone, once."""
        key = f"{self.task['id']}/{name}"[:255]
        return await self.run(
            name,
            lambda: self.client.notify(event_id, data, run_id=run_id, delivery=delivery, idempotency_key=key),
        )

    async def checkpoint(self, value: Any) -> None:
        """Leaves a value for the next delivery, should there be one: see ``last_checkpoint``."""
        await self._execution.record(checkpoint=self._execution.as_json("checkpoint", value))

    async def all(self, waits: Sequence[Wait[Any]]) -> list[Any]:
        """The values of all, when all are over."""
        await self._execution.until(list(waits), "all")
        return [wait.value() for wait in waits]

    async def any(self, waits: Sequence[Wait[Any]]) -> First:
        """The first that is over. The others are cancelled."""
        await self._execution.until(list(waits), "any")
        first = self._execution.winner(list(waits))
        if first is None:
            raise WaitCancelled(waits[0].name)
        return First(list(waits).index(first), first.name, first.value())


DIGITS = "0123456789abcdefghjkmnpqrstvwxyz"
"""The digits of ids: base32 without i, l, o and u."""


def trace_of(run_id: str) -> str:
    """A run that was started outside of any trace is one of its own, whose id is the run's."""
    number = 0
    for digit in run_id.removeprefix("run_"):
        number = number * 32 + DIGITS.index(digit)
    return f"00-{number:032x}-{os.urandom(8).hex()}-01"


def nothing(_: Any) -> None:
    return None


def same(payload: Any) -> Any:
    return payload


def call_of(payload: Any) -> Call:
    payload = payload if isinstance(payload, dict) else {"body": payload}
    return Call(payload.get("body"), payload.get("headers") or {}, payload.get("queryParams") or {})
