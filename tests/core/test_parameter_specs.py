"""Values of specs are read as their parameters are declared, and not by their looks."""

import json
import math
import time

import pytest

from seqkern.cli.main import main
from seqkern.core.errors import ParameterError
from seqkern.core.specs import build_spec, json_form, parse_spec
from seqkern.gram.transforms import build_transform, repair_transforms
from seqkern.kernels import KERNELS, build_kernel
from seqkern.solvers import SOLVERS, build_solver, expand_grid
from seqkern.solvers.layers import build_layer
from seqkern.solvers.selection.selectors import SELECTORS, build_scaler, build_selector

jsonschema = pytest.importorskip("jsonschema")


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("spectrum:k=2,alphabet=01", {"kernel": "spectrum", "k": 2, "alphabet": "01"}),
        ("spectrum:alphabet=1e5", {"kernel": "spectrum", "alphabet": "1e5"}),
        ("gappy_pair:annotation=true", {"kernel": "gappy_pair", "annotation": "true"}),
        ("gappy_pair:annotation=none", {"kernel": "gappy_pair", "annotation": None}),
        ("gappy_pair:annotation_letters=1-3", {"kernel": "gappy_pair", "annotation_letters": "1-3"}),
        ("motif:motifs=[12,none]", {"kernel": "motif", "motifs": ["12", "none"]}),
        ("gappy:g=4-6", {"kernel": "gappy", "g": "4-6"}),
        ("mismatch:k=4-6,m=1", {"kernel": "mismatch", "k": [4, 5, 6], "m": 1}),
        ("shifted_weighted_degree:shift=0-2", {"kernel": "shifted_weighted_degree", "shift": [0, 1, 2]}),
        ("window:position_weights=[1,2.5,1]", {"kernel": "window", "position_weights": [1, 2.5, 1]}),
        (
            "window:position_weights=flat,encoding=62",
            {"kernel": "window", "position_weights": "flat", "encoding": "62"},
        ),
        ("string:matching=[[1,0],[0,1]]", {"kernel": "string", "matching": [[1, 0], [0, 1]]}),
        ("smith_waterman:matrix=62", {"kernel": "smith_waterman", "matrix": "62"}),
        ("rbf:gamma=scale,base=(linear)", {"kernel": "rbf", "gamma": "scale", "base": {"kernel": "linear"}}),
        ("nothing:k=1-2,x=01,y=yes", {"kernel": "nothing", "k": [1, 2], "x": 1, "y": "yes"}),
    ],
)
def test_kernels(text, spec):
    assert parse_spec(text) == spec


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("csvc:C=[0.1,inf],tol=1e-4", {"solver": "csvc", "C": [0.1, "inf"], "tol": 1e-4}),
        ("csvc:C=0.01..100", {"solver": "csvc", "C": "0.01..100"}),
        ("kernel_neighbors:n_neighbors=1-3", {"solver": "kernel_neighbors", "n_neighbors": [1, 2, 3]}),
        ("binary_tree:binary=csvc,order=[01,1e2]", {"solver": "binary_tree", "binary": "csvc", "order": ["01", "1e2"]}),
        (
            "selected:selector=(golub),predictor=(nusvc:nu=[0.1,0.3])",
            {
                "solver": "selected",
                "selector": {"selector": "golub"},
                "predictor": {"solver": "nusvc", "nu": [0.1, 0.3]},
            },
        ),
    ],
)
def test_solvers(text, spec):
    assert parse_spec(text, "solver") == spec


def test_an_alphabet_of_digits_is_an_alphabet():
    kernel = build_kernel("spectrum:k=2,alphabet=01")
    assert kernel(["0101", "1100"]).shape == (2, 2)
    assert build_kernel({"kernel": "spectrum", "k": 2, "alphabet": 12}).alphabet == "12"
    assert build_kernel(kernel.spec()).identity() == kernel.identity()


def test_annotation_letters_of_digits_are_letters(tmp_path, capsys):
    kernel = build_kernel("gappy_pair:k=1,m=1,annotation=states,annotation_letters=123")
    assert kernel.annotation_letters == "123"
    (tmp_path / "a.fa").write_text(">a\nACGT\n>b\nACCT\n")
    (tmp_path / "states").write_text(">a\n1233\n>b\n1223\n")
    spec = "gappy_pair:k=1,m=1,annotation=states,annotation_letters=123"
    out = str(tmp_path / "gram.npy")
    argv = ["gram", str(tmp_path / "a.fa"), "--kernel", spec, "--track", f"states={tmp_path / 'states'}", "-o", out]
    assert main(argv) == 0, capsys.readouterr().err
    assert main([*argv[:3], spec.replace("123", "11"), *argv[4:]]) == 1
    assert "annotation_letters='11' is not possible; give distinct ASCII letters" in capsys.readouterr().err


def test_a_range_where_one_integer_belongs_is_refused():
    with pytest.raises(ParameterError, match=r"m='1-2' is not possible; give an integer at least 0"):
        build_kernel({"kernel": "mismatch", "k": 4, "m": "1-2"})
    with pytest.raises(ParameterError, match=r"n_features='1-5' is not possible"):
        build_selector("golub:n_features=1-5")


def test_texts_in_a_configuration_are_read_as_on_the_command_line():
    assert build_solver({"solver": "csvc", "C": "inf", "tol": "1e-4"}).get_params()["C"] == math.inf
    assert build_selector({"selector": "psvm", "epsilon": "1e-2", "scaler": "log:x"} | {"scaler": None}).epsilon == 0.01
    assert build_scaler({"normalize": "log", "floor": "1e1"}).floor == 10
    assert build_kernel({"kernel": "mismatch", "k": "3-4", "m": "1"}).k == [3, 4]
    assert build_layer("segments:shortest=H:3 E:2,weight=1e-1").shortest == "H:3 E:2"
    assert build_layer({"layer": "segments", "shortest": {"H": "3"}}).shortest == {"H": 3}
    assert repair_transforms("empirical_map:normalize=false") == [{"transform": "empirical_map", "normalize": False}]
    with pytest.raises(ParameterError, match="method='01' is not possible; choose clip or flip or shift"):
        build_transform("repair:method=01")


def test_grids_stand_in_the_order_of_the_constructor():
    grid = expand_grid("psvc:epsilon=[0.1,0.2],C=[1,inf]")
    assert [(spec["C"], spec["epsilon"]) for spec in grid] == [(1, 0.1), (1, 0.2), ("inf", 0.1), ("inf", 0.2)]


def test_what_is_written_wrong_in_json_names_the_kind():
    with pytest.raises(ParameterError, match=r'write it as JSON \(\{"layer": "structure"\}\) or text'):
        build_layer("{layer: structure}")
    with pytest.raises(ParameterError, match=r"3 is not a layer; write for example structure:window=15"):
        build_spec(3, "layer")


BUILD = {"kernel": build_kernel, "solver": build_solver, "selector": build_selector}
CLASSES = [(registry.kind, cls) for registry in (KERNELS, SOLVERS, SELECTORS) for cls in registry.classes.values()]


@pytest.mark.parametrize(("kind", "cls"), CLASSES, ids=lambda one: getattr(one, "name", one))
def test_what_is_built_is_built_again_from_its_spec(kind, cls):
    for example in cls.examples():
        spec = json.loads(json.dumps(example.spec()))
        assert json_form(BUILD[kind](spec).spec()) == spec, example


ODD_NUMBERS = ["1_000", "١", "1e400", "9" * 400, "１"]
"""What Python reads as a number, or as infinity, and no table of numbers has."""


@pytest.mark.parametrize("odd", ODD_NUMBERS)
def test_numbers_are_in_ascii_without_underscores_and_finite(odd):
    for spec in (f"csvc:C={odd}", {"solver": "csvc", "C": odd}):
        with pytest.raises(ParameterError, match=r"C='.* is not possible"):
            build_solver(spec)
    with pytest.raises(ParameterError, match=r"k='.* is not possible"):
        build_kernel({"kernel": "spectrum", "k": odd})
    with pytest.raises(ParameterError):
        parse_spec(f"{odd}*spectrum:k=1 + spectrum:k=2")


def test_numbers_of_json_are_finite():
    with pytest.raises(ParameterError, match="is not JSON: '1e400' is not a finite number"):
        parse_spec('{"solver": "csvc", "C": 1e400}', "solver")


@pytest.mark.parametrize("odd", ODD_NUMBERS)
@pytest.mark.parametrize(
    "argv", [["cv", "a.fa", "--folds"], ["background", "a.bed", "--factor"], ["cv", "a.fa", "--threads"]]
)
def test_options_are_in_ascii_without_underscores_and_finite(argv, odd, capsys):
    assert main([*argv, odd]) == 2
    assert f"argument {argv[-1]}: " in capsys.readouterr().err


@pytest.mark.parametrize("leaf", [{"kernel": "spectrum", "k": 3}, "spectrum:k=3", "spectrum:k=3+spectrum:k=2"])
def test_kernels_of_too_many_kernels_are_refused_soon(leaf):
    spec = leaf
    for _ in range(16):
        spec = {"kernel": "sum", "parts": [spec, spec]}
    start = time.process_time()
    for given in (spec, "+".join(["spectrum:k=3"] * 5000)):
        with pytest.raises(ParameterError, match="consists of more than 1,000 objects"):
            build_kernel(given)
    assert time.process_time() - start < 5
    assert len(build_kernel("+".join(["spectrum:k=3"] * 300)).parts) == 300  # counted anew
