"""The scenario of a worker whose key is for work alone."""

from __future__ import annotations

from typing import Any

from abide_sdk import Client, Context, Workflow
from abide_sdk.testing import TestServer

from .scenarios import code_of, scenario


@scenario("a worker's own key")
async def a_workers_own_key(_: TestServer) -> Any:
    leases: list[str] = []

    async def work(ctx: Context) -> Any:
        leases.append(ctx.task["leaseToken"])
        await ctx.checkpoint({"page": 1})
        ctx.log("begun")
        count = await ctx.run("count", lambda: 1)
        await ctx.sleep("nap", "1h")
        await ctx.pause("rest", "1m")
        await ctx.notify("tell", "told", {"n": 1})
        told = await ctx.wait_for_event("hear", "told")
        reply = await ctx.wait_for_signal("reply", "reply")
        link = await ctx.create_waitpoint("link")
        await ctx.http("call", link.resume_url, method="POST", body={"n": 2})
        call = await ctx.wait_for_waitpoint(link)
        child = await ctx.child("tea", "restock", "tea")
        started = await ctx.start_child("more", "restock", "more")
        asked = await ctx.request_approval("ask", prompt="Is it good?")
        approval = await ctx.wait_for_approval(asked)
        first = await ctx.any([ctx.sleep("long", "2h"), ctx.sleep("short", "1h")])
        ctx.set_state(done=True)
        left: Any = ctx.last_checkpoint
        return {
            "page": left["page"],
            "count": count,
            "told": told,
            "reply": reply,
            "link": call and call.body,
            "child": child,
            "started": started.startswith("run_"),
            "approved": approval.approved,
            "first": first.name,
        }

    async def restock(ctx: Context, input: str) -> str:
        await ctx.sleep("nap", "1h")
        return input

    async with TestServer(args=("--auth", "required", "--allow-address", "127.0.0.1")) as server:
        made = await server.client.admin.create_key({"name": "hand", "scopes": ["worker"]})
        hand = Client(server.url, made["secret"])
        server.worker({"work": work, "restock": restock}, client=hand)
        await server.client.deploy(Workflow("restock", output="{{ steps.restock.output }}").task("restock", "restock"))
        await server.client.deploy(Workflow("one").task("work", "work"))
        run = await server.client.start("one")
        await server.skip_waits(run)
        without = await code_of(hand.notify("told", {"n": 2}))
        stale = await code_of(hand.events.send("told", {"n": 2}, lease_token=leases[0]))
        await run.signal("reply", "yes")
        await server.skip_waits(run)
        page = await server.client.approvals.list(pending=True, run_id=run.id).page()
        await server.client.approvals.decide(page.data[0]["id"], "approve")
        await server.skip_waits(run)
        events = [event async for event in server.client.events.list(event_id="told")]
        sent: list[Any] = [record for record in await server.history(run) if record["type"] == "EVENT_SENT"]
        return {
            "output": await run.result(),
            "events": len(events),
            "sentBy": [record["stepName"] for record in sent],
            "withoutLease": without,
            "withStaleLease": stale,
        }
