"""What is repeated, and what is not, when a server is busy, gone, or something between answers."""

from __future__ import annotations

import asyncio
import unittest
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from unittest import mock

from abide_sdk import Busy, Client, Problem, Unreachable

Headers = dict[str, str]

YES = b'HTTP/1.1 200 OK\r\ncontent-length: 15\r\n\r\n{"id": "run_1"}'
CHUNKS = b'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n8\r\n{"id": "\r\n7\r\nrun_1"}\r\n0\r\n\r\n'
BODY = b'{"type": "", "title": "", "status": 503, "code": "OVERLOADED", "detail": "later"}'
BUSY = b"HTTP/1.1 503 No\r\nretry-after: 0\r\ncontent-length: %d\r\n\r\n%b" % (len(BODY), BODY)
NEEDS_KEY = b'{"type": "", "title": "", "status": 401, "code": "UNAUTHENTICATED", "detail": "this needs an API key"}'
NO_KEY = b"HTTP/1.1 401 No\r\ncontent-length: %d\r\n\r\n%b" % (len(NEEDS_KEY), NEEDS_KEY)
PROXY = b"HTTP/1.1 502 Bad\r\ncontent-length: 6\r\n\r\n<html>"
HANG_UP = b""
SILENCE = b"nothing, for as long as anybody listens"
CUT_SHORT = b"HTTP/1.1 200 OK\r\ncontent-length: 15\r\n\r\n{"


@asynccontextmanager
async def scripted(*answers: bytes) -> AsyncIterator[tuple[Client, list[Headers]]]:
    """A server that gives these answers, one after the other."""
    left, asked = list(answers), list[Headers]()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")[1:]
                headers = dict(line.split(": ", 1) for line in head if line)
                await reader.readexactly(int(headers.get("content-length", 0)))
                asked.append(headers)
                answer = left.pop(0)
                writer.write(b"" if answer == SILENCE else answer)
                if answer in (HANG_UP, CUT_SHORT):
                    break
        except asyncio.IncompleteReadError:
            pass
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server, Client(f"http://127.0.0.1:{port}", retries=2) as client:
        yield client, asked


class Requests(unittest.IsolatedAsyncioTestCase):
    async def test_a_start_is_repeated_with_the_same_key_until_it_is_answered(self) -> None:
        async with scripted(BUSY, HANG_UP, YES) as (client, asked):
            self.assertEqual((await client.start("order")).id, "run_1")
            keys = {headers["idempotency-key"] for headers in asked}
            self.assertEqual((len(asked), len(keys)), (3, 1))

    async def test_who_has_no_key_is_told_where_one_is_read_from(self) -> None:
        async with scripted(NO_KEY) as (client, _):
            with self.assertRaises(Problem) as caught:
                await client.start("order")
            said = "UNAUTHENTICATED: this needs an API key; give a key as `api_key`, or in ABIDE_API_KEY"
            self.assertEqual(str(caught.exception), said)

    async def test_a_busy_server_is_given_up_after_the_retries_with_its_code(self) -> None:
        async with scripted(BUSY, BUSY, BUSY) as (client, asked):
            with self.assertRaises(Busy) as caught:
                await client.start("order")
            self.assertEqual((caught.exception.code, len(asked)), ("OVERLOADED", 3))

    async def test_what_may_have_been_done_and_has_no_key_is_not_repeated(self) -> None:
        async with scripted(HANG_UP) as (client, asked):
            with self.assertRaises(Unreachable):
                await client.admin.create_workspace("x")
            self.assertEqual(len(asked), 1)

    async def test_what_was_refused_because_the_server_is_busy_is_repeated_in_any_case(self) -> None:
        async with scripted(BUSY, YES) as (client, asked):
            await client.admin.create_workspace("x")
            self.assertEqual(len(asked), 2)

    async def test_an_answer_of_something_in_between_has_a_code_too(self) -> None:
        async with scripted(PROXY, PROXY, PROXY) as (client, _):
            with self.assertRaises(Problem) as caught:
                await client.runs.find("x")
            self.assertEqual((caught.exception.code, caught.exception.detail), ("HTTP_502", "<html>"))

    async def test_an_answer_may_come_in_chunks_or_be_cut_short(self) -> None:
        async with scripted(CHUNKS, CUT_SHORT, YES) as (client, asked):
            for _ in range(2):
                self.assertEqual(await client.runs.find("x"), {"id": "run_1"})
            self.assertEqual(len(asked), 3)

    async def test_a_server_that_falls_silent_is_asked_again(self) -> None:
        with mock.patch("abide_sdk.http1.SILENT_SECONDS", 0.05):
            async with scripted(SILENCE, SILENCE, YES) as (client, asked):
                self.assertEqual(await client.runs.find("x"), {"id": "run_1"})
                self.assertEqual(len(asked), 3)

    async def test_keys_and_traces_are_sent_along(self) -> None:
        async with scripted(YES) as (plain, asked):
            async with Client(plain.transport.server, "abk_1", traceparent=lambda: "00-1-2-01") as client:
                await client.runs.find("x")
            self.assertEqual((asked[0]["authorization"], asked[0]["traceparent"]), ("Bearer abk_1", "00-1-2-01"))

    async def test_a_url_that_is_none_is_refused_at_once(self) -> None:
        with self.assertRaisesRegex(ValueError, "it would look like http://"):
            Client("localhost:22433")
