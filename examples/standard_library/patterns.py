"""Regular expressions and wildcards, by `re` and `fnmatch`.

A pattern of a model's making can take forever in `re`: each runs in a process of its own, for at most
two seconds.
"""

from __future__ import annotations

import fnmatch
import json
import re
import subprocess
import sys
from typing import Annotated, Any

from pydantic import Field

Pattern = Annotated[str, Field(max_length=500)]
Text = Annotated[str, Field(max_length=100_000)]

_CHILD = """
import json, re, sys
method, pattern, text, rest = json.load(sys.stdin)
result = getattr(re, method)(pattern, *rest, text)
print(json.dumps([m.group() for m in result] if method == "finditer" else
                 None if result is None else
                 {"text": result.group(), "start": result.start(), "end": result.end(),
                  "groups": result.groups(), "names": result.groupdict()}
                 if hasattr(result, "group") else result))
"""


def _run(method: str, pattern: str, *, text: str, rest: tuple[str, ...] = ()) -> Any:
    re.compile(pattern)  # a bad pattern raises here, with its reason
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-c", _CHILD],
            input=json.dumps([method, pattern, text, rest]),
            capture_output=True,
            text=True,
            timeout=2,
            check=True,
        )
    except subprocess.TimeoutExpired as exc:
        raise ValueError(
            f"the pattern {pattern!r} takes more than 2 s on this text: make it simpler"
        ) from exc
    return json.loads(done.stdout)


def find_pattern(pattern: Pattern, text: Text) -> list[str]:
    """Find all matches of a regular expression in a text.

    Args:
        pattern: A Python regular expression, such as "[0-9]+".
        text: The text to search.
    """
    return list(_run("finditer", pattern, text=text))


def match_groups(pattern: Pattern, text: Text) -> dict[str, Any]:
    """Extract the groups of a regular expression's first match, with its position.

    Args:
        pattern: A Python regular expression with groups, such as "(?P<key>[a-z]+)=([0-9]+)".
        text: The text to search.
    """
    found = _run("search", pattern, text=text)
    return {"found": False} if found is None else {"found": True, **found}


def replace_pattern(pattern: Pattern, replacement: str, *, text: Text) -> str:
    r"""Replace every match of a regular expression.

    Args:
        pattern: A Python regular expression.
        replacement: What stands there instead; \1 is the first group.
        text: The text to change.
    """
    return str(_run("sub", pattern, text=text, rest=(replacement,)))


def split_by_pattern(pattern: Pattern, text: Text) -> list[str]:
    """Split a text wherever a regular expression matches.

    Args:
        pattern: A Python regular expression, such as "[,;] *".
        text: The text to split.
    """
    return list(_run("split", pattern, text=text))


def matches_whole_text(pattern: Pattern, text: Text) -> bool:
    """Check whether a regular expression matches a whole text (validation).

    Args:
        pattern: A Python regular expression.
        text: The text to check.
    """
    return _run("fullmatch", pattern, text=text) is not None


def check_pattern(pattern: Pattern) -> dict[str, Any]:
    """Check that a regular expression is valid, and count its groups.

    Args:
        pattern: A Python regular expression.
    """
    try:
        compiled = re.compile(pattern)
    except re.error as exc:
        return {"valid": False, "reason": exc.msg, "position": exc.pos}
    return {"valid": True, "groups": compiled.groups, "names": list(compiled.groupindex)}


def escape_pattern(text: str) -> str:
    """Escape a text so that a regular expression matches it literally.

    Args:
        text: The text.
    """
    return re.escape(text)


def filter_by_wildcard(names: list[str], wildcard: Annotated[str, Field(max_length=100)]) -> list[str]:
    """Pick the names that fit a shell wildcard (glob) with * and ?.

    Args:
        names: The names, such as file names.
        wildcard: Such as "*.txt".
    """
    return fnmatch.filter(names, wildcard)


def wildcard_to_pattern(wildcard: str) -> str:
    """Translate a shell wildcard (glob) into a regular expression.

    Args:
        wildcard: Such as "*.txt".
    """
    return fnmatch.translate(wildcard)
