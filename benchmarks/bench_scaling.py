"""How the cost of a Gram matrix grows with the number and the length of sequences.

For each kernel: CPU seconds on one thread for 1,000 … 20,000 random sequences of 100 letters, and for 1,000 sequences
of 50 … 800 letters, from codes to the normalised float64 matrix. The memory of the matrix has been touched before: how
fast a system hands it out is not measured. Prints a table with the slope of a straight line through the logarithms of
the last three points, beside what theory says, and draws docs/scaling.svg.

Run: ``python benchmarks/bench_scaling.py [largest n]`` (20,000 takes some minutes and 6 GB of memory).
"""

import sys
import time
from pathlib import Path

import numpy as np
from common import PROTEIN, random_strings, start_table

from seqkern.kernels import build_kernel
from seqkern.kernels.blocks import fill
from seqkern.sequences.sequence_set import SequenceSet

NUMBERS = (1000, 2000, 5000, 10_000, 20_000)
LENGTHS = (50, 100, 200, 400, 800)
# Kernel, letters, what theory says of the growth with the number and the length, most seconds of one point.
JOBS = [
    ("spectrum:k=6", "ACGT", "n²", "L … L²"),
    ("spectrum:k=3", PROTEIN, "n²", "L … L²"),
    ("mismatch:k=5,m=1", PROTEIN, "n²", "L²"),
    ("gapped_kmer:l=10,k=6", "ACGT", "n²", "L²"),
    ("gapped_kmer:l=6,k=4", PROTEIN, "n²", "L²"),
    ("gappy_pair:k=2,m=4", PROTEIN, "n²", "L²"),
    ("string:n=4,decay=0.5", PROTEIN, "n²", "L²"),
]
LONGEST = 30.0  # seconds predicted for a point; longer ones are left out


def measure(spec, letters, n, length):
    """Return the CPU seconds of one matrix, or None if the plan says that it takes too long."""
    X = SequenceSet.from_strings(random_strings(n, length, letters), "dna" if letters == "ACGT" else "protein")
    kernel = build_kernel(spec)
    if kernel.plan(X).seconds > LONGEST:
        return None
    out = np.zeros((n, n))
    out[:, :: 4096 // out.itemsize] = 1
    start = time.process_time()
    prepared = kernel.prepare(X)
    fill(kernel, prepared, prepared, out, n_threads=1)
    return time.process_time() - start


def slope(sizes, seconds):
    """Return the slope of the logarithms of the last three points."""
    return float(np.polyfit(np.log(sizes[-3:]), np.log(seconds[-3:]), 1)[0])


def curve(spec, letters, points):
    """Return the sizes and CPU seconds of the points (size, n, length) that do not take too long."""
    found = [(size, measure(spec, letters, n, length)) for size, n, length in points]
    kept = [(size, seconds) for size, seconds in found if seconds is not None]
    return [size for size, _ in kept], [seconds for _, seconds in kept]


def draw(curves, path):
    """Draw the curves against number and length."""
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    plt.rcParams["svg.hashsalt"] = "seqkern"
    figure, panels = plt.subplots(1, 2, figsize=(11, 4.2), sharey=True, layout="constrained")
    for panel, (label, lines) in zip(panels, curves.items(), strict=True):
        for name, (sizes, seconds) in lines.items():
            panel.loglog(sizes, seconds, marker="o", markersize=3.5, label=name)
        panel.set_xlabel(label)
        panel.set_xticks(next(iter(lines.values()))[0], labels=map("{:,}".format, next(iter(lines.values()))[0]))
        panel.minorticks_off()
        panel.grid(alpha=0.3)
    panels[0].set_ylabel("CPU seconds, one thread")
    panels[1].legend(fontsize=8, frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
    figure.savefig(path, metadata={"Date": None})


def report(largest):
    """Print the table and draw the picture."""
    number, length = "number of sequences (100 letters each)", "letters of a sequence (1,000 sequences)"
    curves = {number: {}, length: {}}
    row = start_table("kernel", "grows with", "sizes", "CPU seconds", "slope", "theory")
    for spec, letters, of_number, of_length in JOBS:
        name = f"{spec}, {'DNA' if letters == 'ACGT' else 'protein'}"
        for label, points, theory in (
            (number, [(n, n, 100) for n in NUMBERS if n <= largest], of_number),
            (length, [(each, 1000, each) for each in LENGTHS], of_length),
        ):
            sizes, seconds = curve(spec, letters, points)
            curves[label][name] = sizes, seconds
            cells = [name, label.split(" (")[0], " ".join(map(str, sizes))]
            cells += [" ".join(f"{each:.3g}" for each in seconds), f"{slope(sizes, seconds):.2f}", theory]
            row(*cells)
    draw(curves, Path(__file__).resolve().parents[1] / "docs" / "scaling.svg")


if __name__ == "__main__":
    report(int(sys.argv[1]) if len(sys.argv) > 1 else NUMBERS[-1])
