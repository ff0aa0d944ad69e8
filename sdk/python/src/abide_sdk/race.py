"""Who was first of several, and what becomes of the others. What was decided once stays decided."""

from __future__ import annotations

import asyncio
from typing import Any

from .branch import Racer, has_lost
from .journal import OWN, Journal, Held, fail
from .failure import BranchLost
from .wait import Pending, Wait


class Racing(Journal):
    def winner(self, waits: list[Wait[Any]]) -> Wait[Any] | None:
        """Which of several waits was first: what was decided once stays decided."""
        name = f"{OWN}first {waits[0].name}"
        decided = self._journal.get(name)
        if decided is not None:
            first = next((wait for wait in waits if wait.name == decided.get("result")), None)
        else:
            first = next((wait for wait in waits if wait.has_happened), None)
        if decided is None and first and any(wait is not first and wait.status != "CANCELLED" for wait in waits):
            self._unsaved.append({"name": name, "result": first.name})
            self._cancels += [wait.name for wait in waits if wait.status == "PENDING"]
        if first:
            self._give_up_waits([wait for wait in waits if wait is not first])
        return first

    def winners(self, count: int, waits: list[Wait[Any]]) -> list[Wait[Any]] | None:
        """Which of several waits were the first ``count``: what was decided once stays decided. None while it is not."""
        name = f"{OWN}some {waits[0].name}"
        decided = self._journal.get(name)
        if decided is not None:
            names: Any = decided.get("result") or []
            first = [wait for winner in names for wait in waits if wait.name == winner]
        else:
            first = [wait for wait in waits if wait.has_happened][:count]
            if len(first) < count:
                return None
            if any(wait not in first and wait.status != "CANCELLED" for wait in waits):
                self._unsaved.append({"name": name, "result": [wait.name for wait in first]})
                self._cancels += [wait.name for wait in waits if wait.status == "PENDING"]
        self._give_up_waits([wait for wait in waits if wait not in first])
        return first

    def settle_race(self, call: str, winner: Racer[Any], racers: list[Racer[Any]]) -> None:
        """It is decided who won, which is stored before anything new is done."""
        losers = [racer for racer in racers if racer is not winner]
        for racer in losers:
            racer.scope.lose()
        made = [name for name, branch in self._made if has_lost(branch)]
        cancels = [*(wait.name for wait in self._lost_waits(losers) if wait.status == "PENDING"), *made]
        index = racers.index(winner)
        self._unsaved.append({"name": call, "result": {"index": index, "name": winner.name, "cancelled": [*cancels]}})
        self._cancels += cancels
        self._drop(losers, cancels)

    def replay_race(self, winner: Racer[Any], racers: list[Racer[Any]], cancelled: list[str]) -> None:
        losers = [racer for racer in racers if racer is not winner]
        for racer in losers:
            racer.scope.lose()
        self._drop(losers, cancelled)

    def _lost_waits(self, losers: list[Racer[Any]]) -> list[Wait[Any]]:
        given: list[Pending[Any]] = [racer.item for racer in losers]
        return [wait for wait, branch in self.opened if wait in given or has_lost(branch)]

    def _drop(self, losers: list[Racer[Any]], cancelled: list[str]) -> None:
        waits = self._lost_waits(losers)
        self._dropped.update(cancelled, (wait.name for wait in waits if not wait.has_ended))
        # What they are at holds nobody back any more.
        for group in [group for group in self._groups if has_lost(group.scope)]:
            self._groups.remove(group)
            self._stopped.append(group.over)
        self._give_up_waits(waits)
        self._threads = {thread for thread in self._threads if not has_lost(thread.scope)}
        for act in [act for act in self._acts if has_lost(act.scope)]:
            self._done(act)
        if not self._unasked:
            self._cancel_losers()

    def _give_up_waits(self, waits: list[Wait[Any]]) -> None:
        """They are cancelled, as the server will say at the next execution. Whoever waits for one of them elsewhere is told."""
        for wait in waits:
            if not wait.has_ended:
                wait.status = "CANCELLED"
        for group in [group for group in self._groups if all(wait.has_ended for wait in group.waits)]:
            self._groups.remove(group)
            if not group.over.done():
                group.over.set_result(None)

    def _has_losers(self) -> bool:
        return any(branch.is_lost for branch in self.branches.values())

    def _close_branches(self) -> None:
        for stopped in self._stopped:
            fail(stopped, BranchLost())
        for task in self.branches:
            task.add_done_callback(lambda done: None if done.cancelled() else done.exception())
            task.cancel()

    async def _end_of_handler(self) -> BaseException | None:
        """A branch that lost may yet come to what it had recorded."""
        end = Held("the end of the handler", asyncio.get_running_loop().create_future())
        self._hold(end)
        try:
            await end.go
        except BaseException as error:
            return error
        return None

    def recorded_failure(self, call: str) -> int | None:
        """Which item of an ``all`` failed first."""
        entry = self._journal.get(OWN + call)
        index: Any = None if entry is None else entry.get("result") or 0
        return None if index is None else int(index)

    def note_failure_of_all(self, call: str, index: int) -> None:
        self._unsaved.append({"name": OWN + call, "result": index})
