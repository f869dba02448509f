"""Write the results of a made-up study of residues, in the files' real formats, for the report's tests.

``python tests/residue_sample.py FOLDER [CHAINS]`` writes one and its report, to look at the page.
"""

import itertools
import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import yaml

from seqkern.core.progress import write_cost
from seqkern.core.tsv import write_tsv
from seqkern.evaluation.fold_tables import FEATURE_COLUMNS, FIT_COLUMNS, FoldResult
from seqkern.evaluation.metrics import brier, scores
from seqkern.evaluation.residue_results import residue_scores, write_residue_results
from seqkern.formats.residues import Residues
from seqkern.sequences.labels import UNLABELLED, Labels
from seqkern.sequences.sequence_set import SequenceSet

LETTERS = "ACDEFGHIKLMNPQRSTVWY"
LINEAR = {"kernel": "window", "vector_kernel": "linear"}
KERNELS = {"blosum": {**LINEAR, "encoding": "BLOSUM62"}, "window": LINEAR}
SOLVERS = {"svm": {"solver": "primal_svc"}}
FOLDS = 3


def write_residue_study(folder, *, chains=12, classes="HEC", probabilities=False, weights=True, masked=True, **entry):
    """Write a results folder of two methods on residues, the first the better one.

    Parameters
    ----------
    folder : path-like
    chains : int
    classes : sequence of str
    probabilities : bool
        Whether methods give probabilities.
    weights : bool
        Whether the second method has a weight for each letter and place.
    masked : bool
        Whether some residues have no label.
    **entry
        More keys of the data set.

    Returns
    -------
    Path
    """
    folder, rng, classes = Path(folder), np.random.default_rng(1), tuple(classes)
    entry = {"residues": {"window": 15}, **entry, "folds": {"method": "grouped", "k": FOLDS}}
    config = {"study": "residues", "datasets": {"chains": entry}, "kernels": KERNELS, "solvers": SOLVERS}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.yaml").write_text(yaml.safe_dump(config, sort_keys=False), encoding="utf-8")
    dataset = _make_dataset(rng, chains, classes, masked)
    fold = rng.integers(0, FOLDS, chains)[dataset.residues.record]
    fold[dataset.tasks["all"].labels.y == UNLABELLED] = -1
    _write_data(folder, dataset, fold)
    for skill, kernel in ((1.6, "blosum"), (1.0, "window")):
        home = folder / "evaluate" / "chains" / kernel / "svm"
        results = [_result(rng, dataset, fold, f, skill, probabilities) for f in range(FOLDS)]
        rows = [row for result in results for row in result.decisions]
        write_tsv(home / "decisions.tsv", [*(key for key in rows[0] if key != "predicted"), "predicted"], rows)
        write_tsv(home / "metrics.tsv", list(results[0].metrics), [result.metrics for result in results])
        places = [{"task": "all", "split": str(f + 1)} for f in range(FOLDS)]
        write_tsv(home / "choices.tsv", ["task", "split", "parameter", "value", "inner_score"], [])
        write_tsv(home / "fits.tsv", FIT_COLUMNS, [place | {"converged": True} for place in places])
        features = _features(rng, classes) if weights and kernel == "window" else []
        write_tsv(home / "features.tsv", FEATURE_COLUMNS, features)
        write_cost(home / "cost.json", [p | {"stage": "train", "cpu_seconds": 0.1, "peak_mb": 9.0} for p in places])
        write_residue_results(home, dataset, results)
    return folder


def _make_dataset(rng, n_chains, classes, masked):
    """Return what is needed of a Dataset: chains with states that last for a while and prefer some letters."""
    lengths = np.clip(rng.gamma(3, 35, n_chains).astype(int), 12, 300)
    total = lengths.sum()
    states = np.repeat(rng.integers(0, len(classes), total), rng.integers(2, 12, total))[:total]
    preferred = rng.dirichlet(np.full(len(LETTERS), 4.0), len(classes)).cumsum(axis=1)
    drawn = (rng.random(total)[:, None] > preferred[states]).sum(axis=1).clip(max=len(LETTERS) - 1)
    text = "".join(LETTERS[i] for i in drawn)
    cuts = np.concatenate(([0], np.cumsum(lengths)))
    strings = [text[a:b] for a, b in itertools.pairwise(cuts.tolist())]
    chains = SequenceSet.from_strings(strings, "protein", ids=[f"1abc{i}" for i in range(n_chains)])
    residues = Residues.of_chains(chains, 15)
    ids = [f"{chains.ids[r]}:{p + 1}" for r, p in zip(residues.record, residues.place, strict=True)]
    y = np.where(masked & (rng.random(total) < 0.01), UNLABELLED, states)
    labels = Labels(ids, y, "multiclass", classes)
    return SimpleNamespace(X=SimpleNamespace(ids=ids), tasks={"all": SimpleNamespace(labels=labels)}, residues=residues)


def _write_data(folder, dataset, fold):
    """Write ``datasets/`` and ``folds/``."""
    labels = dataset.tasks["all"].labels
    counts = labels.class_counts()
    task = {"kind": "multiclass", "n": sum(counts.values()), "classes": counts}
    summary = {"name": "chains", "kind": "sequences", "n": len(labels), "alphabet": "protein", "tasks": {"all": task}}
    lengths = np.bincount(dataset.residues.record)
    sizes = {"min": int(lengths.min()), "median": float(np.median(lengths)), "max": int(lengths.max())}
    summary |= {"chains": {"n": len(lengths), **sizes}, "residues": {"window": 15}}
    data, folds = folder / "datasets" / "chains", folder / "folds" / "chains"
    data.mkdir(parents=True)
    (data / "summary.json").write_text(json.dumps(summary), encoding="utf-8")
    write_tsv(data / "units.tsv", ["id", "all"], zip(labels.ids, labels.names(), strict=True))
    write_tsv(folds / "leakage.tsv", ["task", "split", "kind", "test_id", "train_id", "identity"], [])
    rows = []
    for f in range(FOLDS):
        for code, name in enumerate(labels.classes):
            own = labels.y == code
            rows.append(("all", str(f + 1), name, int((own & (fold != f)).sum()), int((own & (fold == f)).sum())))
    write_tsv(folds / "composition.tsv", ["task", "split", "class", "train", "test"], rows)
    parts = np.where(fold[:, None] < 0, "", np.where(fold[:, None] == np.arange(FOLDS), "test", "train"))
    names = [str(f + 1) for f in range(FOLDS)]
    write_tsv(folds / "all.tsv", ["id", *names], zip(labels.ids, *parts.T.tolist(), strict=True))


def _result(rng, dataset, fold, f, skill, probabilities):
    """Return the FoldResult of one method on one fold."""
    labels, rows = dataset.tasks["all"].labels, np.flatnonzero(fold == f)
    y, names = labels.y[rows], labels.classes
    values = rng.normal(size=(len(rows), len(names)))
    values[np.arange(len(rows)), y] += skill
    predicted = values.argmax(axis=1)
    place = {"task": "all", "split": str(f + 1)}
    sizes = {"n_train": int((fold >= 0).sum()) - len(rows), "n_test": len(rows)}
    found = scores("multiclass", y, values, predicted)
    shares = np.exp(values) / np.exp(values).sum(axis=1, keepdims=True)
    decisions = []
    for i, row in enumerate(rows):
        cells = place | {"id": labels.ids[row], "label": names[y[i]]}
        cells |= {f"decision:{c}": float(v) for c, v in zip(names, values[i], strict=True)}
        if probabilities:
            cells |= {f"probability:{c}": float(v) for c, v in zip(names, shares[i], strict=True)}
        decisions.append(cells | {"predicted": names[predicted[i]]})
    if probabilities:
        found["brier"] = brier(y, shares)
    found |= residue_scores(dataset.residues, rows, labels.take(rows), predicted)
    return FoldResult(decisions, place | sizes | found, [], place)


def _features(rng, classes):
    """Yield a weight for each fold, state, place and letter."""
    for f in range(FOLDS):
        for c, state in enumerate(classes):
            column = 0
            for place in range(-7, 8):
                for i, letter in enumerate((*LETTERS, "end")):
                    column += 1
                    weight = float(((i + 3 * c) % 7 - 3) / (1 + abs(place)) + 0.01 * rng.normal())
                    yield ("all", str(f + 1), f"{place}:{letter}", column, column, weight, state)


if __name__ == "__main__":
    import sys

    from seqkern.report import build_report

    study = write_residue_study(sys.argv[1], chains=int(sys.argv[2]) if len(sys.argv) > 2 else 40)
    print(build_report(study, study / "report"))
