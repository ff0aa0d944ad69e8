"""A card is charged by a bank that is often away: eight attempts over hours, one charge, and a plain no is not tried again."""

import asyncio

from abide_sdk import Context, NotRetryable, Retry, RetryAfter, RunFailed, Workflow
from abide_sdk.testing import TestServer


class Bank:
    """Stands for yours: away at first, then busy, then it takes the money once for each key."""

    def __init__(self) -> None:
        self.asked, self.charges = 0, dict[str, int]()

    def charge(self, cents: int, key: str) -> str:
        self.asked += 1
        if cents > 10_000:
            raise NotRetryable("the card says no")
        if self.asked < 4:
            raise ConnectionError("the bank does not answer")
        if self.asked == 4:
            raise RetryAfter("come back in an hour", "1h")
        self.charges[key] = cents
        return f"receipt for {cents}"


bank = Bank()


async def pay(ctx: Context, order: dict[str, int]) -> str:
    try:
        return await ctx.run(
            "charge",
            lambda call: bank.charge(order["cents"], call.idempotency_key),
            returns=str,
            retry=Retry(8, backoff_ms=60_000),
            timeout="30s",
        )
    except RunFailed as failed:
        return f"not paid: {failed}"


async def main() -> None:
    payments = Workflow("payment-retry").task("pay", "pay")
    async with TestServer() as server:
        server.worker({"pay": pay})
        await server.client.deploy(payments)
        print(await server.run_through(payments, {"cents": 4200}))
        print(bank.asked, "attempts,", len(bank.charges), "charge")
        print(await server.run_through(payments, {"cents": 99_999}))


asyncio.run(main())
