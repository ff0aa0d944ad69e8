"""The same durable handlers behind a URL, for places where no worker polls: functions in a cloud, web applications.

    abide serve --handler-url desk=https://… ──▶ POST task, signed ──▶ the handler, its journal and waits as with a worker
                                                 ◀── 200 output, or 202 when the rest was reported

The server is reached by the client, never by what a request says. Results are recorded there on the way, so that the key of
the client needs the scope ``worker``."""

from __future__ import annotations

import asyncio
import json
import logging
import os
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, TypeAlias, cast
from weakref import WeakKeyDictionary

from . import wire
from .blocking import wait_for
from .client import Client
from .execution import Execution
from .handlers import Handlers
from .middleware import Middleware
from .plain import is_object, write
from .problem import Problem, Unreachable
from .reports import Reports
from .signature import SigningKey, Unsigned, check_signature
from .worker import deliver, heard, tell

log = logging.getLogger("abide_sdk")

MOST_BYTES = 16 * 1024 * 1024
"""The largest task that is taken: its input and its journal."""
MOST_AGE = 300.0
"""How old a signature may be, in seconds."""
THREADS = 100
"""Plain functions at the same time."""
PATIENCE = 10.0
"""How many seconds a server that does not answer is tried."""
HEARTBEAT = 5.0
"""How often it is asked whether a task is still wanted, in seconds."""


@dataclass(frozen=True, slots=True)
class Reply:
    status: int
    body: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Push:
    """What both kinds of applications are made of."""

    handlers: dict[str, Callable[..., object]]
    client: Client
    signing_key: SigningKey | None
    middleware: Sequence[Middleware]
    max_bytes: int
    max_age: float | None
    grace: float

    def receiver(self) -> Receiver:
        return Receiver(self)


class Receiver:
    """Takes tasks, on one event loop."""

    def __init__(self, push: Push) -> None:
        self._push = push
        # Connections belong to one event loop.
        self._client = Client(transport=push.client.transport.apart())
        self._handlers = Handlers(self._client, push.middleware, THREADS)
        for name, function in push.handlers.items():
            self._handlers.add(name, function)

    async def receive(self, method: str, headers: Mapping[str, str], body: bytes) -> Reply:
        """Does what a request asks for. The names of headers are in small letters."""
        if method != "POST":
            return refusal(HTTPStatus.METHOD_NOT_ALLOWED, "a task is posted")
        if len(body) > self._push.max_bytes:
            return refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"a task has {self._push.max_bytes} bytes at most")
        try:
            found: Any = json.loads(body)
        except ValueError:
            found = None
        task = read_task(found)
        if self._push.signing_key is not None:
            try:
                workspace = str(found.get("workspace")) if is_object(found) else ""
                check_signature(self._push.signing_key, workspace, headers, body, self._push.max_age)
            except Unsigned as error:
                return refusal(HTTPStatus.UNAUTHORIZED, str(error))
        if task is None:
            return refusal(HTTPStatus.BAD_REQUEST, "the body is not a task")
        if task["handler"] not in self._handlers:
            return refusal(HTTPStatus.NOT_FOUND, f"there is no handler `{task['handler']}`")
        return await self._do(task)

    async def close(self) -> None:
        await self._handlers.close()
        await self._client.close()

    async def _do(self, task: wire.Task) -> Reply:
        reports = Reports(self._client.transport, PATIENCE)
        execution = Execution(task, reports, self._push.grace)
        execution.handler = asyncio.ensure_future(execution.run(lambda: self._handlers.call(execution)))
        beating = asyncio.ensure_future(beat(execution, reports))
        try:
            report = await execution.handler
            if report and report["type"] == "complete":
                await reports.sent()
                more = {"stateUpdates": report["stateUpdates"]} if "stateUpdates" in report else {}
                return Reply(HTTPStatus.OK, {"output": report["output"], **more})
            if report and report["type"] == "fail":
                tell(execution)
            if report:
                await deliver(reports, task, report)
            await reports.sent()
        except asyncio.CancelledError:
            if not execution.lost:
                raise
        except (Problem, Unreachable) as error:
            log.warning("task %s could not be reported; it will be posted again: %s", task["id"], error)
            return refusal(HTTPStatus.SERVICE_UNAVAILABLE, str(error))
        finally:
            beating.cancel()
        return Reply(HTTPStatus.ACCEPTED)


async def beat(execution: Execution, reports: Reports) -> None:
    """Tells the handler when its task is not wanted any more."""
    while True:
        await asyncio.sleep(HEARTBEAT)
        sent = reports.send({"type": "heartbeat", "leaseToken": execution.task["leaseToken"]})
        sent.add_done_callback(lambda done: heard(execution, done))


def read_task(found: Any) -> wire.Task | None:
    needed = ("id", "runId", "stepName", "handler", "leaseToken")
    if not is_object(found) or not all(isinstance(found.get(name), str) for name in needed):
        return None
    task: Any = {
        "attempt": 1,
        "input": None,
        "state": {},
        "config": None,
        "checkpoint": None,
        "journal": [],
        "traceparent": None,
        **found,
    }
    read: wire.Task = task
    return read


def refusal(status: HTTPStatus, detail: str) -> Reply:
    return Reply(status, {"title": status.phrase, "detail": detail})


def push(
    handlers: dict[str, Callable[..., object]],
    client: Client | None,
    signing_key: SigningKey | None,
    unsigned: bool,
    middleware: Sequence[Middleware],
    max_bytes: int,
    max_age: float | None,
    grace: float,
) -> Push:
    if signing_key is None:
        signing_key = os.environ.get("ABIDE_SIGNING_KEY")
    if signing_key is None and not unsigned:
        raise ValueError(
            "tasks are signed: give `signing_key`, set ABIDE_SIGNING_KEY, or say `unsigned=True` where nobody else can"
            " reach this URL"
        )
    return Push(handlers, client or Client(), signing_key, middleware, max_bytes, max_age, grace)


Message: TypeAlias = dict[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]


class Asgi:
    """An ASGI application that takes tasks, at whatever path it is mounted."""

    def __init__(self, made_of: Push) -> None:
        self._push = made_of
        self._receivers: WeakKeyDictionary[asyncio.AbstractEventLoop, Receiver] = WeakKeyDictionary()

    async def __call__(self, scope: Mapping[str, object], receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            return await self._live(receive, send)
        if scope["type"] != "http":
            raise ValueError(f"a task does not come by {scope['type']}")
        body = await read_body(receive, self._push.max_bytes)
        if body is None:
            return
        raw = cast(Iterable[tuple[bytes, bytes]], scope["headers"])
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in raw}
        reply = await self._receiver().receive(str(scope["method"]), headers, body)
        text = b"" if reply.body is None else write(reply.body)
        about = [(b"content-type", b"application/json"), (b"content-length", str(len(text)).encode())]
        await send({"type": "http.response.start", "status": int(reply.status), "headers": about})
        await send({"type": "http.response.body", "body": text})

    async def close(self) -> None:
        """Closes its connections, as the end of the lifespan does."""
        receiver = self._receivers.pop(asyncio.get_running_loop(), None)
        if receiver:
            await receiver.close()

    def _receiver(self) -> Receiver:
        loop = asyncio.get_running_loop()
        if loop not in self._receivers:
            self._receivers[loop] = self._push.receiver()
        return self._receivers[loop]

    async def _live(self, receive: Receive, send: Send) -> None:
        while True:
            message = await receive()
            if message["type"] == "lifespan.shutdown":
                await self.close()
                return await send({"type": "lifespan.shutdown.complete"})
            await send({"type": "lifespan.startup.complete"})


async def read_body(receive: Receive, most: int) -> bytes | None:
    """What was sent, or just too much of it; nothing if whoever sent it is gone."""
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        body += message.get("body", b"")
        if len(body) > most or not message.get("more_body", False):
            return bytes(body)


Environ: TypeAlias = dict[str, Any]
StartResponse: TypeAlias = Callable[..., Any]


class Wsgi:
    """A WSGI application that takes tasks. Handlers run on an event loop in a thread of its own."""

    def __init__(self, made_of: Push) -> None:
        self._push = made_of
        self._receiver: Receiver | None = None

    def __call__(self, environ: Environ, start_response: StartResponse) -> list[bytes]:
        headers = {
            name[5:].replace("_", "-").lower(): str(value)
            for name, value in environ.items()
            if name.startswith("HTTP_")
        }
        length = int(environ.get("CONTENT_LENGTH") or 0)
        body: bytes = environ["wsgi.input"].read(min(length, self._push.max_bytes + 1))
        reply = wait_for(self._receive(environ["REQUEST_METHOD"], headers, body))
        text = b"" if reply.body is None else write(reply.body)
        status = HTTPStatus(reply.status)
        about = [("content-type", "application/json"), ("content-length", str(len(text)))]
        start_response(f"{status.value} {status.phrase}", about)
        return [text]

    async def _receive(self, method: str, headers: Mapping[str, str], body: bytes) -> Reply:
        if self._receiver is None:
            self._receiver = self._push.receiver()
        return await self._receiver.receive(method, headers, body)

    def close(self) -> None:
        """Closes its connections."""
        receiver, self._receiver = self._receiver, None
        if receiver:
            wait_for(receiver.close())


def asgi(
    handlers: dict[str, Callable[..., object]],
    *,
    client: Client | None = None,
    signing_key: SigningKey | None = None,
    unsigned: bool = False,
    middleware: Sequence[Middleware] = (),
    max_bytes: int = MOST_BYTES,
    max_age: float | None = MOST_AGE,
    grace: float = 2.0,
) -> Asgi:
    """Handlers as an ASGI application. ``client``: of the server whose tasks are taken (ABIDE_SERVER and ABIDE_API_KEY if
    absent), with the scope ``worker``. ``signing_key``: ``whsec_…``, or one for each workspace by its id (ABIDE_SIGNING_KEY
    if absent); requests that are not signed with it are refused. Without one nothing is served, unless ``unsigned`` says
    that nobody else can reach the URL. ``max_bytes``: the largest task.
    ``max_age``: how many seconds old a signature may be. ``grace``: as of a worker."""
    return Asgi(push(handlers, client, signing_key, unsigned, middleware, max_bytes, max_age, grace))


def wsgi(
    handlers: dict[str, Callable[..., object]],
    *,
    client: Client | None = None,
    signing_key: SigningKey | None = None,
    unsigned: bool = False,
    middleware: Sequence[Middleware] = (),
    max_bytes: int = MOST_BYTES,
    max_age: float | None = MOST_AGE,
    grace: float = 2.0,
) -> Wsgi:
    """The same as a WSGI application."""
    return Wsgi(push(handlers, client, signing_key, unsigned, middleware, max_bytes, max_age, grace))
