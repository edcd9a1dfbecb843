"""The store in Redis: failures, restarts, several workers, a cluster, and what it refuses."""

import asyncio
import json
import logging
import subprocess
import sys
import textwrap

import pytest
import redis
import redis.asyncio

from tests.stores import servers
from tests.support import counts
from tool_search_processor.errors import ConfigurationError, StoreError
from tool_search_processor.stores import AddResult, LoadScope, RedisStore
from tool_search_processor.stores.redis_scripts import CLAIM, UNCLAIM, run_script

URL = "redis://127.0.0.1:1"


def scope(thread_id="t", processor_id="p", run_id="r"):
    return LoadScope(processor_id=processor_id, thread_id=thread_id, run_id=run_id)


SCOPE = scope()


# -- what is refused


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        (
            {"redis": "localhost"},
            "a Redis URL begins with redis://, rediss://, unix://, found 'localhost'",
        ),
        ({"redis": "http://:secret@host"}, r"unix://, found 'http'\Z"),
        ({"redis": 6379}, "redis is a URL or a client of redis.asyncio, found 6379"),
        ({"redis": redis.Redis()}, "redis is a URL or a client of redis.asyncio, found"),
        ({"prefix": ""}, "prefix must be a string that is not blank, found ''"),
        ({"prefix": None}, "prefix must be a string that is not blank, found None"),
        ({"ttl_seconds": 0}, "ttl_seconds must be a number above 0 or None, found 0"),
        ({"ttl_seconds": float("nan")}, "ttl_seconds must be a number above 0 or None, found nan"),
        ({"ttl_seconds": "60"}, "ttl_seconds must be a number above 0 or None, found '60'"),
        ({"timeout_seconds": -1}, "timeout_seconds must be a number above 0, found -1"),
        ({"timeout_seconds": None}, "timeout_seconds must be a number above 0, found None"),
        ({"claim_seconds": float("inf")}, "claim_seconds must be a finite number above 0, found inf"),
        ({"on_error": "ignore"}, "on_error must be 'empty' or 'raise', found 'ignore'"),
    ],
)
def test_options_that_cannot_work_are_refused(arguments, match):
    with pytest.raises(ConfigurationError, match=match):
        RedisStore(**{"redis": URL, **arguments})


def test_without_redis_py_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "redis.asyncio", None)
    with pytest.raises(ImportError, match=r'pip install "tool-search-processor\[redis\]"'):
        RedisStore(URL)


# -- keys


async def test_a_thread_is_one_key_that_begins_with_the_prefix(redis_server):
    store = RedisStore(redis_server.url, prefix="app:[a*]")
    other = RedisStore(redis_server.url, prefix="app:[a*]b")
    await store.add(SCOPE, ["b", "a"])
    await store.touch(SCOPE, ["b"])
    await other.add(SCOPE, ["x"])
    with redis_server.client(decode_responses=True) as client:
        (key,) = [key for key in client.keys("*") if not key.startswith("app:[a*]b")]
        assert key.startswith("app:[a*]:1:threads:")
        assert client.hgetall(key) == {"#": "3", "+b": "1 3", "+a": "2 2"}
        assert 3_590_000 < client.pttl(key) <= 3_600_000
    assert await counts(store) == {"threads": 1, "loaded": 2}
    await store.clear(scope(None))
    assert await counts(store) == {"threads": 0, "loaded": 0}
    assert await other.loaded(SCOPE) == ("x",)
    await asyncio.gather(store.aclose(), other.aclose())


async def test_the_server_forgets_by_itself(redis_server):
    store = RedisStore(redis_server.url, ttl_seconds=0.05)
    await store.add(SCOPE, ["a"])
    with redis_server.client() as client:
        servers.until(lambda: client.dbsize() == 0)
    assert await store.loaded(SCOPE) == ()
    await store.aclose()


@pytest.mark.parametrize("decode", [True, False])
@pytest.mark.parametrize("protocol", [2, 3])
async def test_a_client_of_ones_own(redis_server, decode, protocol):
    client = redis.asyncio.Redis.from_url(redis_server.url, decode_responses=decode, protocol=protocol)
    store = RedisStore(client)
    assert await store.add(SCOPE, ["\u65e5", "b"]) == AddResult(added=("\u65e5", "b"))
    assert await store.add(SCOPE, ["c"], max_loaded=2) == AddResult(added=("c",), evicted=("\u65e5",))
    assert await store.loaded(SCOPE) == await store.renew(SCOPE) == ("b", "c")
    assert await store.remove(SCOPE, ["b"]) == ("b",)
    assert await counts(store) == {"threads": 1, "loaded": 1}
    await store.aclose()
    assert await client.ping(), "it stays the user's"
    await client.aclose()


async def test_renewing_reads_and_begins_the_time_anew(redis_server):
    clock = servers.ServerClock(redis_server)
    store = RedisStore(redis_server.url, ttl_seconds=60)
    for _ in range(3):
        await store.add(SCOPE, ["a"])
        clock.advance(59)
        assert await store.renew(SCOPE) == ("a",)
    clock.advance(60)
    assert await store.renew(SCOPE) == ()
    assert await RedisStore(redis_server.url, ttl_seconds=None).renew(SCOPE) == ()
    await store.aclose()


async def test_threads_are_cleared_and_counted_in_batches(redis_server, monkeypatch):
    monkeypatch.setattr("tool_search_processor.stores.redis._SCAN_COUNT", 10)
    store = RedisStore(redis_server.url, timeout_seconds=30)
    await asyncio.gather(*(store.add(scope(f"t{n}"), ["a"]) for n in range(45)))
    await store.add(scope("t", "other"), ["a"])
    assert await counts(store) == {"threads": 46, "loaded": 46}
    await store.clear(scope(None))
    assert await counts(store) == {"threads": 1, "loaded": 1}
    await store.aclose()


# -- event loops


def test_each_loop_has_a_client_that_ends_with_it(redis_server):
    store = RedisStore(redis_server.url)

    async def work(name):
        await store.add(SCOPE, [name])
        with redis_server.client() as client:
            return len(client.client_list(_type="normal"))

    open_ones = [asyncio.run(work(f"t{turn}")) for turn in range(3)]
    assert len(set(open_ones)) == 1, "no loop left a connection behind"
    assert asyncio.run(store.loaded(SCOPE)) == ("t0", "t1", "t2")
    assert store._clients._clients._opened == {}


async def test_closing_reaches_the_clients_of_other_loops(redis_server):
    store = RedisStore(redis_server.url)
    await store.add(SCOPE, ["a"])
    there, held = asyncio.Event(), []

    async def elsewhere(main):
        stop = asyncio.Event()
        held.extend((asyncio.get_running_loop(), stop))
        await store.loaded(SCOPE)
        main.call_soon_threadsafe(there.set)
        await stop.wait()

    main = asyncio.get_running_loop()
    thread = asyncio.create_task(asyncio.to_thread(lambda: asyncio.run(elsewhere(main))))
    await there.wait()
    assert len(store._clients._clients._opened) == 2
    await store.aclose()
    assert store._clients._clients._opened == {}
    assert await store.loaded(SCOPE) == ("a",), "it may be used again"
    held[0].call_soon_threadsafe(held[1].set)
    await thread
    await store.aclose()


def test_a_loop_that_was_closed_without_its_generators_is_forgotten(redis_server):
    store = RedisStore(redis_server.url)
    loop = asyncio.new_event_loop()
    loop.run_until_complete(store.add(SCOPE, ["a"]))
    (opened,) = store._clients._clients._opened.values()
    loop.run_until_complete(opened[0].aclose())
    loop.close()
    assert asyncio.run(store.loaded(SCOPE)) == ("a",)
    assert store._clients._clients._opened == {}


# -- failures


async def empty_handed(store):
    assert await store.loaded(SCOPE) == ()
    assert await store.renew(SCOPE) == ()
    assert await store.add(SCOPE, ["b"]) == AddResult(unavailable=True)
    assert await store.touch(SCOPE, ["a"]) is None
    assert await store.remove(SCOPE, ["a"]) == ()


async def test_a_killed_server_loads_nothing_until_it_is_back(own_server, caplog):
    caplog.set_level(logging.INFO, logger="tool_search_processor.stores.redis")
    store = RedisStore(own_server.url)
    await store.add(SCOPE, ["a", "b"])
    own_server.kill()
    await empty_handed(store)
    await empty_handed(store)
    own_server.start()
    assert await store.loaded(SCOPE) == ("a", "b")
    assert await store.add(SCOPE, ["c"], max_loaded=2) == AddResult(added=("c",), evicted=("a",))
    with own_server.client() as client:
        (key,) = client.keys()
        assert client.pttl(key) > 3_590_000
    said = [(record.levelname, record.getMessage()[:45]) for record in caplog.records]
    assert said == [
        ("WARNING", "nothing is loaded until Redis answers again: "),
        ("INFO", "Redis answers again"),
    ]
    await store.aclose()


CHANGES = [
    lambda store: store.clear(SCOPE),
    lambda store: store.clear(scope(None)),
    lambda store: store.stats(),
    lambda store: store.claim(SCOPE, "c1"),
    lambda store: store.release(SCOPE, "c1"),
]
STEPS = [
    lambda store: store.loaded(SCOPE),
    lambda store: store.renew(SCOPE),
    lambda store: store.add(SCOPE, ["a"]),
    lambda store: store.touch(SCOPE),
    lambda store: store.remove(SCOPE, ["a"]),
]


@pytest.mark.parametrize(
    ("on_error", "ask"),
    [*(("empty", ask) for ask in CHANGES), *(("raise", ask) for ask in (*CHANGES, *STEPS))],
)
async def test_what_may_not_fail_in_silence_raises(on_error, ask):
    store = RedisStore(f"redis://127.0.0.1:{servers.free_port()}", on_error=on_error)
    with pytest.raises(StoreError, match=r"Redis failed: ConnectionError\Z"):
        await ask(store)
    await store.aclose()


async def test_a_server_that_does_not_answer_holds_nobody_up():
    hanging = asyncio.Event()

    async def silent(reader, writer):
        await hanging.wait()
        writer.close()

    server = await asyncio.start_server(silent, "127.0.0.1", 0)
    url = f"redis://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    store = RedisStore(url, timeout_seconds=0.02)
    await asyncio.wait_for(empty_handed(store), 5)
    strict = RedisStore(url, timeout_seconds=0.02, on_error="raise")
    with pytest.raises(StoreError, match=r"Redis did not answer within 0\.02 seconds|TimeoutError"):
        await strict.loaded(SCOPE)
    hanging.set()
    await asyncio.gather(store.aclose(), strict.aclose())
    server.close()
    await server.wait_closed()


async def test_a_key_of_another_kind_is_a_failure_and_not_a_crash(redis_server, caplog):
    store = RedisStore(redis_server.url)
    await store.add(SCOPE, ["a"])
    with redis_server.client() as client:
        (key,) = client.keys()
        client.set(key, "something else")
    await empty_handed(store)
    assert "Redis failed: ResponseError: WRONGTYPE" in caplog.text
    await store.clear(SCOPE)
    assert await store.add(SCOPE, ["b"]) == AddResult(added=("b",))
    await store.aclose()


async def test_scripts_that_the_server_forgot_are_sent_again(redis_server):
    store = RedisStore(redis_server.url, on_error="raise")
    await store.add(SCOPE, ["a"])
    with redis_server.client() as client:
        client.script_flush()
    assert await store.add(SCOPE, ["b"]) == AddResult(added=("b",))
    assert await store.renew(SCOPE) == ("a", "b")
    await store.aclose()


# -- claims


async def test_a_call_is_claimed_once(redis_server):
    one, other = RedisStore(redis_server.url), RedisStore(redis_server.url, claim_seconds=60)
    claims = await asyncio.gather(*(store.claim(SCOPE, "c1") for store in [one, other] * 10))
    assert claims.count(True) == 1
    for free in (scope("u"), scope(None), scope(run_id="s"), scope(processor_id="q")):
        assert await one.claim(free, "c1")
        assert not await other.claim(free, "c1")
    with redis_server.client() as client:
        client.flushall()
        assert await other.claim(SCOPE, "c1")
        (key,) = client.keys()
        assert 59_000 < client.pttl(key) <= 60_000
    await one.release(SCOPE, "c1")
    assert await other.claim(SCOPE, "c1")
    assert await counts(one) == {"threads": 0, "loaded": 0}
    await asyncio.gather(one.aclose(), other.aclose())


class Unlucky(redis.asyncio.Redis):
    """Loses the server's first answer to a script: the work is done, and nobody hears of it."""

    def __init__(self, *args, lose, **options):
        super().__init__(*args, **options)
        self.lose = [lose]

    async def execute_command(self, *args, **options):
        answer = await super().execute_command(*args, **options)
        if args[0] == "EVALSHA" and self.lose:
            await self.lose.pop()()
        return answer


async def never():
    await asyncio.Event().wait()


async def break_off():
    raise redis.exceptions.ConnectionError("reset by peer")


async def known(redis_server):
    """Let the server know the script of a claim."""
    async with RedisStore(redis_server.url) as store:
        await store.claim(SCOPE, "another")


@pytest.mark.parametrize("lose", [never, break_off])
async def test_a_claim_whose_answer_was_lost_can_be_made_again(redis_server, lose):
    client = Unlucky(port=redis_server.port, lose=lose)
    store = RedisStore(client, timeout_seconds=0.5)
    await known(redis_server)
    with pytest.raises(StoreError):
        await store.claim(SCOPE, "c1")
    assert await store.claim(SCOPE, "c1")
    assert not await store.claim(SCOPE, "c1")
    await client.aclose()


async def test_a_claim_that_was_cancelled_on_its_way_can_be_made_again(redis_server):
    arrived = asyncio.Event()

    async def hold():
        arrived.set()
        await never()

    client = Unlucky(port=redis_server.port, lose=hold)
    store = RedisStore(client, timeout_seconds=30)
    await known(redis_server)
    claiming = asyncio.create_task(store.claim(SCOPE, "c1"))
    await arrived.wait()
    claiming.cancel()
    with pytest.raises(asyncio.CancelledError):
        await claiming
    assert await store.claim(SCOPE, "c1")
    await client.aclose()


async def test_a_claim_that_is_sent_twice_since_its_connection_broke_is_one(redis_server):
    client = redis.asyncio.Redis(port=redis_server.port)
    arguments = (60_000, "one who claims")
    assert [await run_script(client, CLAIM, "k", arguments) for _ in range(2)] == [1, 1]
    assert await run_script(client, CLAIM, "k", (60_000, "another")) == 0
    await run_script(client, UNCLAIM, "k", (60_000, "another"))
    assert await client.get("k") == b"one who claims"
    await client.aclose()


# -- processes

WORKER = """
    import asyncio, json, sys
    from tool_search_processor.stores import LoadScope, RedisStore

    async def work(url, worker):
        store, changes = RedisStore(url, on_error="raise", timeout_seconds=30), []
        scope = LoadScope(processor_id="p", thread_id="t")
        for turn in range(100):
            result = await store.add(scope, [f"tool_{worker}_{turn}", f"shared_{turn}"], max_loaded=20)
            changes.append([result.added, result.evicted])
            await store.touch(scope, [f"shared_{turn}"])
        await store.aclose()
        return changes

    sys.stdin.read(1)
    print(json.dumps(asyncio.run(work(*sys.argv[1:]))))
"""


@pytest.mark.slow
def test_two_processes_lose_nothing_between_them(redis_server):
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(WORKER), redis_server.url, worker],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for worker in "ab"
    ]
    outputs = [worker.communicate("go")[0] for worker in workers]
    assert [worker.returncode for worker in workers] == [0, 0]
    changes = [change for output in outputs for change in json.loads(output)]
    added = [name for names, _ in changes for name in names]
    evicted = [name for _, names in changes for name in names]
    left = asyncio.run(RedisStore(redis_server.url).loaded(SCOPE))
    assert len(left) == 20
    assert sorted([*evicted, *left]) == sorted(added)
    assert len({name for name in added if name.startswith("tool_")}) == 200


# -- a cluster


@pytest.mark.slow
async def test_a_cluster_of_three_keeps_each_thread_in_one_slot(redis_cluster_port):
    client = redis.asyncio.RedisCluster(host="127.0.0.1", port=redis_cluster_port)
    store = RedisStore(client, on_error="raise", timeout_seconds=30)
    scopes = [scope(f"t-{n}") for n in range(60)]
    for place, there in enumerate(scopes):
        assert await store.add(there, ["a", f"n{place}"]) == AddResult(added=("a", f"n{place}"))
        await store.touch(there, ["a"])
        assert await store.add(there, ["b"], max_loaded=2) == AddResult(added=("b",), evicted=(f"n{place}",))
        assert await store.renew(there) == await store.loaded(there) == ("a", "b")
        assert await store.claim(there, "c1")
        assert not await store.claim(there, "c1")
    slots = {await client.cluster_keyslot(store._key(there)) * 3 // 16384 for there in scopes}
    assert slots == {0, 1, 2}, "the threads are spread over all nodes"
    await store.add(scope("t-1", "other"), ["x"])
    assert await counts(store) == {"threads": 61, "loaded": 121}
    assert await store.remove(scopes[0], ["a", "b"]) == ("a", "b")
    await store.clear(scopes[1])
    assert await counts(store) == {"threads": 59, "loaded": 117}
    await store.clear(scope(None))
    assert await counts(store) == {"threads": 1, "loaded": 1}
    await client.aclose()
