"""Native load: loaded tools are declared inside the conversation, and the list of tools never changes."""

from tool_search_processor.session.native.declarations import (
    Change,
    Declarations,
    Record,
    declare,
    read_record,
)
from tool_search_processor.session.native.rendering import (
    INLINE_TOOLS_BETA,
    additional_tools,
    inserted,
    listed_beside_references,
    responses_definition,
    tool_additions,
    with_tool_references,
)

__all__ = [
    "INLINE_TOOLS_BETA",
    "Change",
    "Declarations",
    "Record",
    "additional_tools",
    "declare",
    "inserted",
    "listed_beside_references",
    "read_record",
    "responses_definition",
    "tool_additions",
    "with_tool_references",
]
