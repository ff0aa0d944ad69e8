"""Workflows written in Python. ``build`` gives exactly the JSON that the server takes, once its structure is sound."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Self, TypeAlias

from . import wire
from .check import InvalidWorkflow, problems
from .duration import Duration, Instant, field, instant

Waits: TypeAlias = Mapping[str, wire.WorkflowMember | Mapping[str, object]]
"""Several waits of one step, by name, as in a document."""


class Workflow:
    """Steps run in the order written, or, if one says ``after``, as a graph. Every step takes the fields of its type in
    snake_case: ``save_as="payment"``, ``retry={"maxAttempts": 5}``, ``timeout=timedelta(days=2)``."""

    def __init__(
        self,
        name: str,
        *,
        version: str | None = None,
        description: str | None = None,
        input_schema: object = None,
        timeout: Duration | None = None,
        default_retry: wire.WorkflowRetry | None = None,
        pin_to_build: bool | None = None,
        limits: Sequence[wire.WorkflowLimit] | None = None,
        priority: int | str | None = None,
        debounce: wire.WorkflowDebounce | None = None,
        mcp: wire.WorkflowMcp | None = None,
        output: object = None,
    ) -> None:
        """``pin_to_build``: whether tasks stay with the build that took them first, for those that do not say so
        themselves. ``limits``: how many runs may be at work at once, and how many may begin in a time. ``debounce``: starts
        that come shortly after each other begin one run together. ``mcp``: offers the workflow to clients of the Model Context
        Protocol; ``{}`` makes it a tool."""
        self.name = name
        self._fields = camel(
            version=version,
            description=description,
            # A pydantic model has the schema of its inputs.
            input_schema=schema() if callable(schema := getattr(input_schema, "model_json_schema", None)) else input_schema,
            timeout=timeout,
            default_retry=default_retry,
            pin_to_build=pin_to_build,
            limits=limits,
            priority=priority,
            debounce=debounce,
            mcp=mcp,
            output=output,
        )
        self._events: dict[str, list[dict[str, object]]] = {}
        self._steps: list[dict[str, object]] = []

    def on_failure(self, handler: str | Callable[..., object], **options: object) -> Self:
        """The handler that is called each time a run fails, in a run of its own: cleanup belongs here, not into a `finally`."""
        return self._hook("onFailure", handler, options)

    def on_cancel(self, handler: str | Callable[..., object], **options: object) -> Self:
        """The handler that is called when a run was cancelled."""
        return self._hook("onCancel", handler, options)

    def start_on(
        self, event_id: str, *, match: str | None = None, input: object = None, idempotency_key: str | None = None
    ) -> Self:
        """An event that starts runs of the newest version."""
        return self._event("startOn", event_id, match=match, input=input, idempotency_key=idempotency_key)

    def cancel_on(self, event_id: str, *, match: str | None = None) -> Self:
        """An event that cancels a run, wherever it is."""
        return self._event("cancelOn", event_id, match=match)

    def restart_on(self, event_id: str, *, match: str | None = None, input: object = None) -> Self:
        """An event that cancels a run and starts another in its place."""
        return self._event("restartOn", event_id, match=match, input=input)

    def task(self, name: str, handler: str | Callable[..., object], **fields: object) -> Self:
        """Work for a handler, by its name or as it was registered."""
        return self._add("task", name, handler=handler if isinstance(handler, str) else name_of(handler), **fields)

    def sleep(self, name: str, duration: Duration, **fields: object) -> Self:
        """Sleeps, without a worker, a thread or memory."""
        self._add("wait", name, **fields)
        self._steps[-1].update(field("duration", duration))
        return self

    def sleep_until(self, name: str, at: Instant, **fields: object) -> Self:
        return self._add("wait", name, until_timestamp=instant(at), **fields)

    def cron(self, name: str, cron: str, *, timezone: str | None = None, **fields: object) -> Self:
        """Sleeps until a cron line is due."""
        return self._add("wait", name, cron=cron, timezone=timezone, **fields)

    def wait_for_signal(self, name: str, signal_type: str, **fields: object) -> Self:
        """Waits for a signal to this run."""
        return self._add("external_event", name, signal_type=signal_type, **fields)

    def wait_for_event(self, name: str, event_id: str, **fields: object) -> Self:
        """Waits for an event to everyone."""
        return self._add("wait_for_event", name, event_id=event_id, **fields)

    def webhook(self, name: str, **fields: object) -> Self:
        """Waits for a call on its resume URL."""
        return self._add("webhook", name, **fields)

    def approve(self, name: str, **fields: object) -> Self:
        """Waits for people."""
        return self._add("approval", name, **fields)

    def condition(self, name: str, expression: str, *, true_step: str, **fields: object) -> Self:
        return self._add("condition", name, expression=expression, true_step=true_step, **fields)

    def llm(self, name: str, **fields: object) -> Self:
        return self._add("llm", name, **fields)

    def http(self, name: str, url: str, **fields: object) -> Self:
        return self._add("http", name, url=url, **fields)

    def notify(self, name: str, event_id: str, **fields: object) -> Self:
        return self._add("notify", name, event_id=event_id, **fields)

    def respond(self, name: str, **fields: object) -> Self:
        """Answers the caller that started the run; the run goes on."""
        return self._add("respond", name, **fields)

    def child(self, name: str, definition: str | Workflow, **fields: object) -> Self:
        """Starts a child run and waits for it."""
        child = definition if isinstance(definition, str) else definition.name
        return self._add("workflow", name, definition=child, **fields)

    def map(self, name: str, items: object, step: wire.WorkflowMapStep | Mapping[str, object], **fields: object) -> Self:
        """One step over a list, in parallel."""
        return self._add("map", name, items=items, step=step, **fields)

    def wait_any(self, name: str, waits: Waits, **fields: object) -> Self:
        """Waits for the first of several waits; the others are cancelled with it. ``goto`` leads on by the one that came."""
        return self._add("wait_any", name, waits=waits, **fields)

    def wait_all(self, name: str, waits: Waits, **fields: object) -> Self:
        """Waits for all of several waits."""
        return self._add("wait_all", name, waits=waits, **fields)

    def wait_some(self, name: str, count: int, waits: Waits, **fields: object) -> Self:
        """Waits for ``count`` of several waits; the others are cancelled with the last of them."""
        return self._add("wait_some", name, waits=waits, count=count, **fields)

    def step(self, step: Mapping[str, object]) -> Self:
        """Any step, as in a document."""
        self._steps.append(dict(step))
        return self

    def build(self) -> dict[str, object]:
        """The document, as it is posted. Raises ``InvalidWorkflow`` with all that is wrong with its structure: names, targets,
        cycles, bounds. The server checks that too, and also what expressions and templates say."""
        document = {"name": self.name, **self._fields, **self._events, "steps": self._steps}
        if found := problems(document):
            raise InvalidWorkflow(self.name, found)
        return document

    def _event(self, name: str, event_id: str, **options: object) -> Self:
        events = self._events.setdefault(name, [])
        events.append({"eventId": event_id, **camel(**options)})
        return self

    def _hook(self, name: str, handler: str | Callable[..., object], options: dict[str, object]) -> Self:
        self._fields[name] = {"handler": handler if isinstance(handler, str) else name_of(handler), **camel(**options)}
        return self

    def _add(self, type: str, name: str, **fields: object) -> Self:
        self._steps.append({"type": type, "name": name, **camel(**fields)})
        return self


def camel(**fields: object) -> dict[str, object]:
    """The fields that were given, as the document spells them."""
    written: dict[str, object] = {}
    for name, value in fields.items():
        first, *rest = name.rstrip("_").split("_")
        spelled = first + "".join(word.capitalize() for word in rest)
        if isinstance(value, timedelta):
            written.update(field(spelled, value))
        elif value is not None:
            written[spelled] = value
    return written


def name_of(handler: Callable[..., object]) -> str:
    name = getattr(handler, "handler_name", None)
    if not isinstance(name, str):
        raise ValueError(f"{handler} is not a registered handler; use @worker.handler(…), or give its name")
    return name
