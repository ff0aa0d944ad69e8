"""What a handler raises, and what is raised into it."""

from __future__ import annotations

from .duration import Duration


class TaskError(Exception):
    """A failure of a task that says what should follow. Any other exception is one that may be tried again."""

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        retryable: bool = True,
        retry_after: Duration | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        """Your own, for whoever reads the run; ``TASK_FAILED`` if absent."""
        self.retryable = retryable
        self.retry_after = retry_after
        """Try again after this time, instead of the step's back-off."""


class NotRetryable(TaskError):
    """Another attempt would not help."""

    def __init__(self, message: str, *, code: str | None = None) -> None:
        super().__init__(message, code=code, retryable=False)


class RetryAfter(TaskError):
    """Try again after this time."""

    def __init__(self, message: str, retry_after: Duration, *, code: str | None = None) -> None:
        super().__init__(message, code=code, retry_after=retry_after)


class RunFailed(TaskError):
    """What was done in ``ctx.run`` failed. When it is caught, it is remembered, and raised again at every replay."""

    def __init__(
        self,
        run: str,
        message: str,
        *,
        code: str | None = None,
        retryable: bool = True,
        retry_after: Duration | None = None,
        type: str | None = None,
    ) -> None:
        super().__init__(message, code=code, retryable=retryable, retry_after=retry_after)
        self.run = run
        self.type = type
        """The type of the exception that the work raised; ``__cause__`` is that exception, where it was raised just
        now."""


class WaitCancelled(NotRetryable):
    """Somebody cancelled what the handler waited for."""

    def __init__(self, wait: str) -> None:
        super().__init__(f"the wait `{wait}` was cancelled", code="WAIT_CANCELLED")
        self.wait = wait


class ChildFailed(NotRetryable):
    """A run that the handler started and waited for did not complete."""

    def __init__(self, child: str, message: str, code: str) -> None:
        super().__init__(message, code=code)
        self.child = child


class CallFailed(NotRetryable):
    """A call that the engine made for the handler failed, with all its attempts: the code says why."""

    def __init__(self, call: str, message: str, code: str) -> None:
        super().__init__(message, code=code)
        self.call = call


class CodeChanged(NotRetryable):
    """The code does not fit what an earlier execution of the task recorded."""

    def __init__(self, recorded: str, found: str) -> None:
        super().__init__(f"the journal holds {recorded}, and the code comes to {found}", code="CODE_CHANGED")
        self.recorded = recorded
        """What the journal holds."""
        self.found = found
        """What the code came to instead."""


class SuspensionSwallowed(NotRetryable):
    """A handler caught its own suspension and went on."""

    def __init__(self, message: str) -> None:
        super().__init__(message, code="SUSPENSION_SWALLOWED")


class Misused(NotRetryable):
    """The durable calls of a handler were used in a way that cannot be replayed."""

    def __init__(self, message: str) -> None:
        super().__init__(message, code="DURABLE_CALL_MISUSED")


class Suspended(BaseException):
    """Raised into a handler that has to wait: it is suspended, and re-executed when the wait is over. Let it pass: catch
    ``Exception``, never everything."""

    def __init__(self, waits: list[str]) -> None:
        super().__init__(f"the handler waits for {quoted(waits)}; let this pass")
        self.waits = waits


class Cancelled(BaseException):
    """The task is not this worker's any more: its run was cancelled, or the lease was lost. Nothing it does counts."""

    def __init__(self, code: str) -> None:
        super().__init__(f"the task was taken back: {code}")
        self.code = code


class BranchLost(BaseException):
    """Another branch was first: this one goes no further. Raised where it cannot simply be cancelled."""

    def __init__(self) -> None:
        super().__init__("another branch was first")


def quoted(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
