"""Completion of missing values of feature vectors."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import ParameterError
from seqkern.core.parameters import choice, integer
from seqkern.kernels.feature_transforms.feature_transform import FeatureTransform


class ImputeTransform(FeatureTransform):
    r"""Completion of missing values by means, or by the nearest training vectors.

    Attributes
    ----------
    means_, deviations_ : ndarray of float64, shape (d,)
        Of the known training values of each feature.
    train_ : ndarray of float64, shape (n, d), or (0, d) for means
        The training vectors, standardised, with their gaps.

    Notes
    -----
    ``mean``: the mean of the training values. ``neighbors``: the mean of the feature over the k training vectors with a
    value there that are nearest, by

    .. math:: d^2(x, y) = \frac{1}{|S|} \sum_{j ∈ S} (x_j − y_j)^2 / s_j^2

    with S the features that both have and s_j their standard deviations; all vectors at the distance of the k-th count.
    Without any such vector it is the mean. A complete vector is not changed.

    Complexity: n d for means; m n d for m incomplete vectors by neighbours, whose n training vectors are part of the
    model.

    References
    ----------
    Troyanskaya, Cantor, Sherlock, Brown, Hastie, Tibshirani, Botstein, Altman: Missing value estimation methods for DNA
    microarrays. Bioinformatics 17, 2001.

    Examples
    --------
    >>> from seqkern.kernels.feature_transforms import ImputeTransform
    >>> nan = float("nan")
    >>> train = [[1.0, 10.0], [1.2, 12.0], [5.0, 50.0], [5.2, nan]]
    >>> ImputeTransform().fit(train).transform([[1.1, nan]])
    array([[ 1.1, 24. ]])
    >>> ImputeTransform("neighbors", n_neighbors=2).fit(train).transform([[1.1, nan]])
    array([[ 1.1, 11. ]])
    """

    name = "impute"
    learned = ("means_", "deviations_", "train_")
    completes = True

    method: Literal["mean", "neighbors"] = choice(
        default="mean", kw_only=False, doc="The value for a gap: the mean of the feature, or that of its neighbours."
    )
    n_neighbors: int = integer(default=5, low=1, doc="k, for neighbours.")

    def _fit(self, values: npt.NDArray[np.float64]) -> None:
        known = ~np.isnan(values)
        counts = known.sum(axis=0)
        if not counts.all():
            empty = int(np.flatnonzero(counts == 0)[0]) + 1
            raise ParameterError(
                f"transform 'impute': feature {empty} has no value in the training set",
                remedy="remove this column",
            )
        self.means_ = np.where(known, values, 0.0).sum(axis=0) / counts
        away = np.where(known, values - self.means_, 0.0)
        deviations = np.sqrt(np.square(away).sum(axis=0) / counts)
        self.deviations_ = np.where(deviations > 0, deviations, 1.0)
        standard = (values - self.means_) / self.deviations_
        self.train_ = standard if self.method == "neighbors" else standard[:0]

    def _apply(self, values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        gaps = np.isnan(values)
        out = np.where(gaps, self.means_, values)
        if self.method == "neighbors":
            known = ~np.isnan(self.train_)
            for i in np.flatnonzero(gaps.any(axis=1)):
                out[i, gaps[i]] = self._from_neighbours((values[i] - self.means_) / self.deviations_, gaps[i], known)
        return out

    def _from_neighbours(
        self, row: npt.NDArray[np.float64], gaps: npt.NDArray[np.bool_], known: npt.NDArray[np.bool_]
    ) -> npt.NDArray[np.float64]:
        """Return the values for the gaps of one standardised vector."""
        shared = known & ~gaps
        counts = shared.sum(axis=1)
        squares = np.square(np.where(shared, self.train_ - row, 0.0)).sum(axis=1)
        distances = np.divide(squares, counts, out=np.full(len(counts), np.inf), where=counts > 0)
        found = self.means_[gaps].copy()
        for place, j in enumerate(np.flatnonzero(gaps)):
            having = np.flatnonzero(known[:, j] & np.isfinite(distances))
            if len(having):
                k = min(self.n_neighbors, len(having)) - 1
                near = having[distances[having] <= np.partition(distances[having], k)[k]]
                found[place] += self.deviations_[j] * self.train_[near, j].mean()
        return found

    def names(self, columns: Sequence[str]) -> list[str]:
        """Return the same names.

        Parameters
        ----------
        columns : sequence of str
            The names before.

        Returns
        -------
        list of str
        """
        return list(columns)
