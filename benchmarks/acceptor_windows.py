"""Windows like those around acceptor sites of splicing, and decoys, as many as wanted, in blocks of bounded memory.

A window has 141 bases, AG before its middle. One in 94 is a site, as in Sonnenburg, Rätsch & Rieck (2007). Upstream
of a site is an intron: bases by a Markov chain, a branch point, a pyrimidine tract of varying length and strength;
downstream is an exon of codons. A decoy is an AG inside an intron, inside an exon, or near a site (three of ten, with
a tract of its own), so that composition alone does not tell. Short motifs of enhancers, 600 for sites and 600 for
decoys, each at its own place, reward k-mers that few windows have: more windows, more of them known. Block b of a
seed is the same whatever else is drawn.
"""

import numpy as np

LENGTH, MIDDLE, BLOCK = 141, 62, 100_000
SHARE = 1 / 94
INTRON = np.array(
    [[0.33, 0.17, 0.19, 0.31], [0.32, 0.23, 0.05, 0.40], [0.28, 0.21, 0.26, 0.25], [0.20, 0.19, 0.22, 0.39]]
)
CODONS = np.array([[0.27, 0.24, 0.32, 0.17], [0.31, 0.23, 0.18, 0.28], [0.19, 0.28, 0.27, 0.26]])
BRANCH = np.frombuffer(b"\x01\x03\x02\x00\x01", dtype=np.uint8)  # CTGAC
MOTIFS, MOTIF = 600, 9


def _motifs(seed=7):
    """Return motifs (2, MOTIFS, MOTIF) and where each begins (2, MOTIFS): those of decoys, those of sites."""
    rng = np.random.default_rng(seed)
    motifs = rng.integers(0, 4, (2, MOTIFS, MOTIF), dtype=np.uint8)
    return motifs, rng.integers(MIDDLE + 3, LENGTH - MOTIF, (2, MOTIFS))


def _chain(rng, n, length):
    """Return n stretches of a Markov chain like introns, uint8 (length, n)."""
    cut = np.cumsum(INTRON, axis=1)[:, :3].astype(np.float32)
    out = np.empty((length, n), dtype=np.uint8)
    out[0] = rng.integers(0, 4, n, dtype=np.uint8)
    for place in range(1, length):
        draw, before = rng.random(n, dtype=np.float32), cut[out[place - 1]]
        out[place] = (draw > before[:, 0]).astype(np.uint8) + (draw > before[:, 1]) + (draw > before[:, 2])
    return out


def _codons(rng, n, length):
    """Return n stretches of codons in random frames, uint8 (length, n)."""
    cut = np.cumsum(CODONS, axis=1)[:, :3].astype(np.float32)
    frame = rng.integers(0, 3, n)
    out = np.empty((length, n), dtype=np.uint8)
    for place in range(length):
        draw, of = rng.random(n, dtype=np.float32), cut[(frame + place) % 3]
        out[place] = (draw > of[:, 0]).astype(np.uint8) + (draw > of[:, 1]) + (draw > of[:, 2])
    return out


def block(number, n=BLOCK, seed=1):
    """Return block `number` of a seed: codes, uint8 (n, LENGTH), and labels, −1 and 1 (n,)."""
    rng = np.random.default_rng([seed, number])
    y = np.where(rng.random(n) < SHARE, 1, -1).astype(np.int8)
    # decoys in an intron, in an exon, near a site; sites
    kind = np.where(y > 0, 3, rng.choice(3, size=n, p=[0.45, 0.25, 0.30]))
    codes, exon = _chain(rng, n, LENGTH), _codons(rng, n, LENGTH)
    before, after = kind == 1, (kind == 1) | (kind >= 2)
    codes[:MIDDLE, before] = exon[:MIDDLE, before]
    codes[MIDDLE:, after] = exon[MIDDLE:, after]
    tract = rng.integers(8, 26, n)
    strength = np.where(kind == 3, rng.uniform(0.5, 0.95, n), rng.uniform(0.2, 0.8, n))
    strength[kind < 2] = 0
    for place in range(MIDDLE - 30, MIDDLE - 3):
        inside = (MIDDLE - 3 - place <= tract) & (rng.random(n) < strength)
        codes[place, inside] = np.where(rng.random(n) < 0.65, 3, 1)[inside]
    _branch_points(rng, codes, kind, tract)
    _enhancers(rng, codes, y)
    codes[MIDDLE - 3, kind == 3] = np.where(rng.random(n) < 0.7, 1, codes[MIDDLE - 3])[kind == 3]
    codes[MIDDLE - 2], codes[MIDDLE - 1] = 0, 2
    codes[MIDDLE, kind == 3] = np.where(rng.random(n) < 0.5, 2, codes[MIDDLE])[kind == 3]
    return np.ascontiguousarray(codes.T), y


def _branch_points(rng, codes, kind, tract):
    """Write a noisy branch point before the tract of most sites, and of a few others."""
    has = rng.random(len(kind)) < np.where(kind == 3, 0.8, 0.08)
    at = MIDDLE - 12 - tract - rng.integers(0, 6, len(kind))
    for place, base in enumerate(BRANCH):
        rows = np.flatnonzero(has & (rng.random(len(kind)) < 0.85))
        codes[at[rows] + place, rows] = base


def _enhancers(rng, codes, y):
    """Write two motifs of its class into each window, one base in eight of them wrong."""
    motifs, begins = _motifs()
    own = (y > 0).astype(np.int64)
    for _ in range(2):
        which = rng.integers(0, MOTIFS, len(y))
        at, rows = begins[own, which], np.flatnonzero(rng.random(len(y)) < 0.5)
        for place in range(MOTIF):
            right = rows[rng.random(len(rows)) < 0.875]
            codes[at[right] + place, right] = motifs[own[right], which[right], place]


def windows(n, seed=1):
    """Return the codes of n windows, uint8 (n · LENGTH,), and their labels, float64 (n,)."""
    codes, y = np.empty((n, LENGTH), dtype=np.uint8), np.empty(n)
    for number, start in enumerate(range(0, n, BLOCK)):
        rows = slice(start, min(start + BLOCK, n))
        some, labels = block(number, seed=seed)
        codes[rows], y[rows] = some[: rows.stop - start], labels[: rows.stop - start]
    return codes.reshape(-1), y
