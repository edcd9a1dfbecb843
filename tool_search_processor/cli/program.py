"""The command's entry point: takes arguments, returns an exit code, and shows users no tracebacks."""

from __future__ import annotations

import argparse
import errno
import os
import re
import sys
from collections.abc import Sequence
from typing import Any, NoReturn, TextIO

from tool_search_processor._version import __version__
from tool_search_processor.cli import (
    eval_command,
    export_command,
    learn_command,
    lint_command,
    page_command,
    search_command,
    serve_command,
)
from tool_search_processor.cli.terminal import log_to_stderr, warn
from tool_search_processor.errors import ToolSearchError
from tool_search_processor.tools.wording import near_name

PROGRAM = "tool-search"
_OPTION = re.compile(r"--?[A-Za-z]\S*")
_BAD_INPUT = 2
_INTERRUPTED = 130
_BROKEN_PIPE = 141


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code.

    Args:
        arguments: The arguments after the program's name; those of this process if None.

    Returns:
        0 if all is well; 1 if a figure is under its bound or the catalog has errors; 2 for arguments and
        files that can't be used; 130 when interrupted; 141 when nobody reads the output.
    """
    for stream in (sys.stdout, sys.stderr):
        _speak_utf8(stream)
    try:
        parser = _Parser.of_all_commands()
        options = parser.parse_args(arguments)
        if options.run is None:
            parser.print_help(sys.stderr)
            return _BAD_INPUT
        log_to_stderr(verbose=getattr(options, "verbose", False))
        code: int = options.run(options)
        sys.stdout.flush()
    except BrokenPipeError:
        # The interpreter flushes again as it exits; let that output go nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _BROKEN_PIPE
    except KeyboardInterrupt:
        return _INTERRUPTED
    except (ToolSearchError, ImportError, OSError) as exc:
        warn(_sentence(exc))
        return _BAD_INPUT
    return code


class _Parser(argparse.ArgumentParser):
    """Says in one line what is wrong, and for a mistyped option which one is near."""

    @classmethod
    def of_all_commands(cls) -> _Parser:
        """Return the parser of the program."""
        parser = cls(
            prog=PROGRAM,
            description="Search a catalog of tools, measure how well a search does, check, export and "
            "serve it.",
        )
        parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
        parser.set_defaults(run=None)
        commands = parser.add_subparsers(metavar="COMMAND")
        for command in (
            search_command,
            eval_command,
            learn_command,
            lint_command,
            export_command,
            page_command,
            serve_command,
        ):
            command.add_to(commands)
        return parser

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse what is known, after a look for options that don't exist: argparse names them last."""
        self._check_options(sys.argv[1:] if args is None else args)
        return super().parse_known_args(args, namespace)

    def error(self, message: str) -> NoReturn:
        """End the program with a sentence, without the usage, which may be twenty lines."""
        self.exit(_BAD_INPUT, f"{PROGRAM}: {message} (see {self.prog} --help)\n")

    def _check_options(self, arguments: Sequence[str]) -> None:
        options = [option for action in self._actions for option in action.option_strings]
        for argument in arguments:
            if argument == "--" or (self._subparsers is not None and not argument.startswith("-")):
                break  # what follows is no option, or a command's
            name = argument.partition("=")[0]
            if _OPTION.fullmatch(name) and not any(option.startswith(name) for option in options):
                near = near_name(name, options)
                self.error(f"there is no option {name}" + (f": did you mean {near}?" if near else ""))

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Refuse what is none of the choices; a command is one, too."""
        if action.choices is None or value in action.choices:
            return
        near = near_name(value, [*action.choices])
        what = f"did you mean {near}?" if near else f"choose from {', '.join(action.choices)}"
        raise argparse.ArgumentError(action, f"there is no {value!r}: {what}")


def _sentence(error: Exception) -> str:
    """Return what an error says; one of the system's, without its number."""
    if not isinstance(error, OSError) or error.strerror is None:
        return str(error)
    told = error.strerror if error.filename is None else f"{error.filename}: {error.strerror}"
    return f"{told}: choose another port, or 0 for a free one" if error.errno == errno.EADDRINUSE else told


def _speak_utf8(stream: TextIO) -> None:
    """Make a stream accept every string, whatever the system's encoding is."""
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(encoding="utf-8", errors="backslashreplace")
