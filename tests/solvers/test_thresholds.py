"""The threshold chosen by what errors cost: against all thresholds tried one by one, and its place in a model."""

import csv
import io

import numpy as np
import pytest

from seqkern.cli.main import main
from seqkern.core.errors import LabelError, ParameterError
from seqkern.evaluation.metrics import accuracy, balanced_accuracy, matthews_correlation
from seqkern.methods.loading import load_model
from seqkern.solvers.thresholds import Threshold, parse_rule


def toys(seed, n=40):
    rng = np.random.default_rng(seed)
    positive = np.arange(n) < n // 3
    return rng.normal(positive * 1.5, 1).round(1), positive


def reached(decisions, positive, value):
    """Return how many positives are found and how many negatives are left, by definition."""
    return np.sum(decisions[positive] > value), np.sum(decisions[~positive] <= value)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("share", [0.01, 0.5, 0.9, 0.95, 1.0])
def test_shares(seed, share):
    decisions, positive = toys(seed)
    every = [reached(decisions, positive, value) for value in np.arange(-9.05, 9, 0.1)]
    found = Threshold.fit(decisions, positive, f"sensitivity={share}")
    best = max(left for hit, left in every if hit >= share * positive.sum() - 1e-9)
    assert reached(decisions, positive, found.value)[1] == best
    assert found.sensitivity >= share - 1e-12
    assert found.specificity == pytest.approx(best / (~positive).sum())
    found = Threshold.fit(decisions, positive, f"specificity={share}")
    best = max(hit for hit, left in every if left >= share * (~positive).sum() - 1e-9)
    assert reached(decisions, positive, found.value)[0] == best
    assert found.sensitivity == pytest.approx(best / positive.sum())


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("cost", [(1, 1), (1, 5), (10, 1), (0.001, 1), (1, 0.001)])
def test_costs(seed, cost):
    decisions, positive = toys(seed)

    def total(value):
        hit, left = reached(decisions, positive, value)
        return cost[0] * ((~positive).sum() - left) + cost[1] * (positive.sum() - hit)

    found = Threshold.fit(decisions, positive, f"cost={cost[0]}:{cost[1]}")
    assert total(found.value) == pytest.approx(min(total(value) for value in np.arange(-9.05, 9, 0.1)))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(
    ("rule", "metric"),
    [("balanced_accuracy", balanced_accuracy), ("accuracy", accuracy), ("mcc", matthews_correlation)],
)
def test_scores(seed, rule, metric):
    decisions, positive = toys(seed)
    found = Threshold.fit(decisions, positive, rule)
    every = [metric(positive, decisions > value) for value in np.arange(-9.05, 9, 0.1)]
    assert metric(positive, decisions > found.value) == pytest.approx(max(every))


@pytest.mark.parametrize("scale", [1e308, 5e-324])
def test_decisions_of_any_size(scale):
    positive = np.array([True, False])
    for rule in ("specificity=0.9", "sensitivity=1", "cost=1:1", "balanced_accuracy", "mcc"):
        found = Threshold.fit(np.array([scale, -scale]), positive, rule)
        assert -scale <= found.value < scale
        assert (found.sensitivity, found.specificity) == (1, 1)


def test_equal_decisions():
    found = Threshold.fit(np.zeros(4), np.array([True, False, False, False]), "sensitivity=1")
    assert found.value < 0
    assert (found.sensitivity, found.specificity) == (1, 0)
    found = Threshold.fit(np.zeros(4), np.array([True, False, False, False]), "cost=1:1")
    assert (found.value, found.sensitivity) == (0, 0)


@pytest.mark.parametrize(
    "rule",
    ["", "recall=0.9", "sensitivity=0", "sensitivity=1.5", "specificity=x", "cost=1", "cost=1:0", "cost=1:1e999", 3],
)
def test_bad_rules(rule):
    with pytest.raises(ParameterError, match="threshold"):
        parse_rule(rule)


def test_one_class():
    with pytest.raises(LabelError, match="only one class"):
        Threshold.fit(np.arange(3.0), np.ones(3, dtype=bool), "cost=1:1")


def test_a_model_decides_by_it(tmp_path, monkeypatch, capsys):
    rng = np.random.default_rng(3)
    for name, letters in (("yes", "AACGT"), ("no", "ACCGT")):
        records = ["".join(rng.choice(list(letters), 30)) for _ in range(40)]
        (tmp_path / f"{name}.fa").write_text("".join(f">{name}{i}\n{text}\n" for i, text in enumerate(records)))
    monkeypatch.chdir(tmp_path)
    train = ("train", "--verbose", "yes.fa", "no.fa", "--kernel", "spectrum:k=1", "--solver", "csvc:C=1", "-o", "m")
    assert main([*train, "--threshold", "sensitivity=0.99"]) == 0
    assert "threshold" in capsys.readouterr().out
    model = load_model("m")
    assert model.threshold.sensitivity >= 0.99
    assert model.threshold.value < 0
    assert main(["predict", "m", "yes.fa"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out), delimiter="\t"))
    assert [row["predicted"] == "yes" for row in rows] == [
        float(row["decision"]) > model.threshold.value for row in rows
    ]
    assert main([*train, "--threshold", "recall=1"]) == 1
    assert "threshold 'recall=1' is not possible; write balanced_accuracy, accuracy, mcc, s" in capsys.readouterr().err
