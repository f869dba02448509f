"""Weights of classes by the names that a user knows, where solvers see codes."""

import json

import numpy as np
import pytest

from seqkern.cli.main import main
from seqkern.core.errors import ParameterError
from seqkern.methods.loading import load_model
from seqkern.solvers import CSVC, FilteredSVC, PairwiseVoting, make_solver

NAMES = ("neg", "pos")


def test_names_become_codes():
    assert make_solver({"solver": "csvc", "class_weight": {"neg": 1, "pos": 3}}, "binary", NAMES).class_weight == {
        -1.0: 1,
        1.0: 3,
    }
    given = CSVC(class_weight={"a": 1, "c": 2, "b": 3})
    solver = make_solver(PairwiseVoting(given), "multiclass", ("a", "b", "c"))
    assert solver.binary.class_weight == {0: 1, 2: 2, 1: 3}
    assert given.class_weight == {"a": 1, "c": 2, "b": 3}
    nested = make_solver(FilteredSVC(CSVC(class_weight={"pos": 2.0, "neg": 1.0})), "binary", NAMES)
    assert nested.binary.class_weight == {1.0: 2.0, -1.0: 1.0}
    # codes are taken, unless a class is called so
    assert make_solver(CSVC(class_weight={"1": 2, "-1": 1}), "binary", NAMES).class_weight == {1.0: 2, -1.0: 1}
    assert make_solver(CSVC(class_weight={"1": 2, "-1": 1}), "binary", ("1", "-1")).class_weight == {-1.0: 2, 1.0: 1}
    for solver in (CSVC(), CSVC(class_weight="balanced")):
        assert make_solver(solver, "binary", NAMES) is solver


def test_no_such_class():
    with pytest.raises(ParameterError, match=r"names 'posi'.*classes are: neg, pos; or give balanced"):
        make_solver(CSVC(class_weight={"posi": 2.0, "neg": 1.0}), "binary", NAMES)


def test_train_and_evaluate_take_names(tmp_path, capsys):
    rng = np.random.default_rng(0)
    with open(tmp_path / "both.fa", "w") as file:
        for i in range(30):
            file.write(f">u{i} label={'decoy' if i % 3 else 'site'}\n{''.join(rng.choice(list('ACGT'), 20))}\n")

    def train(weights, name):
        solver = json.dumps({"solver": "csvc", "class_weight": weights})
        command = ["train", str(tmp_path / "both.fa"), "--labels", "header", "--positive", "site"]
        return main([*command, "--kernel", "spectrum:k=2", "--solver", solver, "-o", str(tmp_path / name)])

    assert train({"site": 5, "decoy": 0.5}, "names") == 0
    assert train({"1": 5, "-1": 0.5}, "codes") == 0
    assert train({"1": 0.5, "-1": 5}, "other") == 0
    machines = {name: load_model(tmp_path / name).solver for name in ("names", "codes", "other")}
    assert machines["names"].dual_coef_.tobytes() == machines["codes"].dual_coef_.tobytes()
    assert machines["names"].dual_coef_.tobytes() != machines["other"].dual_coef_.tobytes()
    assert load_model(tmp_path / "names").record["solver"]["class_weight"] == {"site": 5, "decoy": 0.5}
    capsys.readouterr()
    assert train({"sites": 5, "decoy": 0.5}, "none") == 1
    assert "names 'sites', which is not a class; classes are: decoy, site" in capsys.readouterr().err

    entry = json.dumps({"fasta": str(tmp_path / "both.fa"), "labels": {"from": "header", "positive": "site"}})
    folder = str(tmp_path / "d")
    assert main(["datasets", "--name", "d", "--entry", entry, "-o", folder]) == 0
    assert main(["folds", folder, "--k", "3", "-o", str(tmp_path / "folds")]) == 0
    evaluate = ["evaluate", folder, "--folds", str(tmp_path / "folds"), "--kernel", "spectrum:k=2", "--solver"]
    for name in ("site", "sites"):
        solver = json.dumps({"solver": "csvc", "C": [1, 2], "class_weight": {name: 5, "decoy": 0.5}})
        capsys.readouterr()
        code = main([*evaluate, solver, "--threshold", "cost=1:1", "-o", str(tmp_path / "out")])
        assert code == (name == "sites")
    assert "classes are: decoy, site" in capsys.readouterr().err
