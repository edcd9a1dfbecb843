"""The soak's own loop: a few rounds of it end as they should, and its figures are figures."""

import pytest

from tests.benchmarks.soak import Soak, resident_mb

pytestmark = pytest.mark.slow


async def test_a_short_soak_leaves_nothing_and_gets_nothing_wrong(tmp_path):
    soak = Soak(tmp_path)
    await soak.go(minutes=1, steps=150)
    assert soak.steps >= 150
    assert soak.wrong == []
    assert set(soak.runs) == {"agent", "native agent", "anthropic", "responses"}
    assert await soak.experience.export() != []
    assert (await soak.processor._loads._runs.stats())["threads"] == 0
    assert 10 < resident_mb() < 10_000
    await soak.processor.aclose()


def test_growth_is_from_the_second_quarter_to_the_last(tmp_path):
    soak = Soak(tmp_path)
    assert soak.growth() == 0.0
    soak.memory = [50.0, 60.0, 100.0, 100.0, 104.0, 103.0, 110.0, 112.0]
    assert round(soak.growth(), 2) == 0.11
