"""Python's own ``logging`` in the run's log: ``logging.getLogger().addHandler(RunLogHandler())``, once. What code writes that
a handler calls goes to the log of its run as well; everything else is left alone."""

from __future__ import annotations

import logging

from .execution import current
from .run_log import Level


class RunLogHandler(logging.Handler):
    """Writes what is logged within a handler to its run, as ``ctx.log`` does: what an earlier execution wrote is not written
    again, and the log of a run is bounded."""

    def emit(self, record: logging.LogRecord) -> None:
        execution = current.get()
        # What the worker itself has to say is not the handler's.
        if execution is None or record.name == "abide_sdk" or record.name.startswith("abide_sdk."):
            return
        try:
            execution.log_from_anywhere(level_of(record.levelno), self.format(record))
        except Exception:
            self.handleError(record)


def level_of(number: int) -> Level:
    if number >= logging.ERROR:
        return "error"
    if number >= logging.WARNING:
        return "warn"
    return "info" if number >= logging.INFO else "debug"
