"""Jobs that other programs do too: CPU seconds of both in one run, and what the machine's limit would allow.

Data as in ``common.py``, or the first sequences of a set, for programs that take minutes on all. One thread. Ours: from
Python strings to the full matrix, normalised. Runs alternate, five of each, and the medians are shown; what takes more
than a second runs once. Programs from PyPI run in environments of their own, which the first run makes,
LS-GKM from ``SEQKERN_LSGKM``, the folder of its programs. Where the same number is defined, it is compared.

The limit is a count divided by the machine's rate for it (``machine.py``): bytes of the matrix written to fresh memory;
additions, one for each pair of equal words; operations on vectors of 64 bytes that the recursion of a cell takes (22
logical ones for 512 windows of gapped k-mers, 10 on 64 cells for Smith-Waterman; products alone where the recursion
is one of sums and products: 5 on 16 cells for local alignments, 3 on 8 cells and each length for strings).

Run it by: ``SEQKERN_LSGKM=… python benchmarks/bench_rivals.py [NAME …]``, which prints a table; names choose jobs.
"""

import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np
from bench_kmers import sklearn_gram
from common import DATA, cells, child_seconds, load, run_rival, start_table
from machine import machine

from seqkern import read_fasta
from seqkern.kernels import build_kernel
from seqkern.sequences.sequence_set import SequenceSet

REPEATS, LONG = 5, 1.0
FEW, PROTEINS, STRINGS = 500, 300, 60
TRUNCATED = "gapped_kmer:l=10,k=6,d=3,estimator=truncated,reverse_complement=true"


@dataclass
class Job:
    """One row: a kernel on some sequences, beside other programs.

    ``limits`` has pairs (operations or bytes, name of the rate in `machine`); the largest quotient counts. A rival
    returns its CPU seconds and its value of ``check``, or None where it cannot run.
    """

    name: str
    data: str
    spec: str
    limits: list
    check: Callable = lambda K: None
    rivals: dict = field(default_factory=dict)
    normalized: bool = True

    def ours(self):
        """Return our CPU seconds and the value to compare."""
        strings, alphabet = strings_of(self.data)
        kernel = build_kernel(self.spec)
        start = time.process_time()
        X = SequenceSet.from_strings(strings, alphabet, unknown="mask_all")
        K = kernel(X, n_threads=1) if self.normalized else kernel(X)
        return time.process_time() - start, self.check(K)

    def limit(self):
        """Return the seconds that the machine's limit would allow."""
        return max(count / getattr(machine(), rate) for count, rate in self.limits)


def strings_of(name):
    """Return strings and their alphabet; ``edd`` and ``set-N``: the first N."""
    name, _, first = name.partition("-first-")
    if name == "edd":
        file = DATA / "edd_homology" / "EDD.fasta"
        strings, alphabet = read_fasta(file, alphabet="protein", unknown="mask", ids="number").strings(), "protein"
        strings = [string.replace("*", "X") for string in strings]
    else:
        strings, alphabet = load(name)
    strings = [string.upper() for string in strings]  # strkernels takes lower-case letters for others
    return (strings[: int(first)] if first else strings), alphabet


def matrix_bytes(name):
    """Return the bytes of the matrix of a set, in double precision."""
    return 8 * len(strings_of(name)[0]) ** 2


def equal_words(name, spec):
    """Return the pairs of equal words in all pairs of sequences, on one side of the diagonal: an addition each."""
    strings, alphabet = strings_of(name)
    K = build_kernel(spec).set_params(normalize=False)(SequenceSet.from_strings(strings, alphabet, unknown="mask_all"))
    return np.triu(K).sum()


def timed(run):
    """Return the CPU seconds of a call."""
    start = time.process_time()
    run()
    return time.process_time() - start


def by_sklearn(name, k):
    """Return the seconds of scikit-learn's CountVectorizer, normalize and a sparse product."""
    strings = strings_of(name)[0]
    sklearn_gram(strings[:2], k)  # imports
    return timed(lambda: sklearn_gram(strings, k)), None


def by_fastsk(name, g, m):
    """Return the seconds of FastSK and its K21."""
    found = run_rival(["fastsk"], "rival_fastsk.py", strings_of(name)[0], g, m)
    return found and (found["seconds"], found["K21"])


def by_gapped(package, way, name, *parameters):
    """Return the seconds of kmer-learn or gkmsvm-lite, and its K21."""
    found = run_rival([package], "rival_gapped.py", way, strings_of(name)[0], *parameters)
    return found and (found["seconds"], found["K21"])


def by_lsgkm(name):
    """Return the seconds of LS-GKM's gkmmatrix for the truncated kernel, and its K21; it writes a file."""
    programs = os.environ.get("SEQKERN_LSGKM")
    if not programs:
        return None
    strings = strings_of(name)[0]
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / "a.fa", Path(folder) / "b.fa"]
        for file, part in zip(files, (strings[::2], strings[1::2]), strict=True):
            file.write_text("".join(f">{file.stem}{i}\n{string}\n" for i, string in enumerate(part)))
        command = [Path(programs) / "gkmmatrix", "-v", "0", "-l", "10", "-k", "6", "-d", "3", *files, "matrix"]
        run = partial(subprocess.run, command, check=True, cwd=folder, stdout=subprocess.DEVNULL)
        seconds, _ = child_seconds(run)
        row = (Path(folder) / "matrix").read_text().splitlines()[len(strings[::2])]
    return seconds, float(row.split()[0])


def by_strkernels(name, kernel, parameters):
    """Return the seconds of strkernels and its K21."""
    found = run_rival(["strkernels"], "rival_strkernels.py", strings_of(name)[0], kernel, parameters)
    return found and (found["seconds"], found["K21"])


def by_alignment(program, name):
    """Return the seconds of parasail or pyopal, and the sum of all scores."""
    found = run_rival([program], "rival_alignment.py", program, strings_of(name)[0])
    return found and (found["seconds"], found["total"])


def words(name, spec):
    """Return the limits of a kernel that adds one for each pair of equal words."""
    return [(matrix_bytes(name), "written"), (equal_words(name, spec), "scattered")]


def vectors(name, operations, lanes, rate):
    """Return the limits of a recursion over cells, of so many operations on so many cells at once."""
    n_cells = cells([len(string) for string in strings_of(name)[0]])
    return [(matrix_bytes(name), "written"), (n_cells * operations / lanes, rate)]


def k21(K):
    """Return the value of the first pair."""
    return K[1, 0]


def jobs():
    """Return all jobs."""
    few, proteins, strings = f"ctcf-first-{FEW}", f"edd-first-{PROTEINS}", f"scop-train-first-{STRINGS}"
    truncated = {
        "gkmsvm-lite": lambda: by_gapped("gkmsvm-lite", "gkmsvm-lite", few, 10, 6, 3),
        "kmer-learn": lambda: by_gapped("kmer-learn", "kmer-learn", few, 10, 6, 3),
        "LS-GKM": lambda: by_lsgkm(few),
    }
    degree = partial(by_strkernels, "ctcf", "WeightedDegreeStringKernel", {"degree": 6})
    subsequences = partial(by_strkernels, strings, "SubsequenceStringKernel", {"maxlen": 4, "ssk_lambda": 0.5})
    aligned = {program: partial(by_alignment, program, proteins) for program in ("pyopal", "parasail")}
    return [
        *(
            Job(f"spectrum, k = {k}", name, f"spectrum:k={k}", words(name, f"spectrum:k={k}"),
                rivals={"scikit-learn": partial(by_sklearn, name, k)})
            for name, k in (("ctcf", 6), ("scop-train", 3))
        ),
        *(
            Job(f"mismatch, k = 6, m = {m}", "ctcf", f"mismatch:k=6,m={m}", [(matrix_bytes("ctcf"), "written")],
                k21, {"kmer-learn": partial(by_gapped, "kmer-learn", "mismatch", "ctcf", 6, m)})
            for m in (1, 2)
        ),
        Job("gapped, l = 10, k = 6", "ctcf", "gapped_kmer:l=10,k=6", vectors("ctcf", 22, 512, "logic"),
            k21, {"FastSK": partial(by_fastsk, "ctcf", 10, 4)}),
        Job("the same, truncated, both strands", few, TRUNCATED, vectors(few, 2 * 22, 512, "logic"), k21, truncated),
        Job("gapped, l = 6, k = 4", "scop", "gapped_kmer:l=6,k=4", words("scop", "gapped_kmer:l=6,k=4"),
            k21, {"FastSK": partial(by_fastsk, "scop", 6, 2)}),
        Job("weighted degree, d = 6", "ctcf", "weighted_degree:degree=6", [(matrix_bytes("ctcf"), "written")],
            k21, {"strkernels": degree}),
        Job("string, n = 4", strings, "string:n=4,decay=0.5,up_to=true", vectors(strings, 4 * 3, 8, "double_products"),
            k21, {"strkernels": subsequences}),
        Job("Smith-Waterman", proteins, "smith_waterman", vectors(proteins, 10, 64, "additions"), np.sum, aligned,
            normalized=False),
        Job("Smith-Waterman", "edd", "smith_waterman", vectors("edd", 10, 64, "additions")),
        Job("local alignment", "edd", "local_alignment:precision=single", vectors("edd", 5, 16, "single_products")),
    ]  # fmt: skip


def measured(job):
    """Return our median, the median of each rival, and a word about the comparison of values."""
    ours, theirs, values = [], {name: [] for name in job.rivals}, {}
    job.ours()  # not counted: the first call reads tables and fills caches
    for _ in range(REPEATS):
        seconds, value = job.ours()
        ours.append(seconds)
        for name, run in job.rivals.items():
            if theirs[name] and (theirs[name][-1] is None or theirs[name][-1] > LONG):
                continue
            found = run()
            theirs[name].append(found and found[0])
            if found and None not in (found[1], value):
                values[name] = bool(np.isclose(found[1], value, rtol=1e-5))
    medians = {name: statistics.median(times) for name, times in theirs.items() if times[0] is not None}
    return statistics.median(ours), medians, values


def report(words):
    """Print a table of the jobs whose names contain one of the words, or of all."""
    row = start_table(
        "kernel", "data", "seqkern, s", "limit, s", "share of it", "program", "its s", "ratio", "same value"
    )
    pattern = re.compile("|".join(map(re.escape, words)))
    for job in jobs():
        if not pattern.search(job.name):
            continue
        ours, theirs, same = measured(job)
        limit = job.limit()
        data = job.data.replace("-first-", ", first ")
        first = [job.name, data, f"**{ours:.3g}**", f"{limit:.2g}", f"{100 * limit / ours:.0f} %"]
        for name, seconds in (theirs or {"": None}).items():
            agreed = {True: "yes", False: "no", None: ""}[same.get(name)]
            beside = [name, f"{seconds:.3g}", f"{seconds / ours:.3g} ×", agreed] if name else ["", "", "", ""]
            row(*first, *beside)
            first = [""] * len(first)


if __name__ == "__main__":
    report(sys.argv[1:])
