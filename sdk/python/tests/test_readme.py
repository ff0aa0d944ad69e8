"""The programs of the README run to their end as they stand."""

from __future__ import annotations

import asyncio
import os
import re
import sys
import unittest
from pathlib import Path

from abide_sdk.testing import TestServer

README = (Path(__file__).parents[1] / "README.md").read_text()
PROGRAMS: list[str] = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


class Readme(unittest.IsolatedAsyncioTestCase):
    async def test_every_program_runs_to_its_end(self) -> None:
        said = []
        async with asyncio.timeout(300), TestServer(real_time=True) as server:
            env = {**os.environ, "ABIDE_SERVER": server.url}
            for program in PROGRAMS:
                pipe = asyncio.subprocess.PIPE
                run = await asyncio.create_subprocess_exec(sys.executable, "-c", program, env=env, stdout=pipe)
                said.append((await run.communicate())[0].decode())
                self.assertEqual(run.returncode, 0, program)
        self.assertEqual(said, ["parcel of order 7 was shipped\n", "done True\n"])
