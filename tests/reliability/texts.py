"""F5, F6, S5, S6, S7, S11, S18, S19: texts at their limits, in every script, and as attacks on what stores them."""

from __future__ import annotations

import csv
import io
import time
import unicodedata
from typing import TYPE_CHECKING, Any
from xml.parsers import expat

import networkx as nx
from graph_files import graph as plain_graph
from graph_files import taken, written
from histories import Clock, graph
from test_gate import PHRASES, variants

from semgraph import InputError, KnowledgeGraph, RejectedError, SemgraphError, entity_key
from semgraph.names import MAX_NAME, MAX_TEXT_BYTES, fold_text, literal_key
from semgraph.render import clean

from . import breaks
from .fuzz import text as random_text
from .registry import Trial, check

if TYPE_CHECKING:
    from collections.abc import Callable

KIB64, MIB = MAX_TEXT_BYTES, 1 << 20
#: Seconds in which a text that is too long must be refused.
SOON = 0.05
UNITS = {
    "a letter": "x", "two bytes": "é", "four bytes": "\N{GRINNING FACE}", "one that grows": "\ufdfa",
    "a mark": "\u0301",
    "lines": "a\r\n", "right to left": "\u05d0", "a joined emoji": "👩\u200d🚀", "unassigned": "\u0378",
    "a noncharacter": "\ufffe",
    "private": "\ue000", "bidi": "a\u202e", "spaces": "a ",
}  # fmt: skip
FORBIDDEN = {"bad_encoding": ("\ud800", "\udfff", "a\ud83dz"), "control_chars": ("\0", "a\0b")}
PLACES: dict[str, Callable[[KnowledgeGraph, str], Any]] = {
    "text": lambda kg, text: kg.add("Ann", "likes", "tea", text=text),
    "object": lambda kg, text: kg.add("Ann", "goal", text),
    "source_ref": lambda kg, text: kg.add("Ann", "likes", "tea", source_ref=text),
    "qualifier": lambda kg, text: kg.add("Ann", "likes", "tea", qualifiers={"why": text}),
    "remember": lambda kg, text: kg.remember(text, subject="Ann", predicate="likes", object="tea"),
}


@check("F5", "limits of text", "64 KiB taken, 1 MiB oversize in < 50 ms", c=1, n=5, broken=breaks.most_bytes)
def limits(trial: Trial) -> str:
    """Each kind of character at each place: what fits is kept as it was, what does not is refused, and soon.

    A round is every unit at every place at the limit, one over it and at 1 MiB. Times are held to from tier N on.
    """
    tried, slowest = 0, 0.0
    for _ in trial.steps():
        with graph() as kg:
            for place, put in PLACES.items():
                for unit in UNITS.values():
                    tried += _at_the_limit(kg, place, put, unit)
                    slowest = max(slowest, _beyond(kg, place, put, unit))
                for code, texts in FORBIDDEN.items():
                    for wrong in texts:
                        assert _code(lambda: put(kg, wrong)) == code, (place, wrong)  # noqa: B023
            assert entity_key("x" * MAX_NAME) == "x" * MAX_NAME
            assert _code(lambda: kg.add("x" * (MAX_NAME + 1), "likes", "tea")) == "oversize"
            assert kg.verify() == []
    assert trial.tier == "C" or slowest < SOON, f"a text of 1 MiB was refused after {slowest:.3f} s"
    return (
        f"{tried} texts of 64 KiB at {len(PLACES)} places as promised, 1 MiB refused in {slowest * 1000:.0f} ms at most"
    )


def _at_the_limit(kg: KnowledgeGraph, place: str, put: Callable[[KnowledgeGraph, str], Any], unit: str) -> int:
    fits = "x" * 5 + unit * ((KIB64 - 5) // len(unit.encode()))
    code = _code(lambda: put(kg, fits))
    wanted = ("", "too_long", "oversize") if place == "remember" else ("",)
    assert code in wanted, (place, ascii(unit), code)
    if place == "text":
        assert [c.text for c in kg.claims("Ann", "likes")].count(fits) == 1
    over = fits + "x" * (KIB64 - len(fits.encode()) + 1)
    assert _code(lambda: put(kg, over)) == "oversize", (place, ascii(unit))
    return 2


def _beyond(kg: KnowledgeGraph, place: str, put: Callable[[KnowledgeGraph, str], Any], unit: str) -> float:
    huge = unit * (MIB // len(unit.encode()))
    began = time.process_time()
    code = _code(lambda: put(kg, huge))
    took = time.process_time() - began
    assert code == "oversize", (place, ascii(unit), code)
    return took


def _code(call: Callable[[], Any]) -> str:
    """The code with which something is refused, empty where it is taken."""
    try:
        found = call()
    except RejectedError as refused:
        return refused.code
    receipts = found if isinstance(found, list) else [found]
    return next((receipt.code for receipt in receipts if receipt.code), "")


# -- F6

POINTS = (*range(1, 0xD800), *range(0xE000, 0x110000))


@check(
    "F6",
    "normalisation",
    "key(key(x)) = key(x) for all of Unicode",
    c=60_000,
    n=len(POINTS),
    broken=breaks.keys_in_one_pass,
)
def normalisation(trial: Trial) -> str:
    """Keys of keys are themselves, for every code point (a stride of them in tier C) and for pairs at random."""
    stride = max(1, len(POINTS) // trial.size)
    chosen = POINTS[trial.random.randrange(stride) :: stride]
    longest = 0
    for point in trial.along(chosen, len(chosen)):
        char = chr(point)
        folded = fold_text(char)
        longest = max(longest, len(folded))
        if folded != char:
            assert fold_text(folded) == folded, hex(point)
        _stable(f"a{char}b", hex(point))
    pairs = trial.size // 10
    for _ in range(pairs):
        text = "".join(chr(trial.random.choice(POINTS)) for _ in range(trial.random.choice((2, 2, 3, 6))))
        _stable(text, ascii(text))
    grown = "\ufdfa" * (MAX_NAME // 18 + 1)
    assert _code(lambda: graph().add(grown, "likes", "tea")) == "oversize", "limits apply after normalising"
    return f"{len(chosen):,} code points and {pairs:,} strings of them stable; one character grows to {longest} at most"


def _stable(text: str, shown: str) -> None:
    for key_of in (entity_key, literal_key):
        try:
            key = key_of(text)
        except SemgraphError:
            continue
        assert key_of(key) == key, shown


# -- S5, S6

META = (
    "'", '"', "''", "--", ";", "/*", "*/", "%", "_", "\\", "`", "[", "]", "(", ")", "?", ":x", "@p", "$1", "||", "=",
    "<", ">",
    "' OR '1'='1", "'); DROP TABLE claim; --", '"; ATTACH \'x\' AS y; --', "UNION SELECT sql FROM sqlite_master",
    "x' AND 1=1 --",
    "\\' OR 1 --", "*", "NULL", "0x27", "char(39)", "\u02bc", "\uff07", "e%_", "\n", "\t",
)  # fmt: skip


@check("S5", "SQL injection", "5,000 inputs, schema unchanged, taken literally", c=150, n=5_000, broken=breaks.equality)
def sql(trial: Trial) -> str:
    """Meta-characters in every text argument are the characters that they are.

    What was told comes back under exactly its text and under no other; `%` and `_` at the start of a name match
    themselves; the schema is what it was.
    """
    luck = trial.random
    path = trial.folder / "store.db"
    kg = graph(path, durability="relaxed", clock=Clock())
    before = _schema(kg)
    seen: dict[str, str] = {}
    for done in trial.steps():
        if done % 400 == 399:
            assert _schema(kg) == before
            kg.forget(everything=True)
            seen.clear()
        nasty = f"{luck.choice('abc')}{''.join(luck.choice(META) for _ in range(luck.randrange(1, 5)))}{done}"
        _told_literally(kg, nasty, seen)
        if done % 10 == 0:
            scope = kg.scoped(nasty)
            scope.add("Ann", "likes", "tea")
            assert scope.scope == nasty
            assert len(list(scope.claims())) == 1
            scope.forget(everything=True)
    assert _schema(kg) == before
    assert kg.verify() == []
    kg.close()
    return f"{trial.size} inputs, each in ten arguments: schema unchanged, all taken literally"


def _told_literally(kg: KnowledgeGraph, nasty: str, seen: dict[str, str]) -> None:
    told = {"source_ref": nasty, "text": nasty, "qualifiers": {"why": nasty}, "source": f"tool:{nasty}"}
    claim = kg.add(nasty, "states", f"it is {nasty} and nothing else at all, as told", **told).claim
    assert claim.text == claim.source_ref == claim.qualifiers["why"] == nasty
    assert [c.id for c in kg.claims(source_ref=nasty)] == [claim.id]
    assert [c.id for c in kg.claims(nasty)] == [claim.id]
    assert [f.subject.label for f in kg.facts(nasty, "states")] == [claim.subject.label]
    seen[entity_key(nasty)] = claim.subject.label
    prefix = nasty[:2]
    found = {e.label for e in kg.entities(prefix)}
    assert claim.subject.label in found
    assert all(entity_key(label).startswith(entity_key(prefix)) for label in found), (prefix, found)
    for call in (kg.recall, kg.ask):
        call(nasty)
    kg.match((nasty, "states", "?x"))
    assert kg.value("nobody at all", "states", nasty) == nasty


def _schema(kg: KnowledgeGraph) -> list[tuple[Any, ...]]:
    return kg._session.store._connection.execute("SELECT type, name, sql FROM sqlite_schema ORDER BY 1, 2").fetchall()


FTS = ('"{}"', "({}", "{})", "{}*", "^{}", "-{}", "+{}", '"{}', "{}:", "({} )", "`{}`", "'{}'", "[{}]", "{{{}}}", "~{}")
FTS_WORDS = (
    "AND",
    "OR",
    "NOT",
    "NEAR",
    "NEAR(tea, 5)",
    "col:tea",
    "it's",
    "a-b",
    '"',
    "(",
    "*",
    "MATCH",
    "rank:",
    "tea AND",
    "\x01",
)


@check(
    "S6",
    "full-text query syntax",
    "5,000 queries, 0 errors, operators are text",
    c=150,
    n=5_000,
    broken=breaks.words_of_a_question,
)
def queries(trial: Trial) -> str:
    """Whatever stands in a question, it is a question; what surrounds its words does not change what they find."""
    luck = trial.random
    words = ("tea", "stripe", "maya", "letter", "oslo", "guitar", "works")
    with graph() as kg:
        for n, word in enumerate(words):
            kg.add(f"Person {n}", "states", f"{word} is what the {words[n - 1]} of person {n} was about, they said")
        for done in trial.steps():
            chosen = luck.sample(words, 2)
            plain = " ".join(chosen)
            wrapped = " ".join(luck.choice(FTS).format(word) for word in chosen)
            assert _found(kg, wrapped) == _found(kg, plain), wrapped
            kg.recall(f"{luck.choice(FTS_WORDS)} {luck.choice(words)} {luck.choice(FTS_WORDS)}")
            if done % 3 == 0:
                for ask in (kg.recall, kg.ask):
                    try:
                        ask(random_text(luck))
                    except InputError:
                        continue
    return f"{2 * trial.size} queries, 0 errors, operators are text"


def _found(kg: KnowledgeGraph, question: str) -> list[str]:
    return [hit.fact.id for hit in kg.recall(question)]


# -- S7, S11


@check(
    "S7",
    "XML injection",
    "every export parses, every value comes back",
    c=20_000,
    n=len(POINTS),
    broken=breaks.escaping,
)
def xml(trial: Trial) -> str:
    """Names and values of every code point go through GraphML and GEXF, and are read by expat and networkx too.

    Chunks of 256 code points, with the ends of CDATA, entities and tags among them.
    """
    stride = max(1, len(POINTS) // trial.size)
    points = POINTS[trial.random.randrange(stride) :: stride]
    chunks = [points[n : n + 256] for n in range(0, len(points), 256)]
    for block in trial.along(range(0, len(chunks), 64), len(chunks)):
        values = [
            f"v{n} ]]> &xxe; <![CDATA[ --> {''.join(map(chr, chunk))} end"
            for n, chunk in enumerate(chunks[block : block + 64])
        ]
        with plain_graph() as kg:
            for n, value in enumerate(values):
                kg.add(f"n{n} <&\"']]>", "states", value)
            for kind in ("graphml", "gexf"):
                _comes_back(written(kg, kind), kind, values)
    return f"{len(points):,} code points in {len(chunks):,} values: all parse, all come back"


def _comes_back(data: bytes, kind: str, values: list[str]) -> None:
    expat.ParserCreate().Parse(data, True)  # noqa: FBT003 - the parser's own word for the end
    if kind == "graphml":
        assert nx.read_graphml(io.BytesIO(data)).number_of_edges() >= len(values)
    with plain_graph() as copy:
        taken(copy, data, kind)
        assert sorted(f.object.label for f in copy.during().facts(predicate="states")) == sorted(values)


FORMULAS = (
    "=1+1",
    "+1",
    "-1+2",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "  =1",
    "\u00a0=1",
    "＝1",
    "＋1",
    "－1",
    "＠x",
    "\u3000=x",
    "\n=1",
    "\u200b=1",
)
_STARTS = tuple("=+-@\t\r")


@check("S11", "CSV formulas", "no cell begins like a formula", c=400, n=5_000, broken=breaks.guards_of_cells)
def formulas(trial: Trial) -> str:
    """No cell of an export begins as a spreadsheet's formula does,
    not after blanks nor in full width; all come back."""
    luck, cells = trial.random, 0
    for _ in range(0, trial.size, 100):
        with plain_graph() as kg:
            texts = [f"{luck.choice(FORMULAS)}{luck.choice(('', 'HYPERLINK(1)', ' x', '|cmd'))}{n}" for n in range(100)]
            for n, value in enumerate(texts):
                kg.add(f"{value} s", "goal", value, source=f"tool:{value}", qualifiers={f"={n}": value})
            data = written(kg, "csv")
            for row in csv.reader(io.StringIO(data.decode("utf-8-sig"))):
                for cell in row:
                    cells += 1
                    assert not _like_a_formula(cell), cell
            with plain_graph() as copy:
                taken(copy, data, "csv")
                found = sorted(f.object.label for f in copy.during().facts(predicate="goal"))
                assert found == sorted(f.object.label for f in kg.during().facts(predicate="goal"))
    return f"{cells:,} cells, 0 like a formula; all values come back"


def _like_a_formula(cell: str) -> bool:
    """As a spreadsheet would take it: blanks, invisible characters and width do not count; numbers may have a sign."""
    if cell.startswith(("\t", "\r")):
        return True
    seen = unicodedata.normalize("NFKC", cell).lstrip().lstrip("\u200b\u200c\u200d\ufeff").lstrip()
    if not seen.startswith(_STARTS):
        return False
    try:
        float(seen)
    except ValueError:
        return True
    return False


# -- S18, S19


TOLD = {"subject": "Ann", "predicate": "works_on"}


@check("S18", "vetoes", "0 of 200 variants of a phrase stored", c=60, n=600, broken=breaks.phrases)
def vetoes(trial: Trial) -> str:
    """A vetoed phrase is stored by no way of telling, in no variant, and its bytes are nowhere in the file."""
    every = [(phrase, variant) for phrase in PHRASES for variant in variants(phrase)]
    chosen = every if trial.size >= len(every) else trial.random.sample(every, trial.size)
    path = trial.folder / "store.db"
    with graph(path, durability="relaxed") as kg:
        for phrase in PHRASES:
            kg.veto(phrase=phrase)
        for _, variant in trial.along(chosen, len(chosen)):
            said = f"We spoke about {variant} at length."
            ways: list[Callable[[], Any]] = [
                lambda: kg.add("Ann", "works_on", variant),  # noqa: B023
                lambda: kg.add("Ann", "states", said),  # noqa: B023
                lambda: kg.add("Ann", "likes", "tea", text=said),  # noqa: B023
                lambda: kg.add("Ann", "likes", "tea", qualifiers={"why": said}),  # noqa: B023
                lambda: kg.add_all([TOLD | {"object": variant}], on_reject="raise"),  # noqa: B023
                lambda: kg.add("Ann", "likes", "tea", source_ref=said),  # noqa: B023
                lambda: kg.names.declare(variant),  # noqa: B023
                lambda: kg.names.alias(variant, "Ann"),  # noqa: B023
                lambda: kg.remember(said, subject="Ann", predicate="states", object=said),  # noqa: B023
            ]
            for number, way in enumerate(ways):
                code = _code(way)
                assert code, (number, ascii(variant))
        assert list(kg.claims()) == []
        assert all(kept.content is None for kept in kg.rejected() if kept.code == "do_not_remember")
    return f"{len(chosen)} variants of {len(PHRASES)} phrases by 9 ways, 0 stored"


CONFUSABLE = {
    "A": "АΑ", "B": "ВΒ", "C": "СϹ", "E": "ЕΕ", "H": "НΗ", "I": "ІΙ", "K": "КΚ", "M": "МΜ", "N": "Ν", "O": "ОΟ",
    "P": "РΡ", "S": "Ѕ",
    "T": "ТΤ", "X": "ХΧ", "Y": "ΥҮ", "Z": "Ζ", "a": "аɑ", "c": "сϲ", "e": "еҽ", "i": "іι", "o": "оοօ", "p": "рρ",
    "s": "ѕ", "x": "хχ",
    "y": "уγ", "u": "υս", "n": "ո", "h": "һ", "j": "ј", "l": "ӏ", "r": "г", "t": "т", "k": "к", "m": "м",
}  # fmt: skip
BIDI = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c"
PEOPLE = ("Arttu", "Maya Chen", "Stripe", "Peter Hope", "Eric", "Oslo", "Toyota", "Paypal", "Microsoft", "Susan Pope")


@check("S19", "look-alike names", "no look-alike resolves, each is marked", c=100, n=2_000, broken=breaks.scripts)
def spoofing(trial: Trial) -> str:
    """A name with a letter of another script is somebody else, is shown as such, and bidi controls reach no output."""
    luck = trial.random
    with graph() as kg:
        for person in PEOPLE:
            kg.add(person, "knows", "Bo", valid_from="-inf")
        for done in trial.steps():
            person = luck.choice(PEOPLE)
            places = [n for n, char in enumerate(person) if char in CONFUSABLE]
            changed = luck.sample(places, luck.randrange(1, max(2, len(places) // 2)))
            fake = "".join(luck.choice(CONFUSABLE[c]) if n in changed else c for n, c in enumerate(person))
            assert fake not in kg
            assert kg.candidates(fake) == []
            assert kg.values(fake, "knows") == []
            if done % 10 == 0:
                with graph() as other:
                    hidden = f"{fake[:2]}{luck.choice(BIDI)}{fake[2:]}{luck.choice(BIDI)}"
                    other.add(hidden, "knows", "Bo", valid_from="-inf", text=hidden)
                    block = other.render(list(other.facts()))
                    assert not set(block) & set(BIDI), ascii(block)
                    if _mixed(fake):
                        assert "[letters of several scripts]" in block, ascii(block)
                    assert not set(clean(hidden)) & set(BIDI)
    return f"{trial.size} look-alikes of {len(PEOPLE)} names: 0 resolve, those of mixed script are marked"


def _mixed(name: str) -> bool:
    """Whether a word of the name has letters of two of the scripts here."""
    return any(len({unicodedata.name(c, "?").split()[0] for c in word if c.isalpha()}) > 1 for word in name.split())
