"""Every index in this process, by the name of its strategy."""

from tests.search.fake_embedder import FakeEmbedder
from tool_search_processor.search.bm25 import BM25Index
from tool_search_processor.search.fuzzy import FuzzyIndex
from tool_search_processor.search.hybrid import HybridIndex
from tool_search_processor.search.regex import RegexIndex
from tool_search_processor.search.vector import VectorIndex

MAKERS = {
    "bm25": BM25Index,
    "regex": RegexIndex,
    "fuzzy": FuzzyIndex,
    "vector": lambda: VectorIndex(FakeEmbedder()),
    "hybrid": lambda: HybridIndex(vector=VectorIndex(FakeEmbedder())),
    "rrf": lambda: HybridIndex(vector=VectorIndex(FakeEmbedder()), fusion="rrf"),
}
