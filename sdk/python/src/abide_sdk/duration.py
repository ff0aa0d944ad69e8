"""Lengths of time and instants, as users write them and as the API takes them."""

from __future__ import annotations

import random
import re
from datetime import datetime, timedelta, timezone
from typing import Any, TypeAlias

Duration: TypeAlias = timedelta | str
"""A ``timedelta``, or text such as ``30s``, ``2d 4h`` or ``PT30M``."""
Instant: TypeAlias = datetime | str
"""A ``datetime`` with a zone, or text in RFC 3339."""


def field(name: str, value: Duration | None) -> dict[str, Any]:
    """``durationMs`` or ``duration``, whichever fits what was given. A time that is past, such as ``due - now``, is over
    at once."""
    if value is None:
        return {}
    if isinstance(value, timedelta):
        return {f"{name}Ms": max(0, value // timedelta(milliseconds=1))}
    return {name: value}


UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0, "w": 604_800.0}
PART = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|m|h|d|w)")
ISO = re.compile(r"P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?")


def seconds(value: Duration) -> float:
    """How long that is, for what is timed here and not by the server."""
    if isinstance(value, timedelta):
        return value.total_seconds()
    iso = ISO.fullmatch(value.strip())
    if iso and any(iso.groups()):
        days, hours, minutes, rest = (float(part or 0) for part in iso.groups())
        return ((days * 24 + hours) * 60 + minutes) * 60 + rest
    parts = PART.findall(value)
    if not parts or PART.sub("", value).strip():
        raise ValueError(f"`{value}` is not a duration; it would look like `30s` or `2d 4h`")
    return sum(float(count) * UNITS[unit] for count, unit in parts)


def instant(at: Instant) -> str:
    if isinstance(at, str):
        return at
    if at.tzinfo is None:
        raise ValueError(f"{at} has no zone; say which instant is meant, for instance with timezone.utc")
    return at.astimezone(timezone.utc).isoformat().replace("+00:00", "Z")


def backoff(attempt: int, first: float, most: float) -> float:
    """How many seconds to wait before another try: doubling, at most ``most``, with full jitter."""
    return random.random() * min(most, first * 2.0 ** min(attempt, 32))
