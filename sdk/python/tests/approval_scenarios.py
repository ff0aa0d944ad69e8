"""The scenarios of people, and the links that they decide by."""

from __future__ import annotations

import asyncio
import urllib.error
import urllib.parse
import urllib.request
from typing import Any

from abide_sdk import Context
from abide_sdk.testing import TestServer

from .scenarios import one, scenario

REFUND = {
    "type": "object",
    "required": ["cents"],
    "properties": {"cents": {"type": "integer", "maximum": 4900}, "note": {"type": "string"}},
}


def ask(url: str, form: dict[str, str] | None = None) -> tuple[int, str]:
    data = urllib.parse.urlencode(form).encode() if form else None
    try:
        with urllib.request.urlopen(urllib.request.Request(url, data)) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


@scenario("an approval that is edited by link")
async def an_approval_that_is_edited_by_link(server: TestServer) -> Any:
    links: list[str] = []

    async def work(ctx: Context) -> Any:
        review = await ctx.request_approval(
            "review", content={"cents": 4900}, content_schema=REFUND, approvers=["ana"], timeout="2d"
        )
        links.append(review.links["ana"])
        decided = await ctx.wait_for_approval(review)
        return {"decision": decided.decision, "content": decided.content, "by": decided.votes[0]["by"]}

    await one(server, work)
    run = await server.client.start("one")
    await server.settle(run)
    _, page = await asyncio.to_thread(ask, links[0])
    edit = {"decision": "edit", "edit/note": "sorry"}
    status, refused = await asyncio.to_thread(ask, links[0], {**edit, "edit/cents": "5000"})
    await asyncio.to_thread(ask, links[0], {**edit, "edit/cents": "4200"})
    output = await run.result(returns=dict[str, Any])
    shown = {"form": 'name="edit/cents"' in page, "refused": status, "place": "/editedContent/cents" in refused}
    return {**shown, **output, "sameLink": len(links) == 2 and links[0] == links[1]}
