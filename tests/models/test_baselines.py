"""Trivial baselines: fitted on training sets only, against plain formulas, and as files."""

import json
from collections import Counter

import numpy as np
import pytest

from seqkern import SequenceSet
from seqkern.cli.main import main
from seqkern.core.tsv import read_tsv
from seqkern.evaluation import make_folds
from seqkern.methods.baselines import composition_features, run_baselines
from seqkern.sequences.labels import make_labels
from seqkern.study import Dataset, Task, make_dataset


def made(texts, labels, kind=None, k=3):
    """Return the baselines' results on random folds: {name: [FoldResult]}, and what they were made of."""
    X = SequenceSet.from_strings(texts, "dna")
    labels = make_labels(X.ids, labels, kind=kind) if kind else make_labels(X.ids, labels)
    folds = {"all": make_folds(labels, k=k, seed=1)}
    found = {}
    for name, result in run_baselines(Dataset("d", "sequences", X, {"all": Task("all", labels)}), folds):
        found.setdefault(name, []).append(result)
    return found, labels, folds["all"].splits


def random_texts(n, seed=1):
    rng = np.random.default_rng(seed)
    return ["".join(rng.choice(list("ACGT"), size=rng.integers(5, 30))) for _ in range(n)]


def test_the_majority_is_that_of_the_training_part():
    found, labels, splits = made(random_texts(30), ["a"] * 8 + ["b"] * 12 + ["c"] * 10)
    for result, split in zip(found["majority"], splits, strict=True):
        common = Counter(labels.classes[y] for y in labels.y[split.train]).most_common(1)[0][0]
        assert {row["predicted"] for row in result.decisions} == {common}
        assert result.metrics["auc"] == 0.5


def test_the_mean_is_that_of_the_training_part():
    found, labels, splits = made(random_texts(12), [str(i * i) for i in range(12)], kind="real")
    assert list(found) == ["mean", "composition", "nearest", "kmers"]
    for result, split in zip(found["mean"], splits, strict=True):
        mean = sum(labels.y[split.train]) / len(split.train)
        assert all(row["decision"] == pytest.approx(mean) for row in result.decisions)
        error = np.sqrt(np.mean((labels.y[split.test] - mean) ** 2))
        assert result.metrics["rmse"] == pytest.approx(error)


def test_composition_is_length_and_frequencies():
    texts = random_texts(9)
    table = composition_features(SequenceSet.from_strings(texts, "dna"))
    naive = [[len(t), *(t.count(base) / len(t) for base in "ACGT")] for t in texts]
    np.testing.assert_allclose(table, naive)


def test_composition_finds_what_length_and_frequencies_tell_and_nothing_else():
    texts = random_texts(60)
    long = [str(len(text) > 15) for text in texts]
    shuffled = list(np.random.default_rng(2).permutation(long))
    score = {
        name: np.mean([r.metrics["auc"] for r in made(texts, y)[0]["composition"]])
        for name, y in {"length": long, "noise": shuffled}.items()
    }
    assert score["length"] > 0.95
    assert 0.2 < score["noise"] < 0.8


def test_test_labels_are_never_seen():
    texts, labels = random_texts(20), ["a", "b"] * 10
    found, coded, splits = made(texts, labels, k=2)
    test = set(splits[0].test)
    changed = [("b" if label == "a" else "a") if i in test else label for i, label in enumerate(labels)]
    X = SequenceSet.from_strings(texts, "dna")
    other = Dataset("d", "sequences", X, {"all": Task("all", make_labels(X.ids, changed))})
    folds = {"all": type(make_folds(coded, k=2, seed=1))("all", tuple(X.ids), (splits[0],))}
    again = dict(run_baselines(other, folds))
    assert set(again) == {"majority", "composition", "nearest", "alignment", "kmers"}
    for name in again:
        own = [row["decision"] for row in found[name][0].decisions]
        assert [row["decision"] for row in again[name].decisions] == own


def test_a_residue_is_predicted_from_itself():
    entry = {"simulate": {"kind": "secondary_structure", "n_chains": 6, "mean_length": 30}, "residues": {"window": 5}}
    dataset = make_dataset("chains", entry)
    labels, residues = dataset.task().labels, dataset.residues
    folds = make_folds(labels, dataset.X, "grouped", k=2, seed=1, chains=dataset.chains)
    results = dict(run_baselines(dataset, {"all": folds}))
    assert set(results) == {"majority", "residue"}
    split, result = folds.splits[-1], results["residue"]
    letters = [residues.chains.string(c)[p] for c, p in zip(residues.record, residues.place, strict=True)]
    for i, row in zip(split.test, result.decisions, strict=True):
        counts = Counter(labels.classes[labels.y[j]] for j in split.train if letters[j] == letters[i])
        if counts:
            assert counts[row["predicted"]] == max(counts.values())
    assert "sov99" in result.metrics


def test_the_verb_writes_two_tables(tmp_path, capsys):
    data, folds, out = (str(tmp_path / name) for name in ("data", "folds", "out"))
    entry = {"simulate": {"kind": "donor", "n_positive": 12, "n_decoy": 18}}
    assert main(["datasets", "--name", "toy", "--entry", json.dumps(entry), "-o", data]) == 0
    assert main(["folds", data, "--k", "3", "-o", folds]) == 0
    assert main(["baseline", data, "--folds", folds, "-o", out]) == 0
    assert "toy: majority, composition, nearest, alignment, kmers, pwm in" in capsys.readouterr().out
    names = ("majority", "composition", "nearest", "alignment", "kmers", "pwm")
    metrics, decisions = (read_tsv(tmp_path / "out" / f"{name}.tsv") for name in ("metrics", "decisions"))
    assert [(row["baseline"], row["split"]) for row in metrics] == [
        (name, str(split)) for name in names for split in (1, 2, 3)
    ]
    assert len(decisions) == 30 * len(names)
    assert list(decisions[0])[:4] == ["baseline", "task", "split", "id"]
    before = (tmp_path / "out" / "decisions.tsv").read_bytes()
    assert main(["baseline", data, "--folds", folds, "-o", out]) == 0
    assert (tmp_path / "out" / "decisions.tsv").read_bytes() == before
    assert main(["baseline", data, "--folds", str(tmp_path / "none"), "-o", out]) == 1
