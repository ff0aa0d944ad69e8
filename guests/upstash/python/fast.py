"""An app of the Python SDK on FastAPI, started with a port and the address that `context.call` is to call."""

import json
import sys
import time

import uvicorn
from fastapi import FastAPI
from upstash_workflow.fastapi import Serve

app = FastAPI()
serve = Serve(app)


def tell(what: str, **told: object) -> None:
    print(json.dumps({"what": what, **told}), flush=True)


@serve.post("/basic")
async def basic(context) -> None:
    one = await context.run("one", lambda: f"one {context.request_payload['text']}")
    await context.sleep("nap", 1)
    await context.sleep_until("until", time.time() + 1)
    called = await context.call("call", url=f"{sys.argv[2]}/ext/json/7", method="GET")
    two = await context.run("two", lambda: {"a": one, "n": called.body["n"]})
    await context.run("tell", lambda: tell("basic", two=two, header=context.headers.get("x-user-header")))


async def on_failure(context, status, response, headers) -> None:
    tell("failed", status=status, response=response)


@serve.post("/failing", retries=0, failure_function=on_failure)
async def failing(context) -> None:
    def boom() -> None:
        raise RuntimeError("my-error")

    await context.run("boom", boom)


if __name__ == "__main__":
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="error")
