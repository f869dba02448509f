"""A development part: training samples that the inner loop validates on, alone."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
from given import halve, select

from seqkern.cli.main import main
from seqkern.core.errors import FoldError, ParameterError
from seqkern.evaluation import FoldSet, Split, composition_rows, make_folds, read_folds, write_composition, write_folds
from seqkern.evaluation.halving import Stage
from seqkern.evaluation.metrics import matthews_correlation
from seqkern.evaluation.ranking import roc_auc
from seqkern.evaluation.selection import inner_folds
from seqkern.kernels import LinearKernel
from seqkern.methods.crossval import OuterFolds, cross_validate, evaluate_fold
from seqkern.methods.fitted import Search
from seqkern.methods.method import Method
from seqkern.methods.study_results import DatasetResults
from seqkern.report.page_frame import render
from seqkern.sequences.labels import Labels, make_labels
from seqkern.sequences.tables import FeatureTable
from seqkern.solvers import make_solver
from seqkern.study import Study, make_dataset

PARTS = np.repeat(["train", "dev", "test"], [60, 20, 20])


def noisy(n=100, seed=3):
    """Return a table of two features, one of them noise, and labels with parts."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    X = FeatureTable(np.column_stack((y + rng.normal(0, 1.0, n), rng.normal(0, 4.0, n))))
    return X, Labels(X.ids, y, "binary", ("no", "yes"), folds=PARTS[:n])


def test_the_development_part_is_part_of_the_training_set(tmp_path):
    _, labels = noisy()
    foldset = make_folds(labels, method="predefined")
    (split,) = foldset
    assert split.train.tolist() == list(range(80))
    assert split.test.tolist() == list(range(80, 100))
    assert np.flatnonzero(foldset.dev).tolist() == list(range(60, 80))
    write_folds(tmp_path / "all.tsv", foldset)
    again = read_folds(tmp_path / "all.tsv", labels.ids, labels)
    assert np.array_equal(again.dev, foldset.dev)
    assert np.array_equal(again.splits[0].train, split.train)
    assert np.array_equal(again.splits[0].test, split.test)


def test_other_methods_and_other_names_have_none():
    _, labels = noisy()
    assert make_folds(labels, method="stratified", k=4).dev is None
    named = Labels(labels.ids, labels.y, "binary", labels.classes, folds=np.where(PARTS == "dev", "dev", "other"))
    foldset = make_folds(named, method="predefined")
    assert foldset.dev is None
    assert [split.name for split in foldset] == ["dev", "other"]
    folds = np.resize(np.repeat(["train", "dev", "test", "other"], 2), 100)
    four = Labels(labels.ids, labels.y, "binary", labels.classes, folds=folds)
    assert make_folds(four, method="predefined").dev is None


def test_bad_development_parts(tmp_path):
    _, labels = noisy()
    one_class = np.where((PARTS == "dev") & (labels.y == 1), "train", PARTS)
    bad = Labels(labels.ids, labels.y, "binary", labels.classes, folds=one_class)
    with pytest.raises(FoldError, match="the development set of split '1' of task 'all' has no sample of class 'yes'"):
        make_folds(bad, method="predefined")
    file = tmp_path / "all.tsv"
    file.write_text("id\ta\tb\nu1\ttrain\tdev\nu2\tdev\tdev\nu3\ttest\ttest\n")
    with pytest.raises(FoldError, match="is marked dev in one split and train in another") as caught:
        read_folds(file, ["u1", "u2", "u3"])
    assert caught.value.record == "u1"


def test_the_inner_loop_fits_on_the_rest_and_scores_on_the_development_part():
    X, labels = noisy()
    own = make_folds(labels, method="predefined").inner_labels(labels).take(slice(80))
    ((train, valid),) = inner_folds(own, 5, 0)
    assert train.tolist() == list(range(60))
    assert valid.tolist() == list(range(60, 80))
    K, candidates = LinearKernel()(X), [{"solver": "csvc", "C": C} for C in (1e-4, 1.0)]
    choice = select({"linear": lambda a, b, y: (K[np.ix_(a, a)], K[np.ix_(b, a)])}, own, candidates, make_solver)
    for spec, scores in zip(candidates, choice.scores, strict=True):
        solver = make_solver(spec, "binary").fit(K[:60, :60], labels.signs()[:60])
        assert scores.tolist() == [roc_auc(labels.y[60:80], solver.decision_function(K[60:80, :60]))]
    assert np.isnan(choice.decisions[:60]).all()
    assert not np.isnan(choice.decisions[60:]).any()


def test_the_chosen_method_is_fitted_on_both_parts_with_the_threshold_of_one():
    X, labels = noisy()
    foldset = make_folds(labels, method="predefined")
    method = Method(LinearKernel(), "csvc:C=[0.001,1]", search=Search(metric="mcc"))
    fitted = method.fit(method.data(X, foldset.inner_labels(labels)), foldset.splits[0].train)
    K = LinearKernel()(X)
    solver = make_solver(fitted.choice.spec, "binary").fit(K[:80, :80], labels.signs()[:80])
    assert np.allclose(fitted.decide(np.arange(80, 100)).decisions, solver.decision_function(K[80:, :80]))
    decisions, cut = fitted.choice.decisions[60:], fitted.threshold.value
    best = matthews_correlation(labels.y[60:80], decisions > cut)
    assert best == max(matthews_correlation(labels.y[60:80], decisions > value) for value in [-np.inf, *decisions])


def test_cross_validation_on_given_sets_uses_it():
    X, labels = noisy()
    outer, method = OuterFolds(method="predefined"), Method(LinearKernel(), "csvc:C=[0.001,1]")
    data = method.data(X, outer.inner_labels(labels, X))
    (result,) = cross_validate(method, data, outer.splits(labels, X))
    assert {row["fold"] for row in result.inner} == {1}
    assert [row["id"] for row in result.decisions] == [labels.ids[i] for i in range(80, 100)]
    assert OuterFolds(method="stratified").inner_labels(labels).dev is None


def test_every_rung_of_a_halving_scores_on_the_whole_development_part():
    X, labels = noisy()
    own = make_folds(labels, method="predefined").inner_labels(labels).take(slice(80))
    K = LinearKernel()(X)
    seen = []

    def pair(train, valid, y):
        seen.append(np.sort(valid).tolist())
        return K[np.ix_(train, train)], K[np.ix_(valid, train)]

    candidates = [(name, {"solver": "csvc", "C": C}) for name in ("a", "b") for C in (0.1, 1)]
    halve({"a": pair, "b": pair}, own, candidates, make_solver, [Stage(0.4, True), Stage()])
    assert seen
    assert all(valid == list(range(60, 80)) for valid in seen)


def test_clusters_have_no_place_beside_it():
    X, labels = noisy()
    labels = make_folds(labels, method="predefined").inner_labels(labels)
    method = Method(LinearKernel(), "csvc:C=[0.1,1]", search=Search(clusters=4))
    with pytest.raises(ParameterError, match="a development part"):
        evaluate_fold(method, method.data(X, labels), Split("1", np.arange(80), np.arange(80, 100)))


def test_folds_of_a_task_table_with_a_development_part(tmp_path):
    records = [f"{name}{i}" for name in ("p", "n") for i in range(6)]
    (tmp_path / "a.fa").write_text("".join(f">{record}\nACGTACGGA\n" for record in records))
    role = ["train", "train", "train", "dev", "test", "test"]
    sign = {"p": "positive", "n": "negative"}
    rows = [f"{record}\tsites\t{sign[record[0]]}-{role[int(record[1])]}" for record in records]
    (tmp_path / "tasks.tsv").write_text("\n".join(["id\ttask\trole", *rows]) + "\n")
    entry = {"fasta": str(tmp_path / "a.fa"), "tasks": {"file": str(tmp_path / "tasks.tsv")}}
    dataset = make_dataset("a", entry)
    task = dataset.task("sites")
    foldset = make_folds(task.labels, method="predefined", roles=task.split)
    assert [len(foldset.splits[0].train), len(foldset.splits[0].test), foldset.dev.sum()] == [8, 4, 2]
    folder = tmp_path / "made"
    assert main(["datasets", "--name", "a", "--entry", json.dumps(entry), "-o", str(folder)]) == 0
    assert '"dev"' in (folder / "summary.json").read_text()


def test_the_table_of_composition_counts_it(tmp_path):
    _, labels = noisy()
    rows = composition_rows(make_folds(labels, method="predefined"), labels)
    write_composition(tmp_path / "composition.tsv", [*rows, ("other", "1", "no", 5, 6)])
    assert (tmp_path / "composition.tsv").read_text().splitlines() == [
        "task\tsplit\tclass\ttrain\ttest\tdev",
        "all\t1\tno\t40\t10\t10",
        "all\t1\tyes\t40\t10\t10",
        "other\t1\tno\t5\t6\t0",
    ]
    (tmp_path / "folds" / "d").mkdir(parents=True)
    (tmp_path / "composition.tsv").rename(tmp_path / "folds" / "d" / "composition.tsv")
    study = Study.parse(
        {
            "study": "s",
            "datasets": {"d": {"public": "gue_mouse_3", "folds": {"method": "predefined"}}},
            "kernels": {"k": {"kernel": "spectrum", "k": 3}},
            "solvers": {"c": {"solver": "csvc", "C": [1, 10]}},
        }
    )
    results = DatasetResults(study, tmp_path, "d")
    assert results.developed
    content = {"view": SimpleNamespace(dataset=results), "inner": study.inner, "bound": None, "pooled": None}
    assert "The development part of each training set selected" in render("fitting", "search", content)


def test_labels_say_which_samples_are_in_it():
    plain = make_labels(["a", "b"], ["x", "y"])
    marked = FoldSet("all", ("a", "b"), (), dev=np.array([True, False])).inner_labels(plain)
    assert marked.digest() != plain.digest()
    assert marked.take([0]).dev.tolist() == [True]
