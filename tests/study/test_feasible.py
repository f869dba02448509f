"""Solvers that cannot learn the labels of a training set are refused before any kernel is computed."""

import json

import numpy as np
import pytest

from seqkern.cli.main import main
from seqkern.core.errors import LabelError, ParameterError
from seqkern.core.tsv import read_tsv
from seqkern.sequences.labels import make_labels
from seqkern.study import load_dataset
from seqkern.study.feasible import check_training_part
from seqkern.study.solver_entries import SolverEntry
from seqkern.study.study import Study


def labels(positives=6, negatives=14, others=0):
    """Return labels of two classes or three."""
    values = ["pos"] * positives + ["neg"] * negatives + ["rest"] * others
    return make_labels([f"u{i}" for i in range(len(values))], values)


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """Return a folder with a data set of 6 positives and 18 negatives, and folds of it."""
    folder = tmp_path_factory.mktemp("study")
    rng = np.random.default_rng(0)
    for name, n in (("pos", 6), ("neg", 18)):
        records = [f">{name}{i}\n{''.join(rng.choice(list('ACGT'), 30))}\n" for i in range(n)]
        (folder / f"{name}.fa").write_text("".join(records))
    entry = {"fasta": {"positive": str(folder / "pos.fa"), "negative": str(folder / "neg.fa")}}
    assert main(["datasets", "--name", "d", "--entry", json.dumps(entry), "-o", str(folder / "d")]) == 0
    assert main(["folds", str(folder / "d"), "--k", "3", "-o", str(folder / "folds")]) == 0
    assert len(load_dataset(folder / "d").X) == 24
    return folder


def test_who_may_refuse():
    assert SolverEntry.parse("nusvc").refuses_labels
    nested = {"solver": "one_against_rest", "binary": {"solver": "nusvc", "nu": [0.1, 0.2]}}
    assert SolverEntry.parse(nested).refuses_labels
    assert not SolverEntry.parse("csvc:C=[1,10]").refuses_labels


def test_outer_and_inner_training_parts():
    # of 20 rows 6 are positive: ν ≤ 0.6; of the inner parts of 3 folds 4 of 13 or 14: ν ≤ 0.57…
    check_training_part(labels(), ["nusvc:nu=0.5", "csvc"])
    with pytest.raises(ParameterError, match=r"^fold 1: nu=0.61.* 0.6; give a smaller nu"):
        check_training_part(labels(), ["nusvc:nu=0.61"], place="fold 1")
    check_training_part(labels(), ["nusvc:nu=0.6"], inner_folds=0)
    with pytest.raises(ParameterError, match=r"^an inner training set: nu=0.6 is infeasible"):
        check_training_part(labels(), ["nusvc:nu=0.6"])
    with pytest.raises(ParameterError, match=r"pos against neg: nu=0.5 is infeasible"):
        check_training_part(labels(2, 10, 10), ["nusvc:nu=0.5"], inner_folds=2)


def test_check_names_solver_split_and_file(study, capsys):
    def run(nu, inner_folds):
        methods = {"few": {"solver": {"solver": "nusvc", "nu": nu}, "inner_folds": inner_folds}}
        return main(["check", str(study / "d"), "--folds", str(study / "folds"), "--methods", json.dumps(methods)])

    # 4 of 16 training rows: ν ≤ 0.5; in inner parts 2 or 3 of 10 or 11
    assert run([0.1, 0.3], 3) == 0
    assert "training sets: 3" in capsys.readouterr().out
    assert run(0.5, 0) == 0
    capsys.readouterr()
    assert run([0.1, 0.5], 3) == 1
    told = capsys.readouterr().err
    assert "all.tsv" in told
    assert "solver 'few' in split" in told
    assert "an inner training set: nu=0.5 is infeasible" in told
    assert main(["check", str(study / "d"), "--folds", str(study / "folds"), "--methods", "[3]"]) == 1


@pytest.mark.parametrize(
    ("solver", "problem"),
    [
        ("kernel_pca", "is unsupervised"),
        ("svr", "does not learn binary labels; choose from: "),
        ("one_against_rest:binary=csvc", "does not learn binary labels; choose from: "),
    ],
)
def test_check_refuses_a_solver_of_other_labels(study, capsys, solver, problem):
    methods = {"good": {"solver": "csvc"}, "other": {"solver": solver}}
    check = ["check", str(study / "d"), "--folds", str(study / "folds"), "--methods"]
    assert main([*check, json.dumps(methods)]) == 1
    told = capsys.readouterr().err
    assert "solver 'other' on task 'all': solver" in told
    assert problem in told
    assert told.count("\n") == 1
    del methods["other"]
    assert main([*check, json.dumps(methods)]) == 0


@pytest.mark.parametrize(
    ("methods", "part"),
    [
        ({"solver": "nusvc", "inner_folds": "x"}, "inner_folds='x'"),
        ({"solver": "nusvc", "inner_folds": -1}, "inner_folds=-1"),
        ({"solver": "nusvc", "seed": None}, "seed=None"),
        ({"solver": 3}, "is not possible; write it like"),
        ("nusvc", "is not possible; write it like"),
    ],
)
def test_check_refuses_methods_in_one_line(study, capsys, methods, part):
    check = ["check", str(study / "d"), "--folds", str(study / "folds")]
    assert main([*check, "--methods", json.dumps({"m": methods})]) == 1
    assert part in (told := capsys.readouterr().err)
    assert told.count("\n") == 1


def test_evaluate_and_train_refuse_before_any_kernel(study, capsys, monkeypatch):
    def computed(*args, **kwargs):
        raise AssertionError("a kernel is computed")

    monkeypatch.setattr("seqkern.methods.sources.fill", computed)
    monkeypatch.setattr("seqkern.methods.sources.compute_gram", computed)
    method = ["--kernel", "spectrum:k=2", "--solver", "nusvc:nu=0.6", "-o", str(study / "out")]
    assert main(["evaluate", str(study / "d"), "--folds", str(study / "folds"), *method]) == 1
    assert "split" in (told := capsys.readouterr().err)
    assert "nu=0.6 is infeasible" in told
    regression = ["svr" if word == "nusvc:nu=0.6" else word for word in method]
    assert main(["evaluate", str(study / "d"), "--folds", str(study / "folds"), *regression]) == 1
    assert "does not learn binary labels" in capsys.readouterr().err
    assert main(["train", str(study / "pos.fa"), str(study / "neg.fa"), *method]) == 1
    assert "nu=0.6 is infeasible: of 24 training rows the smaller class has 6" in capsys.readouterr().err


def test_methods_of_a_study():
    solvers = {
        "nu": {"solver": "nusvc", "nu": 0.1},
        "grid": {"solver": "nusvc", "nu": [0.1, 0.2]},
        "c": {"solver": "csvc"},
    }
    study = {
        "study": "s",
        "seed": 4,
        "datasets": {"d": {"simulate": {"kind": "donor"}}},
        "kernels": {"two": {"kernel": "spectrum", "k": 2}},
        "solvers": solvers,
    }
    found = Study.parse(study).checked_solvers("d")
    assert {name: (method.inner_folds, method.seed) for name, method in found.items()} == {
        "nu": (0, 4),
        "grid": (3, 4),
        "c": (0, 4),
    }
    study["kernels"] |= {"three": {"kernel": "spectrum", "k": 3}, "best": {"choose": ["two", "three"]}}
    assert Study.parse(study).checked_solvers("d")["nu"].inner_folds == 3


def test_evaluate_tells_what_did_not_converge_and_why(study, tmp_path, capsys):
    method = ["--kernel", "spectrum:k=1", "--solver", "csvc:C=inf", "-o", str(tmp_path / "out")]
    assert main(["evaluate", str(study / "d"), "--folds", str(study / "folds"), *method]) == 0
    rows = read_tsv(tmp_path / "out" / "fits.tsv")
    failed = [row for row in rows if row["converged"] == "False"]
    assert failed
    assert all("no plane was found that separates" in row["remark"] for row in failed)
    assert f"{len(failed)} of 3 fits did not converge: no plane was found" in capsys.readouterr().err


def test_evaluate_tells_what_a_filter_left_out(study, tmp_path, capsys):
    solver = json.dumps({"solver": "filtered", "nu": 0.6, "binary": {"solver": "csvc"}})
    method = ["--kernel", "spectrum:k=2", "--solver", solver, "-o", str(tmp_path / "out")]
    assert main(["evaluate", str(study / "d"), "--folds", str(study / "folds"), *method]) == 0
    assert "remark on 3 of 3 fits, the first: the filter left out " in capsys.readouterr().err
    rows = read_tsv(tmp_path / "out" / "fits.tsv")
    assert all("of 12 negatives and " in row["remark"] for row in rows)


@pytest.mark.parametrize(
    ("values", "refused"),
    [
        ([f"{i / 7:.3f}" for i in range(160)], True),
        ([f"{i % 100 / 7:.2f}" for i in range(160)], True),
        ([f"{i % 50 / 7:.2f}" for i in range(160)], False),  # several samples of each
        ([str(i % 100) for i in range(160)], False),  # integers may be codes of families
        ([f"1.{i}.1" for i in range(160)], False),
        (["0.5", "1.5"] * 5, False),
        ([f"{i}.5" for i in range(10)], False),
    ],
)
def test_measurements_are_no_classes(values, refused):
    found = make_labels([f"u{i}" for i in range(len(values))], values)
    for solver in ("csvc", "linear_discriminant"):
        if refused:
            with pytest.raises(LabelError, match=r"different numbers such as .*to learn numbers, choose solver svr"):
                check_training_part(found, [solver], inner_folds=0)
        else:
            check_training_part(found, [solver], inner_folds=0)
