"""Parquet: a view as one table of facts with the names of their ends, for data frames; the only user of pyarrow."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any, Final

from semgraph.errors import MissingExtraError
from semgraph.exchange.graph import DETAILS, EDGE_COLUMNS, GraphRows

if TYPE_CHECKING:
    from semgraph.exchange.graph import Edge, Progress
    from semgraph.view import GraphView

__all__ = ["write_parquet"]

_ENDS: Final = ("subject_id", "subject", "object_id", "object", "object_kind")
_NUMBERS: Final = {"valid_from_us": "int64", "valid_to_us": "int64", "confidence": "float64"}
_GROUP: Final = 1 << 16  # rows


def write_parquet(view: GraphView, file: IO[bytes], progress: Progress | None = None) -> None:
    """A row for each fact: its ends by id and by name, `EDGE_COLUMNS` and details as JSON; what is open is null.

    Raises:
        MissingExtraError: pyarrow is not installed.
    """
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtraError("Parquet", "parquet") from None
    names = [*_ENDS, *EDGE_COLUMNS, DETAILS]
    schema = pa.schema([(name, getattr(pa, _NUMBERS.get(name, "string"))()) for name in names])
    rows = GraphRows(view, progress)
    waiting: list[tuple[Any, ...]] = []
    with pq.ParquetWriter(file, schema, compression="zstd") as writer:

        def flush() -> None:
            columns = zip(*waiting, strict=True) if waiting else [[] for _ in names]
            writer.write_table(pa.table(dict(zip(names, map(list, columns), strict=True)), schema=schema))
            waiting.clear()

        for chunk in rows.chunks():
            waiting += [_row(rows, edge) for edge in chunk]
            if len(waiting) >= _GROUP:
                flush()
        if waiting:
            flush()


def _row(rows: GraphRows, edge: Edge) -> tuple[Any, ...]:
    subject, target = rows.node(edge.subject), rows.node(edge.object)
    told = [value if value != "" else None for value in edge[2:]]
    return (subject.id, subject.label, target.id, target.label, target.kind, *told)
