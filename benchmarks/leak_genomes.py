"""Leak search over genomes: time, memory and recall of planted pairs, beside MMseqs2 and CD-HIT-EST.

A simulated genome (59 % A and T) has 45 % repeats: families of copies that differ from their root in 3 to 25 % of the
bases, on both strands, some in fragments; 3 % microsatellites; 3 % segmental duplications. It is cut into windows of
300 bases, of which the last tenth is the test set. In each of 2,000 test windows a training window is planted: the
copy has 80 % identical residues, by substitutions alone or with three gaps, on either strand.

Run: ``python benchmarks/leak_genomes.py make MEGABASES FOLDER``, then ``… audit FOLDER`` for a row of the table, or
``… rivals FOLDER`` for the programs that are on the PATH (Debian: mmseqs2, cd-hit). One thread; peak memory is the
kernel's count.
"""

import csv
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
from common import start_table

WINDOW, PLANTED = 300, 2000
COMPLEMENT, LETTERS = np.array([3, 2, 1, 0], dtype=np.uint8), np.frombuffer(b"ACGT", dtype=np.uint8)
# length of the root, share of the genome, differing share, length of a fragment
FAMILIES = (
    *((300, 0.02, share, 300) for share in (0.04, 0.08, 0.12, 0.16)),
    *((6000, 0.03, share, length) for share, length in ((0.03, 2000), (0.08, 900), (0.15, 600), (0.22, 300))),
    *((size, 0.005, share, size) for size in (180, 400, 800, 1500) for share in (0.05, 0.1, 0.15, 0.18, 0.21, 0.25)),
    (171, 0.01, 0.03, 171),
)


def changed(codes, share, rng):
    """Return codes of which a share was replaced by others, each independently."""
    return (codes + (rng.random(codes.shape) < share) * rng.integers(1, 4, codes.shape, dtype=np.uint8)) % 4


def genome(size, rng):
    """Return the codes of a genome."""
    table = np.repeat(np.arange(4, dtype=np.uint8), (75, 53, 53, 75))
    codes = np.concatenate([table[rng.integers(0, 256, n, dtype=np.uint8)] for n in pieces(size)])
    for length, share, differing, fragment in FAMILIES:
        root = table[rng.integers(0, 256, length)]
        for n in pieces(int(share * size / fragment), 20000):
            starts = rng.integers(0, length - fragment + 1, n)
            copies = changed(root[starts[:, None] + np.arange(fragment)], differing, rng)
            copies[::2] = COMPLEMENT[copies[::2, ::-1]]
            codes[rng.integers(0, size - fragment, n)[:, None] + np.arange(fragment)] = copies
    for _ in range(int(0.03 * size / 8000)):
        source, target = rng.integers(0, size - 8000, 2)
        codes[target : target + 8000] = changed(codes[source : source + 8000], rng.uniform(0.01, 0.1), rng)
    for _ in range(int(0.03 * size / 60)):
        unit, length = rng.integers(0, 4, rng.integers(1, 7)), int(rng.integers(20, 101))
        start = int(rng.integers(0, size - length))
        codes[start : start + length] = changed(np.resize(unit, length).astype(np.uint8), 0.05, rng)
    return codes


def pieces(size, most=1 << 24):
    """Yield sizes of at most `most` that add up to `size`."""
    yield from [most] * (size // most) + [size % most] * (size % most > 0)


def relative(codes, gaps, rng, identity=0.8):
    """Return a copy with a share of identical residues of the shorter sequence, by replacements and gaps of two."""
    places = 2 * rng.choice(len(codes) // 2 - 1, gaps, False)
    kept = np.delete(codes, np.concatenate((places, places + 1)))
    places = rng.choice(len(kept), int((1 - identity) * len(kept) + 1e-9), replace=False)
    kept[places] = (kept[places] + rng.integers(1, 4, len(places), dtype=np.uint8)) % 4
    return COMPLEMENT[kept[::-1]] if rng.random() < 0.5 else kept


def write(path, windows, names):
    """Write windows to FASTA."""
    with open(path, "wb") as file:
        for name, codes in zip(names, windows, strict=True):
            file.write(b">%s\n%s\n" % (name.encode(), LETTERS[codes].tobytes()))


def make(megabases, folder, seed=1):
    """Write the training and the test windows, and the planted pairs."""
    rng = np.random.default_rng(seed)
    windows = genome(int(megabases * 1e6) // WINDOW * WINDOW, rng).reshape(-1, WINDOW)
    n = len(windows)
    trained = n - n // 10
    tests, pairs = list(windows[trained:]), []
    for row, source in zip(rng.choice(n - trained, PLANTED, False), rng.choice(trained, PLANTED, False), strict=True):
        gaps = 3 * (len(pairs) % 2)
        tests[row] = relative(windows[source], gaps, rng)
        pairs.append((f"t{row}", f"w{source}", gaps))
    folder.mkdir(parents=True, exist_ok=True)
    write(folder / "train.fa", windows[:trained], (f"w{i}" for i in range(trained)))
    write(folder / "test.fa", tests, (f"t{i}" for i in range(n - trained)))
    with open(folder / "planted.tsv", "w") as file:
        csv.writer(file, delimiter="\t").writerows(pairs)


def measured(commands, folder):
    """Run commands in a folder; return their CPU seconds and the largest peak memory in GB."""
    used, peak = 0.0, 0
    for command in commands:
        with open(folder / "log", "w") as log:
            child = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log)
            _, status, usage = os.wait4(child.pid, 0)
        if status:
            raise SystemExit(f"{' '.join(command)} failed:\n{(folder / 'log').read_text()[-2000:]}")
        used, peak = used + usage.ru_utime + usage.ru_stime, max(peak, usage.ru_maxrss)
    return f"{used:.0f}", f"{peak / 1e6:.2f}"


def recall(folder, found):
    """Return the shares of planted pairs, without gaps and with, whose test window is found."""
    rows = [line.split("\t") for line in (folder / "planted.tsv").read_text().split("\n") if line]
    return [f"{np.mean([found(test) for test, _, own in rows if own == gaps]):.3f}" for gaps in "03"]


def audited(folder):
    """Return CPU seconds, peak memory and recall of `seqkern audit`: a test window is similar to a training window."""
    options = ["--no-scores", "--alphabet", "dna", "--threads", "1", "-o", "audit", "--overwrite"]
    cost = measured([[*SEQKERN, "audit", "train.fa", "test.fa", *options]], folder)
    rows = [line.split("\t") for line in (folder / "audit" / "overlap.tsv").read_text().splitlines()]
    similar = {row[0] for row in rows if "similar" in row[rows[0].index("kinds")].split()}
    return *cost, *recall(folder, lambda test: test in similar)


def clustered(folder):
    """Return the same of CD-HIT-EST at 80 %: a test window is in the cluster of a training window."""
    command = "cd-hit-est-2d -i train.fa -i2 test.fa -o kept -c 0.8 -n 5 -r 1 -T 1 -M 0 -d 0 -G 1"
    cost = measured([command.split()], folder)
    lines = (folder / "kept.clstr").read_text().splitlines()
    joined = {line.split(">")[1].split("...")[0] for line in lines if line[0] != ">" and not line.endswith("*")}
    return *cost, *recall(folder, lambda test: test in joined)


def searched(folder):
    """Return the same of MMseqs2 at 80 %: a test window has a hit."""
    command = "mmseqs easy-search test.fa train.fa hits.tsv work --search-type 3 --strand 2 --threads 1 -v 1"
    given = "--min-seq-id 0.8 -c 0.8 --cov-mode 5 -s 7.5 --format-output query,target"
    cost = measured([[*command.split(), *given.split()]], folder)
    found = {line.split("\t")[0] for line in (folder / "hits.tsv").read_text().splitlines()}
    return *cost, *recall(folder, lambda test: test in found)


SEQKERN = [sys.executable, "-c", "import sys; from seqkern.cli.main import main; sys.exit(main())"]
RIVALS = {"cd-hit-est-2d": clustered, "mmseqs": searched}


if __name__ == "__main__":
    verb, *given = sys.argv[1:]
    if verb == "make":
        make(float(given[0]), Path(given[1]))
    else:
        row = start_table("program", "sequences", "CPU s", "peak GB", "recall", "recall with gaps")
        n = sum((Path(given[0]) / f"{name}.fa").read_bytes().count(b">") for name in ("train", "test"))
        row("seqkern audit", f"{n:,}", *audited(Path(given[0])))
        for name, run in RIVALS.items() if verb == "rivals" else ():
            if shutil.which(name):
                row(name, f"{n:,}", *run(Path(given[0])))
