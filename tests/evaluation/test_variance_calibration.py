"""The scale of predicted variances: its formula, simulations, and its place in a model."""

import copy
import csv
import io

import numpy as np
import pytest

from seqkern.cli.main import main
from seqkern.core.errors import FoldError, LabelError, ModelError, ParameterError
from seqkern.evaluation.calibration import VarianceCalibration
from seqkern.evaluation.metrics import interval_coverage
from seqkern.evaluation.selection import Search, inner_folds
from seqkern.kernels import SpectrumKernel
from seqkern.methods.acquisition import next_variants
from seqkern.methods.loading import load_model, model_from_state
from seqkern.methods.method import Method
from seqkern.methods.training import collect_training_data, train_model
from seqkern.sequences.labels import make_labels
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.solvers import GPR

KERNEL = SpectrumKernel(k=3)
TRUTH, HALF_THE_NOISE = "gp_regression:noise=0.25,scale=1", "gp_regression:noise=0.125,scale=1"


def drawn(seed, n=96):
    """Return n sequences and 300 new ones with values of the process of KERNEL, with noise of variance 0.25."""
    rng = np.random.default_rng(seed)
    X = SequenceSet.from_strings(["".join(one) for one in rng.choice(list("ACGT"), (n + 300, 30))], "dna")
    root = np.linalg.cholesky(KERNEL(X) + 1e-8 * np.eye(len(X)))
    y = root @ rng.normal(size=len(X)) + rng.normal(scale=0.5, size=len(X))
    old = X.take(np.arange(n))
    return old, make_labels(old.ids, y[:n], kind="real"), X.take(np.arange(n, n + 300)), y[n:]


def trained(X, labels, solver=HALF_THE_NOISE, calibration="variance", **options):
    return train_model(X, labels, KERNEL, solver, calibration=calibration, allow_similar=True, **options)


def test_the_factor_is_that_of_a_loop_over_the_inner_folds():
    X, labels, *_ = drawn(0)
    K, squares = KERNEL(X), []
    for train, held_out in inner_folds(labels, 5, 1):
        solver = GPR(noise=0.125, scale=1.0).fit(K[np.ix_(train, train)], labels.y[train])
        rows = K[np.ix_(held_out, train)]
        variances = solver.variances(rows, np.diagonal(K)[held_out]).observed
        squares += [
            (labels.y[i] - mean) ** 2 / v for i, mean, v in zip(held_out, solver.predict(rows), variances, strict=True)
        ]
    found = trained(X, labels).cut.widths
    assert (found.folds, found.n) == (5, 96)
    assert found.factor == pytest.approx((sum(squares) / 96) ** 0.5, rel=1e-9)


def test_half_the_noise_is_repaired_and_the_true_process_stays():
    shares = {(solver, how): [] for solver in (TRUTH, HALF_THE_NOISE) for how in (None, "variance")}
    for seed in range(8):
        X, labels, new, y = drawn(seed)
        for solver, how in shares:
            found = trained(X, labels, solver, how).decide(new)
            shares[solver, how].append(interval_coverage(y, found.decisions, found.deviations))
    coverage = {key: np.mean(values) for key, values in shares.items()}
    assert coverage[HALF_THE_NOISE, None] < 0.85
    assert coverage[HALF_THE_NOISE, "variance"] == pytest.approx(0.9, abs=0.02)
    assert coverage[TRUTH, None] == pytest.approx(0.9, abs=0.02)
    assert coverage[TRUTH, "variance"] == pytest.approx(0.9, abs=0.02)


@pytest.mark.parametrize("solver", [HALF_THE_NOISE, "gp_regression", "gp_inducing:n_inducing=20"])
def test_means_stay_and_all_standard_deviations_have_the_factor(tmp_path, solver):
    X, labels, new, _ = drawn(1)
    plain, model = trained(X, labels, solver, None), trained(X, labels, solver)
    model.save(tmp_path / "m")
    loaded = load_model(tmp_path / "m")
    assert loaded.cut.widths == model.cut.widths
    assert plain.cut.widths is None
    factor = model.cut.widths.factor
    assert factor != 1
    before, after = plain.decide(new), loaded.decide(new)
    np.testing.assert_array_equal(after.decisions, before.decisions)
    np.testing.assert_allclose(after.deviations, factor * before.deviations, rtol=1e-14)
    lower, upper = after.variances.interval(after.decisions, 0.9)
    np.testing.assert_allclose(upper - lower, 2 * 1.6448536269514722 * factor * before.deviations, rtol=1e-12)


def test_test_samples_of_a_split_have_the_factor_of_its_training_part():
    X, labels, *_ = drawn(2)
    train, test = np.arange(70), np.arange(70, 96)
    found = []
    for how in (None, "variance"):
        method = Method(KERNEL, HALF_THE_NOISE, calibration=how, search=Search(folds=5))
        fitted = method.fit(collect_training_data(method, X, labels, allow_similar=True), train, ahead=test)
        found.append(fitted.decide(test).deviations)
        assert fitted.inner.n == (5 if how else 0)
    factor = trained(X.take(train), labels.take(train)).cut.widths.factor
    np.testing.assert_allclose(found[1], factor * found[0], rtol=1e-9)


def test_variants_are_suggested_by_the_process_with_both_hyperparameters_scaled():
    """A posterior with noise and scale multiplied by s has the same mean, and s times the covariance."""
    X, labels, new, _ = drawn(3)
    model = trained(X, labels)
    square = model.cut.widths.factor**2
    scaled = trained(X, labels, f"gp_regression:noise={0.125 * square!r},scale={square!r}", None)
    for rule in ("ucb", "ei"):
        one, other = (next_variants(made, [new], 5, acquisition=rule) for made in (model, scaled))
        assert one.ids == other.ids
        np.testing.assert_allclose(one.deviations, other.deviations, rtol=1e-6)
        np.testing.assert_allclose(one.values, other.values, rtol=1e-6)


def test_what_has_no_variances_is_refused():
    X, labels, *_ = drawn(4, n=20)
    with pytest.raises(ParameterError, match="solver 'svr' predicts none; choose solver gp_regression"):
        trained(X, labels, "svr")
    classes = make_labels(X.ids, ["a", "b"] * 10, positive="b")
    with pytest.raises(ParameterError, match="the labels are two classes; choose --calibration platt"):
        trained(X, classes, "csvc")
    with pytest.raises(LabelError, match="these labels are real"):
        trained(X, labels, TRUTH, "platt")
    with pytest.raises(LabelError, match="these labels are real"):
        trained(X, labels, TRUTH, threshold="mcc")
    one = make_labels(X.ids, labels.y, kind="real", groups=["g"] * 20)
    with pytest.raises(FoldError, match=r"only one sample \(or group\)"):
        trained(X, one)


def test_train_tells_what_it_did_and_predict_gives_the_interval(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    X, labels, *_ = drawn(6, n=30)
    records = zip(X.ids, X.strings(), strict=True)
    (tmp_path / "x.fa").write_text("".join(f">{one}\n{text}\n" for one, text in records))
    (tmp_path / "y.tsv").write_text(
        "id\tlabel\n" + "".join(f"{i}\t{y}\n" for i, y in zip(X.ids, labels.y, strict=True))
    )
    given = ["x.fa", "--labels", "y.tsv", "--kernel", "spectrum:k=3", "--solver", HALF_THE_NOISE]
    assert main(["train", *given, "--calibration", "variance", "--folds", "3", "-o", "m"]) == 0
    widths = load_model("m").cut.widths
    assert f"intervals {widths.words}" in capsys.readouterr().out.splitlines()
    assert widths.words.endswith(" from 30 held-out residuals of 3 fits")
    assert main(["predict", "m", "x.fa", "--interval", "0.5"]) == 0
    for row in csv.DictReader(io.StringIO(capsys.readouterr().out), delimiter="\t"):
        half = 0.6744897501960817 * float(row["sd"])
        assert float(row["upper"]) - float(row["decision"]) == pytest.approx(half, rel=1e-6)


def test_words_for_both_directions():
    assert VarianceCalibration(1.25, 5, 96).words == "widened by 1.25, from 96 held-out residuals of 5 fits"
    assert VarianceCalibration(0.8, 3, 9).words.startswith("narrowed to 0.8 of their width, from 9")


@pytest.mark.parametrize("residuals", [[], [0.0, 0.0], [1.0, np.inf]])
def test_residuals_without_a_scale(residuals):
    with pytest.raises(LabelError, match="without error, or without variance"):
        VarianceCalibration.fit(residuals, 2)


@pytest.mark.parametrize("factor", [0.0, -1.0, float("nan"), float("inf"), "1"])
def test_damaged_factors_are_refused(factor):
    X, labels, *_ = drawn(5, n=20)
    header, arrays = copy.deepcopy(trained(X, labels).state())
    header["record"]["widths"]["factor"] = factor
    with pytest.raises(LabelError, match="invalid calibration"):
        model_from_state(header, arrays)


def test_a_factor_without_variances_is_refused():
    X, labels, *_ = drawn(5, n=20)
    header, arrays = trained(X, labels, "svr", None).state()
    header["record"]["widths"] = {"factor": 1.1, "folds": 5, "n": 20}
    with pytest.raises((ModelError, ValueError), match="without variances"):
        model_from_state(header, arrays)
