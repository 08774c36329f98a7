"""What questions of real people ask of time; `benchmarks/questions.py` prints the figures, and those of `ask`."""

from __future__ import annotations

import pytest

from benchmarks.questions import over_intents

pytestmark = pytest.mark.shared_data


@pytest.mark.parametrize("parity", [0, 1])
def test_signal_and_kind_are_read(shared_data, parity):
    found = over_intents(shared_data, parity)
    assert set(found) == {"timequestions", "tiq", "tempqa_wd"}
    for name, counts in found.items():
        assert counts["signal"] >= 0.8 * counts["all"], name
        assert counts["kind"] >= 0.9 * counts["all"], name
