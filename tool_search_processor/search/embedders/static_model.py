"""A static model: the mean of the word pieces' vectors. WordLlama's `l2_supercat`, 256 dimensions.

The package's two data files are read as they are: importing it would set up logging.
"""

from __future__ import annotations

import importlib.util
import json
import struct
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tool_search_processor.search.embedders.embedder import NAME_END, Floats, unit_rows

_NAME_SHARE = 0.5


def load(dimensions: int = 256) -> Callable[..., Floats]:
    """Return the function from texts to unit vectors, shape (n, dimensions).

    The model is a Matryoshka one: its first 128 dimensions are nearly as good as all 256. Of a tool's
    text the name counts half again: a mean over a long description would drown it.
    """
    from tokenizers import Tokenizer

    folder = _folder("wordllama")
    table = read_table(folder / "weights" / "l2_supercat_256.safetensors")
    tokenizer = Tokenizer.from_file(str(folder / "tokenizers" / "l2_supercat_tokenizer_config.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()

    table = np.ascontiguousarray(table[:, :dimensions])

    def means(texts: Sequence[str]) -> Floats:
        vectors = np.zeros((len(texts), dimensions), np.float32)
        for row, text in enumerate(texts):
            # A batch would wake threads on all cores.
            ids = tokenizer.encode(text, add_special_tokens=False).ids
            if ids:
                vectors[row] = table[ids].mean(axis=0, dtype=np.float32)
        return unit_rows(vectors)

    def encode(texts: Sequence[str], *, queries: bool) -> Floats:
        whole = means(texts)
        if queries:
            return whole
        return unit_rows(whole + _NAME_SHARE * means([text.partition(NAME_END)[0] for text in texts]))

    return encode


def read_table(path: Path) -> NDArray[np.float16]:
    """Return the one array of a safetensors file: 8 bytes of length, a JSON header, then the numbers."""
    with path.open("rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(length))
        entry = next(value for key, value in header.items() if key != "__metadata__")
        start, end = entry["data_offsets"]
        file.seek(8 + length + start)
        return np.frombuffer(file.read(end - start), np.float16).reshape(entry["shape"])


def _folder(package: str) -> Path:
    found = importlib.util.find_spec(package)
    if found is None or found.origin is None:
        raise ImportError(f"the package {package!r} is not installed")
    return Path(found.origin).parent
