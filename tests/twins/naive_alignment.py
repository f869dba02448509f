"""Plain-Python twins of the kernels of local alignments: slow, and hard to get wrong.

Sequences are strings; ``*`` is a masked letter. A local alignment is a chain of pairs (i_1, j_1) < (i_2, j_2) < … of
letters; letters of x or of y between two pairs that follow each other are a gap.
"""

from fractions import Fraction
from functools import cache
from itertools import combinations, pairwise, product

from Bio.Align import substitution_matrices


def scores_of(matrix, letters=None, masked=None):
    """Return score(a, b), exact, for a matrix of Biopython, or for rows in the order of `letters`.

    The masked letter is the matrix's `masked`; None: it scores the smallest there is, but not more than 0.
    """
    if letters is None:
        table = substitution_matrices.load(matrix)
        letters, matrix = table.alphabet, [list(row) for row in table]
    exact = {
        (a, b): int(value) if value == int(value) else Fraction(str(float(value)))
        for a, row in zip(letters, matrix, strict=True)
        for b, value in zip(letters, row, strict=True)
    }
    worst = min(0, *exact.values())

    def score(a, b):
        a, b = (masked if letter == "*" else letter for letter in (a, b))
        return worst if a is None or b is None else exact[a, b]

    return score


def gap_costs(longest, gap_open, gap_extend):
    """Return the costs of gaps of 0 to `longest` letters, exact."""
    gap_open, gap_extend = (cost if cost == int(cost) else Fraction(str(cost)) for cost in (gap_open, gap_extend))
    return [0, *(gap_open + (n - 1) * gap_extend for n in range(1, longest + 1))]


def chains(n, m):
    """Return all chains of pairs of n and m places, but the empty one."""
    return [
        list(zip(i, j, strict=True))
        for length in range(1, min(n, m) + 1)
        for i, j in product(combinations(range(n), length), combinations(range(m), length))
    ]


def alignment_score(chain, x, y, score, costs):
    """Return the score of one local alignment."""
    total = sum(score(x[i], y[j]) for i, j in chain)
    for (i, j), (k, m) in pairwise(chain):
        total -= costs[k - i - 1] + costs[m - j - 1]
    return total


def best_by_listing(x, y, score, gap_open, gap_extend):
    """Return the largest score of all local alignments, listed."""
    costs = gap_costs(max(len(x), len(y)), gap_open, gap_extend)
    return max([0, *(alignment_score(chain, x, y, score, costs) for chain in chains(len(x), len(y)))])


def best_by_recursion(x, y, score, gap_open, gap_extend):
    """Return the same: the best alignment that ends with a pair is that pair alone, or behind a best one."""
    costs = gap_costs(max(len(x), len(y)), gap_open, gap_extend)

    @cache
    def ending_in(i, j):  # with a pair of row i before column j, and the gap from there to j
        return max(ending_at(i, m) - costs[j - m - 1] for m in range(j))

    @cache
    def ending_at(i, j):
        before = (ending_in(k, j) - costs[i - k - 1] for k in range(i if j else 0))
        return score(x[i], y[j]) + max([0, *before])

    return max([0, *(ending_at(i, j) for i in range(len(x)) for j in range(len(y)))])
