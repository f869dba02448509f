"""The local alignment kernel in plain Python: by the five recursions of the paper, and by listing all alignments."""

import math
from decimal import Decimal
from functools import cache
from itertools import combinations, pairwise


def log_sum(*terms):
    """Return ln Σ e^t."""
    largest = max(terms)
    return largest if largest == -math.inf else largest + math.log(math.fsum(math.exp(t - largest) for t in terms))


@cache
def power(exponent):
    """Return e^x, to 28 digits and however large or small."""
    return Decimal(exponent).exp()


def by_recursion(x, y, score, beta, gap_open, gap_extend):
    """Return ln K by the recursions of Vert, Saigo and Akutsu; score(a, b) is of two letters."""
    opened, extended = power(-float(beta * gap_open)), power(-float(beta * gap_extend))
    columns = range(len(y) + 1)
    M, X, Y, X2, Y2 = ([Decimal(0)] * len(columns) for _ in range(5))
    for a in x:
        matches = [power(float(beta * score(a, b))) for b in y]
        upper = M, X, Y, X2
        M, X, Y, X2, Y2 = ([Decimal(0)] * len(columns) for _ in range(5))
        for j in columns[1:]:
            M[j] = matches[j - 1] * (1 + upper[0][j - 1] + upper[1][j - 1] + upper[2][j - 1])
            X[j] = opened * upper[0][j] + extended * upper[1][j]
            Y[j] = opened * (M[j - 1] + X[j - 1]) + extended * Y[j - 1]
            X2[j] = upper[0][j] + upper[3][j]
            Y2[j] = M[j - 1] + X2[j - 1] + Y2[j - 1]
    return float((1 + X2[-1] + Y2[-1] + M[-1]).ln())


def alignments(x, y, score, gap_open, gap_extend):
    """Yield the score of every local alignment of x and y, that of the empty one, 0, first."""
    for pairs in range(min(len(x), len(y)) + 1):
        for rows in combinations(range(len(x)), pairs):
            for columns in combinations(range(len(y)), pairs):
                total = sum(score(x[i], y[j]) for i, j in zip(rows, columns, strict=True))
                for places in (rows, columns):
                    gaps = (b - a - 1 for a, b in pairwise(places))
                    total -= sum(gap_open + (gap - 1) * gap_extend for gap in gaps if gap)
                yield total


def by_listing(x, y, score, beta, gap_open, gap_extend):
    """Return ln K by listing all local alignments."""
    return log_sum(*(beta * total for total in alignments(x, y, score, gap_open, gap_extend)))


def best_score(x, y, score, gap_open, gap_extend):
    """Return the Smith-Waterman score, by listing all local alignments."""
    return max(alignments(x, y, score, gap_open, gap_extend))
