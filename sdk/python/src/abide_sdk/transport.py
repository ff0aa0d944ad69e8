"""One door to the server: URLs, keys, retries. What may safely be repeated is repeated; what may not, is not."""

from __future__ import annotations

import asyncio
import json
import os
import uuid
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from urllib.parse import urlencode, urlsplit

from .duration import backoff, instant
from .http1 import Broken, Pool, Response
from .plain import is_list, is_some, write
from .problem import Busy, Problem, Unreachable

DEFAULT_URL = "http://127.0.0.1:22433"
FIRST_BACKOFF = 0.1
LONGEST_BACKOFF = 5.0
STREAM_TRIES = 20
"""How often in a row a stream is opened in vain."""

Traceparent = Callable[[], str | None]


@dataclass(frozen=True, slots=True)
class Request:
    method: str
    path: str
    query: dict[str, Any] = field(default_factory=dict[str, Any])
    body: Any = None
    text: bytes | None = None
    """Already written JSON."""
    key: str | None = None
    """Sent as ``Idempotency-Key``. With it, a request may be repeated."""
    repeatable: bool = False
    """Twice is the same as once, by what it is."""
    accept: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class ServerEvent:
    id: str | None
    event: str
    data: str


def fresh_key() -> str:
    return str(uuid.uuid4())


class Transport:
    def __init__(
        self,
        url: str | None = None,
        api_key: str | None = None,
        retries: int = 4,
        traceparent: Traceparent | None = None,
    ) -> None:
        self.server = (url or os.environ.get("ABIDE_SERVER") or DEFAULT_URL).rstrip("/")
        self._api_key = api_key or os.environ.get("ABIDE_API_KEY")
        self._retries = retries
        self._traceparent = traceparent
        self._pool = Pool(self.server)

    def traced_by(self, traceparent: Traceparent) -> Transport:
        """The same door, for requests that belong to a trace."""
        traced = Transport(self.server, self._api_key, self._retries, traceparent)
        traced._pool = self._pool
        return traced

    def apart(self) -> Transport:
        """The same, with connections of its own: those of a transport belong to one event loop."""
        return Transport(self.server, self._api_key, self._retries, self._traceparent)

    async def json(self, request: Request) -> Any:
        _, body = await self._complete(request)
        return json.loads(body) if body else None

    async def text(self, request: Request) -> str:
        _, body = await self._complete(request)
        return body.decode()

    async def parts(self, request: Request) -> AsyncIterator[bytes]:
        """A body that may be too large to hold."""
        response = await self._send(request)
        try:
            async for part in response.parts():
                yield part
        finally:
            response.close()

    async def close(self) -> None:
        await self._pool.close()

    async def events(
        self, request: Request, is_last: Callable[[ServerEvent], bool], last_id: str | None = None
    ) -> AsyncIterator[ServerEvent]:
        """Follows a stream for as long as the server has something to say. A connection that breaks is opened again,
        with the id of the last event, so that nothing is missed and nothing comes twice."""
        failures = 0
        while True:
            headers = {} if last_id is None else {"last-event-id": last_id}
            asked = replace(request, accept="text/event-stream", headers=headers)
            try:
                response = await self._send(asked)
                if response.status == 204:
                    await response.body()
                    return
                try:
                    async for event in parse(response):
                        failures = 0
                        last_id = event.id if event.id is not None else last_id
                        yield event
                        if is_last(event):
                            return
                finally:
                    response.close()
            except (Unreachable, Busy, OSError):
                if failures >= STREAM_TRIES:
                    raise
            failures += 1
            await asyncio.sleep(backoff(failures, 0.05, LONGEST_BACKOFF))

    async def _complete(self, request: Request) -> tuple[Response, bytes]:
        attempt = 0
        repeatable = request.method == "GET" or request.key is not None or request.repeatable
        while True:
            try:
                response = await self._send(request)
                return response, await response.body()
            except (Problem, Unreachable, OSError) as caught:
                error = Unreachable(self.server, caught) if isinstance(caught, OSError) else caught
            # Busy means that nothing was changed.
            if not (isinstance(error, Busy) or (repeatable and is_passing(error))) or attempt >= self._retries:
                raise error
            asked = error.retry_after or 0.0 if isinstance(error, Problem) else 0.0
            await asyncio.sleep(max(asked, backoff(attempt, FIRST_BACKOFF, LONGEST_BACKOFF)))
            attempt += 1

    async def _send(self, request: Request) -> Response:
        """The answer, if it is a yes; a ``Problem`` otherwise."""
        body = request.text
        if body is None:
            body = b"" if request.body is None else write(request.body)
        try:
            response = await self._pool.request(request.method, self._target(request), self._headers(request), body)
        except (OSError, TimeoutError) as error:
            raise Unreachable(self.server, error) from error
        if response.status >= 400:
            raise problem_of(response, await response.body())
        return response

    def _target(self, request: Request) -> str:
        path = request.path
        if path.startswith("http"):
            # A resume URL: it leads to this server, whatever it is called from outside.
            parts = urlsplit(path)
            path = parts.path.removeprefix(self._pool.base) + (f"?{parts.query}" if parts.query else "")
        pairs = [(name, written(value)) for name, value in request.query.items() if value is not None]
        return path if not pairs else f"{path}{'&' if '?' in path else '?'}{urlencode(pairs)}"

    def _headers(self, request: Request) -> dict[str, str]:
        headers = {"accept": request.accept, **request.headers}
        if request.body is not None or request.text is not None:
            headers["content-type"] = "application/json"
        if self._api_key:
            headers["authorization"] = f"Bearer {self._api_key}"
        if request.key is not None:
            headers["idempotency-key"] = request.key
        traceparent = self._traceparent() if self._traceparent else None
        if traceparent:
            headers["traceparent"] = traceparent
        return headers


def written(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return instant(value)
    return ",".join(map(str, value)) if is_list(value) or is_some(value) else str(value)


def is_passing(error: Problem | Unreachable) -> bool:
    """Whether it may be better in a while, even though it is not known whether anything was done."""
    return isinstance(error, Unreachable) or error.status in (502, 504)


def problem_of(response: Response, body: bytes) -> Problem:
    seconds = response.headers.get("retry-after", "")
    retry_after = float(seconds) if seconds.isdecimal() else None
    try:
        problem = json.loads(body)
        if isinstance(problem, dict) and "code" in problem:
            return Problem.of(problem, retry_after)
    except ValueError:
        pass
    # Not one of ours: something between us and the server said it.
    status, detail = response.status, body[:500].decode(errors="replace")
    made = {"type": "about:blank", "title": "", "status": status, "code": f"HTTP_{status}", "detail": detail}
    return Problem.of(made, retry_after)


async def parse(response: Response) -> AsyncIterator[ServerEvent]:
    """The events of one connection."""
    rest = b""
    async for part in response.parts():
        *blocks, rest = (rest + part).split(b"\n\n")
        for block in blocks:
            event = event_of(block.decode())
            if event:
                yield event


def event_of(block: str) -> ServerEvent | None:
    fields: dict[str, list[str]] = {}
    for line in block.split("\n"):
        name, colon, value = line.partition(":")
        if name and colon:
            fields.setdefault(name, []).append(value.removeprefix(" "))
    if "data" not in fields:
        return None
    return ServerEvent(fields.get("id", [None])[-1], fields.get("event", ["message"])[-1], "\n".join(fields["data"]))


__all__ = ["Broken", "Request", "ServerEvent", "Transport", "fresh_key"]
