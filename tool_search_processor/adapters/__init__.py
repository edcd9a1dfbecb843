"""The same search inside other agent frameworks: one module a framework, none of them imported here.

Each stands on `SearchRun` and `FrameworkTools`, and is imported by its own name, such as
`tool_search_processor.adapters.langchain`. It needs its framework, which the extra of the same name brings.
For any other framework, `ToolSearchProcessor.functions` gives two plain functions.
"""
