"""Solvers within solvers, as specs name them: by name, by text, or in full."""

import numpy as np
import pytest

from seqkern.cli.main import main
from seqkern.core.errors import ParameterError
from seqkern.solvers import SOLVERS, build_solver, expand_grid, make_solver
from seqkern.solvers.solver_specs import draw_spec, has_range

HOLDERS = [(name, key) for name, cls in SOLVERS.classes.items() for key in cls.nested_solvers()]


def test_all_solvers_of_binary_machines_hold_one():
    several = ["binary_tree", "decision_dag", "one_against_rest", "pairwise_voting"]
    others = ["filtered", "positive_unlabelled", "two_stage", "weighted_threshold"]
    assert [name for name, _ in HOLDERS] == sorted([*several, *others])


@pytest.mark.parametrize(("name", "key"), HOLDERS)
def test_a_solver_inside_is_read_in_every_form(name, key):
    full = {"solver": name, key: {"solver": "csvc", "C": 3}}
    spec = build_solver(full).spec()
    for same in (f"{name}:{key}=(csvc:C=3)", {"solver": name, key: "csvc:C=3"}, {"solver": name, key: "(csvc:C=3)"}):
        assert build_solver(same).spec() == spec
        assert expand_grid(same) == [full]
    plain = build_solver({"solver": name, key: {"solver": "csvc"}}).spec()
    assert build_solver(f"{name}:{key}=csvc").spec() == plain
    assert build_solver({"solver": name, key: "csvc"}).spec() == plain


def test_grids_and_ranges_of_a_solver_inside():
    grid = expand_grid({"solver": "filtered", "binary": ["csvc:C=[1,10]", "nusvc"]})
    assert [spec["binary"] for spec in grid] == [
        {"solver": "csvc", "C": 1},
        {"solver": "csvc", "C": 10},
        {"solver": "nusvc"},
    ]
    ranged = {"solver": "one_against_rest", "binary": "csvc:C=0.1..10"}
    assert has_range(ranged)
    assert 0.1 <= draw_spec(ranged, np.random.default_rng(0))["binary"]["C"] <= 10


def test_what_is_no_solver_inside_is_told():
    with pytest.raises(ParameterError, match=r"unknown solver 'csvm'; did you mean 'csvc'"):
        build_solver("one_against_rest:binary=csvm")
    with pytest.raises(ParameterError, match="give a binary solver"):
        build_solver("one_against_rest:binary=svr")


def test_yaml_on_the_command_line_is_told_how_to_write(capsys):
    argv = ["train", "p.fa", "n.fa", "--kernel", "spectrum:k=2", "--solver", "{solver: csvc}", "-o", "m"]
    assert main(argv) == 1
    told = capsys.readouterr().err
    assert 'write it as JSON ({"solver": "csvc"}) or text (csvc:C=1)' in told
    assert told.count("\n") == 1


@pytest.mark.parametrize("name", ["positive_unlabelled", "two_stage"])
def test_solvers_of_one_positive_class_do_not_vote_by_pairs(name):
    with pytest.raises(ParameterError, match=f"'{name}' learns two classes only; name the positive class"):
        make_solver(f"{name}:binary=csvc", "multiclass")
    assert make_solver(f"{name}:binary=csvc", "binary").name == name
