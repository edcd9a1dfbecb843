"""What was learned about one tool: what each thread asked before it called the tool, and when.

Pure values: a change gives a new entry, bounded by `Limits`, so the same rules hold with every store. All
that one thread has asked is one request of several lines, so a thread counts once, however often it calls.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tool_search_processor.search.text import STOP_WORDS, words

REQUEST_CHARACTERS = 500
"""A longer text is a document rather than a request, and is not learned."""

_FADED = math.log2(10)
"""The half-lives after which a request weighs a tenth, and is forgotten."""
ANY_MARK = "*"
"""The mark of what was learned from logs, which don't say what the tool was like."""
_LINES = 4
"""The most lines that are kept of one thread; the latest stay."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """What was asked, and the tool that was then called successfully."""

    lines: tuple[str, ...]
    """The queries, and the user's turn."""
    tool: str
    mark: str = ""
    """Changes with the tool's schema or origin; what was learned under another mark doesn't count."""
    thread: str = ""
    """A hash of the thread; see `hashed`."""
    user: str = ""
    """A hash of the user, empty if unknown."""
    time: float = 0.0
    """Seconds since 1970."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bounds on what is learned."""

    half_life_seconds: float
    """The time after which a request counts half."""
    max_requests: int
    """The most threads of a tool."""

    def weight(self, age_seconds: float) -> float:
        """Return the weight of a request of this age: 1 if new, halved by each half-life."""
        return float(0.5 ** (max(0.0, age_seconds) / self.half_life_seconds))


@dataclass(frozen=True, slots=True)
class Asked:
    """What one thread has asked."""

    time: float
    user: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Entry:
    """What is known about one tool in one scope."""

    mark: str = ""
    threads: Mapping[str, Asked] = field(default_factory=dict)

    def learned(self, seen: Observation, limits: Limits) -> Entry:
        """Return the entry after an observation; an observation with another mark starts from nothing."""
        is_same = self.mark == seen.mark or ANY_MARK in (self.mark, seen.mark)
        threads = dict(self.threads) if is_same else {}
        before = threads.pop(seen.thread, None)
        # Of two users of one thread, neither stands for the words of the other.
        known = before.lines if before is not None and before.user == seen.user else ()
        lines = dict.fromkeys((*known, *seen.lines))
        for line in seen.lines:  # a repeated request counts as the latest
            lines[line] = lines.pop(line)
        threads[seen.thread] = Asked(seen.time, seen.user, tuple(lines)[-_LINES:])
        mark = self.mark if threads and seen.mark == ANY_MARK and self.mark else seen.mark
        return Entry(mark, threads).kept(seen.time, limits)

    def kept(self, now: float, limits: Limits) -> Entry:
        """Return the entry without what has faded, and at most `max_requests` of the rest, the latest."""
        oldest = now - limits.half_life_seconds * _FADED
        fresh = {thread: asked for thread, asked in self.threads.items() if asked.time >= oldest}
        latest = sorted(fresh, key=lambda thread: fresh[thread].time)[-limits.max_requests :]
        return replace(self, threads={thread: fresh[thread] for thread in latest})

    def requests(self, now: float, limits: Limits) -> tuple[str, ...]:
        """Return the requests that count now, each of one thread and of several lines.

        They are the latest ones, as many as all weights add up to: of ten that are one half-life old, five.
        """
        threads = list(self.kept(now, limits).threads.values())
        counted = math.ceil(sum(limits.weight(now - asked.time) for asked in threads))
        return tuple("\n".join(asked.lines) for asked in threads[len(threads) - counted :])

    @property
    def last_time(self) -> float:
        """The time of the latest observation."""
        return max((asked.time for asked in self.threads.values()), default=0.0)

    def without(self, *, thread: str | None = None, user: str | None = None) -> Entry:
        """Return the entry without what one thread, or one user, contributed."""
        kept = {
            key: asked
            for key, asked in self.threads.items()
            if key != thread and (not user or asked.user != user)
        }
        return replace(self, threads=kept)

    def to_json(self) -> str:
        """Return the entry as stores keep it."""
        threads = {key: [asked.time, asked.user, asked.lines] for key, asked in self.threads.items()}
        return json.dumps([self.mark, threads], separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> Entry:
        """Read what `to_json` wrote; an empty entry for anything else."""
        try:
            mark, threads = json.loads(text)
            return cls(
                str(mark),
                {
                    str(key): Asked(float(time), str(user), tuple(map(str, lines)))
                    for key, (time, user, lines) in threads.items()
                },
            )
        except (ValueError, TypeError, AttributeError):
            return cls()


def hashed(value: object) -> str:
    """Return 16 hexadecimal digits that stand for a thread or a user; empty for None."""
    if value is None:
        return ""
    return hashlib.sha256(str(value).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def request_text(text: str, *, as_terms: bool = False) -> str:
    """Return the text to learn from a request; empty if it is blank or too long.

    Args:
        text: What was asked.
        as_terms: Keep only its meaningful words, sorted, so that the sentence can't be read back.
    """
    asked = " ".join(text.split())
    if len(asked) > REQUEST_CHARACTERS:
        return ""
    if not as_terms:
        return asked
    return " ".join(sorted(set(map(str.lower, words(asked))) - STOP_WORDS))


def chosen(
    entries: Mapping[str, Entry], now: float, limits: Limits, *, max_tools: int
) -> dict[str, tuple[str, ...]]:
    """Return the requests of each of the `max_tools` tools that were called last."""
    latest: Sequence[Any] = sorted(entries, key=lambda tool: -entries[tool].last_time)[:max_tools]
    found = {tool: entries[tool].requests(now, limits) for tool in latest}
    return {tool: requests for tool, requests in found.items() if requests}
