"""Fisher scores under a profile HMM on every level of vector instructions, beside hmmsearch's forward pass.

The 3,397 proteins of the ``edd_homology`` set (mean length 166) under globins4, an HMM of 149 columns: everything from
encoded sequences to the scores of all emissions, which takes a forward and a backward pass and the expected counts. A
cell is a letter and a column. CPU seconds of the process, one thread, medians after a warm-up, all in one run.

The yardstick is pyhmmer's hmmsearch without filters, one thread. Of its forward pass alone there is no number to be
had: it is the difference of two searches, in which all sequences pass the Viterbi filter, or none, and in which none
gets beyond the forward pass. ``all steps`` is what hmmsearch --max does: backward pass and domains, too.

Run it by pytest, or: ``python benchmarks/bench_fisher.py [repeats]``, which prints tables; the second is of one fit of
the Fisher kernel on a family (alignment, building), of its scores and of its Gram matrix.
"""

import sys
import time
from functools import cache

import numpy as np
from common import DATA, PROTEIN, cpu_seconds, random_strings

from seqkern import read_fasta
from seqkern.kernels import FisherKernel
from seqkern.kernels.models import _forward_backward as loops
from seqkern.kernels.models.profile_hmm import build_profile, read_profiles
from seqkern.sequences.sequence_set import SequenceSet

LEVELS = ("plain", "AVX2", "AVX-512")
HMM = DATA / "pfam" / "globins4.hmm"
FAMILY = "c.37.1.8"  # 195 positives


@cache
def load():
    """Return the proteins."""
    file = DATA / "edd_homology" / "EDD.fasta"
    if not file.is_file():
        return SequenceSet.from_strings(random_strings(3397, 166, PROTEIN), "protein")
    return read_fasta(file, alphabet="protein", unknown="mask", ids="number")


@cache
def model():
    """Return the profile HMM."""
    if HMM.is_file():
        return read_profiles(HMM)[0][0]
    return build_profile(SequenceSet.from_strings(random_strings(1, 149, PROTEIN), "protein"))


def report_levels(repeats):
    """Print the CPU seconds of scores for each level; return those of the highest, without transitions."""
    X, highest = load(), loops.level()
    cells = X.lengths.sum() * model().length
    print("| instructions | transitions | CPU s | ns a cell |")
    print("|---|---|---|---|")
    best = {}
    for level in range(highest, -1, -1):
        loops.set_level(level)
        for transitions in (False, True):
            seconds = cpu_seconds(lambda t=transitions: model().score(X, t, n_threads=1), repeats)
            best[level, transitions] = seconds
            print(f"| {LEVELS[level]} | {transitions} | {seconds:.3f} | {seconds / cells * 1e9:.2f} |", flush=True)
    loops.set_level(highest)
    return best[highest, False]


def report_rival(repeats, ours):
    """Print the CPU seconds of hmmsearch, and how many times more ours are."""
    import pyhmmer

    if not HMM.is_file():
        return
    letters = pyhmmer.easel.Alphabet.amino()
    strings = [text.replace("*", "X") for text in load().strings()]
    texts = [pyhmmer.easel.TextSequence(name=b"%d" % i, sequence=text) for i, text in enumerate(strings)]
    block = pyhmmer.easel.DigitalSequenceBlock(letters, [text.digitize(letters) for text in texts])
    with pyhmmer.plan7.HMMFile(HMM) as file:
        hmm = next(file)

    def search(viterbi, forward):
        limits = {"bias_filter": False, "F1": 1.0, "F2": viterbi, "F3": forward}
        return pyhmmer.plan7.Pipeline(letters, **limits).search_hmm(hmm, block)

    before, after = (cpu_seconds(lambda v=v: search(v, 0.0), repeats) for v in (0.0, 1.0))
    whole = cpu_seconds(lambda: search(1.0, 1.0), repeats)
    print("\n| hmmsearch | CPU s | ours / it |")
    print("|---|---|---|")
    for name, seconds in (("forward pass", after - before), ("to the forward pass", after), ("all steps", whole)):
        print(f"| {name} | {seconds:.3f} | {ours / seconds:.2f} |")


def report_threads(repeats):
    """Print the seconds on the clock with one thread and two."""
    taken = {}
    for n_threads in (1, 2):
        runs = []
        for _ in range(repeats + 1):
            start = time.perf_counter()
            model().score(load(), n_threads=n_threads)
            runs.append(time.perf_counter() - start)
        taken[n_threads] = min(runs)
    print(f"\ntwo threads: {taken[1] / taken[2]:.2f} times faster on the clock, where two cores are free")


def report_family(repeats):
    """Print the CPU seconds of one training set of the homology study."""
    labels = DATA / "edd_homology" / "edd_ln_labels.tsv"
    if not labels.is_file():
        return
    rows = [line.split("\t") for line in labels.read_text().splitlines()]
    column = np.array([int(row[rows[0].index(FAMILY)]) for row in rows[1:]])
    X, y = load().take(np.isin(column, (1, 2))), column[np.isin(column, (1, 2))] == 1
    kernel = FisherKernel(n_threads=1)
    seconds = {"fit": cpu_seconds(lambda: kernel.fit(X, y), repeats)}
    seconds["scores"] = cpu_seconds(lambda: kernel.features(X), repeats)
    seconds["Gram matrix, scores included"] = cpu_seconds(lambda: kernel(X, n_threads=1), repeats)
    print(f"\n| {FAMILY}: {len(X)} proteins, {y.sum()} positives, {kernel.models_[0].length} columns | CPU s |")
    print("|---|---|")
    for name, value in seconds.items():
        print(f"| {name} | {value:.2f} |")
    print(f"| predicted | {kernel.plan(X).seconds:.2f} |")


def test_scores(benchmark):
    X = load()
    benchmark.extra_info["cells"] = int(X.lengths.sum() * model().length)
    benchmark.pedantic(lambda: model().score(X, n_threads=1), rounds=5, warmup_rounds=1)


if __name__ == "__main__":
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    ours = report_levels(repeats)
    report_rival(repeats, ours)
    report_threads(repeats)
    report_family(max(1, repeats // 2))
