"""What the providers' servers reply, in Anthropic's form and as Responses: a call a reply, or the end."""

from __future__ import annotations

import json

BETA = "inline-tools-2026-09-15"
CALLS = [("load_tool", {"tool_names": ["weather"]}), ("weather", {}), None]
MORE = [("load_tool", {"tool_names": ["calendar"]}), ("calendar", {}), None]


def message(number, call):
    block = {"type": "text", "text": "done"}
    if call is not None:
        block = {"type": "tool_use", "id": f"toolu_{number}", "name": call[0], "input": call[1]}
    return {
        "id": "m", "type": "message", "role": "assistant", "model": "claude-opus-5", "content": [block],
        "stop_reason": "tool_use" if call else "end_turn", "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }  # fmt: skip


def response(number, call):
    item = {
        "type": "message", "id": f"msg_{number}", "role": "assistant", "status": "completed",
        "content": [{"type": "output_text", "text": "done", "annotations": []}],
    }  # fmt: skip
    if call is not None:
        item = {
            "type": "function_call", "id": f"fc_{number}", "call_id": f"call_{number}", "name": call[0],
            "arguments": json.dumps(call[1]), "status": "completed",
        }  # fmt: skip
    thought = {"type": "reasoning", "id": f"rs_{number}", "summary": [], "encrypted_content": "e"}
    return {
        "id": "resp_1", "created_at": 0, "model": "gpt-5.5", "object": "response", "status": "completed",
        "parallel_tool_calls": True, "tool_choice": "auto", "tools": [], "output": [thought, item],
    }  # fmt: skip


def events(reply):
    rows = [{"type": "response.created", "response": {**reply, "output": [], "status": "in_progress"}}]
    for item in reply["output"]:
        for part in item.get("content", ()):
            place = {"item_id": item["id"], "output_index": 1, "content_index": 0, "logprobs": []}
            rows.append({"type": "response.output_text.delta", "delta": part["text"], **place})
    rows.append({"type": "response.completed", "response": reply})
    numbered = [json.dumps({**row, "sequence_number": number}) for number, row in enumerate(rows)]
    return "".join(f"event: {json.loads(row)['type']}\ndata: {row}\n\n" for row in numbered)
