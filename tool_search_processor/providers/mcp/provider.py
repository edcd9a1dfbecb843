"""Tools of a server of the Model Context Protocol."""

from __future__ import annotations

import importlib.util
import weakref
from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, Unpack

from tool_search_processor.components import Prompt, Resource, ResourceTemplate
from tool_search_processor.errors import ConfigurationError, InvalidToolError
from tool_search_processor.providers.mcp import transports
from tool_search_processor.providers.mcp.background import close_at_exit, in_background
from tool_search_processor.providers.mcp.config import MakeBroken, config_providers
from tool_search_processor.providers.mcp.connector import Connector
from tool_search_processor.providers.mcp.left_out import TOOLS, LeftOut
from tool_search_processor.providers.mcp.offer_tools import OfferTools
from tool_search_processor.providers.mcp.offers import Offers
from tool_search_processor.providers.mcp.screening import Screen
from tool_search_processor.providers.mcp.server_lists import ListReader, read_pages
from tool_search_processor.providers.mcp.settings import CALL_TIMEOUT_SECONDS, MCPOptions, Settings
from tool_search_processor.providers.mcp.tool_call import RemoteTool, RequestSender
from tool_search_processor.providers.mcp.tool_listing import ToolImporter
from tool_search_processor.providers.provider import Context, Provider
from tool_search_processor.providers.refusals import RefusedTool
from tool_search_processor.providers.web import check_headers, check_value
from tool_search_processor.tools import Tool

if TYPE_CHECKING:
    from httpx2 import Auth
    from mcp import Client

_TASKS_ONLY = "it can only be called as a task (execution.taskSupport is 'required'), which isn't supported"


class MCPProvider(Provider):
    """Lists and calls the tools of one MCP server, over one connection that stays open.

    ```python
    git = MCPProvider.stdio("uvx", ["mcp-server-git"], name="git", requires_approval=is_destructive)
    search = ToolSearchProcessor([git, MCPProvider.http("https://mcp.example/mcp", token="...")])
    ```

    Make it with `MCPProvider.stdio`, `.http`, `.in_memory`, or many with `.from_config`. It connects when
    it is first asked, and again after the connection was lost. It may be used from any event loop and any
    thread: connections live in one background loop a process, which also runs servers given by `in_memory`
    and the hooks `sampling`, `elicitation` and `list_roots`. Close it with `aclose` or `async with`;
    otherwise it is closed when nothing refers to it or its tools, or when the interpreter exits.

    A tool has `tool_type="external_mcp"`, the server's hints in `annotations` (`readOnlyHint` …), and its own
    name in `metadata["original_name"]` if that is not valid. A failure is an answer to the model:
    the server's own error, a time that ran out, a connection that broke. A call is sent again only if it
    is certain that the server did not run it.

    What a server logs goes to the logger `tool_search_processor.providers.mcp.notices`, at the server's own
    level, and the standard error of a process to `tool_search_processor.providers.mcp.stderr`, as DEBUG.

    A server is not trusted: a tool whose definition can't be used, or that can only be called as a task, is
    left out with a warning and stands in `catalog.status().refused`, and a message is read up to 32 MB, a
    list up to 64 MB. Nothing more is read from a server that sends requests and never reads the answers.
    """

    foreign = True

    def __init__(
        self,
        transport: transports.Transport,
        *,
        name: str,
        namespace: str | None = None,
        **options: Unpack[MCPOptions],
    ) -> None:
        """Reach the server by `transport`; nothing is started yet.

        Args:
            transport: How the server is reached; `stdio`, `http` and `in_memory` make it.
            name: What status reports, errors and the log call the server.
            namespace: The label of its tools; None leaves it to a `Namespace` transform.
            options: The rest.

                `connect_timeout_seconds`, 60: the longest time until the server has started and answered.
                `list_timeout_seconds`, 30: the longest time for a whole list, all pages.
                `call_timeout_seconds`, 60: the longest time for one call; None waits forever.
                `progress_extends_timeout`, False: whether a report of progress restarts that time.
                `on_progress`: takes each report; called in the event loop of the caller, so it must be
                quick. Of more than a thousand reports of one call that wait for it, the later are dropped.
                `max_tools`, 10,000: the most tools (or resources, or prompts) that are taken, with a
                warning for more.
                `max_result_characters`, 100,000: a longer result is cut, and says so; None for no limit.
                `requires_approval`, False: whether a person has to agree before a tool runs: for all, or
                a function of the tool, as the server named it, such as `is_destructive` of this package.
                `resources_as_tools`, False: adds the tools `list_resources` and `read_resource`.
                `prompts_as_tools`, False: adds the tools `list_prompts` and `get_prompt`.
                `sampling`: answers the server's requests for a completion, as the SDK's
                `sampling_callback`; a server that asks without it is refused, and so is one that is not
                answered within `call_timeout_seconds`. The same holds for the next two.
                `elicitation`: answers its questions to the user, as `elicitation_callback`. In both hooks
                `asking_call()` returns the call during which the server asks.
                `list_roots`: returns the folders that it may look at, as `list_roots_callback`.

        Raises:
            ConfigurationError: An option can't work.
            ImportError: The SDK is not installed.
        """
        self._settings = Settings(name=name, **options)
        _check_installed()
        self.name = name
        self.namespace = namespace
        self.transport = transport
        self._left_out = LeftOut(name)
        self._connector = Connector(transport, self._settings, screen=Screen(self._left_out))
        self._reader = ListReader(self._connector)
        self._caller = RequestSender(self._connector)
        self._importer = ToolImporter(self._make_tool, left_out=self._left_out)
        self._offers = Offers(self._caller, self._left_out)
        self._offer_tools = OfferTools(self._offers, self)
        close_at_exit(self._connector)
        weakref.finalize(self, self._connector.abandon).atexit = False

    @classmethod
    def stdio(
        cls,
        command: str,
        args: Sequence[str] = (),
        *,
        env: Mapping[str, str] | None = None,
        cwd: str | Path | None = None,
        inherit_env: Sequence[str] = (),
        name: str | None = None,
        **options: Unpack[MCPOptions],
    ) -> Self:
        """Make a provider for a server that runs as its own process.

        Of this process's environment it gets HOME, LOGNAME, PATH, SHELL, TERM and USER (their kind on
        Windows), and no more than is listed here.

        Args:
            command: The program.
            args: Its arguments.
            env: Variables that it gets.
            cwd: Its working directory; this process's own if None.
            inherit_env: Names of this process's variables that it gets too, if they are set.
            name: What it is called, and the `namespace` of its tools, a label: what stands before their
                names is a `Namespace` transform's. The program's name if None.
            options: See `__init__`.

        Raises:
            ConfigurationError: An argument can't work.
            ImportError: The SDK is not installed.
        """
        transport = transports.StdioTransport(
            command=command, args=args, env={} if env is None else env, cwd=cwd, inherit_env=inherit_env
        )
        return cls(transport, name=Path(command).name if name is None else name, namespace=name, **options)

    @classmethod
    def http(
        cls,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        token: str | None = None,
        auth: Auth | None = None,
        name: str | None = None,
        **options: Unpack[MCPOptions],
    ) -> Self:
        """Make a provider for a server that is reached over streamable HTTP.

        Args:
            url: Its endpoint, `https://…/mcp` as a rule.
            headers: Sent with every request.
            token: Sent as `Authorization: Bearer …`.
            auth: What signs each request and may fetch tokens: any `httpx2.Auth`, such as the SDK's
                `mcp.client.auth.OAuthClientProvider`.
            name: What it is called, and the `namespace` of its tools, as in `stdio`; the URL's host if None.
            options: See `__init__`.

        Raises:
            ConfigurationError: An argument can't work, or two of them give the authorization.
            ImportError: The SDK is not installed.
        """
        given = check_headers(headers or {})
        has_header = any(key.lower() == "authorization" for key in given)
        if sum((token is not None, auth is not None, has_header)) > 1:
            raise ConfigurationError(
                "the authorization is given twice: pass one of token, auth and the header Authorization"
            )
        if token is not None:
            given["Authorization"] = f"Bearer {check_value(token, 'token')}"
        timeout = options.get("call_timeout_seconds", CALL_TIMEOUT_SECONDS)
        transport = transports.HttpTransport(url=url, headers=given, auth=auth, call_timeout_seconds=timeout)
        return cls(transport, name=transport.host if name is None else name, namespace=name, **options)

    @classmethod
    def in_memory(cls, server: Any, *, name: str | None = None, **options: Unpack[MCPOptions]) -> Self:
        """Make a provider for a server that is an object in this process.

        Args:
            server: An `MCPServer` or a `Server` of the SDK, or a `FastMCP`. It runs in the background loop,
                so what it shares with the program must be fit for another thread.
            name: What it is called, and the `namespace` of its tools, as in `stdio`; the server's own name if
                None.
            options: See `__init__`.

        Raises:
            ConfigurationError: It is not a server.
            ImportError: The SDK is not installed.
        """
        _check_installed()
        transport = transports.InMemoryTransport(server=server)
        label = (server.name or "server") if name is None else name
        return cls(transport, name=label, namespace=name, **options)

    @classmethod
    def from_config(
        cls,
        config: str | Path | Mapping[str, Any],
        *,
        namespaced: bool = True,
        inherit_env: Sequence[str] = (),
        make_broken: MakeBroken | None = None,
        **options: Unpack[MCPOptions],
    ) -> list[Provider]:
        """Make the providers of a configuration in the usual format: `{"mcpServers": {name: {…}}}`.

        An entry has `command`, `args`, `env` and `cwd`, or `url`, `headers` and perhaps `type`; one with
        `"disabled": true` or `"enabled": false` is left out; other keys are passed over, with a warning
        unless clients commonly have them. In its strings `${NAME}` stands for this process's variable,
        `${NAME:-text}` for that or the text; what only a client can fill in, such as `${input:token}`, is an
        error.

        Args:
            config: The file's path, or what it holds.
            namespaced: Whether each name becomes a prefix of its server's tools: `git` gives `git_log`.
            inherit_env: See `stdio`; for all that are processes.
            make_broken: Takes a name and an error, and makes a stand-in for a server with a variable that
                isn't set, or has a value that can't work; without it, such a server raises.
            options: See `__init__`; for all.

        Raises:
            ConfigurationError: The file can't be read, or an entry can't work: names the server and the key.
            ImportError: The SDK is not installed.
        """

        def make(name: str, kind: str, arguments: Mapping[str, Any]) -> Provider:
            if kind == "http":
                return cls.http(name=name, **arguments, **options)
            return cls.stdio(name=name, inherit_env=inherit_env, **arguments, **options)

        return config_providers(config, make, namespaced=namespaced, make_broken=make_broken)

    async def list_tools(self, context: Context) -> Sequence[Tool]:
        """Return the server's tools, the same for every request.

        Raises:
            ProviderError: The server can't be reached, or gave no list.
        """
        tools = self._importer.tools(await self._reader.read(self._read_definitions))
        self._left_out.end()
        taken = {tool.name for tool in tools}
        return (*tools, *self._offer_tools.tools(taken=taken))

    def refused_tools(self) -> Sequence[RefusedTool]:
        """Return the tools of the server that can't be used, each with the reason."""
        return self._left_out.tools

    def version(self) -> Hashable:
        """Return a mark that changes when the server reports a change and when its connection is lost."""
        return self._connector.marks.count

    async def list_resources(self, context: Context) -> Sequence[Resource]:
        """Return the server's resources; `read` gives a list of contents in the protocol's form.

        Raises:
            ProviderError: The server can't be reached, or gave no list.
        """
        return await self._reader.read(self._offers.resources)

    async def get_unlisted_resource(self, uri: str, context: Context) -> Resource | None:
        """Return a resource that the server doesn't list. Only reading it shows whether it exists."""
        return self._offers.unlisted(uri)

    async def list_resource_templates(self, context: Context) -> Sequence[ResourceTemplate]:
        """Return the server's resource templates; `read` gives the same form as a resource's.

        Raises:
            ProviderError: The server can't be reached, or gave no list.
        """
        return await self._reader.read(self._offers.templates)

    async def list_prompts(self, context: Context) -> Sequence[Prompt]:
        """Return the server's prompts; `render` gives a list of messages in the protocol's form.

        Raises:
            ProviderError: The server can't be reached, or gave no list.
        """
        return await self._reader.read(self._offers.prompts)

    async def warm_up(self) -> None:
        """Import the SDK, so that no server's time has to include it."""
        await self._reader.warm_up()

    async def aclose(self) -> None:
        """Close the connection for good: the process ends, the sockets close, and calls fail."""
        await in_background(self._connector.aclose)

    async def _read_definitions(self, client: Client) -> list[Any]:
        self._left_out.begin()
        if client.server_capabilities.tools is None:
            return []
        return await read_pages(
            client.list_tools, TOOLS, limit=self._settings.max_tools, left_out=self._left_out
        )

    def _make_tool(self, definition: Any) -> Tool:
        if definition.execution is not None and definition.execution.task_support == "required":
            raise InvalidToolError(_TASKS_ONLY)
        tool = Tool.from_mcp(definition, namespace=self.namespace)
        remote = RemoteTool(
            caller=self._caller, name=definition.name, output_schema=tool.output_schema, owner=self
        )
        tool = tool.replace(execute=remote)
        return tool.replace(requires_approval=True) if self._settings.needs_approval(tool) else tool


def _check_installed() -> None:
    if importlib.util.find_spec("mcp") is None:
        raise ImportError('MCPProvider needs the mcp SDK: pip install "tool-search-processor[mcp]"')
