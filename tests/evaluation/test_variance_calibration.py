"""The scale of predicted variances: its formula, simulations, and its place in a model."""

import copy
import csv
import io

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.stats import norm, t

from seqkern.cli.main import main
from seqkern.core.errors import FoldError, LabelError, ModelError, ParameterError
from seqkern.core.statistics import half_width
from seqkern.evaluation.calibration import VarianceCalibration
from seqkern.evaluation.metrics import interval_coverage, miscalibration_area
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


def twin(residuals):
    """Return the factor and tail of greatest likelihood, with 5 more residuals at the quantiles of a right process."""
    z = np.concatenate((residuals, norm.ppf((np.arange(5) + 0.5) / 5)))
    best = []
    for tail in [i / 50 for i in range(17)]:
        made = t(1 / tail) if tail else norm()

        def loss(log_scale, made=made):
            return np.sum(log_scale - made.logpdf(z / np.exp(log_scale)))

        found = minimize_scalar(loss, bounds=(-5, 5), method="bounded", options={"xatol": 1e-12})
        best.append((found.fun, np.exp(found.x) * made.std(), tail))
    return min(best)[1:]


@pytest.mark.parametrize("freedom", [3, 8, 1e9])
def test_width_and_tails_are_those_of_greatest_likelihood(freedom):
    z = t(freedom).rvs(150, random_state=1) * 1.4
    found = VarianceCalibration.fit(z, 5)
    factor, tail = twin(z)
    assert found.tail == tail
    assert found.factor == pytest.approx(factor, rel=1e-6)


def test_intervals_with_the_tails_of_errors_cover_at_all_levels():
    z = t(3).rvs(400, random_state=2)
    new, none = t(3).rvs(4000, random_state=3), np.zeros(4000)
    found = VarianceCalibration.fit(z, 5)
    assert miscalibration_area(new, none, np.full(4000, found.factor), found.tail) < 0.015
    assert miscalibration_area(new, none, np.full(4000, np.sqrt(np.mean(z**2)))) > 0.05  # one factor alone
    covered = interval_coverage(new, none, np.full(4000, found.factor), 0.9, found.tail)
    assert covered == pytest.approx(0.9, abs=0.02)


def test_the_residuals_are_those_of_a_loop_over_the_inner_folds():
    X, labels, *_ = drawn(0)
    K, residuals = KERNEL(X), []
    for train, held_out in inner_folds(labels, 5, 1):
        solver = GPR(noise=0.125, scale=1.0).fit(K[np.ix_(train, train)], labels.y[train])
        rows = K[np.ix_(held_out, train)]
        variances = solver.variances(rows, np.diagonal(K)[held_out]).observed
        residuals += ((labels.y[held_out] - solver.predict(rows)) / np.sqrt(variances)).tolist()
    found = trained(X, labels).cut.widths
    assert (found.folds, found.n) == (5, 96)
    assert (found.factor, found.tail) == pytest.approx(twin(residuals), rel=1e-6)


def test_half_the_noise_is_repaired_and_the_true_process_stays():
    shares = {(solver, how): [] for solver in (TRUTH, HALF_THE_NOISE) for how in (None, "variance")}
    for seed in range(8):
        X, labels, new, y = drawn(seed)
        for solver, how in shares:
            found = trained(X, labels, solver, how).decide(new)
            shares[solver, how].append(interval_coverage(y, found.decisions, found.deviations, tail=found.tail))
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
    half = t(1 / after.tail).ppf(0.95) * np.sqrt(1 - 2 * after.tail) if after.tail else norm.ppf(0.95)
    np.testing.assert_allclose(upper - lower, 2 * half * factor * before.deviations, rtol=1e-9)


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
    assert f"90% intervals {widths.words}" in capsys.readouterr().out.splitlines()
    assert widths.words.endswith(" from 30 held-out residuals of 3 fits")
    assert main(["predict", "m", "x.fa", "--interval", "0.5"]) == 0
    for row in csv.DictReader(io.StringIO(capsys.readouterr().out), delimiter="\t"):
        half = half_width(0.5, widths.tail) * float(row["sd"])
        assert float(row["upper_50"]) - float(row["decision"]) == pytest.approx(half, rel=1e-6)


def test_words_for_both_directions():
    assert VarianceCalibration(1.25, 5, 96).words == "widened by 1.25, from 96 held-out residuals of 5 fits"
    assert VarianceCalibration(0.8, 3, 9).words.startswith("narrowed to 0.8 of their width, from 9")
    tail = "narrowed to 0.876 of their width, with tails of Student's t of 4 degrees of freedom, from 9"
    assert VarianceCalibration(0.956, 3, 9, 0.25).words.startswith(tail)


@pytest.mark.parametrize("residuals", [[], [0.0, 0.0], [1.0, np.inf]])
def test_residuals_without_a_scale(residuals):
    with pytest.raises(LabelError, match="without error, or without variance"):
        VarianceCalibration.fit(residuals, 2)


@pytest.mark.parametrize(
    "damage", [{"factor": value} for value in (0.0, -1.0, float("nan"), float("inf"), "1")] + [{"tail": 0.5}]
)
def test_damaged_factors_are_refused(damage):
    X, labels, *_ = drawn(5, n=20)
    header, arrays = copy.deepcopy(trained(X, labels).state())
    header["record"]["widths"] |= damage
    with pytest.raises(LabelError, match="invalid calibration"):
        model_from_state(header, arrays)


def test_a_factor_without_variances_is_refused():
    X, labels, *_ = drawn(5, n=20)
    header, arrays = trained(X, labels, "svr", None).state()
    header["record"]["widths"] = {"factor": 1.1, "folds": 5, "n": 20}
    with pytest.raises((ModelError, ValueError), match="without variances"):
        model_from_state(header, arrays)
