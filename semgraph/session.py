"""What a handle and all its views share: the store, one scope's ledger and directory, the clock and the settings."""

from __future__ import annotations

import os
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from semgraph.accesses import Accesses
from semgraph.directory import Directory
from semgraph.embedding import checked
from semgraph.errors import ConfigError, InputError, RejectedError, StoreError
from semgraph.index import feed
from semgraph.index.keeping import Index
from semgraph.ledger import Ledger, Pulse
from semgraph.names import SELF_NAMES, entity_key
from semgraph.points import Points
from semgraph.recent import Recent
from semgraph.temporal import NEG_INF, POS_INF, instant_of, next_recorded, parse_bound, span

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from datetime import date

    from semgraph.index.columns import Columns
    from semgraph.store.protocol import Store
    from semgraph.store.schema import ScopeRow
    from semgraph.temporal import Bound
    from semgraph.vocabulary import Unregistered

    When = str | date | datetime | Bound

__all__ = ["Config", "Session"]

_YEAR = 366 * 86_400 * 10**6  # microseconds
_NO_SCOPE = -1  # a scope that nothing was written to yet: every look-up finds nothing


@dataclass(frozen=True, slots=True)
class Config:
    """Settings of a handle, checked once."""

    source: str = "user"
    timezone: str | None = None
    unregistered: Unregistered = "flag"
    self_names: frozenset[str] = SELF_NAMES
    accept_inferred: bool = True
    keep_rejected: int = 1000
    keep_rejected_text: bool = True
    consent: bool = True

    @staticmethod
    def of(source: str, timezone: str | None, given: Mapping[str, object] | None) -> Config:
        """The settings of a mapping; ConfigError names what is unknown or of the wrong kind."""
        if given is not None and not hasattr(given, "items"):
            raise ConfigError(f"config is a mapping of settings, not {type(given).__name__}")
        options = dict(given or {})
        if timezone is not None:
            parse_bound("2000-01-01", timezone=timezone)  # a zone that is unknown is told at once
        allowed: dict[str, type | tuple[type, ...]] = {
            "unregistered": str,
            "self_names": (list, tuple, set, frozenset),
            "accept_inferred": bool,
            "keep_rejected": int,
            "keep_rejected_text": bool,
            "consent": bool,
        }
        for name, value in options.items():
            if name not in allowed:
                raise ConfigError(f"unknown setting {name!r}; known are {', '.join(sorted(allowed))}")
            if not isinstance(value, allowed[name]):
                raise ConfigError(f"setting {name!r} can't be {value!r}")
        if options.get("unregistered", "flag") not in ("flag", "one", "many"):
            raise ConfigError(f"unregistered is flag, one or many, not {options['unregistered']!r}")
        if "self_names" in options:
            options["self_names"] = frozenset(entity_key(str(n)) for n in options["self_names"]) | {"user"}  # type: ignore[attr-defined]
        return Config(source=source, timezone=timezone, **options)  # type: ignore[arg-type]  # checked above


class Session:
    """One scope of an open store, as one handle sees it."""

    def __init__(
        self,
        store: Store,
        scope: str,
        config: Config,
        clock: Callable[[], datetime] | None,
        *,
        embedder: object = "default",
        beside: Session | None = None,
    ) -> None:
        self.store = store
        self.embedder: object = checked(embedder)
        if clock is not None and not callable(clock):
            raise ConfigError(f"a clock is called without arguments, and {type(clock).__name__} can't be called")
        self.scope = check_scope(scope)
        self.config = config
        self.clock = clock
        self.pulse: Pulse = Pulse() if beside is None else beside.pulse
        self.ledger: Ledger = Ledger(store, _NO_SCOPE, self.pulse, unregistered=config.unregistered)
        self.directory: Directory = Directory(self.ledger, self.scope, config.self_names)
        self.last_recorded = NEG_INF
        self._row: ScopeRow | None = None
        self.points: Points | None = None
        self.recent: Recent = Recent() if beside is None else beside.recent
        self.indexes: dict[str, Index] = {} if beside is None else beside.indexes  # by scope
        self.accesses: dict[str, Accesses] = {} if beside is None else beside.accesses  # by scope
        self.libraries: dict[str, object] = {} if beside is None else beside.libraries  # by scope, what recall searches

    def wall(self) -> int:
        """The wall clock as an instant."""
        if self.clock is None:
            return time.time_ns() // 1000
        shown = self.clock()
        if not isinstance(shown, datetime):
            raise ConfigError(f"the clock must show an aware datetime, not {type(shown).__name__}")
        return instant_of(shown)

    def now(self) -> int:
        """The present of reads: the wall clock, never before the last record. Call it inside a transaction."""
        return max(self.wall(), self.last_recorded)

    def moment(self) -> tuple[int, int]:
        """The present of reads, and when the last write was recorded, of one and the same snapshot."""
        if self.points is not None and (known := self.points.known()) is not None:
            return max(self.wall(), known), known
        with self.read():
            return self.now(), self.last_recorded

    @contextmanager
    def read(self) -> Iterator[None]:
        """A consistent snapshot of the scope."""
        with self.store.read():
            try:
                self._sync(self.store.scope(self.scope))
                yield
            except StoreError:
                self.ledger.forget_records()  # some of it may be half read
                raise

    @contextmanager
    def write(self, *, steady: bool = False) -> Iterator[int]:
        """A transaction with its transaction time; all of it is kept, or nothing.

        `steady` where the block changes claims, facts and names through ledger and directory only: what these know of
        the store is then still right for the next transaction.
        """
        self.recent.clear()
        try:
            with self.store.write():
                try:
                    row = self.store.scope(self.scope) or self.store.create_scope(self.scope)
                    if (index := self.indexes.get(self.scope)) is not None:
                        index.outdated()
                    self._sync(row)
                    recorded_at = next_recorded(self.wall(), row.last_recorded)
                    if recorded_at - row.last_recorded > _YEAR and row.last_recorded != NEG_INF:
                        _log_leap(recorded_at - row.last_recorded)
                    self.ledger.changed.clear()
                    self.ledger.rebuilt = False
                    self.directory.renamed = False
                    beats = self.pulse.beats
                    yield recorded_at
                    self.directory.flush()
                    told = self._told(row, recorded_at, beats)
                    self.store.update_scope(
                        row._replace(last_recorded=recorded_at, entities=self.directory.counter, feed=told)
                    )
                    self.last_recorded = recorded_at
                    self.ledger.wrote(steadily=steady)
                except BaseException:
                    self.ledger.forget_records()
                    raise
        except BaseException:
            self.ledger.forget_records()  # the commit may have failed
            raise
        self.ledger.committed = True

    def _told(self, row: ScopeRow, recorded_at: int, beats: int) -> str:
        """The feed of the scope with what was touched by this write, before which small tables had changed so often."""
        if self.ledger.rebuilt:
            return feed.started_afresh(row.feed, recorded_at)
        touched, token = frozenset(self.ledger.changed), int.from_bytes(os.urandom(6))
        besides = self.directory.renamed or self.pulse.beats != beats
        if (index := self.indexes.get(self.scope)) is not None:
            index.wrote(token, touched)
        return feed.appended(row.feed, row.last_recorded, recorded_at, touched, besides=besides, token=token)

    def recalled(self, facts: Iterable[str]) -> None:
        """Count facts as recalled just now, unless the store is only read."""
        if not self.store.read_only:
            noted = self.noted
            noted.note(facts, self.wall())
            if noted.due:
                noted.keep(self.store)

    @property
    def noted(self) -> Accesses:
        """How often facts of the scope were recalled."""
        return self.accesses.setdefault(self.scope, Accesses(self.scope))

    def close(self) -> None:
        """Release the store, after what was noted is kept."""
        for noted in self.accesses.values():
            with suppress(StoreError):
                noted.keep(self.store)
        self.store.close()

    def columns(self, *, reads: int = 1, identified: bool = False) -> Columns | None:
        """The current facts as columns in memory, of the transaction that is open; None where the store is to be asked.

        That is while something is being written, and while so few reads were made that loading is not worth it.
        `reads` is how many look-ups in the store the caller would need instead; `identified` says that the columns are
        to know the ids of the facts (`Columns.id_of`). What the columns give, rows and nodes
        and arrays, means nothing beyond the transaction.
        """
        if self._row is None:
            return None
        index = self.indexes.get(self.scope)
        if index is None:
            index = self.indexes.setdefault(self.scope, Index())
        return index.in_step(self.store, self._row, reads=reads, identified=identified)

    def followed(self) -> Points | None:
        """The points in step with what is committed; None where the store is to be asked, as for `columns`."""
        if self.store.revision() is None:
            return None
        with self.read():
            columns = self.columns()
            if columns is None:
                self.points = None
            elif self.points is None or not self.points.fit:
                self.points = Points(self, self.indexes[self.scope], columns)
        return self.points

    def _sync(self, row: ScopeRow | None) -> None:
        self._row = row
        self.ledger.scope = _NO_SCOPE if row is None else row.scope
        self.last_recorded = NEG_INF if row is None else row.last_recorded
        counter = 0 if row is None else row.entities
        if self.ledger.begin():
            self.directory.resume(counter)
        else:
            self.directory.begin(counter)

    def when(self, value: When | None) -> Bound | None:
        """A date or date-time as given to the API, read in the handle's time zone."""
        return None if value is None else parse_bound(value, timezone=self.config.timezone)

    def instant(self, when: When | None) -> int:
        """The instant that a read names; None is now."""
        if isinstance(when, datetime) and when.tzinfo is UTC:
            return instant_of(when)
        bound = self.when(when)
        if bound is None and when is not None:
            raise RejectedError(
                "bad_time", f"{when!r} is an open end and no moment: give a date, or leave it out for now"
            )
        if bound is None:
            return self.moment()[0]
        if bound.precision == "unknown":
            raise InputError("an unknown time can't be read at; give a date or leave it out for now")
        return bound.instant

    def known(self, when: When | None) -> int:
        """The moment of knowledge that a read names; None is the latest."""
        return POS_INF if when is None else self.instant(when)

    def window(self, start: When | None, end: When | None) -> tuple[int, int]:
        """The window between two dates; a start alone is its whole unit, and no date at all is all time."""
        first, last = self.when(start), self.when(end)
        if start is not None and first is not None and end is None:
            return span(first)
        begin = NEG_INF if first is None else first.instant
        stop = POS_INF if last is None else last.instant
        if begin >= stop:
            raise RejectedError("empty_interval", f"the window ends ({end}) before it begins ({start})")
        return begin, stop


def _log_leap(microseconds: int) -> None:
    """Leave word of a clock that may be wrong: all that follows is recorded after what it shows now."""
    import logging

    log = logging.getLogger("semgraph")
    if not log.handlers:
        log.addHandler(logging.NullHandler())  # who does not listen is not disturbed
    log.warning("the clock is %d days past the last record of its scope", microseconds // (86_400 * 10**6))


def check_scope(name: str) -> str:
    """The name of a scope as given, if it can be one."""
    if not isinstance(name, str):
        raise InputError(f"a scope is a text of 1 to 512 characters, not {name!r}")
    entity_key(name)
    return name
