"""Middleware at its edges: its order, its errors, and around plain functions, in whose thread the work stays."""

from __future__ import annotations

import logging
import threading
import unittest
from contextvars import ContextVar
from typing import Any

from abide_sdk import Context, DurableCall, Middleware, MiddlewareCall, NotRetryable, SyncContext, Workflow
from abide_sdk.logging import RunLogHandler
from abide_sdk.middleware import Next
from abide_sdk.testing import TestServer

span: ContextVar[str] = ContextVar("span", default="none")


class Spans(Middleware):
    def __init__(self, name: str, seen: list[Any]) -> None:
        self.name = name
        self.seen = seen

    async def handler(self, ctx: Context, next: Next) -> Any:
        self.seen.append((self.name, ctx.task["handler"], ctx.replaying))
        token = span.set(self.name)
        try:
            return await next()
        finally:
            span.reset(token)

    async def call(self, call: MiddlewareCall, next: Next) -> Any:
        self.seen.append((self.name, call.name, call.attempt, call.idempotency_key == call.ctx.idempotency_key(call.name)))
        span.set(f"{self.name}/{call.name}")
        return [await next(), self.name]


class Around(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self) -> None:
        self.server = await self.enterAsyncContext(TestServer())
        self.seen: list[Any] = []

    async def ended(self, handler: Any, *middleware: Middleware) -> Any:
        self.server.worker({"work": handler}, middleware=middleware)
        await self.server.client.deploy(Workflow("one").task("work", "work"))
        return await self.server.skip_waits(await self.server.client.start("one"))

    async def test_the_first_is_outermost_and_each_may_change_what_comes(self) -> None:
        async def work(ctx: Context) -> Any:
            async def look() -> str:
                return span.get()

            inner = await ctx.run("look", look, returns=list)
            await ctx.sleep("nap", "1h")
            return [span.get(), inner]

        ended = await self.ended(work, Spans("a", self.seen), Spans("b", self.seen))
        self.assertEqual(ended["output"], ["b", [["b/look", "b"], "a"]])
        begun = [("a", "work", False), ("b", "work", False), ("a", "look", 1, True), ("b", "look", 1, True)]
        self.assertEqual(self.seen, [*begun, ("a", "work", True), ("b", "work", True)])

    async def test_a_plain_function_works_in_its_own_thread_within_what_is_around_it(self) -> None:
        def work(ctx: SyncContext) -> Any:
            own = threading.get_ident()

            def look(call: DurableCall) -> Any:
                return [span.get(), threading.get_ident() == own]

            inner = ctx.run("look", look, returns=list)
            ctx.sleep("nap", "1h")
            return [span.get(), inner]

        ended = await self.ended(work, Spans("a", self.seen))
        self.assertEqual(ended["output"], ["a", [["a/look", True], "a"]])

    async def test_what_a_middleware_raises_is_the_handlers_error(self) -> None:
        class Closed(Middleware):
            async def call(self, call: MiddlewareCall, next: Next) -> Any:
                raise NotRetryable("closed", code="CLOSED")

        def work(ctx: SyncContext) -> Any:
            return ctx.run("look", lambda: self.seen.append("looked"))

        ended = await self.ended(work, Closed())
        self.assertEqual((ended["error"]["code"], ended["error"]["detail"]["call"], self.seen), ("CLOSED", "look", []))

    async def test_a_middleware_that_swallows_a_suspension_is_found_out(self) -> None:
        class Greedy(Middleware):
            async def handler(self, ctx: Context, next: Next) -> Any:
                try:
                    return await next()
                except BaseException:
                    return "swallowed"

        async def work(ctx: Context) -> None:
            await ctx.sleep("nap", "1h")

        self.assertEqual((await self.ended(work, Greedy()))["error"]["code"], "SUSPENSION_SWALLOWED")

    async def test_what_a_plain_function_logs_is_in_the_runs_log_once(self) -> None:
        log = logging.getLogger("plain")
        log.setLevel(logging.DEBUG)
        log.propagate = False
        log.addHandler(handler := RunLogHandler())
        self.addCleanup(log.removeHandler, handler)

        def work(ctx: SyncContext) -> None:
            log.debug("begins")
            ctx.run("pack", lambda: log.info("packs"))
            ctx.sleep("nap", "1h")
            log.critical("ends")

        ended = await self.ended(work)
        logged: list[Any] = [one for one in await self.server.history(ended["id"]) if one["type"] == "TASK_LOGGED"]
        lines = [f"{line['level']}: {line['message']}" for record in logged for line in record["lines"]]
        self.assertEqual(lines, ["debug: begins", "info: packs", "error: ends"])


if __name__ == "__main__":
    unittest.main()
