"""The Lua scripts of the Redis store: one atomic step each, on one key.

A claim is the text of who made it. A thread is one hash. The field `#` counts uses; a field `+name` holds two
of its numbers, when the name was loaded and when it was last loaded or called.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

_COUNTER = "#"
_MARK = "+"

# Shared by all: the time to live in ARGV[1] in milliseconds, 0 for forever.
_LIVE = """
local function live()
  if ARGV[1] == '0' then redis.call('PERSIST', KEYS[1])
  else redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
end
"""

RENEW = """
live()
return redis.call('HGETALL', KEYS[1])
"""

TOUCH = """
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
for i = 2, #ARGV do
  local field = '+' .. ARGV[i]
  local held = redis.call('HGET', KEYS[1], field)
  if held then
    local use = redis.call('HINCRBY', KEYS[1], '#', 1)
    redis.call('HSET', KEYS[1], field, string.match(held, '^%d+') .. ' ' .. string.format('%d', use))
  end
end
live()
return 1
"""

REMOVE = """
local removed = {}
for i = 2, #ARGV do
  if redis.call('HDEL', KEYS[1], '+' .. ARGV[i]) == 1 then removed[#removed + 1] = ARGV[i] end
end
if redis.call('HLEN', KEYS[1]) == 1 then redis.call('DEL', KEYS[1])
elseif #removed > 0 then live() end
return removed
"""

# ARGV: time to live, the most names (-1 for any number), how many are kept, those, the names to add.
ADD = """
local most, kept = tonumber(ARGV[2]), tonumber(ARGV[3])
local staying = {}
for i = 4, #ARGV do staying[ARGV[i]] = true end
local size = math.max(redis.call('HLEN', KEYS[1]) - 1, 0)
local added, evicted = {}, {}
local victims, place = nil, 1

local function find_victims()
  local all, found = redis.call('HGETALL', KEYS[1]), {}
  for i = 1, #all, 2 do
    local name = string.sub(all[i], 2)
    if all[i] ~= '#' and not staying[name] then
      found[#found + 1] = {name, tonumber(string.match(all[i + 1], '%d+$'))}
    end
  end
  table.sort(found, function(one, other) return one[2] < other[2] end)
  return found
end

local function make_room()
  if most < 0 or size < most then return true end
  victims = victims or find_victims()
  local victim = victims[place]
  if not victim then return false end
  place = place + 1
  redis.call('HDEL', KEYS[1], '+' .. victim[1])
  evicted[#evicted + 1] = victim[1]
  size = size - 1
  return true
end

for i = 4 + kept, #ARGV do
  local field = '+' .. ARGV[i]
  local held = redis.call('HGET', KEYS[1], field)
  if held or make_room() then
    local use = string.format('%d', redis.call('HINCRBY', KEYS[1], '#', 1))
    local place_of = held and string.match(held, '^%d+') or use
    redis.call('HSET', KEYS[1], field, place_of .. ' ' .. use)
    if not held then
      added[#added + 1] = ARGV[i]
      size = size + 1
    end
  end
end
if size > 0 then live() end
return {added, evicted}
"""

# ARGV: time to live, who claims. The same claim may come twice if its connection broke meanwhile.
CLAIM = """
if redis.call('SET', KEYS[1], ARGV[2], 'NX', 'PX', ARGV[1]) then return 1 end
return redis.call('GET', KEYS[1]) == ARGV[2] and 1 or 0
"""

UNCLAIM = """
if redis.call('GET', KEYS[1]) == ARGV[2] then return redis.call('DEL', KEYS[1]) end
return 0
"""


STATS = """
return {redis.call('HLEN', KEYS[1]), redis.call('PTTL', KEYS[1])}
"""


async def run_script(client: Any, script: str, key: str, arguments: Sequence[Any]) -> Any:
    """Run a script on one key and return the server's answer; it is sent whole once, then by its hash."""
    registered = client.register_script(_LIVE + script)  # which hashes a few hundred bytes, and sends nothing
    return await registered(keys=[key], args=list(arguments))


def names_of(answer: Mapping[Any, Any] | Sequence[Any]) -> tuple[str, ...]:
    """Return a thread's names in load order, from its hash as a mapping or as the flat list of a script."""
    pairs: Iterable[tuple[Any, Any]]
    pairs = answer.items() if isinstance(answer, Mapping) else zip(answer[::2], answer[1::2], strict=True)
    places = {
        field.removeprefix(_MARK): int(value.partition(" ")[0])
        for field, value in ((decode(field), decode(value)) for field, value in pairs)
        if field != _COUNTER
    }
    return tuple(sorted(places, key=places.__getitem__))


def encode(text: str) -> bytes:
    """Return a string as bytes, whatever is in it: a model may write what isn't valid Unicode."""
    return text.encode(errors="surrogatepass")


def decode(value: bytes | str) -> str:
    """Return what a client answered as a string: the client may decode by itself."""
    return value.decode(errors="surrogatepass") if isinstance(value, bytes) else value
