"""Tool search inside other agent frameworks: one module for each, none of them imported here.

Each builds on `SearchRun` and `FrameworkTools`, and is imported by its own name, such as
`tool_search_processor.adapters.langchain`. It needs its framework, which the extra of that name installs.
For any other framework, `ToolSearchProcessor.functions` gives two plain functions.
"""
