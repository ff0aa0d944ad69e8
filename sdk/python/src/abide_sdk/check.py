"""What is wrong with the structure of a workflow, told when it is built: names, targets, order, bounds.

The server checks all of this and more (expressions, templates, schemas). ``sdk/conformance/checks.json`` holds both to the
same answers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .plain import is_list, is_object

END = "end"
RESERVED = frozenset({"input", "state", "steps", "run", "event", "item", "index", "secret"})
STEPS = 1000
STEP_NAME = 100
GROUPS = ("wait_any", "wait_all", "wait_some")
GROUP_WAITS = 100
TIMES = ("durationMs", "duration", "untilTimestamp", "cron")
#: Lengths of time by field, with the least that makes sense.
LEAST_MS = {"durationMs": 0, "timeoutMs": 1, "heartbeatMs": 1, "lookbackMs": 0}
RETRY = {"maxAttempts": (1, 20), "backoffMs": (100, None), "maxBackoffMs": (100, None), "backoffMultiplier": (1, 10)}


@dataclass(frozen=True)
class WorkflowProblem:
    """One thing that is wrong, and where: ``pointer`` is a JSON pointer into the document, ``code`` the server's word for it."""

    pointer: str
    code: str
    message: str

    def __str__(self) -> str:
        return f"{self.pointer or '/'}: {self.message} [{self.code}]"


class InvalidWorkflow(ValueError):
    """A workflow that the server would refuse. ``problems`` has all that is wrong."""

    def __init__(self, name: str, problems: list[WorkflowProblem]) -> None:
        self.problems = problems
        super().__init__(f"the workflow `{name}` is not valid:\n" + "\n".join(f"  {problem}" for problem in problems))


def problems(document: dict[str, Any]) -> list[WorkflowProblem]:
    """Everything that is wrong with the structure, in the order of the document."""
    found = [WorkflowProblem(*problem) for problem in _Check(document).all()]
    return sorted(set(found), key=lambda problem: problem.pointer)


_Found = Iterator[tuple[str, str, str]]


class _Check:
    def __init__(self, document: dict[str, Any]) -> None:
        self.document = document
        steps = document.get("steps")
        self.steps = [step for step in steps if is_object(step)] if is_list(steps) else []
        self.index: dict[str, int] = {}
        for at, step in enumerate(self.steps):
            self.index.setdefault(step.get("name", ""), at)
        self.is_graph = any(step.get("after") is not None for step in self.steps)
        self.after = [self._resolved(at) for at in range(len(self.steps))]

    def all(self) -> _Found:
        if not self.steps:
            yield "/steps", "OUT_OF_RANGE", "a workflow has at least one step"
        if len(self.steps) > STEPS:
            yield "/steps", "LIMIT_EXCEEDED", f"{len(self.steps)} steps are more than the limit of {STEPS}"
        yield from _retry("/defaultRetry", self.document.get("defaultRetry"))
        yield from _length("", self.document, "timeout")
        for hook in ("onFailure", "onCancel"):
            said = self.document.get(hook)
            if is_object(said):
                yield from _retry(f"/{hook}/retry", said.get("retry"))
                yield from _length(f"/{hook}", said, "timeout")
        for on in ("startOn", "cancelOn", "restartOn"):
            events = self.document.get(on)
            for index, event in enumerate(events if is_list(events) else []):
                if is_object(event) and "{{" in str(event.get("eventId")):
                    message = "there are no templates here: this text is taken as it stands"
                    yield f"/{on}/{index}/eventId", "BAD_TEMPLATE", message
        for at, step in enumerate(self.steps):
            yield from self._name(at, step)
            yield from self._links(at, step)
            yield from _retry(f"/steps/{at}/retry", step.get("retry"))
            for field in ("duration", "timeout", "heartbeat", "lookback"):
                yield from _length(f"/steps/{at}", step, field)
            if step.get("type") in ("wait", "sleep"):
                yield from _times(f"/steps/{at}", step)
            if step.get("type") in GROUPS:
                yield from self._several(at, f"/steps/{at}", step)
        yield from self._cycles()

    def _name(self, at: int, step: dict[str, Any]) -> _Found:
        name, place = step.get("name", ""), f"/steps/{at}/name"
        if name == END:
            yield place, "RESERVED_NAME", "`end` as a target ends the run; a step cannot have this name"
        elif name in RESERVED:
            yield place, "RESERVED_NAME", f"`{name}` has a meaning of its own in expressions"
        elif not 1 <= len(name) <= STEP_NAME:
            yield place, "OUT_OF_RANGE", f"a name has 1 to {STEP_NAME} characters"
        elif name != name.strip() or any(char in "[]" or not char.isprintable() and not char.isspace() for char in name):
            yield place, "OUT_OF_RANGE", "a name has no brackets, no control characters, and no white space around it"
        if self.index[name] != at:
            yield place, "DUPLICATE_NAME", f"the step {self.index[name]} has the name `{name}` too"

    def _links(self, at: int, step: dict[str, Any]) -> _Found:
        seen: set[str] = set()
        for entry, name in enumerate(step.get("after") or []):
            place = f"/steps/{at}/after/{entry}"
            if name not in self.index:
                yield place, "UNKNOWN_STEP", f"there is no step `{name}`"
            elif self.index[name] == at:
                yield place, "CYCLE", f"the step `{name}` cannot be after itself"
            elif name in seen:
                yield place, "DUPLICATE_NAME", f"`{name}` is named twice"
            seen.add(name)
        if step.get("next") is not None and self.is_graph:
            yield f"/steps/{at}/next", "CONTRADICTION", "in a graph, a step does not say what comes next"
        elif step.get("next") is not None:
            yield from self._target(at, f"/steps/{at}/next", step["next"])
        for field in ("trueStep", "falseStep"):
            if step.get(field) is not None:
                yield from self._target(at, f"/steps/{at}/{field}", step[field])
        for field in ("onTimeout", "onReject"):
            if isinstance(step.get(field), dict) and "goto" in step[field]:
                yield from self._target(at, f"/steps/{at}/{field}/goto", step[field]["goto"])

    def _several(self, at: int, place: str, step: dict[str, Any]) -> _Found:
        timeouts = (step.get("timeout"), step.get("timeoutMs"))
        if step.get("onTimeout") is not None and timeouts == (None, None):
            yield f"{place}/onTimeout", "CONTRADICTION", "the time is never over: there is no `timeout`"
        waits, goto = step.get("waits"), step.get("goto")
        for wait, to in goto.items() if is_object(goto) else ():
            there = f"{place}/goto/{_escaped(wait)}"
            if not is_object(waits) or wait not in waits:
                yield there, "UNKNOWN_VALUE", f"there is no wait `{wait}` in this step"
            yield from self._target(at, there, to)
        yield from _waits(place, step, 1)
        if (count := _count(step)) > GROUP_WAITS:
            yield f"{place}/waits", "LIMIT_EXCEEDED", f"{count} waits are more than the limit of {GROUP_WAITS}"

    def _target(self, at: int, place: str, name: str) -> _Found:
        if name == END:
            return
        to = self.index.get(name)
        if to is None:
            yield place, "UNKNOWN_STEP", f"there is no step `{name}`"
        elif self.is_graph and at not in self.after[to]:
            yield place, "BACKWARD_JUMP", f"the target `{name}` must be after this step"
        elif not self.is_graph and to <= at:
            yield place, "BACKWARD_JUMP", f"the step `{name}` is not further down"

    def _resolved(self, at: int) -> list[int]:
        after: list[Any] = self.steps[at].get("after") or []
        named = (self.index.get(name) for name in after)
        return [step for step in dict.fromkeys(named) if step is not None and step != at]

    def _cycles(self) -> _Found:
        stuck = set(range(len(self.steps)))
        while ready := [step for step in stuck if not stuck.intersection(self.after[step])]:
            stuck.difference_update(ready)
        walked: set[int] = set()
        for start in sorted(stuck):
            path: list[int] = []
            step = start
            while step not in walked:
                walked.add(step)
                path.append(step)
                step = next(before for before in self.after[step] if before in stuck)
            if step in path:
                cycle = path[path.index(step) :]
                names = " → ".join(f"`{self.steps[one]['name']}`" for one in reversed(cycle))
                yield f"/steps/{min(cycle)}/after", "CYCLE", f"these steps wait for each other: {names}"


def _escaped(name: str) -> str:
    """A name as a segment of a JSON pointer."""
    return name.replace("~", "~0").replace("/", "~1")


def _count(group: dict[str, Any]) -> int:
    """How many waits there are, those of groups inside too."""
    waits = group.get("waits")
    members = [wait for wait in waits.values() if is_object(wait)] if is_object(waits) else []
    return sum(_count(wait) if wait.get("type") in GROUPS else 1 for wait in members)


def _waits(place: str, group: dict[str, Any], depth: int) -> _Found:
    waits = group.get("waits")
    members = waits if is_object(waits) else {}
    if not members:
        yield f"{place}/waits", "OUT_OF_RANGE", "there is nothing to wait for"
    count = group.get("count")
    if isinstance(count, int) and (count < 1 or members and count > len(members)):
        yield f"{place}/count", "OUT_OF_RANGE", f"{count} of {len(members)} cannot come"
    for name, wait in members.items():
        there = f"{place}/waits/{_escaped(name)}"
        unprintable = any(char == "." or not char.isprintable() and not char.isspace() for char in name)
        if not 1 <= len(name) <= STEP_NAME or name.startswith("$") or name != name.strip() or unprintable:
            yield there, "OUT_OF_RANGE", f"a name has 1 to {STEP_NAME} characters, without a dot"
        if not is_object(wait):
            continue
        for field in ("duration", "lookback"):
            yield from _length(there, wait, field)
        if wait.get("type") in ("wait", "sleep"):
            yield from _times(there, wait)
        if wait.get("type") in GROUPS and depth > 1:
            yield there, "LIMIT_EXCEEDED", "waits inside waits inside waits are one too deep"
        elif wait.get("type") in GROUPS:
            yield from _waits(there, wait, depth + 1)


def _times(place: str, step: dict[str, Any]) -> _Found:
    given = [field for field in TIMES if step.get(field) is not None]
    if len(given) != 1:
        message = f"{' and '.join(given)} exclude each other" if given else "it is not said how long to wait"
        yield place, "CONTRADICTION", message
    if step.get("timezone") is not None and step.get("cron") is None:
        yield f"{place}/timezone", "CONTRADICTION", "`timezone` belongs to `cron`, which is not given"


def _length(place: str, owner: dict[str, Any], field: str) -> _Found:
    in_ms = f"{field}Ms"
    value, least = owner.get(in_ms), LEAST_MS[in_ms]
    if value is None:
        return
    if owner.get(field) is not None and field != "duration":
        yield f"{place}/{field}", "CONTRADICTION", f"`{in_ms}` and `{field}` are both given"
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value != int(value):
        yield f"{place}/{in_ms}", "WRONG_TYPE", f"{value} is not a whole number of milliseconds"
    elif value < least:
        yield f"{place}/{in_ms}", "OUT_OF_RANGE", f"{value} is less than {least}"


def _retry(place: str, retry: Any) -> _Found:
    if not is_object(retry):
        return
    for field, (least, most) in RETRY.items():
        value = retry.get(field)
        if isinstance(value, (int, float)) and (value < least or most is not None and value > most):
            bounds = f"at least {least}" if most is None else f"from {least} to {most}"
            yield f"{place}/{field}", "OUT_OF_RANGE", f"{value} is not {bounds}"
    first, longest = retry.get("backoffMs"), retry.get("maxBackoffMs")
    if isinstance(first, (int, float)) and isinstance(longest, (int, float)) and longest < first:
        yield f"{place}/maxBackoffMs", "CONTRADICTION", f"`maxBackoffMs` is less than `backoffMs`, which is {first}"
