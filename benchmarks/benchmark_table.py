"""Test scores of a study's methods beside published ones, their costs, and scores without near samples.

    python benchmarks/benchmark_table.py config/gue_mouse.yaml --scores mcc auc

The tables of the study are read from ``results/``; ``--run`` runs it first, by Snakemake. Each row is a method on a
data set, the mean over its tasks and splits. *CPU s*: matrices, choosing, training and testing. *MB*: the highest peak
of its jobs. *Model*: the file of the model of the first task's first split, trained here again as it was chosen.
*Apart*: the test samples that are not near to any training sample, and the scores on these alone. Near is DNA that
shares a 30-mer with a training sequence, on either strand; a receptor whose two CDR3 differ from those of a training
receptor in at most one residue; any other sequence that is equal to one, contained in one, or contains one.

``--tasks`` prints a row for each task instead. ``published.tsv`` has the values of others, with their sources.
"""

import argparse
import json
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from common import start_table

from seqkern.evaluation import FoldSet, read_folds
from seqkern.evaluation.metrics import codes_of, scores
from seqkern.methods.method import Method
from seqkern.study import Dataset, Study, load_dataset
from seqkern.study.kernel_entries import AutoKernel, KernelEntry

HERE = Path(__file__).resolve().parent
LONGEST_SHARED = 30
COMPLEMENT = str.maketrans("ACGT", "TGCA")


@dataclass
class Result:
    """What a method reached on a data set."""

    study: Study
    root: Path
    dataset: str
    kernel: str
    solver: str

    @property
    def folder(self) -> Path:
        """The folder of its tables."""
        return self.root / "evaluate" / self.dataset / self.kernel / self.solver

    def table(self, name: str) -> pd.DataFrame:
        """Return one of its tables; task and split are text."""
        return pd.read_csv(self.folder / f"{name}.tsv", sep="\t", dtype={"task": str, "split": str, "id": str})

    def load(self) -> tuple[Dataset, dict[str, FoldSet]]:
        """Return the data set and its splits."""
        data = load_dataset(self.root / "datasets" / self.dataset)
        folder = self.root / "folds" / self.dataset
        return data, {
            name: read_folds(folder / f"{name}.tsv", data.X.ids, task.labels) for name, task in data.tasks.items()
        }

    def cost(self) -> tuple[float, float]:
        """Return CPU seconds and peak memory in MB, of the Gram matrices too."""
        stored = self.root / "gram" / self.dataset
        names = [self.kernel, *(entry.name for entry in self.entries())]
        files = [self.folder / "cost.json", *(path for name in names for path in (stored / name).glob("cost.json"))]
        laps = [lap for path in files for lap in json.loads(path.read_text(encoding="utf-8"))["laps"]]
        return sum(lap["cpu_seconds"] for lap in laps), max(lap["peak_mb"] for lap in laps)

    def entries(self, data: Dataset | None = None) -> Sequence[KernelEntry]:
        """Return the kernels to choose from; of auto those of its portfolio, if there are data."""
        kernel, solver = self.study.kernels[self.kernel], self.study.solvers[self.solver]
        if isinstance(kernel, AutoKernel):
            return [] if data is None else kernel.resolve(data.X, solver.input, False, solver.accepts_operator)
        return kernel.candidates

    def chosen(self, task: str, split: str) -> tuple[str, dict]:
        """Return the kernel's name and the solver as chosen for a split."""
        rows = self.table("inner_scores")
        rows = rows[(rows["task"] == task) & (rows["split"] == split) & rows["chosen"]]
        if len(rows):
            return rows["kernel"].iloc[0], json.loads(rows["solver"].iloc[0])
        return self.study.solvers[self.solver].candidates([self.kernel])[0]

    def model_bytes(self, data: Dataset, folds: dict[str, FoldSet]) -> int:
        """Return the size of the model of the first split of the first task."""
        task, foldset = next(iter(folds.items()))
        name, spec = self.chosen(task, foldset.splits[0].name)
        entries = self.entries(data)
        entry = entries[0] if len(entries) == 1 else next(entry for entry in entries if entry.name == name)
        method = Method({name: entry.kernel}, [(name, spec)], transforms={name: entry.transforms}, threshold="none")
        rows = foldset.splits[0].train
        X, labels = data.X.take(rows), data.tasks[task].labels.take(rows)
        model = method.fit(method.data(X, labels)).model()
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "one.seqkern"
            model.save(path)
            return path.stat().st_size


def near(data: Dataset, train: np.ndarray, test: np.ndarray) -> np.ndarray:
    """Return which test samples are near to a training sample; the module says what is near."""
    X = data.X
    if "a3" in X.views and "b3" in X.views:
        return _marked([_receptor_keys(X, rows) for rows in (train, test)])
    strings = [[*X.take(rows).strings()] for rows in (train, test)]
    if X.alphabet.name == "dna":
        return _marked([[set(_shared_words(one, strand)) for one in strings[strand]] for strand in (0, 1)])
    whole = "\n".join(strings[0])
    return np.array([one in whole or any(other in one for other in strings[0]) for one in strings[1]])


def _marked(keys: list[list[set[str]]]) -> np.ndarray:
    """Return which sets of the second list share an element with any set of the first."""
    known = set().union(*keys[0])
    return np.array([not known.isdisjoint(own) for own in keys[1]])


def _shared_words(text: str, test: int) -> Iterator[str]:
    """Yield the 30-mers of a sequence; of a training sequence also those of the other strand."""
    for strand in (text,) if test else (text, text.translate(COMPLEMENT)[::-1]):
        for i in range(len(strand) - LONGEST_SHARED + 1):
            yield strand[i : i + LONGEST_SHARED]


def _receptor_keys(X, rows: np.ndarray) -> list[set[str]]:
    """Return for each receptor its two CDR3 with each residue masked in turn: shared by two that differ in one."""
    chains = zip(X.view("a3").take(rows).strings(), X.view("b3").take(rows).strings(), strict=True)
    texts = [f"{a} {b}" for a, b in chains]
    return [{f"{text[:i]}?{text[i + 1 :]}" for i in range(len(text)) if text[i] != " "} for text in texts]


def scored(result: Result, data: Dataset, folds: dict[str, FoldSet]) -> pd.DataFrame:
    """Return a row for each task and split: its scores, and those on the samples that are apart."""
    decisions = result.table("decisions")
    found = []
    for task, foldset in folds.items():
        labels = data.tasks[task].labels
        for split in foldset:
            own = decisions[(decisions["task"] == task) & (decisions["split"] == split.name)]
            y = labels.y[split.test]
            order = own.set_index("id").loc[[labels.ids[i] for i in split.test]]
            predicted = np.where(order["predicted"].astype(str) == labels.classes[1], 1, -1)
            apart = ~near(data, split.train, split.test)
            whole = scores("binary", y, order["decision"], codes_of("binary", predicted))
            rest = scores("binary", y[apart], order["decision"][apart], codes_of("binary", predicted[apart]))
            kernel, solver = result.chosen(task, split.name)
            kernel = result.kernel if len(result.entries(data)) == 1 else kernel
            found.append(
                {"task": task, "kernel": kernel, "C": solver.get("C"), "n": len(y), "apart": int(apart.sum())}
                | {f"test {name}": value for name, value in whole.items()}
                | {f"apart {name}": value for name, value in rest.items()}
            )
    return pd.DataFrame(found)


def published(study: str) -> pd.DataFrame:
    """Return the published values of the sets of a study."""
    table = pd.read_csv(HERE / "published.tsv", sep="\t", dtype=str)
    return table[table["study"] == study]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("study", type=Path, help="configuration of the study")
    parser.add_argument("--scores", nargs="+", default=["auc"], help="such as mcc auc (default: auc)")
    parser.add_argument("--tasks", action="store_true", help="a row for each task")
    parser.add_argument("--methods", nargs="+", help="kernels to show (default: all that have been evaluated)")
    parser.add_argument("--sets", nargs="+", help="data sets to show (default: all that have been evaluated)")
    parser.add_argument("--no-models", action="store_true", help="train no models for their sizes")
    parser.add_argument("--run", action="store_true", help="run the study first")
    args = parser.parse_args()
    if args.run:
        subprocess.run(["snakemake", "--cores", "all", "--configfile", args.study], check=True)
    study = Study.load(args.study)
    root = Path("results") / study.name
    others = published(study.name)
    found = sorted((root / "evaluate").glob("*/*/*/metrics.tsv"))
    places = [path.relative_to(root / "evaluate").parts[:3] for path in found]
    results = [
        Result(study, root, *place)
        for place in places
        if (not args.methods or place[1] in args.methods) and (not args.sets or place[0] in args.sets)
    ]
    named = [f"{kind} {name}" for kind in ("test", "apart") for name in args.scores]
    costs = [] if args.tasks else ["CPU s", "MB", "model, kB"]
    row = start_table("set", "method", "chosen", "test", "apart", *named, *costs, "published")
    for result in results:
        data, folds = result.load()
        table = scored(result, data, folds)
        groups = table.groupby("task") if args.tasks else [(result.dataset, table)]
        for name, part in groups:
            values = [f"{part[column].mean():.3f}" for column in named]
            more = []
            if not args.tasks:
                seconds, memory = result.cost()
                size = "" if args.no_models else f"{result.model_bytes(data, folds) / 1000:.0f}"
                more = [f"{seconds:.0f}", f"{memory:.0f}", size]
            counts = [int(part[column].sum()) for column in ("n", "apart")]
            row(name, result.kernel, _choice(part), *counts, *values, *more, _beside(others, name))


def _choice(part: pd.DataFrame) -> str:
    """Return the most frequent choice of kernel and C."""
    name, C = part[["kernel", "C"]].value_counts(dropna=False).index[0]
    short = f"mean of {name.count(' + ') + 1} kernels" if name.startswith("mean of") else name
    for common in (",estimator=truncated", ",reverse_complement=true"):
        short = short.replace(common, "")
    return f"{short}, C = {C:g}"


def _beside(others: pd.DataFrame, name: str) -> str:
    """Return the published values of a set or a task."""
    own = others[others["set"] == name]
    return "; ".join(f"{method} {value}" for method, value in zip(own["method"], own["value"], strict=True))


if __name__ == "__main__":
    main()
