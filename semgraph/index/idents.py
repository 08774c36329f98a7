"""Identifiers by number, nearly all of them 24 hexadecimal digits, in twelve bytes each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

__all__ = ["Idents"]

_DIGITS: Final = 24
_BYTES: Final = _DIGITS // 2


class Idents:
    """The identifiers in their order; those of another form are kept as they are."""

    def __init__(self) -> None:
        self._packed = bytearray()
        self._others: dict[int, str] = {}

    def __len__(self) -> int:
        return len(self._packed) // _BYTES

    def __getitem__(self, number: int) -> str:
        if number in self._others:
            return self._others[number]
        found = self._packed[_BYTES * number : _BYTES * (number + 1)]
        if not found:
            raise IndexError(number)
        return found.hex()

    def keys(self, numbers: NDArray[np.intp]) -> NDArray[np.uint64]:
        """Numbers in the order of the identifiers themselves; 0 for those of another form."""
        rows = np.frombuffer(self._packed, np.uint8).reshape(-1, _BYTES)[numbers, :8]
        return np.ascontiguousarray(rows).view(">u8")[:, 0].astype(np.uint64)

    @property
    def packed(self) -> NDArray[np.uint8]:
        """The bytes of each, a row; zeros for those of another form."""
        return np.frombuffer(bytes(self._packed), np.uint8).reshape(-1, _BYTES)

    @property
    def others(self) -> Mapping[int, str]:
        """Those of another form, by number."""
        return self._others

    def taken(self, numbers: NDArray[np.intp]) -> Idents:
        """Some of them, in this order."""
        found = Idents()
        found._packed = bytearray(self.packed[numbers].tobytes())
        if self._others:
            places = {number: place for place, number in enumerate(numbers.tolist()) if number in self._others}
            found._others = {place: self._others[number] for number, place in places.items()}
        return found

    def joined(self, more: Idents) -> Idents:
        """These, and others behind them."""
        found = Idents()
        found._packed = self._packed + more._packed
        found._others = self._others | {len(self) + number: name for number, name in more._others.items()}
        return found

    def extend(self, names: Sequence[str]) -> None:
        """Put these behind the others."""
        joined = "".join(names)
        if set(map(len, names)) <= {_DIGITS} and _is_hexadecimal(joined):
            self._packed += bytes.fromhex(joined)
            return
        for name in names:
            if len(name) == _DIGITS and _is_hexadecimal(name):
                self._packed += bytes.fromhex(name)
            else:
                self._others[len(self)] = name
                self._packed += bytes(_BYTES)

    def page(self, first: int, last: int) -> dict[str, NDArray[Any]]:
        """Some of them as arrays, by name."""
        others = {number - first: name for number, name in self._others.items() if first <= number < last}
        return {
            "ids": np.frombuffer(bytes(self._packed[_BYTES * first : _BYTES * last]), np.uint8),
            "other_places": np.array(list(others), np.uint32),
            "other_ids": np.frombuffer("\n".join(others.values()).encode(), np.uint8),
        }

    def load(self, page: Mapping[str, NDArray[Any]]) -> None:
        """Those of a page, behind the others; ValueError if it does not fit together."""
        places = page["other_places"].tolist()
        names = page["other_ids"].tobytes().decode().split("\n") if places else []
        start = len(self)
        self._others.update({start + place: name for place, name in zip(places, names, strict=True)})
        self._packed += page["ids"].tobytes()


def _is_hexadecimal(text: str) -> bool:
    try:
        return bytes.fromhex(text).hex() == text
    except ValueError:
        return False
