"""A contract needs two of three reviewers. They are reminded, a partner may step in after four days, and the author may not vote."""

import asyncio

from abide_sdk import Workflow
from abide_sdk.testing import TestServer

review = (
    Workflow("document-review", output="{{ steps.review.output.decision }}")
    .task("draft", "write-draft", save_as="draft")
    .approve(
        "review",
        content_key="draft",
        prompt="Sign this contract?",
        approvers=["ana", "ben", "cleo"],
        quorum=2,
        allow_self_approval=False,
        remind_after=["1d", "2d"],
        escalate_after="4d",
        escalate_to=["partner"],
        timeout="10d",
        on_timeout="reject",
        on_reject="continue",
    )
)


async def main() -> None:
    async with TestServer() as server:
        server.worker({"write-draft": lambda ctx, input: {"text": f"Contract with {input['client']}"}})
        await server.client.deploy(review)
        run = await server.client.start(review, {"client": "Tea Ltd"})
        await server.advance("3d")  # two reminders are out
        request = (await server.client.approvals.list(pending=True).all())[0]["id"]
        for who in ["ana", "cleo"]:  # each has a link of their own, by mail or chat
            link = await server.client.waitpoints.make_link(request, who)
            await server.client.waitpoints.resume(link["resumeUrl"], {"decision": "approve"})
            print(f"after {who}:", (await server.settle(run))["status"])
        print("decision:", await run.result())
        print("nobody votes:", await server.run_through(review, {"client": "Cup Ltd"}))


asyncio.run(main())
