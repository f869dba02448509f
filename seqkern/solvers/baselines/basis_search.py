"""Searches for the best basis, a subset of the features, by a criterion."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from seqkern.solvers.baselines.basis_moments import Part

CRITERIA = ("aic", "bic", "cp", "cv")
SEARCHES = ("brute_force", "stepwise", "local")
MAX_BRUTE = 20
"""Largest number of features for an exhaustive search."""

EQUAL = 1e-10
"""Criteria that differ by at most this share count as equal."""


Found: TypeAlias = tuple[npt.NDArray[np.int64], float]
"""The features of a basis, and its criterion."""


@dataclass
class Criterion:
    """The criterion of a basis; smaller is better.

    Attributes
    ----------
    name : {"aic", "bic", "cp", "cv"}
        Which criterion.
    whole : Part
        Of all rows.
    parts : list of Part
        Of the inner folds, for "cv".
    noise : float
        Variance of the noise, for "cp".
    looked_at : int
        Number of evaluated bases.
    """

    name: str
    whole: Part
    parts: list[Part]
    noise: float
    looked_at: int = 0

    @property
    def d(self) -> int:
        """The number of features."""
        return len(self.whole.learned) - 1

    def of(self, bases: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """Return the criterion of bases of one size.

        Parameters
        ----------
        bases : ndarray of int64, shape (m, p)
            The features of each basis.

        Returns
        -------
        ndarray of float64, shape (m,)
            Infinite for a basis that is dependent, or too large for the rows.
        """
        self.looked_at += len(bases)
        errors = np.asarray(sum(part.errors(bases) for part in self._parts()))
        return self._from(errors, np.full(len(bases), bases.shape[1]))

    def of_all(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
        """Return the criterion of all subsets of the features.

        Returns
        -------
        values : ndarray of float64, shape (2^d,)
            Bit j of the index says whether feature j is in the subset.
        sizes : ndarray of int64, shape (2^d,)
            Number of features of each.
        """
        sizes = np.zeros(1, dtype=np.int64)
        for _ in range(self.d):
            sizes = np.concatenate((sizes, sizes + 1))
        self.looked_at += len(sizes)
        errors = np.asarray(sum(part.errors_of_all() for part in self._parts()))
        return self._from(errors, sizes), sizes

    def _parts(self) -> list[Part]:
        """Return the parts whose errors count."""
        return self.parts if self.name == "cv" else [self.whole]

    def _from(self, errors: npt.NDArray[np.float64], sizes: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """Return the criterion from sums of squared errors and numbers of features."""
        n, p = self.whole.n, sizes + 1.0
        if self.name == "cv":
            values = errors / n
        elif self.name == "cp":
            values = errors / self.noise - n + 2 * p
        else:
            least = EQUAL * max(self.whole.learned[-1, -1], 1e-300)
            values = n * np.log(np.maximum(errors, least) / n) + p * (2.0 if self.name == "aic" else np.log(n))
        smallest = min((part.n for part in self._parts()), default=n)
        return np.where((p < smallest) & np.isfinite(errors), values, np.inf)


def brute_force(criterion: Criterion) -> Found:
    """Return the best of all subsets; ties go to the smallest, then to the first.

    Parameters
    ----------
    criterion : Criterion
        Of at most `MAX_BRUTE` features.

    Returns
    -------
    basis : ndarray of int64, shape (p,)
        Its features, ascending.
    value : float
        Its criterion.

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern.kernels.feature_blocks import FeatureBlocks
    >>> from seqkern.solvers.baselines.basis_search import Criterion, brute_force
    >>> from seqkern.solvers.baselines.basis_sums import TrainingSums
    >>> X = np.array([[0.6, 0.9], [0.7, 0.8], [0.5, 0.7], [0.6, 0.2], [0.5, 0.3], [0.7, 0.1]])
    >>> data = TrainingSums(FeatureBlocks.of(X), np.array([[1.0], [1.0], [1.0], [-1.0], [-1.0], [-1.0]]))
    >>> whole = data.part(data.sums(np.zeros(6, dtype=np.int64)), 0)
    >>> criterion = Criterion("bic", whole, [], noise=1.0)
    >>> basis, value = brute_force(criterion)
    >>> basis, round(value, 1), criterion.looked_at
    (array([1]), -12.5, 4)
    """
    values, sizes = criterion.of_all()
    least = values.min()
    equal = np.flatnonzero(values <= least + EQUAL * (1 + abs(least)))
    best = equal[np.argmin(sizes[equal])]
    return np.flatnonzero((best >> np.arange(criterion.d)) & 1), float(values[best])


def stepwise(criterion: Criterion) -> Found:
    """Return the basis found by stepwise search: from the empty basis, the best addition or removal, while it helps.

    Parameters
    ----------
    criterion : Criterion
        Counts the evaluated bases.

    Returns
    -------
    basis : ndarray of int64, shape (p,)
        Its features.
    value : float
        Its criterion.
    """
    return _descend(criterion, np.empty(0, dtype=np.int64), swaps=False)


def local(criterion: Criterion, restarts: int, seed: int) -> Found:
    """Return the best basis found by adding, removing and swapping features.

    Parameters
    ----------
    criterion : Criterion
        Counts the evaluated bases.
    restarts : int
        Number of searches from a random subset; one more starts with no feature.
    seed : int
        Seed of the random subsets.

    Returns
    -------
    basis : ndarray of int64, shape (p,)
        Its features.
    value : float
        Its criterion.
    """
    rng = np.random.default_rng(seed)
    starts = [np.empty(0, dtype=np.int64)]
    starts += [np.flatnonzero(rng.random(criterion.d) < rng.random()) for _ in range(restarts)]
    found = [_descend(criterion, start, swaps=True) for start in starts]
    best = found[0]
    for basis, value in found[1:]:
        if _better(value, len(basis), best[1], len(best[0])):
            best = basis, value
    return best


def _descend(criterion: Criterion, basis: npt.NDArray[np.int64], *, swaps: bool) -> Found:
    """Return a locally optimal basis and its criterion."""
    value = float(criterion.of(basis[None])[0])
    while True:
        found = [_best(criterion, bases) for bases in _neighbors(basis, criterion.d, swaps) if len(bases)]
        next_basis, next_value = min(found, key=lambda one: (one[1], len(one[0])))
        # any step from a dependent basis is an improvement
        if not _better(next_value, len(next_basis), value, len(basis)) and not (np.isinf(value) and len(basis)):
            return basis, value
        basis, value = (basis[:-1], np.inf) if np.isinf(next_value) else (next_basis, next_value)


def _neighbors(basis: npt.NDArray[np.int64], d: int, swaps: bool) -> Iterator[npt.NDArray[np.int64]]:
    """Yield the neighbouring bases, by size."""
    others = np.setdiff1d(np.arange(d), basis)
    smaller = np.array([np.delete(basis, place) for place in range(len(basis))], dtype=np.int64)
    yield smaller.reshape(len(basis), max(len(basis) - 1, 0))
    yield _with_each(basis[None], others)
    if swaps and len(basis):
        yield _with_each(smaller.reshape(len(basis), -1), others)


def _with_each(bases: npt.NDArray[np.int64], others: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return each basis with each other feature, features sorted."""
    m, p = bases.shape
    out = np.empty((m, len(others), p + 1), dtype=np.int64)
    out[:, :, :p] = bases[:, None]
    out[:, :, p] = others
    return np.sort(out.reshape(-1, p + 1), axis=1)


def _best(criterion: Criterion, bases: npt.NDArray[np.int64]) -> Found:
    """Return the best of some bases and its criterion; ties go to the first."""
    values = criterion.of(bases)
    least = values.min()
    place = int(np.flatnonzero(values <= least + EQUAL * (1 + abs(least)))[0]) if np.isfinite(least) else 0
    return bases[place], float(values[place])


def _better(value: float, size: int, other: float, other_size: int) -> bool:
    """Return whether a criterion is better than another, or equal with fewer features."""
    if np.isinf(value):
        return False
    margin = EQUAL * (1 + abs(value))
    return value < other - margin or (abs(value - other) <= margin and size < other_size)
