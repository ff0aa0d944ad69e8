"""Resources for code without asyncio. Written by sdk/generate from resources.py; change that, not this."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Iterator as Items
from dataclasses import dataclass
from datetime import timedelta
from typing import Generic, Literal, TypeVar
from urllib.parse import quote

from . import wire
from .duration import Duration, Instant, field, instant
from .transport import Request, ServerEvent, fresh_key
from .blocking import Transport
from .workflow import Workflow

API = "/api/v1"
LAST_RECORDS = {"WORKFLOW_COMPLETED", "WORKFLOW_FAILED", "WORKFLOW_CANCELLED"}
ENDED = {"COMPLETED", "FAILED", "CANCELLED"}

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """One page of a list: its items, by themselves or as ``data``."""

    data: list[T]
    next_cursor: str | None
    """Where the next page begins; nothing if this is the last."""

    def __iter__(self) -> Items[T]:
        return iter(self.data)

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, index: int) -> T:
        return self.data[index]


MOST_ITEMS = 10_000
"""How many items ``all`` gives, unless more are asked for."""


class Pages(Generic[T]):
    """A list: iterated, every item of every page; ``all`` gives all of them at once, ``pages`` a page at a time, and
    ``page`` one."""

    def __init__(self, transport: Transport, path: str, query: dict[str, object]) -> None:
        self._transport = transport
        self._path = path
        self._query = query

    def page(self, cursor: str | None = None) -> Page[T]:
        query = self._query if cursor is None else {**self._query, "cursor": cursor}
        page = self._transport.json(Request("GET", self._path, query))
        return Page(page["data"], page.get("nextCursor"))

    def pages(self) -> Iterator[Page[T]]:
        page = self.page()
        yield page
        while page.next_cursor is not None:
            page = self.page(page.next_cursor)
            yield page

    def __iter__(self) -> Iterator[T]:
        for page in self.pages():
            for item in page.data:
                yield item

    def all(self, *, at_most: int = MOST_ITEMS) -> list[T]:
        """Every item. More than ``at_most`` are refused, not cut off."""
        found: list[T] = []
        for page in self.pages():
            found += page.data
            if len(found) > at_most:
                raise ValueError(f"there are more than {at_most} items: iterate over them, or say `at_most`")
        return found


def at(*parts: str) -> str:
    return "/".join([API, *(quote(part, safe="") for part in parts)])


def given(**fields: object) -> dict[str, object]:
    """The fields that were given."""
    return {name: value for name, value in fields.items() if value is not None}


def keyed(method: str, path: str, body: object = None, key: str | None = None) -> Request:
    """A request that carries a key, so that it may be repeated."""
    return Request(method, path, body=body, key=key or fresh_key())


class Resource:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport


class Definitions(Resource):
    def deploy(self, definition: Workflow | wire.Workflow | Mapping[str, object]) -> wire.DeployedDefinition:
        """Stores a workflow. The very same again is fine; another one of the same name and version is refused."""
        body = definition.build() if isinstance(definition, Workflow) else definition
        deployed: wire.DeployedDefinition = self._transport.json(
            Request("POST", at("workflow-definitions"), body=body, repeatable=True)
        )
        return deployed

    def check(self, document: object) -> wire.CheckedDefinition:
        """Everything that is wrong with a document, without storing it."""
        request = Request("POST", at("workflow-definitions", "check"), body=document, repeatable=True)
        checked: wire.CheckedDefinition = self._transport.json(request)
        return checked

    def check_runs(
        self, document: object, *, from_version: str | None = None, cursor: str | None = None, limit: int | None = None
    ) -> wire.CheckedRuns:
        """Which of the runs that wait would fit a new version, and which it would strand; a page of them."""
        query = {**given(cursor=cursor, limit=limit), **given(**{"from": from_version})}
        path = at("workflow-definitions", "check-runs")
        request = Request("POST", path, query=query, body=document, repeatable=True)
        checked: wire.CheckedRuns = self._transport.json(request)
        return checked

    def list(self, *, name: str | None = None, limit: int | None = None) -> Pages[wire.DefinitionSummary]:
        return Pages(self._transport, at("workflow-definitions"), given(name=name, limit=limit))

    def find(self, id_or_name: str, *, version: str | None = None) -> wire.Definition:
        """By id, or by name: its newest version, unless one is given."""
        request = Request("GET", at("workflow-definitions", id_or_name), given(version=version))
        definition: wire.Definition = self._transport.json(request)
        return definition


class Runs(Resource):
    def start(self, run: wire.StartRun, *, idempotency_key: str | None = None) -> wire.StartedRun:
        request = keyed("POST", at("workflow-runs"), run, idempotency_key)
        started: wire.StartedRun = self._transport.json(request)
        return started

    def start_many(self, runs: Sequence[wire.StartRun], *, idempotency_key: str | None = None) -> wire.StartedRuns:
        """Starts many runs with one request: up to 5,000, of together 8 MiB. Each has its own answer, in the same order;
        one that is refused hinders no other. When this returns, the runs are on disk."""
        request = keyed("POST", at("workflow-runs", "batch"), {"runs": [*runs]}, idempotency_key)
        started: wire.StartedRuns = self._transport.json(request)
        return started

    def list(
        self,
        *,
        status: str | list[str] | None = None,
        definition: str | None = None,
        version: str | None = None,
        tag: str | None = None,
        waits_for: str | None = None,
        event_id: str | None = None,
        signal_type: str | None = None,
        created_from: Instant | None = None,
        created_before: Instant | None = None,
        limit: int | None = None,
    ) -> Pages[wire.RunSummary]:
        query = given(
            status=status,
            definition=definition,
            version=version,
            tag=tag,
            waitsFor=waits_for,
            eventId=event_id,
            signalType=signal_type,
            createdFrom=created_from,
            createdBefore=created_before,
            limit=limit,
        )
        return Pages(self._transport, at("workflow-runs"), query)

    def find(self, id: str) -> wire.Run:
        run: wire.Run = self._transport.json(Request("GET", at("workflow-runs", id)))
        return run

    def wait(self, id: str) -> wire.Run:
        """Returns when the run has ended, however it did."""
        run = self.find(id)
        while run["status"] not in ENDED:
            for _ in self.follow(id, after=run["version"]):
                pass
            run = self.find(id)
        return run

    def history(self, id: str, *, after: int | None = None, limit: int | None = None) -> Pages[wire.HistoryRecord]:
        """What has happened to a run so far."""
        return Pages(self._transport, at("workflow-runs", id, "events"), given(after=after, limit=limit))

    def follow(self, id: str, *, after: int = 0) -> Iterator[wire.HistoryRecord]:
        """What has happened, then what happens, until the run has ended. Survives broken connections."""
        request = Request("GET", at("workflow-runs", id, "events"))
        for event in self._transport.events(request, is_last, str(after)):
            yield json.loads(event.data)

    def signal(
        self, id: str, signal_type: str, payload: object = None, *, idempotency_key: str | None = None
    ) -> wire.Signalled:
        body = {"signalType": signal_type, "payload": payload}
        request = keyed("POST", at("workflow-runs", id, "resume"), body, idempotency_key)
        signalled: wire.Signalled = self._transport.json(request)
        return signalled

    def cancel(
        self, id: str, *, reason: str | None = None, idempotency_key: str | None = None
    ) -> wire.CommandedRun:
        return self._command(id, "cancel", given(reason=reason), idempotency_key)

    def pause(self, id: str, *, idempotency_key: str | None = None) -> wire.CommandedRun:
        return self._command(id, "pause", None, idempotency_key)

    def unpause(self, id: str, *, idempotency_key: str | None = None) -> wire.CommandedRun:
        return self._command(id, "unpause", None, idempotency_key)

    def retry(self, id: str, *, idempotency_key: str | None = None) -> wire.CommandedRun:
        """Takes a failed run up again where it failed."""
        return self._command(id, "retry", None, idempotency_key)

    def pin(
        self, id: str, build: str, *, handler: str | None = None, idempotency_key: str | None = None
    ) -> wire.CommandedRun:
        """Only workers of this build are given the run's pinned tasks from now on, or those of one handler."""
        return self._command(id, "pin", given(build=build, handler=handler), idempotency_key)

    def unpin(
        self, id: str, *, handler: str | None = None, idempotency_key: str | None = None
    ) -> wire.CommandedRun:
        """Workers of any build may have the run's pinned tasks, or those of one handler. They are not pinned again."""
        return self._command(id, "unpin", given(handler=handler), idempotency_key)

    def move(self, id: str, version: str, *, dry_run: bool = False) -> wire.MovedRun:
        """Takes a run that waits over to another version of its workflow, where its past fits.

        With `dry_run` nothing is changed. One that does not fit is refused with `RUN_DOES_NOT_FIT`, and every reason.
        """
        body = {"version": version, "dryRun": dry_run}
        request = Request("POST", at("workflow-runs", id, "move"), body=body, repeatable=True)
        moved: wire.MovedRun = self._transport.json(request)
        return moved

    def cost(self, id: str) -> wire.RunCost:
        """What its calls to models cost."""
        cost: wire.RunCost = self._transport.json(Request("GET", at("workflow-runs", id, "cost")))
        return cost

    def bulk(self, command: wire.BulkCommand) -> wire.BulkDone:
        """One thing done to every run that a filter finds."""
        done: wire.BulkDone = self._transport.json(Request("POST", at("workflow-runs", "bulk"), body=command))
        return done

    def _command(self, id: str, verb: str, body: object, key: str | None) -> wire.CommandedRun:
        commanded: wire.CommandedRun = self._transport.json(
            keyed("POST", at("workflow-runs", id, verb), body, key)
        )
        return commanded


class Waitpoints(Resource):
    def list(
        self,
        *,
        run_id: str | None = None,
        kind: str | None = None,
        status: str | None = None,
        due_before: Instant | None = None,
        due_after: Instant | None = None,
        event_id: str | None = None,
        signal_type: str | None = None,
        limit: int | None = None,
    ) -> Pages[wire.Waitpoint]:
        query = given(
            runId=run_id,
            kind=kind,
            status=status,
            dueBefore=due_before,
            dueAfter=due_after,
            eventId=event_id,
            signalType=signal_type,
            limit=limit,
        )
        return Pages(self._transport, at("waitpoints"), query)

    def create(
        self,
        lease_token: str,
        name: str,
        *,
        timeout: Duration | None = None,
        allow_get: bool = False,
        type: Literal["WEBHOOK", "DELAY", "APPROVAL"] | None = None,
        approval: wire.Ask | Mapping[str, object] | None = None,
        asked: str | None = None,
    ) -> wire.Waitpoint:
        """As a worker: the same name gives the same waitpoint."""
        more = given(type=type, approval=approval, asked=asked)
        body = {"leaseToken": lease_token, "name": name, "allowGet": allow_get, **field("timeout", timeout), **more}
        request = Request("POST", at("waitpoints"), body=body, repeatable=True)
        waitpoint: wire.Waitpoint = self._transport.json(request)
        return waitpoint

    def find(self, id: str) -> wire.Waitpoint:
        waitpoint: wire.Waitpoint = self._transport.json(Request("GET", at("waitpoints", id)))
        return waitpoint

    def reschedule(self, id: str, resume_at: Instant, *, idempotency_key: str | None = None) -> wire.Waitpoint:
        body = {"resumeAt": instant(resume_at)}
        request = keyed("PATCH", at("waitpoints", id), body, idempotency_key)
        waitpoint: wire.Waitpoint = self._transport.json(request)
        return waitpoint

    def complete(self, id: str, payload: object = None, *, idempotency_key: str | None = None) -> wire.Waitpoint:
        """Ends a wait as if what it waits for had come."""
        return self._steer(id, "complete", {"payload": payload}, idempotency_key)

    def skip(
        self, id: str, output: object = None, *, reason: str | None = None, idempotency_key: str | None = None
    ) -> wire.Waitpoint:
        """Completes the step of a wait for other code (CODE) with this output, without its handler."""
        return self._steer(id, "skip", {"output": output, **given(reason=reason)}, idempotency_key)

    def time_out(self, id: str, *, idempotency_key: str | None = None) -> wire.Waitpoint:
        """Ends a wait as if its time were over."""
        return self._steer(id, "timeout", None, idempotency_key)

    def cancel(self, id: str, *, idempotency_key: str | None = None) -> wire.Waitpoint:
        return self._steer(id, "cancel", None, idempotency_key)

    def make_link(self, id: str, recipient: str | None = None) -> wire.Link:
        """A resume URL for one person: what is done with it is recorded under that name."""
        request = Request("POST", at("waitpoints", id, "link"), body=given(recipient=recipient))
        link: wire.Link = self._transport.json(request)
        return link

    def revoke_links(self, id: str) -> wire.Waitpoint:
        """Makes every resume URL of the waitpoint void."""
        waitpoint: wire.Waitpoint = self._transport.json(Request("DELETE", at("waitpoints", id, "link")))
        return waitpoint

    def bulk(self, steering: wire.BulkSteering) -> wire.BulkSteered:
        """One thing done to every pending wait that a filter finds."""
        steered: wire.BulkSteered = self._transport.json(Request("POST", at("waitpoints", "bulk"), body=steering))
        return steered

    def resume(self, resume_url: str, body: object = None, *, idempotency_key: str | None = None) -> wire.Resumed:
        """As whoever has the resume URL: ends the wait with this body."""
        request = keyed("POST", resume_url, {} if body is None else body, idempotency_key)
        resumed: wire.Resumed = self._transport.json(request)
        return resumed

    def resume_step(
        self, run_id: str, step: str, body: object = None, *, idempotency_key: str | None = None
    ) -> wire.Resumed:
        """Resumes a step by its name, even before it has begun."""
        path = at("workflow-runs", run_id, "waitpoints", step)
        resumed: wire.Resumed = self._transport.json(
            keyed("POST", path, {} if body is None else body, idempotency_key)
        )
        return resumed

    def resume_step_sync(
        self, run_id: str, step: str, body: object = None, *, idempotency_key: str | None = None
    ) -> wire.Json:
        """The same, answered with what the run says next."""
        path = at("workflow-runs", run_id, "waitpoints", step, "sync")
        said: wire.Json = self._transport.json(keyed("POST", path, {} if body is None else body, idempotency_key))
        return said

    def _steer(self, id: str, verb: str, body: object, key: str | None) -> wire.Waitpoint:
        waitpoint: wire.Waitpoint = self._transport.json(keyed("POST", at("waitpoints", id, verb), body, key))
        return waitpoint


class Events(Resource):
    def send(
        self,
        event_id: str,
        data: object = None,
        *,
        run_id: str | None = None,
        delivery: Literal["all", "one"] | None = None,
        dry_run: bool = False,
        idempotency_key: str | None = None,
        lease_token: str | None = None,
    ) -> wire.EventSent:
        """To everyone who waits for it, now or later. ``lease_token``: of the task whose handler sends it; a key with the
        scope ``worker`` alone needs it."""
        body = {
            "eventId": event_id,
            "eventData": data,
            **given(workflowRunId=run_id, delivery=delivery, dryRun=dry_run or None, leaseToken=lease_token),
        }
        sent: wire.EventSent = self._transport.json(keyed("POST", at("events"), body, idempotency_key))
        return sent

    def list(self, *, event_id: str | None = None, limit: int | None = None) -> Pages[wire.StoredEvent]:
        return Pages(self._transport, at("events"), given(eventId=event_id, limit=limit))

    def waiters(self, event_id: str, *, limit: int | None = None) -> Pages[wire.Waiter]:
        return Pages(self._transport, at("events", event_id, "waiters"), given(limit=limit))

    def starts(self, *, event_id: str | None = None, limit: int | None = None) -> Pages[wire.StartedOnEvent]:
        """Which workflows start on which event, and which start was refused last."""
        return Pages(self._transport, at("events", "starts"), given(eventId=event_id, limit=limit))


class Approvals(Resource):
    def list(
        self, *, pending: bool | None = None, run_id: str | None = None, limit: int | None = None
    ) -> Pages[wire.ApprovalRequest]:
        query = given(pending=pending, runId=run_id, limit=limit)
        return Pages(self._transport, at("approval-requests"), query)

    def find(self, id: str) -> wire.ApprovalRequest:
        request: wire.ApprovalRequest = self._transport.json(Request("GET", at("approval-requests", id)))
        return request

    def decide(
        self,
        id: str,
        decision: Literal["approve", "reject", "edit"],
        *,
        edited_content: object = None,
        comment: str | None = None,
        idempotency_key: str | None = None,
    ) -> wire.Decided:
        body = {"decision": decision, **given(editedContent=edited_content, comment=comment)}
        request = keyed("POST", at("approval-requests", id, "decide"), body, idempotency_key)
        decided: wire.Decided = self._transport.json(request)
        return decided


class Triggers(Resource):
    def call(self, workflow: str, body: object = None, *, idempotency_key: str | None = None) -> wire.StartedRun:
        """Starts a run with a call, as a webhook of somebody else would."""
        request = keyed("POST", at("triggers", workflow), {} if body is None else body, idempotency_key)
        started: wire.StartedRun = self._transport.json(request)
        return started

    def call_sync(self, workflow: str, body: object = None, *, idempotency_key: str | None = None) -> wire.Json:
        """The same, answered with what the run says first."""
        path = at("triggers", workflow, "sync")
        said: wire.Json = self._transport.json(keyed("POST", path, {} if body is None else body, idempotency_key))
        return said


class Schedules(Resource):
    """Workflows that start again and again, by the clock."""

    def list(self, *, limit: int | None = None) -> Pages[wire.Schedule]:
        return Pages(self._transport, at("schedules"), given(limit=limit))

    def create(self, schedule: wire.NewSchedule) -> wire.Schedule:
        made: wire.Schedule = self._transport.json(Request("POST", at("schedules"), body=schedule))
        return made

    def find(self, id: str) -> wire.Schedule:
        schedule: wire.Schedule = self._transport.json(Request("GET", at("schedules", id)))
        return schedule

    def change(self, id: str, change: wire.ChangeSchedule) -> wire.Schedule:
        """What is not named stays as it is. Another rule of time begins now."""
        request = Request("PATCH", at("schedules", id), body=change, repeatable=True)
        schedule: wire.Schedule = self._transport.json(request)
        return schedule

    def remove(self, id: str) -> None:
        """Runs that it started go on."""
        self._transport.json(Request("DELETE", at("schedules", id)))

    def pause(self, id: str) -> wire.Schedule:
        """Nothing comes while it is paused, and nothing of that is made up for later."""
        request = Request("POST", at("schedules", id, "pause"), repeatable=True)
        schedule: wire.Schedule = self._transport.json(request)
        return schedule

    def unpause(self, id: str) -> wire.Schedule:
        request = Request("POST", at("schedules", id, "unpause"), repeatable=True)
        schedule: wire.Schedule = self._transport.json(request)
        return schedule

    def trigger(self, id: str, *, idempotency_key: str | None = None) -> wire.Triggered:
        """Starts one more run now, as the overlap policy allows; the next occurrence stays as it is."""
        request = keyed("POST", at("schedules", id, "trigger"), None, idempotency_key)
        triggered: wire.Triggered = self._transport.json(request)
        return triggered


class Limits(Resource):
    """Limits: how much room there is, who has it, who waits for it, and what is set at run time."""

    def list(
        self,
        *,
        name: str | None = None,
        workflow: str | None = None,
        key: str | None = None,
        pressure: bool | None = None,
        limit: int | None = None,
    ) -> Pages[wire.LimitKey]:
        """Keys that somebody has room under or waits for; with `pressure`, those for which most wait first."""
        query = given(name=name, workflow=workflow, key=key, pressure=pressure, limit=limit)
        return Pages(self._transport, at("limits"), query)

    def find(
        self, name: str, *, workflow: str | None = None, key: str | None = None, limit: int | None = None
    ) -> wire.LimitDetail:
        """One limit. Without a workflow it is the one of this name that all workflows of the workspace share."""
        request = Request("GET", at("limits", name), query=given(workflow=workflow, key=key, limit=limit))
        detail: wire.LimitDetail = self._transport.json(request)
        return detail

    def set(self, name: str, change: wire.SetLimit) -> wire.LimitSet:
        """Changes, pauses, resumes or empties it: that stands above what definitions say until it is removed."""
        request = Request("PUT", at("limits", name), body=change, repeatable=True)
        done: wire.LimitSet = self._transport.json(request)
        return done


class Webhooks(Resource):
    """URLs of yours that are told what happens, and what they were told."""

    def list(self) -> Pages[wire.Webhook]:
        return Pages(self._transport, at("webhooks"), {})

    def create(self, webhook: wire.NewWebhook) -> wire.MadeWebhook:
        """The secret is in the answer, and nowhere else."""
        made: wire.MadeWebhook = self._transport.json(Request("POST", at("webhooks"), body=webhook))
        return made

    def find(self, id: str) -> wire.Webhook:
        webhook: wire.Webhook = self._transport.json(Request("GET", at("webhooks", id)))
        return webhook

    def change(self, id: str, change: wire.ChangeWebhook) -> wire.Webhook:
        """What is not named stays as it is."""
        request = Request("PATCH", at("webhooks", id), body=change, repeatable=True)
        webhook: wire.Webhook = self._transport.json(request)
        return webhook

    def remove(self, id: str) -> None:
        """With all its deliveries; what it was still to be told is not sent."""
        self._transport.json(Request("DELETE", at("webhooks", id)))

    def enable(self, id: str) -> wire.Webhook:
        """What was kept for it is sent at once."""
        request = Request("POST", at("webhooks", id, "enable"), repeatable=True)
        webhook: wire.Webhook = self._transport.json(request)
        return webhook

    def rotate_secret(self, id: str, *, overlap: timedelta | None = None) -> wire.MadeWebhook:
        """The new secret is in the answer, and nowhere else. The one before signs beside it for the overlap, a day if
        absent."""
        request = Request("POST", at("webhooks", id, "rotate-secret"), body=field("overlap", overlap))
        rotated: wire.MadeWebhook = self._transport.json(request)
        return rotated

    def deliveries(
        self,
        id: str,
        *,
        status: Literal["PENDING", "DELIVERED", "FAILED"] | None = None,
        limit: int | None = None,
    ) -> Pages[wire.Delivery]:
        """What it was told, the newest first."""
        return Pages(self._transport, at("webhooks", id, "deliveries"), given(status=status, limit=limit))

    def find_delivery(self, id: str, delivery_id: str) -> wire.WholeDelivery:
        """One delivery, with what is sent."""
        request = Request("GET", at("webhooks", id, "deliveries", delivery_id))
        delivery: wire.WholeDelivery = self._transport.json(request)
        return delivery

    def replay(self, id: str, delivery_id: str) -> wire.Replayed:
        """Sends a delivery again, with the same id."""
        request = Request("POST", at("webhooks", id, "deliveries", delivery_id, "replay"))
        replayed: wire.Replayed = self._transport.json(request)
        return replayed

    def replay_failed(self, id: str) -> wire.Replayed:
        """Sends every failed delivery again."""
        replayed: wire.Replayed = self._transport.json(Request("POST", at("webhooks", id, "replay")))
        return replayed


class Tasks(Resource):
    """Work, as a worker takes and reports it. The ``Worker`` does all of this by itself."""

    def poll(self, poll: wire.PollTasks) -> wire.PolledTasks:
        polled: wire.PolledTasks = self._transport.json(Request("POST", at("tasks", "poll"), body=poll))
        return polled

    def journals(self, *, handler: str | None = None, workflow: str | None = None) -> Pages[wire.TaskJournal]:
        """What handlers of open runs have recorded: what a worker would be given if their waits ended now."""
        return Pages(self._transport, at("tasks", "journals"), given(handler=handler, workflow=workflow))

    def report(self, reports: list[wire.TaskReport]) -> wire.ReportedTasks:
        request = Request("POST", at("tasks", "report"), body={"reports": reports}, repeatable=True)
        reported: wire.ReportedTasks = self._transport.json(request)
        return reported

    def complete(
        self, id: str, lease_token: str, output: object = None, state_updates: Mapping[str, object] | None = None
    ) -> wire.Reported:
        return self._report(id, "complete", lease_token, {"output": output, **given(stateUpdates=state_updates)})

    def fail(
        self,
        id: str,
        lease_token: str,
        message: str,
        *,
        code: str | None = None,
        retryable: bool | None = None,
        retry_after: Duration | None = None,
    ) -> wire.Reported:
        body = {"message": message, **given(code=code, retryable=retryable), **field("retryAfter", retry_after)}
        return self._report(id, "fail", lease_token, body)

    def pause(
        self, id: str, lease_token: str, name: str, duration: Duration, checkpoint: object = None
    ) -> wire.Reported:
        body = {"name": name, **field("duration", duration), **given(checkpoint=checkpoint)}
        return self._report(id, "pause", lease_token, body)

    def suspend(
        self,
        id: str,
        lease_token: str,
        waits: list[wire.TaskWait],
        *,
        wake: Literal["all", "any", "each"] = "all",
        entries: list[wire.NewJournalEntry] | None = None,
    ) -> wire.Reported:
        body = {"waits": waits, "wake": wake, "entries": entries or []}
        return self._report(id, "suspend", lease_token, body)

    def heartbeat(
        self, id: str, lease_token: str, entries: list[wire.NewJournalEntry] | None = None
    ) -> wire.Reported:
        return self._report(id, "heartbeat", lease_token, {"entries": entries or []})

    def log(self, id: str, lease_token: str, lines: list[wire.LogLine]) -> wire.Reported:
        return self._report(id, "log", lease_token, {"lines": lines})

    def checkpoint(self, id: str, lease_token: str, checkpoint: object) -> wire.Reported:
        return self._report(id, "checkpoint", lease_token, {"checkpoint": checkpoint})

    def release(self, id: str, lease_token: str) -> wire.Reported:
        return self._report(id, "release", lease_token, {})

    def _report(self, id: str, verb: str, lease_token: str, body: Mapping[str, object]) -> wire.Reported:
        request = Request("POST", at("tasks", id, verb), body={"leaseToken": lease_token, **body})
        reported: wire.Reported = self._transport.json(request)
        return reported


class Admin(Resource):
    def keys(self) -> wire.KeyList:
        keys: wire.KeyList = self._transport.json(Request("GET", at("keys")))
        return keys

    def create_key(self, key: wire.NewKey) -> wire.MadeKey:
        """The secret is in the answer, and nowhere else."""
        made: wire.MadeKey = self._transport.json(Request("POST", at("keys"), body=key))
        return made

    def revoke_key(self, id: str) -> None:
        self._transport.json(Request("DELETE", at("keys", id), repeatable=True))

    def rotate_link_secret(self) -> None:
        """New links are signed with a new secret; the old ones stay valid."""
        self._transport.json(Request("POST", at("link-secrets")))

    def link_secrets(self) -> wire.LinkSecretList:
        """The secrets that links are signed with, without what they are."""
        secrets: wire.LinkSecretList = self._transport.json(Request("GET", at("link-secrets")))
        return secrets

    def retire_link_secret(self, id: str) -> None:
        """Every link and lease token that was signed with it is refused from then on."""
        self._transport.json(Request("DELETE", at("link-secrets", id), repeatable=True))

    def revoke_links(self) -> None:
        """Makes every link of the workspace void."""
        self._transport.json(Request("DELETE", at("links"), repeatable=True))

    def signing_key(self) -> wire.SigningKey:
        """What calls of the workspace are signed with."""
        key: wire.SigningKey = self._transport.json(Request("GET", at("signing-key")))
        return key

    def audit(self, *, cursor: str | None = None, limit: int | None = None) -> wire.AuditEntryList:
        """Control actions, the last one first: a page of them."""
        query = given(cursor=cursor, limit=limit)
        entries: wire.AuditEntryList = self._transport.json(Request("GET", at("audit"), query))
        return entries

    def held(self, *, cursor: str | None = None, limit: int | None = None) -> wire.HeldItemList:
        """Runs and schedules that are held, and why: a page of them."""
        query = given(cursor=cursor, limit=limit)
        held: wire.HeldItemList = self._transport.json(Request("GET", at("held"), query))
        return held

    def hold(self, id: str, reason: str | None = None) -> wire.HeldItem:
        """Holds a run or a schedule: nothing of it goes on until it is released."""
        body = {"id": id, **given(reason=reason)}
        held: wire.HeldItem = self._transport.json(Request("POST", at("held"), body=body))
        return held

    def release(self, id: str) -> None:
        """Lets what is held go on."""
        self._transport.json(Request("DELETE", at("held", id), repeatable=True))

    def verify_audit(self) -> wire.AuditVerified:
        """Whether the audit log is as it was written."""
        verified: wire.AuditVerified = self._transport.json(Request("GET", at("audit", "verify")))
        return verified

    def workspaces(self) -> wire.WorkspaceList:
        workspaces: wire.WorkspaceList = self._transport.json(Request("GET", at("workspaces")))
        return workspaces

    def create_workspace(self, name: str) -> wire.Workspace:
        made: wire.Workspace = self._transport.json(Request("POST", at("workspaces"), body={"name": name}))
        return made

    def change_workspace(self, workspace: str, quotas: wire.Quotas) -> wire.Workspace:
        """Changes what a workspace, named or by its id, may have."""
        request = Request("PATCH", at("workspaces", workspace), body={"quotas": quotas}, repeatable=True)
        changed: wire.Workspace = self._transport.json(request)
        return changed

    def workers(self) -> wire.WorkerList:
        """Workers that polled lately."""
        workers: wire.WorkerList = self._transport.json(Request("GET", at("workers")))
        return workers

    def overview(self) -> wire.Overview:
        """How many runs and waits there are, and how it goes."""
        overview: wire.Overview = self._transport.json(Request("GET", at("overview")))
        return overview

    def wake_ups(
        self, *, buckets: int | None = None, start: Instant | None = None, until: Instant | None = None
    ) -> wire.WakeUps:
        """When waits end, counted over time."""
        query = given(buckets=buckets, until=until, **{"from": start})
        wake_ups: wire.WakeUps = self._transport.json(Request("GET", at("wake-ups"), query))
        return wake_ups

    def costs(
        self,
        *,
        definition: str | None = None,
        model: str | None = None,
        start: Instant | None = None,
        until: Instant | None = None,
    ) -> wire.CostSummary:
        """What calls to models cost, by day, workflow and model."""
        query = given(definition=definition, model=model, until=until, **{"from": start})
        costs: wire.CostSummary = self._transport.json(Request("GET", at("cost", "summary"), query))
        return costs

    def health(self) -> wire.Health:
        health: wire.Health = self._transport.json(Request("GET", "/health"))
        return health

    def ready(self) -> wire.Health:
        ready: wire.Health = self._transport.json(Request("GET", "/ready"))
        return ready

    def backup(self) -> Iterator[bytes]:
        """A copy of the whole store, as of one instant: a file like any other store, in parts."""
        for part in self._transport.parts(Request("GET", at("backup"), accept="application/vnd.sqlite3")):
            yield part

    def metrics(self) -> str:
        return self._transport.text(Request("GET", "/metrics", accept="text/plain"))


class TestClock(Resource):
    """The clock of a server that was started with ``--test-clock``."""

    __test__ = False

    def find(self) -> wire.TestClock:
        clock: wire.TestClock = self._transport.json(Request("GET", at("test", "clock")))
        return clock

    def move(self, *, to: Instant | None = None, advance: Duration | None = None) -> wire.TestClock:
        """Lets time pass: at most to an instant, or by a time; to the next timer if that is due before."""
        body = {**given(to=None if to is None else instant(to)), **field("advance", advance)}
        clock: wire.TestClock = self._transport.json(Request("POST", at("test", "clock"), body=body))
        return clock


def is_last(event: ServerEvent) -> bool:
    return event.event in LAST_RECORDS
