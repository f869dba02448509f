"""Explicit features through evaluate, train and predict: what a solver of features gets, and what is kept of it."""

import copy
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from folded import InnerLoop, evaluate_fold
from given import inputs
from scipy.sparse import issparse
from test_kernel_contract import EQUAL_LENGTH

from seqkern.cli.main import main
from seqkern.core.errors import ConfigError, GramError, ParameterError, SequenceError
from seqkern.core.tsv import read_tsv
from seqkern.evaluation import Split
from seqkern.evaluation.estimates import biased_scores
from seqkern.kernels import KERNELS, build_kernel
from seqkern.kernels.capabilities import Traits, capability, required
from seqkern.kernels.features import FeatureBlocks, Features
from seqkern.methods import feature_model
from seqkern.methods.feature_model import FeatureModel
from seqkern.methods.loading import load_model
from seqkern.methods.sources import FeatureSource, feature_form
from seqkern.methods.training import train_model
from seqkern.sequences.joining import join_views
from seqkern.sequences.labels import Labels
from seqkern.sequences.sequence_set import SequenceSet, as_sequences
from seqkern.sequences.tables import FeatureTable
from seqkern.solvers import build_solver, expand_grid
from seqkern.solvers.psvm.psvm import PSVC
from seqkern.solvers.selection.selected import inner_parts
from seqkern.study.dataset import Task
from seqkern.study.feasible import check_training_part
from seqkern.study.solver_entries import SolverEntry
from seqkern.study.study import Study

MOTIF = "GTTGCA"
PSVM = {"solver": "psvc", "kernel": "features", "C": "inf", "epsilon": 0.5, "tol": 1e-12}
SELECTED = {
    "solver": "selected",
    "selector": {"selector": "golub"},
    "n_features": 3,
    "scaler": {"normalize": None},
    "predictor": {"solver": "csvc", "C": 1},
}


def sequences(n=40, seed=0, length=40):
    """Return DNA of which the first half has a motif, and labels 1 and −1."""
    rng = np.random.default_rng(seed)
    letters = rng.choice(list("ACGT"), (n, length))
    for i in range(n // 2):
        place = rng.integers(0, length - len(MOTIF))
        letters[i, place : place + len(MOTIF)] = list(MOTIF)
    return as_sequences(["".join(row) for row in letters], "dna"), np.where(np.arange(n) < n // 2, 1, -1)


def table(n=40, d=200, seed=0, signal=1.5):
    """Return a table of which the first two features differ by class, and labels."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2 == 0, 1, -1)
    values = rng.normal(size=(n, d))
    values[:, :2] += signal * (y[:, None] == 1)
    return FeatureTable(values, columns=[f"gene{j}" for j in range(d)]), y


def labels_of(X, y):
    return Labels(X.ids, (y > 0).astype(np.int64), "binary", ("no", "yes"))


# ---- features as the kernel is -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name, cls in KERNELS.classes.items() if bool(cls.features)])
def test_the_products_of_features_are_the_kernel(name):
    for kernel in KERNELS.get(name).examples():
        try:
            required(kernel, "features")
        except ParameterError:
            continue
        if kernel.traits.accepts == "features":
            X, y = table(n=12, d=5)
        elif kernel.alphabet is None and not kernel.traits.tracks:
            X, y = sequences(n=12)
            X = X.part(0, EQUAL_LENGTH) if kernel.traits.equal_lengths else X
            if kernel.traits.of_several:
                X = join_views({"left": X.part(0, 20).strings(), "right": X.part(20, 40).strings()}, "dna")
        else:
            continue
        kernel.fit(X, y)
        vectors = kernel.features.normalised(X)
        product = (vectors @ vectors.T).toarray() if issparse(vectors) else vectors @ vectors.T
        np.testing.assert_allclose(product, kernel(X), rtol=1e-9, atol=1e-12)


def test_kernels_without_features_say_so_before_any_work():
    X, _ = sequences(n=4)
    for spec in ("smith_waterman", "oligo:k=2,sigma=1", "gapped_kmer:l=4,k=2,estimator=truncated"):
        with pytest.raises(ParameterError, match=r"feature|not a product"):
            FeatureSource(build_kernel(spec), X)
    with pytest.raises(ParameterError, match="transform"):
        FeatureSource(build_kernel("spectrum:k=2"), X, ["centre"])


def test_a_zero_vector_is_refused_or_stays_zero():
    X = as_sequences(["ACGTACGT", "A"], "dna")
    with pytest.raises(SequenceError, match="cannot be normalised"):
        build_kernel("spectrum:k=2,short=zero").features.normalised(X)
    counts = {}
    vectors = build_kernel("spectrum:k=2,short=zero,zero_diagonal=zero").features.normalised(X, counts)
    assert vectors[[1]].nnz == 0
    assert counts["zero diagonals"] == 1


def test_names():
    X, _ = sequences(n=3)
    assert build_kernel("spectrum:k=2").features.named(X, [0, 1, 15]) == ["AA", "AC", "TT"]
    assert build_kernel("spectrum:k=14").features.named(X, [3]) == ["feature 4"]
    assert build_kernel("linear").features.named(table(d=3)[0], [2, 0]) == ["gene2", "gene0"]


def test_dense_features_that_do_not_fit_are_refused():
    X, _ = sequences(n=10)
    source = FeatureSource(build_kernel("spectrum:k=6"), X, sparse=False, memory_limit="100kB")
    with pytest.raises(GramError, match="4096 features of 10 samples"):
        inputs(source, np.arange(5), np.arange(5, 10))


class Spy(type(build_kernel("linear"))):
    """A kernel of features that learns, and notes on what."""

    name = None
    traits = Traits(data_dependent=True)
    seen = ()

    def _fit(self, X, y):
        Spy.seen = (*Spy.seen, tuple(X.ids))
        self.mean_ = X.values.mean(axis=0)

    @capability
    def features(self):
        return Features(self, lambda X: X.values - self.mean_)


def test_a_kernel_that_learns_is_fitted_on_the_training_part_alone():
    X, y = table(n=20, d=5)
    Spy.seen = ()
    train, test = np.arange(12), np.arange(12, 20)
    F_train, F_test = inputs(FeatureSource(Spy(), X), train, test, y[train])
    assert Spy.seen == (tuple(X.ids[:12]),)
    np.testing.assert_array_equal(F_train, X.values[:12] - X.values[:12].mean(axis=0))
    np.testing.assert_array_equal(F_test, X.values[12:] - X.values[:12].mean(axis=0))


def test_solvers_of_features_run_on_kernels_that_have_some():
    study = {
        "study": "s",
        "datasets": {"donors": {"simulate": {"kind": "donor"}}},
        "kernels": {
            "kmers": {"kernel": "spectrum", "k": 3},
            "centred": {"kernel": "spectrum", "k": 3, "transforms": ["centre"]},
            "alignment": {"kernel": "smith_waterman"},
            "either": {"choose": ["kmers", "alignment"]},
        },
        "solvers": {"psvm": PSVM, "svm": {"solver": "csvc"}},
    }
    methods = Study.parse(study).method_names("donors")
    assert [kernel for kernel, solver in methods if solver == "psvm"] == ["kmers"]
    assert [kernel for kernel, solver in methods if solver == "svm"] == list(study["kernels"])
    assert not SolverEntry.parse(PSVM).needs_gram
    study["datasets"]["donors"] |= {"kernels": ["alignment"], "solvers": ["psvm"]}
    with pytest.raises(ConfigError, match="would never run"):
        Study.parse(study)


# ---- one fold ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("spec", [PSVM, SELECTED], ids=["psvc", "selected"])
def test_a_fold_decides_as_the_solver_does_and_keeps_what_was_selected(spec):
    X, y = table()
    labels, split = labels_of(X, y), Split("1", np.arange(30), np.arange(30, 40))
    source = FeatureSource(build_kernel("linear"), X)
    result = evaluate_fold(Task("all", labels), split, {"linear": source}, [spec], InnerLoop(), selection_bias=True)
    solver = build_solver(spec).fit(X.values[:30], y[:30])
    decisions = [row["decision"] for row in result.decisions]
    np.testing.assert_array_equal(decisions, solver.decision_function(X.values[30:]))
    assert {row["feature"] for row in result.features} == {f"gene{j}" for j in solver.selection().columns}
    assert [row["rank"] for row in result.features] == list(range(1, len(result.features) + 1))
    assert {"gene0", "gene1"} <= {row["feature"] for row in result.features[:3]}
    assert result.bias[0]["n_features"] > 0
    assert set(result.bias[0]) >= {"task", "split", "auc"}


def test_features_chosen_on_all_units_pretend_to_predict_random_labels():
    X, y = table(n=40, d=5000, signal=0.0)
    labels, honest, biased = labels_of(X, y), [], []
    for f in range(4):
        test = np.arange(10 * f, 10 * f + 10)
        train = np.setdiff1d(np.arange(40), test)
        solver = build_solver({**SELECTED, "n_features": 20}).fit(X.values[train], y[train])
        parts, targets = (X.values[train], X.values[test]), (y[train], y[test])
        biased.append(biased_scores(solver, parts, targets, labels, test)["accuracy"])
        honest.append(np.mean(solver.predict(X.values[test]) == y[test]))
    assert np.mean(honest) < 0.75
    assert np.mean(biased) > 0.9


def test_both_columns_predict_by_the_same_threshold():
    X, y = table(d=60, signal=0.6)
    parts, targets = (X.values[:30], X.values[30:]), (y[:30], y[30:])
    labels, test = labels_of(X, y), np.arange(30, 40)
    solver = build_solver({**SELECTED, "n_features": 60}).fit(X.values[:30], y[:30])
    decisions = solver.decision_function(X.values[30:])
    threshold = float(np.sort(decisions)[3:5].mean())
    # all features: nothing is selected, and nothing but the threshold can differ
    found = biased_scores(solver, parts, targets, labels, test, lambda decisions: decisions > threshold)
    assert found["accuracy"] == np.mean((decisions > threshold) == (y[30:] > 0))
    assert found["accuracy"] != biased_scores(solver, parts, targets, labels, test)["accuracy"]
    spec, source = {**SELECTED, "n_features": 60}, {"linear": FeatureSource(build_kernel("linear"), X)}
    inner = InnerLoop(threshold="sensitivity=0.95")
    split = Split("1", np.arange(30), test)
    result = evaluate_fold(Task("all", labels), split, source, [spec], inner, selection_bias=True)
    assert {key: result.bias[0][key] for key in ("accuracy", "auc", "balanced_accuracy")} == {
        key: result.metrics[key] for key in ("accuracy", "auc", "balanced_accuracy")
    }


@pytest.mark.parametrize("several", [False, True])
def test_groups_reach_the_inner_folds_of_a_solver(monkeypatch, several):
    """As the outer fit, in the choice among several solvers, and in the decisions about held-out folds."""
    X, y = table()
    groups, seen = np.arange(40) // 4, []

    def spy(labels, folds, given=None):
        seen.append(given)
        assert len(given) == len(labels)
        return inner_parts(labels, folds, given)

    monkeypatch.setattr("seqkern.solvers.selection.selected.inner_parts", spy)
    monkeypatch.setattr("seqkern.solvers.selection.selected.inner_parts", spy)
    spec = {**SELECTED, "n_features": [2, 3], "folds": 2}
    specs = [spec, {**spec, "around": 0}] if several else [spec]
    source = {"linear": FeatureSource(build_kernel("linear"), X)}
    split = Split("1", np.arange(32), np.arange(32, 40))
    inner = InnerLoop(folds=2, threshold="sensitivity=0.9")
    evaluate_fold(Task("all", labels_of(X, y)), split, source, specs, inner, groups=groups)
    # each fit asks twice: of its labels, and to choose
    assert len(seen) == 2 * (2 * 2 if several else 2) + 2
    assert all(np.isin(given, groups).all() and np.all(np.unique(given, return_counts=True)[1] == 4) for given in seen)
    seen.clear()
    train_model(X, replace(labels_of(X, y), groups=groups), build_kernel("linear"), specs[0])
    assert len(seen) == 3
    assert all(len(np.unique(given)) == 10 for given in seen)


def test_a_solvers_inner_folds_are_refused_before_any_kernel():
    X, y = table()
    spec = {**SELECTED, "n_features": [2, 3], "folds": 20}
    check_training_part(labels_of(X, y), [spec], inner_folds=0)
    groups = np.where(y > 0, 0, np.arange(40))
    with pytest.raises(ParameterError, match=r"fold 1: a class of a training set has only one record"):
        check_training_part(labels_of(X, y), [spec], inner_folds=0, groups=groups, place="fold 1")


def test_the_biased_pass_keeps_whole_rows_for_quantiles_and_the_choices_made():
    X, y = table(d=60)
    spec = {**SELECTED, "n_features": [2, 4], "scaler": {"normalize": "quantile"}, "folds": 3}
    solver = build_solver(spec).fit(X.values, y)
    settled = solver.with_chosen_parameters()
    assert solver.best_params_["n_features"] == settled.n_features
    assert solver.best_params_["predictor C"] == 1
    assert settled.n_features == solver.report_["n_features"]
    fixed = settled.without_selection([5, 0, 7]).fit(X.values, y)
    assert list(fixed.selection().columns) == [5, 0, 7]
    assert len(fixed.support_) == 60


# ---- train, predict ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("spec", [PSVM, SELECTED], ids=["psvc", "selected"])
@pytest.mark.parametrize("kernel", ["spectrum:k=4", "spectrum:k=3,normalize=false", "mismatch:k=4,m=1", "linear"])
def test_a_model_of_features_decides_and_is_read_again(tmp_path, kernel, spec):
    (X, y), (new, _) = (table(), table(seed=1)) if kernel == "linear" else (sequences(), sequences(seed=1))
    built = build_kernel(kernel)
    if spec is SELECTED and not hasattr(built, "features"):
        pytest.skip("no features")
    model = train_model(X, labels_of(X, y), built, spec)
    assert isinstance(model, FeatureModel)
    dense = [np.asarray(F.todense()) if issparse(F) else F for F in (built.features.normalised(Z) for Z in (X, new))]
    solver = build_solver(spec).fit(dense[0], y)
    np.testing.assert_allclose(model.decision(new), solver.decision_function(dense[1]), rtol=1e-9, atol=1e-9)
    path = tmp_path / "model"
    model.save(path)
    again = load_model(path)
    np.testing.assert_array_equal(again.decision(new), model.decision(new))
    assert len(again.support) == 0
    assert set(again.names) == set(built.features.named(X, np.asarray(solver.support_)))
    again.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == path.read_bytes()


def test_a_unit_is_decided_alike_whatever_is_beside_it():
    X, y = sequences()
    model = train_model(X, labels_of(X, y), build_kernel("spectrum:k=4"), PSVM)
    whole = model.decision(X)
    np.testing.assert_array_equal(np.concatenate([model.decision(X.take([i])) for i in range(5)]), whole[:5])


def write_fasta(path, X, rows):
    path.write_text("".join(f">{X.ids[i]}\n{X.string(i)}\n" for i in rows))
    return str(path)


def test_motifs_are_selected_from_fasta_and_new_sequences_predicted(tmp_path, capsys):
    X, _ = sequences(n=80)
    files = [write_fasta(tmp_path / f"class{k}.fa", X, range(40 * k, 40 * (k + 1))) for k in range(2)]
    model, chosen = str(tmp_path / "m.seqkern"), tmp_path / "chosen.tsv"
    argv = [
        "train",
        "--verbose",
        *files,
        "--kernel",
        "spectrum:k=6",
        "--solver",
        "psvc:kernel=features,C=inf,epsilon=0.6",
    ]
    assert main([*argv, "-o", model, "--features", str(chosen)]) == 0
    rows = read_tsv(chosen)
    assert rows[0]["feature"] == MOTIF
    assert float(rows[0]["weight"]) > 0
    assert "features (" in capsys.readouterr().out
    new, _ = sequences(n=40, seed=7)
    assert main(["predict", model, write_fasta(tmp_path / "new.fa", new, range(40))]) == 0
    lines = capsys.readouterr().out.splitlines()
    decisions = np.array([float(line.split("\t")[1]) for line in lines[1:]])
    assert np.mean((decisions > 0) == (np.arange(40) < 20)) > 0.8
    assert main(["explain", model, files[0], "-o", str(tmp_path / "explained")]) == 1
    assert "the model uses features" in capsys.readouterr().err


def write_table(path, X, y, columns=None):
    """Write a table of features, by default with labels, and its columns in another order if wanted."""
    columns = range(len(X.columns)) if columns is None else columns
    header = ["id", "label", *(X.columns[j] for j in columns)]
    rows = [[i, str(s), *(repr(float(row[j])) for j in columns)] for i, s, row in zip(X.ids, y, X.values, strict=True)]
    path.write_text("".join("\t".join(row) + "\n" for row in [header, *rows]))
    return str(path)


@pytest.mark.parametrize("solver", ["psvc:kernel=features,C=inf,epsilon=0.4", "csvc:C=1", json.dumps(SELECTED)])
def test_a_model_of_a_table_is_trained_and_applied_to_a_table(tmp_path, capsys, solver):
    (X, y), (new, z) = table(d=30, signal=3.0), table(d=30, seed=5, signal=3.0)
    path, model = write_table(tmp_path / "a.tsv", X, y), str(tmp_path / "m.seqkern")
    assert (
        main(["train", "--verbose", path, "--kernel", "linear", "--solver", solver, "--positive", "1", "-o", model])
        == 0
    )
    assert "40 samples" in capsys.readouterr().out
    order = np.random.default_rng(0).permutation(30)
    assert main(["predict", model, write_table(tmp_path / "b.tsv", new, z, order)]) == 0
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()[1:]]
    expected = load_model(model).decision(new)
    np.testing.assert_allclose([float(row[1]) for row in rows], expected, rtol=1e-9)
    assert np.mean((expected > 0) == (z > 0)) > 0.8
    assert main(["predict", model, write_table(tmp_path / "c.tsv", new, z, order[:-1])]) == 1
    assert f"lacks column 'gene{order[-1]}'" in capsys.readouterr().err


def test_the_table_of_features_is_refused_of_a_solver_without_selection(tmp_path, capsys):
    X, _ = sequences(n=10)
    files = [write_fasta(tmp_path / f"{k}.fa", X, range(5 * k, 5 * (k + 1))) for k in range(2)]
    argv = ["train", *files, "--kernel", "spectrum:k=2", "--solver", "csvc", "-o", str(tmp_path / "m")]
    assert main([*argv, "--features", str(tmp_path / "f.tsv")]) == 1
    assert "'csvc' selects no features" in capsys.readouterr().err
    assert not Path(tmp_path / "m").exists()


def test_a_damaged_model_of_features_is_refused(tmp_path):
    from seqkern.core.errors import ModelError

    X, y = table(d=20)
    model = copy.copy(train_model(X, labels_of(X, y), build_kernel("linear"), PSVM))
    object.__setattr__(model, "names", model.names[:-1])
    model.save(tmp_path / "model")
    with pytest.raises(ModelError, match="inconsistent features"):
        load_model(tmp_path / "model")
    assert PSVC(kernel="features").input == "features"


# ---- features in blocks ------------------------------------------------------------------------------------


def three_classes(n=120, seed=0):
    """Return DNA whose first letters tell three classes apart, and labels of these."""
    rng = np.random.default_rng(seed)
    letters = rng.choice(list("ACGT"), (n, 7))
    y = np.arange(n) % 3
    letters[np.arange(n), y] = "G"
    letters[np.arange(n), (y + 1) % 3] = "T"
    X = as_sequences(["".join(row) for row in letters], "dna")
    return X, Labels(X.ids, y, "multiclass", ("coil", "helix", "strand"))


WINDOW = {"kernel": "window", "vector_kernel": "linear", "encoding": "one_hot"}
NYSTROEM = {"kernel": "nystroem", "base": {"kernel": "window", "vector_kernel": "rbf"}, "n_components": 20}


@pytest.mark.parametrize("spec", [WINDOW, NYSTROEM], ids=lambda spec: spec["kernel"])
@pytest.mark.parametrize("memory", [None, 1000], ids=["kept", "computed_anew"])
@pytest.mark.parametrize(
    "solver",
    [
        {"solver": "primal_svc", "C": [0.1, 1]},
        {"solver": "pairwise_voting", "binary": {"solver": "primal_svc"}},
        {"solver": "one_against_rest", "binary": {"solver": "primal_svc"}},
        {"solver": "decision_dag", "binary": {"solver": "primal_svc"}},
        {"solver": "binary_tree", "binary": {"solver": "primal_svc"}, "order": ["strand", "coil", "helix"]},
    ],
    ids=lambda spec: spec["solver"],
)
def test_several_classes_from_blocks(spec, memory, solver, tmp_path):
    X, labels = three_classes()
    kernel = build_kernel(spec)
    split = Split("1", np.arange(0, 120, 2), np.arange(1, 120, 2))
    source = FeatureSource(kernel, X, blocks=True, memory_limit=memory)
    train, test = inputs(source, split.train, split.test, labels.y[split.train])
    assert isinstance(train, FeatureBlocks)
    assert train.stored is (memory is None or spec is WINDOW)
    assert test.stored is (spec is WINDOW)  # Nyström features decide by products
    result = evaluate_fold(Task("t", labels), split, {"k": source}, expand_grid(solver), InnerLoop(2))
    assert result.metrics["accuracy"] > 0.8
    assert result.fit["converged"]
    model = train_model(X, labels, kernel, solver, folds=2, memory_limit=memory)
    assert isinstance(model, FeatureModel)
    decisions = model.decision(X)
    assert (decisions.argmax(axis=1) == labels.y).mean() > 0.8
    model.save(tmp_path / "m")
    np.testing.assert_array_equal(load_model(tmp_path / "m").decision(X), decisions)


def test_weights_of_features_with_names_are_told_for_each_class():
    X, labels = three_classes()
    split = Split("1", np.arange(0, 120, 2), np.arange(1, 120, 2))
    solver = [{"solver": "primal_svc"}]

    def rows(spec, labels=labels, solver=solver):
        source = FeatureSource(build_kernel(spec), X, **feature_form(solver))
        return evaluate_fold(Task("t", labels), split, {"k": source}, solver, InnerLoop(2)).features

    found = rows(WINDOW)
    assert [row["class"] for row in found[:6]] == ["coil", "helix", "strand"] * 2
    assert [row["rank"] for row in found[:6]] == [1, 1, 1, 2, 2, 2]
    sizes = [abs(row["weight"]) for row in found]
    assert max(sizes) == max(sizes[:3])
    names = build_kernel(WINDOW).features.known_names(X)
    assert all(names[row["column"] - 1] == row["feature"] for row in found)
    binary = Labels(X.ids, (labels.y > 0).astype(np.int64), "binary", ("coil", "rest"))
    assert {row["class"] for row in rows(WINDOW, binary)} == {None}
    assert rows(NYSTROEM) == []
    assert rows(WINDOW, solver=[{"solver": "pairwise_voting", "binary": {"solver": "primal_svc"}}]) == []


def test_features_too_many_are_not_listed(monkeypatch):
    X, labels = three_classes()
    split = Split("1", np.arange(0, 120, 2), np.arange(1, 120, 2))
    monkeypatch.setattr(feature_model, "MOST_LISTED", 5)
    source = FeatureSource(build_kernel(WINDOW), X, blocks=True)
    result = evaluate_fold(Task("t", labels), split, {"k": source}, [{"solver": "primal_svc"}], InnerLoop(2))
    assert result.features == []


def test_sparse_features_stay_sparse_for_a_solver_of_blocks():
    X, y = sequences()
    source = FeatureSource(build_kernel("spectrum:k=6"), X, **feature_form([{"solver": "primal_svc"}]))
    train = inputs(source, np.arange(30), np.arange(30, 40), y[:30])[0]
    assert issparse(train)
    model = train_model(X, labels_of(X, y), build_kernel("spectrum:k=6"), "primal_svc")
    assert np.isfinite(model.decision(X)).all()
    assert train.shape[1] > len(model.features)
    blocks = build_kernel("spectrum:k=6").features.blocks(X)
    np.testing.assert_array_equal(blocks.take([3, 1]).sparse.toarray(), blocks.block(0, 40)[[3, 1]])


@pytest.mark.parametrize(
    "spec",
    [
        "spectrum:k=2,part=1:9",
        "window:vector_kernel=linear,part=2:-2",
        {"kernel": "sum", "weights": [2.0, 0.5], "parts": ["spectrum:k=1", "window:vector_kernel=linear"]},
        {"kernel": "sum", "parts": ["window:vector_kernel=linear,part=0:5", "property:vector_kernel=linear"]},
    ],
)
def test_features_of_parts_and_sums_are_those_of_their_kernels(spec):
    X = SequenceSet.from_strings(["ACDEFGHIKLM", "WYVACCCDDEA", "KKKAAARRRGP"], "protein")
    kernel = build_kernel(spec)
    required(kernel, "features")
    features = kernel.features.normalised(X)
    dense = features.toarray() if hasattr(features, "toarray") else features
    np.testing.assert_allclose(dense @ dense.T, kernel(X), rtol=1e-12)
    blocks = kernel.features.blocks(X)
    np.testing.assert_allclose(blocks.block(0, 3), dense, rtol=1e-6)
    names = kernel.features.named(X, np.arange(dense.shape[1]))
    assert len(set(names)) == len(names)
    assert not names[0].startswith("feature")
