"""How a peer talks to the benchmark: JSON lines on the standard input and output.

In: a line `{"tools": [{"name", "description", "parameters"}, …]}`, then lines `{"query", "limit"}`.
Out: a line `{"version", "build_seconds"}`, then for each query `{"names": [best first], "ms": CPU time}`.
It imports nothing but the standard library, since each peer runs in an environment of its own.
"""

import asyncio
import importlib.metadata
import inspect
import json
import os
import sys
import time


def serve(distribution, build):
    """Answer the lines of the standard input.

    Args:
        distribution: The peer's name on the package index.
        build: A function `(tools) -> search`, where `search(query, limit)` gives names, best first; both may
            be coroutine functions.
    """
    # Whatever the peer prints goes to the standard error.
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    loop = asyncio.new_event_loop()

    def timed(call):
        started = time.process_time_ns()
        value = call()
        if inspect.isawaitable(value):
            value = loop.run_until_complete(value)
        return value, (time.process_time_ns() - started) / 1e6

    lines = (json.loads(line) for line in sys.stdin)
    tools = next(lines)["tools"]
    search, spent = timed(lambda: build(tools))
    version = importlib.metadata.version(distribution)
    print(json.dumps({"version": version, "build_seconds": spent / 1e3}), file=out)
    for asked in lines:
        names, spent = timed(lambda asked=asked: search(asked["query"], asked["limit"]))
        print(json.dumps({"names": list(names), "ms": spent}), file=out)
    out.flush()


def text_of(tool):
    """Return all that a tool says, for peers that index plain texts."""
    parts = [tool["name"], tool["description"]]
    for name, schema in (tool["parameters"].get("properties") or {}).items():
        parts += [name, schema.get("description") or "" if isinstance(schema, dict) else ""]
    return " ".join(map(str, parts))
