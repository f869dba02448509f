"""Alignment scores against parasail and Biopython."""

import numpy as np
import pytest
from Bio.Align import PairwiseAligner, substitution_matrices

from seqkern.kernels import SmithWatermanKernel
from seqkern.kernels.models import _forward_backward
from seqkern.kernels.substitution_scores import score_table
from seqkern.sequences.alphabets import DNA, PROTEIN
from seqkern.sequences.sequence_set import SequenceSet

pytestmark = pytest.mark.oracle
MATRICES = {
    "BLOSUM62": (PROTEIN, "blosum62"),
    "BLOSUM45": (PROTEIN, "blosum45"),
    "BLOSUM80": (PROTEIN, "blosum80"),
    "NUC.4.4": (DNA, "dnafull"),
}


def draw(rng):
    """Return the name of a matrix, its alphabet, costs, and two texts with a stretch in common."""
    name = str(rng.choice(list(MATRICES)))
    alphabet = MATRICES[name][0]
    texts = ["".join(rng.choice(list(alphabet.letters), rng.integers(1, 90))) for _ in range(2)]
    common = texts[0][: rng.integers(0, 50)]
    texts[1] = texts[1][:20] + common[: len(common) // 2] + texts[1][20:25] + common[len(common) // 2 :]
    extend = int(rng.integers(0, 5))
    return name, alphabet, extend + int(rng.integers(0, 12)), extend, texts


def aligner(name, gap_open, gap_extend, mode):
    found = PairwiseAligner(mode=mode)
    found.substitution_matrix = substitution_matrices.load(name)
    found.open_gap_score, found.extend_gap_score = -gap_open, -gap_extend
    return found


def test_smith_waterman_of_parasail(compared):
    parasail = pytest.importorskip("parasail")
    for case, rng in compared.cases("sw parasail", 400):
        name, alphabet, gap_open, gap_extend, texts = draw(rng)
        kernel = SmithWatermanKernel(name, gap_open, gap_extend, alphabet=alphabet.name)
        matrix = getattr(parasail, MATRICES[name][1])
        theirs = parasail.sw_trace_scan_32(*texts, gap_open, gap_extend, matrix).score
        compared.check("Smith-Waterman, parasail", case, kernel([texts[0]], [texts[1]])[0, 0], theirs, 0)


def test_smith_waterman_of_biopython(compared):
    for case, rng in compared.cases("sw biopython", 400):
        name, alphabet, gap_open, gap_extend, texts = draw(rng)
        costs = gap_open + 0.25 * int(rng.integers(0, 4)), gap_extend
        kernel = SmithWatermanKernel(name, *costs, alphabet=alphabet.name)
        theirs = aligner(name, *costs, "local").score(*texts)
        compared.check("Smith-Waterman, Biopython", case, kernel([texts[0]], [texts[1]])[0, 0], theirs, 0)


def one_column_each(text, alphabet):
    codes = SequenceSet.from_strings([text], alphabet).codes
    counts = np.zeros((alphabet.size + 1, len(codes)))
    counts[codes, np.arange(len(codes))] = counts[-1] = 1
    return counts


def test_global_alignments_of_biopython(compared):
    for case, rng in compared.cases("global", 400):
        name, alphabet, gap_open, gap_extend, texts = draw(rng)
        score = score_table(name, alphabet)[:-1, :-1].copy()
        first, second = (one_column_each(text, alphabet) for text in texts)
        path, total, places = _forward_backward.align(first, 1, second, 1, score, gap_open, gap_extend), 0.0, [0, 0]
        for before, state in zip([None, *path[:-1]], path, strict=True):
            if state == 0:
                total += first[:-1, places[0]] @ score @ second[:-1, places[1]]
            else:
                total -= gap_extend if state == before else gap_open
            places = [places[0] + (state != 2), places[1] + (state != 1)]
        theirs = aligner(name, gap_open, gap_extend, "global").score(*texts)
        compared.check("global alignment, Biopython", case, total, theirs, 0)
