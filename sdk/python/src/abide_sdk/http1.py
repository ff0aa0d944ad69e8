"""HTTP/1.1 over asyncio, as much of it as the API needs: connections that are kept, bodies by length or in chunks."""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import AsyncIterator, Coroutine
from typing import Any, TypeVar
from urllib.parse import urlsplit

T = TypeVar("T")

HEAD_BYTES = 256 * 1024
PART_BYTES = 256 * 1024
CONNECT_SECONDS = 10.0
IDLE_SECONDS = 20.0
"""The server closes a connection that is idle for 30 seconds."""
SILENT_SECONDS = 330.0
"""Longer than the server ever takes to answer a request that waits, or to say that a stream is still there: one that is
silent for this long is gone, though nobody closed the connection."""


class Broken(ConnectionError):
    """The connection ended where it should not have."""


async def heard(reading: Coroutine[Any, Any, T]) -> T:
    """What is read, or that there is nobody any more who would send it."""
    try:
        return await asyncio.wait_for(reading, SILENT_SECONDS)
    except TimeoutError as error:
        raise Broken(f"the server was silent for {SILENT_SECONDS:.0f} seconds") from error


class Response:
    """An answer whose body is still to be read."""

    def __init__(self, connection: Connection, status: int, headers: dict[str, str]) -> None:
        self.status = status
        self.headers = headers
        self._connection = connection

    async def body(self) -> bytes:
        return b"".join([part async for part in self.parts()])

    async def parts(self) -> AsyncIterator[bytes]:
        reader = self._connection.reader
        try:
            if self.status in (204, 304):
                pass
            elif self.headers.get("transfer-encoding", "").lower() == "chunked":
                while size := int((await heard(reader.readuntil(b"\r\n"))).split(b";")[0], 16):
                    yield await heard(reader.readexactly(size))
                    await heard(reader.readexactly(2))
                while await heard(reader.readuntil(b"\r\n")) != b"\r\n":
                    pass
            elif "content-length" in self.headers:
                left = int(self.headers["content-length"])
                while left > 0:
                    part = await heard(reader.read(min(left, PART_BYTES)))
                    if not part:
                        raise asyncio.IncompleteReadError(part, left)
                    left -= len(part)
                    yield part
            else:
                self._connection.keep = False
                yield await heard(reader.read())
        except (asyncio.IncompleteReadError, ValueError) as error:
            self.close()
            raise Broken("the answer ended too early") from error
        except BaseException:
            self.close()
            raise
        self._connection.done()

    def close(self) -> None:
        """Gives up the rest of the body."""
        self._connection.close()


class Connection:
    def __init__(self, pool: Pool, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.pool = pool
        self.reader = reader
        self.writer = writer
        self.keep = True
        self.idle_since = 0.0

    async def exchange(self, head: bytes, body: bytes) -> Response:
        try:
            self.writer.write(head + body)
            await heard(self.writer.drain())
            lines = (await heard(self.reader.readuntil(b"\r\n\r\n"))).decode("latin-1").split("\r\n")
            status = int(lines[0].split(" ", 2)[1])
            pairs = (line.partition(":") for line in lines[1:] if line)
            headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError, IndexError) as error:
            self.close()
            raise Broken("the connection was closed") from error
        except BaseException:
            self.close()
            raise
        self.keep = headers.get("connection", "").lower() != "close"
        return Response(self, status, headers)

    @property
    def is_stale(self) -> bool:
        too_old = time.monotonic() - self.idle_since > IDLE_SECONDS
        return too_old or self.reader.at_eof() or self.writer.is_closing()

    def done(self) -> None:
        if self.keep:
            self.idle_since = time.monotonic()
            self.pool.idle.append(self)
        else:
            self.close()

    def close(self) -> None:
        self.writer.close()


class Pool:
    """Connections to one server, of one event loop."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"`{url}` is not a server's URL; it would look like http://127.0.0.1:22433")
        self.host = parts.hostname
        self.tls = ssl.create_default_context() if parts.scheme == "https" else None
        self.port = parts.port or (443 if self.tls else 80)
        self.authority = parts.netloc
        self.base = parts.path.rstrip("/")
        self.idle: list[Connection] = []
        self._loop: asyncio.AbstractEventLoop | None = None

    async def request(self, method: str, target: str, headers: dict[str, str], body: bytes) -> Response:
        connection = await self._connection()
        lines = [f"{method} {self.base}{target} HTTP/1.1", f"host: {self.authority}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        if body or method not in ("GET", "HEAD", "DELETE"):
            lines.append(f"content-length: {len(body)}")
        return await connection.exchange("\r\n".join([*lines, "", ""]).encode("latin-1"), body)

    async def _connection(self) -> Connection:
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            self.idle, self._loop = [], loop
        while self.idle:
            connection = self.idle.pop()
            if not connection.is_stale:
                return connection
            connection.close()
        opening = asyncio.open_connection(self.host, self.port, ssl=self.tls, limit=HEAD_BYTES)
        reader, writer = await asyncio.wait_for(opening, CONNECT_SECONDS)
        return Connection(self, reader, writer)

    async def close(self) -> None:
        idle, self.idle = self.idle, []
        for connection in idle:
            connection.close()
        await asyncio.gather(*(one.writer.wait_closed() for one in idle), return_exceptions=True)
