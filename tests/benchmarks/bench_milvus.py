"""Measures MilvusIndex on made-up catalogs, on the embedded milvus-lite or on a server.

    python tests/benchmarks/bench_milvus.py --size 10000
    python tests/benchmarks/bench_milvus.py --size 1000000 --uri http://milvus:19530 --token root:Milvus

Prints wall times, which is what a caller waits, beside the CPU time of this process, in which milvus-lite
runs. Vectors are random ones: only their number and length matter here.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from bench_search import documents, queries

from tool_search_processor.search.milvus import MilvusIndex
from tool_search_processor.search.protocol import Document

DIMENSIONS = 256


def random_vectors(texts: Sequence[str]) -> np.ndarray:
    """Return vectors that have nothing to do with the texts."""
    return np.random.default_rng(len(texts)).standard_normal((len(texts), DIMENSIONS)).astype(np.float32)


async def ask(label: str, index: MilvusIndex, asked: Sequence[str], **options: Any) -> None:
    """Print what queries cost."""
    await index.search(asked[0], limit=20, **options)
    started, waits = time.process_time(), []
    for query in asked:
        before = time.perf_counter()
        await index.search(query, limit=20, **options)
        waits.append(1000 * (time.perf_counter() - before))
    cpu = 1000 * (time.process_time() - started) / len(asked)
    print(f"  {label:24} p50 {statistics.median(waits):7.1f} ms   cpu {cpu:7.1f} ms", flush=True)


async def measure(mode: str, tools: Sequence[Document], asked: Sequence[str], options: Any) -> None:
    """Print what one mode costs."""
    index = MilvusIndex(
        options.uri,
        f"bench_{mode}",
        mode=mode,
        embedder=None if mode == "bm25" else random_vectors,
        token=options.token,
    )
    for label, content in (
        ("publish", tools),
        ("one tool less", tools[:-1]),
        ("nothing changed", tools[:-1]),
    ):
        started = time.perf_counter()
        await index.update(content)
        print(f"{mode}: {label} {time.perf_counter() - started:.1f} s", flush=True)
    await ask("all", index, asked)
    await ask("within 100 names", index, asked, within=frozenset(tool.name for tool in tools[:100]))
    await ask("within all but 10", index, asked, within=frozenset(tool.name for tool in tools[10:]))
    await ask("one namespace", index, asked, namespaces=[tools[0].namespace or ""])
    await index.aclose()


def main() -> None:
    """Measure each mode."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--size", type=int, default=10_000)
    parser.add_argument("--queries", type=int, default=30)
    parser.add_argument("--uri", help="a server; milvus-lite in a temporary folder unless given")
    parser.add_argument("--token")
    parser.add_argument("--modes", nargs="+", default=["bm25", "vector", "hybrid"])
    options = parser.parse_args()
    tools = list(documents(options.size))
    asked = queries(tools, options.queries)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        options.uri = options.uri or str(Path(folder) / "bench.db")
        for mode in options.modes:
            asyncio.run(measure(mode, tools, asked, options))


if __name__ == "__main__":
    main()
