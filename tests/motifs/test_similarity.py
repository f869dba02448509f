"""p-values of similarity: against enumeration of all random motifs, and of motifs with themselves."""

import itertools

import numpy as np
import pytest

from seqkern.core.errors import ParameterError
from seqkern.genomics.motif_tables import BINS, KnownMotifs, from_consensus, nearest
from seqkern.kernels.models.patterns import Matrix
from seqkern.sequences.alphabets import DNA, PROTEIN


def naive_p(motif, known, i):
    """Return the p-value of a known motif by enumeration, one strand: product over the alignments of P(sum < score)."""
    pool = np.concatenate(known)
    distance = np.array([[np.linalg.norm(a - b) for b in pool] for a in motif])
    above = np.median(distance, axis=1, keepdims=True) - distance
    steps = np.rint(above * BINS / (above.max() - above.min())).astype(int)
    width, length = len(motif), len(known[i])
    start = sum(len(one) for one in known[:i])
    overlaps = [
        [(a, a + offset) for a in range(width) if 0 <= a + offset < length] for offset in range(1 - width, length)
    ]
    score = max(sum(steps[a, start + b] for a, b in pairs) for pairs in overlaps)
    below = 1.0
    for pairs in overlaps:
        sums = [sum(choice) for choice in itertools.product(*(steps[a] for a, _ in pairs))]
        below *= np.mean(np.array(sums) < score)
    return 1 - below


def test_p_values_equal_those_by_enumeration():
    rng = np.random.default_rng(1)
    known = [rng.dirichlet([0.5] * 4, size=size) for size in (3, 2, 4)]
    motif = rng.dirichlet([0.5] * 4, size=3)
    motifs = KnownMotifs([Matrix.checked(f"m{i}", 1e6 * one, "ACGT") for i, one in enumerate(known)], DNA, False)
    p, _ = motifs.compare(motif)
    np.testing.assert_allclose(p, [naive_p(motif, known, i) for i in range(3)], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("turned", [False, True])
def test_a_motif_is_nearest_to_itself_on_its_strand(turned):
    rng = np.random.default_rng(2)
    columns = [rng.dirichlet([0.2] * 4, size=int(rng.integers(6, 14))) for _ in range(40)]
    known = KnownMotifs([Matrix.checked(f"m{i}", 1e6 * one, "ACGT") for i, one in enumerate(columns)], DNA, True)
    motif = columns[7][::-1, ::-1] if turned else columns[7]
    match = nearest([np.concatenate([np.full((2, 4), 0.25), motif])], known)[0]
    assert (match.name, match.strand, match.offset, match.overlap) == ("m7", "+-"[turned], 2, len(motif))
    assert match.correlation == pytest.approx(1)
    assert match.p < 1e-4
    assert match.p <= match.q <= 40 * match.p


def test_random_motifs_are_seldom_similar():
    rng = np.random.default_rng(3)
    columns = [rng.dirichlet([0.3] * 4, size=10) for _ in range(60)]
    known = KnownMotifs([Matrix.checked(f"m{i}", 1e6 * one, "ACGT") for i, one in enumerate(columns)], DNA, True)
    p = np.concatenate([known.compare(rng.dirichlet([0.3] * 4, size=9))[0] for _ in range(20)])
    assert 0.02 < (p < 0.05).mean() < 0.09


def test_known_motifs_need_the_letters_of_the_model():
    with pytest.raises(ParameterError, match="the letters ACGT"):
        KnownMotifs([from_consensus("GC", "GC")], PROTEIN, False)
    with pytest.raises(ParameterError, match="no weight matrix"):
        KnownMotifs([], DNA, True)
