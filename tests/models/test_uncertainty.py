"""Variances from the training set to the tables: folds, models, their files, and ``seqkern predict``."""

import csv
import io

import numpy as np
import pytest

from seqkern.cli.main import main
from seqkern.evaluation import Split, make_folds
from seqkern.evaluation.metrics import predictive_scores
from seqkern.gram.transforms import build_transform
from seqkern.kernels import SpectrumKernel
from seqkern.methods.baselines import run_baselines
from seqkern.methods.crossval import evaluate_fold
from seqkern.methods.loading import load_model
from seqkern.methods.method import Method
from seqkern.sequences.labels import make_labels
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.solvers import GPC, GPR
from seqkern.study import Dataset, Task

N, NEW = 50, 12


def sequences():
    """Return random sequences, with numbers that depend on their 2-mers."""
    rng = np.random.default_rng(3)
    strings = ["".join(rng.choice(list("ACGT"), 25)) for _ in range(N + NEW)]
    values = np.array([text.count("GC") - text.count("TA") for text in strings]) + 0.2 * rng.normal(size=N + NEW)
    return strings, values


def method_and_data(solver="gp_regression", kind="real", transforms=()):
    strings, values = sequences()
    X = SequenceSet.from_strings(strings, "dna")
    names = [f"{value:.4f}" for value in values] if kind == "real" else np.where(values > 0, "high", "low").tolist()
    labels = make_labels(X.ids, names, **({"kind": "real"} if kind == "real" else {"positive": "high"}))
    made = Method(SpectrumKernel(2), solver, transforms=[build_transform(name) for name in transforms])
    return made, made.data(X, labels), X


def expected(kind, transforms=()):
    """Return decisions and variances of the new samples by the solver alone, on the whole matrix."""
    strings, values = sequences()
    K = SpectrumKernel(2)(SequenceSet.from_strings(strings, "dna"))
    train, new = K[:N, :N], K[N:, :N]
    rows, own = np.ones(N), np.ones(NEW)
    for name in transforms:
        fitted = build_transform(name).fit(train, rows)
        new, own = fitted.transform(new, own)
        train, rows = fitted.transform_train()
    solver = GPR() if kind == "real" else GPC()
    solver.fit(train, np.round(values[:N], 4) if kind == "real" else values[:N] > 0)
    return solver, solver.decision_function(new), solver.variances(new, own)


@pytest.mark.parametrize("kind", ["real", "binary"])
@pytest.mark.parametrize("names", [(), ("centre",)])
def test_folds_models_and_files_give_the_variances_of_the_solver(kind, names, tmp_path):
    made, data, X = method_and_data("gp_regression" if kind == "real" else "gp_classification", kind, names)
    new = np.arange(N, N + NEW)
    fitted = made.fit(data, np.arange(N), ahead=new)
    solver, decisions, variances = expected(kind, names)
    fitted.model().save(tmp_path / "a.model")
    late = made.fit(data, np.arange(N))  # nothing computed ahead
    for found in (fitted.decide(new), late.decide(new), load_model(tmp_path / "a.model").decide(X.take(new))):
        np.testing.assert_allclose(found.decisions, decisions, rtol=0, atol=1e-9)
        np.testing.assert_allclose(found.variances.latent, variances.latent, rtol=0, atol=1e-9)
        assert found.variances.noise == pytest.approx(variances.noise)
        if kind == "binary":
            np.testing.assert_allclose(found.probabilities, solver.probabilities(decisions, variances)[:, 1], atol=1e-9)
        else:
            assert found.probabilities is None


def test_scores_and_tables_of_a_fold():
    made, data, _ = method_and_data()
    result = evaluate_fold(made, data, Split("1", np.arange(N), np.arange(N, N + NEW)))
    _, decisions, variances = expected("real")
    labels = np.round(sequences()[1][N:], 4)
    scores = predictive_scores(labels, decisions, np.sqrt(variances.observed))
    assert {key: result.metrics[key] for key in scores} == pytest.approx(scores)
    assert [row["sd"] for row in result.decisions] == pytest.approx(np.sqrt(variances.observed).tolist())
    made, data, _ = method_and_data("gp_classification", "binary")
    result = evaluate_fold(made, data, Split("1", np.arange(N), np.arange(N, N + NEW)))
    p = np.array([row["probability"] if row["label"] == "high" else 1 - row["probability"] for row in result.decisions])
    assert result.metrics["log_loss"] == pytest.approx(-np.log(p).mean())
    assert result.metrics["brier"] == pytest.approx(((1 - p) ** 2).mean())


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    strings, values = sequences()
    for name, rows in (("train", range(N)), ("new", range(N, N + NEW))):
        (folder / f"{name}.fa").write_text("".join(f">s{i}\n{strings[i]}\n" for i in rows))
    (folder / "y.tsv").write_text("id\tlabel\n" + "".join(f"s{i}\t{values[i]:.4f}\n" for i in range(N)))
    (folder / "c.tsv").write_text("id\tlabel\n" + "".join(f"s{i}\t{int(values[i] > 0)}\n" for i in range(N)))
    return folder


def train_and_predict(files, capsys, labels, solver, *options):
    words = ["--labels", str(files / labels), "--kernel", "spectrum:k=2", "--solver", solver]
    assert main(["train", str(files / "train.fa"), *words, "-o", str(files / "m.model")]) == 0
    capsys.readouterr()
    code = main(["predict", str(files / "m.model"), str(files / "new.fa"), *options])
    printed = capsys.readouterr()
    return code, list(csv.DictReader(io.StringIO(printed.out), delimiter="\t")), printed.err


def test_predict_writes_intervals(files, capsys):
    _, decisions, variances = expected("real")
    for options, level, factor in (((), "90", 1.6448536), (("--interval", "0.5"), "50", 0.6744898)):
        lower, upper = f"lower_{level}", f"upper_{level}"
        code, rows, _ = train_and_predict(files, capsys, "y.tsv", "gp_regression", *options)
        assert code == 0
        assert list(rows[0]) == ["id", "decision", "sd", lower, upper, "predicted"]
        numbers = {name: np.array([float(row[name]) for row in rows]) for name in ("decision", "sd", lower, upper)}
        np.testing.assert_allclose(numbers["decision"], decisions, atol=1e-6)
        np.testing.assert_allclose(numbers["sd"], np.sqrt(variances.observed), atol=1e-6)
        np.testing.assert_allclose(numbers[upper] - numbers["decision"], factor * numbers["sd"], rtol=1e-5)
        np.testing.assert_allclose(numbers["decision"] - numbers[lower], factor * numbers["sd"], rtol=1e-5)


def test_predict_writes_probabilities_of_a_gaussian_process(files, capsys):
    solver, decisions, variances = expected("binary")
    code, rows, _ = train_and_predict(files, capsys, "c.tsv", "gp_classification")
    assert code == 0
    assert list(rows[0]) == ["id", "decision", "probability", "sd", "predicted"]
    found = [float(row["probability"]) for row in rows]
    np.testing.assert_allclose(found, solver.probabilities(decisions, variances)[:, 1], atol=1e-6)
    assert all((row["predicted"] == "1") == (float(row["probability"]) > 0.5) for row in rows)


INTERVALS = [("lssvr", "0.9", "no prediction intervals"), ("gp_regression", "1", "interval=1")]


@pytest.mark.parametrize(("solver", "level", "text"), INTERVALS)
def test_intervals_that_cannot_be_given(files, capsys, solver, level, text):
    code, rows, error = train_and_predict(files, capsys, "y.tsv", solver, "--interval", level)
    assert code != 0
    assert not rows
    assert text in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(("cell", "text"), [("a", "not a finite number"), ("1.5", "training labels are 1.5")])
def test_labels_that_teach_no_regression(files, capsys, cell, text):
    (files / "bad.tsv").write_text("id\tlabel\n" + "".join(f"s{i}\t{cell}\n" for i in range(N)))
    words = ["--labels", str(files / "bad.tsv"), "--kernel", "spectrum:k=2", "--solver", "gp_regression"]
    assert main(["train", str(files / "train.fa"), *words, "-o", str(files / "b.model")]) != 0
    error = capsys.readouterr().err
    assert text in error
    assert error.count("\n") == 1


def test_chosen_parameters_are_reported():
    made, data, _ = method_and_data("gp_regression:noise=0.1")
    result = evaluate_fold(made, data, Split("1", np.arange(N), np.arange(N, N + NEW)))
    found = {row["parameter"]: float(row["value"]) for row in result.choices}
    fitted = made.fit(data, np.arange(N)).solver
    assert found == pytest.approx({"noise": 0.1, "scale": fitted.scale_})
    again = fitted.with_chosen_parameters()
    assert (again.noise, again.scale) == (0.1, fitted.scale_)


@pytest.mark.parametrize("solver", ["gp_regression:noise=0.05,scale=2", "gp_inducing:n_inducing=20,noise=0.05,scale=2"])
def test_models_trained_on_products_give_variances(solver, monkeypatch, tmp_path):
    rows, new = np.arange(N), np.arange(N, N + NEW)
    made, data, X = method_and_data(solver)
    matrix = made.fit(data, rows, ahead=new).decide(new)
    monkeypatch.setattr("seqkern.kernels.kernel_specs.LARGEST_GRAM", 0)
    made, data, X = method_and_data(solver)
    fitted = made.fit(data, rows, ahead=new)
    assert fitted.source.gives == "operator"
    fitted.model().save(tmp_path / "a.model")
    for found in (fitted.decide(new), load_model(tmp_path / "a.model").decide(X.take(new))):
        np.testing.assert_allclose(found.decisions, matrix.decisions, rtol=0, atol=1e-6)
        np.testing.assert_allclose(found.variances.latent, matrix.variances.latent, rtol=0, atol=1e-6)


@pytest.mark.parametrize(("kind", "name"), [("real", "mean"), ("binary", "majority")])
def test_trivial_predictions_have_an_uncertainty_too(kind, name, monkeypatch):
    monkeypatch.setattr("seqkern.methods.baselines.suitable", lambda data, kind: [name])
    _, data, X = method_and_data(kind=kind)
    folds = {"all": make_folds(data.labels, X, "stratified", k=3, seed=1)}
    dataset = Dataset("d", "sequences", X, {"all": Task("all", data.labels)})
    for split, (_, found) in zip(folds["all"].splits, run_baselines(dataset, folds), strict=True):
        known, new = data.labels.y[split.train], data.labels.y[split.test]
        if kind == "real":
            deviation = known.std(ddof=1) * np.sqrt(1 + 1 / len(known))
            expected = predictive_scores(new, np.full(len(new), known.mean()), np.full(len(new), deviation))
        else:
            p = np.where(new > 0, known.mean(), 1 - known.mean())
            expected = {"log_loss": -np.log(p).mean(), "brier": ((1 - p) ** 2).mean()}
        assert {key: found.metrics[key] for key in expected} == pytest.approx(expected)
