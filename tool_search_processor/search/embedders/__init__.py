"""What turns texts into vectors: models that come as packages, models behind LiteLLM, any function."""

from tool_search_processor.search.embedders.cached import CachedEmbedder
from tool_search_processor.search.embedders.embedder import (
    CallableEmbedder,
    DescribedEmbedder,
    Embedder,
    Floats,
)
from tool_search_processor.search.embedders.hosted import LiteLLMEmbedder
from tool_search_processor.search.embedders.local import LocalEmbedder, ModelName

__all__ = [
    "CachedEmbedder",
    "CallableEmbedder",
    "DescribedEmbedder",
    "Embedder",
    "Floats",
    "LiteLLMEmbedder",
    "LocalEmbedder",
    "ModelName",
]
