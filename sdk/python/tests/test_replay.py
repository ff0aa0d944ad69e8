"""The replay check: what fits, what does not, and what it says. No server is needed."""

from __future__ import annotations

import asyncio
import hashlib
import json
import tempfile
import unittest
from pathlib import Path
from typing import Any

from abide_sdk import CallFailed, Context, HttpResponse, SyncContext
from abide_sdk.testing import ReplayFailed, assert_replays, replay_check


def line(*journal: dict[str, Any], **more: Any) -> dict[str, Any]:
    about = {"runId": "run_1", "workflow": "orders", "version": "1", "step": "desk", "handler": "desk", "attempt": 1}
    rest: dict[str, Any] = {"input": None, "state": {}, "config": None, "checkpoint": None, "journal": list(journal)}
    return {**about, **rest, **more}


def result(name: str, value: Any = None) -> dict[str, Any]:
    return {"name": name, "result": value}


def wait(name: str, kind: str, asked: str, status: str = "PENDING", payload: Any = None) -> dict[str, Any]:
    known = {"kind": kind, "asked": asked, "status": status, "payload": payload, "waitpointId": f"wp_{name}"}
    return {"name": name, "wait": known}


class ReplayCheck(unittest.IsolatedAsyncioTestCase):
    async def verdicts(self, handler: Any, *lines: dict[str, Any]) -> list[tuple[str, str | None]]:
        found = await replay_check({"desk": handler}, lines, grace=0.05, patience=60)
        return [(verdict.verdict, verdict.message) for verdict in found]

    async def test_plain_functions_are_replayed_as_well(self) -> None:
        def desk(ctx: SyncContext) -> None:
            ctx.run("fetch", self.fail)
            waitpoint = ctx.create_waitpoint("signature")
            ctx.log("%s", waitpoint.id)
            ctx.checkpoint({"page": 1})
            ctx.wait_for_waitpoint(waitpoint)
            ctx.run("store", self.fail)

        known = wait("signature", "WEBHOOK", "a call", "COMPLETED", {"body": 1})
        lines = [line(), line(result("fetch")), line(result("fetch"), known), line(result("bill"))]
        found = await self.verdicts(desk, *lines)
        changed = "the journal holds `bill`, and the code comes to `fetch`"
        self.assertEqual(found, [("fits", None)] * 3 + [("mismatch", changed)])

    async def test_a_handler_that_ends_fits_and_one_that_fails_or_hangs_does_not(self) -> None:
        async def ends(ctx: Context, input: str) -> str:
            if input == "fails":
                raise KeyError("cents")
            if input == "hangs":
                await asyncio.Event().wait()
            if input == "asks":
                await ctx.client.runs.find("run_1")
            return "done"

        lines = [line(input=input) for input in ("ends", "fails", "hangs", "asks")]
        found = await replay_check({"desk": ends}, lines, patience=3)
        self.assertEqual([one.verdict for one in found], ["fits", "failed", "failed", "failed"])
        self.assertEqual(found[1].message, "KeyError: 'cents'")
        self.assertIn("in a replay there is no server", found[3].message or "")

    async def test_a_pause_after_a_planned_change_fits(self) -> None:
        async def desk(ctx: Context) -> None:
            if ctx.patched("new"):
                await ctx.pause("rest", "1h")

        self.assertEqual(await self.verdicts(desk, line()), [("fits", None)])

    async def test_branches_that_lost_come_to_what_they_had_recorded(self) -> None:
        async def desk(ctx: Context) -> None:
            async def slow() -> None:
                await ctx.run("slow", self.fail)
                await ctx.wait_for_signal("word", "word")

            async def fast() -> None:
                await ctx.sleep("nap", "1h")

            await ctx.any([ctx.branch("slow", slow), ctx.branch("fast", fast)])
            await ctx.run("end", self.fail)

        word, nap = wait("word", "SIGNAL", "signal word", "CANCELLED"), wait("nap", "DELAY", "a sleep", "COMPLETED")
        decided = result("any:slow|fast", {"index": 1, "name": "fast", "cancelled": ["word"]})
        self.assertEqual(await self.verdicts(desk, line(result("slow"), nap, word, decided)), [("fits", None)])

    async def test_what_came_of_a_call_of_the_engine_is_read_from_the_journal(self) -> None:
        seen: list[Any] = []

        async def desk(ctx: Context) -> None:
            try:
                call = ctx.http("rate", "https://a.example/eur", body={"n": 1}, returns=dict[str, int])
                answer = (await ctx.any([call, ctx.sleep("late", "1d")])).value
                seen.append(answer)
            except CallFailed as error:
                seen.append((error.code, error.call))
            await ctx.run("end", self.fail)

        async def other(ctx: Context) -> None:
            await ctx.http("rate", "https://a.example/usd", body={"n": 1})

        digest = hashlib.sha256(b'{"n":1}').hexdigest()[:16]
        asked = f"call of GET https://a.example/eur with {digest}"
        answer = {"status": 200, "headers": {"a": "b"}, "body": {"rate": 3}}
        late = wait("late", "DELAY", "a sleep")
        done = wait("rate", "CHILD", asked, "COMPLETED", {"status": "COMPLETED", "output": answer})
        error = {"code": "HTTP_STATUS", "message": "503"}
        failed = wait("rate", "CHILD", asked, "COMPLETED", {"status": "FAILED", "error": error})
        found = await self.verdicts(desk, line(done, late), line(failed, late))
        self.assertEqual(found, [("fits", None)] * 2)
        self.assertEqual(seen, [HttpResponse(200, {"a": "b"}, {"rate": 3}), ("HTTP_STATUS", "rate")])
        [(verdict, _)] = await self.verdicts(other, line(done))
        self.assertEqual(verdict, "mismatch")

    async def test_a_file_is_read_and_what_does_not_fit_is_listed(self) -> None:
        async def desk(ctx: Context) -> None:
            await ctx.run("pack", self.fail)

        lines = [line(result("pack")), line(result("charge"), runId="run_2"), line(handler="gone", runId="run_3")]
        with tempfile.TemporaryDirectory() as directory:
            file = Path(directory) / "journals.jsonl"
            file.write_text("".join(json.dumps(one) + "\n" for one in lines))
            with self.assertRaises(ReplayFailed) as caught:
                await assert_replays({"desk": desk}, file, grace=0.05)
        self.assertEqual(
            str(caught.exception),
            "2 of 3 journals do not fit the code:\n"
            "  run_2 desk (desk): mismatch: the journal holds `charge`, and the code comes to `pack`\n"
            "  run_3 desk (gone): no_handler: there is no handler `gone`",
        )


if __name__ == "__main__":
    unittest.main()
