"""What loading tools costs at a provider's prompt cache, by simulation: tokens read, written, and sent new.

    python tests/benchmarks/bench_native.py
    python tests/benchmarks/bench_native.py --conversations 20 --tools 300

The same conversations run in each mode, over a real ToolSession: what is sent is counted, and no model is
asked. A script calls the tools, so that a mode in which models call worse is not charged for it. Tokens are
an estimate, four characters a token. Every turn comes while the cache of the turn before lives.

Rules and prices, as of 2026-11-28, a million tokens of input:

- Claude Opus 5: the cache's order is tools, system, messages; what is written costs 1.25 times, what is read
  0.1 times the price; at least 512 tokens; marks at the end of the tools, of the system prompt and of the
  last message. $5 new, $6.25 written, $0.50 read.
  https://platform.claude.com/docs/en/build-with-claude/prompt-caching
  https://platform.claude.com/docs/en/about-claude/pricing
- GPT-5.5: automatic from 1,024 tokens on, in steps of 128; writing costs nothing more. $5 new, $0.50 read.
  https://developers.openai.com/api/docs/guides/prompt-caching
  and LiteLLM 1.110.2, model_prices_and_context_window_backup.json

That a provider keeps the cache over an addition is what its pages say; it was not measured with a key.
"""

import argparse
import asyncio
import json
import random
import time
from dataclasses import dataclass

from bench_processor import make_tools

from tool_search_processor import ToolSearchProcessor
from tool_search_processor.stores import HistoryStore
from tool_search_processor.tokens.counting import estimate_tokens

MODES = ("load", "auto_load", "call", "load + native")
INSTRUCTIONS = (
    "You are an assistant with access to the company's services. Ask before you delete anything. " * 6
)
WORDS = "the report shows that orders of last week were shipped late because one warehouse was closed"


@dataclass(frozen=True)
class Turn:
    """What a user wants, and what the model does about it."""

    text: str
    needed: tuple[str, ...]
    """Tools that are found and loaded in this turn."""
    called: tuple[str, ...]
    """Tools that are called, in order; some were loaded in a turn before."""
    answer: str


@dataclass
class Tokens:
    """Input tokens of many requests, by how they are billed."""

    read: int = 0
    written: int = 0
    new: int = 0
    requests: int = 0

    def dollars(self, prices):
        return (self.read * prices[0] + self.written * prices[1] + self.new * prices[2]) / 1e6


def words(rng, least, most):
    return " ".join(rng.choices(WORDS.split(), k=rng.randint(least, most)))


def make_conversation(rng, names):
    """Return the turns of one conversation: 2 to 8, of which two thirds need one to three new tools."""
    known, turns = [], []
    for number in range(rng.randint(2, 8)):
        needed = rng.sample(names, rng.randint(1, 3)) if number == 0 or rng.random() < 0.6 else []
        known += needed
        called = [*needed, *rng.sample(known, min(len(known), rng.randint(0, 2)))]
        text, answer = words(rng, 10, 60), words(rng, 40, 200)
        turns.append(Turn(text, tuple(needed), tuple(called), answer))
    return turns


def make_catalog(number):
    """Return tools whose answers have 50 to 500 tokens, the same for each tool."""

    def answering(tool):
        text = words(random.Random(tool.name), 40, 400)
        return tool.replace(execute=lambda **_: text)

    return [answering(tool) for tool in make_tools(number)]


def arguments_for(tool):
    """Return what a call of a tool says: the one parameter that it needs."""
    (name,) = tool.parameters["required"]
    kind = tool.parameters["properties"][name]["type"]
    return {name: {"string": "2026-11-28", "integer": 20, "boolean": True, "array": ["late"]}[kind]}


class Loop:
    """Runs a conversation in one mode, and counts its requests."""

    def __init__(self, search, cache, *, native, arguments_of):
        self.search, self.cache, self.native = search, cache, native
        self.arguments_of = arguments_of
        self.messages = [{"role": "system", "content": INSTRUCTIONS}]
        self.calls = 0

    async def run(self, turns, mode):
        for turn in turns:
            self.messages.append({"role": "user", "content": turn.text})
            async with self.search.session(thread_id="t") as session:
                for made in steps(turn, mode, self.arguments_of):
                    await self.send(session)
                    await self.answer(session, made)
                await self.send(session)
            self.messages.append({"role": "assistant", "content": turn.answer})

    async def answer(self, session, made):
        calls = []
        for name, arguments in made:
            self.calls += 1
            function = {"name": name, "arguments": json.dumps(arguments)}
            calls.append({"id": f"call_{self.calls}", "type": "function", "function": function})
        self.messages.append({"role": "assistant", "content": None, "tool_calls": calls})
        self.messages += await session.execute(calls)

    async def send(self, session):
        if isinstance(self.cache, AnthropicCache):
            native = "definition" if self.native else None
            sent = await session.anthropic_request(self.messages, native=native)
            self.cache.ask(sent["tools"], sent["system"], sent["messages"])
        else:
            sent = await session.responses_request(self.messages, native=self.native)
            self.cache.ask(sent["tools"], sent["instructions"], sent["input"])


def steps(turn, mode, arguments_of):
    """Yield the calls of each of the model's answers before the last."""
    for name in turn.needed:
        yield [("search_tools", {"query": name.replace("_", " ")})]
    if mode.startswith("load") and turn.needed:
        yield [("load_tool", {"tool_names": list(turn.needed)})]
    for name in turn.called:
        given = arguments_of[name]
        yield [("call_tool", {"name": name, "arguments": given}) if mode == "call" else (name, given)]


class Cache:
    """A provider's prompt cache for one conversation."""

    prices = (0.5, 0.0, 5.0)
    """Of tokens read, written and new."""

    def __init__(self, tokens):
        self.tokens = tokens
        self.known = set()
        """Hashes of the prefixes that are kept."""

    def ask(self, tools, system, messages):
        """Count one request."""
        parts = [*map(json.dumps, tools), system, *map(json.dumps, messages)]
        total, key, ends = 0, 0, []
        for part in parts:
            total, key = total + count(part), hash((key, part))
            ends.append((key, total))
        read = max((tokens for key, tokens in ends if key in self.known), default=0)
        self.tokens.requests += 1
        self.bill(read, total)
        self.keep(ends, len(tools))


class AnthropicCache(Cache):
    name, prices, least = "Claude Opus 5", (0.5, 6.25, 5.0), 512

    def bill(self, read, total):
        self.tokens.read += read
        self.tokens.written += total - read if total >= self.least else 0
        self.tokens.new += total if total < self.least else 0

    def keep(self, ends, tools):
        marks = (ends[tools - 1], ends[tools], ends[-1]) if tools else (ends[tools], ends[-1])
        self.known |= {key for key, tokens in marks if tokens >= self.least}


class OpenAICache(Cache):
    name, prices, least, step = "GPT-5.5", (0.5, 0.0, 5.0), 1024, 128

    def bill(self, read, total):
        read = read // self.step * self.step if read >= self.least else 0
        self.tokens.read += read
        self.tokens.new += total - read

    def keep(self, ends, _):
        self.known |= {key for key, _ in ends}


COUNTED = {}


def count(text):
    if text not in COUNTED:
        COUNTED[text] = estimate_tokens(text)
    return COUNTED[text]


async def simulate(conversations, tools, mode, cache_type):
    """Return the tokens of all conversations in one mode at one provider."""
    tokens = Tokens()
    search = ToolSearchProcessor(tools, store=HistoryStore(), mode=mode.partition(" ")[0])
    arguments_of = {tool.name: arguments_for(tool) for tool in tools}
    for turns in conversations:
        loop = Loop(search, cache_type(tokens), native="native" in mode, arguments_of=arguments_of)
        await loop.run(turns, mode)
    COUNTED.clear()
    return tokens


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--conversations", type=int, default=200)
    parser.add_argument("--tools", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    rng, tools = random.Random(given.seed), make_catalog(given.tools)
    names = [tool.name for tool in tools]
    conversations = [make_conversation(rng, names) for _ in range(given.conversations)]
    turns = sum(map(len, conversations))
    print(f"{given.conversations} conversations, {turns} turns, {given.tools} tools")
    print("| | mode | requests | read | written | new | input, $ a conversation |")
    print("|---|---|---:|---:|---:|---:|---:|")
    began = time.process_time()
    for cache_type in (AnthropicCache, OpenAICache):
        for mode in MODES:
            found = await simulate(conversations, tools, mode, cache_type)
            figures = (found.requests, found.read, found.written, found.new)
            each = found.dollars(cache_type.prices) / len(conversations)
            shown = " | ".join(f"{figure:,}" for figure in figures)
            print(f"| {cache_type.name} | {mode} | {shown} | {each:.4f} |", flush=True)
    print(f"{time.process_time() - began:.0f} s CPU")


if __name__ == "__main__":
    asyncio.run(main())
