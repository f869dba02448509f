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


@pytest.mark.parametrize("row", [row for row in simulation.TABLE if "leave-one-out" in row[1]], ids=lambda row: row[:2])
def test_leave_one_out_would_not(row):
    assert "not offered" in row[0]
    ((_, _, rate, _, _),) = simulation.rates(60 * (4 if row[3] else 1), [row])
    assert rate > 0.05


def test_the_table_in_docs_has_every_row_and_an_offered_test_keeps_its_level_there():
    lines = [line.strip("| ").split(" | ") for line in PATH.with_suffix(".md").read_text(encoding="utf-8").splitlines()]
    found = {
        tuple(cells[:2]): float(cells[2].split(" ± ")[0]) for cells in lines if len(cells) == 5 and "±" in cells[2]
    }
    assert list(found) == [row[:2] for row in simulation.TABLE]
    assert max(rate for (test, _), rate in found.items() if "not offered" not in test) <= 0.085
    # what the words of a comparison claim
    assert 0.045 < found["5×2cv, Alpaydin's F (default)", "learners, accuracy"] < 0.055
    assert 0.075 < found["5×2cv, Alpaydin's F (default)", "learners, AUC"] < 0.085


def test_the_table_is_the_same_again(capsys):
    rows = OFFERED[:2]
    assert list(simulation.rates(10, rows)) == list(simulation.rates(10, rows))
