"""The few parts of the ONNX file format that are needed to rebuild a model; a protocol buffer.

The messages and their field numbers: https://github.com/onnx/onnx/blob/main/onnx/onnx.proto
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

_FLOAT, _UINT8, _INT8, _INT64 = 1, 2, 3, 7  # TensorProto.DataType
_TYPES: Mapping[int, np.dtype[Any]] = {
    _FLOAT: np.dtype("<f4"),
    _UINT8: np.dtype("u1"),
    _INT8: np.dtype("i1"),
    _INT64: np.dtype("<i8"),
}
_NUMBERS = {dtype: number for number, dtype in _TYPES.items()}
_IR_VERSION = 8
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """One operation of a graph."""

    operation: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


def read(model: bytes) -> tuple[list[Node], dict[str, Array]]:
    """Return the operations of a model, and its constants by name (those of the types used here)."""
    graph = next(value for number, value in _fields(memoryview(model)) if number == 7)
    nodes, constants = [], {}
    for number, value in _fields(graph):
        if number == 1:
            nodes.append(_node(value))
        elif number == 5:
            name, array = _constant(value)
            if array is not None:
                constants[name] = array
    return nodes, constants


def _node(message: memoryview) -> Node:
    texts: dict[int, list[str]] = {1: [], 2: [], 4: []}
    for number, value in _fields(message):
        if number in texts:
            texts[number].append(str(value, "utf-8"))
    return Node(operation=texts[4][0], inputs=tuple(texts[1]), outputs=tuple(texts[2]))


def _constant(message: memoryview) -> tuple[str, Array | None]:
    shape: list[int] = []
    name, kind, body = "", 0, b""
    for number, value in _fields(message):
        if number == 1:  # packed or one by one
            shape += [value] if isinstance(value, int) else list(_varints(value))
        elif number == 2:
            kind = value
        elif number == 8:
            name = str(value, "utf-8")
        elif number == 9:
            body = bytes(value)
    dtype = _TYPES.get(kind)
    if dtype is None or not body:
        return name, None
    array: Array = np.frombuffer(body, dtype).reshape(shape)
    return name, array


def _fields(message: memoryview) -> Iterator[tuple[int, Any]]:
    """Yield the number and value of each field: an int, or the bytes of a string or message."""
    place = 0
    while place < len(message):
        tag, place = _varint(message, place)
        number, kind = tag >> 3, tag & 7
        if kind == _VARINT:
            value, place = _varint(message, place)
            yield number, value
            continue
        if kind == _BYTES:
            length, place = _varint(message, place)
        else:
            length = {_FIXED64: 8, _FIXED32: 4}[kind]
        yield number, message[place : place + length]
        place += length


def _varint(message: memoryview, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[place]
        value |= (byte & 127) << shift
        place += 1
        if byte < 128:
            return value, place
        shift += 7


def _varints(message: memoryview) -> Iterator[int]:
    place = 0
    while place < len(message):
        value, place = _varint(message, place)
        yield value


class GraphWriter:
    """Collects the operations and constants of a graph, and writes them as a model."""

    def __init__(self) -> None:
        """Start with an empty graph."""
        self._body: list[bytes] = []

    def constant(self, name: str, array: Array) -> str:
        """Add a constant; return its name."""
        stored = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
        shape = b"".join(_field(1, size) for size in stored.shape)
        kind = _field(2, _NUMBERS[stored.dtype])
        self._body.append(_field(5, shape + kind + _field(8, name) + _field(9, stored.tobytes())))
        return name

    def add(
        self,
        operation: str,
        inputs: Sequence[str],
        output: str | Sequence[str],
        *,
        domain: str = "",
        **settings: float,
    ) -> str:
        """Add an operation; return the name of its first output.

        Args:
            operation: Its name in ONNX.
            inputs: Names of outputs and constants; "" for an optional input that is not given.
            output: The names of what it makes.
            domain: "com.microsoft" for onnxruntime's own operations.
            **settings: Its attributes.
        """
        outputs = [output] if isinstance(output, str) else output
        body = b"".join(_field(1, name) for name in inputs) + b"".join(_field(2, name) for name in outputs)
        body += _field(4, operation) + b"".join(_setting(*setting) for setting in settings.items())
        self._body.append(_field(1, body + _field(7, domain)))
        return outputs[0]

    def model(self, *, inputs: Mapping[str, tuple[type, int]], output: str, opset: int) -> bytes:
        """Return the file.

        Args:
            inputs: For each its name, type of numbers, and how many axes it has.
            output: The name of what the model returns, an array of floats with three axes.
            opset: The version of ONNX's operations.
        """
        ends = b"".join(
            _field(11, _value(name, np.dtype(kind), axes)) for name, (kind, axes) in inputs.items()
        )
        ends += _field(12, _value(output, np.dtype(np.float32), 3))
        graph = b"".join(self._body) + _field(2, "model") + ends
        versions = _field(8, _field(2, opset)) + _field(8, _field(1, "com.microsoft") + _field(2, 1))
        return _field(1, _IR_VERSION) + versions + _field(7, graph)


def _value(name: str, dtype: np.dtype[Any], axes: int) -> bytes:
    shape = b"".join(_field(1, _field(2, f"{name}_{axis}")) for axis in range(axes))
    tensor = _field(1, _NUMBERS[dtype]) + _field(2, shape)
    return _field(1, name) + _field(2, _field(1, tensor))


def _setting(name: str, value: float) -> bytes:
    if isinstance(value, int):
        return _field(5, _field(1, name) + _field(3, value) + _field(20, 2))
    number = _number(2 << 3 | _FIXED32) + struct.pack("<f", value)
    return _field(5, _field(1, name) + number + _field(20, 1))


def _field(number: int, value: int | str | bytes) -> bytes:
    if isinstance(value, int):
        return _number(number << 3 | _VARINT) + _number(value)
    body = value.encode() if isinstance(value, str) else value
    return _number(number << 3 | _BYTES) + _number(len(body)) + body


def _number(value: int) -> bytes:
    """Return a varint; a negative number as protocol buffers write it, in 64 bits."""
    rest = value & (1 << 64) - 1
    written = bytearray()
    while rest > 127:
        written.append(rest & 127 | 128)
        rest >>= 7
    written.append(rest)
    return bytes(written)
