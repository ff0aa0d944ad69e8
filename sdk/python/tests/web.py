"""Just enough of a web server for tests: ASGI and WSGI applications on a port of the machine itself."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, make_server


class Site:
    """An application that is given when the address is known."""

    def __init__(self) -> None:
        self.app: Any = None
        self.url = ""
        self.requests = 0


@asynccontextmanager
async def asgi_site() -> AsyncGenerator[Site, None]:
    site = Site()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            headers = [(name.encode(), value.encode()) for name, _, value in (line.partition(": ") for line in head[1:] if line)]
            length = next((int(value) for name, value in headers if name.lower() == b"content-length"), 0)
            body = await reader.readexactly(length)
            # In two parts, as they may come.
            parts = [
                {"type": "http.request", "body": body[:10], "more_body": True},
                {"type": "http.request", "body": body[10:], "more_body": False},
            ]
            site.requests += 1

            async def receive() -> dict[str, Any]:
                return parts.pop(0) if parts else {"type": "http.disconnect"}

            async def send(message: dict[str, Any]) -> None:
                if message["type"] == "http.response.start":
                    lines = [b"HTTP/1.1 %d OK" % message["status"], b"connection: close"]
                    lines += [name + b": " + value for name, value in message["headers"]]
                    writer.write(b"\r\n".join([*lines, b"", b""]))
                else:
                    writer.write(message["body"])

            method, path, _ = head[0].split(" ")
            await site.app({"type": "http", "method": method, "path": path, "headers": headers}, receive, send)
            await writer.drain()
        finally:
            writer.close()

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    async with server:
        site.url = "http://127.0.0.1:%d/abide" % server.sockets[0].getsockname()[1]
        yield site


class Quiet(WSGIRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextmanager
def wsgi_site() -> Generator[Site, None, None]:
    site = Site()

    def app(environ: Any, start_response: Callable[..., Any]) -> Any:
        site.requests += 1
        return site.app(environ, start_response)

    with make_server("127.0.0.1", 0, app, handler_class=Quiet) as server:
        site.url = f"http://127.0.0.1:{server.server_port}/abide"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield site
        finally:
            server.shutdown()
            thread.join()
