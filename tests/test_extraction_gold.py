"""The sentence patterns and the gate on real text; `benchmarks/extraction.py` lists what they get wrong."""

from __future__ import annotations

import pytest

from benchmarks.extraction import over_abstracts, over_passages

pytestmark = pytest.mark.shared_data


def test_what_is_read_is_right(shared_data):
    score = over_abstracts(shared_data / "extraction_gold" / "redocred_dev.jsonl.gz")
    assert score.right >= 10
    assert score.precision >= 0.8, score.wrong  # all but two, which are true and were not marked


def test_opinions_and_commitments_are_mostly_kept_out(shared_data):
    score = over_passages(shared_data / "extraction_gold" / "mempalace_memory_extraction_en.jsonl")
    assert score.sentences == 34
    assert len(score.wrong) <= 12, score.wrong
