"""The scenario of a call that the engine makes."""

from __future__ import annotations

from typing import Any

from abide_sdk import Context, Workflow
from abide_sdk.testing import TestServer

from .scenarios import scenario
from .web import asgi_site


@scenario("the engine makes the call")
async def the_engine_makes_the_call(_: TestServer) -> Any:
    async with asgi_site() as site:

        async def app(scope: Any, receive: Any, send: Any) -> None:
            status, body = (503, b"") if site.requests == 1 else (200, b'{"rate": 3}')
            headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
            await send({"type": "http.response.start", "status": status, "headers": headers})
            await send({"type": "http.response.body", "body": body})

        async def work(ctx: Context) -> Any:
            answer = await ctx.http("rate", site.url, retry=3, returns=dict[str, int])
            return {"status": answer.status, "body": answer.body}

        site.app = app
        async with TestServer(args=("--allow-address", "127.0.0.1")) as server:
            server.worker({"work": work})
            await server.client.deploy(Workflow("one").task("work", "work"))
            run = await server.client.start("one")
            ended = await server.skip_waits(run)
            return {**await run.result(returns=dict[str, Any]), "requests": site.requests, "run": ended["status"]}
