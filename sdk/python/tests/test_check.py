"""A builder tells what the server's check would: E25, ``build()`` never gave an error and deploy did."""

from __future__ import annotations

import json
import unittest
from pathlib import Path

from abide_sdk import InvalidWorkflow, Workflow
from abide_sdk.check import problems

CASES = Path(__file__).resolve().parents[2] / "conformance" / "checks.json"


class Check(unittest.TestCase):
    def test_every_case_is_told_as_the_server_tells_it(self) -> None:
        for case in json.loads(CASES.read_text()):
            with self.subTest(case["name"]):
                told = [[problem.pointer, problem.code] for problem in problems(case["workflow"])]
                self.assertEqual(sorted(told), case["problems"])

    def test_build_raises_what_is_wrong_all_of_it(self) -> None:
        lost = Workflow("lost").task("a", "h", next="nowhere").task("a", "h", retry={"maxAttempts": 99})
        with self.assertRaises(InvalidWorkflow) as raised:
            lost.build()
        codes = sorted(problem.code for problem in raised.exception.problems)
        self.assertEqual(codes, ["DUPLICATE_NAME", "OUT_OF_RANGE", "UNKNOWN_STEP"])

    def test_the_handlers_of_a_failure_and_of_a_cancel_are_in_the_document(self) -> None:
        built = Workflow("order").task("pay", "pay").on_failure("tell-ops", retry={"maxAttempts": 10}).on_cancel("release", timeout="30s")
        document = built.build()
        self.assertEqual(document["onFailure"], {"handler": "tell-ops", "retry": {"maxAttempts": 10}})
        self.assertEqual(document["onCancel"], {"handler": "release", "timeout": "30s"})
