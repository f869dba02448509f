"""Tables about residues: states of each chain, lengths of segments, accuracy near the ends."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
from naive_states import naive_sov

from seqkern.cli.main import main
from seqkern.core.errors import FileError
from seqkern.core.tsv import read_tsv
from seqkern.evaluation.fold_tables import FoldResult
from seqkern.evaluation.residue_results import (
    read_states,
    residue_scores,
    state_letters,
    state_scores,
    write_residue_results,
)
from seqkern.formats.residues import Residues, confidence, digits
from seqkern.sequences.labels import Labels
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.study import load_dataset

CLASSES = ("E", "H")
CHAINS = ("MKVLAW", "GGPA")
TRUE = ("HHHEEE", "EEEE")
PREDICTED = ("HHEEEE", "EHHE")


def sample(classes=CLASSES, kind="binary", probabilities=False, skip=()):
    """Return a data set of two chains, and the one result of a solver that was tested on them."""
    chains = SequenceSet.from_strings(list(CHAINS), "protein", ids=["one", "two"])
    residues = Residues.of_chains(chains, 3)
    ids = [f"{chains.ids[r]}:{p + 1}" for r, p in zip(residues.record, residues.place, strict=True)]
    names = dict(zip("EH", classes, strict=False))
    true, predicted = ([names[state] for line in lines for state in line] for lines in (TRUE, PREDICTED))
    labels = Labels(ids, [classes.index(name) for name in true], kind, classes)
    rows = []
    for i in reversed(range(len(ids))):
        if ids[i] in skip:
            continue
        row = {"task": "all", "split": "1", "id": ids[i], "label": true[i]}
        if kind == "multiclass":
            row |= {f"decision:{c}": float(c == predicted[i]) + i / 100 for c in classes}
        else:
            row["decision"] = (i + 1.0) * (1 if predicted[i] == classes[1] else -1)
        if probabilities:
            row["probability"] = 0.9 if predicted[i] == classes[1] else 0.2
        rows.append(row | {"predicted": predicted[i]})
    result = FoldResult(rows, {"task": "all", "split": "1"}, [], {})
    X = SimpleNamespace(ids=ids)
    return SimpleNamespace(X=X, tasks={"all": SimpleNamespace(labels=labels)}, residues=residues), [result]


def test_states_of_each_chain(tmp_path):
    dataset, results = sample(probabilities=True, skip=("one:3", "two:1"))
    write_residue_results(tmp_path, dataset, results)
    one, two = read_states(tmp_path / "states.txt")
    assert one == ("all", "1", "one", "MKVLAW", "HH?EEE", "HH?EEE", "88?666")
    assert two == ("all", "1", "two", "GGPA", "?EEE", "?HHE", "?886")
    assert (tmp_path / "states.txt").read_text().startswith("# A chain has five lines")


def test_lengths_of_segments(tmp_path):
    write_residue_results(tmp_path, *sample())
    rows = {(r["state"], r["length"]): (r["true"], r["predicted"]) for r in read_tsv(tmp_path / "segments.tsv")}
    expected = {("H", "3"): ("1", "0"), ("H", "2"): ("0", "2"), ("E", "4"): ("1", "1"), ("E", "3"): ("1", "0")}
    assert rows == expected | {("E", "1"): ("0", "2")}


def test_distance_to_the_end_of_the_chain(tmp_path):
    dataset, results = sample(skip=("one:2",))
    write_residue_results(tmp_path, dataset, results)
    rows = [(r["distance"], r["n"], r["right"]) for r in read_tsv(tmp_path / "termini.tsv")]
    # the residue that is left out still counts for distances
    assert rows == [("0", "4", "4"), ("1", "3", "1"), ("2", "2", "1")]


def test_evaluate_writes_them(tmp_path):
    entry = {"simulate": {"kind": "secondary_structure", "n_chains": 8, "mean_length": 30}, "residues": {"window": 5}}
    data, folds, out = (tmp_path / name for name in ("data", "folds", "out"))
    main(["datasets", "--name", "toy", "--entry", json.dumps(entry), "-o", str(data)])
    main(["folds", str(data), "--method", "grouped", "--k", "2", "-o", str(folds)])
    kernel, solver = "window:vector_kernel=linear", "primal_svc:C=1"
    main(["evaluate", str(data), "--folds", str(folds), "--kernel", kernel, "--solver", solver, "-o", str(out)])
    residues, labels = load_dataset(data).residues, load_dataset(data).task().labels
    chains = read_states(out / "states.txt")
    assert sorted(one.name for one in chains) == sorted(residues.chains.ids)
    for one in chains:
        record = residues.chains.ids.index(one.name)
        assert one.letters == residues.chains.string(record)
        assert one.true == residues.take(residues.record == record).states().tobytes().decode()
    decided = {row["id"]: row["predicted"] for row in read_tsv(out / "decisions.tsv")}
    assert decided == {f"{one.name}:{i + 1}": state for one in chains for i, state in enumerate(one.predicted)}
    for row in read_tsv(out / "metrics.tsv"):
        own = [one for one in chains if one.split == row["split"]]
        lines = [(list(one.true), list(one.predicted)) for one in own]
        right = np.concatenate([[a == b for a, b in zip(*pair, strict=True)] for pair in lines])
        assert float(row["q3"]) == float(row["accuracy"]) == pytest.approx(right.mean(), rel=1e-9)
        assert float(row["sov99"]) == pytest.approx(naive_sov(lines, "99"), rel=1e-9)
    assert sum(int(row["n"]) for row in read_tsv(out / "termini.tsv")) == len(labels)
    segments = read_tsv(out / "segments.tsv")
    assert sum(int(row["length"]) * int(row["predicted"]) for row in segments) == len(labels)


def test_several_states_with_long_names(tmp_path):
    write_residue_results(tmp_path, *sample(("strand", "helix", "H"), "multiclass"))
    one, _ = read_states(tmp_path / "states.txt")
    assert one.true == "hhhsss"
    assert state_letters(("strand", "sheet", "s", "ss")) == ["t", "h", "s", "0"]


def test_damaged_file(tmp_path):
    path = tmp_path / "states.txt"
    path.write_text("# head\n>a\tall\t1\nMK\nHH\nH\n99\n")
    with pytest.raises(FileError, match="line 2 does not start"):
        read_states(path)
    with pytest.raises(FileError, match="no such file"):
        read_states(tmp_path / "none.txt")


def test_scores_of_a_test_part():
    dataset, _ = sample()
    labels, rows = dataset.tasks["all"].labels, np.array([3, 1, 2, 8, 9])
    predicted = np.array([-1.0, 1.0, -1.0, 1.0, -1.0])
    found = residue_scores(dataset.residues, rows, labels.take(rows), predicted)
    residues = dataset.residues.take(rows)
    codes = (predicted > 0).astype(int)
    assert found == state_scores(labels.y[rows], codes, residues.record, residues.place, CLASSES)
    assert residue_scores(None, rows, labels, predicted) == {}
    real = Labels(labels.ids, np.arange(10.0), "real")
    assert residue_scores(dataset.residues, rows, real.take(rows), predicted) == {}


def test_confidence():
    p = np.array([[0.7, 0.2, 0.1], [0.4, 0.5, 0.1], [1.0, 0.0, 0.0]])
    assert confidence(p, [0, 0, 0], probabilities=True) == pytest.approx([0.5, 0.0, 1.0])
    assert digits([0.0, 0.55, 0.999, 1.0]).tolist() == [0, 5, 9, 9]
    assert confidence([3.0, -1.0, 2.0], [1, 0, 1]).tolist() == [1.0, 0.0, 0.5]
    assert confidence([0.9, 0.4], [1, 0], probabilities=True) == pytest.approx([0.8, 0.2])
    assert confidence([[5.0, 1.0], [2.0, 2.0]], [0, 1]).tolist() == [1.0, 0.0]
