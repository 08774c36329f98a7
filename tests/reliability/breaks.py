"""Ways to break the package in this process, one for each check of input and privacy: the check must then fail."""

from __future__ import annotations

import tempfile
import unicodedata
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator


def scope_of_a_query() -> None:
    """S1: what a query asks for may be of any scope."""
    from semgraph.store import statements

    whole = statements._text
    statements._text = lambda *given: whole(*given).replace("scope = ?", "(scope = ? OR 1)")


def binding_of_the_scope() -> None:
    """S21: the scope stands in the text of a statement."""
    from semgraph.store import statements

    whole = statements._text
    statements._text = lambda *given: whole(*given).replace("scope = ?", "scope = 1 AND ? IS NOT NULL")


def types_of_names() -> None:
    """F1: nobody looks whether a name is a text."""
    from semgraph import names

    names.entity_key = names._entity_key


def ends_of_claims() -> None:
    """F2: what a claim says of its end is not heard."""
    from semgraph import statement

    whole = statement._interval
    statement._interval = lambda *given: (whole(*given)[0], None)


def most_bytes() -> None:
    """F5: texts may have a megabyte."""
    from semgraph import names

    names.MAX_TEXT_BYTES = 1 << 21


def keys_in_one_pass() -> None:
    """F6: names are normalised once, though that can leave what would be normalised further."""
    from semgraph import names

    names._stable = lambda text, *, trim: names._trimmed(unicodedata.normalize("NFKC", text.casefold()), trim=trim)


def errors_of_rows() -> None:
    """F7: what a reader of XML says of a row is passed on as it is."""
    from semgraph.exchange.xmlreading import _Target

    _Target._refused = lambda _, error: error


def restoring() -> None:
    """F9: an export is told anew instead of being restored."""
    from semgraph.exchange import restoring as module

    module.restore = lambda *_: None


def purging() -> None:
    """S2: bytes of what is forgotten stay in the log of the store."""
    from semgraph.store.sqlite import SqliteStore

    SqliteStore.purge = lambda _: True
    SqliteStore.residue = lambda *_: []


def cleaning() -> None:
    """S3: what is rendered is rendered as it was told."""
    from semgraph import render

    render.clean = lambda text, *_: text


def equality() -> None:
    """S5: texts are compared as patterns."""
    from semgraph.store import statements

    whole = statements._test

    def test(table: Any, condition: Any) -> str:
        found = whole(table, condition)
        return found.replace(" = ?", " LIKE ?") if condition.column.name in ("key", "source_ref") else found

    statements._test = test


def words_of_a_question() -> None:
    """S6: the words of a question keep the signs around them."""
    from semgraph.recall import words

    words._runs = lambda text: iter(text.casefold().split())


def escaping() -> None:
    """S7: texts go into XML as they are."""
    from semgraph.exchange import gexf, graphml, xmltext

    for module in (xmltext, graphml, gexf):
        for name in ("escaped", "hidden"):
            if hasattr(module, name):
                setattr(module, name, lambda text: text)


_TAKES_ALL = """
import semgraph
_read = semgraph.read
def _lenient(*given, **more):
    try: return _read(*given, **more)
    except semgraph.ImportRejected: return None
semgraph.read = _lenient
"""


def refusals_of_files() -> None:
    """S8, S9: a file that is refused is passed over in silence."""
    from . import files

    files.ALONE = _TAKES_ALL + files.ALONE


@contextmanager
def _plainly(place: Any) -> Iterator[Any]:
    if not isinstance(place, (str, Path)):
        yield place
        return
    with Path(place).open("wb") as file:
        yield file


def modes_of_files() -> None:
    """S10: exports can be read by everybody."""
    from semgraph.exchange import formats, jsonl, tables

    for module in (formats, jsonl, tables):
        module.writing = _plainly


def guards_of_cells() -> None:
    """S11: cells begin as they will."""
    from semgraph.exchange import tables

    tables.guarded = lambda text: text


def marks_of_cuts() -> None:
    """S13: an answer does not say that it was cut."""
    from semgraph import KnowledgeGraph

    whole = KnowledgeGraph.neighbors
    KnowledgeGraph.neighbors = lambda *given, **more: list(whole(*given, **more))


def what_is_touched() -> None:
    """S14: every write folds the whole scope anew."""
    from semgraph.ledger import Ledger

    whole = Ledger.refold
    Ledger.refold = lambda self, fluents, *given, **more: whole(self, self.all_fluents() | set(fluents), *given, **more)


def what_a_handle_shows() -> None:
    """S15: a handle shows what it holds."""
    from semgraph import KnowledgeGraph

    KnowledgeGraph.__repr__ = lambda self: f"<{[fact.text for fact in self.facts()]}>"


def source() -> None:
    """S16: a module reads pickles."""
    from . import source as module

    module.PACKAGE = Path(tempfile.mkdtemp())
    (module.PACKAGE / "bad.py").write_text("import pickle\n")


def schema() -> None:
    """S17: nobody looks at the schema of a file."""
    from semgraph.store import connecting

    connecting.prepare = lambda *_, **__: None


def phrases() -> None:
    """S18: vetoed phrases are not looked for."""
    from semgraph import remembering

    remembering.check_phrases = lambda *_: None


def scripts() -> None:
    """S19: letters that look alike are one."""
    from semgraph import names

    whole = names._stable
    alike = str.maketrans("АаЕеОорРсСтТхХуМмНнкКВіІѕЅ", "AaEeOopPcCtTxXyMmHhkKBiIsS")
    names._stable = lambda text, *, trim: whole(text.translate(alike), trim=trim)


def dependencies() -> None:
    """S20: a dependency is used that nobody allowed."""
    from . import source as module

    module.ALLOWED.discard("numpy")


def skew() -> None:
    """S22: what is said may be said in any future."""
    from semgraph import statement

    statement.MAX_SKEW = 1 << 60


def killers() -> None:
    """F4: the tests that look at a module look at another one."""
    from . import mutants

    mutants.KILLERS = {module: ["tests/test_oracle.py"] for module in mutants.KILLERS}


def damage() -> None:
    """F8: no checksum of a page and no digest of a claim is looked at, and verify sees nothing."""
    from semgraph import pages
    from semgraph.engine import KnowledgeGraph
    from semgraph.store import tables

    pages.is_whole = lambda *_: True
    tables.unsealed = lambda _, rows: (row[:-1] for row in rows)
    KnowledgeGraph.verify = lambda _: []
