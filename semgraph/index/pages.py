"""Arrays as bytes and back, for what is kept of an index in the store; only numbers are read, never objects."""

from __future__ import annotations

import json
import zlib
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

__all__ = ["packed", "unpacked"]

_KINDS: Final = frozenset({"|u1", "<u2", "<u4", "<u8", "<i8", "<f4"})
_LARGEST: Final = 1 << 32  # bytes of an array
_HEAD: Final = 4  # bytes that say how long the head is


def packed(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Arrays of one dimension, by name, as bytes: of each first all lowest bytes, then the next, which deflate well."""
    head, body = list[tuple[str, str, int, int]](), list[bytes]()
    for name, array in arrays.items():
        plain = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
        planes = plain.view(np.uint8).reshape(-1, plain.itemsize).T
        body.append(zlib.compress(planes.tobytes(), 1))
        head.append((name, plain.dtype.str, len(plain), len(body[-1])))
    told = json.dumps(head).encode()
    return b"".join((len(told).to_bytes(_HEAD, "little"), told, *body))


def unpacked(payload: bytes) -> dict[str, NDArray[Any]]:
    """The arrays; ValueError where the bytes are not as `packed` made them."""
    try:
        at = _HEAD + int.from_bytes(payload[:_HEAD], "little")
        found = {}
        for name, kind, count, size in json.loads(payload[_HEAD:at]):
            found[name] = _array(payload[at : at + size], kind, count)
            at += size
    except (zlib.error, TypeError, KeyError) as error:
        raise ValueError(str(error)) from None
    if at != len(payload):
        raise ValueError("bytes are left over")
    return found


def _array(deflated: bytes, kind: str, count: int) -> NDArray[Any]:
    dtype = np.dtype(kind) if kind in _KINDS else None
    if dtype is None or not isinstance(count, int) or not 0 <= count <= _LARGEST // dtype.itemsize:
        raise ValueError(f"{kind!r} times {count!r} is no array of numbers")
    inflater = zlib.decompressobj()
    raw = inflater.decompress(deflated, count * dtype.itemsize + 1)
    if len(raw) != count * dtype.itemsize or not inflater.eof:
        raise ValueError("an array has another length")
    planes = np.frombuffer(raw, np.uint8).reshape(dtype.itemsize, count)
    return np.ascontiguousarray(planes.T).view(dtype).ravel()
