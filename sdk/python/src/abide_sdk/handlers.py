"""Handlers by name, and how one of them is called: its input read, the middleware around it, a thread for a plain function."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from . import blocking
from .call import DurableCall
from .client import Client
from .context import Context
from .decode import Decoder, decoder_of_input
from .execution import Execution, current, decoded
from .middleware import Middleware, MiddlewareCall, Next, around_call, around_handler
from .sync_context import SyncContext


class Handlers:
    def __init__(
        self,
        client: Client,
        middleware: Sequence[Middleware],
        concurrency: int,
        context: type[Context] = Context,
    ) -> None:
        """``concurrency``: how many threads there may be for plain functions. ``context``: what they are given."""
        self._context = context
        self._client = client
        self._middleware = tuple(middleware)
        self._concurrency = concurrency
        self._functions: dict[str, tuple[Callable[..., Any], Decoder | None]] = {}
        self._threads: ThreadPoolExecutor | None = None
        self._blocking: blocking.Transport | None = None

    def add(self, name: str, function: Callable[..., Any]) -> None:
        if name in self._functions:
            raise ValueError(f"there are two handlers `{name}`")
        self._functions[name] = (function, decoder_of_input(function))

    @property
    def names(self) -> list[str]:
        return list(self._functions)

    def __contains__(self, name: str) -> bool:
        return name in self._functions

    async def call(self, execution: Execution) -> Any:
        """The output of the handler of a task."""
        name = execution.task["handler"]
        function, read = self._functions[name]
        token = current.set(execution)
        try:
            context = self._context(execution, self._client, decoded("the input", read, execution.task["input"]))
            execution.around = self._around_calls(context)
            if self._middleware:
                output = await around_handler(self._middleware, context, lambda: self._handle(function, context))()
            else:
                output = await self._handle(function, context)
        finally:
            current.reset(token)
        return execution.as_json(name, output)

    async def close(self) -> None:
        if self._threads and self._blocking:
            self._threads.shutdown(wait=False)
            await asyncio.to_thread(self._blocking.close)

    def _around_calls(self, context: Context) -> Callable[[DurableCall, Next], Next] | None:
        if not self._middleware:
            return None

        def around(call: DurableCall, work: Next) -> Next:
            about = MiddlewareCall(call.name, call.attempt, call.idempotency_key, context)
            return around_call(self._middleware, about, work)

        return around

    async def _handle(self, function: Callable[..., Any], context: Context) -> Any:
        if inspect.iscoroutinefunction(function):
            return await function(*arguments(function, context, context.input))
        loop = asyncio.get_running_loop()
        if self._threads is None or self._blocking is None:
            self._threads = ThreadPoolExecutor(self._concurrency, "abide-handler")
            self._blocking = blocking.Transport(own=self._client.transport.apart())
        plain = SyncContext(context, loop, self._blocking)
        given = arguments(function, plain, context.input)
        with plain.going() as own:
            return await loop.run_in_executor(self._threads, lambda: own.run(function, *given))


def arguments(function: Callable[..., Any], context: Any, input: Any) -> tuple[Any, ...]:
    code = getattr(function, "__code__", None)
    takes_input = code is None or code.co_argcount - (1 if inspect.ismethod(function) else 0) >= 2
    return (context, input) if takes_input else (context,)
