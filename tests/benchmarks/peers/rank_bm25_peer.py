"""rank-bm25 over words split at spaces, as its README shows."""

from protocol import serve, text_of
from rank_bm25 import BM25Okapi


def build(tools):
    """Index name, description and parameters."""
    index = BM25Okapi([text_of(tool).lower().split() for tool in tools])
    names = [tool["name"] for tool in tools]
    return lambda query, limit: index.get_top_n(query.lower().split(), names, n=limit)


serve("rank-bm25", build)
