"""From stored rows to the objects that reads give: labels, claims, confidence, certainty and conflict sets."""

from __future__ import annotations

import hashlib
import json
from bisect import bisect_left
from itertools import chain
from math import prod
from operator import itemgetter
from typing import TYPE_CHECKING

from semgraph import factrow
from semgraph.beside import Beside, one_of
from semgraph.disputes import at_instant, both_ways, ever, is_mirrored, rival_of
from semgraph.late import Grounds, late_fact
from semgraph.model import ConflictSet, Entity
from semgraph.segment import Value
from semgraph.statement import value_of
from semgraph.stating import base_confidence
from semgraph.temporal import NEG_INF, POS_INF, Bound, exact

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from typing import Any

    from semgraph.directory import Directory
    from semgraph.disputes import Dispute, Place
    from semgraph.ledger import Ledger, Snapshot
    from semgraph.model import Claim, Fact, Literal
    from semgraph.session import Session
    from semgraph.store.schema import ClaimRow, FactRow

__all__ = ["Reader", "Reading"]


class Reading:
    """A stored fact read from one side: perhaps turned round, perhaps with its sign flipped.

    Its body is read when first asked for; many facts are left out by their rows alone.
    """

    __slots__ = ("_body", "flipped", "predicate", "row", "turned")

    def __init__(self, row: FactRow, body: factrow.Body | Reader, predicate: str, turned: bool, flipped: bool) -> None:  # noqa: FBT001 - as ever named
        self.row = row
        self._body = body
        self.predicate = predicate
        self.turned = turned
        self.flipped = flipped

    @property
    def body(self) -> factrow.Body:
        """What the row says that no look-up needs, and what stands beside the fact."""
        if isinstance(self._body, Reader):
            self._body = self._body.body(self.row)
        return self._body

    @property
    def without_start(self) -> bool:
        """Whether nobody knows since when: the fact may only have held, as far as its start goes."""
        if isinstance(self._body, Reader) and self.row.valid_from != NEG_INF:
            return False
        return self.body.basis == "unknown"

    def told(self) -> Reading:
        """The same, with all that is read of the store by now: for a reading that is kept beyond its transaction."""
        if self.row.disputed:
            _ = self.body
        return self

    def turned_round(self) -> Reading:
        """The same read from the other side."""
        return Reading(self.row, self._body, self.predicate, not self.turned, self.flipped)


class Reader:
    """Reads of one snapshot; every method runs inside a transaction of the session."""

    def __init__(self, session: Session, snapshot: Snapshot) -> None:
        self.session = session
        self.snapshot = snapshot
        self.ledger: Ledger = session.ledger
        self.directory: Directory = session.directory
        self._rows: dict[str, FactRow] = {}
        self._bodies: dict[tuple[str, int], factrow.Body] = {}
        self.beside = Beside(snapshot, self._rows)
        self._entities: dict[tuple[int, int | None], Entity] = {}
        self._sets: dict[tuple[str, int, object], frozenset[str]] = {}
        self._lowering: dict[frozenset[str], tuple[list[str], list[float]]] = {}

    # -- rows

    def rows(self, **where: Any) -> list[FactRow]:
        """The facts as believed at the snapshot's moment that meet the conditions."""
        return self.beside.rows(**where)

    def rows_onto(self, number: int) -> list[FactRow]:
        """The facts of others about an entity that can be read from there too."""
        known = self.session.columns() if self.snapshot.known_at == POS_INF else None
        names = self.snapshot.registry.all_reading_back()
        if known is not None and names:
            names = names.intersection(() if names.isdisjoint(known.predicates) else known.names_onto(number))
        if not names:
            return []
        rows = self.rows(object=f"e{number}", predicate=one_of(names))
        return [row for row in rows if row.subject != number]

    def by_id(self, ids: Iterable[str]) -> dict[str, FactRow]:
        """Facts by id."""
        wanted = list(dict.fromkeys(ids))
        missing = [key for key in wanted if key not in self._rows]
        if missing:
            for row in self.rows(id=missing if len(missing) > 1 else missing[0]):
                self._rows[row.id] = row
        return {key: self._rows[key] for key in wanted if key in self._rows}

    def body(self, row: FactRow) -> factrow.Body:
        """The rest of a stored fact, with what stands beside it where nobody said how many values there can be."""
        version = (row.id, row.sys_from)
        found = self._bodies.get(version)
        if found is None:
            found = factrow.decode(row)
            believed = row.sys_from <= self.snapshot.known_at <= row.sys_to  # a past belief stands beside others
            unsure = row.disputed and not row.negative and believed
            if unsure and not self.snapshot.predicate(row.predicate).registered:
                found = found._replace(rivals=sorted([*found.rivals, *self.beside.rivals(row)]))
            self._bodies[version] = found
        return found

    def plain(self, row: FactRow) -> Reading:
        """The fact as it is stored."""
        return Reading(row, self.body(row), row.predicate, turned=False, flipped=False)

    def reading(self, row: FactRow, predicate: str, *, turned: bool = False, flipped: bool = False) -> list[Reading]:
        """The fact read through a name; through an opposite a negative fact may fall into several, or none."""
        if not flipped or not row.negative or (body := self.body(row)).opposite is None:
            return [Reading(row, self, predicate, turned, flipped)]
        return [Reading(r, b, predicate, turned, flipped) for r, b in self._opposite_parts(row, body)]

    def _opposite_parts(self, row: FactRow, body: factrow.Body) -> list[tuple[FactRow, factrow.Body]]:
        """The stretches in which a support of a negative fact is no explicit end, told by those supports alone."""
        parts: list[tuple[int, int, list[str]]] = []
        for claim, since, until in sorted(body.opposite or (), key=lambda span: (span[1], span[2], span[0])):
            if parts and since <= parts[-1][1]:
                start, end, told = parts[-1]
                parts[-1] = (start, max(end, until), told if claim in told else [*told, claim])
            else:
                parts.append((since, until, [claim]))
        made = []
        for start, end, ids in parts:
            if start == end:
                continue
            claims = self.ledger.fetch(ids)
            kept = [c for c in body.claims if c in claims]
            own_start, own_end = start == row.valid_from, end == row.valid_to
            made.append(
                (
                    row._replace(valid_from=start, valid_to=end),
                    body._replace(
                        start=body.start if own_start else self._stated(claims.values(), start),
                        end=None if end == POS_INF else body.end if own_end else exact(end),
                        end_reason=body.end_reason if own_end else "stated",
                        claims=kept,
                        possible=(body.possible[0] if own_start else start, body.possible[1] if own_end else end),
                        certain=(max(start, body.certain[0]), min(end, body.certain[1])),
                        base=base_confidence([claims[c] for c in kept]),
                        opposite=None,
                    ),
                )
            )
        return made

    def _stated(self, claims: Iterable[ClaimRow], start: int) -> Bound:
        for row in claims:
            if row.valid_from == start:
                return Bound.from_stored(start, row.valid_from_text)
        return exact(start)

    # -- facts

    def facts(self, readings: Sequence[Reading], instant: int | None, now: int | None = None) -> list[Fact]:
        """Fact objects, in the order given, as of an instant (None: as of none, with their status `now`)."""
        bodies = [r.body for r in readings]
        subjects = {r.row.subject for r in readings}
        wanted = {c for body in bodies for c in (*body.claims, *body.absorbed)}
        claims = self.ledger.fetch(wanted, subject=next(iter(subjects)) if len(subjects) == 1 else None)
        ends = subjects | {int(r.row.object[1:]) for r in readings if r.row.object[:1] == "e"}
        self.directory.prefetch_entities(ends | _ends(claims.values()))
        self.by_id(set(chain.from_iterable(map(rival_of, body.rivals) for body in bodies if body.rivals)))
        grounds = self._grounds(claims.values())
        now = self.session.now() if instant is None else instant
        return [
            self._fact(r, body, grounds, [claims[c] for c in body.claims if c in claims], instant, now)
            for r, body in zip(readings, bodies, strict=True)
        ]

    def _fact(
        self,
        r: Reading,
        body: factrow.Body,
        grounds: Grounds,
        supporting: list[ClaimRow],
        instant: int | None,
        now: int,
    ) -> Fact:
        row = r.row
        subject: Entity | Literal | None = self.entity(row.subject, instant)
        target = self.object_of(row.object, supporting[0] if supporting else None, instant)
        if r.turned:
            subject, target = target, subject
        disputed, status, confidence = self.standing(r, instant, now)
        told = (
            row.id,
            subject,
            r.predicate,
            target,
            body.start,
            body.end,
            body.basis,
            self._certain(row, body, instant),
            disputed,
            body.planned,
            bool(row.negative) != r.flipped,
            status,
            confidence,
            body.end_reason,
        )
        return late_fact(grounds, row, body, supporting, told)

    def _grounds(self, claims: Collection[ClaimRow]) -> Grounds:
        """What facts with these claims rest on, as known at the snapshot's moment."""
        withdrawn: dict[str, int] = {}
        if self.ledger.records.retractions:
            found = ((row.id, self._withdrawn(row.id)) for row in claims)
            withdrawn = {claim: recorded for claim, recorded in found if recorded is not None}
        because = {}
        if self.snapshot.justified:
            because = {row.id: tuple(map(tuple, self.snapshot.justifications(row.id) or ())) for row in claims}
        return Grounds({number: self.entity(number) for number in _ends(claims)}, withdrawn, because)

    def _withdrawn(self, claim: str) -> int | None:
        """When the claim was retracted, if it stands so."""
        known_at = self.snapshot.known_at
        marks = [m for m in self.ledger.records.retractions.get(claim, ()) if m.recorded_at <= known_at]
        return next((m.recorded_at for m in marks if m.ended_at > known_at or m.ended_at == POS_INF), None)

    def entity(self, number: int, instant: int | None = None) -> Entity:
        """The entity as it is called at an instant (None: last), one object for all that speak of it."""
        found = self._entities.get((number, instant))
        if found is None:
            found = self._entities[number, instant] = self.directory.entity(number, instant)
        return found

    def standing(self, r: Reading, instant: int | None, now: int) -> tuple[bool, str, float]:
        """Whether the fact is disputed at the instant (None: ever), its status, and how far it is believed."""
        row, body = r.row, r.body
        disputed = bool(body.rivals) and any(
            instant is None or since <= instant < until for _, since, until, _ in body.rivals
        )
        confidence = body.base if instant is None or not disputed else self._effective(row, body, instant)
        return disputed, self.status(row, body, now, disputed=disputed), confidence

    def object_of(self, ref: str, claim: ClaimRow | None, instant: int | None = None) -> Entity | Literal | None:
        """The object that a reference stands for, a literal as its earliest claim wrote it."""
        if ref.startswith("e"):
            return self.entity(int(ref[1:]), instant)
        if not ref or claim is None:
            return None
        return value_of(claim)

    def _certain(self, row: FactRow, body: factrow.Body, instant: int | None) -> bool:
        start, end = body.certain
        if instant is None:
            return body.basis != "unknown" and start < end
        return body.basis != "unknown" and row.valid_from <= instant < row.valid_to and start <= instant < end

    def _effective(self, row: FactRow, body: factrow.Body, instant: int) -> float:
        """The base, lowered once by each other member of the conflict sets at the instant."""
        if self.snapshot.predicate(row.predicate).registered:
            sets = [self._members(row, instant, side) for side in {side for side, _ in self._clashing(row, instant)}]
            members = sets[0] if len(sets) == 1 else frozenset[str]().union(*sets)
            keys, others = self._factors(members)
            place = bisect_left(keys, row.id)
            if keys[place : place + 1] == [row.id]:
                others = others[:place] + others[place + 1 :]
        else:  # only a value's own negation counts
            near = self.by_id(rival for rival, start, end, _ in body.rivals if start <= instant < end)
            others = [self._factor(other) for other in near.values() if other.negative != row.negative]
        return round(prod(others, start=body.base), 12)

    def _factor(self, row: FactRow) -> float:
        """By what a fact lowers the confidence of those that it contradicts."""
        return 1 - 0.3 * self.body(row).base

    def _factors(self, members: frozenset[str]) -> tuple[list[str], list[float]]:
        """The members of conflict sets in order, and by what each lowers the confidence of the others."""
        found = self._lowering.get(members)
        if found is None:
            rows = self.by_id(sorted(members))
            found = self._lowering[members] = (list(rows), [self._factor(row) for row in rows.values()])
        return found

    def _members(self, row: FactRow, instant: int, side: object) -> frozenset[str]:
        """The facts that conflicts at the instant over one fluent connect with this one, itself included."""
        found = self._sets.get((row.id, instant, side))
        if found is None:
            reached, waiting = {row.id}, [row]
            while waiting:
                near = [r for at, r in self._clashing(waiting.pop(), instant) if at == side and r not in reached]
                reached.update(near)
                waiting += self.by_id(near).values()
            found = frozenset(reached)
            self._sets.update({(key, instant, side): found for key in found})
        return found

    def _clashing(self, row: FactRow, instant: int) -> list[tuple[object, str]]:
        """The rivals of a fact at an instant, each after what tells the fluents apart that the two can dispute.

        That is on which end of the fact they meet; of a symmetric one, which may be kept either way, in what entity.
        """
        rivals = [(mirrored, r) for r, start, end, mirrored in self.body(row).rivals if start <= instant < end]
        if not self.snapshot.predicate(row.predicate).symmetric:
            return list[tuple[object, str]](rivals)
        rows = self.by_id(r for _, r in rivals)
        return [
            (place, r)
            for mirrored, r in rivals
            if r in rows
            for place in self._places(row, rows[r], instant, mirrored=mirrored)
        ]

    @staticmethod
    def status(row: FactRow, body: factrow.Body, instant: int, *, disputed: bool) -> str:
        """What a fact is at an instant, in one word."""
        if body.basis == "unknown":
            return "possible" if instant < row.valid_to else "ended"
        if instant < row.valid_from or (body.planned and instant < row.valid_to):
            return "planned"
        if instant < row.valid_to:
            return "conflicted" if disputed else "active"
        return {"superseded": "superseded", "refined": "superseded", "ttl": "expired", "suspended": "superseded"}.get(
            body.end_reason, "ended"
        )

    # -- claims

    def claim(self, row: ClaimRow) -> Claim:
        """The claim of a row."""
        return self._grounds([row]).claim(row)

    # -- conflicts

    def conflict_sets(
        self, rows: Iterable[FactRow], instant: int | None, window: tuple[int, int] | None = None
    ) -> list[ConflictSet]:
        """The conflict sets that the disputed facts stand in: at an instant, over a window, or ever."""
        disputes = self._disputes(rows, instant)
        if instant is None and window is not None:
            disputes = [d for d in disputes if d.start < window[1] and window[0] < d.end]
        found = self.by_id(member for d in disputes for member in d.members)
        sets = [self._conflict_set(d, found, instant) for d in disputes]
        sets.sort(key=lambda s: (s.since.instant, s.predicate, s.subject.label if s.subject else "", s.id))
        return sets

    def _disputes(self, rows: Iterable[FactRow], instant: int | None) -> list[Dispute]:
        seeds = {row.id: row for row in rows}
        self._rows.update(seeds)
        rivals = {key: self.body(row).rivals for key, row in seeds.items()}
        known = self.by_id({*seeds, *chain.from_iterable(map(rival_of, each) for each in rivals.values())})
        of_subject: dict[int, set[str]] = {}
        for row in known.values():
            of_subject.setdefault(row.subject, set()).add(row.id)
        places: dict[Place, dict[str, list[tuple[str, int, int, bool]]]] = {}
        for key, row in seeds.items():
            own = places.setdefault((False, row.subject, row.predicate, row.separators, ""), {})
            mine = rivals[key]
            plain = not self.snapshot.predicate(row.predicate).symmetric and not any(map(is_mirrored, mine))
            if plain and of_subject[row.subject].issuperset(map(rival_of, mine)):
                own[key] = mine
                continue
            for rival in mine:
                if (other := known.get(rival[0])) is not None:
                    for place in self._places(row, other, instant, mirrored=rival[3]):
                        places.setdefault(place, {}).setdefault(key, []).append(rival)
        found = ((place, both_ways(near)) for place, near in sorted(places.items(), key=itemgetter(0)))
        if instant is None:
            return [dispute for place, near in found for dispute in ever(place, near)]
        return [dispute for place, near in found for dispute in at_instant(place, near, instant)]

    def _places(self, row: FactRow, other: FactRow, instant: int | None, *, mirrored: bool) -> list[Place]:
        """The fluents in which two rivals dispute at an instant (None: ever): those of what they share."""
        if not self.snapshot.predicate(row.predicate).symmetric:
            if row.subject == other.subject and not mirrored:
                return [(False, row.subject, row.predicate, row.separators, "")]
            return [(True, 0, row.predicate, "", row.object)]
        shared = _ends([row]) & _ends([other])
        if len(shared) > 1:  # an edge and its negation: one dispute with what else is disputed at either end
            rivals = chain(self.body(row).rivals, self.body(other).rivals)
            near = self.by_id(r for r, start, end, _ in rivals if instant is None or start <= instant < end)
            met = [_ends([third]) & shared for third in near.values()]
            apart = {end for ends in met if len(ends) == 1 for end in ends}
            shared = apart or {row.subject if row.subject == other.subject else min(shared)}
        return [(False, end, row.predicate, row.separators, "") for end in sorted(shared)]

    def _conflict_set(self, d: Dispute, rows: dict[str, FactRow], instant: int | None) -> ConflictSet:
        readings = []
        for member in d.members:
            row = rows[member]
            turned = not d.mirrored and row.subject != d.subject
            readings.append(Reading(row, self.body(row), row.predicate, turned, flipped=False))
        facts = self.facts(readings, instant)
        facts.sort(key=lambda f: (f.valid_from.instant, f.label, f.id))
        ends = [f.valid_to for f in facts if f.valid_to is not None]
        claim = next(iter(self.ledger.fetch(readings[0].body.claims).values()), None)
        values = sorted(str(Value(rows[m].object, bool(rows[m].negative))) + str(rows[m].subject) for m in d.members)
        seed = json.dumps(
            [self.session.scope, d.mirrored, d.subject, d.predicate, d.separators, d.ref, values, d.start]
        )
        return ConflictSet(
            id=hashlib.blake2b(seed.encode(), digest_size=12).hexdigest(),
            subject=None if d.mirrored else self.directory.entity(d.subject, instant),
            predicate=d.predicate,
            object=self.object_of(d.ref, claim, instant) if d.mirrored else None,
            facts=tuple(facts),
            since=next((f.valid_from for f in facts if f.valid_from.instant == d.start), exact(d.start)),
            until=None if d.end == POS_INF else next((to for to in ends if to.instant == d.end), exact(d.end)),
        )


def _ends(rows: Iterable[ClaimRow | FactRow]) -> set[int]:
    """The entities that claims or facts speak of."""
    found = set()
    for row in rows:
        found.add(row.subject)
        if row.object[:1] == "e":
            found.add(int(row.object[1:]))
    return found
