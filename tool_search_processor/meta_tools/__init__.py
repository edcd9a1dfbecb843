"""Everything the model sees: names, schemas, texts and result shapes of the meta-tools.

The names listed here are those that servers, adapters and agents share; the rest stands in the modules.
"""

from tool_search_processor.meta_tools.answers import (
    TARGET_META,
    ResultDetail,
    invalid_arguments_answer,
    search_answer,
    search_result,
    signature,
    target_meta,
)
from tool_search_processor.meta_tools.definitions import MetaTool, call_tool, search_tool
from tool_search_processor.meta_tools.meta_tool_names import MetaToolNames
from tool_search_processor.meta_tools.reading import MAX_RESULTS, SearchCall, read_call, read_search
from tool_search_processor.meta_tools.receipts import Receipt, read_receipt, receipt, receipt_of
from tool_search_processor.meta_tools.texts import (
    EMPTY_QUERY,
    OUTAGE,
    catalog_line,
    catalog_text,
    cut,
    found_text,
    instruction_text,
    meta_tool_refused_text,
    one_line,
)

__all__ = [
    "EMPTY_QUERY",
    "MAX_RESULTS",
    "OUTAGE",
    "TARGET_META",
    "MetaTool",
    "MetaToolNames",
    "Receipt",
    "ResultDetail",
    "SearchCall",
    "call_tool",
    "catalog_line",
    "catalog_text",
    "cut",
    "found_text",
    "instruction_text",
    "invalid_arguments_answer",
    "meta_tool_refused_text",
    "one_line",
    "read_call",
    "read_receipt",
    "read_search",
    "receipt",
    "receipt_of",
    "search_answer",
    "search_result",
    "search_tool",
    "signature",
    "target_meta",
]
