"""The operations of an OpenAPI document as tools that are called over HTTP."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tool_search_processor.errors import ConfigurationError, ToolCallError
from tool_search_processor.providers.openapi.document_tools import Definition, read_definitions
from tool_search_processor.providers.openapi.documents import OpenAPIDocument
from tool_search_processor.providers.openapi.http_calls import Clients, OperationCaller
from tool_search_processor.providers.openapi.http_responses import AnswerLimits, read_content
from tool_search_processor.providers.openapi.operations import (
    OperationNode,
    Selection,
    as_selection,
    list_operations,
    select,
)
from tool_search_processor.providers.openapi.redirects import send
from tool_search_processor.providers.openapi.routes import VARIABLE
from tool_search_processor.providers.openapi.security import Credentials, Secret
from tool_search_processor.providers.openapi.servers import Servers
from tool_search_processor.providers.openapi.texts import parse_text
from tool_search_processor.providers.provider import Context, Provider
from tool_search_processor.providers.refusals import RefusedTool
from tool_search_processor.providers.unpacking import ACCEPT_ENCODING, UnpackError
from tool_search_processor.providers.web import WEB, check_headers, check_url, shown_url
from tool_search_processor.tools import Tool, ToolContext
from tool_search_processor.wire.checks import check_count, check_positive
from tool_search_processor.wire.files import read_text
from tool_search_processor.wire.plain import mapping_of

if TYPE_CHECKING:
    import httpx

    from tool_search_processor.providers.openapi.http_calls import Auth


class OpenAPIProvider(Provider):
    """Gives a tool for each operation of an OpenAPI document (2.0, 3.0 to 3.2), called with httpx.

    ```python
    document = {
        "openapi": "3.1.0",
        "servers": [{"url": "https://library.example"}],
        "paths": {"/books": {"get": {"operationId": "find_books", "responses": {}}}},
    }
    library = OpenAPIProvider(document, include=["GET *"])  # or the path of a file
    [tool.name for tool in await library.list_tools({})]  # -> ['find_books']
    ```

    The tool's name is made of the `operationId`, or of method and path; its description is summary and
    description. Its arguments are the operation's parameters, and the properties of its body where none of
    them has a parameter's name: else the argument `body` is the whole body. Of two parameters of one name
    the later is `<name>__<place>`, such as `id__query`. Schemas are JSON Schema 2020-12; what they refer to
    comes along in `$defs`. `GET` and `HEAD` have the annotation `readOnlyHint`, `DELETE` has
    `destructiveHint`, `PUT` has `idempotentHint`.

    A call returns the data of a JSON answer, and a string for everything else. An answer other than 2xx, a
    time-out and a server that can't be reached raise `ToolCallError`, whose text is fit for the model.

    A document at a URL is read at the first listing; every other one at construction. An operation that can't
    be a tool, or has no server that can be called, is left out with a warning and stands in
    `catalog.status().refused`.
    """

    def __init__(
        self,
        document: str | Path | Mapping[str, Any],
        *,
        name: str | None = None,
        namespace: str | None = None,
        include: Selection | None = None,
        exclude: Selection = (),
        requires_approval: Selection = (),
        base_url: str | None = None,
        server_variables: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        credentials: Mapping[str, Secret] | None = None,
        auth: Auth | None = None,
        client: httpx.AsyncClient | Callable[[], httpx.AsyncClient] | None = None,
        timeout_seconds: float = 30.0,
        max_response_bytes: int = 2_000_000,
        max_response_chars: int = 20_000,
        max_document_bytes: int = 50_000_000,
    ) -> None:
        """Provide the operations of a document as tools.

        Args:
            document: A path, a URL, the parsed document, or its text (JSON or YAML). References to other
                files are followed where it is a path, within its folder; never those over the network: an
                operation that needs them is left out. `npx @redocly/cli bundle` puts all into one document.
            name: What status reports and errors call this provider; by default the document's title, or its
                URL.
            namespace: The namespace of all its tools.
            include: The operations to take; all by default. Operations are chosen by a function
                `(Operation) -> bool` or by globs: of paths (`/repos/*`), of routes (`GET *`), or of tool
                names, operation ids and tags (`issues/*`). A glob that matches nothing is an error.
            exclude: Those of them to leave out.
            requires_approval: Those that need a person's word before each call, such as `["DELETE *"]`.
            base_url: Put before each path, in the place of the document's servers; one without a path gets
                the path of a relative server (`/v1`). Where you don't write the document yourself, it pins
                the host that headers and credentials go to.
            server_variables: Values of variables in the URL of the document's server.
            headers: Sent with each call, over what the document has.
            credentials: Secrets by the names of the document's security schemes: a key, a token, or
                `user:password` for basic authentication; or a function `(ToolContext) -> secret`, sync or
                async, for those of a request's user. Sent where the operation asks for them.
            auth: What `httpx` authenticates by, or a function `(ToolContext) -> headers or httpx.Auth`,
                sync or async, asked at each call: `lambda c: {"Authorization": c.context["token"]}`.
            client: A client of your own, which you close (it belongs to one event loop), or a function
                that makes one for each loop. It also fetches the document; nothing else given here does
                take part in that. An own one keeps cookies from call to call, the default one does not.
            timeout_seconds: Longest time of a call in all, and of fetching the document.
            max_response_bytes: Reading an answer stops here.
            max_response_chars: Longest text that a model gets; longer JSON comes as text that is cut.
            max_document_bytes: Largest document that is fetched.

        Raises:
            ConfigurationError: If an option can't work, the document can't be read, or none of its operations
                can be used.
            ImportError: If httpx is missing, or PyYAML for a document in YAML.
        """
        check_positive("timeout_seconds", timeout_seconds)
        check_count("max_response_bytes", max_response_bytes)
        check_count("max_response_chars", max_response_chars)
        check_count("max_document_bytes", max_document_bytes)
        _check_base_url(base_url)
        self._namespace = namespace
        self._include = None if include is None else as_selection(include, option="include")
        self._exclude = as_selection(exclude, option="exclude")
        self._approval = as_selection(requires_approval, option="requires_approval")
        self._base_url = base_url
        self._variables = dict(server_variables or {})
        self._secrets = dict(credentials or {})
        self._max_document_bytes = max_document_bytes
        self._clients = Clients(client, timeout_seconds=timeout_seconds)
        self._caller = OperationCaller(
            self._clients,
            headers=check_headers({} if headers is None else headers),
            auth=auth,
            limits=AnswerLimits(max_bytes=max_response_bytes, max_chars=max_response_chars),
        )
        self._document = document
        self._url = document if isinstance(document, str) and document.startswith(WEB) else None
        self._tools: tuple[Tool, ...] | None = None
        self._left_out: Mapping[str, str] = {}
        self._version = 0
        self._lock = threading.Lock()
        self.static = self._url is None
        self.foreign = not self.static  # a file changes when its user changes it
        if self._url is None:
            read = _read(document)
            self._install(read)
            title = mapping_of(read.root.get("info")).get("title")
            self.name = name or (title if isinstance(title, str) and title else "openapi")
        else:
            check_url(self._url, option="the document's URL")
            self.name = name or shown_url(self._url)

    async def list_tools(self, context: Context) -> Sequence[Tool]:
        """Return the tools, the same for every request; fetches the document the first time.

        Raises:
            ConfigurationError: If the document can't be read.
            ToolCallError: If it can't be fetched.
        """
        if self._tools is None:
            await self.refresh()
        return self._tools or ()

    def refused_tools(self) -> Sequence[RefusedTool]:
        """Return the operations that are left out, each with the reason."""
        left_out = self._left_out.items()
        return tuple(RefusedTool(name=name, provider=self.name, reason=reason) for name, reason in left_out)

    def version(self) -> Hashable:
        """Return how often the document was read again."""
        return self._version

    async def refresh(self) -> None:
        """Read the document again from its URL or path; its tools are served from then on.

        Raises:
            ConfigurationError: If it can't be read; the tools stay as they were.
            ToolCallError: If it can't be fetched.
        """
        is_first = self._tools is None
        if self._url is None:
            await asyncio.to_thread(lambda: self._install(_read(self._document)))
        else:
            text, url = await self._fetched(self._url)
            # GitHub's takes half a second, in which no other task would run
            await asyncio.to_thread(lambda: self._install(_parsed(text, url)))
        self._version += not is_first

    async def aclose(self) -> None:
        """Close the clients that were opened here; a client of your own stays open."""
        await self._clients.aclose()

    async def _fetched(self, url: str) -> tuple[str, str]:
        """Return the text at a URL, and the URL after redirects."""
        import httpx

        label = shown_url(url)
        client = await self._clients.get()
        try:
            async with asyncio.timeout(self._clients.timeout_seconds):
                request = client.build_request("GET", url, headers={"accept-encoding": ACCEPT_ENCODING})
                answer = await send(client, request, auth=httpx.USE_CLIENT_DEFAULT, label=label)
                try:
                    if not answer.is_success:
                        raise ToolCallError(f"{label} was answered with HTTP {answer.status_code}")
                    content, is_whole = await read_content(answer, self._max_document_bytes)
                finally:
                    await answer.aclose()
        except (httpx.HTTPError, httpx.InvalidURL, TimeoutError) as exc:
            raise ToolCallError(f"{label} can't be fetched: {type(exc).__name__}") from exc
        except UnpackError as exc:
            raise ToolCallError(f"{label} can't be read: {exc}") from exc
        if not is_whole:
            raise ConfigurationError(
                f"{label} is larger than {self._max_document_bytes:,} bytes: "
                "raise max_document_bytes if it may be"
            )
        return content.decode("utf-8", "replace"), str(answer.url)

    def _install(self, document: OpenAPIDocument) -> None:
        """Make the tools of a document those of this provider."""
        with self._lock:
            nodes = self._selected(list_operations(document))
            servers = Servers(document, self._variables, self._base_url, self._clients.base_url)
            servers.check_variables(nodes)
            credentials = Credentials(document, self._secrets)
            approved = select(nodes, self._approval, option="requires_approval")
            asked = {node.operation.name for node in approved}
            left_out: dict[str, str] = {}
            found = read_definitions(
                document,
                nodes,
                find_server=servers.url,
                on_left_out=lambda operation, reason: left_out.update({operation.name: reason}),
            )
            self._tools = tuple(self._tool(one, credentials=credentials, asked=asked) for one in found)
            self._left_out = left_out

    def _selected(self, nodes: list[OperationNode]) -> list[OperationNode]:
        kept = nodes if self._include is None else select(nodes, self._include, option="include")
        left_out = {node.operation.name for node in select(nodes, self._exclude, option="exclude")}
        return [node for node in kept if node.operation.name not in left_out]

    def _tool(self, definition: Definition, *, credentials: Credentials, asked: Collection[str]) -> Tool:
        tool, route = definition.tool, definition.route

        async def execute(operation_arguments: Mapping[str, Any], context: ToolContext) -> Any:
            return await self._caller.call(
                route, operation_arguments, credentials=credentials, context=context
            )

        return tool.replace(
            execute=execute,
            namespace=self._namespace,
            # a document that names another host has changed its tools
            metadata={**tool.metadata, "server": shown_url(route.server)},
            requires_approval=tool.name in asked,
        )


def _check_base_url(base_url: str | None) -> None:
    if base_url is None:
        return
    check_url(base_url, option="base_url")
    if "?" in base_url or "#" in base_url:
        raise ConfigurationError("base_url can't have a query or a fragment: paths are put after it")
    if variable := VARIABLE.search(base_url):
        raise ConfigurationError(f"base_url has {variable[0]!r:.100} in it: write its value in that place")


def _read(document: str | Path | Mapping[str, Any]) -> OpenAPIDocument:
    """Return a document that needs no fetching: parsed, as a string, or at a path."""
    if isinstance(document, Mapping):
        return OpenAPIDocument(document, label="the OpenAPI document")
    if isinstance(document, str) and ("\n" in document or document.lstrip().startswith("{")):
        return _parsed(document, None)
    if not isinstance(document, str | Path):
        raise ConfigurationError(
            f"a document is a path, a URL, a string or a mapping, found {document!r:.80}"
        )
    path = Path(document)
    return OpenAPIDocument(parse_text(read_text(path), label=str(path)), label=str(path), path=path)


def _parsed(text: str, url: str | None) -> OpenAPIDocument:
    label = "the OpenAPI document" if url is None else shown_url(url)
    return OpenAPIDocument(parse_text(text, label=label), label=label, url=url)
