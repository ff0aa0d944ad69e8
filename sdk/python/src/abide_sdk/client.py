"""The client for asyncio: the whole HTTP API by its resources, and what most programs need of it, ``start``,
``start_and_wait``, ``signal`` and ``notify``. ``abide_sdk.sync`` has the same for code without asyncio."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterable, Mapping
from types import TracebackType
from typing import Any, Literal, Self, TypedDict, Unpack

from . import wire
from .decode import Returned, decoder_of
from .duration import Instant, instant
from .problem import RunNotCompleted
from .resources import (
    ENDED,
    Admin,
    Approvals,
    Definitions,
    Events,
    Limits,
    Runs,
    Schedules,
    Tasks,
    TestClock,
    Triggers,
    Waitpoints,
    Webhooks,
    at,
    given,
    keyed,
)
from .transport import Request, Traceparent, fresh_key
from .transport import Transport
from .workflow import Workflow

START_WAIT = "30s"
"""How long a start waits for the result before the run is followed instead."""

WorkflowRef = str | Workflow
"""A workflow by its name, or as it was built."""


class StartOptions(TypedDict, total=False):
    version: str
    run_at: Instant
    """Begin then, not now."""
    tags: list[str]
    idempotency_key: str
    """The same key and the same request are the same request, however often it is sent."""


class Client:
    def __init__(
        self,
        url: str | None = None,
        api_key: str | None = None,
        *,
        retries: int = 4,
        traceparent: Traceparent | None = None,
        transport: Transport | None = None,
    ) -> None:
        """``url`` and ``api_key`` come from ABIDE_SERVER and ABIDE_API_KEY if they are absent. ``retries``: how often a
        request that may be repeated is tried again. ``traceparent`` is called for each request; what it gives is sent."""
        self.transport = transport or Transport(url, api_key, retries, traceparent)
        self.definitions = Definitions(self.transport)
        self.runs = Runs(self.transport)
        self.waitpoints = Waitpoints(self.transport)
        self.events = Events(self.transport)
        self.approvals = Approvals(self.transport)
        self.triggers = Triggers(self.transport)
        self.schedules = Schedules(self.transport)
        self.limits = Limits(self.transport)
        self.webhooks = Webhooks(self.transport)
        self.tasks = Tasks(self.transport)
        self.admin = Admin(self.transport)
        self.test_clock = TestClock(self.transport)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        await self.transport.close()

    async def deploy(self, definition: Workflow | wire.Workflow | Mapping[str, object]) -> wire.DeployedDefinition:
        return await self.definitions.deploy(definition)

    async def start(
        self, workflow: WorkflowRef, input: object = None, **options: Unpack[StartOptions]
    ) -> RunHandle:
        """Starts a run. When this returns, it is on disk."""
        request = keyed("POST", at("workflow-runs"), start_of(workflow, input, options), options.get("idempotency_key"))
        started: wire.StartedRun = await self.transport.json(request)
        return RunHandle(self, started["id"])

    async def start_many(
        self, workflow: WorkflowRef, inputs: Iterable[object], **options: Unpack[StartOptions]
    ) -> wire.StartedRuns:
        """Starts a run for each input, with one request: up to 5,000, of together 8 MiB. Each has its own answer, in the
        same order; one that is refused hinders no other. ``runs.start_many`` takes versions, keys, tags and instants of
        each."""
        runs = [start_of(workflow, input, options) for input in inputs]
        request = keyed("POST", at("workflow-runs", "batch"), {"runs": runs}, options.get("idempotency_key"))
        started: wire.StartedRuns = await self.transport.json(request)
        return started

    async def start_and_wait(
        self,
        workflow: WorkflowRef,
        input: object = None,
        *,
        returns: type[Returned] | None = None,
        **options: Unpack[StartOptions],
    ) -> Returned:
        """Starts a run and returns its output, read as the type it is said to be; JSON if absent. A run that does not
        complete is a ``RunNotCompleted``."""
        body, key = start_of(workflow, input, options), options.get("idempotency_key") or fresh_key()
        request = Request("POST", at("workflow-runs"), {"wait": START_WAIT}, body, key=key)
        run: wire.Run = await self.transport.json(request)
        return output_of(run if run["status"] in ENDED else await self.runs.wait(run["id"]), returns)

    async def signal(
        self, run_id: str, signal_type: str, payload: object = None, *, idempotency_key: str | None = None
    ) -> wire.Signalled:
        return await self.runs.signal(run_id, signal_type, payload, idempotency_key=idempotency_key)

    async def notify(
        self,
        event_id: str,
        data: object = None,
        *,
        run_id: str | None = None,
        delivery: Literal["all", "one"] | None = None,
        dry_run: bool = False,
        idempotency_key: str | None = None,
    ) -> wire.EventSent:
        return await self.events.send(
            event_id, data, run_id=run_id, delivery=delivery, dry_run=dry_run, idempotency_key=idempotency_key
        )

    async def feed(self) -> AsyncIterator[dict[str, wire.Json]]:
        """Every change of every run of the workspace, from now on: ``runId``, ``status`` and ``version``, or how many
        were ``missed``."""
        async for event in self.transport.events(Request("GET", at("feed")), lambda _: False):
            yield {"missed": int(event.data)} if event.event == "missed" else json.loads(event.data)


class RunHandle:
    """A run that was started."""

    def __init__(self, client: Client, id: str) -> None:
        self._client = client
        self.id = id

    async def get(self) -> wire.Run:
        return await self._client.runs.find(self.id)

    async def result(self, *, returns: type[Returned] | None = None) -> Returned:
        """Its output, when it has ended, read as the type it is said to be; JSON if absent. A run that does not complete is
        a ``RunNotCompleted``."""
        return output_of(await self._client.runs.wait(self.id), returns)

    async def signal(
        self, signal_type: str, payload: object = None, *, idempotency_key: str | None = None
    ) -> wire.Signalled:
        return await self._client.runs.signal(self.id, signal_type, payload, idempotency_key=idempotency_key)

    async def cancel(self, reason: str | None = None) -> wire.CommandedRun:
        return await self._client.runs.cancel(self.id, reason=reason)

    async def follow(self) -> AsyncIterator[wire.HistoryRecord]:
        async for record in self._client.runs.follow(self.id):
            yield record


def start_of(workflow: WorkflowRef, input: object, options: StartOptions) -> dict[str, object]:
    run_at = options.get("run_at")
    return {
        "name": workflow if isinstance(workflow, str) else workflow.name,
        "input": input,
        **given(
            version=options.get("version"),
            runAt=None if run_at is None else instant(run_at),
            tags=options.get("tags"),
        ),
    }


def output_of(run: wire.Run, returns: type[Returned] | None = None) -> Returned:
    if run["status"] != "COMPLETED":
        raise RunNotCompleted(run)
    read = None if returns is None else decoder_of(returns)
    output: Any = run.get("output")
    decoded: Returned = read(output) if read else output
    return decoded
