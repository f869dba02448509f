"""The C-SVM of more samples than have feature vectors in memory: descent on working sets, with a certificate for all.

Most samples of a large set lie beyond the margin: their α is zero, and the solution is that of the others alone. So
dual coordinate descent (`dual_coordinate`) runs on a working set, and its w is applied to all samples. Those within
the margin that were left out join the set, those far beyond it leave, and descent goes on from the α it has (Boser,
Guyon & Vapnik 1992, chunking). The α outside the set are zero, so that D(α) is the dual value of the whole problem;
P(w) is summed over all samples. P − D bounds the error of w as it does for descent on all of them.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from seqkern.core.progress import progress_counter
from seqkern.kernels.deferred import LARGEST_SET, DeferredImplicit
from seqkern.solvers.products.best_bias import best_bias
from seqkern.solvers.svm.dual_coordinate import Certificate, Descent

FIRST = 50_000, 20
"""The first set: so many samples, or one of so many if that is more."""

ROOM = 1.1
"""Samples in the set whose y·f(x) is below this stay there."""

LOOSE, SHARE = 1e-2, 0.2
"""Descent on the first set goes to this gap; later to this share of the gap of all samples."""

ENOUGH = 0.3
"""Descent on a set goes at most to this share of the gap that is wanted."""


@dataclass(frozen=True)
class Solution:
    """What `descend` found.

    Attributes
    ----------
    alpha : ndarray of float64, shape (n,)
    certificate : Certificate
        For all samples.
    epochs : int
        Passes over as many samples as all, rounded up.
    rounds : int
        How many working sets there were.
    largest : int
        Samples in the largest one.
    """

    alpha: npt.NDArray[np.float64]
    certificate: Certificate
    epochs: int
    rounds: int
    largest: int


def descend(
    records: DeferredImplicit,
    y: npt.NDArray[np.float64],
    cost: npt.NDArray[np.float64],
    seed: int,
    tol: float,
    max_epochs: int,
    start: npt.NDArray[np.float64] | None = None,
) -> Solution:
    """Train on working sets until the gap for all samples is at most `tol`, or for `max_epochs` passes.

    Parameters
    ----------
    records : DeferredImplicit, n samples
        The samples.
    y : ndarray of float64, shape (n,)
        −1 and 1.
    cost : ndarray of float64, shape (n,)
        C of each sample.
    seed : int
        Of the first set, and of the order of the samples.
    tol : float
        > 0, a share of the primal value.
    max_epochs : int
        At least 1.
    start : ndarray of float64, shape (n,), optional
        α to begin with, of another C.

    Returns
    -------
    Solution

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern import SequenceSet
    >>> from seqkern.kernels import SpectrumKernel
    >>> from seqkern.kernels.deferred import DeferredImplicit
    >>> from seqkern.solvers.svm.working_sets import descend
    >>> X = SequenceSet.from_strings(["ACAC", "AACA", "GGTG", "TGGT"], "dna")
    >>> records = DeferredImplicit(SpectrumKernel(k=2), X)
    >>> found = descend(records, np.array([1.0, 1, -1, -1]), np.ones(4), seed=0, tol=1e-6, max_epochs=1000)
    >>> found.certificate.gap <= 1e-6, found.rounds
    (True, 1)
    """
    n = len(y)
    alpha = np.zeros(n) if start is None else np.minimum(start, cost)
    rows = _first(y, alpha, seed)
    inner, steps, rounds, largest = max(ENOUGH * tol, LOOSE if len(rows) < n else 0.0), 0, 0, 0
    with progress_counter("working sets", " sets") as show:
        while True:
            part = records.take(rows).implicit()
            descent = Descent(part, y[rows], cost[rows], seed + rounds, start=alpha[rows])
            inner_certificate, epochs = descent.run(inner, max(1, max_epochs * n // len(rows) - steps // len(rows)))
            steps, rounds, largest = steps + epochs * len(rows), rounds + 1, max(largest, len(rows))
            if show is not None:
                show(rounds)
            alpha[:] = 0
            alpha[rows] = descent.alpha
            del part, descent  # before the table of all k-mers of the support
            certificate, products = _certify(records, y, cost, alpha)
            if certificate.gap <= tol or steps >= max_epochs * n:
                return Solution(alpha, certificate, min(-(-steps // n), max_epochs), rounds, largest)
            # The best bias for all samples would hide most of those within the margin: w is of the set's own bias.
            following = _next(rows, alpha, y * (products + inner_certificate.bias))
            inner = max(ENOUGH * tol, min(LOOSE, SHARE * certificate.gap))
            if np.array_equal(following, rows):  # only the precision is missing
                inner = ENOUGH * tol
            rows = following


def _first(y: npt.NDArray[np.float64], alpha: npt.NDArray[np.float64], seed: int) -> npt.NDArray[np.int64]:
    """Return the first working set, sorted: some samples of each class in proportion, and those with α > 0."""
    least, share = FIRST
    size = max(least, len(y) // share)
    if size >= len(y):
        return np.arange(len(y))
    rng = np.random.default_rng(seed)
    drawn = [
        rng.choice(of_class, max(1, round(size * len(of_class) / len(y))), replace=False)
        for of_class in (np.flatnonzero(y < 0), np.flatnonzero(y > 0))
    ]
    return np.union1d(np.concatenate(drawn), np.flatnonzero(alpha))


def _certify(
    records: DeferredImplicit, y: npt.NDArray[np.float64], cost: npt.NDArray[np.float64], alpha: npt.NDArray[np.float64]
) -> tuple[Certificate, npt.NDArray[np.float64]]:
    """Return the Certificate of α for all samples, and w·φ of each."""
    support = np.flatnonzero(alpha)
    signed = alpha[support] * y[support]
    products = records.dots(records.take(support).weights(signed))
    bias = best_bias(products, y, cost)
    half = 0.5 * float(signed @ products[support])
    dual = float(alpha.sum()) - half
    # y − w·φ bounds the bias from above where α·y can grow, from below where it can fall
    bounds = y - products
    up = np.where(y > 0, alpha != cost, alpha != 0)
    low = np.where(y > 0, alpha != 0, alpha != cost)
    violation = np.max(bounds[up], initial=-np.inf) - np.min(bounds[low], initial=np.inf)
    primal = half + float(cost @ np.maximum(0.0, 1 - y * (products + bias)))
    return Certificate(bias, primal, dual, (primal - dual) / primal, max(0.0, float(violation))), products


def _next(
    rows: npt.NDArray[np.int64], alpha: npt.NDArray[np.float64], margins: npt.NDArray[np.float64]
) -> npt.NDArray[np.int64]:
    """Return the next working set, sorted: samples with α > 0, those near the margin, those within it."""
    inside = np.zeros(len(alpha), dtype=np.bool_)
    inside[rows] = True
    keep = (alpha > 0) | (inside & (margins < ROOM))
    new = np.flatnonzero(~inside & (margins < 1))
    room = max(LARGEST_SET - int(np.count_nonzero(keep)), LARGEST_SET // 4)
    if len(new) > room:
        new = new[np.argpartition(margins[new], room)[:room]]
    keep[new] = True
    return np.flatnonzero(keep)
