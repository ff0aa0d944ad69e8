"""The scenarios of what is put around handlers: middleware, and the language's own logger."""

from __future__ import annotations

import logging
from typing import Any

from abide_sdk import Context, Middleware, MiddlewareCall, Suspended, Workflow
from abide_sdk.logging import RunLogHandler
from abide_sdk.middleware import Next
from abide_sdk.testing import TestServer

from .scenarios import one, scenario


class Notes(Middleware):
    def __init__(self) -> None:
        self.notes: list[str] = []

    async def handler(self, ctx: Context, next: Next) -> Any:
        self.notes.append("handler:begin")
        try:
            output = await next()
        except Suspended:
            self.notes.append("handler:suspended")
            raise
        except Exception:
            self.notes.append("handler:error")
            raise
        self.notes.append("handler:ok")
        return output

    async def call(self, call: MiddlewareCall, next: Next) -> Any:
        self.notes.append(f"call:{call.name}")
        return await next()


@scenario("middleware around handlers and calls")
async def middleware_around_handlers_and_calls(server: TestServer) -> Any:
    notes = Notes()

    async def work(ctx: Context) -> None:
        await ctx.run("one", lambda: 1)
        await ctx.sleep("nap", "1h")
        await ctx.run("two", lambda: 2)

    server.worker({"work": work}, middleware=[notes])
    await server.client.deploy(Workflow("one").task("work", "work"))
    await server.run_through("one")
    return {"notes": notes.notes}


@scenario("the language's own logger")
async def the_languages_own_logger(server: TestServer) -> Any:
    log = logging.getLogger("warehouse")
    log.setLevel(logging.DEBUG)
    log.propagate = False
    handler = RunLogHandler()
    log.addHandler(handler)

    async def work(ctx: Context) -> None:
        log.info("packing")
        await ctx.sleep("nap", "1h")
        log.warning("%s", "sent")

    await one(server, work)
    try:
        log.info("outside of any handler")
        run = await server.client.start("one")
        await server.skip_waits(run)
    finally:
        log.removeHandler(handler)
    logged: list[Any] = [record for record in await server.history(run) if record["type"] == "TASK_LOGGED"]
    return {"lines": [[line["level"], line["message"]] for record in logged for line in record["lines"]]}
