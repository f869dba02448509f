"""Remote homology by search programs alone: phmmer, jackhmmer, blastp, MMseqs2, and the two baselines by alignment.

For each family the positive training sequences are the queries. The decision about a test sequence is the best or the
mean −ln E of their hits to it; without a hit of E up to 1000, a query counts as −ln 1000. No program sees a label of a
test sequence. jackhmmer iterates each query on the training set, without labels, and its last HMM is searched against
the test set, so that no profile is built from test sequences.

phmmer and jackhmmer come with PyHMMER. blastp and mmseqs are used where they are on the PATH (Debian: ncbi-blast+,
mmseqs2). All run on one thread. Printed: means over the families, and CPU seconds.

Run: ``SEQKERN_DATA=… python benchmarks/search_tools.py edd`` or ``… scop``; ``--tools phmmer,blastp`` for some,
``--queries 100`` for at most so many queries of each family.
"""

import argparse
import os
import shlex
import shutil
import subprocess
import tempfile
from functools import partial
from pathlib import Path

import numpy as np
from common import DATA

from seqkern.evaluation import median_rfp, roc_auc, roc_n
from seqkern.methods.baselines import BaselineData, decide
from seqkern.study import make_dataset

FAMILIES = ("1.1", "1.34", "2.1", "2.19", "2.31", "2.34", "2.41", "2.8", "3.19", "3.25", "3.33", "3.50")
WITHOUT_OTHERS = ("2.1", "3.50")
"""Families without published values."""
LARGEST_E = 1000.0
LEAST_E = 1e-300
ROUNDS = 5
LOOSE = {"bias_filter": False, "F1": 0.3, "F2": 0.1, "F3": 0.1, "E": LARGEST_E}
"""HMMER's filters by default leave few hits with E above 0.01, so that most test sequences would tie."""
CUTOFF = np.log(LARGEST_E)


def tasks(name):
    """Yield (family, BaselineData, Labels, rows of the training set, rows of the test set)."""
    if name == "edd":
        entries = {"edd": {"public": "edd_homology", "unknown": "mask"}}
    else:
        entries = {f: {"public": f"scop_family_{f}", "unknown": "mask", "ids": "number"} for f in FAMILIES}
    for entry_name, entry in entries.items():
        dataset = make_dataset(entry_name, entry, data_dir=DATA)
        data = BaselineData.of(dataset)
        for task in dataset.tasks.values():
            family = task.name if len(dataset.tasks) > 1 else entry_name
            yield family, data, task.labels, *(np.flatnonzero(task.split == part) for part in ("train", "test"))


def evidence(hits, n_test, n_queries):
    """Return −ln E, (test sequences, queries), of (query, test sequence, E-value)."""
    found = np.full((n_test, n_queries), -CUTOFF)
    for query, target, e in hits:
        found[target, query] = max(found[target, query], -np.log(max(e, LEAST_E)))
    return found


def digital(alphabet, strings):
    """Return sequences as PyHMMER takes them, named by number."""
    from pyhmmer.easel import DigitalSequenceBlock, TextSequence

    named = (TextSequence(name=str(i), sequence=text) for i, text in enumerate(strings))
    return DigitalSequenceBlock(alphabet, [one.digitize(alphabet) for one in named])


def number(name):
    """Return the number that a sequence is named by."""
    return int(name.decode() if isinstance(name, bytes) else name)


def phmmer(queries, test, train):
    """Yield the hits of phmmer."""
    from pyhmmer.easel import Alphabet
    from pyhmmer.hmmer import phmmer as run

    alphabet = Alphabet.amino()
    for i, hits in enumerate(run(digital(alphabet, queries), digital(alphabet, test), cpus=1, **LOOSE)):
        for hit in hits:
            yield i, number(hit.name), hit.evalue


def jackhmmer(queries, test, train):
    """Yield the hits of HMMs that jackhmmer builds on the training set."""
    from pyhmmer.easel import Alphabet
    from pyhmmer.hmmer import hmmsearch
    from pyhmmer.hmmer import jackhmmer as run

    alphabet = Alphabet.amino()
    built = run(digital(alphabet, queries), digital(alphabet, train), max_iterations=ROUNDS, cpus=1)
    hmms = [last.hmm for last in built]
    for i, hits in enumerate(hmmsearch(hmms, digital(alphabet, test), cpus=1, **LOOSE)):
        for hit in hits:
            yield i, number(hit.name), hit.evalue


def write_fasta(path, strings):
    """Write sequences, named by number."""
    path.write_text("".join(f">{i}\n{text}\n" for i, text in enumerate(strings)))


def by_program(commands, queries, test, train):
    """Yield the hits that a program writes as query, target and E-value."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        write_fasta(home / "queries.fa", queries)
        write_fasta(home / "test.fa", test)
        for line in commands:
            subprocess.run(shlex.split(line), cwd=home, check=True, stdout=subprocess.DEVNULL)
        for row in (home / "hits.tsv").read_text().splitlines():
            query, target, e = row.split("\t")
            yield int(query), int(target), float(e)


BLASTP = (
    "makeblastdb -in test.fa -dbtype prot -out test",
    "blastp -query queries.fa -db test -out hits.tsv -evalue 1000 -max_target_seqs 100000 -max_hsps 1 -num_threads 1"
    " -outfmt '6 qseqid sseqid evalue'",
)
MMSEQS = (
    "mmseqs easy-search queries.fa test.fa hits.tsv tmp -s 7.5 -e 1000 --max-seqs 100000 --threads 1"
    " --format-output query,target,evalue -v 1",
)
TOOLS = {
    "phmmer": phmmer,
    "jackhmmer": jackhmmer,
    "blastp": partial(by_program, BLASTP),
    "mmseqs": partial(by_program, MMSEQS),
}
HMMER = ("phmmer", "jackhmmer")
BASELINES = {"best": "nearest", "mean": "alignment"}


def present(tool):
    """Tell whether a program can be run."""
    return tool in HMMER or shutil.which(tool) is not None


def cpu_seconds():
    """Return the CPU seconds of this process and of those it started."""
    return sum(os.times()[:4])


def scores(positive, decisions):
    """Return AUC, ROC50 and median RFP."""
    return roc_auc(positive, decisions), roc_n(positive, decisions, 50), median_rfp(positive, decisions)


def run(tool, data, labels, train, test, most):
    """Return the decisions of a program about a test set by the best and by the mean −ln E."""
    if tool == "alignment":
        return {how: decide(name, data, labels, train, test)[0] for how, name in BASELINES.items()}
    positives = train[labels.y[train] == 1]
    if most and len(positives) > most:
        positives = positives[np.linspace(0, len(positives) - 1, most).astype(int)]
    sets = [data.X.take(rows).strings() for rows in (positives, test, train)]
    found = evidence(TOOLS[tool](*sets), len(test), len(positives))
    return {"best": found.max(axis=1), "mean": found.mean(axis=1)}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", choices=("edd", "scop"))
    parser.add_argument("--tools", default="alignment,phmmer,jackhmmer,blastp,mmseqs")
    parser.add_argument("--queries", type=int, help="at most so many for each family, evenly spaced (default: all)")
    parser.add_argument("--families", type=int, help="only the first ones")
    args = parser.parse_args()
    families = list(tasks(args.data))[: args.families]
    chosen = [name not in WITHOUT_OTHERS for name, *_ in families]
    print("| program | −ln E | mean ROC | mean ROC50 | mean median RFP | CPU s |\n|---|---|---|---|---|---|")
    for tool in args.tools.split(","):
        if tool != "alignment" and not present(tool):
            print(f"{tool} is not installed")
            continue
        start, table = cpu_seconds(), {"best": [], "mean": []}
        for _, data, labels, train, test in families:
            for how, decisions in run(tool, data, labels, train, test, args.queries).items():
                table[how].append(scores(labels.y[test] == 1, decisions))
        taken = cpu_seconds() - start
        for how, rows in table.items():
            means = [f"{value:.3f}" for value in np.mean(rows, axis=0)]
            print(f"| {tool} | {how} | {' | '.join(means)} | {taken:.0f} |", flush=True)
            if args.data == "scop":
                ten = [f"{value:.3f}" for value in np.mean(np.array(rows)[chosen], axis=0)]
                print(f"| {tool}, ten families | {how} | {' | '.join(ten)} | |", flush=True)
