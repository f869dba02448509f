"""Kernel auto beside fixed kernels and baselines, as a Markdown table.

    python benchmarks/auto_table.py results/auto

For each data set: the fixed kernel with the best mean test AUC (which only the test sets show), the kernel that auto
chose most often and in how many of the folds, its mean test AUC and the difference, the mean inner score by which it
chose, the best baseline, and the CPU seconds of auto (matrices, choosing, training and testing in every fold).
Last, the median of |inner − test| over all methods.
"""

import argparse
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd

AUTO = "auto"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", type=Path, help="folder of the study, such as results/auto")
    args = parser.parse_args()
    print("| set | best fixed kernel | AUC | auto chose | AUC | difference | inner AUC | best baseline | CPU s |")
    print("|---|---|---|---|---|---|---|---|---|")
    gaps: list[float] = []
    differences: list[float] = []
    for folder in sorted((args.results / "evaluate").iterdir()):
        methods = {path.parent.parent.name: path for path in sorted(folder.glob("*/*/metrics.tsv"))}
        test = {name: pd.read_csv(path, sep="\t")["auc"].mean() for name, path in methods.items()}
        inner = {name: inner_score(path.parent) for name, path in methods.items()}
        gaps += [abs(inner[name] - test[name]) for name in methods if not np.isnan(inner[name])]
        if AUTO not in test:
            continue
        baselines = pd.read_csv(args.results / "baseline" / folder.name / "metrics.tsv", sep="\t")
        means = baselines.groupby("baseline")["auc"].mean()
        fixed = max((name for name in test if name != AUTO), key=lambda name: test[name])
        differences.append(test[AUTO] - test[fixed])
        cells = [
            folder.name,
            fixed,
            f"{test[fixed]:.4f}",
            chosen(methods[AUTO].parent),
            f"{test[AUTO]:.4f}",
            f"{differences[-1]:+.4f}",
            f"{inner[AUTO]:.4f}",
            f"{means.idxmax()} {means.max():.4f}",
            f"{seconds(methods[AUTO].parent):.0f}",
        ]
        print(f"| {' | '.join(cells)} |")
    print()
    print(f"auto − best fixed: mean {np.mean(differences):+.4f}, smallest {np.min(differences):+.4f}")
    print(f"|inner − test|: median {np.median(gaps):.4f} over {len(gaps)} methods and sets")


def chosen(folder: Path) -> str:
    """Return the kernel that was chosen most often, and in how many folds."""
    table = pd.read_csv(folder / "choices.tsv", sep="\t")
    counts = table[table["parameter"] == "kernel"]["value"].value_counts()
    return f"{shortened(counts.index[0])} ({counts.iloc[0]} of {counts.sum()})"


def shortened(name: str) -> str:
    """Return the name of a kernel without what all kernels of its kind have; of a mean the families only."""
    if name.startswith("mean of"):
        return re.sub(r":\S*", "", name).replace(" + ", ", ")
    for common in (",estimator=truncated", ",reverse_complement=true", ",annotation=annotation"):
        name = name.replace(common, "")
    return name


def inner_score(folder: Path) -> float:
    """Return the mean score, over the folds, by which a method chose; NaN if there was nothing to choose."""
    table = pd.read_csv(folder / "choices.tsv", sep="\t")
    if not len(table):
        return float("nan")
    return float(table.groupby("split")["inner_score"].first().mean())


def seconds(folder: Path) -> float:
    """Return the CPU seconds of a method over all folds."""
    laps = json.loads((folder / "cost.json").read_text(encoding="utf-8"))["laps"]
    return float(sum(lap["cpu_seconds"] for lap in laps))


if __name__ == "__main__":
    main()
