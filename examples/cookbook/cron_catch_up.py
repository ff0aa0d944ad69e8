"""An hourly invoice run that may not miss an hour: what falls due while no server is up is made up for, and nothing is started twice."""

import asyncio

from abide_sdk import Context, Workflow
from abide_sdk.testing import TestServer

invoiced: list[str] = []


async def invoice(ctx: Context, input: dict[str, str]) -> str:
    return await ctx.run("write", lambda: invoiced.append(ctx.run_id) or "written", returns=str)


async def main() -> None:
    hourly = Workflow("hourly-invoices").task("invoice", "invoice")
    async with TestServer() as server:
        server.worker({"invoice": invoice})
        await server.client.deploy(hourly)
        schedule = await server.client.schedules.create(
            {
                "name": "hourly",
                "definition": "hourly-invoices",
                "cron": "0 * * * *",
                "timezone": "Europe/Berlin",
                "input": {"country": "DE"},
                "overlap": "queue",
                "catchUp": "all",
            }
        )
        await server.advance("5h")
        runs = await server.client.runs.list(definition="hourly-invoices").all()
        print(len(runs), "runs in five hours,", len(set(invoiced)), "invoiced")
        print("the next one is due:", (await server.client.schedules.find(schedule["id"]))["paused"] is False)


asyncio.run(main())
