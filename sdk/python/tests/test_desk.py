"""The refund desk, in virtual time: every way through it, and a payment that fails twice."""

from __future__ import annotations

import asyncio
import logging
import sys
import unittest
from pathlib import Path
from typing import Any

from abide_sdk import RunHandle
from abide_sdk.testing import TestServer

from .approval_scenarios import ask

EXAMPLES = Path(__file__).parents[1] / "examples"
sys.path.insert(0, str(EXAMPLES))

from refund_desk import Order, desk, refunds, restock  # noqa: E402


class Shop:
    def __init__(self) -> None:
        self.links: list[str] = []
        self.paid: list[tuple[int, str]] = []
        self.asked = 0

    def order(self, id: int) -> Order:
        return {"id": id, "lines": [{"sku": "tea", "cents": 4000}, {"sku": "cup", "cents": 900}]}

    def pay(self, order: int, cents: int, key: str) -> str:
        self.asked += 1
        if self.asked < 3:
            raise ConnectionError("the bank does not answer")
        self.paid.append((cents, key))
        return f"{cents} cents paid"

    def tell(self, who: str, link: str) -> None:
        self.links.append(link)


async def opened(server: TestServer) -> Shop:
    shop = Shop()
    server.worker({"refund-desk": refunds(shop)})
    await server.client.deploy(restock)
    await server.client.deploy(desk)
    return shop


async def asked(server: TestServer, order: int = 7) -> RunHandle:
    run = await server.client.start(desk, {"order": order})
    await server.settle(run)
    await server.client.notify("refund.requested", {"order": order + 1})
    await server.client.notify("refund.requested", {"order": order})
    await server.advance("2d")
    return run


class Desk(unittest.IsolatedAsyncioTestCase):
    def setUp(self) -> None:
        logging.getLogger("abide_sdk").setLevel(logging.CRITICAL)
        self.addCleanup(logging.getLogger("abide_sdk").setLevel, logging.NOTSET)

    async def test_returned_edited_by_link_paid_at_the_third_try_and_every_line_is_back(self) -> None:
        async with asyncio.timeout(300), TestServer() as server:
            shop = await opened(server)
            run = await asked(server)
            await server.client.notify("parcel.returned", {"order": 7})
            await server.settle(run)
            link = shop.links[0]
            status, _ = await asyncio.to_thread(ask, link, {"decision": "edit", "edit/cents": "lots"})
            self.assertEqual(status, 422)
            await asyncio.to_thread(ask, link, {"decision": "edit", "edit/cents": "4200"})
            await server.skip_waits(run)
            self.assertEqual(await run.result(), "4200 cents paid; tea and cup back on the shelf")
            self.assertEqual((shop.paid, len(shop.links)), ([(4200, "refund-7")], 1))

    async def test_a_withdrawal_ends_it_and_so_do_a_lost_parcel_and_a_review_that_nobody_gives(self) -> None:
        async with asyncio.timeout(300), TestServer() as server:
            await opened(server)
            withdrawn = await asked(server)
            await server.client.notify("refund.withdrawn", {"order": 7})
            self.assertEqual(await withdrawn.result(), "withdrawn")
            late = await asked(server, 17)
            await server.skip_waits(late)
            self.assertEqual(await late.result(), "not returned")
            unseen = await asked(server, 27)
            await server.client.notify("parcel.returned", {"order": 27})
            await server.skip_waits(unseen)
            self.assertEqual(await unseen.result(), "nobody decided")

    def test_the_desk_has_at_most_60_lines(self) -> None:
        lines = (EXAMPLES / "refund_desk.py").read_text().splitlines()
        self.assertLessEqual(len([line for line in lines if line.strip()]), 60)
