"""Folds of residues with layers after the solver: what reaches a fit, what is written, what is refused early."""

import json
from dataclasses import replace

import numpy as np
import pytest
from folded import InnerLoop, evaluate_fold
from given import Given

from seqkern.cli.main import main
from seqkern.core.errors import ConfigError, FoldError, LabelError, ParameterError
from seqkern.core.tsv import read_tsv
from seqkern.evaluation import make_folds
from seqkern.evaluation.held_out import fit_layers, held_out_decisions
from seqkern.evaluation.metrics import brier
from seqkern.kernels import build_kernel
from seqkern.methods import crossval
from seqkern.methods import method as method_module
from seqkern.methods.sources import FeatureSource, FitData, FittedKernel
from seqkern.methods.training import train_model
from seqkern.sequences.labels import UNLABELLED, make_labels
from seqkern.solvers import make_solver
from seqkern.solvers.layers import Layers
from seqkern.solvers.layers.chain import Layer
from seqkern.study import Task, load_dataset, make_dataset
from seqkern.study.study import Study

ENTRY = {
    "simulate": {"kind": "secondary_structure", "n_chains": 12, "mean_length": 40, "propensity": 5},
    "residues": {"window": 5},
}
LAYERS = ["structure:window=5,n_components=30", "segments", "probabilities"]
KERNEL = "window:vector_kernel=linear"
SOLVER = {"solver": "primal_svc", "C": 1.0}
INNER = InnerLoop(folds=2)


@pytest.fixture(scope="module")
def dataset():
    return make_dataset("toy", ENTRY, seed=1)


def evaluated(dataset, task=None, layers=LAYERS, solver=SOLVER, inner=INNER):
    """Return the result of the first of three folds, and its split."""
    task = dataset.task() if task is None else task
    split = next(iter(make_folds(task.labels, dataset.X, "grouped", k=3, seed=1)))
    source = {"k": FeatureSource(build_kernel(KERNEL), dataset.X, blocks=True)}
    return evaluate_fold(task, split, source, [solver], inner, residues=dataset.residues, layers=layers), split


def test_what_layers_give_is_written(dataset):
    result, split = evaluated(dataset)
    labels = dataset.task().labels.take(split.test)
    p = np.array([[row[f"probability:{c}"] for c in labels.classes] for row in result.decisions])
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert result.metrics["brier"] == pytest.approx(np.mean(((p - np.eye(3)[labels.y]) ** 2).sum(axis=1)))
    assert [row["stage"] for row in result.cost] == ["choose", "hold out", "layers", "kernel", "train", "predict"]
    assert "layer 2 segments weight" in {row["parameter"] for row in result.choices}
    plain, _ = evaluated(dataset, layers=[])
    assert not any(key.startswith("probability") for key in plain.decisions[0])
    assert result.metrics["accuracy"] > plain.metrics["accuracy"]
    # no helix of one or two residues, no strand of one
    chains = dataset.residues.take(split.test)
    predicted = np.array([row["predicted"] for row in result.decisions])
    for _, rows in chains.chain_rows():
        text = "".join(predicted[rows])
        for length, state in ((2, "H"), (1, "E")):
            assert not any(f"{a}{state * n}{b}" in f".{text}." for n in range(1, length + 1) for a, b in others(state))


def others(state):
    rest = [c for c in ".HEC" if c != state]
    return [(a, b) for a in rest for b in rest]


def test_layers_of_two_classes(dataset):
    labels = dataset.task().labels
    two = make_labels(labels.ids, labels.names(), positive="H", groups=labels.groups)
    result, split = evaluated(dataset, Task("helix", two), inner=InnerLoop(folds=2, calibration="platt"))
    p = np.array([row["probability"] for row in result.decisions])
    f = np.array([row["decision"] for row in result.decisions])
    np.testing.assert_allclose(p, 1 / (1 + np.exp(-f)))
    y = two.take(split.test).y
    assert result.metrics["brier"] == pytest.approx(np.mean((p - y) ** 2))
    assert {row["predicted"] for row in result.decisions} <= {"H", "not H"}
    assert result.metrics["auc"] > 0.6


def test_no_label_of_a_test_chain_reaches_a_fit(dataset):
    first, split = evaluated(dataset)
    labels = dataset.task().labels
    y = labels.y.copy()
    y[split.test] = (y[split.test] + 1) % 3
    split_of = Task("all", replace(labels, y=y))
    sources = {"k": FeatureSource(build_kernel(KERNEL), dataset.X, blocks=True)}
    again = evaluate_fold(split_of, split, sources, [SOLVER], INNER, residues=dataset.residues, layers=LAYERS)
    for one, two in zip(first.decisions, again.decisions, strict=True):
        assert without_label(one) == without_label(two)
    assert again.metrics["accuracy"] != first.metrics["accuracy"]


def masked(dataset):
    """Return the task of a data set whose states are unknown for a third of the residues, and for a whole chain."""
    labels = dataset.task().labels
    hidden = np.random.default_rng(5).random(len(labels)) < 1 / 3
    return Task("all", replace(labels, y=np.where(hidden | (dataset.residues.record == 3), UNLABELLED, labels.y)))


METHODS = {
    "linear": (KERNEL, SOLVER, "blocks"),
    "nystroem": ("nystroem:base=window,n_components=30", SOLVER, "blocks"),
    "gram": ("window:gamma=0.1", {"solver": "one_against_rest", "binary": {"solver": "csvc", "C": 1.0}}, "gram"),
}


def source_of(dataset, method):
    kernel, _, form = METHODS[method]
    kernel = build_kernel(kernel)
    return FittedKernel(kernel, dataset.X) if form == "gram" else FeatureSource(kernel, dataset.X, blocks=True)


@pytest.mark.parametrize("method", METHODS)
def test_a_fold_says_of_chains_what_the_trained_model_says(dataset, method, monkeypatch):
    fitted = []

    def noting(*arguments, **options):
        out = fit_layers(*arguments, **options)
        fitted.append(out[0].state())
        return out

    monkeypatch.setattr(method_module, "fit_layers", noting)
    task, (kernel, solver, _) = masked(dataset), METHODS[method]
    split = next(iter(make_folds(task.labels, dataset.X, "grouped", k=3, seed=1)))
    options = {"residues": dataset.residues, "layers": LAYERS}
    found = evaluate_fold(task, split, {"k": source_of(dataset, method)}, [solver], INNER, **options)
    chain = dataset.residues.record
    rows = np.flatnonzero(np.isin(chain, chain[split.train]))
    assert not task.labels.used()[rows].all()
    model = train_model(
        dataset.X.take(rows),
        task.labels.take(rows),
        build_kernel(kernel),
        [solver],
        folds=INNER.folds,
        seed=INNER.seed,
        residues=dataset.residues.take(rows),
        layers=LAYERS,
    )
    (header, arrays), (other_header, other_arrays) = fitted
    assert header == other_header
    assert arrays.keys() == other_arrays.keys()
    for name in arrays:
        np.testing.assert_array_equal(arrays[name], other_arrays[name])
    tested = np.unique(chain[split.test])
    residues, decided = model.decide(dataset.residues.chains.take(tested))
    place = {
        (int(tested[record]), int(at)): i
        for i, (record, at) in enumerate(zip(residues.record, residues.place, strict=True))
    }
    own = [place[int(chain[row]), int(dataset.residues.place[row])] for row in split.test]
    assert len(own) < len(residues)
    classes = task.labels.classes
    assert [row["predicted"] for row in found.decisions] == [classes[code] for code in decided.predicted[own]]
    # a model multiplies its weights by Nyström's map first: other roundings of single precision
    tolerance = 1e-5 if method == "nystroem" else 0
    for column, values in (("decision", decided.scores), ("probability", decided.probabilities)):
        of_fold = [[row[f"{column}:{c}"] for c in classes] for row in found.decisions]
        np.testing.assert_allclose(of_fold, values[own], rtol=0, atol=tolerance)


def test_which_labels_of_test_chains_are_known_changes_nothing(dataset):
    task = masked(dataset)
    split = next(iter(make_folds(task.labels, dataset.X, "grouped", k=3, seed=1)))
    y = task.labels.y.copy()
    y[split.test[::2]] = UNLABELLED
    y[split.test[1::2]] = 0
    fewer = replace(split, test=split.test[1::2])
    options = {"residues": dataset.residues, "layers": LAYERS}
    one, two = (
        evaluate_fold(
            Task("all", replace(task.labels, y=own)),
            part,
            {"k": source_of(dataset, "nystroem")},
            [SOLVER],
            INNER,
            **options,
        )
        for own, part in ((task.labels.y, split), (y, fewer))
    )
    assert [without_label(row) for row in one.decisions[1::2]] == [without_label(row) for row in two.decisions]


def without_label(row):
    return {key: value for key, value in row.items() if key != "label"}


class Remembering:
    """A solver whose decisions say which units it was trained on."""

    report_ = {"converged": True}  # noqa: RUF012

    def fit(self, rows, y, groups):
        self.rows = set(rows)
        return self

    def decision_function(self, rows):
        return np.array([[float(row in self.rows)] * 3 for row in rows])

    def count_not_converged(self):
        return 0


def test_no_score_of_a_machine_about_its_own_residues_reaches_a_fit(dataset, monkeypatch):
    labels, seen = dataset.task().labels, []

    def fit(self, scores, chains, y, classes=None):
        seen.append((np.array(scores), set(chains.record.tolist())))
        self.chains_, self.not_converged_ = seen[-1][1], 0
        return self

    monkeypatch.setattr(Layer, "fit", fit)
    for name in ("segments:SegmentLayer", "segments:ProbabilityLayer"):
        module, _, cls = name.partition(":")
        layer = getattr(__import__(f"seqkern.solvers.layers.{module}", fromlist=[cls]), cls)

        def transform(self, scores, chains):
            return scores + np.isin(chains.record, list(self.chains_))[:, None]

        monkeypatch.setattr(layer, "transform", transform)
    fitted, n_fits, _ = fit_layers(
        ["probabilities", "segments", "probabilities"],
        # by chain, though nobody says so
        Given(replace(labels, groups=None), {"k": lambda *rows: [own.tolist() for own in rows[:2]]}, dataset.residues),
        "k",
        Remembering(),
        folds=3,
        seed=1,
    )
    assert n_fits == 3
    assert len(seen) == 1 + 3 + 1 + 3 + 1
    for scores, _ in seen:
        assert (scores == 0).all()
    sizes = [len(chains) for _, chains in seen]
    assert sizes.count(12) == 3
    assert sum(12 - size for size in sizes) == 2 * 12
    assert [layer.name for layer in fitted.layers_] == ["probabilities", "segments", "probabilities"]


def test_held_out_decisions_of_several_classes(dataset):
    labels = dataset.task().labels
    source = FeatureSource(build_kernel(KERNEL), dataset.X, blocks=True)
    solver = make_solver(SOLVER, "multiclass")

    def held_out(labels):
        return held_out_decisions(FitData(labels, {"k": source}), "k", solver, folds=3, seed=1)

    found, n_folds, _ = held_out(labels)
    assert found.shape == (len(labels), 3)
    assert n_folds == 3
    assert not np.isnan(found).any()
    with pytest.raises(LabelError, match="no sample of class 'C'"):
        held_out(labels.take(labels.y < 2))
    chains = dataset.residues.record
    whole = next(c for c in range(12) if len(np.unique(labels.y[chains == c])) == 3)
    one = labels.take(chains == whole)
    with pytest.raises(FoldError, match="layers need folds"):
        held_out(one)


def test_brier_of_several_classes():
    labels = np.array([0, 1, 2, 2])
    assert brier(labels, np.eye(3)[labels]) == 0.0
    assert brier(labels, np.tile([0.25, 0.25, 0.5], (4, 1))) == pytest.approx(1 - 0.25**2 - 0.25**2 - 0.5**2)
    assert np.isnan(brier(np.zeros(0), np.zeros((0, 3))))


# ---- the verb -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """Return the arguments of ``seqkern evaluate`` on residues, and the folder."""
    folder = tmp_path_factory.mktemp("study")
    data, folds = str(folder / "data"), str(folder / "folds")
    assert main(["datasets", "--name", "toy", "--entry", json.dumps(ENTRY), "-o", data]) == 0
    assert main(["folds", data, "--method", "grouped", "--k", "3", "-o", folds]) == 0
    words = ["evaluate", data, "--folds", folds, "--kernel", KERNEL, "--solver", json.dumps(SOLVER)]
    return [*words, "--inner-folds", "2"], folder


def test_the_verb_writes_the_same_bytes_every_time(study):
    words, folder = study
    for name, layers in (("one", LAYERS), ("two", [json.dumps(Layers(LAYERS).specs())])):
        assert main([*words, "--layers", *layers, "-o", str(folder / name)]) == 0
    for table in ("decisions.tsv", "metrics.tsv", "choices.tsv", "states.txt", "segments.tsv"):
        assert (folder / "one" / table).read_bytes() == (folder / "two" / table).read_bytes()
    header = list(read_tsv(folder / "one" / "decisions.tsv")[0])
    assert [name for name in header if name.startswith("probability:")] == [f"probability:{c}" for c in "HEC"]
    assert header[-1] == "predicted"
    laps = json.loads((folder / "one" / "cost.json").read_text())["laps"]
    assert {"hold out", "layers"} <= {row["stage"] for row in laps}
    assert "difference between the two highest" in (folder / "one" / "states.txt").read_text().splitlines()[0]


def test_other_layers_are_another_checkpoint(study, monkeypatch):
    words, folder = study
    calls, whole = [], crossval.evaluate_fold

    def counted(method, *arguments, **options):
        calls.append(method.layers)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return whole(method, *arguments, **options)

    monkeypatch.setattr("seqkern.cli.evaluate.evaluate_fold", counted)
    killed = [*words, "-o", str(folder / "killed"), "--layers"]
    assert main([*killed, "segments"]) == 130
    calls[:] = [None, None]
    assert main([*killed, "segments:weight=0.5"]) == 0
    assert len(calls) == 2 + 3


def test_layers_that_cannot_be_are_refused_before_any_work(study, capsys, tmp_path):
    words, _ = study
    for layers, message in (
        (["structur"], "did you mean 'structure'"),
        (["segments:shortest=X:3"], "names 'X', which is not a class"),
        (["structure:window=4"], "even"),
    ):
        assert main([*words, "--layers", *layers, "-o", str(tmp_path / "out")]) == 1
        assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("option", [["--calibration", "platt"], ["--threshold", "cost=1:2"]])
def test_layers_take_the_place_of_what_follows_two_classes(study, capsys, tmp_path, option):
    words, _ = study
    assert main([*words, "--layers", "probabilities", *option, "-o", str(tmp_path / "out")]) == 1
    assert "--layers replace the decisions" in capsys.readouterr().err


def test_layers_of_a_study_are_checked_as_soon_as_the_classes_are_known(study, capsys):
    _, folder = study
    check = ["check", str(folder / "data"), "--folds", str(folder / "folds"), "--methods"]
    for layers, code in (([{"layer": "segments", "shortest": {"H": 3}}], 0), (["segments:shortest=Q:3"], 1), (3, 1)):
        methods = {"smooth": {"solver": SOLVER, "layers": layers}}
        assert main([*check, json.dumps(methods)]) == code
        told = capsys.readouterr().err
        if isinstance(layers, list):
            assert ("solver 'smooth': layer 'segments': shortest names 'Q', which is not a class" in told) == bool(code)


def test_layers_need_residues(tmp_path, capsys):
    data, folds = str(tmp_path / "data"), str(tmp_path / "folds")
    entry = {"simulate": {"kind": "donor", "n_positive": 6, "n_decoy": 6}}
    assert main(["datasets", "--name", "toy", "--entry", json.dumps(entry), "-o", data]) == 0
    assert main(["folds", data, "--method", "stratified", "--k", "2", "-o", folds]) == 0
    capsys.readouterr()
    words = ["evaluate", data, "--folds", folds, "--kernel", "spectrum:k=2", "--solver", "csvc"]
    assert main([*words, "--layers", "segments", "-o", str(tmp_path / "out")]) == 1
    assert "not residues of chains" in capsys.readouterr().err
    assert main([*words, "--layers", "probabilities", "-o", str(tmp_path / "out")]) == 0
    rows = read_tsv(tmp_path / "out" / "decisions.tsv")
    for row in rows:
        assert float(row["probability"]) == pytest.approx(1 / (1 + np.exp(-float(row["decision"]))), abs=1e-8)
    residue_files = ("states.txt", "segments.tsv", "termini.tsv")
    assert not any((tmp_path / "out" / name).exists() for name in residue_files)
    assert load_dataset(data).residues is None


# ---- studies --------------------------------------------------------------------------------------------


def config(**solvers):
    plain = {"simulate": {"kind": "donor"}}
    return {
        "study": "toy",
        "datasets": {"residues": dict(ENTRY), "plain": plain},
        "kernels": {
            "window": {"kernel": "window", "vector_kernel": "linear"},
            "spectrum": {"kernel": "spectrum", "k": 2},
        },
        "solvers": {"plain": {"solver": "csvc"}, **solvers},
    }


def test_layers_of_a_study():
    study = Study.parse(config(layered={**SOLVER, "layers": [*LAYERS[:1], {"layer": "segments"}]}))
    layered = study.solvers["layered"]
    assert (layered.spec, layered.layer_specs) == (SOLVER, [LAYERS[0], {"layer": "segments"}])
    assert ("window", "layered") in study.method_names("residues")
    assert "layered" not in {solver for _, solver in study.method_names("plain")}
    study = Study.parse(config(layered={**SOLVER, "layers": ["probabilities"]}))
    assert ("spectrum", "layered") in study.method_names("plain")
    assert not study.solvers["layered"].needs_gram
    checked = study.checked_solvers("residues")["layered"].solver
    assert (checked.spec, checked.layer_specs) == (SOLVER, ["probabilities"])


@pytest.mark.parametrize(
    ("layers", "words"),
    [
        (["structur"], ["solvers.layered.layers", "structure"]),
        ([{"layer": "segments", "weigt": 1}], ["solvers.layered.layers", "'weight'"]),
        ("segments", ["solvers.layered.layers", "a list"]),
        ([3], ["solvers.layered.layers.0", "a mapping"]),
    ],
)
def test_wrong_layers_of_a_study(layers, words):
    with pytest.raises(ConfigError) as error:
        Study.parse(config(layered={**SOLVER, "layers": layers}))
    assert all(word in str(error.value) for word in words)


def test_a_data_set_without_residues_cannot_name_a_solver_with_layers():
    study = config(layered={**SOLVER, "layers": ["segments"]})
    study["datasets"]["plain"]["solvers"] = ["layered"]
    with pytest.raises(ConfigError, match=r"datasets\.plain\.solvers: 'layered' has layers that use"):
        Study.parse(study)


def test_a_regression_has_no_layers(dataset):
    with pytest.raises((LabelError, ParameterError)):
        evaluated(dataset, Task("real", replace(dataset.task().labels, kind="real", classes=())), layers=["segments"])
