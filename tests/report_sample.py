"""Write small results folders of made-up studies, in the files' real formats, for the report's tests.

``python tests/report_sample.py FOLDER`` writes one of each kind, to look at the page.
"""

import json
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import yaml

from seqkern.core.progress import write_cost
from seqkern.core.tsv import write_tsv

HOSTILE = [
    '<script>alert("x")</script>',
    "a&b;'\"</style>",
    "é-ß-蛋白质-🧬",
    "x" * 300,
    "$\\frac{1}{0}$",
    "\x07bell",
]
KERNELS = {
    "spectrum3": {"kernel": "spectrum", "k": 3},
    "spectrum5": {"kernel": "spectrum", "k": 5},
    "mismatch": {"kernel": "mismatch", "k": 5, "m": 1},
}
SOLVERS = {
    "svm": {"solver": "csvc", "C": [0.1, 1, 10]},
    "psvm": {"solver": "psvc", "C": 1, "epsilon": [0.05, 0.1]},
}


@dataclass
class Shape:
    """What a made-up data set looks like; `skill` shifts the decisions of kernel i by i + skill."""

    kind: str = "binary"
    tasks: tuple = ("all",)
    splits: tuple = ("1", "2", "3", "4", "5")
    classes: tuple = ("decoy", "donor")
    n: int = 120
    skill: float = 1.0
    share: float = 0.25
    entry: dict = field(default_factory=dict)
    ids: tuple = ()
    leaks: tuple = ()


def demo():
    """Return the shapes of the demo: binary with five folds, and six families."""
    families = tuple(f"fam{i}" for i in range(1, 7))
    return {
        "donor": Shape(entry={"simulate": {"kind": "donor"}, "folds": {"method": "stratified", "k": 5}}),
        "superfamily": family_shape(families),
    }


def family_shape(families, n=150, share=0.1):
    """Return a data set with one task for each family, each with one split."""
    entry = {"simulate": {"kind": "families"}, "tasks": "families", "folds": {"method": "liao-noble"}}
    return Shape(tasks=families, splits=("1",), classes=("other", "family"), n=n, share=share, entry=entry)


def write_study(folder, shapes, kernels=None, solvers=None, study="sample", skip=(), seed=1):
    """Write a results folder.

    Parameters
    ----------
    folder : path-like
    shapes : dict of str to Shape
    kernels, solvers : dict, optional
        Entries of the configuration.
    study : str
    skip : collection of (dataset, kernel, solver)
        Left out, as if their jobs had failed.
    seed : int

    Returns
    -------
    Path
    """
    folder, rng = Path(folder), np.random.default_rng(seed)
    kernels, solvers = kernels or KERNELS, solvers or SOLVERS
    config = {"study": study, "description": "A made-up study.", "seed": seed}
    config["datasets"] = {name: shape.entry for name, shape in shapes.items()}
    config |= {"kernels": kernels, "solvers": solvers, "leakage": {"contained": True, "identity": None}}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.yaml").write_text(yaml.safe_dump(config, sort_keys=False), encoding="utf-8")
    for name, shape in shapes.items():
        truth = _write_data(folder, name, shape, rng)
        for i, kernel in enumerate(kernels):
            choose = kernels[kernel].get("choose")
            if not choose:
                _write_gram(folder / "gram" / name / kernel, truth, shape, rng)
            for solver, spec in solvers.items():
                if (name, kernel, solver) not in skip:
                    place = folder / "evaluate" / name / kernel / solver
                    searched = {"kernel": choose, **spec} if choose else spec
                    _write_evaluation(place, truth, shape, searched, shape.skill + 0.4 * i, rng)
    return folder


def _write_data(folder, name, shape, rng):
    """Write datasets/ and folds/; return {task: (ids, y, split of each unit)}."""
    ids = [shape.ids[i % len(shape.ids)] + f"_{i}" if shape.ids else f"{name}_{i}" for i in range(shape.n)]
    truth, tasks = {}, {}
    for task in shape.tasks:
        if shape.kind == "real":
            y = rng.normal(size=shape.n).round(4)
            tasks[task] = {"kind": "real", "n": shape.n, "min": y.min(), "mean": y.mean(), "max": y.max()}
        else:
            y = np.arange(shape.n) % len(shape.classes)
            if shape.kind == "binary":
                y = (np.arange(shape.n) % round(1 / shape.share) == 0).astype(int)
            counts = {c: int((y == i).sum()) for i, c in enumerate(shape.classes)}
            tasks[task] = {"kind": shape.kind, "n": shape.n, "classes": counts}
        truth[task] = ids, y, rng.integers(0, len(shape.splits), size=shape.n)
    lengths = {"min": 40, "median": 61.0, "max": 80, "total": 60 * shape.n}
    summary = {
        "name": name,
        "kind": "sequences",
        "n": shape.n,
        "alphabet": "dna",
        "length": lengths,
        "tasks": tasks,
    }
    source = {"file": f"{name}.fa", "sha256": "0" * 64, "url": f"https://example.org/{name}.fa"}
    summary |= {"counts": {"masked letters": 3}, "sources": [source], "title": shape.entry.get("title", "")}
    data, folds = folder / "datasets" / name, folder / "folds" / name
    data.mkdir(parents=True)
    (data / "summary.json").write_text(json.dumps(summary), encoding="utf-8")
    labels = {task: [_label(shape, value) for value in y] for task, (_, y, _) in truth.items()}
    write_tsv(data / "units.tsv", ["id", *shape.tasks], zip(ids, *labels.values(), strict=True))
    write_tsv(folds / "leakage.tsv", ["task", "split", "kind", "test_id", "train_id", "identity"], shape.leaks)
    rows = []
    for task, (_, y, split) in truth.items():
        for s, part in enumerate(shape.splits):
            for c, name in enumerate(shape.classes if shape.kind != "real" else ("all",)):
                member = (y == c) if shape.kind != "real" else np.ones(len(y), bool)
                test = _tested(shape, split, s)
                rows.append((task, part, name, int((member & ~test).sum()), int((member & test).sum())))
    write_tsv(folds / "composition.tsv", ["task", "split", "class", "train", "test"], rows)
    return truth


def _label(shape, value):
    return f"{value:.10g}" if shape.kind == "real" else shape.classes[value]


def _tested(shape, split, s):
    """Return which units are in test set s; of a single split, every second one of each class."""
    return split == s if len(shape.splits) > 1 else np.arange(len(split)) % 3 != 1


def _write_gram(folder, truth, shape, rng):
    y = next(iter(truth.values()))[1]
    alike = np.equal.outer(y, y) if shape.kind != "real" else np.exp(-np.abs(np.subtract.outer(y, y)))
    noise = rng.uniform(0, 0.2, size=alike.shape)
    values = 0.2 + 0.3 * alike + (noise + noise.T) / 2
    np.fill_diagonal(values, 1)
    folder.mkdir(parents=True)
    np.save(folder / "gram.npy", values)
    write_cost(folder / "cost.json", [{"stage": "gram", "cpu_seconds": 0.5, "peak_mb": 120.0}])


def _write_evaluation(folder, truth, shape, spec, skill, rng):
    """Write the five tables of one method."""
    decisions, metrics, choices, fits, cost = [], [], [], [], []
    for task, (ids, y, split) in truth.items():
        for s, part in enumerate(shape.splits):
            place, test = (task, part), np.flatnonzero(_tested(shape, split, s))
            values, predicted, row = _decide(shape, y[test], skill, rng)
            for i, unit in enumerate(test):
                cells = (*place, ids[unit], _label(shape, y[unit]), *values[i], predicted[i])
                decisions.append(cells)
            metrics.append({"task": task, "split": part, "n_train": shape.n - len(test), "n_test": len(test)} | row)
            for key, value in spec.items():
                if key != "solver":
                    value = value[rng.integers(len(value))] if isinstance(value, list) else value
                    choices.append((*place, key, value, 0.9))
            fits.append((*place, bool(rng.random() > 0.02), 40, 1e-4, 30, 0.3))
            cost += [
                {"task": task, "split": part, "stage": stage, "cpu_seconds": 0.01, "peak_mb": 150.0}
                for stage in ("choose", "kernel", "train", "predict")
            ]
    names = [f"decision:{c}" for c in shape.classes] if shape.kind == "multiclass" else ["decision"]
    keys = ["task", "split"]
    write_tsv(folder / "decisions.tsv", [*keys, "id", "label", *names, "predicted"], decisions)
    write_tsv(folder / "metrics.tsv", list(metrics[0]), metrics)
    write_tsv(folder / "choices.tsv", [*keys, "parameter", "value", "inner_score"], choices)
    columns = [*keys, "converged", "iterations", "residual", "n_support", "support_share"]
    write_tsv(folder / "fits.tsv", columns, fits)
    write_cost(folder / "cost.json", cost)


def _decide(shape, y, skill, rng):
    """Return decision cells, predictions, metrics of one test set."""
    if shape.kind == "real":
        values = y + rng.normal(size=len(y)) / skill
        rmse = float(np.sqrt(np.mean((values - y) ** 2)))
        scores = {
            "rmse": rmse,
            "r2": float(1 - rmse**2 / y.var()),
            "pearson": float(np.corrcoef(y, values)[0, 1]),
        }
        return [(float(v),) for v in values], [float(v) for v in values], scores
    if shape.kind == "multiclass":
        values = rng.normal(size=(len(y), len(shape.classes)))
        values[np.arange(len(y)), y] += skill
        guess = values.argmax(axis=1)
        aucs = [naive_auc(y == c, values[:, c]) for c in range(len(shape.classes))]
        scores = {"auc": float(np.mean(aucs)), "accuracy": float(np.mean(guess == y))}
        return [tuple(map(float, row)) for row in values], [shape.classes[g] for g in guess], scores
    values = rng.normal(size=len(y)) + skill * y
    auc = naive_auc(y == 1, values)
    roc50 = None if auc is None else auc**2
    scores = {
        "auc": auc,
        "roc50": roc50,
        "median_rfp": None if auc is None else 1 - auc,
        "mcc": float(skill) / 4,
    }
    return [(float(v),) for v in values], [shape.classes[int(v > 0.5)] for v in values], scores


def naive_auc(positive, decision):
    """Return the share of (positive, negative) pairs in order, ties one half; None without both classes."""
    pairs = np.subtract.outer(decision[positive], decision[~positive])
    return float(np.mean((pairs > 0) + 0.5 * (pairs == 0))) if pairs.size else None


if __name__ == "__main__":
    import sys

    from seqkern.report import build_report

    out = Path(sys.argv[1])
    several = tuple(f"{a}.{b}" for a in range(1, 7) for b in range(1, 11))
    six = {f"kernel{i}": {"kernel": "spectrum", "k": i} for i in range(1, 7)}
    leak = (
        ("all", "1", "identical", "donor_1", "donor_7", 1.0),
        ("all", "", "conflict", "donor_3", "donor_9", 1.0),
    )
    shapes = demo()
    shapes["donor"].leaks = leak
    write_study(out / "demo", shapes, study="demo", skip={("donor", "mismatch", "psvm")})
    write_study(out / "edd", {"homology_edd": family_shape(several, n=1500, share=0.02)}, six, study="homology")
    nasty = Shape("multiclass", classes=tuple(HOSTILE[:3]), ids=tuple(HOSTILE))
    kinds = {
        "splice": Shape("multiclass", classes=("EI", "IE", "N"), n=300),
        "nasty": nasty,
        "scale": Shape("real"),
    }
    write_study(out / "kinds", kinds, study="kinds")
    for name in ("demo", "edd", "kinds"):
        print(build_report(out / name, out / name / "report"))
