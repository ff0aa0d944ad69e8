"""An app of the Python SDK on Flask, started with a port and the address that `context.call` is to call."""

import json
import sys

from flask import Flask
from upstash_workflow.flask import Serve

app = Flask(__name__)
serve = Serve(app)


def tell(what: str, **told: object) -> None:
    print(json.dumps({"what": what, **told}), flush=True)


@serve.route("/basic")
def basic(context) -> None:
    one = context.run("one", lambda: f"one {context.request_payload['text']}")
    context.sleep("nap", 1)
    called = context.call("call", url=f"{sys.argv[2]}/ext/json/7", method="GET")
    two = context.run("two", lambda: {"a": one, "n": called.body["n"]})
    context.run("tell", lambda: tell("basic", two=two, header=context.headers.get("X-User-Header")))


def on_failure(context, status, response, headers) -> None:
    tell("failed", status=status, response=response)


@serve.route("/failing", retries=0, failure_function=on_failure)
def failing(context) -> None:
    def boom() -> None:
        raise RuntimeError("my-error")

    context.run("boom", boom)


if __name__ == "__main__":
    app.run(host="127.0.0.1", port=int(sys.argv[1]), threaded=True)
