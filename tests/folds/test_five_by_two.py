"""The folds of 5×2cv, and Dietterich's and Alpaydin's tests against their formulas, naively."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from seqkern.cli.main import main
from seqkern.core.errors import FoldError, LabelError
from seqkern.evaluation import make_folds, read_folds
from seqkern.evaluation.single_task_tests import five_by_two_f, five_by_two_t
from seqkern.sequences.labels import Labels
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.study import Dataset, Task, save_dataset


def binary(y, **columns):
    return Labels([f"u{i}" for i in range(len(y))], np.asarray(y), "binary", ("no", "yes"), **columns)


def naive(differences):
    """The ten differences one by one, as in the two papers (and in mlxtend)."""
    variances, squares = [], []
    for a, b in differences:
        mean = (a + b) / 2
        variances.append((a - mean) ** 2 + (b - mean) ** 2)
        squares += [a**2, b**2]
    return differences[0][0] / math.sqrt(sum(variances) / 5), sum(squares) / (2 * sum(variances))


@settings(max_examples=40)
@given(st.lists(st.tuples(st.integers(-50, 50), st.integers(-50, 50)), min_size=5, max_size=5))
def test_statistics_are_those_of_the_papers(counts):
    differences = [(a / 100, b / 100) for a, b in counts]
    if all(a == b for a, b in counts):
        return
    t, f = naive(differences)
    assert five_by_two_t(differences).statistic == pytest.approx(t)
    assert five_by_two_f(differences).statistic == pytest.approx(f)
    assert five_by_two_f(differences).difference == pytest.approx(np.mean(differences))


def test_p_by_tables_of_quantiles():
    # t with 5 degrees of freedom: 2.571 at 5%; F with 10 and 5: 4.735 at 5%, 10.051 at 1%
    def with_t(value):
        rows = [[value, value - math.sqrt(2)], *[[1, 1 - math.sqrt(2)]] * 4]  # every variance is 1
        return five_by_two_t(rows)

    assert with_t(2.5706).p == pytest.approx(0.05, abs=1e-5)
    assert with_t(-2.5706).p == pytest.approx(0.05, abs=1e-5)
    for f, p in ((4.7351, 0.05), (10.0510, 0.01)):
        mean = math.sqrt((2 * 5 * 0.5 * f - 2.5) / 10)
        test = five_by_two_f([[mean - 0.5, mean + 0.5]] * 5)
        assert (test.statistic, test.p) == pytest.approx((f, p), abs=1e-5)


def test_methods_that_never_differ_or_always_alike():
    assert five_by_two_f(np.zeros((5, 2)))[1:] == (0, 1)
    assert five_by_two_t(np.zeros((5, 2)))[1:] == (0, 1)
    assert math.isnan(five_by_two_f(np.full((5, 2), 0.1)).p)
    assert math.isnan(five_by_two_t(np.full((5, 2), 0.1)).p)
    assert math.isnan(five_by_two_f([[0.1, math.nan], *[[0.1, 0.2]] * 4]).p)
    with pytest.raises(LabelError, match="five repeats"):
        five_by_two_f(np.zeros((5, 3)))


@settings(max_examples=40)
@given(st.integers(2, 20), st.integers(2, 20), st.integers(0, 5))
def test_halves_are_disjoint_stratified_and_differ(n_no, n_yes, seed):
    if min(n_no, n_yes) == 2 and max(n_no, n_yes) < 5:
        return
    labels = binary([0] * n_no + [1] * n_yes)
    found = make_folds(labels, method="five_by_two", seed=seed)
    assert [split.name for split in found] == [f"{r}.{h}" for r in range(1, 6) for h in (1, 2)]
    for first, second in zip(found.splits[::2], found.splits[1::2], strict=True):
        assert np.array_equal(first.train, second.test)
        assert np.array_equal(first.test, second.train)
        assert sorted([*first.test, *second.test]) == list(range(len(labels)))
        for code in (0, 1):
            counts = [int((labels.y[split.test] == code).sum()) for split in (first, second)]
            assert abs(counts[0] - counts[1]) <= 1
    assert len({frozenset({split.test.tobytes(), split.train.tobytes()}) for split in found}) == 5
    again = make_folds(labels, method="five_by_two", seed=seed)
    assert all(np.array_equal(a.test, b.test) for a, b in zip(found, again, strict=True))


def test_groups_stay_together_and_five_halvings_differ_though_no_two_are_of_one_size():
    sizes = range(2, 14)
    groups = np.repeat([f"g{i}" for i in sizes], list(sizes))
    labels = binary(np.arange(len(groups)) % 2, groups=groups)
    found = make_folds(labels, method="five_by_two", seed=1)
    for split in found:
        assert not set(groups[split.train]) & set(groups[split.test])
        assert 0.3 < len(split.test) / len(labels) < 0.7
    assert len({split.test.tobytes() for split in found}) == 10
    assert found.groups is not None


def test_linked_units_stay_together():
    labels = binary([0, 1] * 20)
    links = np.repeat(np.arange(20), 2)
    for split in make_folds(labels, method="five_by_two", links=links):
        assert not set(links[split.train]) & set(links[split.test])


@pytest.mark.parametrize("y", [[0, 1, 1, 1], [0, 0, 1, 1]])
def test_too_few_units_are_refused_with_a_remedy(y):
    with pytest.raises(FoldError, match=r"for 2 folds|five different halvings; choose"):
        make_folds(binary(y), method="five_by_two")


def test_the_command_writes_ten_splits(tmp_path, capsys):
    X = SequenceSet.from_strings([f"ACGT{'ACGT'[i % 4]}{'ACGT'[i // 4 % 4]}" for i in range(16)], alphabet="dna")
    labels = Labels(X.ids, np.arange(16) % 2, "binary", ("no", "yes"))
    save_dataset(Dataset("d", "sequences", X, {"all": Task("all", labels)}), tmp_path / "d")
    done = main(["folds", str(tmp_path / "d"), "--method", "five_by_two", "--seed", "3", "-o", str(tmp_path / "f")])
    assert done == 0
    assert "10 splits" in capsys.readouterr().out
    assert len(read_folds(tmp_path / "f/all.tsv", X.ids, labels)) == 10
    assert main(["folds", str(tmp_path / "d"), "--method", "five_by_two", "--k", "3", "-o", str(tmp_path / "g")]) == 1
    assert "option of fold method 'five_by_two' 'k'" in capsys.readouterr().err


def test_a_half_without_difference_is_a_half_as_any_other():
    table = [[0.0, 0.05], [0.02, 0.04], [0.06, 0.03], [0.04, 0.0], [0.05, 0.04]]
    t_value, f_value = naive(table)
    assert five_by_two_t(table).statistic == t_value == 0
    assert five_by_two_t(table).p == 1
    table[0][0] = 0.08
    t_value, f_value = naive(table)
    found_t, found_f = five_by_two_t(table), five_by_two_f(table)
    assert (found_t.statistic, found_f.statistic) == pytest.approx((t_value, f_value))
    assert found_t.p == pytest.approx(2 * stats.t.sf(t_value, 5))
    assert found_f.p == pytest.approx(stats.f.sf(f_value, 10, 5))
