"""A real MCP server over stdio that gives the answers it is told to, by method: results as they stand.

    python scripted_server.py '{"tools/list": {"tools": []}}' [VERSION]

A method without an answer is one that it doesn't know. An answer `{"error": {…}}` is sent as an error.
"""

import json
import sys

ANSWERS = json.loads(sys.argv[1])
VERSION = sys.argv[2] if len(sys.argv) > 2 else "2025-11-25"
UNKNOWN = {"error": {"code": -32601, "message": "Method not found"}}
HELLO = {
    "protocolVersion": VERSION,
    "capabilities": {"tools": {}, "resources": {}, "prompts": {}},
    "serverInfo": {"name": "scripted", "version": "1"},
}

for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    answer = {"initialize": HELLO, **ANSWERS}.get(message["method"], UNKNOWN)
    body = answer if "error" in answer else {"result": answer}
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], **body}) + "\n")
    sys.stdout.flush()
