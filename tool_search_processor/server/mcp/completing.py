"""What a half-typed argument of a prompt, or of a template of resources, may become."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from itertools import islice
from typing import Any

import mcp_types as types

from tool_search_processor.components import Prompt, ResourceTemplate
from tool_search_processor.wire.plain import clean_text

MOST_VALUES = 100
"""As the protocol has it."""
_MOST_COUNTED = 10_000


async def complete(
    component: Prompt | ResourceTemplate, params: types.CompleteRequestParams
) -> types.CompleteResult:
    """Return the values that a component offers; empty if it does not help."""
    if component.complete is None:
        return types.CompleteResult(completion=types.Completion(values=[]))
    known = (params.context.arguments if params.context else None) or {}
    offered: Any = component.complete(params.argument.name, params.argument.value, known)
    if inspect.isawaitable(offered):
        offered = await offered
    return types.CompleteResult(completion=_completion(offered))


def _completion(offered: Any) -> types.Completion:
    """Return what was offered as the protocol has it, and no more values than it allows."""
    if isinstance(offered, types.Completion | Mapping):
        given = types.Completion.model_validate(offered)
    else:
        listed = [offered] if isinstance(offered, str) else () if offered is None else offered
        values = [str(value) for value in islice(listed, _MOST_COUNTED + 1)]
        total = len(values) if len(values) <= _MOST_COUNTED else None
        given = types.Completion(values=values, total=total)
    values = [clean_text(value) for value in given.values[:MOST_VALUES]]
    has_more = given.has_more or len(given.values) > MOST_VALUES
    return given.model_copy(update={"values": values, "has_more": has_more})
