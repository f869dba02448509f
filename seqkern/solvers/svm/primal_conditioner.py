"""What makes the conjugate gradients of the primal machines few: a matrix near the Hessian that is easily solved."""

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from seqkern.core.errors import GramError

MOST_SQUARE = 8192
"""For more features the matrix of their products is not computed: it would take too much memory."""

WORTH = 6000
"""Nor where a Cholesky factor takes more than so many operations, which are fast ones, for each entry of the rows."""

SHARES = 4
"""Factors for so many values of κ between one and its double."""

SMALL = 1e-9
"""What is added to the diagonal for the bias; of the mean diagonal, what is added first to an indefinite matrix."""

TRIES = 20
"""So often ten times as much is added."""


def make_conditioner(rows):
    """Return the preconditioner for some Rows: with the products of all features, or only their squares."""
    d = rows.shape[1]
    entries = rows.X.nnz if rows.sparse else rows.shape[0] * d
    full = d <= MOST_SQUARE and d**3 <= WORTH * entries
    return FullConditioner(rows) if full else DiagonalConditioner(rows)


class FullConditioner:
    """J + 2κ Σ_i x_i x_iᵀ by its Cholesky factor, the sum from a part of the rows where they are many.

    κ is rounded, so that machines with about as many active rows share a factor, from one step to the next too.
    """

    def __init__(self, rows):
        self.moments = rows.second_moments()
        self._factors = {}

    def prepare(self, kappas):
        """Return what `solve` takes for machines with these κ, a list; factors that none of them needs are dropped."""
        places = np.round(SHARES * np.log2(np.maximum(kappas, np.finfo(np.float64).tiny))).astype(int).tolist()
        self._factors = {place: self._factors[place] for place in places if place in self._factors}
        for place in set(places) - set(self._factors):
            self._factors[place] = self._factor(2.0 ** (place / SHARES))
        return [self._factors[place] for place in places]

    def solve(self, errors, prepared):
        """Return the solutions for `errors`, (k, d + 1), with what `prepare` gave for each."""
        pairs = zip(prepared, errors, strict=True)
        return np.stack([cho_solve(factor, one, check_finite=False) for factor, one in pairs])

    def release(self):
        """Forget the factors; the matrix is kept for other costs."""
        self._factors = {}

    def _factor(self, kappa):
        """Return the Cholesky factor; more is added to the diagonal where rounding has made the matrix indefinite."""
        diagonal = np.ones(len(self.moments))
        diagonal[-1] = SMALL
        more = SMALL * 2 * kappa * np.trace(self.moments) / len(self.moments)
        for _ in range(TRIES if np.isfinite(self.moments).all() else 0):
            matrix = 2 * kappa * self.moments
            matrix[np.diag_indices_from(matrix)] += diagonal
            try:
                return cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)
            except np.linalg.LinAlgError:
                diagonal = diagonal + more
                more *= 10
        raise GramError("products of features are too large", remedy="scale the features, or normalise the kernel")


class DiagonalConditioner:
    """The diagonal of the same matrix, for features too many for all their products."""

    def __init__(self, rows):
        self.squares = rows.squares()

    def prepare(self, kappas):
        """Return the diagonal for each κ, a list."""
        ones = np.ones(len(self.squares))
        ones[-1] = SMALL
        return [ones + 2 * kappa * self.squares for kappa in kappas]

    def solve(self, errors, prepared):
        """Return the solutions for `errors`, (k, d + 1), with what `prepare` gave for each."""
        return errors / np.stack(prepared)

    def release(self):
        """Do nothing: there are no factors."""
