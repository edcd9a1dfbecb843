"""What a conversation says was loaded and unloaded in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tool_search_processor.meta_tools import Receipt, read_receipt, receipt_of
from tool_search_processor.wire.answers import Answer, first_answers
from tool_search_processor.wire.plain import text_of


def receipts_in(
    messages: Sequence[Any],
    kinds: Mapping[str, str | None],
    *,
    read: Callable[[str], Receipt | None] = read_receipt,
) -> Iterator[tuple[Answer, Receipt | None]]:
    """Yield the turns of the model and the first results of its calls, each with its receipt, if it has one.

    What users and models write never counts. A meta-tool's receipt stands in the text of its result. Of any
    other tool's result only a `receipt` beside that text counts, which `ModelCall.receipt` gave.

    Args:
        messages: OpenAI chat messages, Anthropic messages or Responses items, as dicts or as SDK objects.
        kinds: The meta-tools, and the kind of receipt that each gives; None if it gives none.
        read: Reads the text of a meta-tool's result.
    """
    fresh: set[str] = set()
    for answer in first_answers(messages):
        found = None
        if answer.name is None:
            fresh = set()
        elif answer.name in kinds:
            found = read(text_of(answer.content))
        else:
            found = receipt_of(answer.item.get("receipt"))
        if found is not None and found.kind != kinds.get(str(answer.name), "loaded"):
            found = None
        if found is not None and found.kind == "loaded":
            # calls of one turn are answered in the calls' order, whichever ran first: none of them evicts
            # what another loads
            found = replace(found, evicted=tuple(name for name in found.evicted if name not in fresh))
            fresh.update(found.names)
        yield answer, found
