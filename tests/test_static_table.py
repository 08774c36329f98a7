"""The recipe of the default embedder's table, on a few texts and a teacher that is told what to think."""

from __future__ import annotations

import argparse
import importlib.util
import itertools
import json
import random
import sys
from pathlib import Path

import numpy as np
import pytest

from semgraph.embedding import default_embedder

SCRIPT = Path(__file__).resolve().parents[1] / "tools" / "static_table.py"
NOUNS = """  1 a line of the licence
00001740 03 n 02 entity 0 thing(a) 0 000 | that which is perceived; "it was full of rackets"; "a thing of beauty, this"
00002137 03 n 01 dog_house 0 000 | a shelter for dogs
"""


@pytest.fixture
def recipe():
    spec = importlib.util.spec_from_file_location("tools_static_table", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


@pytest.fixture
def options(tmp_path):
    (tmp_path / "data.noun").write_text(NOUNS)
    said = [[{"text": "hi"}], [{"text": "what did  you cook"}, {"text": "I cooked a stew today"}]]
    talks = {"b": {"messages": said, "prompt": "talk about food"}, "a": {"messages": [], "prompt": None}}
    (tmp_path / "dataset.json").write_text(json.dumps(talks))
    (tmp_path / "dumpavail").write_text("Package: x\nDescription: editor for plain text (common files)\n")
    return argparse.Namespace(
        wordnet=tmp_path, dialogues=tmp_path / "dataset.json", packages=tmp_path / "dumpavail", texts=100
    )


def test_sums_are_the_same_to_the_last_bit_however_they_are_made():
    table, rng = default_embedder(), np.random.default_rng(3)
    for most in (1, 17, 18, 60):
        bounds = np.concatenate([[0], np.cumsum(rng.integers(0, most, 300))])
        pieces = rng.integers(0, len(table), bounds[-1])
        rows = table._numbers[pieces].astype(np.float32) * table._scales[pieces, None]
        plain = [rows[start:end].sum(0) for start, end in itertools.pairwise(bounds)]
        assert np.allclose(table.summed(pieces, bounds), plain, rtol=1e-4, atol=1e-3)
        together = table.summed(pieces, bounds)
        for at in range(0, 300, 50):
            alone = table.summed(pieces[bounds[at] : bounds[at + 1]], np.array([0, bounds[at + 1] - bounds[at]]))
            assert np.array_equal(alone[0], together[at])


def test_the_texts_are_those_of_the_files_each_once_and_in_the_same_order_every_time(recipe, options):
    texts = recipe.chosen(options)
    assert texts == recipe.chosen(options)
    told = set(texts) - {"entity, thing: that which is perceived", "dog house: a shelter for dogs"}
    assert told == {
        "that which is perceived",
        "it was full of rackets",
        "a thing of beauty, this",
        "a shelter for dogs",
        "what did you cook",
        "I cooked a stew today",
        "hi what did you cook I cooked a stew today",
        "talk about food",
        "editor for plain text",
    }
    options.texts = 2
    assert recipe.chosen(options) == texts[:2]


def test_a_table_learns_which_texts_the_teacher_holds_for_near(recipe, monkeypatch, capsys):
    chance = random.Random(1)  # noqa: S311
    kinds = [["stew", "soup", "broth", "gravy"], ["car", "truck", "wagon", "bus"], ["oak", "elm", "birch", "fir"]]
    texts, rows = [], []
    for n in range(360):
        kind = n % 3
        texts.append(f"the {chance.choice(kinds[kind])} of {chance.choice(['Ann', 'Bo', 'Cy'])}")
        rows.append([float(kind == k) for k in range(3)])
    teacher = np.array(rows, np.float32)
    for name, number in {"HELD_OUT": 60, "SEEDS": 6, "NEAR": 8, "FAR": 30, "LOOKED_AT": 120}.items():
        monkeypatch.setattr(recipe, name, number)
    table = np.random.default_rng(3).normal(size=(len(default_embedder()), 16)).astype(np.float32)
    sums = recipe.Sums(texts)
    everything = np.arange(len(texts))

    def of_one_kind(own):
        rows, _ = recipe.unit(sums.of(everything, own)[0])
        cosines = rows @ rows.T
        np.fill_diagonal(cosines, -1)
        five = np.argsort(-cosines, axis=1)[:, :5]
        return (five % 3 == everything[:, None] % 3).mean()

    monkeypatch.setattr(recipe, "RATE", 0.03)
    learnt = recipe.fitted(table, sums, teacher, 200)
    assert of_one_kind(learnt) > 0.97
    assert capsys.readouterr().out.count("held-out texts") == 2
    unused = next(iter(default_embedder().pieces("zebra")))
    assert learnt[unused].tolist() == table[unused].tolist()


def test_a_table_begins_with_the_pieces_alone_and_less_of_what_is_everywhere(recipe, monkeypatch):
    monkeypatch.setattr(recipe, "DIMENSIONS", 2)
    sums = recipe.Sums(["the fox", "the hen", "the the fox"])
    the, fox, hen = (next(iter(default_embedder().pieces(word))) for word in ("the", "fox", "hen"))
    shares = sums.shares(len(default_embedder()))
    assert (shares[the], shares[fox], shares[hen]) == pytest.approx((1, 2 / 3, 1 / 3))
    pieces = np.zeros((len(shares), 3), np.float32)
    pieces[[the, fox, hen]] = [[3, 0, 0], [0, 3, 0], [0, 0, 3]]
    teacher = np.array([[0, 2, 0], [0, 0, 1], [0, 2, 0]], np.float32)  # nothing lies in the first direction
    table = recipe.first(pieces, sums, teacher)
    assert table.shape == (len(shares), 2)
    weight = recipe.RARE / (recipe.RARE + np.array([2 / 3, 1 / 3]))
    assert np.abs(table[[the, fox, hen]]) == pytest.approx(
        np.array([[0, 0], [3 * weight[0], 0], [0, 3 * weight[1]]]), abs=1e-6
    )


def test_a_rounded_table_is_the_table(recipe):
    table = np.random.default_rng(5).normal(size=(50, 8)).astype(np.float32)
    table[7] = 0
    numbers, scales = recipe.rounded(table)
    assert numbers.dtype == np.int8
    assert numbers * scales.astype(np.float32)[:, None] == pytest.approx(table, abs=0.03)


def test_it_is_told_how_alike_strangers_are_to_a_table(recipe):
    sums = recipe.Sums(["fox", "hen", "fox hen"])
    fox, hen = (next(iter(default_embedder().pieces(word))) for word in ("fox", "hen"))
    table = np.zeros((len(default_embedder()), 2), np.float32)
    table[[fox, hen]] = [[1, 0], [0, 2]]
    mean, most = recipe.unrelated(table, sums, 3)
    cosines = [0, 1 / np.sqrt(5), 2 / np.sqrt(5)]
    assert mean == pytest.approx(np.mean(cosines))
    assert most == pytest.approx(np.quantile(cosines, 0.99))


def test_the_table_that_ships_holds_strangers_for_strangers():
    mean, most = default_embedder().unrelated
    said = ["the fox ate a hen", "a new version of the compiler", "we fly to Lisbon in May", "his knee hurts again"]
    rows = default_embedder().encode(said)
    cosines = (rows @ rows.T)[np.triu_indices(len(said), 1)]
    assert 0 < mean < most < 0.5
    assert (cosines < most).all()
    one, other = default_embedder().encode(["the automobile needs new tires", "car repairs"])
    assert one @ other > most


def test_the_table_that_ships_is_small_and_has_a_row_for_each_word_piece():
    folder = SCRIPT.parents[1] / "semgraph" / "embedding"
    size = (folder / "static256.npz").stat().st_size + (folder / "vocab.txt").stat().st_size
    assert size < 10_000_000
    assert len(default_embedder()) == len((folder / "vocab.txt").read_text("utf-8").split("\n")[:30522])
