"""Random durable code: trees of calls, sleeps, signals, branches and races. However they are nested, and however often the
handler is re-executed and the server killed, everything is done at most once, nothing changes its mind, and nobody takes the
code for changed."""

from __future__ import annotations

import asyncio
import os
import random
import unittest
from collections import Counter
from collections.abc import Callable
from typing import Any

from abide_sdk import Branch, Context, Pending, SyncContext, Workflow
from abide_sdk.testing import TestServer

SEEDS = int(os.environ.get("ABIDE_SEEDS", "24"))


class Code:
    """A handler, made of a seed: the same at every replay."""

    def __init__(self, seed: int, is_plain: bool) -> None:
        self.seed = seed
        self.is_plain = is_plain
        self.done = Counter[str]()
        self.chosen: dict[str, set[str]] = {}

    def noted(self, place: str, name: str) -> None:
        self.chosen.setdefault(place, set()).add(name)

    def plan(self, rng: random.Random, place: str, depth: int) -> list[Any]:
        steps: list[Any] = []
        for n in range(rng.randint(1, 3)):
            kinds = ["run", "sleep", "run", "sleep", "signal"] + (["any", "all"] * 2 if depth < 3 else [])
            kind, name = rng.choice(kinds), f"{place}.{n}"
            if kind in ("any", "all"):
                parts = [self.plan(rng, f"{name}.{part}", depth + 1) for part in range(rng.randint(1, 3))]
                steps.append((kind, name, rng.randint(1, 50), parts))
            else:
                steps.append((kind, name, rng.randint(1, 50), rng.random() < 0.3))
        return steps

    @property
    def handler(self) -> Callable[..., Any]:
        plan = self.plan(random.Random(self.seed), "s", 0)

        async def work(ctx: Context) -> str:
            await self.play(ctx, plan)
            return "done"

        def plain(ctx: SyncContext) -> str:
            self.play_plain(ctx, plan)
            return "done"

        return plain if self.is_plain else work

    async def play(self, ctx: Context, steps: list[Any]) -> str:
        last = ""
        for kind, name, hours, more in steps:
            if kind == "run":
                last = await ctx.run(name, self.act(name, more))
            elif kind == "sleep":
                await ctx.sleep(name, f"{hours}h")
            elif kind == "signal":
                await ctx.wait_for_signal(name, "never", timeout=f"{hours}h")
            else:
                items: list[Pending[Any]] = [self.part(ctx, f"{name}.{n}", part) for n, part in enumerate(more)]
                items.append(ctx.sleep(f"{name}.w", f"{hours}h"))
                if kind == "any":
                    first = await ctx.any(items)
                    self.noted(name, first.name)
                    last = first.name
                else:
                    await ctx.all(items)
        return last

    def part(self, ctx: Context, name: str, steps: list[Any]) -> Branch[str]:
        return ctx.branch(name, lambda: self.play(ctx, steps))

    def play_plain(self, ctx: SyncContext, steps: list[Any]) -> str:
        last = ""
        for kind, name, hours, more in steps:
            if kind == "run":
                last = ctx.run(name, lambda name=name: self.count(name))
            elif kind == "sleep":
                ctx.sleep(name, f"{hours}h")
            elif kind == "signal":
                ctx.wait_for_signal(name, "never", timeout=f"{hours}h")
            else:
                items: list[Pending[Any]] = [self.plain_part(ctx, f"{name}.{n}", part) for n, part in enumerate(more)]
                items.append(ctx.waits.sleep(f"{name}.w", f"{hours}h"))
                if kind == "any":
                    first = ctx.any(items)
                    self.noted(name, first.name)
                    last = first.name
                else:
                    ctx.all(items)
        return last

    def plain_part(self, ctx: SyncContext, name: str, steps: list[Any]) -> Branch[str]:
        return ctx.branch(name, lambda: self.play_plain(ctx, steps))

    def act(self, name: str, takes_time: bool) -> Callable[[], Any]:
        async def later() -> str:
            await asyncio.sleep(0.001)
            return self.count(name)

        return later if takes_time else lambda: self.count(name)

    def count(self, name: str) -> str:
        self.done[name] += 1
        return name


class RandomCode(unittest.IsolatedAsyncioTestCase):
    async def test_whatever_is_nested_is_done_once_and_decided_once(self) -> None:
        codes = [Code(seed, is_plain=seed % 4 == 3) for seed in range(SEEDS)]
        async with TestServer() as server:
            server.worker({f"h{code.seed}": code.handler for code in codes}, grace=5.0)
            for code in codes:
                with self.subTest(seed=code.seed):
                    workflow = Workflow(f"w{code.seed}").task("work", f"h{code.seed}", on_code_change="fail")
                    await server.client.deploy(workflow)
                    started = await server.client.start(workflow)
                    if code.seed % 5 == 0:
                        await server.settle(started)
                        await server.crash()
                    run = await server.skip_waits(started)
                    self.assertEqual((run["status"], run.get("output")), ("COMPLETED", "done"), run.get("error"))
                    self.assertEqual([name for name, count in code.done.items() if count > 1], [])
                    self.assertEqual([place for place, chosen in code.chosen.items() if len(chosen) > 1], [])
                    opened = await server.client.waitpoints.list(run_id=run["id"], status="PENDING").all()
                    self.assertEqual(opened, [])


if __name__ == "__main__":
    unittest.main()
