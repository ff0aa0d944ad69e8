"""What a durable wait asks for, in words. It is stored with the wait, and a recorded wait answers only code that asks the
same: an ended sleep is never read as an approval, nor one event as another. How long a wait may take is no part of it: a
sleep that was made longer, or computed from the clock, is still that sleep."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from . import wire
from .plain import as_json

CHARS = 200
"""The server takes so many characters."""

KINDS = {
    "sleep": "DELAY",
    "until": "DELAY",
    "event": "EVENT",
    "signal": "SIGNAL",
    "webhook": "WEBHOOK",
    "approval": "APPROVAL",
    "child": "CHILD",
    # The engine makes it in a run of its own.
    "http": "CHILD",
    "pause": "PAUSE",
    "retry": "RETRY",
    "capacity": "CAPACITY",
}

IN_WORDS = {
    "DELAY": "a sleep",
    "EVENT": "an event",
    "SIGNAL": "a signal",
    "WEBHOOK": "a call",
    "APPROVAL": "an approval",
    "CHILD": "a run",
    "PAUSE": "a pause",
    "RETRY": "a back-off",
    "CAPACITY": "room",
}


def asked_of(spec: dict[str, Any]) -> str:
    words = _in_words(spec)
    return words if len(words) <= CHARS else f"{words[:CHARS - 20]}… {_digest(words)}"


def _in_words(spec: dict[str, Any]) -> str:
    kind = spec["type"]
    if kind == "event":
        fields = _text(spec["where"]) if spec.get("where") is not None else None
        where = " and ".join(part for part in (spec.get("match"), fields) if part is not None)
        return f"event {spec['eventId']} where {where}" if where else f"event {spec['eventId']}"
    if kind == "child":
        version = f" {spec['version']}" if spec.get("version") is not None else ""
        verb = "start" if spec.get("detached") else "run"
        return f"{verb} of {spec['workflow']}{version} with {_digest(_text(spec.get('input')))}"
    if kind == "http":
        body = f" with {_digest(_text(spec['body']))}" if spec.get("body") is not None else ""
        return f"call of {spec.get('method') or 'GET'} {spec['url']}{body}"
    if kind == "capacity":
        key = spec["limit"].get("key")
        return f"room under {spec['limit']['name']}" + ("" if key is None else f" {key}")
    if kind == "signal":
        return f"signal {spec['signalType']}"
    if kind == "approval":
        by = f" by {', '.join(spec['approvers'])}" if spec.get("approvers") else ""
        quorum = f" with {spec['quorum']} votes" if (spec.get("quorum") or 1) > 1 else ""
        return f"approval of {_digest(_text(spec.get('content')))}{by}{quorum}"
    return IN_WORDS[KINDS[kind]]


def mismatch(name: str, recorded: wire.JournalWait, spec: dict[str, Any]) -> tuple[str, str] | None:
    """What was recorded and what the code asks for, in words, where one is no answer to the other."""
    asked, known = asked_of(spec), recorded.get("asked")
    if (recorded["kind"] == KINDS[spec["type"]]) if known is None else known == asked:
        return None
    was = known or IN_WORDS.get(recorded["kind"], recorded["kind"])
    return f"`{name}` as {was}", f"`{name}` as {asked}"


def _text(value: Any) -> str:
    """JSON whose text does not depend on the order in which keys were written."""
    return json.dumps(as_json(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
