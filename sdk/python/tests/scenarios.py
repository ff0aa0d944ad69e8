"""The scenarios of sdk/conformance/scenarios.md that need one process. Each gives what it came to."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

from abide_sdk import (
    Client,
    Context,
    DurableCall,
    NotRetryable,
    Problem,
    Retry,
    RetryAfter,
    RunFailed,
    RunHandle,
    TaskError,
    Worker,
    Workflow,
)
from abide_sdk.testing import TestServer

Scenario = Callable[[TestServer], Awaitable[Any]]
scenarios: dict[str, Scenario] = {}


def scenario(name: str) -> Callable[[Scenario], Scenario]:
    def add(function: Scenario) -> Scenario:
        scenarios[name] = function
        return function

    return add


async def one(server: TestServer, run: Callable[..., Any]) -> None:
    """A workflow of one task."""
    server.worker({"work": run}, grace=0.1, heartbeat=0.05)
    await server.client.deploy(Workflow("one").task("work", "work"))


async def failure(server: TestServer, run: RunHandle) -> dict[str, Any]:
    """The failure of a run that does not complete."""
    ended = await server.skip_waits(run)
    error = ended.get("error")
    assert error, ended
    return {**error, "attempts": ended["steps"][0]["attempt"]}


async def code_of(work: Awaitable[Any]) -> str:
    try:
        await work
    except Problem as problem:
        return problem.code
    return "none"


def named(message: str, *names: str) -> list[str]:
    return [name for name in names if f"`{name}`" in message]


@scenario("start and wait")
async def start_and_wait(server: TestServer) -> Any:
    async def add(ctx: Context, input: Any) -> int:
        return int(input["a"] + input["b"])

    await one(server, add)
    client = server.client
    output = await client.start_and_wait("one", {"a": 2, "b": 3})
    first = await client.start("one", {"a": 1, "b": 1}, idempotency_key="order-7")
    again = await client.start("one", {"a": 1, "b": 1}, idempotency_key="order-7")
    other = await code_of(client.start("one", {"a": 1, "b": 2}, idempotency_key="order-7"))
    return {"output": output, "sameRun": first.id == again.id, "otherInput": other}


@scenario("start many")
async def start_many(server: TestServer) -> Any:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
    await server.client.deploy(Workflow("many", input_schema=schema).sleep("nap", "1h"))
    inputs = [{"n": 1}, {"n": "two"}, {"n": 3}]
    first = await server.client.start_many("many", inputs, idempotency_key="night")
    again = await server.client.start_many("many", inputs, idempotency_key="night")
    ids = [id for result in first["results"] if (id := result.get("id"))]
    problem = first["results"][1].get("problem")
    return {
        "outcomes": [result["outcome"] for result in first["results"]],
        "code": problem and problem["code"],
        "again": [result["outcome"] for result in again["results"]],
        "sameRuns": ids == [id for result in again["results"] if (id := result.get("id"))],
        "inputs": [(await server.client.runs.find(id))["input"] for id in ids],
    }


@scenario("start on an event")
async def start_on_an_event(server: TestServer) -> Any:
    async def sync(ctx: Context, input: Any) -> Any:
        return input

    flow = Workflow("sync").start_on(
        "account.changed",
        match='event.region == "EU"',
        input={"account": "{{ event.id }}"},
        idempotency_key="{{ event.id }}",
    )
    server.worker({"sync": sync})
    await server.client.deploy(flow.task("work", "sync"))
    data = {"region": "EU", "id": 7}

    def outcomes(sent: Any) -> list[str]:
        return [start["outcome"] for start in sent["started"]]

    dry = await server.client.notify("account.changed", data, dry_run=True)
    first = await server.client.notify("account.changed", data)
    again = await server.client.notify("account.changed", data)
    other = await server.client.notify("account.changed", {"region": "US", "id": 7})
    run = first["started"][0].get("runId") or ""
    return {
        "dryRun": outcomes(dry),
        "first": outcomes(first),
        "again": outcomes(again),
        "sameRun": again["started"][0].get("runId") == run,
        "other": outcomes(other),
        "output": (await server.client.runs.wait(run)).get("output"),
    }


@scenario("cancel on an event")
async def cancel_on_an_event(server: TestServer) -> Any:
    client = server.client
    mine = "event.id == input.account"
    flow = Workflow("sync").cancel_on("account.closed", match=mine)
    flow.restart_on("account.moved", match=mine, input={"account": "{{ event.to }}"}).sleep("nap", "1h")
    await client.deploy(flow)
    first, second = await client.start("sync", {"account": 7}), await client.start("sync", {"account": 8})
    await client.notify("account.closed", {"id": 7})
    cancelled = [(await run.get())["status"] for run in (first, second)]
    await client.notify("account.moved", {"id": 8, "to": 9})
    waiting = [run async for run in client.runs.list(status="WAITING")]
    return {
        "cancelled": cancelled,
        "restarted": (await second.get())["status"],
        "next": (await client.runs.find(waiting[0]["id"]))["input"],
    }


@scenario("retries")
async def retries(server: TestServer) -> Any:
    async def work(ctx: Context) -> Any:
        if ctx.attempt < 3:
            raise RuntimeError("not yet")
        return {"attempt": ctx.attempt}

    await one(server, work)
    run = await server.client.start("one")
    ended = await server.skip_waits(run)
    retrying = [record for record in await server.history(run) if record["type"] == "STEP_RETRYING"]
    return {"output": ended.get("output"), "retrying": len(retrying)}


@scenario("not retryable")
async def not_retryable(server: TestServer) -> Any:
    async def work(ctx: Context) -> None:
        raise NotRetryable("no money", code="CARD_DECLINED")

    await one(server, work)
    failed = await failure(server, await server.client.start("one"))
    return {name: failed[name] for name in ("code", "message", "attempts")}


@scenario("retry after")
async def retry_after(server: TestServer) -> Any:
    async def work(ctx: Context) -> int:
        if ctx.attempt == 1:
            raise RetryAfter("come back later", "1h")
        return ctx.attempt

    await one(server, work)
    before = await server.now()
    ended = await server.skip_waits(await server.client.start("one"))
    waited = await server.now() - before
    return {"output": ended.get("output"), "waitedMs": round(waited.total_seconds() * 1_000)}


@scenario("event before the wait")
async def event_before_the_wait(server: TestServer) -> Any:
    sent = False

    async def work(ctx: Context) -> Any:
        nonlocal sent
        if not sent:
            sent = True
            await server.client.notify("paid", {"order": 8})
            await server.client.notify("paid", {"order": 7, "paid": True})
        return await ctx.wait_for_event("payment", "paid", match="event.order == input.order", timeout="1d")

    await one(server, work)
    return {"received": await server.client.start_and_wait("one", {"order": 7})}


@scenario("lookback")
async def lookback(server: TestServer) -> Any:
    async def work(ctx: Context, input: Any) -> Any:
        return await ctx.wait_for_event("early", "early", timeout="1h", lookback=input.get("lookback"))

    await one(server, work)
    await server.client.notify("early", {"n": 1})
    await server.advance("1m")
    without = await server.run_through("one", {})
    return {"without": without, "with": await server.run_through("one", {"lookback": "1d"})}


@scenario("waitpoint URL called before the handler waits")
async def waitpoint_url(server: TestServer) -> Any:
    urls: list[str] = []
    codes: list[str] = []

    async def work(ctx: Context) -> Any:
        waitpoint = await ctx.create_waitpoint("signature", timeout="1d")
        urls.append(waitpoint.resume_url)
        if len(urls) == 1:
            await ctx.client.waitpoints.resume(waitpoint.resume_url, {"signed": "ada"})
        codes.append(await code_of(ctx.client.waitpoints.resume(waitpoint.resume_url, {"signed": "bob"})))
        call = await ctx.wait_for_waitpoint(waitpoint)
        return call and call.body

    await one(server, work)
    body = await server.client.start_and_wait("one")
    return {"body": body, "sameUrl": len(urls) == 2 and urls[0] == urls[1], "again": codes[0]}


@scenario("signals in their order")
async def signals_in_their_order(server: TestServer) -> Any:
    async def work(ctx: Context) -> Any:
        await ctx.sleep("first", "1h")
        return [await ctx.wait_for_signal(name, "word", timeout="1h") for name in "abc"]

    await one(server, work)
    run = await server.client.start("one")
    await run.signal("word", "first")
    await run.signal("word", "second")
    await server.skip_waits(run)
    return {"taken": await run.result()}


@scenario("pause with checkpoint")
async def pause_with_checkpoint(server: TestServer) -> Any:
    async def work(ctx: Context) -> Any:
        if ctx.last_checkpoint is None:
            await ctx.checkpoint({"page": 2})
        await ctx.pause("rest", "1d", checkpoint={"page": 3})
        return {"checkpoint": ctx.last_checkpoint, "attempt": ctx.attempt}

    await one(server, work)
    run = await server.client.start("one")
    paused = await server.settle(run)
    await server.skip_waits(run)
    return {**await run.result(), "while": paused["steps"][0]["status"]}


@scenario("pause in a loop")
async def pause_in_a_loop(server: TestServer) -> Any:
    async def work(ctx: Context) -> Any:
        for _ in range(3):
            await ctx.pause("poll-again", "1h")
        return {"asked": 3, "attempt": ctx.attempt}

    await one(server, work)
    before = await server.now()
    run = await server.client.start("one")
    await server.skip_waits(run)
    waited = await server.now() - before
    return {**await run.result(returns=dict[str, Any]), "waitedMs": round(waited.total_seconds() * 1_000)}


async def first_of_two(server: TestServer, happens: Callable[[RunHandle], Awaitable[Any]]) -> Any:
    """A signal against a sleep of a day."""

    async def work(ctx: Context) -> Any:
        first = await ctx.any([ctx.wait_for_signal("reply", "reply"), ctx.sleep("too-late", "1d")])
        return {"index": first.index, "name": first.name, "value": first.value}

    await one(server, work)
    run = await server.client.start("one")
    await server.settle(run)
    await happens(run)
    output = await run.result(returns=dict[str, Any])
    waits = [wait async for wait in server.client.waitpoints.list(run_id=run.id)]
    return {**output, "loser": next(wait["status"] for wait in waits if wait["name"] != output["name"])}


@scenario("any, and the loser is cancelled")
async def any_and_the_loser(server: TestServer) -> Any:
    return await first_of_two(server, lambda run: run.signal("reply", {"yes": True}))


@scenario("any, and time wins")
async def any_and_time_wins(server: TestServer) -> Any:
    return await first_of_two(server, server.skip_waits)


@scenario("all")
async def all_of_them(server: TestServer) -> Any:
    entered = 0

    async def work(ctx: Context) -> Any:
        nonlocal entered
        entered += 1
        waits = [ctx.sleep("nap", "1h"), ctx.wait_for_signal("word", "word"), ctx.wait_for_event("event", "event")]
        return await ctx.all(waits)

    await one(server, work)
    run = await server.client.start("one")
    await server.settle(run)
    await run.signal("word", "signal")
    await server.client.notify("event", "event")
    await server.skip_waits(run)
    return {"values": await run.result(), "entered": entered}


@scenario("branches that wait")
async def branches_that_wait(server: TestServer) -> Any:
    begun = await server.now()
    hours: list[float] = []

    async def work(ctx: Context) -> Any:
        async def branch(name: str, duration: str, value: int) -> int:
            async def note() -> int:
                hours.append((await server.now() - begun).total_seconds() / 3_600)
                return value

            await ctx.sleep(f"{name} sleeps", duration)
            return await ctx.run(f"{name} works", note)

        return sum(await asyncio.gather(branch("a", "1h", 1), branch("b", "24h", 2)))

    await one(server, work)
    run = await server.client.start("one")
    await server.skip_waits(run)
    return {"hours": hours, "sum": await run.result()}


@scenario("approve")
async def approve(server: TestServer) -> Any:
    async def work(ctx: Context) -> Any:
        answers = [
            await ctx.approve(name, prompt=f"{name}?", content={"name": name}, timeout="1d")
            for name in ("one", "two", "three")
        ]
        return {"decisions": [a.decision for a in answers], "approved": [a.approved for a in answers]}

    await one(server, work)
    run = await server.client.start("one")
    for decision in ("approve", "reject"):
        await server.settle(run)
        page = await server.client.approvals.list(pending=True, run_id=run.id).page()
        await server.client.approvals.decide(page.data[0]["id"], decision)
    await server.skip_waits(run)
    return await run.result()


@scenario("notify")
async def notify(server: TestServer) -> Any:
    async def work(ctx: Context) -> None:
        await ctx.notify("tell", "told", {"n": 1})
        await ctx.sleep("nap", "1h")

    await one(server, work)
    await server.run_through("one")
    events = [event async for event in server.client.events.list(event_id="told")]
    return {"events": len(events), "data": events[0]["eventData"]}


@scenario("cancel")
async def cancel(server: TestServer) -> Any:
    working, over = asyncio.Event(), asyncio.Event()
    told = False

    async def work(ctx: Context) -> str:
        nonlocal told
        working.set()
        try:
            await asyncio.Event().wait()
        finally:
            told = ctx.cancelled
            over.set()
        return "too late"

    await one(server, work)
    run = await server.client.start("one")
    await working.wait()
    await run.cancel("changed my mind")
    await over.wait()
    return {"status": (await run.get())["status"], "told": told}


Handler = Callable[..., Any]


def worker(server: TestServer, build_id: str, work: Handler) -> Worker:
    """A worker of the code that it is told to be."""
    return server.worker({"work": work}, build_id=build_id, grace=0.1, heartbeat=0.05)


def charging(name: str, counts: dict[str, int]) -> Handler:
    """Charges, or bills in its place, and sleeps for an hour."""

    async def work(ctx: Context) -> None:
        def count() -> None:
            counts[name] = counts.get(name, 0) + 1

        await ctx.run(name, count)
        await ctx.sleep("nap", "1h")

    return work


async def rolled_back(
    server: TestServer,
    old: Handler,
    changed: Handler,
    *names: str,
    first: Callable[[], Awaitable[Any]] | None = None,
    then: Callable[[RunHandle], Awaitable[Any]] | None = None,
) -> dict[str, Any]:
    """What a run waits for when other code has woken up in it, and what becomes of it with the code of before."""
    before = worker(server, "old", old)
    await server.client.deploy(Workflow("one").task("work", "work"))
    run = await server.client.start("one")
    await server.settle(run)
    if first:
        await first()
        await server.settle(run)
    await before.stop()
    bad = worker(server, "new", changed)
    await server.advance("1h")
    waiting = await server.settle(run)
    wait = waiting["waitingFor"][0]
    await bad.stop()
    worker(server, "old", old)
    if then:
        await then(run)
    await run.result()
    after = (await run.get())["status"]
    attempts = waiting["steps"][0]["attempt"]
    return {"kind": wait["kind"], "names": named(wait["sentence"], *names), "attempts": attempts, "after": after}


@scenario("changed code")
async def changed_code(server: TestServer) -> Any:
    counts: dict[str, int] = {}
    codes = charging("charge", counts), charging("bill", counts)
    came_to = await rolled_back(server, *codes, "charge", "bill")
    return {**came_to, "billed": counts.get("bill", 0), "charged": counts["charge"]}


@scenario("a wait that changed its kind")
async def a_wait_that_changed_its_kind(server: TestServer) -> Any:
    async def old(ctx: Context) -> None:
        await ctx.sleep("gate", "1h")
        await ctx.wait_for_signal("go", "go")

    async def asking(ctx: Context) -> bool:
        return (await ctx.approve("gate")).approved

    return await rolled_back(server, old, asking, "gate", then=lambda run: run.signal("go"))


@scenario("another event under the same name")
async def another_event_under_the_same_name(server: TestServer) -> Any:
    def waiting(event: str) -> Handler:
        async def work(ctx: Context) -> None:
            await ctx.wait_for_event("news", event)
            await ctx.sleep("nap", "1h")

        return work

    codes = waiting("order.paid"), waiting("order.refused")
    return await rolled_back(server, *codes, "news", first=lambda: server.client.notify("order.paid", {"ok": True}))


@scenario("changed code that is to fail")
async def changed_code_that_is_to_fail(server: TestServer) -> Any:
    counts: dict[str, int] = {}
    before = worker(server, "old", charging("charge", counts))
    await server.client.deploy(Workflow("one").task("work", "work", on_code_change="fail"))
    run = await server.client.start("one")
    await server.settle(run)
    await before.stop()
    worker(server, "new", charging("bill", counts))
    failed = await failure(server, run)
    names = named(failed["message"], "charge", "bill")
    return {"code": failed["code"], "names": names, "attempts": failed["attempts"]}


@scenario("old and new code side by side")
async def old_and_new_code_side_by_side(server: TestServer) -> Any:
    counts: dict[str, int] = {}
    worker(server, "old", charging("charge", counts))
    await server.client.deploy(Workflow("one").task("work", "work"))
    runs = [await server.client.start("one") for _ in range(20)]
    await server.settle(runs[0])
    worker(server, "new", charging("bill", counts))
    await server.advance("1h")
    for run in runs:
        await run.result()
    return {"completed": len(runs), "charged": counts["charge"], "billed": counts.get("bill", 0)}


@scenario("a planned change")
async def a_planned_change(server: TestServer) -> Any:
    def ordering(is_new: bool) -> Handler:
        async def work(ctx: Context) -> list[str]:
            done: list[str] = []

            async def call(name: str) -> None:
                done.append(await ctx.run(name, lambda: name))

            await call("order")
            if is_new and ctx.patched("fraud"):
                await call("fraud")
            await ctx.sleep("nap", "1d")
            await call("end")
            return done

        return work

    before = worker(server, "old", ordering(False))
    await server.client.deploy(Workflow("one").task("work", "work"))
    old = await server.client.start("one")
    await server.settle(old)
    await before.stop()
    worker(server, "new", ordering(True))
    fresh = await server.client.start("one")
    await server.skip_waits(fresh)
    return {"old": await old.result(), "new": await fresh.result()}


async def attempt_of(server: TestServer, run: RunHandle) -> dict[str, Any]:
    """The call that a run is to make again."""
    waiting = await server.settle(run)
    wait = waiting["waitingFor"][0]
    listens_for = (await server.client.waitpoints.find(wait.get("waitpointId") or ""))["listensFor"]
    assert listens_for["type"] == "attempt", listens_for
    told = {name: listens_for[name] for name in ("call", "attempt", "maxAttempts")}
    return {"status": waiting["status"], "kind": wait["kind"], **told, "code": listens_for["error"]["code"]}


@scenario("a call with its own attempts")
async def a_call_with_its_own_attempts(server: TestServer) -> Any:
    charged, keys = 0, set[str]()

    async def work(ctx: Context) -> str:
        def charge(call: DurableCall) -> str:
            nonlocal charged
            charged += 1
            keys.add(call.idempotency_key)
            if charged < 5:
                raise TaskError("no money", code="NO_MONEY")
            return "paid"

        return await ctx.run("charge", charge, retry=Retry(max_attempts=5))

    await one(server, work)
    run = await server.client.start("one")
    wait = await attempt_of(server, run)
    status = wait.pop("status")
    ended = await server.skip_waits(run)
    attempts, output = ended["steps"][0]["attempt"], await run.result()
    return {
        "while": status,
        "wait": wait,
        "charged": charged,
        "keys": len(keys),
        "attempts": attempts,
        "output": output,
    }


@scenario("a call that uses up its attempts")
async def a_call_that_uses_up_its_attempts(server: TestServer) -> Any:
    charged = 0

    async def work(ctx: Context) -> None:
        def charge() -> None:
            nonlocal charged
            charged += 1
            raise TaskError("no money", code="NO_MONEY")

        await ctx.run("charge", charge, retry=3)

    await one(server, work)
    failed = await failure(server, await server.client.start("one"))
    return {"code": failed["code"], "charged": charged, "attempts": failed["attempts"]}


@scenario("a call that takes too long")
async def a_call_that_takes_too_long(server: TestServer) -> Any:
    tried = 0

    async def work(ctx: Context) -> str:
        async def charge() -> str:
            nonlocal tried
            tried += 1
            if tried == 1:
                await asyncio.Event().wait()
            return "paid"

        return await ctx.run("charge", charge, retry=2, timeout="50ms")

    await one(server, work)
    run = await server.client.start("one")
    wait = await attempt_of(server, run)
    ended = await server.skip_waits(run)
    return {"code": wait["code"], "output": await run.result(), "attempts": ended["steps"][0]["attempt"]}


@scenario("progress renews the attempts")
async def progress_renews_the_attempts(server: TestServer) -> Any:
    tries = 0

    async def work(ctx: Context) -> int:
        def once() -> None:
            nonlocal tries
            tries += 1
            if tries % 2 == 1:
                raise RuntimeError("not yet")

        for call in range(30):
            await ctx.run(f"call-{call}", once)
            await ctx.sleep(f"day-{call}", "1d")
        return 30

    server.worker({"work": work}, heartbeat=0.05)
    await server.client.deploy(Workflow("one").task("work", "work", retry={"maxAttempts": 2}))
    return {"output": await server.run_through("one"), "tries": tries}


@scenario("a retried run keeps its waits")
async def a_retried_run_keeps_its_waits(server: TestServer) -> Any:
    charged, broken = 0, True

    async def work(ctx: Context) -> Any:
        def charge() -> None:
            nonlocal charged
            charged += 1

        await ctx.run("charge", charge)
        await ctx.sleep("cooling-off", "2d")
        parcel = await ctx.wait_for_event("parcel", "parcel.returned", timeout="14d")
        if broken:
            raise NotRetryable("the bank is closed")
        return parcel

    await one(server, work)
    run = await server.client.start("one")
    await server.settle(run)
    await server.advance("2d")
    await server.settle(run)
    await server.client.notify("parcel.returned", {"parcel": 7})
    await server.settle(run)
    broken = False
    before = len(await server.history(run))
    await server.client.runs.retry(run.id)
    output = await run.result()
    waits = [record for record in (await server.history(run))[before:] if record["type"] == "STEP_WAITING"]
    return {"charged": charged, "output": output, "waitsOfTheRetriedRun": len(waits)}


@scenario("a sleep that is over before it begins")
async def a_sleep_that_is_over_before_it_begins(server: TestServer) -> Any:
    async def work(ctx: Context) -> str:
        await ctx.sleep("nap", timedelta(milliseconds=-5))
        return "awake"

    await one(server, work)
    run = await server.client.start("one")
    output = await run.result()
    return {"output": output, "attempts": (await run.get())["steps"][0]["attempt"]}


@scenario("swallowed suspension")
async def swallowed_suspension(server: TestServer) -> Any:
    async def work(ctx: Context) -> str:
        try:
            await ctx.sleep("nap", "1h")
        except BaseException:
            return "swallowed"
        return "slept"

    await one(server, work)
    failed = await failure(server, await server.client.start("one"))
    return {"code": failed["code"], "names": named(failed["message"], "nap"), "attempts": failed["attempts"]}


@scenario("a caught failure is remembered")
async def a_caught_failure(server: TestServer) -> Any:
    charged = 0

    async def work(ctx: Context) -> Any:
        def charge() -> None:
            nonlocal charged
            charged += 1
            raise NotRetryable("no money")

        try:
            await ctx.run("charge", charge)
        except RunFailed as error:
            refund = await ctx.run("refund", lambda: "refunded")
            await ctx.sleep("nap", "1h")
            return [error.message, refund]
        return []

    await one(server, work)
    output = await server.run_through("one")
    return {"charged": charged, "output": output}


@scenario("a caught failure is remembered across a pause")
async def a_caught_failure_across_a_pause(server: TestServer) -> Any:
    charged = 0

    async def work(ctx: Context) -> Any:
        def charge() -> None:
            nonlocal charged
            charged += 1
            raise ValueError("no money")

        try:
            return await ctx.run("charge", charge)
        except RunFailed as error:
            await ctx.pause("rest", "1h")
            return error.message

    await one(server, work)
    output = await server.run_through("one")
    return {"charged": charged, "output": output}


@scenario("100 parallel runs")
async def parallel_runs(server: TestServer) -> Any:
    done = 0

    async def work(ctx: Context) -> int:
        async def step(n: int) -> int:
            nonlocal done
            done += 1
            return n

        numbers = await asyncio.gather(*(ctx.run(f"work-{n}", lambda n=n: step(n)) for n in range(100)))
        await ctx.sleep("nap", "1h")
        return sum(numbers)

    await one(server, work)
    total = await server.run_through("one")
    return {"sum": total, "done": done}


@scenario("unicode and large payloads")
async def unicode_and_large_payloads(server: TestServer) -> Any:
    name = "größe-名前-🍵"

    async def work(ctx: Context, input: Any) -> Any:
        text = await ctx.run(name, lambda: input)
        await ctx.sleep("nap", "1h")
        return "x" * 1_100_000 if input.get("tooLarge") else text

    await one(server, work)
    input = {"text": "é" * 60_000 + "🍵名\u0001\u2028", "name": name, "more": "x" * 839_996}
    run = await server.client.start("one", input)
    await server.skip_waits(run)
    output = await run.result(returns=dict[str, str])
    failed = await failure(server, await server.client.start("one", {"tooLarge": True}))
    characters = len(output["text"]) + len(output["more"])
    return {"same": output == input, "characters": characters, "name": output["name"], "tooLarge": failed["code"]}


@scenario("one trace")
async def one_trace(server: TestServer) -> Any:
    traces: list[str] = []
    child = ""

    async def work(ctx: Context, input: Any) -> None:
        nonlocal child
        traces.append(ctx.traceparent.split("-")[1])
        if input.get("parent"):
            child = await ctx.run("start", lambda: started(ctx))
            await ctx.sleep("nap", "1h")

    async def started(ctx: Context) -> str:
        return (await ctx.client.start("one", {})).id

    await one(server, work)
    trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    async with Client(server.url, traceparent=lambda: f"00-{trace}-00f067aa0ba902b7-01") as traced:
        await server.skip_waits(await traced.start("one", {"parent": True}))
    of_child = (await server.settle(child)).get("traceparent") or ""
    handler = traces == [trace] * 3
    await (await server.client.start("one", {})).result()
    own = traces[-1] != trace and re.fullmatch("[0-9a-f]{32}", traces[-1]) is not None
    return {"handler": handler, "child": trace in of_child, "own": own}


@scenario("refusals have codes")
async def refusals_have_codes(server: TestServer) -> Any:
    async def work(ctx: Context) -> None:
        return None

    await one(server, work)
    client = server.client
    run = await client.start("one")
    await run.result()
    pointer, codes = None, [await code_of(client.runs.find("run_01m7h3qy00f49t7jpe51y1013k"))]
    try:
        await client.deploy({"name": "wrong", "steps": [{"type": "task", "name": "a", "handlr": "h"}]})
    except Problem as problem:
        codes.append(problem.code)
        pointer = next(found["pointer"] for found in problem.problems if found.get("nearest"))
    codes.append(await code_of(run.signal("late")))
    return {"codes": codes, "pointer": pointer}


@scenario("history as it happens")
async def history_as_it_happens(server: TestServer) -> Any:
    workflow = Workflow("signals")
    for name in "abc":
        workflow.wait_for_signal(name, name)
    await server.client.deploy(workflow)
    run = await server.client.start("signals")
    records: list[Any] = []
    some = asyncio.Event()

    async def follow() -> None:
        async for record in run.follow():
            records.append(record)
            if len(records) == 4:
                some.set()

    following = asyncio.ensure_future(follow())
    await run.signal("a")
    await some.wait()
    await server.crash()
    await run.signal("b")
    await run.signal("c")
    await following
    gaps = sum(record["seq"] != index + 1 for index, record in enumerate(records))
    return {"gaps": gaps, "last": records[-1]["type"]}


@scenario("a graph in code")
async def a_graph_in_code(server: TestServer) -> Any:
    async def add(ctx: Context, input: Any) -> int:
        return int(input["a"] + input["b"])

    server.worker({"add": add})
    both = {"a": "{{ steps.left.output }}", "b": "{{ steps.right.output }}"}
    graph = (
        Workflow("graph")
        .task("left", "add", input={"a": 1, "b": 2})
        .task("right", "add", input={"a": 2, "b": 2})
        .task("join", "add", after=["left", "right"], input=both)
    )
    checked = await server.client.definitions.check(graph.build())
    await server.client.deploy(graph)
    return {"valid": checked["valid"], "output": await server.client.start_and_wait(graph)}


@scenario("thirty days")
async def thirty_days(server: TestServer) -> Any:
    async def work(ctx: Context) -> str:
        return "done"

    server.worker({"work": work})
    month = Workflow("month").sleep("month", "30d").wait_for_signal("go", "go").task("work", "work")
    await server.client.deploy(month)
    before = await server.now()
    run = await server.client.start("month")
    await server.skip_waits(run)
    await run.signal("go")
    output = await run.result()
    days = (await server.now() - before).total_seconds() / 86_400
    return {"days": days, "output": output}
