"""The motif kernel beside a loop over regular expressions: PROSITE of 1995, and weight matrices of JASPAR's size.

The 1,149 patterns on the 3,397 proteins of the ``edd_homology`` set: counts of all matches, on one thread, at every
level of vector instructions; and the full, normalised float64 matrix. Beside it Python's ``re``, each pattern compiled
once as a lookahead, all matches counted; it runs once, and the counts are compared. Weight matrices: 800 random ones of
6 to 15 columns on 2,000 random DNA sequences of 100 letters, both strands; there is no rival.

CPU seconds of the process, medians after a warm-up, all in one run. Without the data, patterns and proteins are random.

Run it by pytest, or: ``python benchmarks/bench_motifs.py [repeats]``, which prints tables.
"""

import re
import sys
import tempfile
import time
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from common import DATA, PROTEIN, cpu_seconds, random_strings

from seqkern import read_fasta
from seqkern.kernels import MotifKernel
from seqkern.kernels.products import _product
from seqkern.sequences.sequence_set import SequenceSet

LEVELS = ("plain", "AVX2", "AVX-512")
TARGET = 20  # times faster than the regular expressions
MATRICES, WINDOWS = 800, 2000


@cache
def load():
    """Return the proteins, and the texts of the patterns in GCG's notation."""
    fasta, patterns = DATA / "edd_homology" / "EDD.fasta", DATA / "prosite1995" / "prosite.dat"
    if not fasta.is_file() or not patterns.is_file():
        rng = np.random.default_rng(0)
        texts = ["".join(rng.choice([*PROTEIN, "x", "(A,G)", "(L,I,V,M)"], size=12)) for _ in range(1149)]
        return SequenceSet.from_strings(random_strings(3397, 160, PROTEIN), "protein"), texts
    X = read_fasta(fasta, alphabet="protein", unknown="mask", ids="number")
    return X, [line.split()[2] for line in patterns.read_text().splitlines()[6:] if line.strip()]


def regular_expression(text):
    """Return the compiled lookahead of a pattern in GCG's notation."""
    text = re.sub(r"(?<![{,\d])(\d+)", r"{\1}", text)
    text = re.sub(r"~\(([A-Z,]+)\)", lambda found: f"[{''.join(a for a in PROTEIN if a not in found[1])}]", text)
    text = re.sub(r"\(([A-Za-z,]+)\)", lambda found: f"[{found[1].replace(',', '').upper()}]", text)
    text = text.replace("<", r"\A").replace(">", r"\Z").replace("x", ".").replace("X", ".")
    return re.compile(f"(?={text})")


def report_patterns(repeats):
    """Print a table of the patterns at every level, and the regular expressions."""
    X, texts = load()
    strings, expressions = X.strings(), [regular_expression(text) for text in texts]
    start = time.process_time()
    naive = np.array([[len(expression.findall(string)) for string in strings] for expression in expressions]).T
    rival = time.process_time() - start
    kernel = MotifKernel(texts, n_threads=1, zero_diagonal="zero")
    np.testing.assert_array_equal(kernel.features(X).toarray(), naive)
    print(f"{len(texts)} patterns, {len(X)} proteins, {naive.sum()} matches\n")
    print("| | CPU s | times faster than re | to reach |")
    print("|---|---|---|---|")
    print(f"| Python re | {rival:.2f} | 1 | |")
    highest = _product.level()
    for level in range(highest, -1, -1):
        _product.set_level(level)
        seconds = cpu_seconds(lambda: kernel.features(X), repeats)
        print(f"| counts, {LEVELS[level]} | {seconds:.4f} | {rival / seconds:.0f} | {TARGET} |")
    _product.set_level(highest)
    seconds = cpu_seconds(lambda: MotifKernel(texts, n_threads=1).features(X), repeats)
    print(f"| counts, patterns read and compiled too | {seconds:.4f} | {rival / seconds:.0f} | |")
    seconds = cpu_seconds(lambda: kernel(X), repeats)
    print(f"| kernel matrix (predicted {kernel.plan(X).seconds:.3f} s) | {seconds:.4f} | {rival / seconds:.0f} | |")


@cache
def matrices():
    """Return the text of a MEME file of random motifs."""
    rng = np.random.default_rng(0)
    lines = ["MEME version 4", "ALPHABET= ACGT"]
    for number in range(MATRICES):
        rows = rng.dirichlet(np.full(4, 0.3), size=rng.integers(6, 16))
        lines += [f"MOTIF m{number}", "letter-probability matrix: nsites= 100"]
        lines += [" ".join(f"{share:.6f}" for share in row) for row in rows]
    return "\n".join(lines)


def report_matrices(repeats):
    """Print a table of the weight matrices at every level."""
    X = SequenceSet.from_strings(random_strings(WINDOWS, 100), "dna")
    print(f"\n{MATRICES} weight matrices, {WINDOWS} sequences of 100 bases, both strands\n")
    print("| | CPU s | scores/s |")
    print("|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "motifs.meme"
        file.write_text(matrices())
        kernel = MotifKernel(str(file), reverse_complement=True, n_threads=1, zero_diagonal="zero")
        start = time.process_time()
        kernel.features(X)
        first = time.process_time() - start
        highest = _product.level()
        for level in range(highest, -1, -1):
            _product.set_level(level)
            seconds = cpu_seconds(lambda: kernel.features(X), repeats)
            print(f"| {LEVELS[level]} | {seconds:.4f} | {2 * MATRICES * X.lengths.sum() / seconds:.2g} |")
        _product.set_level(highest)
        print(f"| the first time, with file and thresholds | {first:.4f} | |")


@pytest.mark.parametrize("what", ["counts", "matrix"])
def test_patterns(benchmark, what):
    X, texts = load()
    kernel = MotifKernel(texts, n_threads=1, zero_diagonal="zero")
    benchmark.extra_info["patterns"] = len(texts)
    benchmark.pedantic(kernel.features if what == "counts" else kernel, (X,), rounds=5, warmup_rounds=1)


if __name__ == "__main__":
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    report_patterns(repeats)
    report_matrices(repeats)
