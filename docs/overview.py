"""Draw docs/overview.svg: the stages, and what the demo gave. Run the demo first: snakemake --cores all."""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
matplotlib.rcParams.update({"svg.hashsalt": "seqkern", "svg.fonttype": "path", "font.size": 9})

import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402

from seqkern.core.tsv import read_tsv  # noqa: E402
from seqkern.evaluation import mean_roc_curve, roc_curve  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
STAGES = [
    ("FASTA", "sequences\nencoded once"),
    ("folds", "splits as files,\nleakage check"),
    ("kernels", "spectrum,\nmismatch, …"),
    ("Gram", "matrix in tiles,\non disk if large"),
    ("solvers", "C-SVM, P-SVM,\ninner loop"),
    ("report", "ROC by fold,\nAUC, tables"),
]
INK, PALE, LINE = "#1f2d3d", "#eef2f6", "#8a9bb0"
CURVES = [("donors", "donor splice sites"), ("homologs", "remote homologs"), ("peaks", "ChIP-seq peaks")]
NEGATIVE = {"decoy", "negative"}
COLOURS = ["#b3541e", "#0b6e99", "#4d7c2f", "#7a4b94", "#1f2d3d"]


def draw_stages(axes):
    """Draw one box for each stage."""
    axes.axis("off")
    axes.set(xlim=(0, len(STAGES)), ylim=(0, 1))
    for i, (name, text) in enumerate(STAGES):
        axes.add_patch(plt.Rectangle((i + 0.06, 0.1), 0.78, 0.8, facecolor=PALE, edgecolor=LINE, linewidth=0.8))
        axes.text(i + 0.45, 0.68, name, ha="center", va="center", weight="bold", color=INK, size=11)
        axes.text(i + 0.45, 0.36, text, ha="center", va="center", color=INK, size=8)
        if i:
            axes.annotate("", (i + 0.05, 0.5), (i - 0.15, 0.5), arrowprops={"arrowstyle": "-|>", "color": INK})


def mean_curve(folder):
    """Return the mean ROC curve of a method over its folds, and the mean AUC."""
    splits = {}
    for row in read_tsv(folder / "decisions.tsv"):
        splits.setdefault((row["task"], row["split"]), []).append(row)
    aucs = [float(row["auc"]) for row in read_tsv(folder / "metrics.tsv")]
    curves = [
        roc_curve([row["label"] not in NEGATIVE for row in rows], [float(row["decision"]) for row in rows])
        for rows in splits.values()
    ]
    return mean_roc_curve(curves), np.mean(aucs)


def draw_curves(axes, dataset, title):
    """Draw the mean ROC curve of each kernel of the demo with the C-SVM."""
    axes.plot([0, 1], [0, 1], ":", color=LINE, linewidth=0.8)
    folders = sorted((ROOT / "results/demo/evaluate" / dataset).iterdir())
    for colour, folder in zip(COLOURS[: len(folders)], folders, strict=True):
        curve, auc = mean_curve(folder / "csvc")
        axes.plot(curve.false, curve.true, color=colour, linewidth=1.4, label=f"{folder.name} {auc:.3f}")
    axes.set(xlim=(0, 1), ylim=(0, 1.005), xlabel="false positive rate", ylabel="true positive rate", aspect="equal")
    axes.set_title(f"{title}: mean AUC", size=9, color=INK)
    axes.legend(loc="lower right", frameon=False, fontsize=7)
    axes.spines[["top", "right"]].set_visible(False)


def main():
    """Write docs/overview.svg."""
    figure = plt.figure(figsize=(9.2, 4.4), layout="constrained")
    grid = figure.add_gridspec(2, len(CURVES), height_ratios=[1, 2.7])
    draw_stages(figure.add_subplot(grid[0, :]))
    for column, (dataset, title) in enumerate(CURVES):
        draw_curves(figure.add_subplot(grid[1, column]), dataset, title)
    figure.savefig(ROOT / "docs" / "overview.svg", metadata={"Date": None})


if __name__ == "__main__":
    main()
