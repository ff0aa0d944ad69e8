"""Client for code without asyncio. Written by sdk/generate from client.py; change that, not this."""

from __future__ import annotations

import json
from collections.abc import Iterator, Iterable, Mapping
from types import TracebackType
from typing import Any, Literal, Self, TypedDict, Unpack

from . import wire
from .decode import Returned, decoder_of
from .duration import Instant, instant
from .problem import RunNotCompleted
from .sync_resources import (
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
from .blocking import Transport
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

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self.transport.close()

    def deploy(self, definition: Workflow | wire.Workflow | Mapping[str, object]) -> wire.DeployedDefinition:
        return self.definitions.deploy(definition)

    def start(
        self, workflow: WorkflowRef, input: object = None, **options: Unpack[StartOptions]
    ) -> RunHandle:
        """Starts a run. When this returns, it is on disk."""
        request = keyed("POST", at("workflow-runs"), start_of(workflow, input, options), options.get("idempotency_key"))
        started: wire.StartedRun = self.transport.json(request)
        return RunHandle(self, started["id"])

    def start_many(
        self, workflow: WorkflowRef, inputs: Iterable[object], **options: Unpack[StartOptions]
    ) -> wire.StartedRuns:
        """Starts a run for each input, with one request: up to 5,000, of together 8 MiB. Each has its own answer, in the
        same order; one that is refused hinders no other. ``runs.start_many`` takes versions, keys, tags and instants of
        each."""
        runs = [start_of(workflow, input, options) for input in inputs]
        request = keyed("POST", at("workflow-runs", "batch"), {"runs": runs}, options.get("idempotency_key"))
        started: wire.StartedRuns = self.transport.json(request)
        return started

    def start_and_wait(
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
        run: wire.Run = self.transport.json(request)
        return output_of(run if run["status"] in ENDED else self.runs.wait(run["id"]), returns)

    def signal(
        self, run_id: str, signal_type: str, payload: object = None, *, idempotency_key: str | None = None
    ) -> wire.Signalled:
        return self.runs.signal(run_id, signal_type, payload, idempotency_key=idempotency_key)

    def notify(
        self,
        event_id: str,
        data: object = None,
        *,
        run_id: str | None = None,
        delivery: Literal["all", "one"] | None = None,
        dry_run: bool = False,
        idempotency_key: str | None = None,
    ) -> wire.EventSent:
        return self.events.send(
            event_id, data, run_id=run_id, delivery=delivery, dry_run=dry_run, idempotency_key=idempotency_key
        )

    def feed(self) -> Iterator[dict[str, wire.Json]]:
        """Every change of every run of the workspace, from now on: ``runId``, ``status`` and ``version``, or how many
        were ``missed``."""
        for event in self.transport.events(Request("GET", at("feed")), lambda _: False):
            yield {"missed": int(event.data)} if event.event == "missed" else json.loads(event.data)


class RunHandle:
    """A run that was started."""

    def __init__(self, client: Client, id: str) -> None:
        self._client = client
        self.id = id

    def get(self) -> wire.Run:
        return self._client.runs.find(self.id)

    def result(self, *, returns: type[Returned] | None = None) -> Returned:
        """Its output, when it has ended, read as the type it is said to be; JSON if absent. A run that does not complete is
        a ``RunNotCompleted``."""
        return output_of(self._client.runs.wait(self.id), returns)

    def signal(
        self, signal_type: str, payload: object = None, *, idempotency_key: str | None = None
    ) -> wire.Signalled:
        return self._client.runs.signal(self.id, signal_type, payload, idempotency_key=idempotency_key)

    def cancel(self, reason: str | None = None) -> wire.CommandedRun:
        return self._client.runs.cancel(self.id, reason=reason)

    def follow(self) -> Iterator[wire.HistoryRecord]:
        for record in self._client.runs.follow(self.id):
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
