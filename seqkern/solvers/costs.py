"""Predicted cost of fitting a solver, for the plan of a study.

The constants are CPU nanoseconds, measured with benchmarks/bench_fit_costs.py on one core of an AMD EPYC of the Zen 5
generation. The number of iterations of an SVM depends on labels and kernel, not only on sizes: the constants are
those for noisy labels, so that a prediction is an upper estimate.
"""

import math
from dataclasses import dataclass, replace
from typing import Self

ENTRY_NS = 1.0  # Nanoseconds of a Gram matrix entry in a product with a vector
FLOP_NS = 0.06  # Nanoseconds of a multiplication and addition in dense linear algebra, in double precision
EXPECTED_PRODUCTS = 40
"""Number of products K·v until a classifier has converged on an operator."""
PRODUCT_SECONDS = 2.5e-3
"""CPU seconds of a product besides the operator's own: orthogonalisation, and a step in the subspace."""


@dataclass(frozen=True)
class FitCost:
    """Predicted cost of a fit: CPU seconds, and bytes of memory beyond the input matrix.

    >>> FitCost(2.0, 800).times(3)
    FitCost(seconds=6.0, bytes=800)
    """

    seconds: float
    bytes: int = 0

    def times(self, count: float) -> "FitCost":
        """Return the cost of `count` such fits, one after the other."""
        return FitCost(count * self.seconds, self.bytes)

    def then(self, other: "FitCost") -> "FitCost":
        """Return the cost of this fit followed by another one."""
        return FitCost(self.seconds + other.seconds, max(self.bytes, other.bytes))


@dataclass(frozen=True)
class FitWork:
    """Sizes that determine the cost of a fit."""

    n: int  # Training samples
    classes: int = 2  # Classes with samples; 2 for numbers
    features: int | None = None  # Columns of a matrix of features; None for a Gram matrix and for what is never stored
    gives: str = "gram"  # What the solver gets
    product_seconds: float | None = None  # CPU seconds of one product with the matrix; default: that of a dense matrix

    @property
    def width(self) -> int:
        """Number of columns of the matrix."""
        return self.n if self.features is None else self.features

    @property
    def product(self) -> float:
        """CPU seconds of one product with the matrix."""
        if self.product_seconds is not None:
            return self.product_seconds
        return self.n * self.width * ENTRY_NS * 1e-9

    def part(self, n: float, classes: int = 2) -> Self:
        """Return the work for `n` of the samples, of `classes` classes."""
        size = min(self.n, max(1, math.ceil(n)))
        product = self.product_seconds
        if product is not None:
            product *= size / max(1, self.n)
        return replace(self, n=size, classes=classes, product_seconds=product)


def hardness(C: float, growth: float) -> float:
    """Return the ratio of the fit times at cost C and at C = 1, as larger C takes more iterations.

    >>> hardness(10.0, 0.5) / hardness(0.1, 0.5)
    10.0
    """
    return float(min(max(C, 0.01), 1000.0) ** growth)


def dense_algebra(n: float, multiple: float = 1 / 3) -> float:
    """Return the CPU seconds of an algorithm with `multiple` · n³ multiplications and additions.

    The default, 1/3, is a Cholesky decomposition.
    """
    return multiple * n**3 * FLOP_NS * 1e-9


# Names of the leave-one-out error bounds, for modules that need only the names.

BOUNDS = ("span", "xi_alpha", "radius_margin")
"""Names of the bounds in tables and as metrics of the inner loop; see `seqkern.solvers.svm.margins`."""
EVIDENCE = "evidence"
"""Name of the log marginal likelihood of a Gaussian process, per sample, as a metric of the inner loop."""
WITHOUT_FOLDS = (*BOUNDS, EVIDENCE)
"""The metrics of an inner loop that fits each candidate once, to the whole training set."""
