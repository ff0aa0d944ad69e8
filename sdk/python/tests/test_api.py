"""The client has a method for every operation of the API, and what is generated is fresh."""

from __future__ import annotations

import inspect
import json
import re
import subprocess
import unittest
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

from abide_sdk import Client
from abide_sdk.resources import Pages, Resource
from abide_sdk.transport import Request, ServerEvent, Transport

ROOT = Path(__file__).parents[3]
SESSION = {f"{method} /api/v1/session" for method in ("GET", "POST", "DELETE")}
PAGES = {"GET /", "GET /docs", "GET /openapi.json"} | SESSION
"""Pages for people, their sessions, and the document itself."""
ANY_METHOD = re.compile(r"/(triggers|workflow-runs/\{id\}/waitpoints)/\{\w+\}(/sync)?$")
"""These take any method, and mean the same; the client sends a POST."""


class Recorder(Transport):
    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    async def json(self, request: Request) -> Any:
        self.asked.append(f"{request.method} {request.path}")
        return {"data": [], "id": "x", "status": "COMPLETED"}

    async def text(self, request: Request) -> str:
        return str(await self.json(request))

    async def parts(self, request: Request) -> AsyncIterator[bytes]:
        yield str(await self.json(request)).encode()

    async def events(
        self, request: Request, is_last: Callable[[ServerEvent], bool], last_id: str | None = None
    ) -> AsyncIterator[ServerEvent]:
        self.asked.append(f"{request.method} {request.path}")
        return
        yield


async def call(resource: Resource, name: str) -> None:
    method = getattr(resource, name)
    needed = [p for p in inspect.signature(method).parameters.values() if p.default is p.empty]
    result = method(*["x"] * len(needed))
    if isinstance(result, Pages) or inspect.isasyncgen(result):
        async for _ in result:
            pass
    else:
        await result


class Api(unittest.IsolatedAsyncioTestCase):
    def test_what_is_generated_is_fresh(self) -> None:
        checked = subprocess.run([ROOT / "sdk" / "generate", "--check"], capture_output=True, text=True)
        self.assertEqual(checked.stdout, "")

    async def test_there_is_a_method_for_every_operation(self) -> None:
        document = json.loads((ROOT / "schema" / "openapi.json").read_text())
        operations = {
            f"{method.upper()} {path}"
            for path, methods in document["paths"].items()
            for method in methods
            if not path.endswith("/confirm") and (method == "post" or not ANY_METHOD.search(path))
        }
        transport = Recorder()
        client = Client(transport=transport)
        for resource in vars(client).values():
            if isinstance(resource, Resource):
                for name, _ in inspect.getmembers(type(resource), inspect.isfunction):
                    if not name.startswith("_"):
                        await call(resource, name)
        await client.start_and_wait("x")
        async for _ in client.feed():
            pass
        shapes = {re.sub(r"\{[^}]*\}", "x", operation) for operation in operations - PAGES}
        self.assertEqual(shapes - set(transport.asked), set())
        self.assertEqual(set(transport.asked) - shapes, {"POST x"})
