"""Secondary structure from files to a model, and from the model to a table: CPU seconds of the two commands.

The 1,348 proteins of jpred4 with PSI-BLAST's profiles, windows of 21, Nyström features by 2,000 landmarks, and two
layers, which take five inner folds. One thread; each command is a process.

Run it by: ``SEQKERN_DATA=… python benchmarks/bench_pipeline.py``, which prints a table.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from common import DATA, child_seconds, start_table

from seqkern import read_fasta

KERNEL = "nystroem:base=(pssm_window:scale=3,gamma=0.014,position_weights=gaussian),n_components=2000"
PROFILES = ("--profiles", "public:jpred4_profiles", "--threads", "1")
TRAINING, SPEED = 120.0, 40_000.0
"""What is demanded: CPU seconds, residues a CPU second."""


def seconds(*arguments):
    """Return the CPU seconds of a command."""
    command = [sys.executable, "-m", "seqkern.cli.main", *map(str, arguments)]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return child_seconds(lambda: subprocess.run(command, check=True, **quiet))[0]


def main():
    """Print the table."""
    records = DATA / "jpred4" / "training_1348.fasta"
    residues = int(read_fasta(records, "protein", unknown="mask").lengths.sum())
    row = start_table("command", "residues", "CPU s", "residues a CPU second", "demand")
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "jpred4.seqkern"
        method = ("--solver", "primal_svc:C=1", "--layers", "structure", "probabilities", "--kernel", KERNEL)
        states = ("--states", records.with_suffix(".ss3"), "--window", "21")
        taken = seconds("train", records, *states, *PROFILES, *method, "-o", model)
        row("`train`, two layers", f"{residues:,}", f"{taken:.1f}", f"{residues / taken:,.0f}", f"≤ {TRAINING:g} s")
        taken = seconds("predict", model, records, *PROFILES, "-o", Path(folder) / "all.tsv")
        row("`predict`", f"{residues:,}", f"{taken:.1f}", f"{residues / taken:,.0f}", f"≥ {SPEED:,.0f} a second")


if __name__ == "__main__":
    main()
