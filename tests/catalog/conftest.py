"""What tests of the catalog need: no request goes on without a list only since the machine was busy."""

import pytest

from tool_search_processor.catalog import provider_cache


@pytest.fixture(autouse=True)
def _patience(monkeypatch):
    monkeypatch.setattr(provider_cache, "PATIENCE_SECONDS", 30.0)
