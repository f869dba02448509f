"""Sums over the training rows for least squares: moments of the inner folds, intervals of coefficients."""

from collections.abc import Iterator, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from seqkern.kernels.feature_blocks import FeatureBlocks
from seqkern.solvers.baselines.basis_moments import Part

Sums: TypeAlias = tuple[npt.NDArray[np.int64], npt.NDArray[np.float64], npt.NDArray[np.float64]]
"""The number of rows, Σ zzᵀ and Σ z of each inner fold."""


class TrainingSums:
    """Features and targets of the training rows, and sums over them.

    Moments are taken around the mean of all rows.

    Parameters
    ----------
    K : FeatureBlocks, shape (n, d)
        The features.
    targets : ndarray of float64, shape (n, targets)
        A column for each target.

    Attributes
    ----------
    n, d : int
        Numbers of rows and features.
    mean : ndarray of float64, shape (d + targets,)
        Of the features, then of the targets.
    """

    def __init__(self, K: FeatureBlocks, targets: npt.NDArray[np.float64]) -> None:
        self.K, self.targets = K, targets
        self.d, self.n = K.shape[1], len(targets)
        total = np.zeros(self.d)
        for _, block in K.blocks():
            total += block.sum(axis=0, dtype=np.float64)
        self.mean = np.concatenate((total, targets.sum(axis=0))) / self.n

    def _rows(self) -> Iterator[tuple[slice, npt.NDArray[np.float64]]]:
        """Yield (slice, features and targets less their mean)."""
        for part, block in self.K.blocks():
            yield part, np.column_stack((block, self.targets[part])) - self.mean

    def sums(self, folds: npt.NDArray[np.int64]) -> Sums:
        """Return the sums of each inner fold.

        Parameters
        ----------
        folds : ndarray of int64, shape (n,)
            The fold of each row, from 0.

        Returns
        -------
        counts : ndarray of int64, shape (folds,)
            Rows in each fold.
        products : ndarray of float64, shape (folds, q, q)
            Σ zzᵀ over its rows, z the features and targets less their mean.
        totals : ndarray of float64, shape (folds, q)
            Σ z.
        """
        q = len(self.mean)
        counts, products, totals = np.bincount(folds), np.zeros((folds.max() + 1, q, q)), np.zeros((folds.max() + 1, q))
        for part, rows in self._rows():
            for fold in range(len(counts)):
                own = rows[folds[part] == fold]
                products[fold] += own.T @ own
                totals[fold] += own.sum(axis=0)
        return counts, products, totals

    def part(self, sums: Sums, place: int, held: int | None = None) -> Part:
        """Return the Part of one target.

        Parameters
        ----------
        sums : tuple
            As in `sums`.
        place : int
            The target.
        held : int, optional
            The fold to predict from the others; by default all rows are both trained on and predicted.

        Returns
        -------
        Part
        """
        columns = np.append(np.arange(self.d), self.d + place)
        counts, products, totals = sums
        whole = int(counts.sum()), products.sum(axis=0), totals.sum(axis=0)
        if held is None:
            return Part.of_sums(*whole, columns)
        own = int(counts[held]), products[held], totals[held]
        return Part.of_sums(whole[0] - own[0], whole[1] - own[1], whole[2] - own[2], columns, own)

    def intervals(
        self, sums: Sums, bases: Sequence[npt.NDArray[np.int64]], codes: npt.NDArray[np.int64] | None, level: float
    ) -> npt.NDArray[np.float64]:
        """Return the coefficients in a basis for each target, with confidence intervals.

        With M = Σ xxᵀ and s_g = Σ x e over the rows of group g, e the errors, the covariance of the coefficients is
        M⁻¹ Σ_g s_g s_gᵀ M⁻¹, times G/(G − 1) · (n − 1)/(n − p).

        Parameters
        ----------
        sums : tuple
            As in `sums`.
        bases : sequence of ndarray of int64
            The features for each target.
        codes : ndarray of int64, shape (n,), optional
            The group of each row, from 0; by default each row.
        level : float
            Confidence level, between 0 and 1.

        Returns
        -------
        ndarray of float64, shape (targets, d, 3)
            Coefficient and both ends of its interval; NaN for features outside the basis.
        """
        from scipy.stats import t as student  # imported here: scipy.stats slows start-up

        out = np.full((len(bases), self.d, 3), np.nan)
        inverses = [self._inverse(sums, basis) for basis in bases]
        weights = np.zeros((len(bases), self.d))
        for place, (basis, inverse) in enumerate(zip(bases, inverses, strict=True)):
            weights[place, basis] = inverse @ sums[1].sum(axis=0)[basis, self.d + place]
        scores = self._scores(weights, codes)
        groups = self.n if codes is None else codes.max() + 1
        for place, (basis, inverse) in enumerate(zip(bases, inverses, strict=True)):
            covariance = inverse @ scores[place][np.ix_(basis, basis)] @ inverse
            freedom = max(groups - 1, 0), self.n - len(basis) - 1
            ends = np.full(len(basis), np.nan)
            if min(freedom) > 0:
                factor = groups / freedom[0] * (self.n - 1) / freedom[1]
                errors = np.sqrt(factor * np.maximum(np.diagonal(covariance), 0.0))
                ends = student.ppf(0.5 + level / 2, freedom[0]) * errors
            own = weights[place, basis]
            out[place, basis] = np.stack((own, own - ends, own + ends), axis=1)
        return out

    def _inverse(self, sums: Sums, basis: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """Return the inverse of Σ xxᵀ over a basis, by way of the correlations."""
        moments = sums[1].sum(axis=0)[np.ix_(basis, basis)]
        scale = np.sqrt(np.diagonal(moments))
        return np.linalg.inv(moments / np.outer(scale, scale)) / np.outer(scale, scale)

    def _scores(self, weights: npt.NDArray[np.float64], codes: npt.NDArray[np.int64] | None) -> npt.NDArray[np.float64]:
        """Return Σ_g s_g s_gᵀ of each target, (targets, d, d); without groups each row is one."""
        out = np.zeros((len(weights), self.d, self.d))
        sums = None if codes is None else np.zeros((len(weights), codes.max() + 1, self.d))
        for part, rows in self._rows():
            features = rows[:, : self.d]
            for place, own in enumerate(weights):
                scores = features * (rows[:, self.d + place] - features @ own)[:, None]
                if sums is None or codes is None:
                    out[place] += scores.T @ scores
                else:
                    np.add.at(sums[place], codes[part], scores)
        return out if sums is None else sums.swapaxes(1, 2) @ sums

    def intercepts(self, weights: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return the intercept b of each target.

        Parameters
        ----------
        weights : ndarray of float64, shape (targets, d)
            0 for features outside the basis.

        Returns
        -------
        ndarray of float64, shape (targets,)
        """
        return self.mean[self.d :] - weights @ self.mean[: self.d]

    def residual(self, sums: Sums, weights: npt.NDArray[np.float64], bases: Sequence[npt.NDArray[np.int64]]) -> float:
        """Return the largest error of the normal equations, as a share of the largest |Σ xy|.

        Parameters
        ----------
        sums : tuple
            As in `sums`.
        weights : ndarray of float64, shape (targets, d)
            0 for features outside the basis.
        bases : sequence of ndarray of int64
            The features for each target.

        Returns
        -------
        float
        """
        moments = sums[1].sum(axis=0)
        errors = moments[: self.d, self.d :] - moments[: self.d, : self.d] @ weights.T
        largest = max(np.abs(moments[: self.d, self.d :]).max(), 1e-300)
        return float(
            max((np.abs(errors[basis, place]).max() for place, basis in enumerate(bases) if len(basis)), default=0.0)
            / largest
        )
