"""What ``seqkern train`` says of a search: what was chosen, by whom, and options that belong to it."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
from test_cli_predict import fails, records, write

from seqkern.cli.common import unrecognised
from seqkern.cli.main import main
from seqkern.core.errors import ParameterError
from seqkern.core.tsv import read_tsv
from seqkern.evaluation.fold_tables import choice_rows
from seqkern.evaluation.selection import Choice
from seqkern.kernels.kernel_specs import parse_spec
from seqkern.methods.loading import load_model
from seqkern.solvers import build_solver, make_solver
from seqkern.solvers.solver_specs import spec_text, value_text


@pytest.fixture
def files(tmp_path):
    return [write(tmp_path / f"{name}.fa", *records(name, 30)) for name in ("pos", "neg")]


@pytest.fixture
def genes(tmp_path):
    rng = np.random.default_rng(0)
    lines = ["id\tlabel\t" + "\t".join(f"gene{j}" for j in range(12)) + "\n"]
    for i in range(24):
        values = rng.normal(size=12)
        values[3] += 2 * (i % 2)
        lines.append(f"p{i}\t{'01'[i % 2]}\t" + "\t".join(f"{value:.4f}" for value in values) + "\n")
    return write(tmp_path / "genes.tsv", *lines)


def summary(capsys, *argv):
    """Return the printed lines of a training, by the words that they begin with."""
    capsys.readouterr()
    assert main(["train", "--verbose", *argv]) == 0
    out, err = capsys.readouterr()
    return {line[2:12].strip(): line[13:] for line in out.splitlines()[3:] if line[2:12].strip()}, err


def test_draws_alone_are_a_search(tmp_path, files, capsys):
    argv = [*files, "--kernel", "spectrum:k=3", "--solver", "csvc:C=0.01..100", "-o", str(tmp_path / "m")]
    told, _ = summary(capsys, *argv, "--draws", "3")
    spec = load_model(tmp_path / "m").record["solver"]
    assert told["solver"] == f"csvc:C={spec['C']}"
    assert spec["C"] == build_solver(told["solver"]).C


def test_a_choice_at_the_end_of_its_grid_is_told(tmp_path, capsys):
    rng = np.random.default_rng(1)
    files = []
    for name, shares in (("pos", (0.15, 0.35, 0.25, 0.25)), ("neg", (0.25, 0.25, 0.25, 0.25))):
        strings = ["".join(rng.choice(list("ACGT"), 30, p=shares)) for _ in range(60)]
        files.append(write(tmp_path / f"{name}.fa", *(f">{name}{i}\n{text}\n" for i, text in enumerate(strings))))
    argv = ["train", "--verbose", *files, "--kernel", "spectrum:k=2", "--search", "-o", str(tmp_path / "m"), "--solver"]
    assert main([*argv, "psvc:C=1,epsilon=[0.98,0.6,0.3]"]) == 0
    assert "epsilon is the smallest value tried, at an end of the grid: a wider grid may" in capsys.readouterr().out
    assert load_model(tmp_path / "m").record["search"]["ends"] == {"epsilon": "smallest"}
    assert main([*argv, "psvc:C=1"]) == 0
    assert "at an end of the grid" not in capsys.readouterr().out
    tried = [spec["epsilon"] for spec in load_model(tmp_path / "m").record["search"]["specs"]]
    assert len(tried) > 2


@pytest.mark.parametrize("option", [("--rule", "best"), ("--metric", "auc"), ("--folds", "3")])
def test_options_of_a_search_need_one(tmp_path, files, capsys, option):
    argv = ["train", *files, "--kernel", "spectrum:k=3", "-o", str(tmp_path / "m"), *option, "--solver"]
    assert f"{option[0]} needs a search" in fails(capsys, *argv, "csvc:C=1")
    assert not (tmp_path / "m").exists()
    assert main([*argv, "csvc:C=[0.1,1]", "--search"]) == 0


@pytest.mark.parametrize(
    ("solver", "tried"),
    [
        ("csvc", {"C": {0.1, 1, 10}}),
        ("linear_svc:class_weight=balanced", {"C": {0.1, 0.3, 1}}),
        ("psvc:epsilon=0.1", {"C": {0.01, 0.03, 0.1}, "epsilon": {0.1}}),
        ("one_against_rest:binary=csvc", {"C": {0.1, 1, 10}}),
        ("csvc:C=1", {}),
        ("psvc:C=1", {}),
        ("one_against_rest:binary=(csvc:C=1)", {}),
        ("nusvc", {}),
    ],
)
def test_a_cost_that_was_left_out_is_searched(tmp_path, files, solver, tried):
    third = [write(tmp_path / "third.fa", *records("third", 20))] if "rest" in solver else []
    argv = ["train", *files, *third, "--kernel", "spectrum:k=3", "-o", str(tmp_path / "m"), "--solver", solver]
    assert main(argv) == 0
    model = load_model(tmp_path / "m")
    search = model.record["search"]
    specs = [spec.get("binary", spec) for spec in ([] if search is None else search["specs"])]
    assert bool(specs) == bool(tried)
    for name, values in tried.items():
        assert {spec[name] for spec in specs} >= values
    if not third:  # the decisions that chose are those that set the threshold
        assert (model.threshold is None) == (not tried)
        assert main([*argv, "--threshold", "none"]) == 0
        assert load_model(tmp_path / "m").threshold is None


@pytest.mark.parametrize("text", ['{"C": 1}', "csv", "csvc:c=1"])
def test_what_names_no_solver_or_parameter_is_an_error(tmp_path, files, capsys, text):
    argv = ["train", *files, "--kernel", "spectrum:k=3", "-o", str(tmp_path / "m"), "--solver", text]
    assert "csvc" in fails(capsys, *argv)


@pytest.mark.parametrize("method", [(), ("--solver", "linear_svc"), ("--solver", "csvc:C=10", "--threshold", "mcc")])
def test_a_threshold_is_set_with_copies_in_one_fold(tmp_path, method):
    # classes that differ by chance alone: only a copy in the training part tells one from the other
    rng = np.random.default_rng(5)
    files = []
    for name in ("pos", "neg"):
        rows = []
        for i in range(40):
            letters = rng.choice(list("ACGT"), 60)
            changed = letters.copy()
            changed[i] = "ACGT"[("ACGT".index(changed[i]) + 1) % 4]
            rows += [f">{name}{i}.{j}\n{''.join(one)}\n" for j, one in enumerate((letters, letters, changed))]
        files.append(write(tmp_path / f"{name}.fa", *rows))
    reached = []
    for more in ((), ("--allow-similar",)):
        argv = ["train", *files, "--kernel", "spectrum:k=5", *method, *more, "-o", str(tmp_path / "m")]
        assert main(argv) == 0
        threshold = load_model(tmp_path / "m").threshold
        reached.append((threshold.sensitivity + threshold.specificity) / 2)
    assert reached[0] < 0.65
    assert reached[1] > 0.95


def test_folds_belong_to_a_threshold_too(tmp_path, files):
    argv = ["train", *files, "--kernel", "spectrum:k=3", "--solver", "csvc:C=1", "-o", str(tmp_path / "m")]
    assert main([*argv, "--folds", "3", "--threshold", "cost=1:2"]) == 0


def test_what_selected_chose_is_told(tmp_path, genes, capsys):
    argv = [genes, "--kernel", "linear", "-o", str(tmp_path / "m"), "--search"]
    solver = "selected:selector=(golub),predictor=(csvc:C=[0.1,1]),n_features=[2,3],folds=3"
    told, _ = summary(capsys, *argv, "--solver", solver)
    report = load_model(tmp_path / "m").record["report"]
    assert told["chosen"] == f"{report['n_features']} features, predictor csvc:C={report['predictor']['C']}"
    assert f"mean error {report['error']:.4f} in the solver's own cross-validation" in told["score"]
    assert told["solver"] == solver
    told, _ = summary(capsys, *argv, "--solver", "selected:selector=(golub),predictor=(csvc:C=1),n_features=1")
    assert told["chosen"] == "1 feature, predictor csvc:C=1"
    assert "not cross-validated" in told["score"]


SPECS = [
    "csvc:C=1",
    "csvc:C=1e-05",
    "csvc:C=inf",
    "psvc:kernel=features,epsilon=0.1",
    "one_against_rest:binary=(csvc:C=1)",
    "selected:selector=(golub),predictor=(nusvc:nu=[0.1,0.3]),n_features=[2,5],folds=3",
    '{"solver": "csvc", "C": 1, "class_weight": {"a": 2, "b": 1}}',
]


@pytest.mark.parametrize("text", SPECS)
def test_a_specification_as_text_can_be_given_again(text):
    spec = parse_spec(text, "solver")
    assert spec_text(spec) == text
    assert parse_spec(spec_text(spec), "solver") == spec


def test_choices_hold_texts_that_can_be_given_again():
    spec = {"solver": "selected", "selector": {"selector": "golub"}, "n_features": [2, 5], "scaler": {"floor": 1}}
    choice = Choice("linear", spec, 0.5, [], np.empty((1, 0)))
    rows = {row["parameter"]: row["value"] for row in choice_rows(choice, ["linear"], {}, None, {})}
    assert rows == {"selector": "golub", "n_features": "[2,5]", "scaler": '{"floor": 1}'}
    assert value_text(None) is None


def test_inner_fits_that_do_not_converge_are_one_line(tmp_path, files, capsys):
    argv = [*files, "--kernel", "spectrum:k=1", "--solver", "nusvc:nu=[0.1,0.2]", "--search", "--folds", "3"]
    _, err = summary(capsys, *argv, "-o", str(tmp_path / "m"))
    lines = [line for line in err.splitlines() if "of the cross-validation did not converge" in line]
    assert len(lines) == 1
    assert "warning: 6 of 6 fits of the cross-validation did not converge; the largest gap is" in lines[0]
    assert len(err.splitlines()) == 2  # the other is of the last fit


def test_a_solver_without_labels_says_so():
    with pytest.raises(ParameterError, match=r"'kernel_pca' is unsupervised.*without --labels"):
        make_solver("kernel_pca", "binary")


def test_without_labels_there_are_no_candidates(tmp_path, files, capsys):
    argv = ["train", files[0], "--kernel", "spectrum:k=2", "--solver", "one_class_svm", "--search"]
    assert "cannot choose one of 5 candidates without labels" in fails(capsys, *argv, "-o", str(tmp_path / "m"))


@pytest.mark.parametrize(("search", "word"), [(None, "--search --metric"), ({"metric": "auc"}, "or --metric")])
def test_the_metric_is_recommended_where_it_does_something(search, word):
    model = SimpleNamespace(record={"recognised": {"a": 0, "b": 3}, "search": search})
    assert word in next(unrecognised(model))


PREDICTORS = ["csvc:C=0.1", "psvc:kernel=features,epsilon=0", "kernel_neighbors"]


@pytest.mark.parametrize("predictor", PREDICTORS)
@pytest.mark.parametrize("scaled", [False, True])
def test_weights_of_selected_features(tmp_path, genes, capsys, predictor, scaled):
    path, features = str(tmp_path / "m"), tmp_path / "features.tsv"
    spec = {"solver": "selected", "selector": {"selector": "golub"}, "n_features": 3, "scaler": {} if scaled else None}
    spec["predictor"] = parse_spec(predictor, "solver")
    argv = ["train", genes, "--kernel", "linear", "--solver", json.dumps(spec), "-o", path]
    assert main([*argv, "--features", str(features)]) == 0
    rows = read_tsv(features)
    model = load_model(path)
    names = [model.names[j] for j in model.solver.selection().columns]
    assert [row["feature"] for row in rows] == names  # as the selector ranked them
    if predictor == "kernel_neighbors":
        assert {row["weight"] for row in rows} == {""}
        return
    # what the decision gains by one feature, and nothing else, being larger
    solver = model.solver
    ground = solver.scaler_.means_ if scaled else np.zeros(3)
    units = solver.scaler_.scales_ if scaled else np.ones(3)
    for row, column in zip(rows, solver.selection().columns, strict=True):
        step = np.array([ground, ground])
        step[1, column] += 1e-3 * units[column]
        gain = np.diff(solver.decision_function(step))[0]
        assert float(row["weight"]) == pytest.approx(gain / 1e-3, rel=1e-6)
