"""Checks that a bare installation imports, and that the import loads nothing optional."""

import importlib.metadata
import sys

import tool_search_processor

OPTIONAL = ("litellm", "mcp", "redis", "pymilvus", "starlette", "uvicorn", "onnxruntime")
loaded = [name for name in OPTIONAL if name in sys.modules]
if loaded:
    sys.exit(f"import tool_search_processor loads {loaded}")
for name in tool_search_processor.__all__:
    getattr(tool_search_processor, name)
print(f"tool-search-processor {importlib.metadata.version('tool-search-processor')} imports by itself")
