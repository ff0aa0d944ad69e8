"""A partner's job is asked for every few minutes, less and less often, until it is done or two hours have passed."""

import asyncio

from abide_sdk import Context, Workflow
from abide_sdk.testing import TestServer


class Partner:
    """Stands for an API that has no webhooks: a job takes twelve questions."""

    asked = 0

    def submit(self, document: str) -> str:
        return f"job-of-{document}"

    def status(self, job: str) -> dict[str, str]:
        self.asked += 1
        return {"state": "done", "result": f"{job} is translated"} if self.asked >= 12 else {"state": "working"}


partner = Partner()


async def translate(ctx: Context, document: str) -> str:
    job = await ctx.run("submit", lambda: partner.submit(document), returns=str)
    waited, pause = 0, 60
    for turn in range(1000):
        status = await ctx.run(f"ask-{turn}", lambda: partner.status(job))
        if status["state"] == "done":
            return status["result"]
        if waited >= 2 * 60 * 60:
            return "given up after two hours"
        await ctx.sleep(f"pause-{turn}", f"{pause}s")
        waited, pause = waited + pause, min(pause * 2, 10 * 60)
    return "given up"


async def main() -> None:
    jobs = Workflow("partner-poll").task("translate", "translate")
    async with TestServer() as server:
        server.worker({"translate": translate})
        await server.client.deploy(jobs)
        begun = await server.now()
        print(await server.run_through(jobs, "contract"))
        print("asked", partner.asked, "times in", (await server.now() - begun).seconds // 60, "min of virtual time")


asyncio.run(main())
