"""What a handler is given: the task, and durable calls whose results outlive the worker."""

from __future__ import annotations

import asyncio
import os
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeAlias, TypedDict, TypeVar, Unpack, cast, overload

from . import wire
from .asked import asked_of
from .branch import Branch, all_of, first_of
from .call import CallOptions, DurableCall, Limit, Retry, policy, retry_of
from .client import Client
from .decode import Returned
from .duration import Duration, Instant, field, instant
from .execution import Execution, decoded
from .failure import CallFailed, ChildFailed, CodeChanged, WaitCancelled
from .plain import as_json, is_object
from .resources import given
from .run_log import Level
from .wait import Pending, Wait
from .workflow import Workflow

T = TypeVar("T")
R = TypeVar("R")
A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
D = TypeVar("D")

Work: TypeAlias = Callable[[], T] | Callable[[DurableCall], T]
"""What ``run`` does: a function of no argument, or of the call."""


@dataclass(frozen=True, slots=True)
class Waitpoint:
    """A waitpoint with a URL that ends it."""

    name: str
    id: str
    resume_url: str


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """A call on a resume URL."""

    body: T
    headers: dict[str, str]
    query_params: dict[str, str]


@dataclass(frozen=True, slots=True)
class HttpResponse(Generic[T]):
    """What came of a call that the engine made."""

    status: int
    headers: dict[str, str]
    body: T


@dataclass(frozen=True, slots=True)
class Approval(Generic[T]):
    """What was decided. Neither approved nor rejected: nobody decided in time."""

    decision: Literal["approve", "reject", "edit", "timeout"]
    approved: bool
    """True for ``approve``, and for ``edit``, which approves what it makes."""
    content: T
    """What was approved: as it was asked, or as it was edited."""
    votes: list[wire.Vote]
    """Who said what."""


@dataclass(frozen=True, slots=True)
class RequestedApproval(Generic[T]):
    """An approval that people were asked for, and who decides where."""

    name: str
    id: str
    url: str | None
    """The link for anyone, if one voice of anyone is enough."""
    links: dict[str, str]
    """A link for each approver who is named. What is decided by it is recorded under that name."""
    spec: dict[str, Any]
    """What was asked."""
    returns: type[T] | None
    """What the content is read as."""


class ApprovalOptions(TypedDict, total=False):
    """What people are asked."""

    prompt: str | None
    content: object
    """What is to be approved, or edited."""
    content_schema: Mapping[str, object] | None
    """A JSON Schema that edited content must satisfy; the page behind a link makes a form of it."""
    approvers: Sequence[str]
    """Who may decide. Without any, every key with the scope ``approve`` may, and whoever has a link."""
    quorum: int | None
    """How many of them must agree."""
    timeout: Duration | None


@dataclass(frozen=True, slots=True)
class First(Generic[T]):
    """The first of several waits and branches."""

    index: int
    name: str
    value: T


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
        where: Mapping[str, object] | None = None,
        lookback: Duration | None = None,
        returns: type[Returned] | None = None,
    ) -> Wait[Returned | None]:
        """Waits for an event to everyone. Its data, or None when the time is over. ``match`` is an expression that
        the event must satisfy: ``event.order == input.id``. ``where`` says what its fields must be, by their paths:
        ``{"order.id": order_id}``; values of the code go here, not into ``match``. ``returns``: the type that the data are
        read as; JSON if absent."""
        spec = {"type": "event", "eventId": event_id, **given(match=match, where=where)}
        return self._wait(name, {**spec, **field("timeout", timeout), **field("lookback", lookback)}, self._read(name, returns))

    def wait_for_signal(
        self,
        name: str,
        signal_type: str,
        *,
        timeout: Duration | None = None,
        returns: type[Returned] | None = None,
    ) -> Wait[Returned | None]:
        """Waits for a signal to this run. Its payload, or None when the time is over."""
        spec = {"type": "signal", "signalType": signal_type, **field("timeout", timeout)}
        return self._wait(name, spec, self._read(name, returns))

    def wait_for_waitpoint(
        self,
        waitpoint: Waitpoint | str,
        *,
        timeout: Duration | None = None,
        returns: type[Returned] | None = None,
    ) -> Wait[Call[Returned] | None]:
        """Waits for a call on the URL of a waitpoint. The call, or None when the time is over. ``returns`` is the type of
        its body."""
        name = waitpoint if isinstance(waitpoint, str) else waitpoint.name
        read = self._read(name, returns)
        return self._wait(name, {"type": "webhook", **field("timeout", timeout)}, lambda payload: call_of(payload, read))

    def approve(
        self, name: str, *, returns: type[Returned] | None = None, **options: Unpack[ApprovalOptions]
    ) -> Wait[Approval[Returned]]:
        """Asks people, and waits for what they decide. ``returns``: the type that the content is read as."""
        asked = ask_of(options)
        return self._decided(name, {"type": "approval", **asked, **field("timeout", options.get("timeout"))}, returns)

    def wait_for_approval(self, request: RequestedApproval[T]) -> Wait[Approval[T]]:
        """Waits for what was decided on an approval that was asked for before."""
        return self._decided(request.name, request.spec, request.returns)

    def _decided(self, name: str, spec: dict[str, Any], returns: type[T] | None) -> Wait[Approval[T]]:
        content, read_content = spec["content"], self._read(name, returns)

        def read(payload: Any) -> Approval[T]:
            decision = fields(payload).get("decision")
            # What is absent never means yes.
            if decision is None:
                raise CodeChanged(f"`{name}` without a decision", f"`{name}` as an approval")
            approved = decision in ("approve", "edit")
            return Approval(decision, approved, read_content(payload.get("content", content)), payload.get("votes", []))

        return self._wait(name, spec, read, lambda: Approval("timeout", False, read_content(content), []))

    def child(
        self,
        name: str,
        workflow: str | Workflow,
        input: object = None,
        *,
        version: str | None = None,
        returns: type[Returned] | None = None,
    ) -> Wait[Returned]:
        """Starts a run of another workflow, and waits for its output. A run that does not complete is a ``ChildFailed``.
        If the wait is cancelled (it lost an ``any``, or the handler's own run is cancelled), so is the child. ``returns``:
        the type that the output is read as; JSON if absent."""
        read_output = self._read(name, returns)

        def read(payload: Any) -> Returned:
            if fields(payload).get("status") == "COMPLETED":
                return read_output(payload.get("output"))
            raise child_failed(name, payload)

        return self._wait(name, child_of(workflow, input, version), read, child_timed_out(name))

    def start_child(
        self, name: str, workflow: str | Workflow, input: object = None, *, version: str | None = None
    ) -> Wait[str]:
        """Starts a run of another workflow, once, and goes on without waiting for its end. The run's id."""

        def read(payload: Any) -> str:
            if fields(payload).get("status") == "STARTED":
                return str(payload["runId"])
            raise child_failed(name, payload)

        spec = {**child_of(workflow, input, version), "detached": True}
        return self._wait(name, spec, read, child_timed_out(name))

    def http(
        self,
        name: str,
        url: str,
        *,
        method: str | None = None,
        headers: Mapping[str, str] | None = None,
        body: object = None,
        timeout: Duration | None = None,
        fail_on: Sequence[str] | None = None,
        retry: Retry | int | None = None,
        returns: type[Returned] | None = None,
    ) -> Wait[HttpResponse[Returned]]:
        """A call that the engine makes: no worker is held meanwhile. It is made *at least once* until its answer is recorded.
        ``timeout``: how long one attempt may take. ``fail_on``: statuses that fail an attempt, such as ``5xx`` or ``404``;
        ``4xx`` and ``5xx`` if absent. ``retry``: its attempts, a policy or just how many. ``returns``: the type of the body. A
        call that fails is a ``CallFailed`` with the code of the failure. What it sends is kept with the run: a secret does not
        belong into it."""
        more = given(method=method, headers=headers and dict(headers), failOn=fail_on and list(fail_on))
        spec = {"type": "http", "url": url, **more, **field("timeout", timeout)}
        if body is not None:
            spec["body"] = as_json(body)
        if retry is not None:
            spec["retry"] = retry_of(retry)
        read_body = self._read(name, returns)

        def read(payload: Any) -> HttpResponse[Returned]:
            came = fields(payload)
            if came.get("status") != "COMPLETED":
                raise call_failed(name, came)
            answer = fields(came.get("output"))
            return HttpResponse(answer["status"], answer.get("headers") or {}, read_body(answer.get("body")))

        return self._wait(name, spec, read, call_timed_out(name))

    def pause(self, name: str, duration: Duration, *, checkpoint: object = None) -> Wait[None]:
        """Lets go for a while. The step stays RUNNING, and no attempt is used up. A loop may use one name: each turn of it
        pauses."""
        spec = {"type": "pause", **field("duration", duration), **given(checkpoint=checkpoint)}
        return self._wait(self._execution.pause_name(name), spec, nothing)

    def _wait(
        self, name: str, spec: dict[str, Any], read: Callable[[Any], T], late: Callable[[], Any] = lambda: None
    ) -> Wait[Any]:
        return Wait(self._execution, name, spec, read, late)

    def _read(self, name: str, returns: type[T] | None) -> Callable[[Any], T]:
        """What came, as the type that was asked for."""
        read = self._execution.decoder(name, returns)
        return lambda payload: decoded(f"what came for `{name}`", read, payload)


class Task:
    """What a task says, in both kinds of handlers."""

    def __init__(self, execution: Execution, input: Any) -> None:
        self._execution = execution
        self._traceparent: str | None = None
        self.task: wire.Task = execution.task
        self.input: object = input
        self.run_id: str = self.task["runId"]
        self.attempt: int = self.task["attempt"]
        self.state = cast(dict[str, wire.Json], self.task["state"])
        self.config: wire.Json = self.task["config"]
        self.last_checkpoint: wire.Json = self.task["checkpoint"]
        """What ``checkpoint`` or ``pause`` left before, or None."""
        self.replaying: bool = bool(self.task["journal"])
        """An earlier execution has recorded something already."""

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

    def idempotency_key(self, name: str) -> str:
        """What other services may know a call of this handler by: the same at every attempt and every replay."""
        return self._execution.idempotency_key(name)

    def patched(self, id: str) -> bool:
        """Whether a planned change of this handler's code is in effect: true for runs that had not come this far when it was
        deployed, false for those that had, at every replay. Both ways stay in the code until the old runs have ended."""
        return self._execution.patched(id)

    def log(self, message: object, *args: object, level: Level = "info") -> None:
        """A line for the run's log, shown on its page and with ``abide logs``; ``args`` are filled in as by ``logging``.
        What an earlier execution has written is not written again. The log of a run is bounded (256 KiB)."""
        self._execution.log_from_anywhere(level, str(message) % args if args else str(message))

    def set_state(self, **updates: object) -> None:
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
    async def run(
        self, name: str, work: Work[object], *, returns: type[T], **options: Unpack[CallOptions]
    ) -> T: ...
    @overload
    async def run(
        self,
        name: str,
        work: Callable[[], Awaitable[T]] | Callable[[DurableCall], Awaitable[T]],
        **options: Unpack[CallOptions],
    ) -> T: ...
    @overload
    async def run(self, name: str, work: Work[T], **options: Unpack[CallOptions]) -> T: ...
    async def run(
        self, name: str, work: Callable[..., Any], *, returns: object = None, **options: Unpack[CallOptions]
    ) -> Any:
        """Does something and records its result: another execution of the task gets the result without doing it again. It is
        done *at least once* until the result is recorded, and never after: a worker may die in between. What it gives is
        read from what was recorded, into ``returns`` or the type that the work declares: a dataclass, a typed dict, a
        pydantic model, an instant, lists of them. Work that takes an argument is given the ``DurableCall``, whose
        ``idempotency_key`` is for services that take one. A ``timeout`` is for work that is a coroutine."""
        return await self._execution.run_once(name, work, policy(options), self._execution.decoder(name, returns, work))

    async def with_limit(self, limit: Limit, name: str, body: Callable[[], Awaitable[T]]) -> T:
        """Does several things, durable calls and waits among them, while it has room under a limit. The room is asked for
        before, kept while the body waits, and given back when the body is done or has failed."""
        has_room = await self._execution.enter(limit, name)
        try:
            value = await body()
        except Exception as error:
            if has_room:
                self._execution.note_failure(name, error, has_policy=False)
            raise
        if has_room:
            await self._execution.leave(name)
        return value

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
        self._execution.make(name)
        made = await self.client.waitpoints.create(lease_token, name, timeout=timeout, allow_get=allow_get)
        return Waitpoint(name, made["id"], made.get("resumeUrl") or "")

    async def request_approval(
        self, name: str, *, returns: type[Returned] | None = None, **options: Unpack[ApprovalOptions]
    ) -> RequestedApproval[Returned]:
        """Asks people, and goes on: what it gives has their links, to be sent before ``wait_for_approval`` waits for
        them."""
        asked, timeout = ask_of(options), options.get("timeout")
        spec = {"type": "approval", **asked, **field("timeout", timeout)}
        if self._execution.ask(name, "waitpoint", spec) is None:
            async with self._execution.acting(name):
                return await self._ask_people(name, spec, asked, timeout, returns)
        return await self._ask_people(name, spec, asked, timeout, returns)

    async def _ask_people(
        self,
        name: str,
        spec: dict[str, Any],
        approval: dict[str, Any],
        timeout: Duration | None,
        returns: type[T] | None,
    ) -> RequestedApproval[T]:
        lease_token = self.task["leaseToken"]
        words = asked_of(spec)
        self._execution.make(name)
        made = await self.client.waitpoints.create(
            lease_token, name, type="APPROVAL", approval=approval, asked=words, timeout=timeout
        )
        links = made.get("links") or []
        named = {link["recipient"]: link["confirmUrl"] for link in links if link["recipient"] is not None}
        url = next((link["confirmUrl"] for link in links if link["recipient"] is None), None)
        return RequestedApproval(name, made["id"], url, named, spec, returns)

    async def map(
        self,
        name: str,
        items: Sequence[T],
        work: Callable[[T, str], Awaitable[R]],
        *,
        concurrency: int | None = None,
    ) -> list[R]:
        """The work of every item, in parallel branches, and the results in the order of the items. ``work`` is given
        the item and a name of its own, for the durable calls of its branch: ``name[0]``, ``name[1]``, … When one fails,
        no other is begun."""
        results: dict[int, R] = {}
        left = deque(enumerate(items))

        async def lane() -> None:
            while left:
                index, item = left.popleft()
                try:
                    results[index] = await work(item, f"{name}[{index}]")
                except BaseException:
                    left.clear()
                    raise

        lanes = min(len(items), max(1, concurrency or len(items)))
        await asyncio.gather(*(lane() for _ in range(lanes)))
        return [results[index] for index in range(len(items))]

    async def notify(
        self,
        name: str,
        event_id: str,
        data: object = None,
        *,
        run_id: str | None = None,
        delivery: Literal["all", "one"] | None = None,
    ) -> wire.EventSent:
        """Sends an event to everyone, once."""
        key, lease_token = self.idempotency_key(name), self.task["leaseToken"]
        return await self.run(
            name,
            lambda: self.client.events.send(
                event_id, data, run_id=run_id, delivery=delivery, idempotency_key=key, lease_token=lease_token
            ),
        )

    async def checkpoint(self, value: object) -> None:
        """Leaves a value for the next execution, should there be one: see ``last_checkpoint``."""
        await self._execution.record(checkpoint=self._execution.as_json("checkpoint", value))

    def branch(self, name: str, work: Callable[[], Awaitable[T]]) -> Branch[T]:
        """A named branch for ``any`` and ``all``: a coroutine function with durable calls of its own."""
        return Branch(name, work)

    @overload
    async def all(self, items: tuple[Pending[A], Pending[B]]) -> tuple[A, B]: ...  # type: ignore[overload-overlap]
    @overload
    async def all(self, items: tuple[Pending[A], Pending[B], Pending[C]]) -> tuple[A, B, C]: ...  # type: ignore[overload-overlap]
    @overload
    async def all(self, items: tuple[Pending[A], Pending[B], Pending[C], Pending[D]]) -> tuple[A, B, C, D]: ...  # type: ignore[overload-overlap]
    @overload
    async def all(self, items: Sequence[Pending[T]]) -> list[T]: ...
    async def all(self, items: Sequence[Pending[Any]]) -> Any:
        """What all waits and branches came to, when all are over: a list, or a tuple if it is given one. The first failure
        is that of all."""
        waits = [item for item in items if isinstance(item, Wait)]
        if len(waits) == len(items):
            await self._execution.until(waits, "all")
            values = [wait.value() for wait in waits]
        else:
            values = await all_of(self._execution, items)
        return tuple(values) if isinstance(items, tuple) else values

    async def any(self, items: Sequence[Pending[T]]) -> First[T]:
        """The first wait or branch that is over. The others are cancelled: their open waits, children with them, and
        what they are doing."""
        if not items:
            raise self._execution.misused("`any` needs something to wait for")
        waits = [item for item in items if isinstance(item, Wait)]
        if len(waits) < len(items):
            index, value = await first_of(self._execution, items)
            return First(index, items[index].name, value)
        await self._execution.until(waits, "any")
        first = self._execution.winner(waits)
        if first is None:
            raise WaitCancelled(waits[0].name)
        return First(waits.index(first), first.name, first.value())

    async def some(self, count: int, waits: Sequence[Wait[T]]) -> list[First[T]]:
        """The first ``count`` of several waits that are over, in the order of the list. The others are cancelled."""
        if not 1 <= count <= len(waits):
            raise self._execution.misused(f"{count} of {len(waits)} waits cannot come")
        several = list(waits)
        while True:
            winners = self._execution.winners(count, several)
            if winners is not None:
                return [First(several.index(wait), wait.name, wait.value()) for wait in winners]
            cancelled = [wait for wait in several if wait.has_ended and not wait.has_happened]
            if len(several) - len(cancelled) < count:
                raise WaitCancelled(cancelled[0].name)
            await self._execution.until([wait for wait in several if not wait.has_ended], "each")


DIGITS = "0123456789abcdefghjkmnpqrstvwxyz"
"""The digits of ids: base32 without i, l, o and u."""


def trace_of(run_id: str) -> str:
    """A run that was started outside of any trace is one of its own, whose id is the run's."""
    number = 0
    for digit in run_id.removeprefix("run_"):
        number = number * 32 + DIGITS.index(digit)
    return f"00-{number:032x}-{os.urandom(8).hex()}-01"


def ask_of(options: ApprovalOptions) -> dict[str, Any]:
    more = given(
        prompt=options.get("prompt"), quorum=options.get("quorum"), contentSchema=options.get("content_schema")
    )
    return {"content": as_json(options.get("content")), "approvers": list(options.get("approvers", ())), **more}


def child_of(workflow: str | Workflow, input: object, version: str | None) -> dict[str, Any]:
    name = workflow if isinstance(workflow, str) else workflow.name
    return {"type": "child", "workflow": name, "input": as_json(input), **given(version=version)}


def child_timed_out(name: str) -> Callable[[], Any]:
    """Nobody but an operator ends the wait so."""

    def late() -> Any:
        raise ChildFailed(name, f"the wait for the run of `{name}` was timed out", "CHILD_TIMED_OUT")

    return late


def child_failed(name: str, payload: Any) -> ChildFailed:
    payload = fields(payload)
    if payload.get("status") == "CANCELLED":
        return ChildFailed(name, f"the run of `{name}` was cancelled", "CHILD_CANCELLED")
    error = payload.get("error") or {"code": "UNKNOWN", "message": "it ended without a result"}
    return ChildFailed(name, f"the run of `{name}` failed: {error['code']}: {error['message']}", "CHILD_FAILED")


def call_failed(name: str, payload: dict[str, Any]) -> CallFailed:
    if payload.get("status") == "CANCELLED":
        return CallFailed(name, f"the call `{name}` was cancelled", "CALL_CANCELLED")
    error = payload.get("error") or {"code": "UNKNOWN", "message": "it ended without a result"}
    return CallFailed(name, f"the call `{name}` failed: {error['code']}: {error['message']}", error["code"])


def call_timed_out(name: str) -> Callable[[], Any]:
    """Nobody but an operator ends the wait so."""

    def late() -> Any:
        raise CallFailed(name, f"the wait for the call `{name}` was timed out", "CALL_TIMED_OUT")

    return late


def nothing(_: Any) -> None:
    return None


def fields(payload: Any) -> dict[str, Any]:
    return payload or {}


def call_of(payload: Any, read: Callable[[Any], T]) -> Call[T]:
    call = payload if is_object(payload) else {"body": payload}
    return Call(read(call.get("body")), call.get("headers") or {}, call.get("queryParams") or {})
