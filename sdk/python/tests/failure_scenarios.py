"""The scenarios of failures and what they tell."""

from __future__ import annotations

from typing import Any

from abide import Context, Workflow
from abide.testing import TestServer

from .scenarios import scenario


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
