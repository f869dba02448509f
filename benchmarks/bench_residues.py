"""Residues of jpred4: 218,421 windows of 15 with PSI-BLAST's profiles, from the published files to folds.

CPU seconds and memory of each step, in one process on one thread. Run it by pytest (on generated chains), or:
``python benchmarks/bench_residues.py``. Without the public files, generated chains of the same number take their place.
"""

import resource
import tempfile
import time
from pathlib import Path

from common import DATA

from seqkern.cli.main import main
from seqkern.datasets import load_dataset, make_dataset, save_dataset
from seqkern.folds import read_folds
from seqkern.profiles.files import ProfileFiles

JPRED4 = {"public": "jpred4", "profiles": {"files": "public:jpred4_profiles"}, "residues": {"window": 15}}
PROFILES = "jpred4/training_1348_psiblast_profile.tar.xz"


def generated(n_chains):
    """Return the entry of generated chains."""
    simulated = {"kind": "secondary_structure", "n_chains": n_chains, "mean_length": 162}
    return {"simulate": simulated, "residues": {"window": 15}}


def reading(entry, folder):
    """Yield (step, CPU seconds) from the files to folds; of the public set also of its profiles alone."""

    def timed(step, run):
        start = time.process_time()
        results.append(run())
        return step, time.process_time() - start

    results = []
    if "public" in entry:
        yield timed("parse 1,348 PSSMs alone", lambda: ProfileFiles(DATA / PROFILES))
    yield timed("read, check and cut windows", lambda: make_dataset("set", entry, data_dir=DATA))
    made = results[-1]
    yield timed("save", lambda: save_dataset(made, folder / "set"))
    yield timed("load", lambda: load_dataset(folder / "set"))
    yield timed("digest of the windows", results[-1].X.digest)
    yield timed("seqkern folds", lambda: main(["folds", str(folder / "set"), "-o", str(folder / "folds")]))
    yield timed("read the folds", lambda: read_folds(folder / "folds" / "all.tsv", made.X.ids, made.task().labels))


def test_reading(tmp_path, benchmark):
    steps = benchmark(lambda: dict(reading(generated(30), tmp_path)))
    assert len(steps) == 6


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        for name, seconds in reading(JPRED4 if (DATA / PROFILES).is_file() else generated(1348), Path(place)):
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
            print(f"{name:32s} {seconds:6.2f} CPU seconds   {peak:6.0f} MB at most so far")
