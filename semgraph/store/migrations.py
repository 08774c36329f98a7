"""The schema of a SQLite store: numbered steps from nothing to now, and the check that a file has exactly that schema.

A step runs once per file, in order, all pending ones in one transaction; `user_version` is the last that ran. A new
file goes through the same steps, so an old file and a new one end alike.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import apsw

from semgraph.errors import SchemaTooOld, StoreCorrupt, StoreError, StoreReadOnly
from semgraph.store import interning
from semgraph.store.files import APPLICATION_ID, beside, too_new
from semgraph.store.schema import TABLES, ClaimRow, ScopeRow
from semgraph.store.shapes import RowType, columns, remembered

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

#: The oldest version that the steps below can still bring up to date.
OLDEST: Final = 1


class Migration(NamedTuple):
    """A step to `version`; `apply` runs inside the transaction of the whole migration and must not end it."""

    version: int
    apply: Callable[[apsw.Connection], None]


def first_schema(connection: apsw.Connection) -> None:
    """Create every table and index of `TABLES`."""
    for statement in create_statements():
        connection.execute(statement)


def create_statements() -> list[str]:
    """The statements that make the table of symbols, the tables of `TABLES` and their indexes."""
    statements = [*interning.CREATE]
    for table in TABLES:
        statements.append(_create_table(table))
        statements += index_statements(table).values()
    return statements


def index_statements(table: RowType) -> dict[str, str]:
    """The statement that makes each index of a table, by the name of the index."""
    definition, made = TABLES[table], {}
    for index in definition.indexes:
        kind = "UNIQUE INDEX" if index in definition.unique else "INDEX"
        some = f" WHERE {index[-1]} IS NOT NULL" if index in definition.partial else ""
        name = index_name(table, index)
        made[name] = f"CREATE {kind} {name} ON {definition.name} ({', '.join(index)}){some}"
    return made


def index_name(table: RowType, index: Sequence[str]) -> str:
    """The name of the index over these columns."""
    return "_by_".join((TABLES[table].name, "_".join(name for name in index if name != "scope")))


def prepare(
    connection: apsw.Connection,
    *,
    read_only: bool,
    back_up: Callable[[int], None] | None,
    migrations: Sequence[Migration] | None = None,
) -> None:
    """Bring the file to the newest version, or leave it untouched and raise; its schema is as expected afterwards.

    `back_up` is given the old version and writes a copy of the committed state, before any step on a file that had one.
    """
    steps = tuple(MIGRATIONS if migrations is None else migrations)
    version = _version_at_once(connection, steps)
    if version < steps[-1].version:
        if read_only:
            raise StoreReadOnly(_needs_writing(version))
        _migrate(connection, steps, back_up)
    if _schema(connection) != expected_schema(steps):
        raise StoreCorrupt(
            "the schema of the file is not that of a semgraph store: tables, indexes, views or triggers "
            "are missing, altered or foreign; the file was not changed"
        )


@remembered
def expected_schema(steps: tuple[Migration, ...]) -> dict[tuple[str, str, str], str | None]:
    """What the steps make of an empty database: the statement of each object by type, name and table."""
    connection = apsw.Connection(":memory:")
    try:
        for step in steps:
            step.apply(connection)
        return _schema(connection)
    finally:
        connection.close()


def newest_version() -> int:
    """The schema version that this semgraph writes."""
    return MIGRATIONS[-1].version


def _needs_writing(version: int) -> str:
    if version == 0:
        return "the file is empty: open it for writing once, then it is a store"
    return f"the store has the older schema version {version}: open it for writing once, which brings it up to date"


def _version_at_once(connection: apsw.Connection, steps: Sequence[Migration]) -> int:
    """The version, all of it read from one snapshot: another process may be making the file right now."""
    connection.execute("BEGIN")
    try:
        return _version(connection, steps)
    finally:
        connection.execute("ROLLBACK")


def _version(connection: apsw.Connection, steps: Sequence[Migration]) -> int:
    """The version of the file, 0 for an empty one; raises for a file that can't be brought up to date."""
    version: int = connection.pragma("user_version")
    application: int = connection.pragma("application_id")
    if application == 0 and version == 0 and not _schema(connection):
        return 0
    if application != APPLICATION_ID:
        raise StoreCorrupt("the file is not a semgraph store: another program's database, left untouched")
    if version > steps[-1].version:
        raise too_new(version, steps[-1].version)
    if version < OLDEST:
        raise SchemaTooOld(
            f"the store has schema version {version}, the oldest that this semgraph brings up to date is {OLDEST}; "
            "open it with an earlier semgraph and export it"
        )
    return version


def _migrate(connection: apsw.Connection, steps: Sequence[Migration], back_up: Callable[[int], None] | None) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Another process may have done it while this one waited for the lock.
        version = _version(connection, steps)
        pending = [step for step in steps if step.version > version]
        if version and pending and back_up is not None:
            back_up(version)
        for step in pending:
            step.apply(connection)
            connection.execute(f"PRAGMA user_version = {step.version:d}")
        if pending:
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID:d}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def backup_path(path: Path, version: int) -> Path:
    """A free name beside the store; an earlier copy is never overwritten."""
    for number in range(1, 1000):
        candidate = beside(path, f".v{version}.bak" if number == 1 else f".v{version}.{number}.bak")
        if not candidate.exists():
            return candidate
    raise StoreError(f"{str(path)!r} has a thousand copies from earlier migrations beside it; move them away first")


def _schema(connection: apsw.Connection) -> dict[tuple[str, str, str], str | None]:
    # Statistics (sqlite_stat1 and the like) only advise the planner, and people run ANALYZE.
    rows = connection.execute(
        "SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE name NOT GLOB 'sqlite_stat[0-9]'"
    )
    return {(kind, name, table): statement for kind, name, table, statement in rows}


def _create_table(table: RowType) -> str:
    definition = TABLES[table]
    if table is ScopeRow:  # a number is never used again, even when its scope is forgotten
        head = ["scope INTEGER PRIMARY KEY AUTOINCREMENT"]
        rest = [found for found in columns(table).values() if found.name != "scope"]
        tail = []
    else:
        head, rest = [], list(columns(table).values())
        tail = [] if definition.key in definition.unique else [f"PRIMARY KEY ({', '.join(definition.key)})"]
    middle = [f"{found.name} {found.sql_type}{'' if found.nullable else ' NOT NULL'}" for found in rest]
    if definition.sealed:
        middle.append("digest INTEGER NOT NULL")
    if table is ClaimRow:
        middle.append("mould INTEGER")
    layout = "STRICT" if definition.heap else "STRICT, WITHOUT ROWID"
    return f"CREATE TABLE {definition.name} ({', '.join(head + middle + tail)}) {layout}"


MIGRATIONS: Final[tuple[Migration, ...]] = (Migration(1, first_schema),)
