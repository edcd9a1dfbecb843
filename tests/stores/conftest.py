"""Redis for the tests of stores: one server for all of them, emptied before each."""

import pytest

from tests.stores import servers
from tool_search_processor.stores.experience import (
    MemoryExperienceStore,
    RedisExperienceStore,
    SQLiteExperienceStore,
)

SERVERS = {"redis_server", "redis_cluster_port", "own_server"}
"""Fixtures that start a server: a test that has one as an argument is marked `services`."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    for item in items:
        if SERVERS.intersection(item.fixturenames):
            item.add_marker(pytest.mark.services)


@pytest.fixture(scope="session")
def _redis_program():
    if servers.PROGRAM is None:
        pytest.skip(servers.MISSING)


@pytest.fixture(scope="session")
def shared_redis(_redis_program, tmp_path_factory):
    with servers.running(tmp_path_factory.mktemp("redis")) as server:
        yield server


@pytest.fixture
def redis_server(shared_redis):
    with shared_redis.client() as client:
        client.flushall()
    return shared_redis


@pytest.fixture(params=["memory", "sqlite", pytest.param("redis", marks=pytest.mark.services)])
async def experience_store(request, tmp_path):
    if request.param == "redis":
        made = RedisExperienceStore(request.getfixturevalue("redis_server").url)
    elif request.param == "sqlite":
        made = SQLiteExperienceStore(tmp_path / "learned.db")
    else:
        made = MemoryExperienceStore()
    yield made
    await made.aclose()


@pytest.fixture
def own_server(_redis_program, tmp_path):
    """A server that a test may kill."""
    with servers.running(tmp_path, durable=True) as server:
        yield server


@pytest.fixture(scope="session")
def redis_cluster_port(_redis_program, tmp_path_factory):
    with servers.cluster(tmp_path_factory.mktemp("cluster")) as port:
        yield port
