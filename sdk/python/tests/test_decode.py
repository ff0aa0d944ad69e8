"""JSON as the types that the code declares."""

from __future__ import annotations

import dataclasses
import functools
import unittest
from collections.abc import Awaitable, Callable, Sequence
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Any, Literal, NamedTuple, NewType, NotRequired, Protocol, TypedDict
from uuid import UUID

import pydantic

from abide_sdk.decode import Undecodable, Unsupported, decoder_of, decoder_of_input, decoder_of_result
from abide_sdk.plain import as_json, is_plain

Cents = NewType("Cents", int)


class Colour(Enum):
    RED = "red"


class Place(NamedTuple):
    x: int
    y: float


class Note(TypedDict):
    text: str
    by: NotRequired[str]


class Model(pydantic.BaseModel):
    grams: int


@dataclasses.dataclass(frozen=True)
class Line:
    sku: str
    cents: Cents = Cents(0)


@dataclasses.dataclass(frozen=True)
class Order:
    id: UUID
    at: datetime
    day: date
    lines: tuple[Line, ...]
    place: Place
    colour: Colour
    price: Decimal
    took: timedelta
    file: Path
    notes: list[Note]
    model: Model
    parent: Order | None = None
    kind: Literal["new", "old"] = "new"
    counts: dict[int, int] = dataclasses.field(default_factory=lambda: {})


ORDER = Order(
    UUID(int=7),
    datetime(2026, 1, 2, 3, 4, 5, 600, timezone.utc),
    date(2026, 1, 2),
    (Line("tea", Cents(5)),),
    Place(1, 2.0),
    Colour.RED,
    Decimal("1.20"),
    timedelta(seconds=1.5),
    Path("a/b"),
    [{"text": "hello"}],
    Model(grams=5),
    None,
    "old",
    {1: 2},
)


def read(declared: Any, value: Any) -> Any:
    decode = decoder_of(declared)
    return decode(value) if decode else value


class Decoding(unittest.TestCase):
    def test_what_was_written_is_read_back(self) -> None:
        nested = dataclasses.replace(ORDER, parent=ORDER)
        values: list[tuple[Any, Any]] = [
            (Order, nested),
            (list[Order], [ORDER]),
            (Order | None, None),
            (dict[str, list[Line]], {"a": [Line("tea")]}),
            (tuple[int, Line], (1, Line("tea"))),
            (set[int], {1, 2}),
            (Sequence[Line], [Line("tea")]),
            (int | str, "seven"),
            (float, 1.0),
            (Model, Model(grams=1)),
            (None, None),
            (Any, {"a": [1]}),
        ]
        for declared, value in values:
            with self.subTest(declared):
                self.assertEqual(read(declared, as_json(value)), value)

    def test_what_does_not_fit_is_refused_with_its_place(self) -> None:
        cases: list[tuple[Any, Any, str]] = [
            (int, "7", "there is a text, where `int` is declared"),
            (int, True, "there is a bool, where `int` is declared"),
            (list[Line], [{"sku": "tea"}, {"sku": 7}], "at /1/sku: there is an int, where `str` is declared"),
            (Line, {"cents": 1}, "missing 1 required positional argument: 'sku'"),
            (Note, {"by": "ana"}, "`text` of `Note` is missing"),
            (Line, [], "there is a list, where `Line` is declared"),
            (datetime, "yesterday", "`yesterday` is no `datetime`"),
            (Literal["a", "b"], "c", "'c' is none of 'a', 'b'"),
            (tuple[int, int], [1], "there are 1 values, where 2 are declared"),
            (Model, {"grams": "many"}, "is no `Model`"),
            (Line | None, {"sku": 1}, "at /sku: there is an int"),
            (int | str, [], "there is a list, where `int | str` is declared"),
        ]
        for declared, value, words in cases:
            with self.subTest(words), self.assertRaises(Undecodable) as caught:
                read(declared, value)
            self.assertIn(words, str(caught.exception))

    def test_fields_that_a_type_does_not_name_are_left_out(self) -> None:
        self.assertEqual(read(Line, {"sku": "tea", "new": 1}), Line("tea"))
        self.assertEqual(read(Note, {"text": "a", "new": 1}), {"text": "a"})

    def test_a_type_that_is_none_of_jsons_is_refused_when_it_is_asked_for(self) -> None:
        with self.assertRaisesRegex(Unsupported, "JSON cannot be read as `Decoding`"):
            decoder_of(Decoding)

    def test_a_function_says_by_its_return_type_what_it_gives(self) -> None:
        class Local(NamedTuple):
            n: int

        class Shop(Protocol):
            def order(self) -> Order: ...

        class Desk:
            def line(self, n: int) -> Line:
                return Line(str(n))

        def later() -> Awaitable[Line]:
            raise NotImplementedError

        async def soon() -> Line:
            return Line("")

        def local() -> Local:
            return Local(1)

        def unknown() -> Shop:
            raise NotImplementedError

        works: list[Callable[..., Any]] = [Desk().line, functools.partial(Desk().line, 7), later, soon]
        for work in works:
            decode = decoder_of_result(work)
            assert decode
            self.assertEqual(decode({"sku": "tea"}), Line("tea"))
        decode = decoder_of_result(local)
        assert decode
        self.assertEqual(decode([1]), Local(1))
        self.assertIsNone(decoder_of_result(unknown))
        self.assertIsNone(decoder_of_result(lambda: Line("")))

    def test_a_handler_says_by_its_second_argument_what_it_takes(self) -> None:
        def handler(ctx: Missing, lines: list[Line]) -> None:  # type: ignore[name-defined]  # noqa: F821
            raise NotImplementedError

        decode = decoder_of_input(handler)
        assert decode
        self.assertEqual(decode([{"sku": "tea"}]), [Line("tea")])

    def test_plain_is_what_comes_back_as_it_was(self) -> None:
        for value in (None, 1, 1.5, "a", True, [1, {"a": None}]):
            self.assertTrue(is_plain(value))
        others: list[Any] = [(1,), {1: 2}, Line(""), [Line("")], {"a": {1}}, Colour.RED]
        for other in others:
            self.assertFalse(is_plain(other))


if __name__ == "__main__":
    unittest.main()
