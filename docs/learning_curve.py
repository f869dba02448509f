"""Draw docs/learning_curve.svg: area under the precision-recall curve against the number of training windows.

Run the study first: ``snakemake --cores all --configfile config/acceptor.yaml``.
"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
matplotlib.rcParams.update({"svg.hashsalt": "seqkern", "svg.fonttype": "path", "font.size": 9})

import matplotlib.pyplot as plt  # noqa: E402

from seqkern.core.tsv import read_tsv  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
KERNELS = {
    "swd_window": ("shifted weighted degree, d = 20, S = 10", "#b3541e"),
    "wd_window": ("weighted degree, d = 20", "#0b6e99"),
    "spectrum6_window": ("spectrum 6, left + right", "#4d7c2f"),
}


def main():
    """Draw the curves of the summary's rows windows_1000, windows_3000, ...."""
    rows = read_tsv(ROOT / "results" / "acceptor" / "report" / "summary.tsv")
    figure, axes = plt.subplots(figsize=(6, 3.4))
    for kernel, (name, colour) in KERNELS.items():
        points = sorted(
            (int(row["dataset"].removeprefix("windows_")), float(row["average_precision_mean"]))
            for row in rows
            if row["kernel"] == kernel
        )
        axes.plot(*zip(*points, strict=True), "o-", color=colour, markersize=4, label=name)
    axes.set_xscale("log")
    axes.set_xticks([1000, 3000, 10_000, 30_000, 71_850], ["1,000", "3,000", "10,000", "30,000", "71,850"])
    axes.minorticks_off()
    axes.set(xlabel="training windows of chromosome 1", ylabel="average precision on chromosome 2", ylim=(0, 1))
    axes.grid(alpha=0.3)
    axes.legend(loc="lower right", frameon=False)
    figure.savefig(ROOT / "docs" / "learning_curve.svg", bbox_inches="tight", metadata={"Date": None})


if __name__ == "__main__":
    main()
