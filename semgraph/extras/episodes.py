"""What is extracted at one go: an episode, which is a stretch of talk or text that makes sense by itself.

One turn rarely does: "she", "there" and "yes" mean what was said before. So a model is asked once for each episode,
not for each turn, which also costs less. A session is an episode, unless it is too long, or pauses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from semgraph.exchange.conversations import USER, Session, Turn

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from semgraph.temporal import Bound

__all__ = ["MOST_WORDS", "Episode", "episodes_of", "halves", "paragraphs"]

MOST_WORDS: Final = 900
_PAUSE: Final = 6 * 3600 * 1_000_000  # microseconds of silence after which something new begins
_LONG_TURN: Final = 600  # words of one turn before it is split


class Episode(NamedTuple):
    """Turns that are read together."""

    ref: str
    turns: tuple[Turn, ...]
    said_at: Bound | None = None

    @property
    def refs(self) -> frozenset[str]:
        """The names of its turns, under which claims of it are kept."""
        return frozenset(turn.ref for turn in self.turns)


def episodes_of(sessions: Iterable[Session], *, most_words: int = MOST_WORDS, prefix: str = "") -> Iterator[Episode]:
    """The episodes of sessions, in their order; `prefix` goes before the name of each turn."""
    for session in sessions:
        group: list[Turn] = []
        words, part = 0, 1
        for turn in _short(session.turns):
            size = len(turn.text.split())
            if group and (words + size > most_words or _pauses(group[-1], turn)):
                yield _episode(session, group, part, prefix)
                group, words, part = [], 0, part + 1
            group.append(turn._replace(ref=f"{prefix}{turn.ref}"))
            words += size
        if group:
            yield _episode(session, group, part, prefix)


def _episode(session: Session, group: list[Turn], part: int, prefix: str) -> Episode:
    return Episode(f"{prefix}{session.id}" + f" ({part})" * (part > 1), tuple(group), session.said_at)


def _pauses(before: Turn, after: Turn) -> bool:
    if before.said_at is None or after.said_at is None:
        return False
    return after.said_at.instant - before.said_at.instant > _PAUSE


def _short(turns: Iterable[Turn]) -> Iterator[Turn]:
    """The turns, those split in parts that are a text of their own."""
    for turn in turns:
        if len(turn.text.split()) <= _LONG_TURN:
            yield turn
            continue
        group: list[str] = []
        for paragraph in turn.text.split("\n\n"):
            if group and len(" ".join([*group, paragraph]).split()) > _LONG_TURN:
                yield turn._replace(text="\n\n".join(group))
                group = []
            group.append(paragraph)
        yield turn._replace(text="\n\n".join(group))


def halves(episode: Episode) -> tuple[Episode, Episode] | None:
    """An episode in two, where it has more than one turn: what was too much for an answer may fit into two."""
    if len(episode.turns) < 2:
        return None
    middle = len(episode.turns) // 2
    return episode._replace(turns=episode.turns[:middle]), episode._replace(turns=episode.turns[middle:])


def paragraphs(text: str, name: str, said_at: Bound | None = None) -> Session:
    """A text as a session: each paragraph a turn of the one whose text it is, named by the line on which it begins."""
    turns: list[Turn] = []
    line, group = 1, list[str]()
    for number, row in enumerate([*text.splitlines(), ""], 1):
        if row.strip():
            line = line if group else number
            group.append(row.strip())
        elif group:
            turns.append(Turn(USER, "\n".join(group), said_at, f"{name}#{line}"))
            group = []
    return Session(name, tuple(turns), said_at)
