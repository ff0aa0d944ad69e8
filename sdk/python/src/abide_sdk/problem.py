"""What can go wrong with a request, as types. The server's refusals have a stable ``code``; docs/reference/errors.md lists them."""

from __future__ import annotations

from typing import Any, cast

from . import wire


NO_KEY = "; give a key as `api_key`, or in ABIDE_API_KEY"
"""What would help where no key was given, or not the right one."""


class Problem(Exception):
    """A request that the server refused."""

    def __init__(self, body: wire.Problem, retry_after: float | None = None) -> None:
        super().__init__(f"{body['code']}: {body['detail']}{NO_KEY if body['code'] == 'UNAUTHENTICATED' else ''}")
        self.body = body
        """The answer as it came."""
        self.code: str = body["code"]
        """Stable: what a program may rely on."""
        self.status: int = body["status"]
        self.detail: str = body["detail"]
        self.pointer: str | None = body.get("pointer")
        """The place in the body, as a JSON pointer."""
        self.problems: list[wire.Finding] = body.get("problems") or []
        """Everything that was wrong with the request, each with its place."""
        self.current: wire.Json = body.get("current")
        """The state that stands against the request."""
        self.outcome: wire.Json = body.get("outcome")
        """What a waitpoint that is resolved already came to."""
        self.retry_after = retry_after
        """How many seconds the server asks to be left alone."""

    @staticmethod
    def of(body: Any, retry_after: float | None = None) -> Problem:
        kind = KINDS.get(body["status"], Problem)
        return kind(cast(wire.Problem, body), retry_after)


class NotAllowed(Problem):
    """401, 403: no key, or one that may not do this."""


class NotFound(Problem):
    """404: there is no such thing in this workspace."""


class Conflict(Problem):
    """409: the state of things stands against it."""


class Gone(Problem):
    """410: it was there, and its time is over."""


class Invalid(Problem):
    """400, 405, 413, 415, 422, 431: the request itself is wrong."""


class Busy(Problem):
    """429, 503: come back later. Nothing was changed."""


KINDS: dict[int, type[Problem]] = {
    **dict.fromkeys((401, 403), NotAllowed),
    404: NotFound,
    409: Conflict,
    410: Gone,
    **dict.fromkeys((400, 405, 413, 415, 422, 431), Invalid),
    **dict.fromkeys((429, 503), Busy),
}


class Unreachable(Exception):
    """The server did not answer."""

    def __init__(self, server: str, cause: BaseException) -> None:
        super().__init__(f"{server} does not answer: {cause or type(cause).__name__}")


class RunNotCompleted(Exception):
    """A run that was waited for did not complete."""

    def __init__(self, run: wire.Run) -> None:
        error = run.get("error")
        why = f"{error['code']}: {error['message']}" if error else run["status"]
        super().__init__(f"{run['id']} of {run['definition']['name']} is {run['status']}: {why}")
        self.run = run
        self.code: str = error["code"] if error else f"RUN_{run['status']}"
        """Of the failure; ``RUN_CANCELLED`` if it was cancelled."""
