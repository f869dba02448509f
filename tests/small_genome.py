"""A small genome with repeats, N and a motif in its peaks."""

import numpy as np

MOTIF = "TGACTCATTGCA"
CHROMOSOMES = ("chr1", "chr2", "chr3", "chr4")
LENGTH = 40_000


def write_genome(folder):
    """Write ``g.fa``, ``peaks.narrowPeak`` (the motif at each summit) and ``far.bed`` (regions without)."""
    rng = np.random.default_rng(1)
    records, peaks, far = [], [], []
    for name in CHROMOSOMES:
        share = np.repeat(rng.uniform(0.35, 0.6, LENGTH // 1000), 1000)
        strong, either = rng.random(LENGTH) < share, rng.random(LENGTH) < 0.5
        letters = np.where(strong, np.where(either, "G", "C"), np.where(either, "A", "T"))
        for start in rng.integers(0, LENGTH - 300, 40).tolist():
            letters[start : start + 200] = np.char.lower(letters[start : start + 200])
        letters[500:700] = "N"
        for place in range(1500, LENGTH - 2000, 2000):
            place += int(rng.integers(0, 600))
            letters[place : place + len(MOTIF)] = list(MOTIF)
            start = place - int(rng.integers(80, 140))
            peaks.append([name, start, start + 300, f"p{len(peaks)}", 500, ".", 5, 3, 2, place + 6 - start])
            far.append([name, start + 900, start + 1200])
        text = "".join(letters)
        lines = "\n".join(text[i : i + 60] for i in range(0, LENGTH, 60))
        records.append(f">{name} simulated\n{lines}\n")
    (folder / "g.fa").write_text("".join(records))
    for file, rows in (("peaks.narrowPeak", peaks), ("far.bed", far)):
        (folder / file).write_text("".join("\t".join(map(str, row)) + "\n" for row in rows))
    return folder
