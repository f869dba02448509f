"""Sums over the training rows for least squares on a basis: moments of each inner fold, intervals of coefficients."""

import numpy as np

from seqkern.solvers.baselines.basis_moments import Part


class TrainingSums:
    """Features and targets of the training rows, and what passes over them give.

    Moments are taken around the mean of all rows.
    """

    def __init__(self, K, targets):
        self.K, self.targets = K, targets
        self.d, self.n = K.shape[1], len(targets)
        total = np.zeros(self.d)
        for _, block in K.blocks():
            total += block.sum(axis=0, dtype=np.float64)
        self.mean = np.concatenate((total, targets.sum(axis=0))) / self.n

    def _rows(self):
        """Yield (slice, features and targets less their mean)."""
        for part, block in self.K.blocks():
            yield part, np.column_stack((block, self.targets[part])) - self.mean

    def sums(self, folds):
        """Return the number of rows, Σ zzᵀ and Σ z of each inner fold: arrays of the folds, first."""
        q = len(self.mean)
        counts, products, totals = np.bincount(folds), np.zeros((folds.max() + 1, q, q)), np.zeros((folds.max() + 1, q))
        for part, rows in self._rows():
            for fold in range(len(counts)):
                own = rows[folds[part] == fold]
                products[fold] += own.T @ own
                totals[fold] += own.sum(axis=0)
        return counts, products, totals

    def part(self, sums, place, held=None):
        """Return the Part of a target: of all rows, or of those that are not in a fold, to predict those."""
        columns = np.append(np.arange(self.d), self.d + place)
        whole = [one.sum(axis=0) for one in sums]
        if held is None:
            return Part.of_sums(*whole, columns)
        own = [one[held] for one in sums]
        return Part.of_sums(*(all_ - one for all_, one in zip(whole, own, strict=True)), columns, own)

    def intervals(self, sums, bases, codes, level):
        """Return (targets, d, 3): coefficient and both ends of its interval, in a basis for each target; NaN outside.

        With M = Σ xxᵀ and s_g = Σ x e over the rows of group g, e the errors, the covariance of the coefficients is
        M⁻¹ Σ_g s_g s_gᵀ M⁻¹, times G/(G − 1) · (n − 1)/(n − p).
        """
        # loaded only where used: costs start-up
        from scipy.stats import t as student

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

    def _inverse(self, sums, basis):
        """Return the inverse of Σ xxᵀ over a basis, by way of the correlations."""
        moments = sums[1].sum(axis=0)[np.ix_(basis, basis)]
        scale = np.sqrt(np.diagonal(moments))
        return np.linalg.inv(moments / np.outer(scale, scale)) / np.outer(scale, scale)

    def _scores(self, weights, codes):
        """Return Σ_g s_g s_gᵀ of each target, (targets, d, d); without groups each row is one."""
        out = np.zeros((len(weights), self.d, self.d))
        sums = None if codes is None else np.zeros((len(weights), codes.max() + 1, self.d))
        for part, rows in self._rows():
            features = rows[:, : self.d]
            for place, own in enumerate(weights):
                scores = features * (rows[:, self.d + place] - features @ own)[:, None]
                if sums is None:
                    out[place] += scores.T @ scores
                else:
                    np.add.at(sums[place], codes[part], scores)
        return out if sums is None else sums.swapaxes(1, 2) @ sums

    def intercepts(self, weights):
        """Return b of each target."""
        return self.mean[self.d :] - weights @ self.mean[: self.d]

    def residual(self, sums, weights, bases):
        """Return the largest error of the normal equations, as a share of the largest |Σ xy|."""
        moments = sums[1].sum(axis=0)
        errors = moments[: self.d, self.d :] - moments[: self.d, : self.d] @ weights.T
        largest = max(np.abs(moments[: self.d, self.d :]).max(), 1e-300)
        return float(
            max((np.abs(errors[basis, place]).max() for place, basis in enumerate(bases) if len(basis)), default=0.0)
            / largest
        )
