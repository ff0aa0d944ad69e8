"""Every scenario of sdk/conformance/scenarios.md, against a real server."""

from __future__ import annotations

import asyncio
import json
import re
import unittest
from pathlib import Path
from typing import Any

from abide_sdk.testing import TestServer

from . import (
    approval_scenarios,
    around_scenarios,
    branch_scenarios,
    child_scenarios,
    failure_scenarios,
    http_scenarios,
    key_scenarios,
    limit_scenarios,
    operator_scenarios,
    process_scenarios,
    push_scenarios,
    replay_scenarios,
    scenarios,
)

TEXT = (Path(__file__).parents[2] / "conformance" / "scenarios.md").read_text()
EXPECTED: dict[str, Any] = {
    part.split("\n", 1)[0]: json.loads(re.findall(r"```json\n(.*?)\n```", part, re.DOTALL)[0])
    for part in re.split(r"^## ", TEXT, flags=re.MULTILINE)[1:]
}
PATIENCE = 300


class Conformance(unittest.TestCase):
    maxDiff = None

    def test_there_is_a_function_for_every_scenario_and_a_scenario_for_every_function(self) -> None:
        assert approval_scenarios and around_scenarios and branch_scenarios and child_scenarios
        assert failure_scenarios and http_scenarios and key_scenarios and limit_scenarios and operator_scenarios
        assert push_scenarios and replay_scenarios
        names = [*scenarios.scenarios, *process_scenarios.scenarios]
        self.assertEqual(sorted(names), sorted(EXPECTED))


def add(name: str, scenario: scenarios.Scenario, real_time: bool) -> None:
    async def play() -> Any:
        async with asyncio.timeout(PATIENCE), TestServer(real_time=real_time) as server:
            return await scenario(server)

    def test(self: Conformance) -> None:
        self.assertEqual(asyncio.run(play()), EXPECTED[name])

    word = "test_" + re.sub(r"\W+", "_", name)
    test.__name__, test.__doc__ = word, name
    setattr(Conformance, word, test)


for name, scenario in scenarios.scenarios.items():
    add(name, scenario, real_time=False)
for name, scenario in process_scenarios.scenarios.items():
    add(name, scenario, real_time=name in process_scenarios.REAL_TIME)

if __name__ == "__main__":
    unittest.main()
