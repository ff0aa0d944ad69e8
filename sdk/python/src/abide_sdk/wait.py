"""Something that a handler waits for. Awaiting it is what makes the handler wait; until then it is only begun."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from .failure import WaitCancelled

if TYPE_CHECKING:
    from .execution import Execution

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Pending(Generic[T_co]):
    """What ``any`` and ``all`` take: a wait, or a branch."""

    name: str

    async def until_over(self) -> T_co:
        """What it comes to, when it does."""
        raise NotImplementedError


class Wait(Pending[T_co]):
    def __init__(
        self,
        execution: Execution,
        name: str,
        spec: dict[str, Any],
        read: Callable[[Any], T_co],
        timed_out: Callable[[], T_co],
    ) -> None:
        self._execution = execution
        self.name = name
        self.spec = spec
        """What is reported to the server, but for the name."""
        self._read = read
        self._timed_out = timed_out
        entry = execution.ask(name, "back_off" if spec["type"] in ("retry", "capacity") else "wait", spec)
        known = entry.get("wait") if entry else None
        self.status: str | None = known["status"] if known else None
        """As the server knows it; nothing if it does not yet."""
        self._payload: Any = known["payload"] if known else None
        execution.begin(self)

    @property
    def has_ended(self) -> bool:
        return self.status is not None and self.status != "PENDING"

    @property
    def has_happened(self) -> bool:
        """It came, or its time was over."""
        return self.has_ended and self.status != "CANCELLED"

    def value(self) -> T_co:
        """What it came to."""
        if self.status == "CANCELLED":
            raise WaitCancelled(self.name)
        return self._timed_out() if self.status == "TIMED_OUT" else self._read(self._payload)

    async def until_over(self) -> T_co:
        return await self

    def __await__(self) -> Generator[Any, None, T_co]:
        yield from self._execution.until([self], "all").__await__()
        return self.value()
