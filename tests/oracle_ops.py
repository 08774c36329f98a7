"""The operations of the reference model on names, and forgetting."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from oracle_model import Alias, Outcome, Redirect, Refused, Value

from semgraph.names import entity_key, is_self
from semgraph.temporal import NEG_INF, POS_INF, Bound

if TYPE_CHECKING:
    from collections.abc import Iterable

    from oracle import Oracle


class Naming:
    """Mixed into Oracle, so that each file stays readable."""

    # names

    def entity(
        self: Oracle, name: str, *, label: str | None = None, from_: Any = None, to: Any = None, at: Any = None
    ) -> Outcome:
        """Declare an entity, made if absent."""

        def work(recorded: int) -> Outcome:
            self._check_veto([name, label], (), "")
            primary = label if label is not None else name
            key = entity_key(primary)
            if is_self(key):
                found = self.names.write(primary, recorded, recorded)
            else:
                rows = [a.entity for a in self.names.aliases if a.key == key and a.kind == "primary"]
                found = rows[0] if rows else self.names.make(primary, recorded)
            self.names.nodes[found].declared.append(recorded)
            if entity_key(name) != key and not any(
                a.entity == found and a.key == entity_key(name) for a in self.names.aliases
            ):
                start, end = self._bounds(from_, to, None)
                self.names.add(name, found, recorded, start=_from(start), end=_to(end))
            return Outcome("NEW")

        return self._run(at, work)

    def alias(
        self: Oracle, name: str, entity: str, *, from_: Any = None, to: Any = None, primary: bool = False,
        homonym: bool = False, at: Any = None,
    ) -> Outcome:  # fmt: skip
        def work(recorded: int) -> Outcome:
            self._check_veto([name, entity], (), "")
            start, end = self._bounds(from_, to, None)
            target = self.names.write(entity, moment(start, recorded), recorded)
            others = [a for a in self.names.aliases if a.key == entity_key(name)]
            if not homonym and any(self.names.final(a.entity) != self.names.final(target) for a in others):
                raise Refused("ambiguous_name")
            kind = "primary" if primary else "alias"
            self.names.aliases.append(Alias(entity_key(name), name, target, _from(start), _to(end), recorded, kind))
            return Outcome("NEW")

        return self._run(at, work)

    def merge(self: Oracle, src: str, dst: str, *, at: Any = None) -> Outcome:
        def work(recorded: int) -> Outcome:
            ends = [self._known(src), self._known(dst)]
            a, b = self.names.final(ends[0]), ends[1]
            if a == self.names.final(b):
                if a in self.names.raw(src):  # the one that the other was merged into: a cycle
                    raise Refused("one_already")
                return Outcome("IDEMPOTENT")
            self.names.redirects.append(Redirect(a, b, recorded))
            return Outcome("UPDATE")

        return self._run(at, work)

    def unmerge(self: Oracle, src: str, *, at: Any = None) -> Outcome:
        def work(recorded: int) -> Outcome:
            raw = self.names.raw(src)
            live = [r for r in self.names.redirects if r.src in raw and r.ended == POS_INF]
            if not live:
                raise Refused("not_found")
            live[0].ended = recorded
            return Outcome("UPDATE")

        return self._run(at, work)

    def _known(self: Oracle, name: str) -> int:
        raw = self.names.raw(name)
        if not raw:
            raise Refused("not_found")
        if len({self.names.final(e) for e in raw}) > 1:
            raise Refused("ambiguous_entity")
        return raw[0]

    # forgetting

    def forget(
        self: Oracle, *, claims: Iterable[str] | None = None, entity: str | None = None, ref: str | None = None,
        at: Any = None,
    ) -> Outcome:  # fmt: skip
        """Remove claims, all of an entity, all of a source document, or the whole scope; what rests on it goes too."""

        def work(recorded: int) -> Outcome:
            self.last = recorded
            if claims is None and entity is None and ref is None:
                last = self.last
                self._reset()
                self.last = last
                return Outcome("UPDATE")
            gone = set(claims or ())
            dead: set[int] = set()
            if entity is not None:
                final = self.names.final(self._known(entity))
                dead = {e for e in self.names.nodes if self.names.final(e) == final}
            for claim in self.claims.values():
                touched = claim.subject in dead or (claim.object and claim.object[0] == "e" and claim.object[1] in dead)
                if touched or (ref is not None and claim.ref == ref):
                    gone.add(claim.id)
            self._remove(gone, dead)
            return Outcome("UPDATE")

        return self._run(at, work)

    def _remove(self: Oracle, gone: set[str], dead: set[int]) -> None:
        touched = set(dead)
        while gone:
            for claim in [self.claims.pop(i) for i in gone if i in self.claims]:
                touched |= {claim.subject, *([claim.object[1]] if claim.object and claim.object[0] == "e" else [])}
            for claim in self.claims.values():
                claim.standing = [(r, j) for r, j in claim.standing if j is None or not j & gone]
            gone = {c.id for c in self.claims.values() if not c.standing}
        used = {c.subject for c in self.claims.values()}
        used |= {c.object[1] for c in self.claims.values() if c.object and c.object[0] == "e"}
        used |= {e for r in self.names.redirects for e in (r.src, r.dst)} - dead
        told = {a.entity for a in self.names.aliases if a.kind == "alias"} | {
            n.id for n in self.names.nodes.values() if n.declared
        }
        lost = dead | (touched - used - told - {self.names.self_id or 0})
        self.names.aliases = [a for a in self.names.aliases if a.entity not in lost]
        self.names.redirects = [r for r in self.names.redirects if not {r.src, r.dst} & lost]
        self.names.nodes = {i: n for i, n in self.names.nodes.items() if i not in lost}
        self.compat = [row for row in self.compat if row[1] not in lost and not _mentions(row[3:], lost)]
        if self.names.self_id in lost:
            self.names.self_id = None


def _mentions(values: Iterable[Value], lost: set[int]) -> bool:
    return any(v[1] is not None and v[1][0] == "e" and v[1][1] in lost for v in values)


def moment(start: Bound | None, said: int) -> int:
    """When a name is to be read: at the claim's start, at the saying if it has none."""
    return said if start is None or start.precision in ("unknown", "always") else start.instant


def _from(start: Bound | None) -> int:
    return NEG_INF if start is None or start.precision in ("unknown", "always") else start.instant


def _to(end: Bound | None) -> int:
    return POS_INF if end is None else end.instant


def start_of(start: Bound | None, said: int, bare: str) -> tuple[str, int, int, int]:
    """Basis, instant and window of a start."""
    if start is None:
        return ("observed", said, said, said) if bare == "observed" else ("always", NEG_INF, NEG_INF, NEG_INF)
    if start.precision == "unknown":
        return ("unknown", NEG_INF, NEG_INF, POS_INF)
    if start.precision == "always":
        return ("always", NEG_INF, NEG_INF, NEG_INF)
    return ("stated", start.instant, start.earliest, start.before)
