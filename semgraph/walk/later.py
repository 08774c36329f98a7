"""Reading again, later, what a walk saw: as it was known then, whatever was written since."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from semgraph.collecting import uncollected
from semgraph.instants import POS_INF
from semgraph.reader import Reader

if TYPE_CHECKING:
    from collections.abc import Iterator

    from semgraph.session import Session

__all__ = ["Later"]


class Later:
    """A moment of knowledge, to be read at after the transaction in which it was the latest."""

    __slots__ = ("_known_at", "_session")

    def __init__(self, session: Session, known_at: int) -> None:
        self._session = session
        self._known_at = known_at

    @classmethod
    def of(cls, reader: Reader) -> Later:
        """The moment of a reader."""
        return cls(*cls.moment(reader))

    @staticmethod
    def moment(reader: Reader) -> tuple[Session, int]:
        """What makes the moment of a reader, for whoever may not need it."""
        return reader.session, min(reader.snapshot.known_at, reader.session.last_recorded)

    @contextmanager
    def reading(self) -> Iterator[Reader]:
        """A transaction in which the facts are as they were; only what was forgotten since is gone."""
        session = self._session
        with session.read(), uncollected():
            known_at = POS_INF if self._known_at >= session.last_recorded else self._known_at
            yield Reader(session, session.ledger.at(known_at))
