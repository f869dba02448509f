"""LS-GKM on the five sets of transcription-factor binding sites, with its defaults, as a Markdown table.

    SEQKERN_DATA=… SEQKERN_LSGKM=… python benchmarks/rival_lsgkm_tfbs.py

``SEQKERN_LSGKM`` names the folder of its programs. CPU seconds: training and prediction. Memory: the peak of both. The
scores without near samples are those of `benchmark_table`.
"""

import os
import resource
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from benchmark_table import near
from common import child_seconds, start_table

from seqkern.evaluation.ranking import roc_auc
from seqkern.study import make_dataset

NAMES = ("CTCF", "EP300", "JUND", "RAD21", "SIN3A")


def main() -> None:
    """Print the table."""
    row = start_table("set", "test", "apart", "test auc", "apart auc", "CPU s", "MB", "model, kB")
    for name in NAMES:
        data = make_dataset(name, {"public": f"tfbs_{name}"})
        task = data.task()
        train, test = (np.flatnonzero(task.split == part) for part in ("train", "test"))
        with tempfile.TemporaryDirectory() as folder:
            seconds, decisions = child_seconds(lambda: decided(Path(folder), data, task, train, test))  # noqa: B023 (called here)
            size = (Path(folder) / "one.model.txt").stat().st_size
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024 / 1e6
        apart, positive = ~near(data, train, test), task.labels.y[test] > 0
        aucs = roc_auc(positive, decisions), roc_auc(positive[apart], decisions[apart])
        shown = [f"{auc:.3f}" for auc in aucs]
        row(name, len(test), int(apart.sum()), *shown, f"{seconds:.0f}", f"{peak:.0f}", f"{size / 1000:.0f}")


def decided(folder: Path, data, task, train: np.ndarray, test: np.ndarray) -> np.ndarray:
    """Return the decisions of gkmpredict by a model of gkmtrain, in the order of the test samples."""
    programs = Path(os.environ["SEQKERN_LSGKM"])
    y = task.labels.y
    for file, rows in (("pos", train[y[train] > 0]), ("neg", train[y[train] == 0]), ("test", test)):
        pairs = zip(rows, data.X.take(rows).strings(), strict=True)
        (folder / f"{file}.fa").write_text("".join(f">{i}\n{sequence}\n" for i, sequence in pairs))
    commands = (
        [programs / "gkmtrain", "-v", "0", folder / "pos.fa", folder / "neg.fa", folder / "one"],
        [programs / "gkmpredict", "-v", "0", folder / "test.fa", folder / "one.model.txt", folder / "test.tsv"],
    )
    for command in commands:
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    found = dict(line.split("\t") for line in (folder / "test.tsv").read_text().splitlines())
    return np.array([float(found[str(i)]) for i in test])


if __name__ == "__main__":
    main()
