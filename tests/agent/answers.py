"""What servers answer: whole responses and chunks, as dicts or as objects."""

from types import SimpleNamespace


def response(message, finish_reason="stop", **fields):
    return {"choices": [{"index": 0, "finish_reason": finish_reason, "message": message}], **fields}


def attributes(value):
    if isinstance(value, dict):
        return SimpleNamespace(**{key: attributes(item) for key, item in value.items()})
    return [attributes(item) for item in value] if isinstance(value, list) else value


def chunk(**delta):
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
