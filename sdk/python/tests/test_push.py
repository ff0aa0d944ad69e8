"""Durable code behind a URL at its edges: signatures, bounds, failures, cancellation, and WSGI."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
import time
import unittest
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

from abide_sdk import Client, Context, NotRetryable, SyncContext, Workflow
from abide_sdk.push import Asgi, asgi, wsgi

from .push_scenarios import KEY, calling
from .web import Site, asgi_site, wsgi_site


class Behind(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self) -> None:
        self.site: Site = await self.enterAsyncContext(asgi_site())
        self.server = await self.enterAsyncContext(calling(self.site))
        self.client = await self.enterAsyncContext(Client(self.server.url))
        await self.server.client.deploy(Workflow("one").task("desk", "desk", retry={"maxAttempts": 2}))

    def serve(self, desk: Callable[..., Any]) -> None:
        app = self.site.app = asgi({"desk": desk}, client=self.client, signing_key=KEY, max_age=None, grace=0.1)
        self.addAsyncCleanup(app.close)

    async def test_a_plain_function_behind_wsgi_is_the_same(self) -> None:
        def desk(ctx: SyncContext, input: int) -> Any:
            doubled = ctx.run("double", lambda: input * 2)
            ctx.sleep("nap", "1h")
            ctx.log("awake")
            ctx.set_state(seen=True)
            return doubled + ctx.run("more", lambda: 1)

        with wsgi_site() as site:
            async with calling(site) as server, Client(server.url) as client:
                app = site.app = wsgi({"desk": desk}, client=client, signing_key=KEY, max_age=None)
                await server.client.deploy(Workflow("one").task("desk", "desk"))
                run = await server.skip_waits(await server.client.start("one", 20))
                await asyncio.to_thread(app.close)
                logged: list[Any] = [one for one in await server.history(run["id"]) if one["type"] == "TASK_LOGGED"]
        self.assertEqual((run.get("output"), run["state"], site.requests), (41, {"seen": True}, 2))
        self.assertEqual([line["message"] for record in logged for line in record["lines"]], ["awake"])

    async def test_failures_are_told_and_tried_again_as_with_a_worker(self) -> None:
        async def desk(ctx: Context) -> Any:
            if ctx.attempt == 1:
                raise KeyError("cents")
            raise NotRetryable("no money", code="NO_MONEY")

        self.serve(desk)
        ended: Any = await self.server.skip_waits(await self.server.client.start("one"))
        error = ended["steps"][0]["error"]
        self.assertEqual((error["code"], error["detail"]["attempt"], self.site.requests), ("NO_MONEY", 2, 2))
        self.assertIn("test_push.py", error["detail"]["stack"])

    async def test_changed_code_waits(self) -> None:
        async def before(ctx: Context) -> None:
            await ctx.run("charge", lambda: 1)
            await ctx.sleep("nap", "1h")

        async def after(ctx: Context) -> None:
            await ctx.run("bill", lambda: 1)
            await ctx.sleep("nap", "1h")

        self.serve(before)
        run = await self.server.client.start("one")
        await self.server.settle(run)
        self.serve(after)
        await self.server.advance("1h")
        waiting = await self.server.settle(run)
        self.assertEqual([wait["kind"] for wait in waiting["waitingFor"]], ["CODE"])
        self.serve(before)
        await self.server.client.waitpoints.complete(waiting["waitingFor"][0].get("waitpointId") or "")
        self.assertEqual((await self.server.skip_waits(run))["status"], "COMPLETED")

    async def test_a_handler_is_told_when_its_run_is_cancelled(self) -> None:
        begun, told = asyncio.Event(), asyncio.Event()

        async def desk(ctx: Context) -> None:
            begun.set()
            try:
                await asyncio.Event().wait()
            finally:
                told.set()

        self.serve(desk)
        with patch("abide_sdk.push.HEARTBEAT", 0.02):
            run = await self.server.client.start("one")
            await begun.wait()
            await run.cancel()
            await told.wait()
        self.assertEqual((await run.get())["status"], "CANCELLED")

    async def test_a_handler_that_is_not_there_fails_the_step(self) -> None:
        self.site.app = asgi({"other": print}, client=self.client, signing_key=KEY, max_age=None)
        ended: Any = await self.server.skip_waits(await self.server.client.start("one"))
        self.assertEqual(ended["error"]["code"], "HANDLER_STATUS")
        self.assertIn("there is no handler `desk`", ended["error"]["message"])


def signed(body: bytes, key: str = KEY, at: int | None = None) -> dict[str, str]:
    moment = str(int(time.time()) if at is None else at)
    secret = base64.b64decode(key.removeprefix("whsec_"))
    digest = base64.b64encode(hmac.digest(secret, f"msg.{moment}.".encode() + body, hashlib.sha256)).decode()
    return {"webhook-id": "msg", "webhook-timestamp": moment, "webhook-signature": f"v1,AAAA v1,{digest}"}


async def asked(app: Asgi, body: bytes, headers: dict[str, str], method: str = "POST") -> tuple[int, str]:
    said: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body}

    async def send(message: dict[str, Any]) -> None:
        said.append(message)

    raw = [(name.encode(), value.encode()) for name, value in headers.items()]
    await app({"type": "http", "method": method, "headers": raw}, receive, send)
    return said[0]["status"], said[1]["body"].decode()


class Door(unittest.IsolatedAsyncioTestCase):
    """What never comes to a handler. No server is needed."""

    def setUp(self) -> None:
        task = {"id": "task_1", "runId": "run_1", "stepName": "a", "handler": "desk", "leaseToken": "x"}
        self.task = {**task, "workspace": "ws_a"}

    async def status(self, headers: dict[str, str] | None = None, body: bytes | None = None, **options: Any) -> int:
        entered: list[int] = []

        async def desk(ctx: Context) -> None:
            entered.append(1)

        given: dict[str, Any] = {"signing_key": KEY, **options}
        app = asgi({"desk": desk}, client=Client("http://127.0.0.1:1"), **given)
        text = json.dumps(self.task).encode() if body is None else body
        status, _ = await asked(app, text, signed(text) if headers is None else headers)
        self.assertEqual(bool(entered), status == 200)
        return status

    async def test_only_what_is_signed_with_the_key_is_done(self) -> None:
        other = "whsec_" + base64.b64encode(b"x" * 24).decode()
        body = json.dumps(self.task).encode()
        self.assertEqual(await self.status(), 200)
        self.assertEqual(await self.status({}), 401)
        self.assertEqual(await self.status(signed(body, other)), 401)
        self.assertEqual(await self.status(signed(body + b" ")), 401)
        self.assertEqual(await self.status(signed(body, at=int(time.time()) - 3_600)), 401)
        self.assertEqual(await self.status(signed(body, at=0), max_age=None), 200)
        self.assertEqual(await self.status(signing_key=f"{other} {KEY}"), 200)
        self.assertEqual(await self.status(signing_key={"ws_a": KEY}), 200)
        self.assertEqual(await self.status(signing_key={"ws_b": KEY}), 401)
        self.assertEqual(await self.status({}, signing_key=None, unsigned=True), 200)
        with self.assertRaisesRegex(ValueError, "tasks are signed"):
            await self.status({}, signing_key=None)

    async def test_what_is_not_a_task_or_too_large_is_refused(self) -> None:
        self.assertEqual(await self.status(body=b"{}"), 400)
        self.assertEqual(await self.status(body=b"no json"), 400)
        self.assertEqual(await self.status(max_bytes=10), 413)
        app = asgi({}, client=Client("http://127.0.0.1:1"), unsigned=True)
        self.assertEqual((await asked(app, b"", {}, "GET"))[0], 405)

    async def test_a_report_that_cannot_be_sent_is_tried_again(self) -> None:
        async def desk(ctx: Context) -> None:
            await ctx.sleep("nap", "1h")

        with patch("abide_sdk.push.PATIENCE", 0.0):
            app = asgi({"desk": desk}, client=Client("http://127.0.0.1:1", retries=0), unsigned=True)
            self.assertEqual((await asked(app, json.dumps(self.task).encode(), {}))[0], 503)


if __name__ == "__main__":
    unittest.main()
