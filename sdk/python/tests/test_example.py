"""The example in three files, as a user would run it."""

from __future__ import annotations

import asyncio
import os
import sys
import unittest
from pathlib import Path

from abide_sdk.testing import TestServer

EXAMPLES = Path(__file__).parents[1] / "examples"
FILES = ("order.py", "worker.py", "start.py")


async def run(name: str, server: TestServer) -> asyncio.subprocess.Process:
    env = {**os.environ, "ABIDE_SERVER": server.url}
    pipe = asyncio.subprocess.PIPE
    return await asyncio.create_subprocess_exec(sys.executable, str(EXAMPLES / name), env=env, stdout=pipe)


class Example(unittest.IsolatedAsyncioTestCase):
    async def test_an_order_sleeps_waits_for_its_payment_asks_for_approval_and_is_shipped(self) -> None:
        async with asyncio.timeout(300), TestServer(real_time=True) as server:
            worker = await run("worker.py", server)
            starter = await run("start.py", server)
            said, _ = await starter.communicate()
            self.assertEqual((starter.returncode, said), (0, b"parcel of order 7 was shipped\n"))
            worker.terminate()
            self.assertEqual(await worker.wait(), 0)

    def test_the_example_has_at_most_40_lines(self) -> None:
        lines = [line for name in FILES for line in (EXAMPLES / name).read_text().splitlines()]
        self.assertLessEqual(len([line for line in lines if line.strip()]), 40)
