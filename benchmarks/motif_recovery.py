"""Are planted motifs found, and those of transcription factors: precision and recall of `seqkern motifs`.

    python benchmarks/motif_recovery.py                       # simulated sequences with planted motifs
    python benchmarks/motif_recovery.py --tfbs FOLDER         # FOLDER holds CTCF.train.fasta, CTCF.test.fasta, …

Simulated: half of the sequences hold sites of the planted motifs, each motif with probability 1/2; the others hold
none. Bases are independent, 42 % G or C. A gapped k-mer C-SVM is trained on the sequences; the motifs are those of the
positive class in as many new sequences (or in the k-mers of greatest weight). A motif is matched if the nearest of the
planted and 200 random motifs is a planted one, with p at most 0.001 and a column correlation of at least 0.75.
Precision is the share of matched motifs among those found, recall the share of planted motifs that some motif matches.
"""

import argparse
import re
import time
from pathlib import Path

import numpy as np

from seqkern import read_fasta
from seqkern.genomics import find_motifs
from seqkern.genomics.motif_tables import KnownMotifs, from_consensus, nearest
from seqkern.kernels import GappedKmerKernel
from seqkern.kernels.models.patterns import Matrix
from seqkern.methods.training import train_model
from seqkern.sequences.alphabets import DNA
from seqkern.sequences.labels import make_labels
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.simulate.peaks import draw_site, random_motif, random_motifs

DECOYS, P, CORRELATION = 200, 1e-3, 0.75
BASES = (0.29, 0.21, 0.21, 0.29)
CASES = (
    # sequences, their length, planted motifs, columns, strength
    (500, 200, 1, 10, 0.93),
    (500, 200, 3, 10, 0.93),
    (2000, 200, 1, 10, 0.93),
    (2000, 200, 3, 10, 0.93),
    (2000, 200, 5, 10, 0.93),
    (2000, 200, 3, 8, 0.93),
    (2000, 200, 3, 14, 0.93),
    (2000, 200, 3, 18, 0.93),
    (2000, 200, 3, 10, 0.8),
    (2000, 200, 3, 14, 0.8),
)
KERNEL = GappedKmerKernel(10, 6, reverse_complement=True)
CONSENSUS = {
    "CTCF": "YGRCCASYAGRKGGCRSYV",
    "AP-1": "TGASTCA",
    "CRE": "TGACGTCA",
    "NF-Y": "CTRRCCAATSR",
    "SP1/KLF": "GGGGCGGGGC",
    "E-box (USF, MYC)": "GTCACGTGAC",
    "REST": "TTCAGCACCATGGACAGCGCC",
    "ETS": "ACCGGAAGTG",
    "NRF1": "TGCGCATGCGCA",
    "YY1": "CAAGATGGCGGC",
    "GATA": "AGATAAG",
    "RUNX": "TGTGGTTT",
    "CEBP": "TTGCGCAA",
    "RFX": "GTTGCCATGGCAAC",
    "ZNF143": "ACTACAATTCCCAGAATGC",
    "HNF4": "CAAAGTCCA",
    "FOXA": "TGTTTACA",
    "TEAD": "ACATTCCA",
    "STAT": "TTCCNGGAA",
    "IRF": "GAAACTGAAA",
}
IUPAC = {
    "R": "AG",
    "Y": "CT",
    "S": "CG",
    "W": "AT",
    "K": "GT",
    "M": "AC",
    "B": "CGT",
    "D": "AGT",
    "H": "ACT",
    "V": "ACG",
}
IUPAC |= {"N": "ACGT"}
OWN = {
    "CTCF": ("CTCF", "MA0139"),
    "JUND": ("AP-1", "MA0491"),
    "EP300": (None, "a coactivator that binds no DNA itself"),
    "RAD21": ("CTCF", "cohesin, at CTCF sites: MA0139"),
    "SIN3A": (None, "a corepressor that binds no DNA itself"),
}


def simulated(rng, n, length, motifs):
    """Return sequences, the first half with sites of the motifs, and their labels."""
    codes = rng.choice(4, size=(n, length), p=BASES).astype(np.uint8)
    for i in range(n // 2):
        taken = np.zeros(length, dtype=bool)
        for motif in motifs:
            place = int(rng.integers(length - len(motif) + 1))
            if rng.random() < 0.5 and not taken[place : place + len(motif)].any():
                site = draw_site(rng, motif)
                strand = rng.random() < 0.5
                codes[i, place : place + len(motif)] = site if strand else DNA.complement_codes[site[::-1]]
                taken[place : place + len(motif)] = True
    ids = [f"s{i}" for i in range(n)]
    X = SequenceSet.from_offsets(codes.ravel(), np.arange(n + 1) * length, ids, DNA)
    return X, make_labels(ids, ["bound"] * (n // 2) + ["background"] * (n - n // 2), positive="bound")


def case(seed, n, length, planted, columns, strength):
    """Return, from seqlets and from k-mers: motifs found, matched, planted motifs matched, CPU seconds."""
    rng = np.random.default_rng(seed)
    motifs = random_motifs(rng, planted, columns, strength)
    X, labels = simulated(rng, n, length, motifs)
    new, _ = simulated(rng, n, length, motifs)
    other = np.random.default_rng(99)
    named = [(f"planted {i}", motif) for i, motif in enumerate(motifs)]
    named += [(f"random {i}", random_motif(other, columns, strength)) for i in range(DECOYS)]
    known = KnownMotifs([Matrix.checked(name, 1000 * motif, "ACGT") for name, motif in named], DNA, True)
    model = train_model(X, labels, KERNEL, "csvc:C=1")
    return [counted(model, given, known) for given in (new, None)]


def counted(model, X, known):
    """Return the numbers of one way to find motifs."""
    start = time.process_time()
    found = [one for one in find_motifs(model, X) if one.sign > 0]
    seconds = time.process_time() - start
    matches = nearest([one.probabilities for one in found], known)
    good = [
        one.name for one in matches if one.name.startswith("planted") and one.p <= P and one.correlation >= CORRELATION
    ]
    return len(found), len(good), len(set(good)), seconds


def simulations(repeats):
    """Print the table of simulations."""
    print("| sequences | length | planted | columns | strength | from | found | precision | recall | CPU s |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for n, length, planted, columns, strength in CASES:
        runs = np.array([case(seed, n, length, planted, columns, strength) for seed in range(101, 101 + repeats)])
        for name, (found, good, distinct, seconds) in zip(("seqlets", "k-mers"), runs.sum(axis=0), strict=True):
            precision = f"{good / found:.2f}" if found else "-"
            print(
                f"| {n:,} | {length} | {planted} | {columns} | {strength} | {name} | {found / repeats:.1f} "
                f"| {precision} | {distinct / (planted * repeats):.2f} | {seconds / repeats:.1f} |",
                flush=True,
            )


def factors(folder):
    """Print the motifs of each factor's model in its test sequences."""
    known = KnownMotifs([from_consensus(name, text) for name, text in CONSENSUS.items()], DNA, True)
    for factor, (own, why) in OWN.items():
        sets = []
        for part in ("train", "test"):
            path = folder / f"{factor}.{part}.fasta"
            with path.open() as file:
                headers = [line[1:].split()[0] for line in file if line.startswith(">")]
            X = read_fasta(path, "dna", ids="number")
            labels = ["bound" if header == "1" else "background" for header in headers]
            sets.append((X, make_labels(X.ids, labels, positive="bound")))
        model = train_model(*sets[0], KERNEL, "csvc:C=1")
        found = [one for one in find_motifs(model, sets[1][0]) if one.sign > 0]
        matches = nearest([one.probabilities for one in found], known)
        print(f"{factor}: own motif {own or 'none'} ({why})")
        if own:
            print("  " + occurrences(CONSENSUS[own], *sets[1]))
        for one, match in zip(found, matches, strict=True):
            print(
                f"  {one.name:<11} {one.consensus:<30} {one.sites:5} seqlets  share {one.share:.3f}  "
                f"nearest {match.name:<16} p {match.p:.1e}  q {match.q:.1e}  r {match.correlation:.2f}"
            )


def occurrences(consensus, X, labels):
    """Return in words in how many sequences of each class a consensus occurs, on either strand."""
    other = consensus.translate(str.maketrans("ACGTRYKMBVDH", "TGCAYRMKVBHD"))[::-1]
    pattern = re.compile("|".join("".join(f"[{IUPAC.get(c, c)}]" for c in one) for one in (consensus, other)))
    holds = np.array([bool(pattern.search(text)) for text in X.strings()])
    counts = [
        f"{holds[labels.y == i].sum()} of {(labels.y == i).sum()} {name}" for i, name in enumerate(labels.classes)
    ]
    return f"{consensus} occurs in {', '.join(counts)}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tfbs", type=Path, metavar="FOLDER", help="folder of FASTA files, labels in their headers")
    parser.add_argument("--repeats", type=int, default=3, help="simulations of each row (default: 3)")
    args = parser.parse_args()
    if args.tfbs:
        factors(args.tfbs)
    else:
        simulations(args.repeats)


if __name__ == "__main__":
    main()
