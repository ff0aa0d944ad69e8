"""What the types say, for mypy and pyright: read by them, never run. A line that must not pass says so with an ignore, which is
an error itself where it is not needed."""

# pyright: reportUnnecessaryTypeIgnoreComment=true

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TypedDict, assert_type

import pydantic

from abide_sdk import (
    Approval,
    Branch,
    Call,
    Client,
    Context,
    DurableCall,
    First,
    HttpResponse,
    Json,
    Retry,
    SyncContext,
    Wait,
    sync,
    wire,
)
from abide_sdk.testing import TestServer


@dataclass
class Order:
    id: int


class Note(TypedDict):
    text: str


class Parcel(pydantic.BaseModel):
    grams: int


def fetch() -> Order:
    return Order(7)


async def fetch_later(call: DurableCall) -> list[Order]:
    return [Order(len(call.idempotency_key))]


async def results(ctx: Context) -> None:
    assert_type(await ctx.run("a", fetch), Order)
    assert_type(await ctx.run("b", fetch_later, retry=Retry(3), timeout="5s"), list[Order])
    assert_type(await ctx.run("c", lambda: {"text": "hello"}, returns=Note), Note)
    assert_type(await ctx.run("d", lambda call: call.attempt, returns=int), int)
    assert_type(await ctx.run("e", lambda: "hello"), str)
    assert_type(await ctx.run("f", datetime.now, returns=datetime), datetime)
    await ctx.run("g", fetch, retries=3)  # type: ignore[call-overload]


async def waits(ctx: Context) -> None:
    assert_type(await ctx.sleep("a", "1h"), None)
    assert_type(ctx.sleep("b", "1h"), Wait[None])
    assert_type(await ctx.wait_for_event("c", "order.paid"), Json)
    assert_type(await ctx.wait_for_event("d", "order.paid", returns=Order), Order | None)
    assert_type(await ctx.wait_for_signal("e", "go", returns=list[Parcel]), list[Parcel] | None)
    assert_type(await ctx.child("f", "restock", Order(7)), Json)
    assert_type(await ctx.child("g", "restock", Order(7), returns=str), str)
    assert_type(await ctx.start_child("h", "restock"), str)
    assert_type(await ctx.wait_for_waitpoint("i", returns=Note), Call[Note] | None)
    assert_type(await ctx.http("l", "https://a.example", retry=3, returns=Note), HttpResponse[Note])
    assert_type((await ctx.http("m", "https://a.example", method="POST", body=Order(7))).body, Json)
    (await ctx.wait_for_event("j", "order.paid"))["id"]  # type: ignore[index,call-overload]
    await ctx.wait_for_signal("k")  # type: ignore[call-arg]


async def approvals(ctx: Context) -> None:
    assert_type(await ctx.approve("a", content=Note(text="?"), returns=Note, quorum=2), Approval[Note])
    request = await ctx.request_approval("b", content=Note(text="?"), approvers=["ana"], returns=Note)
    assert_type((await ctx.wait_for_approval(request)).content, Note)
    assert_type((await ctx.approve("c", content=7)).content, Json)
    await ctx.approve("d", contents=7)  # type: ignore[call-arg]


async def branches(ctx: Context) -> None:
    async def pay() -> str:
        return "paid"

    assert_type(ctx.branch("pay", pay), Branch[str])
    assert_type(await ctx.any([ctx.branch("pay", pay), ctx.sleep("late", "1d")]), First[str | None])
    assert_type(await ctx.all((ctx.branch("x", pay), ctx.sleep("y", "1d"))), tuple[str, None])
    assert_type(await ctx.all([ctx.branch("z", pay)]), list[str])
    assert_type(await ctx.map("lines", [1, 2], lambda line, name: ctx.child(name, "r", line, returns=int)), list[int])
    ctx.branch("w", 7)  # type: ignore[arg-type]


def plain(ctx: SyncContext) -> None:
    assert_type(ctx.run("a", fetch), Order)
    assert_type(ctx.run("b", lambda: {"text": ""}, returns=Note, retry=3), Note)
    assert_type(ctx.wait_for_event("c", "order.paid", returns=Order), Order | None)
    assert_type(ctx.wait_for_signal("d", "go"), Json)
    assert_type(ctx.child("e", "restock", returns=str), str)
    assert_type(ctx.approve("f", content=7, returns=int), Approval[int])
    assert_type(ctx.http("l", "https://a.example", returns=Note), HttpResponse[Note])
    assert_type(ctx.any([ctx.branch("g", lambda: "x"), ctx.waits.sleep("h", "1d")]), First[str | None])
    assert_type(ctx.all((ctx.branch("i", lambda: 1), ctx.waits.sleep("j", "1d"))), tuple[int, None])
    ctx.sleep("k", 5)  # type: ignore[arg-type]


async def clients(client: Client, blocking: sync.Client, server: TestServer) -> None:
    run = await client.start("orders", Order(7))
    assert_type(await run.result(), Json)
    assert_type(await run.result(returns=Order), Order)
    assert_type(await client.start_and_wait("orders", Order(7), returns=Order, tags=["a"]), Order)
    assert_type(blocking.start_and_wait("orders", Order(7), returns=Order), Order)
    assert_type(await server.run_through("orders", returns=str), str)
    assert_type(await client.runs.list().all(at_most=5), list[wire.RunSummary])
    assert_type([run["id"] async for run in client.runs.list()], list[str])
    assert_type([run["id"] for run in await client.runs.list().page()], list[str])
    assert_type(blocking.runs.list().all(), list[wire.RunSummary])
