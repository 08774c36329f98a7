"""F4: hand-made mutants of the rules: the tests must kill nine of ten.

Each is a small change of the source, run against the tests of its module in a copy of the tree. Survivors are told by
name; those in `KNOWN` change nothing that can be seen, and say why.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from . import breaks
from .registry import Trial, check

ROOT = Path(__file__).resolve().parents[2]


class Mutant(NamedTuple):
    """One change: in which module, what is replaced by what."""

    module: str
    old: str
    new: str


#: The tests that must notice, by module.
KILLERS = {
    "fold.py": ["tests/test_fold.py", "tests/test_cases.py", "tests/test_invariants.py"],
    "names.py": ["tests/test_names.py"],
    "gate.py": ["tests/test_gate.py"],
    "store/statements.py": ["tests/test_store_sqlite.py", "tests/test_store.py", "tests/test_invariants.py"],
}
_FOLD = (
    ("if s.start < s.said < s.end and s.end_kind", "if s.start <= s.said < s.end and s.end_kind"),
    ('s.end_kind != "soft":\n            self.push', 's.end_kind == "soft":\n            self.push'),
    ("if s.end != POS_INF and (s.basis", "if s.end == POS_INF and (s.basis"),
    ("if d.rank < w.rank:\n            return 11", "if d.rank > w.rank:\n            return 11"),
    ("return (13 if d.bounded else 12), ground", "return (12 if d.bounded else 13), ground"),
    ("if not d.change and any(_outdates", "if d.change and any(_outdates"),
    ("return all(d.said >= s.said for s in w.supports if s.evidence > t)", "return True"),
    ("d.said >= s.said for s in w.supports if s.evidence > t", "d.said > s.said for s in w.supports if s.evidence > t"),
    ('if d.change:\n            return "g1"', 'if not d.change:\n            return "g1"'),
    ("if d.said - w.last_said > self.policy.window:", "if d.said - w.last_said >= 0:"),
    ("if d.said - w.last_said > self.policy.window:", "if False:"),
    ('d.source_class != "inferred" and d.said >= w.last_said', "d.said >= w.last_said"),
    ('if general and (newer or general == "g4"):', "if general:"),
    ('if self.policy.cardinality in ("once", "unregistered"):\n            return ""\n        if any', "if any"),
    ('if any(s.end_kind == "stated" and s.end > t for s in w.supports):\n            return ""\n', ""),
    ('return "g5" if d.bounded else ""', 'return ""'),
    ('return "g5" if d.bounded else ""', 'return "g5"'),
    ("if denied:\n            return True", "if denied:\n            return False"),
    ("return 6 if d.rank >= w.rank else 8", "return 8"),
    ("return ABSORBED if w.rank >= d.rank else 8", "return 8"),
    ('if d.source_class == "imported" or w.source_only("imported"):\n            return None\n', ""),
    ("if not d.change and (v in self.additive or w.value in self.additive):", "if v in self.additive:"),
    ('if answers and w.every("explicit_end"):', "if answers:"),
    ('if d.rank >= w.rank and all(s.end_kind == "soft"', 'if all(s.end_kind == "soft"'),
    ("w.suspended_by |= others", "pass"),
    (
        'w.start, w.start_bound, w.basis, w.opened = t, exact(t), "resumed", "resumed"',
        "w.start, w.start_bound = t, exact(t)",
    ),
    ("if w.start >= t:\n            return", "if w.start > t:\n            return"),
    ("if x is not c and x.rank <= c.rank and", "if x is not c and"),
    ("(x.evidence <= t or c.said > x.said)", "x.evidence <= t"),
    ("return d.start_bound.earliest >= latest", "return d.start_bound.earliest > latest"),
    ("return k.change and k.rank >= d.rank and", "return k.change and"),
    ("and k.said >= d.said and k.evidence > t", "and k.evidence > t"),
    ("if chain and chain[-1].end >= g.start:", "if chain and chain[-1].end > g.start:"),
    ('g.planned = g.basis == "stated" and latest[g.value] < g.start', "g.planned = False"),
    (
        'g.assumed = g.basis == "resumed" and all(s.said < g.start for s in g.claims())',
        'g.assumed = g.basis == "resumed"',
    ),
    ("again = max(k.end if", "again = min(k.end if"),
    ("if row in (8.5, 9):\n                self.close", "if row == 9:\n                self.close"),
    ('return "ended" if by.value.negative else reason', "return reason"),
    ("elif ground:\n                    self.close", "elif False:\n                    self.close"),
    ("elif row == 13:\n                self.suspend(w, d, t)", "elif row == 13:\n                pass"),
)  # fmt: skip
_NAMES = (
    ("if folded == text:\n            return folded\n        text = folded", "return folded"),
    (".casefold())", ".lower())"),
    (
        'unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text)',
        'unicodedata.normalize("NFC", unicodedata.normalize("NFC", text)',
    ),
    ('elif category == "Cf" and char != _ZWJ:', 'elif category == "Cf":'),
    ("if char in _APOSTROPHES:", "if False:"),
    ("elif char in _DASHES:", "elif False:"),
    ("elif char in _VARIATION:", "elif False:"),
    ('if "\\0" in text:', "if False:"),
    ("if len(text) > MAX_NAME:", "if len(text) >= MAX_NAME:"),
    ("if len(normalised) > MAX_NAME:", "if False:"),
    ("return _digest(key) if len(key) > MAX_NAME else key", "return key"),
    ("return _NOT_ADDED.isdisjoint(added)", "return True"),
    ('if not finer_key.startswith(f"{coarser_key} ") or', "if not finer_key.startswith(coarser_key) or"),
    ("or is_hashed_key(finer_key) or is_hashed_key(coarser_key):", "or False:"),
    ('left = f".{left}"', "pass"),
    ("> MAX_NAME or is_hashed_key(key) else key", "> MAX_NAME else key"),
    ("return any(len(_scripts(word)) > 1 for word", "return any(len(_scripts(word)) > 2 for word"),
    ("and (size := len(text.encode())) > MAX_TEXT_BYTES:", "and (size := len(text)) > MAX_TEXT_BYTES:"),
)  # fmt: skip
_GATE = (
    ("if not 0 <= number <= 1:", "if not 0 <= number:"),
    ("if isinstance(value, bool) or not isinstance(value, numbers.Real):", "if not isinstance(value, numbers.Real):"),
    ('return kind if kind in TRUST else "other"', 'return kind if kind in TRUST else "user"'),
    (".strip().casefold()\n\n\ndef trust_rank", ".strip()\n\n\ndef trust_rank"),
    ('"tool": 2, "imported": 1,', '"tool": 2, "imported": 2,'),
    ('"inferred": 0.60', '"inferred": 0.99'),
    ("if has_text and len(shown) < MIN_CHARACTERS:", "if has_text and len(shown) <= MIN_CHARACTERS:"),
    ("if words > MAX_WORDS:", "if words >= MAX_WORDS:"),
    ("return sum(1 + len(word) // _LONG_WORD for word in text.split())", "return len(text.split())"),
    ('if _before_colon(source or "") == "assistant":', "if False:"),
    ('if not (subject or "").strip():', "if False:"),
    ("if any(map(holds_secret, (sentence, *candidate.parts))):", "if holds_secret(sentence):"),
    ('strict=source_class(source or "") != "user"):', "strict=False):"),
    ("if not predicate_has_ttl and (found", "if (found"),
    ("if not dated and (found := _marker", "if (found := _marker"),
    ('if _pattern("question").search(candidate.masked):', "if False:"),
    ("if sensitive and not consent:", "if sensitive:"),
    ("if veto:\n", "if False:\n"),
    ("return outer.isalnum() and inner.isalnum()", "return False"),
    ("if any(map(has_markup, raws)) or any(map(gives_orders, texts)):", "if any(map(gives_orders, texts)):"),
    ("folded = fold_text(text.translate(_INVISIBLE))", "folded = fold_text(text)"),
    ("return any(edge + len(spelling) in edges and text.startswith", "return any(text.startswith"),
    ("or (symbols and _is_symbol(c)) else", "else"),
    ("if span and trimmed not in SELF_NAMES:", "if span:"),
)  # fmt: skip
_SCOPE = (
    (
        '["scope = ?", *(_test(table, condition) for condition in asked)]',
        '["scope >= ?", *(_test(table, condition) for condition in asked)]',
    ),
    (
        '["scope = ?", *(_test(table, condition) for condition in asked)]',
        '["(scope = ? OR 1)", *(_test(table, condition) for condition in asked)]',
    ),
    ("bound: list[Value] = [scope]", "bound: list[Value] = [1]"),
    (
        'return " AND ".join(f"{name} = ?" for name in definition(table).key)',
        'return " OR ".join(f"{name} = ?" for name in definition(table).key)',
    ),
)  # fmt: skip
MUTANTS = tuple(
    Mutant(module, old, new)
    for module, changes in (
        ("fold.py", _FOLD),
        ("names.py", _NAMES),
        ("gate.py", _GATE),
        ("store/statements.py", _SCOPE),
    )
    for old, new in changes
)
#: Survivors that no test can tell, and why.
KNOWN: dict[tuple[str, str], str] = {}


@check("F4", "mutants of the rules", ">= 90 % killed", c=1, n=len(MUTANTS), broken=breaks.killers)
def killed(trial: Trial) -> str:
    """At least nine of ten small changes of fold, names, gate and scope filter make a test fail."""
    tree = trial.folder / "tree"
    for name in ("semgraph", "tests", "benchmarks", "tools", "examples"):
        shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__", "reliability"))
    for name in ("pyproject.toml", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "NOTICE"):
        shutil.copy(ROOT / name, tree / name)
    pool = [m for m in MUTANTS if m.module in ("names.py", "gate.py")] if trial.tier == "C" else MUTANTS
    chosen = MUTANTS if trial.size >= len(MUTANTS) else trial.random.sample(pool, trial.size)
    for module in sorted({mutant.module for mutant in chosen}):
        assert _passes(tree, KILLERS[module]), f"the tests of {module} fail without any mutant"
    survivors = []
    for mutant in trial.along(chosen, len(chosen)):
        path = tree / "semgraph" / mutant.module
        whole = path.read_text(encoding="utf-8")
        assert mutant.old in whole, f"{mutant.module} has changed: {mutant.old!r} is not in it"
        path.write_text(whole.replace(mutant.old, mutant.new, 1), encoding="utf-8")
        if _passes(tree, KILLERS[mutant.module]) and mutant[:2] not in KNOWN:
            survivors.append(f"{mutant.module}: {mutant.old!r} -> {mutant.new!r}")
        path.write_text(whole, encoding="utf-8")
    dead = len(chosen) - len(survivors)
    assert dead >= 0.9 * len(chosen), "\n".join(survivors)
    figure = f"{dead} of {len(chosen)} killed"
    return f"{figure}; left: {'; '.join(survivors)}" if survivors else figure


def _passes(tree: Path, tests: list[str]) -> bool:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-x", "-n", "0", "-p", "no:randomly", "-p", "no:cacheprovider", *tests],
        cwd=tree, env=os.environ | {"PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1", "SEMGRAPH_EXAMPLES": ""},
        capture_output=True, text=True, check=False, timeout=600,
    )  # fmt: skip
    assert done.returncode in (0, 1, 2), done.stdout + done.stderr
    return done.returncode == 0
