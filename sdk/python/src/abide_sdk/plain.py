"""Values of Python as JSON: pydantic models, dataclasses, instants and the like."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable
from datetime import date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from pathlib import PurePath
from typing import Any, TypeGuard
from uuid import UUID


def plain(value: Any) -> Any:
    """For what ``json`` cannot write by itself."""
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    if isinstance(value, (datetime, date)):
        return value.isoformat()
    if isinstance(value, (Decimal, UUID, PurePath)):
        return str(value)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, timedelta):
        return value.total_seconds()
    if is_some(value):
        return list(value)
    raise TypeError(f"{type(value).__name__} is not JSON")


def write(value: Any) -> bytes:
    """JSON as it goes over the wire."""
    return json.dumps(value, default=plain, allow_nan=False, ensure_ascii=False, separators=(",", ":")).encode()


def as_json(value: Any) -> Any:
    """A value as it will be after a replay."""
    if value is None or value is True or value is False or type(value) in (str, int):
        return value
    return json.loads(write(value))


def is_plain(value: Any) -> bool:
    """It is the same after it was written and read."""
    if value is None or type(value) in (str, int, float, bool):
        return True
    if is_list(value) and type(value) is list:
        return all(is_plain(item) for item in value)
    if is_object(value) and type(value) is dict:
        return all(type(key) is str and is_plain(item) for key, item in value.items())
    return False


def is_list(value: object) -> TypeGuard[list[Any]]:
    return isinstance(value, list)


def is_object(value: object) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict)


def is_some(value: object) -> TypeGuard[Iterable[Any]]:
    return isinstance(value, (set, frozenset, tuple))
