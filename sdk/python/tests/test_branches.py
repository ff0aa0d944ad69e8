"""Branches at their edges: who lost does nothing more, and what was decided stays decided. Also in plain functions."""

from __future__ import annotations

import asyncio
import threading
import unittest
from collections import Counter
from collections.abc import Callable
from typing import Any

from abide_sdk import Context, Retry, RunFailed, RunNotCompleted, SyncContext, WaitCancelled, Workflow
from abide_sdk.testing import TestServer


class Branches(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self) -> None:
        self.server = await self.enterAsyncContext(TestServer())
        self.done = Counter[str]()

    def do(self, what: str) -> Callable[[], None]:
        return lambda: self.done.update([what])

    async def start(self, run: Callable[..., Any]) -> str:
        self.server.worker({"work": run}, grace=0.2)
        await self.server.client.deploy(Workflow("one").task("work", "work", on_code_change="fail"))
        return (await self.server.client.start("one")).id

    async def through(self, run: Callable[..., Any]) -> Any:
        ended = await self.server.skip_waits(await self.start(run))
        if ended["status"] != "COMPLETED":
            raise RunNotCompleted(ended)
        return ended.get("output")

    async def names(self) -> list[str]:
        [run] = [run async for run in self.server.client.runs.list()]
        records: list[Any] = await self.server.history(run["id"])
        recorded = [record for record in records if record["type"] == "JOURNAL_RECORDED"]
        return [entry["name"] for record in recorded for entry in record["entries"]]

    async def test_a_run_in_a_branch_that_lost_is_cancelled_and_not_recorded(self) -> None:
        told: list[str] = []
        begun = asyncio.Event()

        async def work(ctx: Context) -> str:
            async def hang() -> None:
                begun.set()
                try:
                    await asyncio.Event().wait()
                except asyncio.CancelledError:
                    told.append("cancelled")
                    raise

            async def slow() -> str:
                await ctx.run("hang", hang)
                await ctx.run("never", self.do("never"))
                return "slow"

            async def fast() -> str:
                await ctx.run("quick", begun.wait)
                return "fast"

            first = await ctx.any([ctx.branch("slow", slow), ctx.branch("fast", fast)])
            await ctx.sleep("nap", "1h")
            return first.name

        output = await self.through(work)
        self.assertEqual((output, told, self.done["never"]), ("fast", ["cancelled"], 0))
        self.assertEqual(await self.names(), ["quick", "any:slow|fast"])

    async def test_a_branch_that_lost_comes_to_what_it_had_recorded_and_no_further(self) -> None:
        entered = 0

        async def work(ctx: Context) -> Any:
            nonlocal entered
            entered += 1

            async def slow() -> str:
                for n in range(3):
                    # Longer than the rest of the handler takes at a replay.
                    await asyncio.sleep(0.02 if entered > 1 else 0)
                    await ctx.run(f"slow-{n}", self.do(f"slow-{n}"))
                await ctx.wait_for_signal("word", "word")
                await ctx.run("never", self.do("never"))
                return "slow"

            async def fast() -> str:
                await ctx.sleep("nap", "1h")
                return "fast"

            first = await ctx.any([ctx.branch("slow", slow), ctx.branch("fast", fast)])
            await ctx.sleep("later", "1h")
            return first.value

        output = await self.through(work)
        self.assertEqual((output, entered), ("fast", 3))
        self.assertEqual(dict(self.done), {"slow-0": 1, "slow-1": 1, "slow-2": 1})

    async def test_a_branch_that_fails_wins_with_its_error_at_every_replay(self) -> None:
        def charge() -> None:
            self.done.update(["charge"])
            raise ValueError("no money")

        async def work(ctx: Context) -> Any:
            async def pay() -> None:
                await ctx.sleep("nap", "1h")
                await ctx.run("charge", charge)

            try:
                await ctx.any([ctx.branch("pay", pay), ctx.wait_for_signal("word", "word")])
            except RunFailed as error:
                await ctx.sleep("later", "1h")
                return [error.message, self.done["charge"]]

        self.assertEqual(await self.through(work), ["no money", 1])

    async def test_a_branch_that_fails_and_is_not_caught_is_tried_again(self) -> None:
        async def work(ctx: Context) -> Any:
            def charge() -> str:
                self.done.update(["charge"])
                if ctx.attempt == 1:
                    raise ValueError("no money")
                return "paid"

            async def pay() -> str:
                return await ctx.run("charge", charge)

            first = await ctx.any([ctx.branch("pay", pay), ctx.wait_for_signal("word", "word")])
            return first.value

        self.assertEqual((await self.through(work), self.done["charge"]), ("paid", 2))

    async def test_races_within_races_are_each_decided_once(self) -> None:
        async def work(ctx: Context) -> Any:
            async def inner() -> str:
                async def hour() -> str:
                    await ctx.sleep("hour", "1h")
                    return await ctx.run("after-hour", lambda: "hour")

                async def day() -> str:
                    await ctx.sleep("day", "1d")
                    return "day"

                first = await ctx.any([ctx.branch("hour", hour), ctx.branch("day", day)])
                await ctx.sleep("more", "1h")
                return first.value

            outer = await ctx.any([ctx.branch("inner", inner), ctx.sleep("week", "7d")])
            await ctx.sleep("later", "1h")
            return [outer.name, outer.value]

        self.assertEqual(await self.through(work), ["inner", "hour"])
        self.assertEqual(await self.names(), ["after-hour", "any:hour|day", "any:inner|week"])

    async def test_the_waits_and_waitpoints_of_a_branch_that_lost_are_cancelled(self) -> None:
        async def work(ctx: Context) -> Any:
            async def signature() -> Any:
                waitpoint = await ctx.create_waitpoint("signature")
                both = [ctx.wait_for_waitpoint(waitpoint), ctx.wait_for_signal("word", "word")]
                return await ctx.all(both)

            async def link() -> Any:
                await ctx.create_waitpoint("link")
                await asyncio.Event().wait()

            branches = [ctx.branch("signature", signature), ctx.branch("link", link)]
            first = await ctx.any([*branches, ctx.wait_for_signal("go", "go")])
            await ctx.sleep("later", "1h")
            return first.name

        run = await self.start(work)
        await self.server.settle(run)
        await self.server.client.signal(run, "go")
        await self.server.settle(run)
        listed = [wait async for wait in self.server.client.waitpoints.list(run_id=run)]
        still = sorted(wait.get("name") or "" for wait in listed if wait["status"] == "PENDING")
        self.assertEqual(still, ["later"])
        self.assertEqual((await self.server.skip_waits(run)).get("output"), "go")

    async def test_the_back_off_of_a_call_in_a_branch_that_lost_is_cancelled(self) -> None:
        def charge() -> None:
            self.done.update(["charge"])
            raise ValueError("no money")

        async def work(ctx: Context) -> Any:
            async def pay() -> None:
                await ctx.run("charge", charge, retry=Retry(5, backoff_ms=100_000_000, max_backoff_ms=100_000_000))

            first = await ctx.any([ctx.branch("pay", pay), ctx.wait_for_signal("withdrawn", "withdrawn")])
            await ctx.sleep("later", "1h")
            return first.name

        run = await self.start(work)
        await self.server.settle(run)
        await self.server.client.signal(run, "withdrawn")
        waiting = await self.server.settle(run)
        self.assertEqual([wait["kind"] for wait in waiting["waitingFor"]], ["DELAY"])
        ended = await self.server.skip_waits(run)
        self.assertEqual((ended.get("output"), self.done["charge"]), ("withdrawn", 1))

    async def test_a_wait_that_lost_is_cancelled_for_whoever_waits_for_it_elsewhere(self) -> None:
        async def work(ctx: Context) -> Any:
            deadline = ctx.sleep("deadline", "3d")

            async def quick() -> str:
                return await ctx.run("quick", lambda: "quick")

            first = await ctx.any([deadline, ctx.branch("quick", quick)])
            try:
                await deadline
            except WaitCancelled:
                await ctx.sleep("nap", "1h")
                return first.value

        self.assertEqual(await self.through(work), "quick")

    async def test_the_first_failure_of_all_is_the_same_at_every_replay(self) -> None:
        async def work(ctx: Context) -> Any:
            async def late() -> None:
                await ctx.sleep("nap", "1h")
                await ctx.run("late", self.broken("late"))

            async def early() -> None:
                await ctx.run("early", self.broken("early"))

            try:
                await ctx.all([ctx.branch("late", late), ctx.branch("early", early)])
            except RunFailed as error:
                await ctx.sleep("later", "2h")
                await ctx.sleep("later still", "1h")
                return error.message

        self.assertEqual(await self.through(work), "early")

    def broken(self, name: str) -> Callable[[], None]:
        def fail() -> None:
            raise ValueError(name)

        return fail

    async def test_a_name_for_two_races_is_refused(self) -> None:
        async def work(ctx: Context) -> None:
            async def nothing() -> None:
                return None

            for _ in range(2):
                await ctx.any([ctx.branch("a", nothing), ctx.branch("b", nothing)])

        with self.assertRaisesRegex(RunNotCompleted, "`any:a|b` is used twice"):
            await self.through(work)

    async def test_long_names_make_a_short_one(self) -> None:
        async def work(ctx: Context) -> Any:
            async def nothing() -> None:
                return None

            first = await ctx.any([ctx.branch("a" * 150, nothing), ctx.branch("b", nothing)])
            await ctx.sleep("nap", "1h")
            return first.index

        self.assertEqual(await self.through(work), 0)
        [name] = await self.names()
        self.assertEqual((len(name), name[:5]), (100, "any:a"))

    async def test_plain_functions_have_branches_in_threads(self) -> None:
        def work(ctx: SyncContext) -> Any:
            def slow() -> str:
                ctx.run("slow", self.do("slow"))
                ctx.wait_for_signal("word", "word")
                ctx.run("never", self.do("never"))
                return "slow"

            def fast() -> str:
                ctx.sleep("nap", "1h")
                return ctx.run("fast", lambda: "fast")

            first = ctx.any([ctx.branch("slow", slow), ctx.branch("fast", fast), ctx.waits.sleep("week", "7d")])
            ctx.sleep("later", "1h")
            both = ctx.all((ctx.branch("one", lambda: ctx.run("one", lambda: 1)), ctx.waits.sleep("b", "1h")))
            return [first.name, first.value, *both]

        self.assertEqual(await self.through(work), ["fast", "fast", 1, None])
        self.assertEqual(dict(self.done), {"slow": 1})

    async def test_what_a_thread_did_in_a_branch_that_lost_is_not_recorded(self) -> None:
        release, ended = threading.Event(), threading.Event()

        def work(ctx: SyncContext) -> Any:
            def slow() -> None:
                try:
                    ctx.run("hang", release.wait)
                    ctx.run("never", self.do("never"))
                finally:
                    ended.set()

            def fast() -> str:
                return ctx.run("fast", lambda: "fast")

            first = ctx.any([ctx.branch("slow", slow), ctx.branch("fast", fast)])
            ctx.sleep("later", "1h")
            return first.value

        run = await self.start(work)
        waiting = await self.server.settle(run)
        self.assertEqual(waiting["status"], "WAITING")
        release.set()
        await asyncio.to_thread(ended.wait)
        self.assertEqual((await self.server.skip_waits(run)).get("output"), "fast")
        self.assertEqual((self.done["never"], await self.names()), (0, ["fast", "any:slow|fast"]))


if __name__ == "__main__":
    unittest.main()
