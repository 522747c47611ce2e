"""Which files beside an ONNX file hold its weights, read from the file's own bytes.

An ONNX file is one protocol buffer. Models over 2 GB (and many smaller ones) keep tensors in files beside it; a
hash of the one file alone would then say nothing about the weights. The ``onnx`` package could tell the names but
is not needed to run a model, so the few fields on the way to them are walked here. Field numbers are those of
onnx.proto3.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

from visual_search.errors import FileFormatError

__all__ = ["external_data_files"]

_Buffer: TypeAlias = mmap.mmap | memoryview
_Field: TypeAlias = tuple[int, int, int]  # number, start and end of the bytes

# Message -> field number -> message inside it. Whatever is not listed cannot hold a tensor's location.
_CHILDREN = {
    "Model": {7: "Graph", 25: "Function"},
    "Graph": {1: "Node", 5: "Tensor", 15: "SparseTensor"},
    "Function": {7: "Node"},
    "Node": {5: "Attribute"},
    "Attribute": {5: "Tensor", 6: "Graph", 10: "Tensor", 11: "Graph", 22: "SparseTensor", 23: "SparseTensor"},
    "SparseTensor": {1: "Tensor", 2: "Tensor"},
    "Tensor": {13: "Entry"},
    "Entry": {},
}
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5


def external_data_files(path: Path) -> list[str]:
    """Names of the files that hold tensors of the model at ``path``, relative to its folder, sorted.

    Parameters
    ----------
    path : Path
        An ONNX file. It is mapped, not read: tensors inside it are stepped over.

    Returns
    -------
    list of str
        Empty for a model that is whole in its one file.

    Raises
    ------
    FileFormatError
        Not a protocol buffer, or one that ends before its last field does.
    """
    if path.stat().st_size == 0:
        raise FileFormatError(f"{path}: an empty file: 0 bytes; an ONNX model is needed")
    with path.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
        try:
            return sorted(set(_locations(data, "Model", 0, len(data))))
        except _BrokenError as problem:
            raise FileFormatError(f"{path}: truncated, or not an ONNX model: {problem}") from None


class _BrokenError(Exception):
    """The bytes are not the message they should be."""


def _locations(data: _Buffer, message: str, start: int, end: int) -> Iterator[str]:
    # A stack, not recursion: graphs nest as deep as their maker liked.
    todo = [(message, start, end)]
    while todo:
        kind, start, end = todo.pop()
        children = _CHILDREN[kind]
        fields = list(_fields(data, start, end))
        if kind == "Entry":
            text = {number: bytes(data[first:last]) for number, first, last in fields}
            if text.get(1) == b"location":
                yield text.get(2, b"").decode("utf-8", "surrogateescape")
        todo += [(children[number], first, last) for number, first, last in fields if number in children]


def _fields(data: _Buffer, start: int, end: int) -> Iterator[_Field]:
    place = start
    while place < end:
        key, place = _varint(data, place, end)
        number, wire = key >> 3, key & 7
        if number == 0:
            raise _BrokenError(f"no field has the number 0, as byte {place - 1} says")
        if wire == _VARINT:
            _, place = _varint(data, place, end)
            continue
        if wire == _BYTES:
            length, place = _varint(data, place, end)
        elif wire in (_FIXED64, _FIXED32):
            length = 8 if wire == _FIXED64 else 4
        else:
            raise _BrokenError(f"no field has the kind {wire}, as byte {place - 1} says")
        if place + length > end:
            raise _BrokenError(f"a field of {length} bytes at byte {place} ends beyond the {end} there are")
        if wire == _BYTES:
            yield number, place, place + length
        place += length


def _varint(data: _Buffer, place: int, end: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        if place >= end:
            raise _BrokenError(f"the bytes end inside a number at byte {place}")
        byte = data[place]
        place += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, place
    raise _BrokenError(f"a number of more than 10 bytes at byte {place}")
