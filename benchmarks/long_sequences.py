"""Every kernel on long sequences: what its plan says, and what it takes.

A job is each of a kernel's `examples` on two random records, mostly of 100,000 residues, in a process of its own: fit
where the kernel learns, then the matrix. The verdict is one of

- planned: refused, because more than the limit is predicted, which is set as a user would, by SEQKERN_MAX_HOURS
- refused: one line instead of a result
- done: within twice the predicted CPU seconds, or within a second
- late: done, but longer than that
- killed: not done in twice the limit, in CPU seconds, although less was predicted

Run it by ``python benchmarks/long_sequences.py [--letters 100000] [--limit 20] [KERNEL …]``, which prints a table. It
exits with 1 if any job is late or killed, or ends in a traceback.
"""

import argparse
import json
import os
import resource
import signal
import subprocess
import sys
import time

import numpy as np

from seqkern.core.errors import SeqkernError
from seqkern.kernels.kernel_table import KERNELS
from seqkern.kernels.prepared import LIMIT
from seqkern.sequences.alphabets import as_alphabet
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.sequences.tables import FeatureTable, SimilarityTable

GRACE = 1.0
"""Seconds more than twice the plan: warm-up of libraries."""


def records(kernel, letters):
    """Return two records of the kind that a kernel takes."""
    rng = np.random.default_rng(1)
    if kernel.traits.accepts == "features":
        return FeatureTable(rng.standard_normal((2, letters)))
    if kernel.traits.accepts == "similarities":
        return SimilarityTable(np.array([[2.0, 1.0], [1.0, 2.0]]))
    alphabet = as_alphabet(kernel.alphabet or "dna")
    codes = rng.integers(alphabet.size, size=2 * letters).astype(np.uint8)
    shares = (rng.random((len(codes), alphabet.size)) + 0.1).astype(np.float32)
    shares /= shares.sum(axis=1, keepdims=True)
    known = {"profile": shares, "pssm": (2 * np.log2(shares * alphabet.size)).astype(np.float32)}
    tracks = {name: known.get(name, codes % 2) for name in kernel.traits.tracks}
    return SequenceSet.from_offsets(codes, np.array([0, letters, 2 * letters]), ["a", "b"], alphabet, tracks)


def job(name, number, letters, limit):
    """Print what one example predicts and takes, as JSON lines: first the plan, then the result."""
    kernel = KERNELS.classes[name].examples()[number]
    X = records(kernel, letters)
    found = {}
    os.environ[LIMIT] = str(limit / 3600)
    resource.setrlimit(resource.RLIMIT_CPU, (int(2 * limit + 3),) * 2)
    try:
        start = time.process_time()
        if kernel.traits.data_dependent:
            kernel.fit(X, np.array([0, 1]))
        fitted = time.process_time()
        found["predicted"] = kernel.plan(X).seconds
        print(json.dumps(found), flush=True)
        planned = time.process_time()
        kernel(X)
        found["took"], found["fit"] = time.process_time() - planned, fitted - start
    except SeqkernError as error:
        found["refused"] = str(error)
    except Exception as error:  # any other end is what this looks for
        found["traceback"] = f"{type(error).__name__}: {error}"
    print(json.dumps(found), flush=True)


def look(name, number, letters, limit):
    """Return predicted, taken, verdict and words of one example, run in another process."""
    command = [sys.executable, __file__, "--job", f"{name}:{number}", "--letters", str(letters), "--limit", str(limit)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        out, err = process.communicate()
    killed = process.returncode in (-signal.SIGKILL, -signal.SIGXCPU)
    lines = out.splitlines()
    found = json.loads(lines[-1]) if lines else {}
    predicted, took = found.get("predicted"), found.get("took")
    if "of one processor core, more than the limit" in found.get("refused", ""):
        return predicted, took, "planned", found["refused"].split(" of one")[0] if predicted is None else ""
    if "refused" in found:
        return predicted, took, "refused", found["refused"]
    if "traceback" in found or (not killed and process.returncode):
        return predicted, took, "TRACEBACK", found.get("traceback", err.strip().splitlines()[-1:])
    if killed:
        return predicted, took, "KILLED", ""
    return predicted, took, "done" if took <= 2 * predicted + GRACE else "LATE", ""


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("kernels", nargs="*", help="default: all")
    parser.add_argument("--letters", type=int, default=100_000)
    parser.add_argument("--limit", type=float, default=20, help="CPU seconds; default: 20")
    parser.add_argument("--job", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.job:
        name, number = args.job.split(":")
        job(name, int(number), args.letters, args.limit)
        return 0
    bad = 0
    print("kernel\texample\tpredicted\ttook\tverdict\twords")
    for name in args.kernels or sorted(KERNELS.classes):
        for number in range(len(KERNELS.classes[name].examples())):
            predicted, took, verdict, words = look(name, number, args.letters, args.limit)
            bad += verdict.isupper()
            numbers = ["" if value is None else f"{value:.3g}" for value in (predicted, took)]
            print("\t".join([name, str(number), *numbers, verdict, str(words)]), flush=True)
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
