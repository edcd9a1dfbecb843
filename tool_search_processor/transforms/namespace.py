"""A prefix for everything of one provider, so that two providers can offer the same names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from tool_search_processor.components import Prompt, Resource, ResourceTemplate
from tool_search_processor.errors import ConfigurationError
from tool_search_processor.tools import Tool
from tool_search_processor.tools.tool_names import make_tool_name
from tool_search_processor.transforms.transform import (
    Component,
    GetNext,
    ToolMemo,
    Transform,
    agrees_with_list,
    keeps_all,
)

_PREFIX = re.compile(r"[A-Za-z0-9_-]{1,32}")
"""Characters of a tool name; at most 32 of its 64, so that the tool's own name stays readable."""

_SCHEME = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]*:(?://)?)?")
"""The scheme of a URI with its slashes (RFC 3986, section 3.1), or nothing."""

_URI_PREFIX = "uri_prefix"
"""The key of `metadata` that holds the prefix of the paths of a provider's URIs."""

_LONG_NAMES = 10_000
"""Cut names that are remembered for `get_tool`, more than any one provider lists."""


class Namespace(Transform):
    """Puts a prefix before every name: `process` becomes `api_process`, `data://x` becomes `data://api/x`.

    ```python
    github = StaticProvider([create_issue]).with_transforms(Namespace("github"))
    [tool.name for tool in await github.list_tools({})]  # -> ['github_create_issue']
    ```

    An empty `namespace` of a tool (or resource, template, prompt) is filled with the prefix, and the name
    as it was is kept in `metadata["original_name"]`, for URIs in `metadata["original_uri"]`, unless an
    importer or an inner namespace already wrote one there; `metadata["uri_prefix"]` says what a server
    has to put into the URIs of an answer. A name that would be longer than 64 characters is cut, and ends
    in a short hash of the whole name.

    Calls, reads and renderings use the provider's own names.
    """

    def __init__(self, prefix: str) -> None:
        """Check the prefix.

        Args:
            prefix: 1 to 32 letters, digits, "_" or "-"; an underscore is put between it and the name.

        Raises:
            ConfigurationError: The prefix cannot be part of a tool name.
        """
        if not isinstance(prefix, str) or not _PREFIX.fullmatch(prefix):
            raise ConfigurationError(
                f"a namespace prefix is 1 to 32 letters, digits, '_' or '-', found {prefix!r}"
            )
        self.prefix = prefix
        self._memo = ToolMemo()
        self._long_names: dict[str, str] = {}

    def __repr__(self) -> str:
        """Return the call that makes it."""
        return f"Namespace({self.prefix!r})"

    async def list_tools(self, tools: Sequence[Tool]) -> Sequence[Tool]:
        """Return the tools under their prefixed names, in the same order."""
        return self._memo.map(tools, self._tool)

    @agrees_with_list
    async def get_tool(self, name: str, call_next: GetNext[Tool]) -> Tool | None:
        """Look the tool up below without the prefix, and return it under its prefixed name.

        A cut name is known only once it was listed, since it does not contain the whole name.
        """
        original = self._long_names.get(name) or self._without_prefix(name)
        tool = None if original is None else await call_next(original)
        renamed = None if tool is None else self._tool(tool)
        return renamed if renamed is not None and renamed.name == name else None

    @keeps_all
    async def list_resources(self, resources: Sequence[Resource]) -> Sequence[Resource]:
        """Return the resources under `scheme://prefix/path`."""
        return [self._resource(resource) for resource in resources]

    @agrees_with_list
    async def get_resource(self, uri: str, call_next: GetNext[Resource]) -> Resource | None:
        """Look the resource up below without the prefix, and return it under its prefixed URI."""
        original = self._inner_uri(uri)
        resource = None if original is None else await call_next(original)
        return None if resource is None else self._resource(resource)

    async def list_resource_templates(
        self, templates: Sequence[ResourceTemplate]
    ) -> Sequence[ResourceTemplate]:
        """Return the templates under `scheme://prefix/path`."""
        return [self._template(template) for template in templates]

    @agrees_with_list
    async def get_resource_template(
        self, uri: str, call_next: GetNext[ResourceTemplate]
    ) -> ResourceTemplate | None:
        """Look the template up below without the prefix, and return it under its prefixed text."""
        original = self._inner_uri(uri)
        template = None if original is None else await call_next(original)
        return None if template is None else self._template(template)

    async def list_prompts(self, prompts: Sequence[Prompt]) -> Sequence[Prompt]:
        """Return the prompts under their prefixed names."""
        return [self._prompt(prompt) for prompt in prompts]

    @agrees_with_list
    async def get_prompt(self, name: str, call_next: GetNext[Prompt]) -> Prompt | None:
        """Look the prompt up below without the prefix, and return it under its prefixed name."""
        original = self._without_prefix(name)
        prompt = None if original is None else await call_next(original)
        return None if prompt is None else self._prompt(prompt)

    def _without_prefix(self, name: str) -> str | None:
        original = name.removeprefix(f"{self.prefix}_")
        return original if original and original != name else None

    def _tool(self, tool: Tool) -> Tool:
        whole = f"{self.prefix}_{tool.name}"
        name = make_tool_name(whole)
        if name != whole:
            if len(self._long_names) >= _LONG_NAMES:
                self._long_names.clear()
            self._long_names[name] = tool.name
        return tool.replace(name=name, **self._labels(tool, original_name=tool.name))

    def _resource(self, resource: Resource) -> Resource:
        uri = namespaced_uri(resource.uri, self.prefix)
        return resource.replace(uri=uri, **self._labels(resource, original_uri=resource.uri))

    def _template(self, template: ResourceTemplate) -> ResourceTemplate:
        read = template.read

        def read_inner(uri: str) -> object:
            inner = self._inner_uri(uri)
            if read is None or inner is None:
                raise ConfigurationError(f"{uri!r} is not a URI of the namespace {self.prefix!r}")
            return read(inner)

        return template.replace(
            uri_template=namespaced_uri(template.uri_template, self.prefix),
            read=None if read is None else read_inner,
            **self._labels(template, original_uri=template.uri_template),
        )

    def _prompt(self, prompt: Prompt) -> Prompt:
        name = f"{self.prefix}_{prompt.name}"
        return prompt.replace(name=name, **self._labels(prompt, original_name=prompt.name))

    def _labels(self, component: Component, **original: str) -> dict[str, Any]:
        """Return the namespace and the metadata that a component gets; an original that it has stays."""
        inner = uri_prefix_of(component)
        uri_prefix = self.prefix if inner is None else f"{self.prefix}/{inner}"
        return {
            "namespace": component.namespace or self.prefix,
            "metadata": {**original, **component.metadata, _URI_PREFIX: uri_prefix},
        }

    def _inner_uri(self, uri: str) -> str | None:
        scheme, path = _split_uri(uri)
        inner = path.removeprefix(f"{self.prefix}/")
        return f"{scheme}{inner}" if inner != path else None


def namespaced_uri(uri: str, prefix: str) -> str:
    """Return a URI under `scheme://prefix/path`."""
    scheme, path = _split_uri(uri)
    return f"{scheme}{prefix}/{path}"


def uri_prefix_of(component: Component) -> str | None:
    """Return the prefix that namespaces put before the paths of a provider's URIs, outermost first, or None.

    Args:
        component: Something of the provider.
    """
    prefix = component.metadata.get(_URI_PREFIX)
    return prefix if isinstance(prefix, str) else None


def _split_uri(uri: str) -> tuple[str, str]:
    """Return a URI's scheme with its colon and slashes, and the rest; the scheme may be empty."""
    match = _SCHEME.match(uri)
    end = match.end() if match else 0
    return uri[:end], uri[end:]
