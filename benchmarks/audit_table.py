"""`seqkern audit` on public data sets with an official split: a row for each set, or for the mean of several tasks.

Run: ``SEQKERN_DATA=… python benchmarks/audit_table.py`` (half an hour), or with the names of some sets: ``gue tfbs scop
edd immrep lsgkm celegans jpred qian``. Each audit runs in a process of its own, whose CPU seconds and peak memory are
shown.
"""

import csv
import io
import json
import lzma
import subprocess
import sys
import time

import numpy as np
from common import DATA, HERE, start_table

from seqkern.core.progress import peak_mb
from seqkern.evaluation import Split
from seqkern.methods.audited import parts_of
from seqkern.report import audit, make_parts
from seqkern.study import make_dataset

KINDS = ("identical", "reverse_complement", "contained", "similar", "shared_kmer", "any")
SCOP = ("1.1", "1.34", "2.1", "2.19", "2.31", "2.34", "2.41", "2.8", "3.19", "3.25", "3.33", "3.50")
LOOPS = ("a1", "a2", "a3", "b1", "b2", "b3")
CDR3 = ("a3", "b3")


def table_rows(path, delimiter=","):
    """Return the rows of a compressed table as dicts."""
    with lzma.open(path, "rt") as file:
        return list(csv.DictReader(io.StringIO(file.read()), delimiter=delimiter))


def gue(name):
    """Training and development part of a mouse set of GUE, against its test part."""
    rows = {part: table_rows(DATA / "gue_mouse_tf" / f"{name}.{part}.csv.xz") for part in ("train", "dev", "test")}
    train, test = rows["train"] + rows["dev"], rows["test"]
    columns = [[row[column] for row in rows] for column in ("sequence", "label") for rows in (train, test)]
    yield make_parts(*columns, alphabet="dna")


def immrep(names):
    """Each epitope of IMMREP 2022 with both parts, some loops of a receptor joined."""
    rows = table_rows(DATA / "immrep22" / "tcr.tsv.xz", "\t")
    for epitope in dict.fromkeys(row["epitope"] for row in rows):
        parts = [
            [row for row in rows if row["epitope"] == epitope and row["part"] == part] for part in ("train", "test")
        ]
        if all(parts):
            loops = [["".join(row[loop] for loop in names) for row in part] for part in parts]
            yield make_parts(*loops, *([row["label"] for row in part] for part in parts), alphabet="protein")


def official(name):
    """The tasks of a public set with training and test part."""
    data = make_dataset(name, {"public": name, "unknown": "mask", "ids": "suffix"}, data_dir=DATA)
    for task in data.tasks.values():
        split = Split("1", *(np.flatnonzero((task.split == part) & task.labels.used()) for part in ("train", "test")))
        yield parts_of(data, task, split)


def chromosomes():
    """Windows around acceptor sites of C. elegans: chromosome 1 against chromosome 2."""
    entry = {"public": "celegans_acceptor_100000"}
    data = make_dataset("acceptor", entry, data_dir=DATA)
    task = data.task()
    rows = [np.flatnonzero(task.labels.chromosome == name) for name in ("1", "2")]
    yield parts_of(data, task, Split("1", *rows))


def chains(name):
    """The chains of a set of residues, of which each official fold is the test part once; or the official split."""
    data = make_dataset(name, {"public": name, "residues": {"window": 3}}, data_dir=DATA)
    X, task, first = data.residues.chains, data.task(), np.unique(data.residues.record, return_index=True)[1]
    side = task.labels.folds[first] if task.split is None else task.split[first]
    for fold in np.unique(side) if task.split is None else ["test"]:
        yield make_parts(X.take(side != fold), X.take(side == fold))


SETS = {
    "gue": {f"GUE mouse/{n} (train and dev)": (gue, n, True) for n in "0234"},
    "tfbs": {f"tfbs {n}": (official, f"tfbs_{n}", True) for n in ("CTCF", "EP300", "JUND", "RAD21", "SIN3A")},
    "scop": {f"SCOP family {n}": (official, f"scop_family_{n}", True) for n in SCOP},
    "edd": {"Liao–Noble tasks of EDD": (official, "edd_homology", False)},
    "immrep": {
        "IMMREP 2022, six loops joined": (immrep, LOOPS, True),
        "IMMREP 2022, CDR3 loops joined": (immrep, CDR3, True),
    },
    "lsgkm": {"LS-GKM NF-E2": (official, "lsgkm_nfe2", True)},
    "celegans": {"C. elegans acceptors, chromosome 1 and 2": (chromosomes, None, True)},
    "jpred": {"JPred4, folds": (chains, "jpred4", False)},
    "qian": {"Qian–Sejnowski": (chains, "qian_sejnowski", False)},
}


def measured(family, name):
    """Return sums of counts and mean scores over the tasks of a set, with CPU seconds and peak memory."""
    make, argument, with_scores = SETS[family][name]
    start, tasks = time.process_time(), []
    for parts in make() if argument is None else make(argument):
        found = audit(parts, scores=with_scores, n_threads=1)
        counts = {one.kind: one.test for one in found.findings} | {"n_train": parts.n_train, "n_test": parts.n_test}
        conflicts = {"conflicts": sum(one.conflicts for one in found.findings if one.kind == "any")}
        rows = found.scores.rows
        auc = {f"{row.title} {row.subset}": row.auc for row in rows} | {
            f"verdict {row.subset}": row.auc for row in found.scores.headline().values()
        }
        tasks.append((counts | conflicts, auc))
    sums = {key: int(sum(counts.get(key, 0) for counts, _ in tasks)) for key in tasks[0][0]}
    means = {}
    for key in dict.fromkeys(key for _, auc in tasks for key in auc):
        values = [auc[key] for _, auc in tasks if not np.isnan(auc.get(key, np.nan))]
        means[key] = float(np.mean(values)) if values else None
    cost = {"seconds": time.process_time() - start, "peak": peak_mb(), "tasks": len(tasks)}
    return {"sums": sums, "auc": means, **cost}


def main(families):
    """Print two tables, of overlaps and of scores."""
    results = {}
    for family in families or SETS:
        for name in SETS[family]:
            child = [sys.executable, __file__, "--one", family, name]
            done = subprocess.run(child, capture_output=True, text=True, check=True, cwd=HERE)
            results[name] = json.loads(done.stdout.strip().splitlines()[-1])
            print(f"{name}: {results[name]['seconds']:.0f} CPU s", file=sys.stderr)
    names = [kind.replace("_", " ") for kind in KINDS[:4]]
    row = start_table("set", "training", "test", *names, "shared k-mer", "any", "share", "other label", "CPU s", "MB")
    for name, one in results.items():
        sums, tasks = one["sums"], f" ({one['tasks']} tasks)" if one["tasks"] > 1 else ""
        counts = [f"{sums[kind]:,}" if kind in sums else "–" for kind in KINDS]
        share = f"{100 * sums['any'] / sums['n_test']:.1f} %"
        sizes = [f"{sums[size]:,}" for size in ("n_train", "n_test")]
        row(f"{name}{tasks}", *sizes, *counts, share, sums["conflicts"], f"{one['seconds']:.0f}", f"{one['peak']:.0f}")
    head = ("gapped k-mers: all", "without overlap", "overlap only", "nearest neighbour: all", "without", "composition")
    row = start_table("AUC", *head, "length", "permuted labels")
    keys = [f"verdict {subset}" for subset in ("all", "without", "overlap")]
    keys += ["nearest neighbour all", "nearest neighbour without", "composition only all", "length only all"]
    for name, one in results.items():
        values = [one["auc"].get(key) for key in [*keys, "permuted training labels all"]]
        if any(value is not None for value in values):
            row(name, *("–" if value is None else f"{value:.3f}" for value in values))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(measured(*sys.argv[2:4])))
    else:
        main(sys.argv[1:])
