"""Few draws of docs/type_one_error.py: no test that is offered finds differences too often where there are none."""

import importlib.util
import math
from pathlib import Path

import pytest

PATH = Path(__file__).parents[1] / "docs" / "type_one_error.py"
spec = importlib.util.spec_from_file_location("type_one_error", PATH)
simulation = importlib.util.module_from_spec(spec)
spec.loader.exec_module(simulation)

DRAWS = 60
OFFERED = [row for row in simulation.TABLE if "not offered" not in row[0] and not row[3]]
# what a learner's own variation adds
LOOSE = ("5×2cv", "DeLong within folds")


@pytest.mark.parametrize("row", OFFERED, ids=lambda row: f"{row[0]}, {row[1]}")
def test_offered_tests_keep_their_level(row):
    ((_, _, rate, _, count),) = simulation.rates(DRAWS, [row])
    level = 0.09 if row[0].startswith(LOOSE) else 0.055
    assert count == DRAWS
    assert rate <= level + 3 * math.sqrt(level * (1 - level) / DRAWS)


def test_a_paired_t_over_resamples_would_not():
    row = simulation.TABLE[-1]
    assert row[1] == "learners, 30 resamples"
    ((_, _, rate, _, _),) = simulation.rates(30, [row])
    assert rate > 0.25


def test_the_table_is_the_same_again(capsys):
    rows = OFFERED[:2]
    assert list(simulation.rates(10, rows)) == list(simulation.rates(10, rows))
