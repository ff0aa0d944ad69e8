"""Values of Python as JSON: pydantic models, dataclasses, instants and the like."""

from __future__ import annotations

import dataclasses
import inspect
import json
import typing
from collections.abc import Callable
from datetime import date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from pathlib import PurePath
from typing import Any
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
    if isinstance(value, (set, frozenset, tuple)):
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


Reader = Callable[[Any], Any]


def reader_of(function: Callable[..., Any]) -> Reader | None:
    """How the input of a handler is read, by the type it is declared with: a pydantic model or a dataclass."""
    parameters = list(inspect.signature(function).parameters.values())
    if len(parameters) < 2:
        return None
    declared = parameters[1].annotation
    if isinstance(declared, str):
        try:
            declared = eval(declared, getattr(function, "__globals__", {}))
        except NameError:
            # A type that is only known to a type checker reads nothing.
            return None
    if not isinstance(declared, type):
        return None
    if hasattr(declared, "model_validate"):
        return typing.cast(Reader, declared.model_validate)
    if dataclasses.is_dataclass(declared):
        return lambda value: declared(**value)
    return None
