"""A real MCP server over stdio that needs the standard library alone, so that it starts in no time.

It speaks the protocol of 2025-11-25, as most servers still do, and misbehaves when it is told to:

    python small_server.py [--page N] [--mute] [--mute-tools] [--endless] [--circle] [--strict] [--stay]
        [--chatty] [--last-words TEXT]
"""

from __future__ import annotations

import json
import os
import sys
import time

PICTURE = "iVBORw0KGgo="
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
NAME = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
NOTHING = {"type": "object", "properties": {}}
TOOLS = [
    {"name": "echo", "description": "Say it again.", "inputSchema": TEXT, "fieldOfTheFuture": {"a": 1}},
    {"name": "process.id", "description": "Tell the process id.", "inputSchema": NOTHING, "title": "Process"},
    {"name": "environment", "description": "List environment variables.", "inputSchema": NOTHING},
    {"name": "die", "description": "End the process.", "inputSchema": NOTHING},
    {"name": "hang", "description": "Never answer.", "inputSchema": NOTHING},
    {
        "name": "cancelled",
        "description": "List calls that were cancelled.",
        "inputSchema": NOTHING,
    },
    {"name": "grow", "description": "Add a tool.", "inputSchema": NAME},
    {"name": "steps", "description": "Report progress.", "inputSchema": NOTHING},
    {"name": "slow_steps", "description": "Report now and then.", "inputSchema": NOTHING},
    {"name": "fail", "description": "Fail in words.", "inputSchema": TEXT},
    {"name": "refuse", "description": "Answer with an error.", "inputSchema": NOTHING},
    {"name": "garble", "description": "Answer with nonsense.", "inputSchema": NOTHING},
    {"name": "show", "description": "Answer with blocks of each kind.", "inputSchema": NOTHING},
    {"name": "ask", "description": "Ask the client for something.", "inputSchema": NAME},
    {
        "name": "wipe",
        "description": "Delete everything.",
        "inputSchema": NOTHING,
        "annotations": {"destructiveHint": True, "readOnlyHint": False},
    },
    {
        "name": "count",
        "description": "Count letters.",
        "inputSchema": TEXT,
        "outputSchema": {
            "type": "object",
            "properties": {"letters": {"type": "integer"}},
            "required": ["letters"],
        },
        "annotations": {"readOnlyHint": True, "idempotentHint": True},
        "_meta": {"fastmcp": {"tags": ["text"]}},
    },
]
BLOCKS = [
    {"type": "text", "text": "A picture:"},
    {"type": "image", "data": PICTURE, "mimeType": "image/png"},
    {"type": "audio", "data": PICTURE, "mimeType": "audio/wav"},
    {"type": "resource", "resource": {"uri": "file:///a.txt", "text": "Inside."}},
    {"type": "resource", "resource": {"uri": "file:///a.bin", "blob": PICTURE, "mimeType": "x/y"}},
    {"type": "resource_link", "uri": "file:///b.txt", "name": "b", "description": "Another."},
]
asked: dict[object, object] = {}
waiting: dict[object, str] = {}
gone: list[str] = []


def send(**message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def text(value, **more):
    return {"content": [{"type": "text", "text": value}], **more}


def progress(params, steps):
    token = params.get("_meta", {}).get("progressToken")
    for step in range(steps) if token is not None else ():
        report = {"progressToken": token, "progress": step + 1, "total": steps, "message": f"step {step + 1}"}
        send(method="notifications/progress", params=report)


def call(request, params):
    """Return the result of a tool; None where there is none, or not yet."""
    name, arguments = params["name"], params.get("arguments") or {}
    match name:
        case "die":
            progress(params, 1)
            os._exit(7)
        case "hang":
            waiting[request] = name
            progress(params, 1)
            return None
        case "ask":
            asked[f"ask-{request}"] = request
            send(id=f"ask-{request}", method=arguments["name"], params=QUESTIONS[arguments["name"]])
            return None
        case "refuse":
            send(id=request, error={"code": -32603, "message": "no, and\nthat is final"})
            return None
        case "grow":
            TOOLS.append({"name": arguments["name"], "description": "Grown.", "inputSchema": NOTHING})
            send(method="notifications/tools/list_changed")
        case "steps":
            progress(params, 3)
        case "slow_steps":
            for _ in range(4):
                progress(params, 1)
                time.sleep(0.3)
    results = {
        "echo": lambda: text(arguments["text"]),
        "process.id": lambda: text(str(os.getpid())),
        "environment": lambda: text(json.dumps(dict(os.environ))),
        "cancelled": lambda: text(json.dumps(gone)),
        "fail": lambda: text(arguments["text"], isError=True),
        "garble": lambda: {"content": 5},
        "show": lambda: {"content": BLOCKS},
        "count": lambda: text("5 letters", structuredContent={"letters": len(arguments["text"])}),
    }
    return results.get(name, lambda: text("done"))()


QUESTIONS = {
    "sampling/createMessage": {
        "messages": [{"role": "user", "content": {"type": "text", "text": "hi"}}],
        "maxTokens": 10,
    },
    "roots/list": {},
    "ping": {},
}
PROMPT = {"name": "greet", "description": "Greets.", "arguments": [{"name": "who", "required": True}]}


def answer(request, method, params, options):
    """Return the result of a request; None where there is none, or not yet."""
    match method:
        case "initialize" if "--mute" not in options:
            offered = {"tools": {"listChanged": True}, "resources": {}, "prompts": {}, "logging": {}}
            version = {"protocolVersion": "2025-11-25", "capabilities": offered}
            return {**version, "serverInfo": {"name": "small", "version": "1"}, "fieldOfTheFuture": 1}
        case "tools/list" if "--mute-tools" not in options:
            return tool_page(params.get("cursor"), options)
        case "tools/call":
            if "--chatty" in options:
                sys.stdout.write("thinking…\n")
            return call(request, params)
        case "resources/list":
            return {"resources": [{"uri": "note://one", "name": "one", "mimeType": "text/plain"}]}
        case "resources/templates/list":
            return {"resourceTemplates": [{"uriTemplate": "note://{id}", "name": "note"}]}
        case "resources/read":
            return {"contents": [{"uri": params["uri"], "text": f"The text of {params['uri']}."}]}
        case "prompts/list":
            return {"prompts": [PROMPT]}
        case "prompts/get":
            content = {"type": "text", "text": f"Greet {params['arguments']['who']}."}
            return {"messages": [{"role": "user", "content": content}]}
        case "initialize" | "tools/list":
            return None
        case "server/discover" if "--strict" in options:
            raise SystemExit("unknown method")
        case _:
            send(id=request, error={"code": -32601, "message": "Method not found"})
            return None


def tool_page(cursor, options):
    if "--endless" in options:
        number = int(cursor or 0)
        tool = {"name": f"tool_{number}", "inputSchema": NOTHING}
        return {"tools": [tool], "nextCursor": "1" if "--circle" in options else str(number + 1)}
    size = int(options[options.index("--page") + 1]) if "--page" in options else len(TOOLS)
    start = int(cursor or 0)
    more = {"nextCursor": str(start + size)} if start + size < len(TOOLS) else {}
    return {"tools": TOOLS[start : start + size], **more}


def main(options):
    if "--last-words" in options:
        raise SystemExit(options[options.index("--last-words") + 1])
    for line in sys.stdin:
        message = json.loads(line)
        method, params, request = message.get("method"), message.get("params") or {}, message.get("id")
        if method == "notifications/cancelled":
            gone.append(waiting.pop(params["requestId"], "?"))
        elif method == "notifications/initialized":
            send(method="notifications/message", params={"level": "warning", "data": "ready\nforged line"})
            sys.stderr.write("on standard error\n")
        elif method is None:
            said = message.get("error", {}).get("message", json.dumps(message.get("result")))
            send(id=asked.pop(request), result=text(said))
        elif request is not None:
            result = answer(request, method, params, options)
            if result is not None:
                send(id=request, result=result)
    while "--stay" in options:  # not even the end of its input ends it
        time.sleep(60)


if __name__ == "__main__":
    main(sys.argv[1:])
