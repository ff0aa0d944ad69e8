"""The transport for code without asyncio: one event loop in a thread of its own does the work."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from typing import Any, TypeVar

from . import transport
from .transport import Request, ServerEvent, Traceparent

T = TypeVar("T")


class LoopThread:
    """An event loop that lives as long as the process."""

    _lock = threading.Lock()
    _loop: asyncio.AbstractEventLoop | None = None

    @classmethod
    def loop(cls) -> asyncio.AbstractEventLoop:
        with cls._lock:
            if cls._loop is None:
                cls._loop = asyncio.new_event_loop()
                threading.Thread(target=cls._loop.run_forever, name="abide", daemon=True).start()
            return cls._loop


def wait_for(work: Coroutine[Any, Any, T]) -> T:
    doing = asyncio.run_coroutine_threadsafe(work, LoopThread.loop())
    try:
        return doing.result()
    except BaseException:
        doing.cancel()
        raise


class Transport:
    def __init__(
        self,
        url: str | None = None,
        api_key: str | None = None,
        retries: int = 4,
        traceparent: Traceparent | None = None,
        own: transport.Transport | None = None,
    ) -> None:
        self._own = own or transport.Transport(url, api_key, retries, traceparent)
        self.server = self._own.server

    def traced_by(self, traceparent: Traceparent) -> Transport:
        """The same door, for requests that belong to a trace."""
        return Transport(own=self._own.traced_by(traceparent))

    def json(self, request: Request) -> Any:
        return wait_for(self._own.json(request))

    def text(self, request: Request) -> str:
        return wait_for(self._own.text(request))

    def events(
        self, request: Request, is_last: Callable[[ServerEvent], bool], last_id: str | None = None
    ) -> Iterator[ServerEvent]:
        return one_by_one(self._own.events(request, is_last, last_id))

    def parts(self, request: Request) -> Iterator[bytes]:
        return one_by_one(self._own.parts(request))

    def close(self) -> None:
        wait_for(self._own.close())


def one_by_one(items: AsyncIterator[T]) -> Iterator[T]:
    async def following() -> T | None:
        return await anext(items, None)

    while (item := wait_for(following())) is not None:
        yield item
