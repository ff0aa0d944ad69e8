"""Schedules and webhooks, made, steered and removed by the client, also by the blocking one."""

from __future__ import annotations

import asyncio
import unittest
from datetime import timedelta

from abide_sdk import NotFound, Workflow, sync
from abide_sdk.testing import TestServer


class Receiver:
    """Says yes to whatever comes, and keeps the ids."""

    def __init__(self) -> None:
        self.ids: asyncio.Queue[str] = asyncio.Queue()

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        headers = dict(line.lower().split(": ", 1) for line in head.split("\r\n")[1:] if line)
        await reader.readexactly(int(headers["content-length"]))
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
        await writer.drain()
        writer.close()
        self.ids.put_nowait(headers["webhook-id"])


class Resources(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self) -> None:
        self.server = await self.enterAsyncContext(TestServer(args=("--allow-address", "127.0.0.1")))
        await self.server.client.deploy(Workflow("report").sleep("moment", "1m"))

    async def test_a_schedule_is_a_wait_of_no_run_and_starts_runs_until_it_is_paused(self) -> None:
        client = self.server.client
        made = await client.schedules.create({"name": "hourly", "definition": "report", "every": "1h"})
        id = made["id"]
        wait = await client.waitpoints.find(made["waitpointId"] or "")
        self.assertEqual((wait["kind"], wait["runId"], wait.get("scheduleId")), ("SCHEDULE", None, id))
        self.assertNotIn("definition", wait)

        await self.server.advance("1h")
        run = await client.runs.find((await client.schedules.find(id))["lastRunId"] or "")
        self.assertEqual(run["definition"]["name"], "report")

        self.assertEqual((await client.schedules.change(id, {"overlap": "allow"}))["overlap"], "allow")
        first = await client.schedules.trigger(id, idempotency_key="once")
        self.assertEqual(first["outcome"], "started")
        self.assertEqual(await client.schedules.trigger(id, idempotency_key="once"), first)

        self.assertIsNone((await client.schedules.pause(id))["nextAt"])
        self.assertIsNotNone((await client.schedules.unpause(id))["nextAt"])

        def blocking() -> list[str]:
            with sync.Client(self.server.url) as client:
                names = [schedule["name"] for schedule in client.schedules.list()]
                client.schedules.remove(id)
                return names

        self.assertEqual(await asyncio.to_thread(blocking), ["hourly"])
        with self.assertRaises(NotFound):
            await client.schedules.find(id)

    async def test_a_webhook_is_told_of_a_run_and_told_again_under_the_same_id(self) -> None:
        webhooks = self.server.client.webhooks
        receiver = Receiver()
        listener = await asyncio.start_server(receiver.answer, "127.0.0.1", 0)
        url = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}/"
        made = await webhooks.create({"url": url, "events": ["workflow.cancelled"]})
        id = made["id"]

        run = await self.server.client.start("report")
        await run.cancel()
        delivery_id = await receiver.ids.get()
        delivery = await webhooks.find_delivery(id, delivery_id)
        self.assertEqual((delivery["event"], delivery["runId"]), ("workflow.cancelled", run.id))
        self.assertEqual([one["id"] async for one in webhooks.deliveries(id)], [delivery_id])

        while (await webhooks.replay(id, delivery_id))["replayed"] == 0:
            pass  # Until the first answer is on record, there is nothing to send again.
        self.assertEqual(await receiver.ids.get(), delivery_id)
        self.assertEqual((await webhooks.replay_failed(id))["replayed"], 0)

        rotated = await webhooks.rotate_secret(id, overlap=timedelta(seconds=1))
        self.assertNotEqual(rotated["secret"], made["secret"])
        self.assertEqual((await webhooks.change(id, {"enabled": False}))["status"], "DISABLED")
        self.assertEqual((await webhooks.enable(id))["status"], "ENABLED")

        def blocking() -> list[str]:
            with sync.Client(self.server.url) as client:
                urls = [webhook["url"] for webhook in client.webhooks.list()]
                client.webhooks.remove(id)
                return urls

        self.assertEqual(await asyncio.to_thread(blocking), [url])
        with self.assertRaises(NotFound):
            await webhooks.find(id)
        listener.close()
        await listener.wait_closed()
