"""The scenarios of failures and what they tell."""

from __future__ import annotations

from typing import Any

from abide_sdk import Context, Workflow
from abide_sdk.testing import TestServer

from .scenarios import one, scenario


class Unweighable(Exception):
    pass


@scenario("a failure that can be read")
async def a_failure_that_can_be_read(server: TestServer) -> Any:
    def weigh() -> int:
        raise Unweighable("no weight with password=hunter22") from ValueError("the scale is at zero")

    async def work(ctx: Context) -> int:
        return await ctx.run("weigh", weigh)

    server.worker({"work": work})
    await server.client.deploy(Workflow("one").task("work", "work", retry={"maxAttempts": 2}))
    ended = await server.skip_waits(await server.client.start("one"))
    error: Any = ended["steps"][0].get("error")
    failed: Any = ended.get("error")
    detail, brief = error["detail"], failed["detail"]
    return {
        "type": detail["type"].endswith(".Unweighable"),
        "call": detail["call"],
        "attempt": detail["attempt"],
        "stack": "failure_scenarios.py" in detail["stack"],
        "causes": [cause["message"] for cause in detail["causes"]],
        "message": error["message"],
        "run": {"call": brief["call"], "stack": "stack" in brief},
    }


@scenario("a log that is written once")
async def a_log_that_is_written_once(server: TestServer) -> Any:
    entered = 0

    async def work(ctx: Context) -> None:
        nonlocal entered
        entered += 1
        ctx.log("begins")
        await ctx.sleep("nap", "1h")
        ctx.log("half of %s", "password=hunter22", level="warn")
        ctx.log("ends")

    await one(server, work)
    run = await server.client.start("one")
    await server.skip_waits(run)
    logged: list[Any] = [record for record in await server.history(run) if record["type"] == "TASK_LOGGED"]
    lines = [f"{line['level']}: {line['message']}" for record in logged for line in record["lines"]]
    return {"lines": lines, "entered": entered}
