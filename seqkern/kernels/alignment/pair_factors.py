"""The probabilities of a pair HMM: of pairs of residues, from a substitution matrix; and the factors of its loops.

Numbers in a tile share a power of two in each vector lane (`_pair_hmm.h`). `tile_rows` finds how many rows a tile may
have. Within it, numbers grow by no more than one pair in each row, and what a row sums up. A number that underflows
beside the largest one, v, that its tile begins with could matter only by what is aligned in the rows left, no more
than one pair in each; the same could follow v at the price of a gap in each row and column of the tile. All that is
kept below 2^900, of the 2^1022 that a double can hold beside 1: what is lost is below 2^−100 of K.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import ParameterError
from seqkern.kernels.alignment import _pair_hmm

TILE_ROWS = (64, 32, 16, 8)
STRIP = 8  # the most columns of a strip
BITS, SPARE_BITS = 900, 64
SCALES = np.geomspace(1e-3, 20, 200)  # of scores, times the largest of them
HALVINGS = 100


@dataclass(frozen=True)
class PairFactors:
    """What the loops need to know of a pair HMM.

    Attributes
    ----------
    model : _pair_hmm.PairHMM
    constant : float
        ln K less the sum over alignments that the loops return.
    background : ndarray of float64, shape (size + 1,)
        ln q of each code, the masked residue's, 0, last.
    rows : int
        Of a tile; 0 if the loops compute in logarithms.
    """

    model: Any
    constant: float
    background: npt.NDArray[np.float64]
    rows: int

    @classmethod
    def of(
        cls, odds: npt.NDArray[np.float64], background: npt.NDArray[np.float64], gaps: tuple[float, float, float]
    ) -> "PairFactors":
        """Return the PairFactors.

        Parameters
        ----------
        odds : ndarray of float64, shape (size, size)
            p(a, b) / (q(a)·q(b)) by codes.
        background : ndarray of float64, shape (size,)
            q.
        gaps : (float, float, float)
            γ, δ and ε.

        Returns
        -------
        PairFactors
        """
        gamma, delta, _epsilon = gaps
        constant = math.log1p(-gamma) + 2 * math.log1p(-delta)
        return cls.with_factors(odds, background, *loop_factors(gaps), constant)

    @classmethod
    def with_factors(
        cls,
        odds: npt.NDArray[np.float64],
        background: npt.NDArray[np.float64],
        pair: float,
        opened: float,
        extended: float,
        constant: float = 0.0,
    ) -> "PairFactors":
        """Return the PairFactors with given factors of the loops, whether or not they follow from probabilities.

        Parameters
        ----------
        odds, background
            As for `of`.
        pair : float
            The factor of a pair of residues besides its odds.
        opened, extended : float
            The factors of the first residue of a gap, and of each further one.
        constant : float
            As the attribute.

        Returns
        -------
        PairFactors
        """
        size = len(background)
        match = np.zeros((size + 1, size + 2))
        match[:, :-1] = pair  # a masked residue stands for any: the sum over them
        match[:size, :size] *= odds
        rows = tile_rows(float(match.max()), opened, extended)
        with np.errstate(divide="ignore"):
            score = np.log(np.ascontiguousarray(match[:, :-1]))
        model = _pair_hmm.PairHMM(match, score, opened, extended, rows)
        return cls(model, constant, np.append(np.log(background), 0.0), rows)


def loop_factors(gaps: tuple[float, float, float]) -> tuple[float, float, float]:
    """Return the factors of a pair, of the first residue of a gap and of each further one, for γ, δ and ε.

    Parameters
    ----------
    gaps : (float, float, float)
        γ, δ and ε.

    Returns
    -------
    (float, float, float)
    """
    gamma, delta, epsilon = gaps
    return gamma * (1 - delta) ** 2, delta * (1 - epsilon) / (1 - delta), epsilon


def tile_rows(best: float, opened: float, extended: float) -> int:
    """Return the rows of a tile; 0 if not even few will do.

    Parameters
    ----------
    best : float
        The largest factor of a pair.
    opened, extended : float
        The factors of the first residue of a gap, and of each further one.

    Returns
    -------
    int

    Examples
    --------
    >>> tile_rows(30.0, 0.006, 0.7), tile_rows(30.0, 0.0, 0.7)
    (64, 0)
    """
    if not (opened > 0 and extended > 0 and best < math.inf):
        return 0
    pair, gap, more = (math.log2(value) for value in (max(best, 1.0), opened, extended))
    growth = pair + max(gap, 0.0) + 2
    for rows in TILE_ROWS:
        if rows * (growth - 2 * more) - (rows + STRIP) * more + 4 * abs(gap) + SPARE_BITS <= BITS:
            return rows
    return 0


def joint_odds(scores: npt.NDArray[np.float64]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return the odds and background probabilities that a substitution matrix implies.

    Scores are log odds in units of 1/λ: s(a, b) = ln(p(a, b) / (q(a)·q(b))) / λ. As Σ_b p(a, b) = q(a), the
    probabilities q = exp(λs)⁻¹·1, and λ is the number with which they sum to 1 (Yu, Wootton, Altschul, PNAS 100, 2003).

    Parameters
    ----------
    scores : ndarray of float64, shape (size, size)
        Symmetric.

    Returns
    -------
    odds : ndarray of float64, shape (size, size)
        p(a, b) / (q(a)·q(b)).
    background : ndarray of float64, shape (size,)
        q.

    Raises
    ------
    ParameterError
        If the scores are not log odds.

    Examples
    --------
    >>> joint = np.array([[0.4, 0.1], [0.1, 0.4]])
    >>> odds, background = joint_odds(2 * np.log(joint / 0.25))
    >>> (odds * 0.25).round(6), background.round(6)
    (array([[0.4, 0.1],
           [0.1, 0.4]]), array([0.5, 0.5]))
    """
    return _joint_odds(np.ascontiguousarray(scores, dtype=np.float64).tobytes(), len(scores))


@lru_cache(maxsize=8)
def _joint_odds(values: bytes, size: int) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return `joint_odds` of scores, float64 (size, size), as bytes."""
    scores = np.frombuffer(values).reshape(size, size)
    largest = np.abs(scores).max(initial=0.0)
    excess = [_excess(scale / largest * scores) for scale in SCALES] if largest > 0 else []
    for low, high, before, after in zip(SCALES, SCALES[1:], excess, excess[1:], strict=False):
        if before > 0 >= after:
            for _ in range(HALVINGS):
                middle = (low + high) / 2
                low, high = (middle, high) if _excess(middle / largest * scores) > 0 else (low, middle)
            odds = np.exp(high / largest * scores)
            background = np.linalg.solve(odds, np.ones(size))
            if (background > 0).all() and abs(background.sum() - 1) < 1e-9:
                return odds, background / background.sum()
    raise ParameterError(
        "the scores of the matrix do not follow from probabilities of pairs",
        remedy="choose a matrix of log odds, such as BLOSUM62 or NUC.4.4: equal residues score above 0, unlike ones "
        "below 0 on average",
    )


def _excess(exponents: npt.NDArray[np.float64]) -> float:
    """Return Σq − 1 for some λs; NaN where there is no q."""
    try:
        return float(np.linalg.solve(np.exp(exponents), np.ones(len(exponents))).sum()) - 1
    except np.linalg.LinAlgError:
        return math.nan
