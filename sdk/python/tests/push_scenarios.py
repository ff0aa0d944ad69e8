"""The scenario of durable code behind a URL."""

from __future__ import annotations

from collections import Counter
from typing import Any

from abide_sdk import Client, Context, Workflow
from abide_sdk.push import asgi
from abide_sdk.testing import TestServer

from .scenarios import scenario
from .web import Site, asgi_site

KEY = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


def calling(site: Site) -> TestServer:
    """A server that calls a site for its handler `desk`."""
    args = ("--handler-url", f"desk={site.url}", "--allow-address", "127.0.0.1")
    return TestServer(args=args, env={"ABIDE_SECRET_SIGNING_KEY": KEY})


@scenario("durable code behind a URL")
async def durable_code_behind_a_url(_: TestServer) -> Any:
    done = Counter[str]()

    async def desk(ctx: Context) -> None:
        await ctx.run("one", lambda: done.update(["one"]))
        await ctx.sleep("nap", "1h")
        await ctx.wait_for_signal("word", "word")
        await ctx.run("two", lambda: done.update(["two"]))

    async with asgi_site() as site, calling(site) as server, Client(server.url) as client:
        # The server signs by its own clock, which the test moves.
        app = site.app = asgi({"desk": desk}, client=client, signing_key=KEY, max_age=None)
        await server.client.deploy(Workflow("one").task("desk", "desk"))
        run = await server.client.start("one")
        await server.skip_waits(run)
        await run.signal("word")
        ended = await server.settle(run)
        await app.close()
        return {"status": ended["status"], **done, "requests": site.requests}
