"""What two threads gain, and what 32 would: every kernel, and the commands that take long.

Each job runs on one thread and on two, in turns. *CPU* is what it costs with two threads, to one; *serial* the share
of the time with one thread that the calling thread works while the others have nothing to do. *gain, two* follows from
the pieces of work, timed and dealt out in order, and from what is serial: it does not depend on what else the machine
does, which the other columns show; *clock* is the best gain by the clock. For 32 threads the pieces are cut as they
would be, and timed on as many threads as there are; memory's bandwidth is not simulated, so *GB/s* is what a job
writes for each CPU second at least: its matrix.

Random sequences; the jobs are chosen to take over .2 s. Run it by: ``python benchmarks/bench_threads.py [repeats [part
of a name]]``, which prints a table.
"""

import contextlib
import heapq
import io
import itertools
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import ClassVar

from common import PROTEIN, random_strings, start_table

from seqkern.cli.main import main
from seqkern.core import threads
from seqkern.kernels import build_kernel
from seqkern.sequences import find_similar
from seqkern.sequences.sequence_set import SequenceSet

MANY = 32
KERNELS = [  # spec, letters, sequences, length
    ("spectrum:k=6", "ACGT", 12_000, 100),
    ("spectrum:k=3", PROTEIN, 12_000, 130),
    ("mismatch:k=6,m=1", "ACGT", 8000, 100),
    ("mismatch:k=5,m=1", PROTEIN, 4000, 130),
    ("gapped_kmer:l=10,k=6", "ACGT", 3000, 100),
    ("gapped_kmer:l=6,k=4", PROTEIN, 5000, 130),
    ("gappy_pair:k=2,m=4", PROTEIN, 8000, 130),
    ("gappy:g=5,k=3", PROTEIN, 4000, 100),
    ("wildcard:k=4,m=1", PROTEIN, 4000, 100),
    ("substitution:k=3", PROTEIN, 5000, 100),
    ("d2:k=5", "ACGT", 3000, 200),
    ("oligo:k=3,sigma=5", "ACGT", 2500, 100),
    ("weighted_degree:degree=20", "ACGT", 12_000, 141),
    ("shifted_weighted_degree:degree=6,shift=10", "ACGT", 6000, 100),
    ("locality_improved:l=3,d1=3", "ACGT", 8000, 100),
    ("generic_string", PROTEIN, 1500, 60),
    ("smith_waterman:normalize=true", PROTEIN, 1500, 150),
    ("local_alignment", PROTEIN, 1000, 150),
    ("string:n=4,decay=0.5", PROTEIN, 800, 100),
    ("compression", PROTEIN, 200, 150),
]
COMMANDS = [  # verb, kernel, solver, what else, training sequences and their length, new ones and theirs
    ("train", "gapped_kmer:l=10,k=6", "csvc:C=1", [], 3000, 100, 0, 0),
    ("train", "gapped_kmer:l=10,k=6", "psvc:epsilon=0.05", [], 2000, 100, 0, 0),
    ("train", "gapped_kmer:l=10,k=6", "primal_svc:C=1", [], 20_000, 200, 0, 0),
    ("train", "weighted_degree:degree=20", "linear_svc:C=1", [], 20_000, 141, 0, 0),
    ("predict", "gapped_kmer:l=10,k=6", "primal_svc:C=1", [], 1000, 100, 100_000, 100),
    ("predict", "spectrum:k=6", "csvc:C=1", [], 1000, 100, 100_000, 100),
    ("predict", "mismatch:k=6,m=1", "csvc:C=1", [], 1000, 100, 50_000, 100),
    ("predict", "smith_waterman:matrix=NUC.4.4,normalize=true", "csvc:C=1", [], 1000, 100, 2000, 100),
    (
        "predict",
        "weighted_degree:degree=8",
        "csvc:C=1",
        ["--scan", "AG", "--window", "-60:+80"],
        1000,
        141,
        1,
        4_000_000,
    ),
    ("gram", "local_alignment", "", [], 1000, 150, 0, 0),
    ("gram", "weighted_degree:degree=20", "", ["--dtype", "float32"], 12_000, 141, 0, 0),
]


def sequences(letters, n, length):
    """Return random sequences."""
    return SequenceSet.from_strings(random_strings(n, length, letters), "dna" if letters == "ACGT" else "protein")


class RecordingPool(ThreadPoolExecutor):
    """A pool that notes the CPU seconds of each call, one list for each use of `map`."""

    noted: ClassVar[list] = []

    def map(self, function, *iterables, **options):
        """Call a function in threads, as the base does."""
        seconds, lock = [], threading.Lock()
        RecordingPool.noted.append(seconds)

        def timed(place, *arguments):
            start = time.thread_time()
            try:
                return function(*arguments)
            finally:
                with lock:
                    seconds.append((place, time.thread_time() - start))

        return super().map(timed, itertools.count(), *iterables, **options)


def makespan(seconds, n_threads):
    """Return when the last of several pieces ends that threads take in order."""
    free = [0.0] * n_threads
    for _, taken in sorted(seconds):
        heapq.heapreplace(free, free[0] + taken)
    return max(free)


def measure(job, n_threads):
    """Return CPU seconds, those of the calling thread, seconds by the clock, and the pieces of one call."""
    RecordingPool.noted = []
    cpu, own, clock = time.process_time(), time.thread_time(), time.perf_counter()
    job(n_threads)
    taken = time.process_time() - cpu, time.thread_time() - own, time.perf_counter() - clock
    return *taken, RecordingPool.noted


def gain(run, n_threads):
    """Return how many times as fast threads make a job, if no piece of its work costs more for that."""
    _, serial, _, pieces = run
    work = sum(seconds for piece in pieces for _, seconds in piece)
    return (serial + work) / (serial + sum(makespan(piece, n_threads) for piece in pieces))


def jobs(wanted, folder):
    """Yield the name, what to call with a number of threads, and the bytes of the matrix of each job."""
    for spec, letters, n, length in KERNELS:
        if wanted in spec:
            yield spec, partial(gram, build_kernel(spec), sequences(letters, n, length)), 8 * n * n
    if wanted in "similarity search":
        X = sequences(PROTEIN, 6000, 180)
        yield "similarity search", lambda n_threads: find_similar(X, n_threads=n_threads), 0
    for verb, kernel, solver, more, n, length, n_new, new_length in COMMANDS:
        name = " ".join([verb, kernel, solver, *more]).strip()
        if wanted in name:
            letters = PROTEIN if kernel == "local_alignment" else "ACGT"
            files = [write(folder / f"{i}.fa", letters, n // 2, length, i) for i in range(2)]
            train = [*files, "--kernel", kernel, "--solver", solver, "-o", str(folder / "model")]
            if verb == "predict":
                run("train", train, 1)
                new = write(folder / "new.fa", letters, n_new, new_length, 3)
                yield name, partial(run, verb, [str(folder / "model"), new, *more, "-o", str(folder / "out")]), 0
            elif verb == "train":
                yield name, partial(run, verb, train), 0
            else:
                both = write(folder / "all.fa", letters, n, length, 4)
                yield name, partial(run, verb, [both, "--kernel", kernel, *more, "-o", str(folder / "g.npy")]), 0


def gram(kernel, X, n_threads):
    """Compute a matrix."""
    kernel(X, n_threads=n_threads)


def write(path, letters, n, length, seed):
    """Write random sequences as FASTA."""
    strings = random_strings(n, length, letters, seed)
    path.write_text("".join(f">{seed}-{i}\n{text}\n" for i, text in enumerate(strings)))
    return str(path)


def run(verb, arguments, n_threads):
    """Run a command in this process, anew."""
    for old in Path(arguments[-1]).parent.glob("g.npy*"):
        old.unlink()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as said:
        code = main([verb, *arguments, "--threads", str(n_threads)])
    if code:
        raise RuntimeError(said.getvalue())


def report(repeats, wanted):
    """Print the table."""
    threads.ThreadPoolExecutor = RecordingPool
    columns = ("CPU s", "CPU, two threads", "serial", "gain, two", "clock", "pieces", "gain, 32", "GB/s")
    row = start_table("job", *columns)
    with tempfile.TemporaryDirectory(dir=".") as folder:
        for name, job, written in jobs(wanted, Path(folder)):
            row(name, *cells_of(job, written, repeats))


def cells_of(job, written, repeats):
    """Return the cells of a row."""
    runs = {1: [], 2: [], MANY: []}
    job(1)
    for n_threads in [1, 2] * repeats + [MANY]:
        runs[n_threads].append(measure(job, n_threads))
    one, two = (min(runs[n], key=lambda run: run[0]) for n in (1, 2))
    clock = min(run[2] for run in runs[1]) / min(run[2] for run in runs[2])
    many = runs[MANY][0]
    cells = [f"{one[0]:.2f}", f"{two[0] / one[0]:.2f}", f"{100 * two[1] / one[0]:.1f} %"]
    cells += [f"{gain(two, 2):.2f}", f"{clock:.2f}", str(sum(map(len, many[3])))]
    return [*cells, f"{gain(many, MANY):.1f}", f"{written / one[0] / 1e9:.1f}"]


if __name__ == "__main__":
    report(int(sys.argv[1]) if len(sys.argv) > 1 else 3, sys.argv[2] if len(sys.argv) > 2 else "")
