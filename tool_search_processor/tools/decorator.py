"""`@tool`: a tool of the function below it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Unpack, overload

from tool_search_processor.errors import InvalidToolError
from tool_search_processor.tools.importers import ToolFields
from tool_search_processor.tools.signatures import is_method
from tool_search_processor.tools.tool import Tool


# Typed as `Tool`, not as its function: to mypy, a list of two such functions is a list of objects.
@overload
def tool(function: Callable[..., Any], /) -> Tool: ...
@overload
def tool(**fields: Unpack[ToolFields]) -> Callable[[Callable[..., Any]], Tool]: ...
def tool(
    function: Callable[..., Any] | None = None, /, **fields: Unpack[ToolFields]
) -> Tool | Callable[[Callable[..., Any]], Tool]:
    """Make a tool of a function, as a decorator: `@tool`, or `@tool(tags={"github"})`.

    ```python
    @tool(tags={"github"}, keywords=["bug"])
    def create_issue(repo: str, title: str) -> str:
        return f"created {repo}: {title}"

    await create_issue.call({"repo": "octo/hello", "title": "Login"})  # -> 'created octo/hello: Login'
    ```

    The tool can still be called as the function; see `Tool.from_function`. In a class it is a method: taken
    from an object, as in `account.pay`, it is that object's tool. Whatever is left out is read from the
    function's signature and docstring, or is the default of `Tool`.

    Args:
        function: The function below `@tool`; nothing is given by hand here.
        name: The tool's name instead of the function's.
        description: What the tool does, as the model reads it, instead of the docstring's text.
        parameters: A JSON Schema of the arguments instead of the one made from the annotations.
        namespace: The group that the tool belongs to: a label, not part of the name.
        tags: Labels by which searches, filters and transforms select tools.
        keywords: Words for search only, never sent to a model.
        pinned: Always list the tool, and leave it out of search results.
        requires_approval: Stop a run before each call until the call is approved.
        tool_type: Where the tool comes from; searches can select by it.
        output_schema: A JSON Schema of what a call returns instead of the return annotation's.
        annotations: Hints of the Model Context Protocol: `readOnlyHint`, `destructiveHint` …
        metadata: Anything else that filters, transforms or the program want to know of the tool.
        example_requests: What people ask when they want this tool; for search only, never sent to a model.

    Raises:
        InvalidToolError: If no schema can be made of the signature; says which parameter and why.
    """
    if function is None:
        return lambda decorated: _made(decorated, **fields)
    return _made(function)


def _made(function: Callable[..., Any], **fields: Unpack[ToolFields]) -> Tool:
    if is_method(function):
        return Tool.from_method(function, **fields)
    if not callable(function):
        raise InvalidToolError(
            f"@tool is written above a function, found {function!r:.100}; options have names: @tool(name=...)"
        )
    return Tool.from_function(function, **fields)
