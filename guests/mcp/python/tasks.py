"""The official Python client, as an application uses it. Prints what it found as JSON.

``tasks.py start URL KEY TOOL ARGUMENTS`` starts a task; ``tasks.py answer URL KEY TASK`` answers all that it asks for until it is
done; ``tasks.py call URL KEY TOOL ARGUMENTS MODE`` calls without tasks.
"""

import asyncio
import json
import sys
from typing import Any, Literal

import httpx2
import mcp_types as types
from mcp.client.client import Client
from mcp.client.extension import ClientExtension, ResultClaim
from mcp.client.streamable_http import streamable_http_client
from pydantic import ConfigDict

TASKS = "io.modelcontextprotocol/tasks"


class Task(types.Result):
    model_config = ConfigDict(extra="allow", populate_by_name=True)
    result_type: Literal["task"] = "task"
    taskId: str


class Anything(types.Result):
    model_config = ConfigDict(extra="allow")


class Request(types.Request[dict[str, Any], str]):
    name_param = "taskId"


class TasksExtension(ClientExtension):
    identifier = TASKS

    def claims(self) -> list[ResultClaim[Task]]:
        async def resolve(task: Task, _context: object) -> types.CallToolResult:
            raise AssertionError(f"nobody waits for {task.taskId} here")

        return [ResultClaim(result_type="task", model=Task, resolve=resolve)]


async def answer(_context: object, params: Any) -> types.ElicitResult:
    content = {"name": "Ada"} if params.message.startswith("Who") else {"ok": True}
    return types.ElicitResult(action="accept", content=content)


def open_client(url: str, key: str, mode: str, *, tasks: bool) -> Client:
    http = httpx2.AsyncClient(headers={"authorization": f"Bearer {key}"}, timeout=60)
    extensions = [TasksExtension()] if tasks else None
    return Client(streamable_http_client(url, http_client=http), elicitation_callback=answer, extensions=extensions, mode=mode)


async def request(client: Client, method: str, params: dict[str, Any]) -> dict[str, Any]:
    result = await client.session.send_request(Request(method=method, params=params), Anything)
    return result.model_dump(by_alias=True, mode="json")


async def main() -> None:
    what, url, key, subject, *rest = sys.argv[1:]
    if what == "start":
        async with open_client(url, key, "auto", tasks=True) as client:
            task = await client.session.call_tool(subject, json.loads(rest[0]), allow_claimed=True)
            print(json.dumps({"taskId": task.taskId, "version": client.protocol_version}))
    elif what == "answer":
        async with open_client(url, key, "auto", tasks=True) as client:
            while True:
                task = await request(client, "tasks/get", {"taskId": subject})
                if task["status"] not in ("working", "input_required"):
                    print(json.dumps(task))
                    return
                responses = {
                    question: (await answer(None, types.ElicitRequestFormParams(**asked["params"]))).model_dump(by_alias=True, mode="json", exclude_none=True)
                    for question, asked in task.get("inputRequests", {}).items()
                }
                if responses:
                    await request(client, "tasks/update", {"taskId": subject, "inputResponses": responses})
                await asyncio.sleep(0.05)
    else:
        async with open_client(url, key, rest[1], tasks=False) as client:
            result = await client.call_tool(subject, json.loads(rest[0]))
            print(result.model_dump_json(by_alias=True, exclude_none=True))


asyncio.run(main())
