"""Platt's probabilities: the fit against other implementations, held-out decisions only, and their place in a model."""

import csv
import io
import json
import math
from dataclasses import asdict

import numpy as np
import pytest
from given import held_out_decisions
from scipy.optimize import minimize

from seqkern.cli.main import main
from seqkern.core.archive import load_archive, save_archive
from seqkern.core.errors import FoldError, LabelError, ModelError
from seqkern.evaluation.calibration import (
    IsotonicCalibration,
    SigmoidCalibration,
    calibration_from_record,
    fit_sigmoid,
    sigmoid,
)
from seqkern.evaluation.held_out import fit_postprocessing
from seqkern.gram.transforms import build_transform
from seqkern.kernels import build_kernel
from seqkern.methods.loading import load_model
from seqkern.methods.training import train_model
from seqkern.sequences.labels import make_labels
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.solvers import build_solver, expand_grid, make_solver


def decisions(n=300, seed=0, share=0.3, noise=1.0):
    """Return noisy decision values and whether each unit is positive."""
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < share
    return rng.normal(np.where(positive, 0.7, -0.9), noise), positive


def targets(positive):
    """Return the targets of Lin, Lin & Weng."""
    plus, minus = positive.sum(), (~positive).sum()
    return np.where(positive, (plus + 1) / (plus + 2), 1 / (minus + 2))


def log_loss(point, f, wanted):
    z = point[0] * f + point[1]
    return np.sum(wanted * z + np.logaddexp(0, -z))


# ---- the fit ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("scale", [1e-3, 1, 1e4])
def test_the_sigmoid_of_scikit_learn(seed, scale):
    """scikit-learn 1.x fits the same likelihood with the same targets, by L-BFGS."""
    calibration = pytest.importorskip("sklearn.calibration")
    f, positive = decisions(seed=seed, share=0.1 + 0.2 * seed)
    f = f * scale
    slope, intercept = fit_sigmoid(f, positive)
    theirs = calibration._SigmoidCalibration().fit(f, positive.astype(int))
    np.testing.assert_allclose(sigmoid(slope * f + intercept), theirs.predict(f), atol=1e-5)
    assert log_loss((slope, intercept), f, targets(positive)) <= log_loss(
        (theirs.a_, theirs.b_), f, targets(positive)
    ) * (1 + 1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_nothing_is_more_likely(seed):
    f, positive = decisions(seed=seed, n=40 + 100 * seed)
    slope, intercept = fit_sigmoid(f, positive)
    best = minimize(log_loss, (0, 0), (f, targets(positive)), method="BFGS", options={"gtol": 1e-9})
    np.testing.assert_allclose([slope, intercept], best.x, rtol=1e-6)
    p, wanted = sigmoid(slope * f + intercept), targets(positive)
    assert abs(np.sum(wanted - p)) < 1e-8  # the mean probability is the mean target
    assert abs(np.sum((wanted - p) * f)) < 1e-8


def test_probabilities_rise_with_the_decision_and_never_overflow():
    calibration = SigmoidCalibration(*fit_sigmoid(*decisions()), 5, 300)
    values = np.concatenate([[-1e300, -1e6], np.linspace(-50, 50, 1001), [1e6, 1e300]])
    p = calibration.probabilities(values)
    assert np.all(np.diff(p) >= 0)
    assert np.all(np.diff(p[400:600]) > 0)
    assert p[0] == 0
    assert p[-1] == 1
    assert calibration.probabilities(np.zeros(0)).shape == (0,)


def test_probabilities_are_those_of_the_simulation():
    """Decisions drawn so that the truth is a sigmoid give that sigmoid back."""
    rng = np.random.default_rng(1)
    f = rng.normal(0, 2, 200_000)
    slope, intercept = fit_sigmoid(f, rng.random(len(f)) < 1 / (1 + np.exp(-1.7 * f + 0.4)))
    assert slope == pytest.approx(-1.7, abs=0.03)
    assert intercept == pytest.approx(0.4, abs=0.03)


@pytest.mark.parametrize(("n_positive", "n_negative"), [(1, 1), (3, 50), (20, 20)])
def test_separable_decisions_stay_finite(n_positive, n_negative):
    f = np.concatenate([np.full(n_positive, 1.0), np.full(n_negative, -1.0)])
    slope, intercept = fit_sigmoid(f, f > 0)
    p = sigmoid(slope * f + intercept)
    np.testing.assert_allclose(p[f > 0], (n_positive + 1) / (n_positive + 2), atol=1e-7)
    np.testing.assert_allclose(p[f < 0], 1 / (n_negative + 2), atol=1e-7)


@pytest.mark.parametrize("value", [0.0, 3.0, -1e-200])
def test_equal_decisions_give_the_share(value):
    positive = np.arange(10) < 4
    slope, intercept = fit_sigmoid(np.full(10, value), positive)
    p = sigmoid(slope * value + intercept)
    assert p == pytest.approx(targets(positive).mean(), abs=1e-7)


def test_one_class():
    with pytest.raises(LabelError, match="only one class"):
        fit_sigmoid(np.ones(3), np.ones(3, dtype=bool))


# ---- held-out decisions ----------------------------------------------------------------------------------------------


class Spy:
    """A source of kernel values that notes what it is asked for."""

    def __init__(self, K):
        self.K, self.asked = K, []

    def pair(self, train, test, y=None):
        self.asked.append((train, test))
        return self.K[np.ix_(train, train)].copy(), self.K[np.ix_(test, train)].copy()


def data(n=60, seed=0):
    """Return noisy DNA of two classes."""
    rng = np.random.default_rng(seed)
    names = ["no", "yes"] * (n // 2)
    strings = []
    for name in names:
        letters = rng.choice(list("ACGT"), 30)
        if rng.random() < 0.7:
            letters[10:14] = list("GTTG" if name == "yes" else "ACAC")
        strings.append("".join(letters))
    X = SequenceSet.from_strings(strings, "dna")
    return X, make_labels(X.ids, names, positive="yes")


SPEC = {"solver": "csvc", "C": 1.0}


def test_no_unit_is_decided_about_by_a_machine_that_saw_it():
    X, labels = data()
    K = build_kernel("spectrum:k=2")(X)
    spy = Spy(K)
    f, folds, _ = held_out_decisions(spy.pair, labels, build_solver(SPEC), folds=4, seed=3)
    assert folds == 4
    assert sorted(np.concatenate([test for _, test in spy.asked]).tolist()) == list(range(60))
    for train, test in spy.asked:
        assert not set(train) & set(test)
        machine = make_solver(SPEC, "binary").fit(K[np.ix_(train, train)], labels.signs()[train])
        np.testing.assert_array_equal(f[test], machine.decision_function(K[np.ix_(test, train)]))


def test_memorised_units_are_not_sure():
    """Where labels are random, machines that know every training unit by heart give probabilities near the share."""
    rng = np.random.default_rng(0)
    X = SequenceSet.from_strings(["".join(rng.choice(list("ACGT"), 60)) for _ in range(120)], "dna")
    labels = make_labels(X.ids, rng.permutation(["a", "b"] * 60).tolist(), positive="b")
    model = train_model(X, labels, build_kernel("spectrum:k=5"), "csvc:C=1000", calibration="platt")
    f = model.decision(X)
    assert np.all((f > 0) == (labels.y == 1))  # by heart
    assert np.all(np.abs(model.calibration.probabilities(f) - 0.5) < 0.25)


def test_groups_stay_together():
    X, labels = data()
    groups = [str(i // 6) for i in range(60)]
    labels = make_labels(X.ids, labels.names(), positive="yes", groups=groups)
    spy = Spy(build_kernel("spectrum:k=2")(X))
    held_out_decisions(spy.pair, labels, build_solver(SPEC))
    for train, test in spy.asked:
        assert not {groups[i] for i in train} & {groups[i] for i in test}


def test_the_same_seed_gives_the_same_bits():
    X, labels = data()
    K = build_kernel("spectrum:k=2")(X)

    def fitted(seed):
        decisions, folds, _ = held_out_decisions(Spy(K).pair, labels, build_solver(SPEC), folds=3, seed=seed)
        return fit_postprocessing(decisions, labels.signs() > 0, folds, calibration="platt")[0]

    first, second, other = fitted(1), fitted(1), fitted(2)
    assert first == second
    assert (first.folds, first.n) == (3, 60)
    assert first != other


def test_a_class_of_one():
    X, _ = data(6)
    labels = make_labels(X.ids, ["a", "b", "b", "b", "b", "b"], positive="a")
    with pytest.raises(FoldError, match=r"but probabilities, thresholds and layers need folds; .*remove"):
        held_out_decisions(Spy(np.eye(6)).pair, labels, build_solver(SPEC))


# ---- isotonic --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_isotonic_is_nearest_among_what_never_falls(seed):
    """Against the min-max formula of isotonic regression, ties pooled."""
    f, positive = decisions(n=60, seed=seed)
    f = f.round(1)
    fitted = IsotonicCalibration.fit(f, positive, 5)
    values = np.unique(f)
    totals = [positive[f == value].sum() for value in values]
    counts = [(f == value).sum() for value in values]
    for i, value in enumerate(values):
        wanted = max(
            min(sum(totals[a : b + 1]) / sum(counts[a : b + 1]) for b in range(i, len(values))) for a in range(i + 1)
        )
        assert fitted.probabilities([value])[0] == pytest.approx(wanted, abs=1e-12)
    grid = np.linspace(-9, 9, 500)
    p = fitted.probabilities(grid)
    assert np.all(np.diff(p) >= 0)
    assert p[0] >= 0
    assert p[-1] <= 1
    assert calibration_from_record(json.loads(json.dumps(asdict(fitted)))) == fitted


def test_a_model_with_isotonic_probabilities(tmp_path):
    X, labels = data()
    train_model(X, labels, build_kernel("spectrum:k=2"), "csvc:C=1", calibration="isotonic").save(tmp_path / "m")
    model = load_model(tmp_path / "m")
    assert model.calibration.method == "isotonic"
    assert np.all(np.diff(model.calibration.probabilities(np.sort(model.decision(X)))) >= 0)


# ---- models ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("solver", "transforms"),
    [("csvc:C=1", []), ("psvc:epsilon=0.3", []), ("csvc:C=[0.1,1]", []), ("csvc:C=1", ["centre"])],
)
def test_a_model_keeps_its_calibration(tmp_path, solver, transforms):
    X, labels = data()
    kernel, transforms = build_kernel("spectrum:k=2"), [build_transform(name) for name in transforms]
    solver = expand_grid(solver)
    model = train_model(X, labels, kernel, solver, calibration="platt", folds=3, transforms=transforms)
    plain = train_model(X, labels, kernel, solver, folds=3, transforms=transforms)
    assert plain.calibration is None
    np.testing.assert_array_equal(model.decision(X), plain.decision(X))
    model.save(tmp_path / "m")
    loaded = load_model(tmp_path / "m")
    assert loaded.calibration == model.calibration
    p = loaded.calibration.probabilities(loaded.decision(X))
    assert np.mean(p[labels.y == 1]) > np.mean(p[labels.y == 0]) + 0.2


def test_training_without_a_gram_matrix_gives_the_same_probabilities():
    X, labels = data()
    kernel = build_kernel("spectrum:k=2")
    fits = [
        train_model(X, labels, kernel, expand_grid(solver), calibration="platt", folds=3).calibration
        for solver in ("csvc:C=1,tol=1e-6", "linear_svc:C=1,tol=1e-6")
    ]
    assert fits[0].slope == pytest.approx(fits[1].slope, rel=1e-3)
    assert fits[0].intercept == pytest.approx(fits[1].intercept, abs=1e-3)


@pytest.mark.parametrize(
    "stored",
    [
        {"slope": 1.0},
        {"method": "platt", "slope": "a", "intercept": 0.0, "folds": 5, "n": 9},
        {"method": "isotonic", "points": [[0.0, 0.5], [1.0, 0.2]], "folds": 5, "n": 9},
        {"method": "isotonic", "points": [], "folds": 5, "n": 9},
        {"method": "beta", "slope": 1.0, "intercept": 0.0, "folds": 5, "n": 9},
        [1.0],
        3,
        {"x": 1},
    ],
)
def test_a_damaged_calibration(tmp_path, stored):
    X, labels = data()
    train_model(X, labels, build_kernel("spectrum:k=2"), "csvc:C=1", calibration="platt").save(tmp_path / "m")
    header, arrays = load_archive(tmp_path / "m")
    header["record"]["calibration"] = stored
    save_archive(tmp_path / "m", header, arrays)
    with pytest.raises(ModelError, match="is not usable"):
        load_model(tmp_path / "m")


def test_several_classes_have_no_probabilities():
    X, _ = data()
    labels = make_labels(X.ids, ["a", "b", "c"] * 20)
    with pytest.raises(LabelError, match=r"need two classes, but these labels are multiclass; .*--positive NAME"):
        train_model(X, labels, build_kernel("spectrum:k=2"), "csvc:C=1", calibration="platt")


# ---- command line ----------------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path, monkeypatch):
    X, labels = data()
    for name in ("yes", "no"):
        rows = [i for i in range(60) if labels.names()[i] == name]
        (tmp_path / f"{name}.fa").write_text("".join(f">s{i}\n{X.string(i)}\n" for i in rows))
    monkeypatch.chdir(tmp_path)
    return tmp_path


TRAIN = ("train", "yes.fa", "no.fa", "--kernel", "spectrum:k=2", "--solver", "csvc:C=1", "-o", "m")


def test_probabilities_of_the_command_line(folder, capsys):
    assert main([*TRAIN, "--calibration", "platt", "--verbose"]) == 0
    assert "probability platt, fitted to 60 held-out decision values" in capsys.readouterr().out
    assert main(["predict", "m", "yes.fa"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out), delimiter="\t"))
    assert list(rows[0]) == ["id", "decision", "probability", "predicted"]
    model = load_model("m")
    f = np.array([float(row["decision"]) for row in rows])
    np.testing.assert_allclose(
        [float(row["probability"]) for row in rows], model.calibration.probabilities(f), rtol=1e-8
    )
    assert json.dumps(model.record["calibration"])


def test_a_model_without_has_no_such_column(folder, capsys):
    assert main([*TRAIN]) == 0
    capsys.readouterr()
    assert main(["predict", "m", "yes.fa"]) == 0
    assert capsys.readouterr().out.splitlines()[0].split("\t") == ["id", "decision", "predicted"]


def test_files_of_lsgkm_hold_no_probabilities(folder, capsys):
    assert main([*TRAIN, "--calibration", "platt", "--format", "lsgkm"]) == 1
    assert "the LS-GKM format stores neither probabilities nor a threshold" in capsys.readouterr().err


@pytest.mark.parametrize("numbers", [(math.nan, 0.0), (1.0, math.inf), ("1", 0.0), (1.0, None)])
def test_a_sigmoid_of_numbers_only(numbers):
    with pytest.raises(LabelError, match="invalid calibration value"):
        SigmoidCalibration(*numbers, folds=5, n=9)


@pytest.mark.parametrize(
    "points",
    [
        [],
        [[0.0, 0.5, 1.0]],
        [[0.0, 0.1], [1.0]],
        [[0.0, math.nan]],
        [[0.0, 0.5], [0.0, 0.6]],
        [[1.0, 0.5], [0.5, 0.6]],
        [[0.0, 0.5], [1.0, 0.4]],
        [[0.0, -0.1], [1.0, 0.4]],
        [[0.0, 0.5], [1.0, 1.1]],
    ],
)
def test_isotonic_points_that_are_not_a_calibration(points):
    with pytest.raises(LabelError, match="invalid calibration"):
        IsotonicCalibration(points, folds=5, n=9)


def test_isotonic_points_at_the_bounds():
    IsotonicCalibration([[0.0, 0.0], [1e-9, 0.0], [2.0, 1.0]], folds=5, n=9)
