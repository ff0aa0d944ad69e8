"""JSON as values of the types that the code declares: what a journal, an event or a run gives is JSON, and is read into
dataclasses, typed dicts, pydantic models, instants and lists of them. Fields that a type does not name are left out."""

from __future__ import annotations

import collections.abc
import dataclasses
import functools
import inspect
import types
import typing
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from pathlib import PurePath
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeGuard, Union
from uuid import UUID

from .plain import is_list, is_object
from .wire import Json


if TYPE_CHECKING:
    from typing_extensions import TypeVar

    Returned = TypeVar("Returned", default=Json)
else:
    from typing import TypeVar

    Returned = TypeVar("Returned")

Read = Callable[[Any, str], Any]
"""Reads a value, at a place that a failure names."""
Decoder = Callable[[Any], Any]


class Undecodable(ValueError):
    """A value is not of the type that was declared."""


class Unsupported(TypeError):
    """A type that JSON cannot be read as."""

    def __init__(self, declared: Any) -> None:
        super().__init__(f"JSON cannot be read as `{shown(declared)}`")


def decoder_of(declared: Any) -> Decoder | None:
    """Reads JSON as a type; nothing if there is nothing to do. Raises ``Unsupported`` for a type that is none of JSON's."""
    if declared in AS_IT_IS or isinstance(declared, typing.TypeVar):
        return None
    read = reader(declared)
    return lambda value: read(value, "")


def decoder_of_result(work: Callable[..., Any]) -> Decoder | None:
    """By the return type that a function declares, if it does and JSON can be read as it."""
    try:
        return decoder_of(returned_by(work))
    except Unsupported:
        return None


def decoder_of_input(handler: Callable[..., Any]) -> Decoder | None:
    """By the type of a handler's second argument."""
    try:
        parameters = list(inspect.signature(handler).parameters.values())
        return None if len(parameters) < 2 else decoder_of(resolved(parameters[1].annotation, handler))
    except (TypeError, ValueError):
        return None


def returned_by(work: Callable[..., Any]) -> Any:
    while isinstance(work, functools.partial):
        work = work.func
    if not hasattr(work, "__annotations__"):
        work = getattr(type(work), "__call__", work)
    if inspect.isclass(work):
        return work
    declared = resolved(getattr(work, "__annotations__", {}).get("return", inspect.Parameter.empty), work)
    if typing.get_origin(declared) in (collections.abc.Awaitable, collections.abc.Coroutine):
        return typing.get_args(declared)[-1]
    return declared


def resolved(declared: Any, function: Callable[..., Any]) -> Any:
    if not isinstance(declared, str):
        return declared
    function = inspect.unwrap(function)
    function = getattr(function, "__func__", function)
    code = getattr(function, "__code__", None)
    cells: dict[str, Any] = {}
    for name, cell in zip(code.co_freevars if code else (), getattr(function, "__closure__", None) or (), strict=False):
        try:
            cells[name] = cell.cell_contents
        except ValueError:
            continue
    try:
        return eval(declared, getattr(function, "__globals__", {}), cells)
    except (NameError, AttributeError, TypeError):
        # A type that is only known to a type checker reads nothing.
        return inspect.Parameter.empty


def reader(declared: Any) -> Read:
    if declared in AS_IT_IS or isinstance(declared, typing.TypeVar):
        return lambda value, _: value
    if declared in PLAIN:
        return functools.partial(plain, declared)
    if hasattr(declared, "__supertype__"):
        return reader(declared.__supertype__)
    origin, args = typing.get_origin(declared), typing.get_args(declared)
    if origin is None:
        return class_reader(declared)
    if origin in (Annotated, typing.Required, typing.NotRequired):
        return reader(args[0])
    if origin is Literal:
        return functools.partial(literal, args)
    if origin in (Union, types.UnionType):
        return functools.partial(union, declared, args, [reader(arg) for arg in args])
    if origin is tuple and args[-1:] != (Ellipsis,):
        return functools.partial(fixed, [reader(arg) for arg in args])
    if origin in LISTS:
        return functools.partial(items, LISTS[origin], reader(args[0]))
    if origin in (dict, collections.abc.Mapping, collections.abc.MutableMapping):
        return functools.partial(mapping, args[0], reader(args[1]))
    return class_reader(origin)


def class_reader(declared: Any) -> Read:
    if not is_class(declared):
        raise Unsupported(declared)
    if declared in LISTS:
        return functools.partial(items, LISTS[declared], lambda value, _: value)
    if declared in (dict, collections.abc.Mapping):
        return functools.partial(mapping, str, lambda value, _: value)
    if hasattr(declared, "model_validate"):
        return functools.partial(by_class, declared, declared.model_validate)
    if typing.is_typeddict(declared):
        return functools.partial(typed_dict, declared)
    if dataclasses.is_dataclass(declared):
        return functools.partial(data_class, declared)
    if hasattr(declared, "_fields") and is_subclass(declared, tuple):
        return functools.partial(named_tuple, declared)
    if issubclass(declared, Enum):
        return functools.partial(by_class, declared, declared)
    if declared in WRITTEN_AS_TEXT or issubclass(declared, PurePath):
        return functools.partial(from_text, declared, WRITTEN_AS_TEXT.get(declared, declared))
    if declared is timedelta:
        return functools.partial(by_class, declared, lambda value: timedelta(seconds=value))
    raise Unsupported(declared)


def is_subclass(declared: type[Any], of: type[Any]) -> bool:
    return issubclass(declared, of)


def is_class(declared: object) -> TypeGuard[type[Any]]:
    return isinstance(declared, type)


AS_IT_IS = (Any, object, inspect.Parameter.empty)
PLAIN = (None, type(None), bool, int, float, str)
LISTS: dict[Any, Callable[[list[Any]], Any]] = {
    list: list,
    tuple: tuple,
    set: set,
    frozenset: frozenset,
    collections.abc.Sequence: list,
    collections.abc.MutableSequence: list,
    collections.abc.Collection: list,
    collections.abc.Iterable: list,
    collections.abc.Set: frozenset,
}
WRITTEN_AS_TEXT: dict[Any, Callable[[str], Any]] = {
    datetime: datetime.fromisoformat,
    date: date.fromisoformat,
    time: time.fromisoformat,
    Decimal: Decimal,
    UUID: UUID,
}


def plain(declared: Any, value: Any, at: str) -> Any:
    wanted: Any = type(None) if declared is None else declared
    if type(value) is wanted:
        return value
    if wanted is float and type(value) is int:
        return float(value)
    raise wrong(declared, value, at)


def literal(args: tuple[Any, ...], value: Any, at: str) -> Any:
    for arg in args:
        if arg == value and type(arg) is type(value):
            return value
    raise Undecodable(f"{place(at)}{value!r} is none of {', '.join(map(repr, args))}")


def union(declared: Any, args: tuple[Any, ...], readers: list[Read], value: Any, at: str) -> Any:
    if value is None and type(None) in args:
        return None
    if type(value) in args and type(value) in PLAIN:
        return value
    for read in readers:
        try:
            return read(value, at)
        except Undecodable as error:
            # Where only one could be meant, what is wrong with it says more than that none fits.
            if len([arg for arg in args if arg is not type(None)]) == 1:
                raise error
    raise wrong(declared, value, at)


def items(make: Callable[[list[Any]], Any], read: Read, value: Any, at: str) -> Any:
    if not is_list(value):
        raise wrong(list, value, at)
    return make([read(item, f"{at}/{index}") for index, item in enumerate(value)])


def fixed(readers: list[Read], value: Any, at: str) -> Any:
    if not is_list(value):
        raise wrong(tuple, value, at)
    if len(value) != len(readers):
        raise Undecodable(f"{place(at)}there are {len(value)} values, where {len(readers)} are declared")
    return tuple(read(item, f"{at}/{index}") for index, (read, item) in enumerate(zip(readers, value, strict=True)))


def mapping(key: Any, read: Read, value: Any, at: str) -> Any:
    if not is_object(value):
        raise wrong(dict, value, at)
    keys: Callable[[str], Any] = int if key is int else str
    return {keys(name): read(item, f"{at}/{name}") for name, item in value.items()}


def typed_dict(declared: Any, value: Any, at: str) -> Any:
    if not is_object(value):
        raise wrong(declared, value, at)
    readers = fields_of(declared)
    for name in required(declared):
        if name not in value:
            raise Undecodable(f"{place(at)}`{name}` of `{shown(declared)}` is missing")
    return {name: read(value[name], f"{at}/{name}") for name, read in readers.items() if name in value}


def data_class(declared: Any, value: Any, at: str) -> Any:
    if not is_object(value):
        raise wrong(declared, value, at)
    readers = fields_of(declared)
    given = {
        field.name: readers[field.name](value[field.name], f"{at}/{field.name}")
        for field in dataclasses.fields(declared)
        if field.init and field.name in value
    }
    return by_class(declared, lambda _: declared(**given), value, at)


def named_tuple(declared: Any, value: Any, at: str) -> Any:
    return declared(*fixed(list(fields_of(declared).values()), value, at))


@functools.cache
def required(declared: Any) -> list[str]:
    # Where annotations are text, the class itself does not know which of them say `NotRequired`.
    hints = typing.get_type_hints(declared, include_extras=True)
    return [
        name
        for name, hint in hints.items()
        if typing.get_origin(hint) is typing.Required
        or (name in declared.__required_keys__ and typing.get_origin(hint) is not typing.NotRequired)
    ]


@functools.cache
def fields_of(declared: Any) -> dict[str, Read]:
    return {name: reader(hint) for name, hint in typing.get_type_hints(declared, include_extras=True).items()}


def by_class(declared: Any, make: Callable[[Any], Any], value: Any, at: str) -> Any:
    try:
        return make(value)
    except (TypeError, ValueError) as error:
        raise Undecodable(f"{place(at)}{kind_of(value)} is no `{shown(declared)}`: {error}") from error


def from_text(declared: Any, make: Callable[[str], Any], value: Any, at: str) -> Any:
    if not isinstance(value, str):
        raise wrong(declared, value, at)
    try:
        return make(value)
    except (ArithmeticError, ValueError) as error:
        raise Undecodable(f"{place(at)}`{value[:100]}` is no `{shown(declared)}`") from error


def wrong(declared: Any, value: Any, at: str) -> Undecodable:
    return Undecodable(f"{place(at)}there is {kind_of(value)}, where `{shown(declared)}` is declared")


def place(at: str) -> str:
    return f"at {at}: " if at else ""


def kind_of(value: Any) -> str:
    names: dict[Any, str] = {type(None): "null", bool: "a bool", int: "an int", float: "a float", str: "a text"}
    return names.get(type(value), "a list" if isinstance(value, list) else "an object")


def shown(declared: Any) -> str:
    return declared.__qualname__ if isinstance(declared, type) else str(declared)
