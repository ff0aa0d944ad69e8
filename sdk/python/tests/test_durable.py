"""Durable code at its edges: what cannot be replayed is refused, and what can be is. Also in plain functions."""

from __future__ import annotations

import asyncio
import dataclasses
import unittest
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pydantic

from abide_sdk import Client, Context, RunNotCompleted, SyncContext, Workflow, sync
from abide_sdk.problem import Invalid
from abide_sdk.testing import TestServer
from abide_sdk.transport import Request, Transport
from abide_sdk.worker import Worker


@dataclasses.dataclass
class Order:
    id: int
    amount: float


class Parcel(pydantic.BaseModel):
    order: int
    grams: int | None = None


class Durable(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self) -> None:
        self.server = await self.enterAsyncContext(TestServer())

    async def start(self, run: Callable[..., Any], input: Any = None, **fields: Any) -> str:
        """A run of one task with a handler of its own."""
        self.server.worker({"work": run}, grace=0.2)
        await self.server.client.deploy(Workflow("one").task("work", "work", **fields))
        return (await self.server.client.start("one", input)).id

    async def through(self, run: Callable[..., Any], input: Any = None, **fields: Any) -> Any:
        ended = await self.server.skip_waits(await self.start(run, input, **fields))
        if ended["status"] != "COMPLETED":
            raise RunNotCompleted(ended)
        return ended.get("output")

    async def refused(self, run: Callable[..., Any], code: str, words: str) -> None:
        with self.assertRaisesRegex(RunNotCompleted, words) as caught:
            await self.through(run, on_code_change="fail")
        self.assertEqual(caught.exception.code, code)

    async def test_a_name_that_is_used_twice_is_refused_at_once(self) -> None:
        async def twice(ctx: Context) -> None:
            await ctx.run("a", lambda: 1)
            await ctx.run("a", lambda: 2)

        await self.refused(twice, "DURABLE_CALL_MISUSED", "`a` is used twice")

    async def test_a_durable_call_inside_of_a_run_is_refused_whatever_the_handler_makes_of_it(self) -> None:
        async def nested(ctx: Context) -> str:
            async def inner() -> None:
                await ctx.sleep("inner", "1h")

            try:
                await ctx.run("outer", inner)
            except Exception:
                pass
            return "went on"

        await self.refused(nested, "DURABLE_CALL_MISUSED", "`inner` is inside of `outer`")

    async def test_a_run_that_becomes_a_wait_is_changed_code(self) -> None:
        entered = 0

        async def changing(ctx: Context) -> None:
            nonlocal entered
            entered += 1
            if entered == 1:
                await ctx.run("a", lambda: 1)
            else:
                await ctx.sleep("a", "1h")
            await ctx.sleep("b", "1h")

        await self.refused(changing, "CODE_CHANGED", "`a` as a run, and the code comes to `a` as a wait")

    async def test_a_handler_that_ends_before_it_comes_to_what_it_recorded_is_changed_code(self) -> None:
        entered = 0

        async def shorter(ctx: Context) -> str:
            nonlocal entered
            entered += 1
            if entered > 1:
                return "short"
            await ctx.run("a", lambda: 1)
            await ctx.sleep("b", "1h")
            return "long"

        await self.refused(shorter, "CODE_CHANGED", "`a`")

    async def test_branches_may_come_to_their_calls_in_any_order_and_take_their_time_between_them(self) -> None:
        entered = 0

        async def work(ctx: Context) -> Any:
            nonlocal entered
            entered += 1

            async def slow() -> str:
                if entered > 1:
                    await asyncio.sleep(0.02)
                return await ctx.run("slow", lambda: "slow")

            async def other() -> str:
                await ctx.sleep("nap", "1h")
                return await ctx.run("after the nap", lambda: "other")

            return await asyncio.gather(slow(), other())

        self.assertEqual((await self.through(work), entered), (["slow", "other"], 2))

    async def test_branches_in_a_task_group_are_left_as_well(self) -> None:
        async def work(ctx: Context) -> Any:
            async def branch(name: str, duration: timedelta) -> str:
                await ctx.sleep(name, duration)
                return name

            async with asyncio.TaskGroup() as group:
                branches = [group.create_task(branch(name, timedelta(hours=n))) for n, name in enumerate("xyz")]
            return [branch.result() for branch in branches]

        self.assertEqual(await self.through(work), ["x", "y", "z"])

    async def test_of_branches_that_fail_together_what_succeeded_is_kept_and_the_failure_is_tried_again(self) -> None:
        done: list[str] = []

        async def work(ctx: Context) -> Any:
            async def slow() -> int:
                await asyncio.sleep(0.02)
                done.append("slow")
                return 1

            def broken() -> int:
                done.append("broken")
                if ctx.attempt == 1:
                    raise RuntimeError("not yet")
                return 2

            return await asyncio.gather(ctx.run("slow", slow), ctx.run("broken", broken))

        output = await self.through(work, retry={"maxAttempts": 2})
        self.assertEqual((output, done), ([1, 2], ["broken", "slow", "broken"]))

    async def test_what_any_decided_stays_decided_also_beside_other_waits(self) -> None:
        seen: set[str] = set()

        async def work(ctx: Context) -> str:
            async def race() -> str:
                first = await ctx.any([ctx.wait_for_signal("x", "x"), ctx.wait_for_signal("y", "y")])
                seen.add(first.name)
                return await ctx.run("noted", lambda: first.name)

            async def long() -> None:
                await ctx.sleep("long", "1d")

            name, _ = await asyncio.gather(race(), long())
            return name

        run = await self.start(work)
        await self.server.settle(run)
        await self.server.client.signal(run, "y")
        await self.server.settle(run)
        await self.server.client.signal(run, "x")
        ended = await self.server.skip_waits(run)
        self.assertEqual((ended.get("output"), seen), ("y", {"y"}))

    async def test_a_sleep_that_is_begun_early_counts_from_its_beginning(self) -> None:
        begun = await self.server.now()

        async def work(ctx: Context) -> float:
            deadline = ctx.sleep("deadline", "2h")
            await ctx.sleep("nap", "1h")
            await deadline
            return (await self.server.now() - begun).total_seconds()

        self.assertEqual(await self.through(work), 2 * 3_600)

    async def test_a_wait_that_somebody_cancels_is_an_error_of_its_own(self) -> None:
        async def work(ctx: Context) -> Any:
            return await ctx.wait_for_signal("word", "word")

        run = await self.start(work)
        waiting = await self.server.settle(run)
        await self.server.client.waitpoints.cancel(waiting["waitingFor"][0].get("waitpointId") or "")
        error = (await self.server.settle(run)).get("error")
        self.assertEqual(error and error["code"], "WAIT_CANCELLED")

    async def test_a_result_that_is_not_json_fails_the_task_and_says_whose_it_is(self) -> None:
        async def work(ctx: Context) -> None:
            await ctx.run("loop", object)

        await self.refused(work, "NOT_JSON", "`loop`")

    async def test_state_is_merged_and_every_task_of_a_run_has_one_trace(self) -> None:
        traces: list[str] = []

        async def work(ctx: Context) -> None:
            traces.append(ctx.traceparent)
            await ctx.sleep("nap", "1h")
            ctx.set_state(a=1)
            ctx.set_state(b=2)

        ended = await self.server.skip_waits(await self.start(work))
        ids = {trace.split("-")[1] for trace in traces}
        self.assertEqual((ended["state"], len(traces), len(ids)), ({"a": 1, "b": 2}, 2, 1))

    async def test_an_input_is_read_by_the_type_it_is_declared_with(self) -> None:
        async def work(ctx: Context, order: Order) -> Any:
            return await ctx.run("double", lambda: dataclasses.replace(order, amount=order.amount * 2), returns=Order)

        self.assertEqual(await self.through(work, Order(7, 21)), {"id": 7, "amount": 42})

    async def test_a_model_of_pydantic_is_an_input_a_result_and_a_schema(self) -> None:
        async def work(ctx: Context, parcel: Parcel) -> Parcel:
            return await ctx.run("weigh", lambda: parcel.model_copy(update={"grams": 500}), returns=Parcel)

        self.server.worker({"work": work})
        workflow = Workflow("parcels", input_schema=Parcel).task("work", "work")
        await self.server.client.deploy(workflow)
        output = await self.server.client.start_and_wait(workflow, Parcel(order=7), returns=Parcel)
        self.assertEqual(output, Parcel(order=7, grams=500))
        with self.assertRaises(Invalid) as caught:
            await self.server.client.start(workflow, {"order": "seven"})
        self.assertEqual(caught.exception.code, "INVALID_INPUT")

    async def test_what_was_recorded_and_what_came_are_of_the_types_that_the_code_declares(self) -> None:
        kinds: list[str] = []

        def fetch() -> list[Order]:
            return [Order(7, 1.5)]

        async def work(ctx: Context) -> float:
            [fetched] = await ctx.run("fetch", fetch)
            kinds.append(type(fetched).__name__)
            paid = await ctx.wait_for_signal("paid", "paid", returns=Parcel)
            review = await ctx.approve("review", content=Order(7, 2.0), timeout="1h", returns=Order)
            return fetched.amount + (paid.grams or 0 if paid else 0) + review.content.amount

        run = await self.start(work)
        await self.server.settle(run)
        await self.server.client.signal(run, "paid", Parcel(order=7, grams=10))
        self.assertEqual((await self.server.skip_waits(run)).get("output"), 13.5)
        self.assertEqual(set(kinds), {"Order"})

    async def test_what_is_not_of_the_declared_type_fails_with_its_place(self) -> None:
        async def work(ctx: Context) -> Any:
            return await ctx.run("fetch", lambda: {"id": "seven", "amount": 1}, returns=Order)

        await self.refused(work, "UNEXPECTED_DATA", "what `fetch` gives is not .* at /id: there is a text")

    async def test_a_result_that_would_come_back_as_something_else_is_refused_at_once(self) -> None:
        async def work(ctx: Context) -> Any:
            return await ctx.run("fetch", lambda: Order(7, 1))

        await self.refused(work, "NOT_JSON", "`returns=Order`")

    async def test_a_list_is_iterated_given_whole_or_by_pages(self) -> None:
        await self.server.client.deploy(Workflow("nap").sleep("nap", "1h"))
        ids = {(await self.server.client.start("nap")).id for _ in range(5)}
        runs = self.server.client.runs.list(limit=2)
        self.assertEqual({run["id"] async for run in runs}, ids)
        self.assertEqual({run["id"] for run in await runs.all()}, ids)
        self.assertEqual([len(page) async for page in runs.pages()], [2, 2, 1])
        with self.assertRaisesRegex(ValueError, "more than 4 items"):
            await runs.all(at_most=4)

        def blocking() -> int:
            with sync.Client(self.server.url) as client:
                return len(client.runs.list(limit=2).all())

        self.assertEqual(await asyncio.to_thread(blocking), 5)

    async def test_a_plain_function_has_the_same_durable_calls(self) -> None:
        def work(ctx: SyncContext, input: Any) -> Any:
            packed = ctx.run("pack", lambda: f"packed {input['id']}")
            ctx.sleep("nap", "1h")
            ctx.notify("tell", "told", {"n": 1})
            waitpoint = ctx.create_waitpoint("signature", timeout="1d")
            ctx.client.waitpoints.resume(waitpoint.resume_url, {"ok": True}) if not signed else None
            signed.append(waitpoint.id)
            call = ctx.wait_for_waitpoint(waitpoint)
            first = ctx.any([ctx.waits.wait_for_signal("word", "word"), ctx.waits.sleep("too-late", "1d")])
            values = ctx.all([ctx.waits.sleep("a", "1h"), ctx.waits.wait_for_signal("b", "b", timeout="2h")])
            ctx.pause("rest", "1h", checkpoint={"page": 1})
            review = ctx.approve("review", timeout="1h")
            told = ctx.client.events.list(event_id="told").page()
            return [packed, call and call.body, first.name, values, ctx.last_checkpoint, review.decision, len(told.data)]

        signed: list[str] = []
        expected = ["packed 7", {"ok": True}, "too-late", [None, None], {"page": 1}, "timeout", 1]
        self.assertEqual(await self.through(work, {"id": 7}), expected)

    async def test_a_plain_function_that_swallows_its_suspension_is_found_out(self) -> None:
        def work(ctx: SyncContext) -> str:
            try:
                ctx.sleep("nap", "1h")
            except BaseException:
                pass
            return "swallowed"

        await self.refused(work, "SUSPENSION_SWALLOWED", "`nap`")

    async def test_a_worker_that_is_stopped_gives_back_what_it_cannot_finish(self) -> None:
        entered = asyncio.Queue[int]()
        count = 0

        async def hang(ctx: Context) -> str:
            nonlocal count
            count += 1
            entered.put_nowait(count)
            if count == 1:
                await asyncio.Event().wait()
            return "done"

        client = self.server.client
        await client.deploy(Workflow("one").task("work", "work"))
        run = await client.start("one")
        first = Worker(client, {"work": hang}, drain=0.05)
        working = asyncio.ensure_future(first.start())
        await entered.get()
        await first.stop()
        await working
        self.server.worker({"work": hang})
        output = await run.result()
        retries = [record for record in await self.server.history(run) if record["type"] == "STEP_RETRYING"]
        self.assertEqual((output, count, retries), ("done", 2, []))

    async def test_reports_that_come_together_go_out_together(self) -> None:
        requests = 0

        class Counting(Transport):
            async def json(self, request: Request) -> Any:
                nonlocal requests
                requests += request.path.endswith("/tasks/report")
                return await super().json(request)

        async def nothing(ctx: Context) -> None:
            return None

        item = {"type": "task", "handler": "many"}
        await self.server.client.deploy(Workflow("many").map("all", "{{ input }}", item, concurrency=500))
        run = await self.server.client.start("many", list(range(500)))
        worker = Worker(Client(transport=Counting(self.server.url)), {"many": nothing}, concurrency=500)
        working = asyncio.ensure_future(worker.start())
        await run.result()
        await worker.stop()
        await working
        await worker.client.close()
        self.assertLessEqual(requests, 20)

    async def test_a_backup_is_a_store(self) -> None:
        file = b"".join([part async for part in self.server.client.admin.backup()])
        self.assertEqual(file[:15], b"SQLite format 3")

        def blocking() -> bytes:
            with sync.Client(self.server.url) as client:
                return b"".join(client.admin.backup())

        self.assertEqual((await asyncio.to_thread(blocking))[:15], b"SQLite format 3")

    async def test_a_worker_that_the_server_refuses_ends_with_the_reason(self) -> None:
        worker = Worker(self.server.client, {"x" * 300: print})
        with self.assertRaises(Invalid) as caught:
            await worker.start()
        self.assertEqual(caught.exception.code, "MALFORMED")
