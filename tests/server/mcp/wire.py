"""A client that says what it likes over HTTP, and what a front answers it."""

import json

INITIALIZE = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}
ACCEPT = {"accept": "application/json, text/event-stream"}
JSON = {**ACCEPT, "content-type": "application/json"}
NORMAL = ["create_issue", "search_tools", "call_tool"]
"""What `front()` lists in normal mode."""
DISCOVERY = NORMAL[1:]


class Wire:
    """A client that says what it likes, request by request."""

    def __init__(self, http, url):
        self.http = http
        self.url = url

    async def ask(self, method, params=None, *, url=None, **headers):
        """Send one JSON-RPC request, and return status, headers and the message."""
        sent = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params or {}}
        given = {**ACCEPT, **{name.replace("_", "-"): value for name, value in headers.items()}}
        response = await self.http.post(url or self.url, json=sent, headers=given)
        lines = [
            line.removeprefix("data: ") for line in response.text.splitlines() if line.startswith("data:")
        ]
        body = lines[-1] if lines else response.text
        return response.status_code, response.headers, json.loads(body) if body else None

    async def begin(self, **headers):
        """Begin a session, and return its id."""
        status, given, _ = await self.ask("initialize", INITIALIZE, **headers)
        assert status == 200
        return given.get("mcp-session-id")

    async def listed(self, session_id, **options):
        """Return the status, and the names that a session is listed."""
        status, _, message = await self.ask("tools/list", mcp_session_id=session_id, **options)
        return status, [each["name"] for each in message["result"]["tools"]] if status == 200 else message
