"""p-values of features that a P-SVM selects: from the verbs, in a study, and what is refused before any work."""

import json

import numpy as np
import pytest

from seqkern.cli.main import main
from seqkern.core.errors import ConfigError, ParameterError
from seqkern.core.tsv import read_tsv, write_tsv
from seqkern.methods.loading import load_model
from seqkern.solvers import PSVC
from seqkern.solvers.psvm.path import SignificanceTest, psvm_significance
from seqkern.study import Study

N, D, TRUE = 40, 12, 4
SOLVER = "psvc:kernel=features,epsilon=0.3,C=inf"


@pytest.fixture(scope="module")
def genes():
    """Return 12 features of 40 samples, one of which depends on the class."""
    rng = np.random.default_rng(3)
    y = np.repeat([0, 1], N // 2)
    X = rng.normal(size=(N, D)).round(6)
    X[:, TRUE] += 2 * y
    return X, y


@pytest.fixture
def table(tmp_path, genes):
    """Return the path of these features as a table."""
    X, y = genes
    path = tmp_path / "genes.tsv"
    names = [f"g{j}" for j in range(D)]
    rows = ([f"s{i}", *X[i], "case" if y[i] else "control"] for i in range(N))
    write_tsv(path, ["id", *names, "label"], (dict(zip(["id", *names, "label"], row, strict=True)) for row in rows))
    return str(path)


def train(table, folder, *more, solver=SOLVER):
    """Return the exit status of ``seqkern train``."""
    argv = ["train", table, "--kernel", "linear", "--solver", solver, "--positive", "case", "-o", str(folder / "m")]
    return main([*argv, *more])


@pytest.mark.parametrize("statistic", ["correlation", "coefficient"])
def test_train_writes_the_p_values_of_its_features(table, tmp_path, genes, statistic):
    path = tmp_path / "features.tsv"
    assert train(table, tmp_path, "--features", str(path), "--significance", f"{statistic}:permutations=59") == 0
    X, y = genes
    solver = PSVC(kernel="features", epsilon=0.3, C=np.inf)
    expected = psvm_significance(solver, X, y, statistic=statistic, n_permutations=59, seed=1)
    rows = {int(row["column"]) - 1: row for row in read_tsv(path)}
    assert sorted(rows) == sorted(expected.columns)
    assert len(rows) > 1
    for column, p, corrected in zip(expected.columns, expected.p, expected.max_statistic, strict=True):
        assert float(rows[column]["p"]) == pytest.approx(p)
        assert float(rows[column]["p_corrected"]) == pytest.approx(corrected)
    assert float(rows[TRUE]["p_corrected"]) == pytest.approx(1 / 60)
    again = tmp_path / "again.tsv"
    load_model(str(tmp_path / "m")).write_features(again)
    assert again.read_bytes() == path.read_bytes()


def test_without_the_test_the_table_is_as_before(table, tmp_path):
    path = tmp_path / "features.tsv"
    assert train(table, tmp_path, "--features", str(path)) == 0
    assert list(read_tsv(path)[0]) == ["feature", "column", "rank", "weight", "class"]


@pytest.mark.parametrize(
    ("solver", "more", "part"),
    [
        (SOLVER, ["--significance", "correlation"], "add --features"),
        ("csvc", ["--significance", "correlation", "--features", "f"], "not for solver 'csvc'"),
        ("psvc", ["--significance", "correlation", "--features", "f"], "features of a P-SVM"),
        (
            "psvc:kernel=features,epsilon=[0.1,0.3]",
            ["--search", "--folds", "2", "--significance", "coefficient", "--features", "f"],
            "choose among 6 P-SVMs",
        ),
        (SOLVER, ["--significance", "corelation", "--features", "f"], "did you mean 'correlation'"),
        (SOLVER, ["--significance", "correlation:permutations=0", "--features", "f"], "permutations=0"),
        (SOLVER, ["--significance", "correlation:shuffles=9", "--features", "f"], "write correlation"),
    ],
)
def test_what_cannot_be_tested_is_refused_in_one_line(table, tmp_path, capsys, monkeypatch, solver, more, part):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("seqkern.methods.training.significance_record", None)  # nothing is fitted
    assert train(table, tmp_path, *more, solver=solver) != 0
    err = capsys.readouterr().err
    assert part in err
    assert err.count("\n") == 1
    assert not (tmp_path / "m").exists()


def test_several_classes_are_refused():
    with pytest.raises(ParameterError, match="two classes"):
        SignificanceTest().check_kind("multiclass")


@pytest.mark.parametrize("statistic", ["correlation", "coefficient:permutations=59"])
def test_evaluate_writes_the_p_values_of_each_training_set(table, tmp_path, genes, statistic, capsys):
    data, folds, out = (str(tmp_path / name) for name in ("data", "folds", "out"))
    entry = json.dumps({"features": table, "labels": {"label": "label", "positive": "case"}})
    assert main(["datasets", "--name", "genes", "--entry", entry, "-o", data]) == 0
    assert main(["folds", data, "--method", "stratified", "--k", "2", "-o", folds]) == 0
    argv = ["evaluate", data, "--folds", folds, "--kernel", "linear", "--solver", SOLVER, "-o", out]
    assert main([*argv, "--significance", statistic]) == 0
    rows = read_tsv(f"{out}/features.tsv")
    train_rows = [i for i, row in enumerate(read_tsv(f"{folds}/all.tsv")) if row["1"] == "train"]
    test = SignificanceTest.parse(statistic)
    X, y = genes
    how = {"statistic": test.statistic, "n_permutations": test.permutations, "seed": 1}
    found = psvm_significance(PSVC(kernel="features", epsilon=0.3, C=np.inf), X[train_rows], y[train_rows], **how)
    own = {int(row["column"]) - 1: float(row["p_corrected"]) for row in rows if row["split"] == "1"}
    assert own == pytest.approx(dict(zip(found.columns.tolist(), found.max_statistic.tolist(), strict=True)))


STUDY = {
    "study": "s",
    "datasets": {"genes": {"features": "genes.tsv", "labels": {"label": "label"}, "significance": "coefficient"}},
    "kernels": {"linear": {"kernel": "linear"}},
    "solvers": {"psvc": {"solver": "psvc", "kernel": "features"}, "svm": {"solver": "csvc", "C": [1, 10]}},
}


def study_with(solver=None, significance=None):
    """Return the study with another P-SVM or test."""
    config = {**STUDY, "datasets": {"genes": dict(STUDY["datasets"]["genes"])}, "solvers": dict(STUDY["solvers"])}
    if solver is not None:
        config["solvers"]["psvc"] = solver
    if significance is not None:
        config["datasets"]["genes"]["significance"] = significance
    return config


def test_the_key_of_a_study():
    assert Study.parse(STUDY).datasets["genes"].significance == SignificanceTest("coefficient", 999)
    given = {"statistic": "correlation", "permutations": 99}
    entry = Study.parse(study_with(significance=given)).datasets["genes"]
    assert entry.significance == SignificanceTest("correlation", 99)
    assert "significance" not in entry.to_dict()  # no data is made again


@pytest.mark.parametrize(
    ("config", "part"),
    [
        (study_with({"solver": "psvc"}), "no solver of the data set is a P-SVM on features"),
        (study_with({"solver": "psvc", "kernel": "features", "epsilon": [0.1, 0.3]}), "choose among 2 P-SVMs"),
        (study_with(significance="rank"), "unknown statistic 'rank'"),
        (study_with(significance={"statistics": "correlation"}), "statistics"),
    ],
)
def test_a_study_that_cannot_be_tested_is_refused(config, part):
    with pytest.raises(ConfigError) as info:
        Study.parse(config)
    assert part in str(info.value)
    assert "genes" in str(info.value)
