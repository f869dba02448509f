"""The profile alignment kernel, obviously right and slow: literal recursions in double precision.

Gaps of n letters cost gap_open + (n − 1)·gap_extend; x and y are pairs (profile, pssm) of one sequence each.
"""

import numpy as np
from naive_local_alignment import by_recursion


def column_scores(x, y, shift=0.0):
    """S(i, j) = Σ_a p_i(a)·s_j(a) + s_i(a)·p_j(a) + shift."""
    (p, s), (q, t) = ([np.asarray(track, dtype=np.float64) for track in pair] for pair in (x, y))
    return p @ t.T + s @ q.T + shift


def best_alignment(S, gap_open, gap_extend):
    """The score of the best local alignment (Smith and Waterman 1981, Gotoh 1982); 0 if none is better."""
    H, E, F = np.zeros((3, *np.add(S.shape, 1)))
    E[:], F[:] = -np.inf, -np.inf
    for i in range(1, len(H)):
        for j in range(1, H.shape[1]):
            E[i, j] = max(E[i, j - 1] - gap_extend, H[i, j - 1] - gap_open)
            F[i, j] = max(F[i - 1, j] - gap_extend, H[i - 1, j] - gap_open)
            H[i, j] = max(0.0, H[i - 1, j - 1] + S[i - 1, j - 1], E[i, j], F[i, j])
    return H.max()


def all_alignments(S, beta, gap_open, gap_extend):
    """(1/β)·ln of the kernel of Vert, Saigo and Akutsu 2004, by their five recursions."""
    return by_recursion(range(len(S)), range(S.shape[1]), lambda i, j: S[i, j], beta, gap_open, gap_extend) / beta
