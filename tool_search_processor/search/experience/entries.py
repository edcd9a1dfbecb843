"""What was learned about one tool: what each thread asked before it called the tool, and when.

Pure values: a change gives a new entry, bounded by `Limits`, so the same rules hold with every store. All
that one thread has asked is one request of several lines, so a thread counts once, however often it calls.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from json.encoder import encode_basestring_ascii as as_json

from tool_search_processor.search.text import STOP_WORDS, words

REQUEST_CHARACTERS = 500
"""A longer text is a document rather than a request, and is not learned."""
_READ_CHARACTERS = 10 * REQUEST_CHARACTERS
"""A longer text is not even looked at: it may be a file of many megabytes."""

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

    @property
    def life_seconds(self) -> float:
        """The age at which a request is forgotten."""
        return self.half_life_seconds * _FADED

    def weight(self, age_seconds: float) -> float:
        """Return the weight of a request of this age: 1 if new, halved by each half-life."""
        return float(0.5 ** (max(0.0, age_seconds) / self.half_life_seconds))


@dataclass(frozen=True)
class Asked:
    """What one thread has asked."""

    time: float
    user: str
    lines: tuple[str, ...]

    @cached_property
    def json(self) -> str:
        """The content as JSON; made once, since most threads of an entry outlive its next change."""
        return f"[{float(self.time)!r},{as_json(self.user)},[{','.join(map(as_json, self.lines))}]]"


@dataclass(frozen=True)
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
        """Return the entry without what has faded, and at most `max_requests` of the rest.

        The latest stay, but those of the user with the most go first: nobody takes the places of others.
        """
        oldest = now - limits.life_seconds
        times = [asked.time for asked in self.threads.values()]
        is_fresh = not times or (oldest <= times[0] and times == sorted(times) and times[-1] <= now)
        if is_fresh and len(times) <= limits.max_requests:
            return self
        # After a clock was set back, what it knows of the future would outlive all the rest.
        fresh = [
            (thread, asked if asked.time <= now else replace(asked, time=now))
            for thread, asked in self.threads.items()
            if asked.time >= oldest
        ]
        threads = dict(sorted(fresh, key=lambda item: item[1].time))
        while len(threads) > limits.max_requests:
            del threads[_one_too_many(threads)]
        return Entry(self.mark, threads)

    def requests(self, now: float, limits: Limits, *, by_user: bool = False) -> tuple[str, ...]:
        """Return the requests that count now, each of one thread and of several lines.

        They are the latest ones, as many as all weights add up to: of ten that are one half-life old, five.

        Args:
            now: The time.
            limits: How fast they fade, and how many there are.
            by_user: All threads of a user who is known are one request.
        """
        threads = self.kept(now, limits).threads
        asked: dict[str, list[Asked]] = {}
        for thread, one in reversed(list(threads.items())):
            asked.setdefault(one.user if by_user and one.user else f"thread {thread}", []).append(one)
        counted = math.ceil(sum(limits.weight(now - latest.time) for latest, *_ in asked.values()))
        texts = [
            "\n".join(dict.fromkeys(line for one in ones for line in one.lines)) for ones in asked.values()
        ]
        return tuple(reversed(texts[:counted]))

    @cached_property
    def users(self) -> frozenset[str]:
        """The users whose threads these are; an empty string stands for all who are unknown."""
        return frozenset(asked.user for asked in self.threads.values())

    @cached_property
    def voices(self) -> int:
        """How many users, and threads of unknown users, have called the tool."""
        unknown = sum(not asked.user for asked in self.threads.values())
        return len(self.users - {""}) + unknown

    @cached_property
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
        threads = ",".join([f"{as_json(key)}:{asked.json}" for key, asked in self.threads.items()])
        return f"[{as_json(self.mark)},{{{threads}}}]"

    @classmethod
    def from_json(cls, text: str) -> Entry:
        """Read what `to_json` wrote; an empty entry for anything else."""
        try:
            mark, threads = json.loads(text)
            return cls(
                str(mark),
                {
                    str(key): Asked(float(time), str(user), _lines(lines))
                    for key, (time, user, lines) in threads.items()
                },
            )
        except (ValueError, TypeError, AttributeError, OverflowError, RecursionError):
            return cls()


def _lines(given: Iterable[object]) -> tuple[str, ...]:
    return tuple(line for line in map(str, given) if len(line) <= REQUEST_CHARACTERS)[-_LINES:]


def _one_too_many(threads: Mapping[str, Asked]) -> str:
    """Return the oldest thread of the user with the most; `threads` are the oldest first."""
    counts = Counter(asked.user for asked in threads.values())
    most = max(counts.values())
    return next(thread for thread, asked in threads.items() if counts[asked.user] == most)


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
    asked = " ".join(text.split()) if len(text) <= _READ_CHARACTERS else ""
    if len(asked) > REQUEST_CHARACTERS:
        return ""
    if not as_terms:
        return asked
    return " ".join(sorted(set(map(str.lower, words(asked))) - STOP_WORDS))


def chosen(
    entries: Mapping[str, Entry], now: float, limits: Limits, *, max_tools: int
) -> dict[str, tuple[str, ...]]:
    """Return the requests of each of the `max_tools` tools that were called last.

    Where several users have taught, each of them counts once for a tool, so that nobody can push it up alone.
    """
    latest = sorted(entries, key=lambda tool: -entries[tool].last_time)[:max_tools]
    by_user = len(frozenset().union(*(entries[tool].users for tool in latest))) > 1
    found = {tool: entries[tool].requests(now, limits, by_user=by_user) for tool in latest}
    return {tool: requests for tool, requests in found.items() if requests}
