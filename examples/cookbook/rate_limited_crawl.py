"""A polite crawl: three hosts side by side, and never two requests to one host within ten seconds."""

import asyncio
from datetime import datetime

from abide_sdk import Context, Workflow
from abide_sdk.testing import TestServer

PAUSE = "10s"
fetched: list[tuple[str, str]] = []


async def crawl(ctx: Context, sites: dict[str, list[str]]) -> dict[str, int]:
    async def host(name: str, called: str) -> int:
        for number, path in enumerate(sites[name]):
            await ctx.run(f"{called}-{number}", lambda path=path: fetched.append((name, path)))
            await ctx.sleep(f"{called}-pause-{number}", PAUSE)  # holds no worker
        return len(sites[name])

    counts = await ctx.map("host", list(sites), host, concurrency=3)
    return dict(zip(sites, counts))


async def main() -> None:
    crawls = Workflow("rate-limited-crawl").task("crawl", "crawl")
    async with TestServer() as server:
        server.worker({"crawl": crawl})
        await server.client.deploy(crawls)
        begun: datetime = await server.now()
        sites = {"tea.example": ["/", "/green", "/black"], "cup.example": ["/"], "pot.example": ["/", "/iron"]}
        print(await server.run_through(crawls, sites))
        print("took", (await server.now() - begun).seconds, "s of virtual time;", len(fetched), "requests")


asyncio.run(main())
