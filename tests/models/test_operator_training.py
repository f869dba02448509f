"""Training by products with the kernel matrix from end to end: models, cross-validation, search, studies, refusals."""

import json

import numpy as np
import pytest
from folded import InnerLoop, evaluate_fold
from given import inputs

from seqkern.cli.main import main
from seqkern.core.errors import GramError, ParameterError
from seqkern.core.tsv import read_tsv
from seqkern.evaluation import make_folds
from seqkern.gram.transforms import build_transform
from seqkern.kernels import SumKernel, build_kernel, kernel_specs, parse_spec
from seqkern.kernels.kernel import Kernel
from seqkern.kernels.kernel_operator import KernelOperator
from seqkern.kernels.kernel_specs import has_operator
from seqkern.kernels.kmer import hamming_operator
from seqkern.methods.loading import load_model
from seqkern.methods.sources import OperatorSource, check_source
from seqkern.methods.table_model import TableModel
from seqkern.methods.training import train_model
from seqkern.sequences.labels import make_labels
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.solvers.products import subspace
from seqkern.study import Task
from seqkern.study.study import Study

COUNTS = "gapped_kmer:l=5,k=3,reverse_complement=true"
CLIPPED = "gapped_kmer:l=5,k=3,d=2,estimator=truncated,clip=true,reverse_complement=true"
MEAN = f"combination:parts=[(mismatch:k=4,m=1),({CLIPPED}),(spectrum:k=3)],weights=uniform"
EXACT = "primal_svc:C=1,tol=1e-13"


def sequences(n=60, classes=2, seed=1):
    """Return windows, each class with more of a word of its own, and their labels."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    letters = rng.integers(4, size=(n, 30))
    for code, word in enumerate(([0, 2, 3, 1], [3, 3, 0, 1], [1, 0, 1, 2])[:classes]):
        letters[(y == code) & (rng.random(n) < 0.8), 10:14] = word
    X = SequenceSet.from_strings(["".join("ACGT"[code] for code in row) for row in letters], "dna")
    return X, make_labels(X.ids, [f"class{code}" for code in y])


@pytest.fixture
def products(monkeypatch):
    """Prefer products to any features or Gram matrix."""
    monkeypatch.setattr(kernel_specs, "SMALL_FEATURES", -1)
    monkeypatch.setattr(kernel_specs, "LARGEST_GRAM", 0)
    monkeypatch.setattr("seqkern.kernels.kmer.gapped.SubsetFeatures._subset_bytes", lambda self, X: 1 << 40)


# ---- the rule ----------------------------------------------------------------------------------------------


def test_the_rule(monkeypatch):
    X, _ = sequences()
    counts, clipped, spectrum = build_kernel(COUNTS), build_kernel(CLIPPED), build_kernel("spectrum:k=3")

    def given(kernel, wanted, accepts=True, transforms=()):
        return kernel_specs.solver_input(kernel, wanted, accepts, X, transforms)

    assert [given(counts, wanted) for wanted in ("gram", "features", "implicit")] == ["gram", "features", "operator"]
    assert [given(spectrum, wanted) for wanted in ("features", "implicit")] == ["features", "implicit"]
    assert [given(clipped, wanted) for wanted in ("gram", "features", "implicit")] == ["gram", "operator", "operator"]
    assert [given(clipped, wanted, False) for wanted in ("gram", "features")] == ["gram", "features"]
    assert given(clipped, "features", True, [build_transform("centre")]) == "features"
    assert given(build_kernel("local_alignment"), "implicit") == "implicit"
    monkeypatch.setattr(kernel_specs, "LARGEST_GRAM", 8 * 59 * 59)
    assert given(counts, "gram") == given(spectrum, "gram") == "operator"
    assert given(build_kernel("oligo:k=2"), "gram") == given(counts, "gram", False) == "gram"
    monkeypatch.setattr(kernel_specs, "LARGEST_GRAM", 8 * 60 * 60)
    assert given(counts, "gram") == "gram"
    monkeypatch.setattr(kernel_specs, "SMALL_FEATURES", 0)
    long = SequenceSet.from_strings(["ACGTTGCATT" * 5000], "dna")
    assert kernel_specs.solver_input(counts, "features", True, long) == "operator"
    assert kernel_specs.solver_input(spectrum, "features", True, long) == "features"


# ---- models ------------------------------------------------------------------------------------------------


def test_a_model_is_that_on_features(products, monkeypatch, tmp_path):
    X, labels = sequences()
    new, _ = sequences(n=20, seed=9)
    model = train_model(X, labels, build_kernel(COUNTS), EXACT)
    assert isinstance(model, TableModel)
    monkeypatch.undo()
    other = train_model(X, labels, build_kernel(COUNTS), EXACT)
    assert not isinstance(other, TableModel)
    np.testing.assert_allclose(model.decision(new), other.decision(new), rtol=0, atol=1e-6)
    assert model.record["kernel_counts"] == other.record["kernel_counts"]
    model.save(tmp_path / "m.seqkern")
    np.testing.assert_array_equal(load_model(tmp_path / "m.seqkern").decision(new), model.decision(new))


@pytest.mark.parametrize(
    "kernel",
    [COUNTS, "gapped_kmer:l=4,k=3,reverse_complement=true,center_weighted=true"],
)
def test_a_fit_in_tables_with_stored_lists_reaches_the_same_minimum(kernel, products, monkeypatch):
    X, labels = sequences(n=200)
    new, _ = sequences(n=20, seed=9)
    solver = "primal_svc:C=1,tol=1e-5"
    expected = train_model(X, labels, build_kernel(kernel), solver)
    monkeypatch.setattr(subspace, "MANY", 0)
    monkeypatch.setattr(hamming_operator, "LISTS_IN_MEMORY", 0)
    monkeypatch.setattr(hamming_operator, "STORED_LISTS", 5000)
    monkeypatch.setattr(hamming_operator, "THREADED_WINDOWS", 1000)
    found = [train_model(X, labels, build_kernel(kernel), solver, n_threads=n) for n in (1, 2)]
    assert found[0].tally[0].tobytes() == found[1].tally[0].tobytes()
    reports = [model.record["report"] for model in (found[0], expected)]
    assert reports[0]["n_support"] == 0 < reports[1]["n_support"]
    assert all(report["gap"] <= 1e-5 for report in reports)
    # ½‖f − f*‖² is at most the gap, and |f(x) − f*(x)| at most ‖f − f*‖·√K(x, x)
    near = sum(np.sqrt(2 * report["gap"] * report["objective"]) for report in reports)
    squares = build_kernel(kernel).diagonal(new)
    biases = abs(found[0].solver.intercept_[0] - expected.solver.intercept_[0])
    apart = np.abs(found[0].decision(new) - expected.decision(new))
    assert np.all(apart <= near * np.sqrt(squares) + biases)
    assert biases < 0.02


def test_decisions_of_the_table_are_sums_of_kernel_values(monkeypatch):
    X, labels = sequences()
    new, _ = sequences(n=20, seed=9)
    table = train_model(X, labels, build_kernel(CLIPPED), EXACT)
    assert isinstance(table, TableModel)
    monkeypatch.setattr("seqkern.methods.table_model.smaller", lambda model, *rest: model)
    model = train_model(X, labels, build_kernel(CLIPPED), EXACT)
    coefficients, constant = model.solver.linear()
    expected = build_kernel(CLIPPED)(new, model.support) @ coefficients + constant
    np.testing.assert_allclose(table.decision(new), expected, rtol=0, atol=1e-6)
    np.testing.assert_allclose(model.decision(new), expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    "spec",
    [
        "nystroem:base=(rbf:gamma=1.5,base=(gapped_kmer:l=5,k=3)),n_components=40",
        f"0.5*({CLIPPED})+0.5*(nystroem:base=(local_alignment:matrix=NUC.4.4),n_components=30)",
    ],
)
def test_products_with_nystroem_features_are_those_of_the_matrix(spec, monkeypatch, tmp_path):
    X, labels = sequences()
    new, _ = sequences(n=20, seed=9)
    expected = train_model(X, labels, build_kernel(spec), "csvc:tol=1e-9").decision(new)
    monkeypatch.setattr(kernel_specs, "LARGEST_GRAM", 0)
    model = train_model(X, labels, build_kernel(spec), "csvc:tol=1e-9")
    assert isinstance(model, TableModel)
    assert sum(len(sums) for sums in model.tally) >= model.kernel.learned()["components"]
    np.testing.assert_allclose(model.decision(new), expected, rtol=0, atol=2e-4)
    model.save(tmp_path / "m.seqkern")
    np.testing.assert_array_equal(load_model(tmp_path / "m.seqkern").decision(new), model.decision(new))
    shares = model.form().attributions(new)
    starts = np.concatenate(([0], np.cumsum(new.lengths)[:-1]))
    constant = model.form().constant
    np.testing.assert_allclose(np.add.reduceat(shares, starts) + constant, model.decision(new), rtol=0, atol=1e-4)


def test_several_classes(products):
    X, labels = sequences(classes=3)
    model = train_model(X, labels, build_kernel(CLIPPED), EXACT)
    assert model.decision(X).shape == (60, 3)
    assert np.mean(model.predict(X) == np.array(labels.classes)[labels.y]) > 0.9


def test_folds_search_calibration_and_threshold():
    X, labels = sequences()
    kernel = build_kernel(CLIPPED)
    sources = {"gapped": OperatorSource(kernel, X)}
    candidates = [("gapped", {"solver": "primal_svc", "C": C}) for C in (0.1, 1)]
    inner = InnerLoop(2, calibration="platt", threshold="mcc")
    task = Task("task", labels)
    results = [
        evaluate_fold(task, split, sources, candidates, inner) for split in make_folds(labels, "stratified", k=3).splits
    ]
    assert all(result.metrics["auc"] > 0.6 for result in results)
    model = train_model(X, labels, kernel, "primal_svc:C=[0.1,1]", folds=3, calibration="platt")
    assert model.decide(X).probabilities is not None


def test_a_mean_of_kernels_is_fitted_and_trained_by_products(monkeypatch):
    X, labels = sequences(n=200)
    new, _ = sequences(n=20, seed=9)
    kernel, v = build_kernel(MEAN), np.random.default_rng(0).normal(size=200)
    by_grams = kernel.learn_from([part(X) for part in kernel.parts], None)
    known = SumKernel(kernel.parts, weights=by_grams.weights_ / by_grams.scales_)
    K, expected = known(X), train_model(X, labels, known, EXACT).decision(new)
    for name in ("fill", "compute_gram"):
        monkeypatch.setattr(f"seqkern.methods.sources.{name}", None)
    monkeypatch.setattr(Kernel, "__call__", None)
    fitted = build_kernel(MEAN).fit(X)
    np.testing.assert_allclose(fitted.scales_, by_grams.scales_, rtol=1e-12)
    np.testing.assert_allclose(fitted.operator(X).times(v), K @ v, rtol=0, atol=1e-9)
    model = train_model(X, labels, kernel, EXACT)
    assert isinstance(model, TableModel)
    np.testing.assert_allclose(model.decision(new), expected, rtol=0, atol=1e-6)
    assert has_operator(kernel)
    assert not has_operator(build_kernel(MEAN.replace("spectrum:k=3", "oligo:k=2")))
    with pytest.raises(ParameterError, match="learns its weights from the Gram matrices of its parts"):
        build_kernel(MEAN.replace("uniform", "alignment")).operator(X)


# ---- the source --------------------------------------------------------------------------------------------


def test_parts_share_tables_and_are_prepared_once():
    X, _ = sequences()
    source = OperatorSource(build_kernel(CLIPPED), X)
    train, test = np.arange(0, 50), np.arange(50, 60)
    K_train, K_test = inputs(source, train, test)
    assert isinstance(K_train, KernelOperator)
    assert (len(K_train), len(K_test)) == (50, 10)
    v = np.random.default_rng(0).normal(size=50)
    expected = build_kernel(CLIPPED)(X.take(test), X.take(train)) @ v
    np.testing.assert_allclose(K_test.dots(K_train.weights(v)), expected, rtol=1e-9)
    assert all(value > 0 for value in source.predicted())


def test_what_cannot_be_is_refused():
    X, _ = sequences()
    with pytest.raises(
        ParameterError, match=r"has no products without a Gram matrix; approximate it as nystroem:base=\("
    ):
        OperatorSource(build_kernel("oligo:k=2"), X)
    with pytest.raises(ParameterError, match="transforms need a Gram matrix"):
        OperatorSource(build_kernel(CLIPPED), X, [build_transform("centre")])
    with pytest.raises(GramError, match=r"60 samples without a Gram matrix needs .* of memory, but the limit is 1 kB"):
        OperatorSource(build_kernel(CLIPPED), X, memory_limit=1000)
    with pytest.raises(ParameterError, match="the solver needs gram, but the source gives operator"):
        check_source(OperatorSource(build_kernel(CLIPPED), X), "gram")


# ---- the command line --------------------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path):
    X, labels = sequences(80)
    paths = []
    for code in (0, 1):
        paths.append(str(tmp_path / f"{code}.fa"))
        rows = [f">c{code}_{i}\n{X.string(i)}\n" for i in np.flatnonzero(labels.y == code)]
        (tmp_path / f"{code}.fa").write_text("".join(rows))
    return paths


def test_train_and_cv(files, tmp_path, capsys):
    path = str(tmp_path / "m.seqkern")
    argv = [*files, "--kernel", CLIPPED, "--solver", "primal_svc:C=1"]
    assert main(["train", *argv, "--cv", "3", "-o", path]) == 0
    assert "AUC" in capsys.readouterr().out
    assert isinstance(load_model(path), TableModel)
    assert main(["explain", path, files[0], "-o", str(tmp_path / "explained")]) == 0
    assert main(["cv", *argv, "--folds", "3"]) == 0
    assert "AUC" in capsys.readouterr().out


def test_features_that_replace_nothing_cannot_be_listed(files, tmp_path, capsys):
    argv = [*files, "--kernel", CLIPPED, "--solver", "primal_svc:C=1", "--features", str(tmp_path / "f.tsv")]
    assert main(["train", *argv, "-o", str(tmp_path / "m.seqkern")]) == 1
    assert "has too many features to list" in capsys.readouterr().err
    assert not (tmp_path / "m.seqkern").exists()


def test_evaluate(files, tmp_path):
    entry = json.dumps({"fasta": {"positive": files[0], "negative": files[1]}})
    assert main(["datasets", "--name", "toy", "--entry", entry, "-o", str(tmp_path / "data")]) == 0
    folds = ["--method", "stratified", "--k", "3", "-o", str(tmp_path / "folds")]
    assert main(["folds", str(tmp_path / "data"), *folds]) == 0
    argv = ["evaluate", str(tmp_path / "data"), "--folds", str(tmp_path / "folds"), "-o", str(tmp_path / "out")]
    assert main([*argv, "--solver", "primal_svc:C=[0.1,1]", "--kernel", CLIPPED]) == 0
    assert len(read_tsv(tmp_path / "out" / "metrics.tsv")) == 3


def test_a_study_runs_kernels_with_products():
    study = Study.parse(
        {
            "study": "tiny",
            "datasets": {"peaks": {"simulate": {"kind": "donor", "n_positive": 20, "n_decoy": 30}}},
            "kernels": {"truncated": parse_spec(CLIPPED), "alignment": {"kernel": "local_alignment"}},
            "solvers": {"primal": {"solver": "primal_svc", "C": [0.1, 1]}, "csvc": {"solver": "csvc"}},
        }
    )
    assert ("truncated", "primal") in study.method_names("peaks")
    assert ("alignment", "primal") not in study.method_names("peaks")
    assert study.grams_of("peaks", "truncated", "primal") == []
