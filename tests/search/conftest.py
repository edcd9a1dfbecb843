"""Tests of the engine are left out where its packages are missing: they are an extra of their own."""

from importlib.util import find_spec

collect_ignore = [] if find_spec("pymilvus") and find_spec("milvus_lite") else ["test_milvus.py"]
