"""Are planted motifs found, and those of transcription factors: precision and recall of `seqkern motifs`.

    python benchmarks/motif_recovery.py                       # simulated sequences with planted motifs
    python benchmarks/motif_recovery.py --tfbs FOLDER         # FOLDER holds CTCF.train.fasta, CTCF.test.fasta, …
    python benchmarks/motif_recovery.py --few 40 --peaks 40 100 --genome chrIV.fa   # 40 sets of 40 and of 100 peaks

Simulated: half of the sequences hold sites of the planted motifs, each motif with probability 1/2; the others hold
none. Bases are independent, 42 % G or C. A gapped k-mer C-SVM is trained on the sequences; the motifs are those of the
positive class in as many new sequences (or in the k-mers of greatest weight). A motif is matched if the nearest of the
planted and 200 random motifs is a planted one, with p at most 0.001 and a column correlation of at least 0.75.
Precision is the share of matched motifs among those found, recall the share of planted motifs that some motif matches.

Few peaks, as `seqkern motifs MODEL` sees them, which explains the model's own training sequences by others that have
not seen them: 100 bases of a genome for each peak, and as many background regions. Without a site, shuffled with the
same dinucleotides or as they are, any motif is a false one; with sites of one motif in a share of the peaks, another
one is. Beside it STREME, if it is on the path, with the background as control: motifs with p ≤ 0.05 in held-out
sequences, or in sets too small to hold some out its score S ≤ 0.05.
"""

import argparse
import random
import re
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

from seqkern import read_fasta
from seqkern.genomics import find_motifs
from seqkern.genomics.motif_tables import KnownMotifs, from_consensus, nearest
from seqkern.genomics.motifs import support_classes
from seqkern.kernels import GappedKmerKernel
from seqkern.kernels.models.patterns import Matrix
from seqkern.methods import explain
from seqkern.methods.training import train_model
from seqkern.sequences.alphabets import DNA
from seqkern.sequences.labels import make_labels
from seqkern.sequences.sampling import shuffled
from seqkern.sequences.sequence_set import SequenceSet, as_sequences
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


def few_set(seed, peaks, letters, kind):
    """Return peaks and background of 100 bases, and the planted motif or None; `kind`: share with a site, or how."""
    rng, order = np.random.default_rng(seed), random.Random(seed)
    starts = 100 * rng.choice(len(letters) // 100, 2 * peaks, replace=False)
    texts = [letters[start : start + 100].upper() for start in starts]
    if kind == "shuffled":
        return [shuffled(text, 2, order) for text in texts], None
    if kind == "real":
        return texts, None
    motif = random_motifs(rng, 1, 10, 0.93)[0]
    for i in range(round(kind * peaks)):
        site, place = draw_site(rng, motif), int(rng.integers(91))
        site = site if rng.random() < 0.5 else DNA.complement_codes[site[::-1]]
        texts[i] = texts[i][:place] + "".join("ACGT"[code] for code in site) + texts[i][place + 10 :]
    return texts, motif


def matched(matrices, motif):
    """Return how many matrices resemble the planted motif, and how many do not."""
    if not matrices or motif is None:
        return 0, len(matrices)
    other = np.random.default_rng(99)
    named = [("planted", motif)] + [(f"random {i}", random_motif(other, 10, 0.93)) for i in range(DECOYS)]
    known = KnownMotifs([Matrix.checked(name, 1000 * one, "ACGT") for name, one in named], DNA, True)
    good = [match.p <= P and match.name == "planted" for match in nearest(matrices, known)]
    return sum(good), len(good) - sum(good)


def streme(texts):
    """Return the matrices of STREME, those with p or S ≤ 0.05; None without the program."""
    if shutil.which("streme") is None:
        return None
    half = len(texts) // 2
    with tempfile.TemporaryDirectory() as folder:
        for name, part in (("p", texts[:half]), ("n", texts[half:])):
            Path(folder, name).write_text("".join(f">{i}\n{text}\n" for i, text in enumerate(part)))
        words = ["streme", "--p", f"{folder}/p", "--n", f"{folder}/n", "--dna", "--text"]
        said = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    found = re.findall(r"nsites= \d+ [SPE]= (\S+)\n((?: +[\d. ]+\n)+)", said)
    return [np.array([row.split() for row in rows.splitlines()], float) for p, rows in found if float(p) <= 0.05]


def few_peaks(sets, sizes, genome):
    """Print, for each number of peaks, in how many sets motifs are found, and the error of the contributions."""
    letters = re.sub("[^ACGT]", "", "".join(read_fasta(genome, "dna").strings()).upper())
    print("| peaks | sites in | sets | planted found | sets with a false motif | STREME: found | false | CPU s |")
    print("|---|---|---|---|---|---|---|---|", flush=True)
    worst = 0.0
    for peaks in sizes:
        for kind in ("shuffled", "real", 0.5, 0.9):
            counts, own = np.zeros(4, dtype=int), time.process_time()
            for seed in range(1000, 1000 + sets):
                texts, motif = few_set(seed, peaks, letters, kind)
                X = as_sequences(texts, "dna")
                labels = make_labels(X.ids, ["bound"] * peaks + ["background"] * peaks, positive="bound")
                model = train_model(X, labels, KERNEL, "csvc:C=1")
                found = find_motifs(model, model.support, support_classes(model))
                good, false = matched([one.probabilities for one in found], motif)
                other = matched(streme(texts) or [], motif)
                counts += np.array([good > 0, false > 0, other[0] > 0, other[1] > 0])
                if seed < 1003:
                    told = explain(model, X.take(slice(5)))
                    sums = np.add.reduceat(told.contributions, told.offsets[:-1]) + told.bias
                    worst = max(worst, float(np.abs(sums - told.decision).max()))
            sites = kind if isinstance(kind, str) else f"{kind:.0%}"
            planted, false, *beside = counts.tolist()
            beside = beside if shutil.which("streme") else ["-", "-"]
            cpu = (time.process_time() - own) / sets
            shown = "" if isinstance(kind, str) else planted
            print(
                f"| {peaks} | {sites} | {sets} | {shown} | {false} | {beside[0]} | {beside[1]} | {cpu:.1f} |",
                flush=True,
            )
    print(f"largest difference of a decision and the sum of its contributions: {worst:.1e}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tfbs", type=Path, metavar="FOLDER", help="folder of FASTA files, labels in their headers")
    parser.add_argument("--repeats", type=int, default=3, help="simulations of each row (default: 3)")
    parser.add_argument("--few", type=int, metavar="SETS", help="sets of few peaks, without and with a planted motif")
    parser.add_argument(
        "--peaks", type=int, nargs="+", default=[40, 100, 400], help="peaks of a set (default: 40 100 400)"
    )
    parser.add_argument("--genome", metavar="FASTA", help="genome of the sets of few peaks")
    args = parser.parse_args()
    if args.few:
        few_peaks(args.few, args.peaks, args.genome)
    elif args.tfbs:
        factors(args.tfbs)
    else:
        simulations(args.repeats)


if __name__ == "__main__":
    main()
