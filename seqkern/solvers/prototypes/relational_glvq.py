"""Generalised learning vector quantisation on a kernel or dissimilarity matrix."""

from typing import Any, Self

import numpy as np
import numpy.typing as npt

from seqkern.core.parameters import real
from seqkern.solvers.prototypes.cost import Descent, descend, glvq_cost
from seqkern.solvers.prototypes.gram_prototypes import Array, LearnedGramPrototypes
from seqkern.solvers.prototypes.shared import slope
from seqkern.solvers.shared import limit, tolerance

SMALL = 1e-6
"""Coefficients below this share of a prototype's largest one are set to 0."""


class RelationalGLVQ(LearnedGramPrototypes):
    r"""Relational GLVQ: prototypes of each class as convex combinations of the training samples, by K alone.

    Attributes
    ----------
    coef_ : ndarray of float64, shape (p, s)
        γ ≥ 0, Σ_j γ_pj = 1: prototypes are Σ_j γ_pj φ(x_j).
    squares_ : ndarray of float64, shape (p,)
        ‖w_p‖².
    report_ : dict
        ``objective`` is the mean of φ(μ); ``residual`` by how much the last run of L-BFGS lowered it;
        ``restart_objectives`` (list of float) that of each start.

    Notes
    -----
    With d_J the squared distance of a sample from the nearest prototype of its class, and d_K from the nearest of
    another,

    .. math:: \min \sum_i φ(μ_i),  μ = (d_J − d_K) / (d_J + d_K),  φ(μ) = 1 / (1 + e^{−sμ})
    .. math:: d(x, w) = K(x, x) − 2 \sum_j γ_j K(x, x_j) + \sum_{jk} γ_j γ_k K(x_j, x_k)

    d depends on K_ii − 2 K_ij + K_jj only, so for distances D, K = −½ D², centred or not, has the same cost (kernel
    `precomputed` of a table of dissimilarities). One prototype of each class then comes out the same, to the tolerance.
    Several prototypes may end at another local minimum: k-means++ draws samples in an order that the values of K give,
    and where the nearest prototype changes, rounding can decide which way the descent takes.

    Prototypes start at the means of clusters within each class (kernel k-means++), from the best clusterings in turn;
    the least cost wins. The variables v ≥ 0, γ = v / Σv, are moved by L-BFGS. Where samples are nearly equally far from
    each other, as with k-mer kernels, prototypes fit the training samples too closely; `shrinkage` keeps them near
    their start. A decision is the difference of squared distances from the nearest prototype of the others and of the
    class, in which K(x, x) cancels: it has the sign of −μ. Distances below zero, of an indefinite K, count as zero in
    the fit.

    Complexity: O(n²) per prototype and iteration for n samples, and a copy of K.

    References
    ----------
    Sato, Yamada: Generalized learning vector quantization. Advances in Neural Information Processing Systems 8, 1996.

    Hammer, Hofmann, Schleif, Zhu: Learning vector quantization for (dis-)similarities. Neurocomputing 131, 2014.

    Examples
    --------
    >>> from seqkern import SequenceSet
    >>> from seqkern.kernels import SpectrumKernel
    >>> from seqkern.solvers import RelationalGLVQ
    >>> repeats = SequenceSet.from_strings(["ACACACAC", "ACACACAT", "GTGTGTGT", "GTGTGTGA", "ACACACTT"], "dna")
    >>> K = SpectrumKernel(k=2).kernel(repeats)
    >>> solver = RelationalGLVQ().fit(K[:4, :4], ["CA", "CA", "GT", "GT"])
    >>> solver.predict(K[4:, :4]).tolist()
    ['CA']
    >>> [repeats.ids[one.row] for one in solver.exemplars() if one.rank == 1]  # the most typical of each class
    ['1', '3']
    """

    name = "relational_glvq"
    summary = "Relational GLVQ: typical representatives of each class, placed so that classes are told apart."
    fit_products = 40.0

    shrinkage: float = real(
        default=0.0,
        low=0,
        high=1,
        doc="s, how far prototypes stay with the means that they start at: γ = s · start + (1 − s) · v / Σv. Above 0 "
        "against overfitting, with few samples or nearly equal distances.",
    )
    slope: float = slope()
    restarts: int = limit(3, "Starts, at most; there is one only with one prototype for each class.")
    tol: float = tolerance(1e-6, "The fit has converged when a run of L-BFGS lowers the objective by at most this.")
    max_iter: int = limit(1000, "Maximum number of iterations of a start.")

    @classmethod
    def default_grid(cls) -> dict[str, list[Any]]:
        """Return the numbers of prototypes, and the shrinkage, that a search tries."""
        return {"n_prototypes": [1, 2, 3], "shrinkage": [0.0, 0.5, 0.9]}

    def complexity(self) -> tuple[float, ...]:
        """Return (n_prototypes, −shrinkage): fewer prototypes near their start give simpler classifiers."""
        return (float(self.n_prototypes), -float(self.shrinkage))

    @classmethod
    def examples(cls) -> list[Self]:
        """Return solvers for the contract suite."""
        return [cls(), cls(n_prototypes=2, slope=0.0, shrinkage=0.2)]

    def _learned(self, K: Array, y: npt.NDArray[np.int64]) -> tuple[Array, dict[str, Any]]:
        """Descend from each start, and return the prototypes of least cost."""
        same = self._first_codes(self.n_prototypes)[:, None] == y
        found = [self._descended(K, same, start) for start in self._starts(K, y, self.restarts)]
        best = min(found, key=lambda one: one.cost)
        weights = best.x.reshape(same.shape).copy()
        weights[weights < SMALL * weights.max(axis=1, keepdims=True)] = 0.0
        report = {
            "converged": best.residual <= self.tol,
            "iterations": best.iterations,
            "residual": best.residual,
            "objective": best.cost,
            "restart_objectives": [one.cost for one in found],
        }
        if not report["converged"]:
            report["remark"] = "raise max_iter or tol"
        return _normalised(weights), report

    def _descended(self, K: Array, same: npt.NDArray[np.bool_], start: Array) -> Descent:
        """Return the end of the descent from a start."""
        diagonal, stay = np.diagonal(K), float(self.shrinkage)

        def evaluate(values: Array) -> tuple[float, Array]:
            v = values.reshape(same.shape)
            totals = v.sum(axis=1, keepdims=True)
            if not (totals > 0).all():
                return 1.0, np.zeros(values.shape)  # the largest cost: the line search turns back
            weights = stay * start + (1.0 - stay) * v / totals
            products = weights @ K
            squares = np.sum(products * weights, axis=1)
            cost, by_distance = glvq_cost(diagonal - 2.0 * products + squares[:, None], same, self.slope)
            gradient = 2.0 * (by_distance.sum(axis=1, keepdims=True) * products - by_distance @ K)
            gradient -= np.sum(gradient * v, axis=1, keepdims=True) / totals
            return cost, ((1.0 - stay) * gradient / totals).ravel()

        # vectors of length 1, as the first step is: it is neither tiny nor huge
        first = start / np.sqrt(np.square(start).sum(axis=1, keepdims=True))
        found = descend(evaluate, first.ravel(), self.tol, self.max_iter, bounded=True)
        return found._replace(x=(stay * start + (1.0 - stay) * _normalised(found.x.reshape(same.shape))).ravel())


def _normalised(v: Array) -> Array:
    """Return rows of sum 1."""
    return np.asarray(v / v.sum(axis=1, keepdims=True))
