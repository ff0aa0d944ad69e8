"""The scenarios of what operators rely on: runs that stay with their build, and handlers of a failure or a cancel."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from abide_sdk import Context, NotRetryable, RunHandle, Workflow
from abide_sdk.testing import TestServer

from .scenarios import Handler, named, scenario, worker


async def pass_an_hour(server: TestServer) -> None:
    """Lets an hour pass, though there is a task that nobody takes."""
    clock = await server.client.test_clock.move(advance="1h")
    target = clock.get("target") or clock["now"]
    while datetime.fromisoformat(clock["now"]) < datetime.fromisoformat(target):
        clock = await server.client.test_clock.move(to=target)


def noting(build: str) -> Handler:
    """Notes three times which build it is, with an hour in between."""

    async def work(ctx: Context, input: Any) -> Any:
        if input == "short":
            return build
        noted = [await ctx.run("first", lambda: build)]
        await ctx.sleep("one hour", "1h")
        noted.append(await ctx.run("second", lambda: build))
        await ctx.sleep("another hour", "1h")
        return [*noted, await ctx.run("third", lambda: build)]

    return work


@scenario("a run that stays with its build")
async def a_run_that_stays_with_its_build(server: TestServer) -> Any:
    client = server.client
    await client.deploy(Workflow("pinned", pin_to_build=True).task("work", "work"))
    await client.deploy(Workflow("free").task("work", "work"))
    first = worker(server, "old", noting("old"))
    run = await client.start("pinned")
    await server.settle(run)
    await first.stop()
    worker(server, "new", noting("new"))
    await pass_an_hour(server)
    # It was ready before this one, and would have been taken before it.
    beside = await client.start_and_wait("free", "short")
    waits = [wait for wait in (await run.get())["waitingFor"] if wait["kind"] == "WORKER"]
    kind, sentence = (waits[0]["kind"], waits[0]["sentence"]) if waits else (None, "")
    again = worker(server, "old", noting("old"))
    await server.settle(run)
    await again.stop()
    await client.runs.pin(run.id, "new")
    await server.advance("1h")
    return {"kind": kind, "names": named(sentence, "old", "new"), "beside": beside, "noted": await run.result()}


async def told(server: TestServer, run: RunHandle) -> dict[str, Any]:
    """What the handler of a run's end was told, as it gave it back."""
    ended = await run.get()
    handled = await server.skip_waits(ended.get("handledBy") or "")
    given: Any = handled.get("output")
    error = given["error"]
    return {
        "status": ended["status"],
        "sameRun": given["run"]["id"] == run.id,
        "name": given["run"]["name"],
        "input": given["input"],
        "state": given["state"],
        "error": error and {name: error[name] for name in ("code", "message", "step")},
        "reason": given.get("reason"),
    }


@scenario("handlers of a failure and of a cancel")
async def handlers_of_a_failure_and_of_a_cancel(server: TestServer) -> Any:
    client, handlers = server.client, list[str]()

    async def reserve(ctx: Context) -> str:
        return "12A"

    async def pay(ctx: Context, input: Any) -> None:
        if input["pays"] == "never":
            raise NotRetryable("no money", code="CARD_DECLINED")
        if input["pays"] == "later":
            await ctx.sleep("payday", "30d")

    async def tell(ctx: Context, ended: Any) -> Any:
        await ctx.sleep("office hours", "1h")
        handlers.append("tell")
        return ended

    async def release(ctx: Context, ended: Any) -> Any:
        handlers.append("release")
        return ended

    server.worker({"reserve": reserve, "pay": pay, "tell": tell, "release": release})
    trip = Workflow("trip").task("reserve", "reserve", save_as="seat").task("pay", "pay")
    await client.deploy(trip.on_failure("tell").on_cancel("release"))
    failing = await client.start("trip", {"pays": "never"})
    await server.settle(failing)
    failed = await told(server, failing)
    waiting = await client.start("trip", {"pays": "later"})
    await server.settle(waiting)
    await waiting.cancel("changed my mind")
    cancelled = await told(server, waiting)
    paid = await server.settle(await client.start("trip", {"pays": "now"}))
    completed = {"status": paid["status"], "handledBy": paid.get("handledBy")}
    return {"failed": failed, "cancelled": cancelled, "completed": completed, "handlers": handlers}
