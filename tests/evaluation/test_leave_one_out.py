"""Bounds of the leave-one-out error as metrics of the inner loop."""

import json

import numpy as np
import pytest
from given import select

from seqkern.cli.main import main
from seqkern.core.errors import ConfigError, GramError, ParameterError
from seqkern.evaluation import Split
from seqkern.kernels import SalzbergKernel, SpectrumKernel
from seqkern.methods.crossval import evaluate_fold
from seqkern.methods.fitted import Search
from seqkern.methods.method import Method
from seqkern.sequences.labels import make_labels
from seqkern.sequences.sequence_set import as_sequences
from seqkern.solvers import CSVC, make_solver
from seqkern.solvers.costs import BOUNDS
from seqkern.study.study import Study

CANDIDATES = [("linear", {"solver": "csvc", "C": C}) for C in (0.01, 1.0, 100.0)]


def problem(n=40, share=0.5):
    """Return a matrix and labels of two overlapping classes."""
    rng = np.random.default_rng(7)
    positive = np.arange(n) < share * n
    points = rng.normal(size=(n, 4)) + 0.9 * positive[:, None]
    labels = make_labels([f"s{i}" for i in range(n)], np.where(positive, "site", "decoy").tolist(), positive="site")
    return points @ points.T, labels


def pair_of(K, calls):
    """Return the `pair` of a matrix; it counts its calls."""

    def pair(train, valid, y):
        calls.append((len(train), len(valid)))
        return K[np.ix_(train, train)], K[np.ix_(valid, train)]

    return pair


@pytest.mark.parametrize("metric", BOUNDS)
def test_each_candidate_is_fitted_once_to_all(metric):
    K, labels = problem()
    calls = []
    choice = select({"linear": pair_of(K, calls)}, labels, CANDIDATES, make_solver, metric=metric)
    assert calls == [(40, 0)]
    assert (choice.n_fits, choice.scores.shape) == (3, (3, 1))
    values = []
    for _, spec in CANDIDATES:
        values.append(CSVC(C=spec["C"]).fit(K, labels.signs()).leave_one_out(K, labels.signs()).value(metric))
    np.testing.assert_allclose(-choice.scores[:, 0], values)
    assert -choice.score == pytest.approx(min(values))


def test_decisions_are_those_of_the_span_rule():
    K, labels = problem()
    choice = select({"linear": pair_of(K, [])}, labels, CANDIDATES, make_solver, metric="span")
    solver = make_solver(choice.spec, "binary").fit(K, labels.signs())
    np.testing.assert_array_equal(choice.decisions, solver.leave_one_out(K, labels.signs()).decisions)


@pytest.mark.parametrize(
    "spec", [{"solver": "psvc"}, {"solver": "lssvc"}, {"solver": "weighted_threshold", "binary": "csvc"}]
)
def test_other_solvers_are_refused_before_the_kernel(spec):
    K, labels = problem()
    calls = []
    with pytest.raises(ParameterError, match="has no bound for the inner metric 'span'; choose csvc or nusvc"):
        select({"linear": pair_of(K, calls)}, labels, [{"solver": "csvc"}, spec], make_solver, metric="span")
    assert not calls


def test_several_classes_are_refused_before_the_kernel():
    calls = []
    labels = make_labels(list("abcdef"), list("xxyyzz"))
    with pytest.raises(ParameterError, match="for two classes, but the labels are multiclass"):
        select({"linear": pair_of(np.eye(6), calls)}, labels, CANDIDATES, make_solver, metric="span")
    assert not calls


def test_matrix_without_bound_is_refused(monkeypatch):
    K, labels = problem()
    monkeypatch.setattr("seqkern.solvers.svm.margins.span_squares", lambda K, alpha, cost: np.full(40, np.nan))
    with pytest.raises(GramError, match="not defined on this Gram matrix"):
        select({"linear": pair_of(K, [])}, labels, CANDIDATES, make_solver, metric="span")


def donors(n=24):
    """Return sequences and unequal labels."""
    rng = np.random.default_rng(3)
    positive = np.arange(n) % 3 == 0
    strings = ["".join(rng.choice([*"ACGT"], size=14)) + ("GTAAGT" if one else "") for one in positive]
    X = as_sequences(strings, "dna")
    return X, make_labels(X.ids, ["site" if one else "decoy" for one in positive], positive="site")


def test_method_makes_no_fold_even_for_the_threshold():
    X, labels = donors()
    method = Method(SpectrumKernel(3), "csvc:C=[0.1,10]", search=Search(metric="span"))
    assert method.inner_folds == 0
    assert method.inputs == {"spectrum": ("gram", False)}
    assert not method.accepts_rows
    fitted = method.fit(method.data(X, labels))
    assert fitted.inner.n == 2
    assert fitted.threshold is not None


def test_fits_have_the_bounds():
    X, labels = donors()
    split = Split("1", np.arange(16), np.arange(16, 24))
    method = Method(SpectrumKernel(3), "csvc:C=10")
    result = evaluate_fold(method, method.data(X, labels), split)
    assert all(result.fit[name] >= 0 for name in BOUNDS)
    other = Method(SpectrumKernel(3), "psvc")
    assert all(evaluate_fold(other, other.data(X, labels), split).fit.get(name) is None for name in BOUNDS)


def study(inner, solver="csvc"):
    """Return a configuration."""
    return {
        "study": "s",
        "datasets": {"d": {"simulate": {"kind": "donor"}}},
        "kernels": {"k": {"kernel": "spectrum", "k": 3}},
        "solvers": {"svm": {"solver": solver, "C": [1, 10]}},
        "inner": inner,
    }


@pytest.mark.parametrize(
    ("inner", "solver", "message"),
    [
        ({"metric": "span"}, "psvc", "solver 'svm' has no bound for the metric 'span'"),
        ({"metric": "span", "rule": "one_standard_error"}, "csvc", "rule has no effect"),
        ({"metric": "xi_alpha", "clusters": 3}, "csvc", "clusters has no effect"),
    ],
)
def test_study_refuses(inner, solver, message):
    with pytest.raises(ConfigError, match=message):
        Study.parse(study(inner, solver))


def test_check_knows_the_metric():
    checked = Study.parse(study({"metric": "span"})).checked_solvers("d")["svm"]
    assert (checked.inner_folds, checked.metric) == (0, "span")


def test_check_says_that_similar_samples_are_ignored(tmp_path, capsys):
    rng = np.random.default_rng(0)
    for name in ("pos", "neg"):
        strings = ["".join(rng.choice([*"ACGT"], 60)) for _ in range(6)]
        twins = [f"{s[:-1]}{'A' if s[-1] == 'C' else 'C'}" for s in strings]
        records = "".join(f">{name}{i}\n{s}\n" for i, s in enumerate(strings + twins))
        (tmp_path / f"{name}.fa").write_text(records)
    entry = {"fasta": {"positive": str(tmp_path / "pos.fa"), "negative": str(tmp_path / "neg.fa")}}
    assert main(["datasets", "--name", "d", "--entry", json.dumps(entry), "-o", str(tmp_path / "d")]) == 0
    assert main(["folds", str(tmp_path / "d"), "--k", "3", "-o", str(tmp_path / "folds")]) == 0

    def check(solver, metric):
        methods = json.dumps({"svm": {"solver": {"solver": solver}, "metric": metric}})
        return main(["check", str(tmp_path / "d"), "--folds", str(tmp_path / "folds"), "--methods", methods])

    capsys.readouterr()
    assert check("csvc", "span") == 0
    assert "inner metric 'span' leaves out one sample at a time" in capsys.readouterr().out
    assert check("csvc", "auc") == 0
    assert "leaves out" not in capsys.readouterr().out
    assert check("psvc", "span") != 0
    assert "has no bound for the inner metric 'span'" in capsys.readouterr().err


def test_train_by_the_span(tmp_path, capsys):
    prefix, model = str(tmp_path / "d"), str(tmp_path / "m.seqkern")
    main(["simulate", "donor", "-o", prefix, "--n-positive", "20", "--n-decoy", "40"])
    data = [f"{prefix}.fasta", "--labels", f"{prefix}.tsv", "--positive", "donor", "--kernel", "spectrum:k=2"]
    assert (
        main(["train", "--verbose", *data, "--solver", "csvc:C=0.1|1", "--search", "--metric", "span", "-o", model])
        == 0
    )
    out = capsys.readouterr().out
    assert "span estimate 0." in out
    assert "from one fit of each" in out
    assert "inner folds" not in out


def test_kernels_that_learn_are_refused_and_have_no_bounds():
    rng = np.random.default_rng(3)
    X = as_sequences(["".join(rng.choice([*"ACGT"], size=10)) for _ in range(24)], "dna")
    labels = make_labels(X.ids, ["site", "decoy"] * 12, positive="site")
    method = Method(SalzbergKernel(), "csvc:C=[1,10]", search=Search(metric="span"))
    with pytest.raises(ParameterError, match="'salzberg' learns from the training set"):
        method.check(labels)
    with pytest.raises(ParameterError, match="'salzberg' learns from the training set"):
        method.fit(method.data(X, labels))
    fixed = Method(SalzbergKernel(), "csvc:C=1")
    fit = evaluate_fold(fixed, fixed.data(X, labels), Split("1", np.arange(16), np.arange(16, 24))).fit
    assert all(fit.get(name) is None for name in BOUNDS)
    config = study({"metric": "span"}) | {"kernels": {"k": {"kernel": "salzberg"}}}
    with pytest.raises(ConfigError, match="learns from the training set"):
        Study.parse(config)
    with pytest.raises(ConfigError, match="kernel auto has kernels that learn"):
        Study.parse(config | {"kernels": {"k": {"kernel": "auto"}}})
