"""A table is copied page by page. Each page is done once, also when the server is killed in the middle, and the source gets rest."""

import asyncio

from abide_sdk import Context, Workflow
from abide_sdk.testing import TestServer

ROWS, PAGE = 950, 100
copied: list[int] = []


def copy(page: int) -> int:
    """Stands for your SQL. It is written so that doing it twice is no harm: it may be, if a worker dies before its report."""
    rows = range(page * PAGE, min((page + 1) * PAGE, ROWS))
    copied.extend(rows)
    return len(rows)


async def backfill(ctx: Context, input: dict[str, int]) -> int:
    total = 0
    for page in range(input["pages"]):
        total += await ctx.run(f"page-{page}", lambda page=page: copy(page), returns=int, retry=5)
        ctx.log("%d rows", total)
        await ctx.sleep(f"rest-{page}", "1m")
    return total


async def main() -> None:
    backfills = Workflow("data-backfill").task("backfill", "backfill")
    async with TestServer() as server:
        server.worker({"backfill": backfill})
        await server.client.deploy(backfills)
        run = await server.client.start(backfills, {"pages": 10})
        await server.advance("4m")
        await server.crash()  # kill -9, and up again on the same store
        await server.skip_waits(run)
        print(await run.result(), "rows,", len(copied) - len(set(copied)), "copied twice")


asyncio.run(main())
