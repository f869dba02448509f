"""What a fit of a solver is predicted to cost, for the plan of a study.

The constants are CPU nanoseconds, measured with benchmarks/bench_fit_costs.py on one core of an AMD EPYC of the Zen 5
generation. How long an SVM iterates depends on labels and kernel, not on sizes alone: the constants are those of
noisy labels, so that a prediction is an upper estimate.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Self

ENTRY_NS = 1.0
"""An entry of a Gram matrix in a product with a vector."""
FLOP_NS = 0.06
"""A multiplication and addition of dense linear algebra in double precision."""


@dataclass(frozen=True)
class FitCost:
    """Predicted CPU seconds of a fit, and its bytes beside the matrix that it is given.

    Examples
    --------
    >>> FitCost(2.0, 800).times(3)
    FitCost(seconds=6.0, bytes=800)
    """

    seconds: float
    bytes: int = 0

    def times(self, count: float) -> FitCost:
        """Return the cost of several such fits, one after the other.

        Parameters
        ----------
        count : float
            How many.

        Returns
        -------
        FitCost
        """
        return FitCost(count * self.seconds, self.bytes)

    def then(self, other: FitCost) -> FitCost:
        """Return the cost of this and another fit, one after the other.

        Parameters
        ----------
        other : FitCost
            The other.

        Returns
        -------
        FitCost
        """
        return FitCost(self.seconds + other.seconds, max(self.bytes, other.bytes))


@dataclass(frozen=True)
class FitWork:
    """The sizes that determine the cost of a fit.

    Attributes
    ----------
    n : int
        Training samples.
    classes : int
        Classes with samples; 2 for numbers.
    features : int, optional
        Columns of a matrix of features; None for a Gram matrix and for what is never stored.
    gives : {"gram", "features", "implicit", "operator"}
        What the solver gets.
    product_seconds : float, optional
        CPU seconds of one product with the matrix; default: that of a dense matrix.

    Examples
    --------
    >>> FitWork(1000).product
    0.001
    >>> FitWork(1000, features=64).width
    64
    """

    n: int
    classes: int = 2
    features: int | None = None
    gives: str = "gram"
    product_seconds: float | None = None

    @property
    def width(self) -> int:
        """Columns of the matrix."""
        return self.n if self.features is None else self.features

    @property
    def product(self) -> float:
        """CPU seconds of one product with the matrix."""
        if self.product_seconds is not None:
            return self.product_seconds
        return self.n * self.width * ENTRY_NS * 1e-9

    def part(self, n: float, classes: int = 2) -> Self:
        """Return the work on some of the samples.

        Parameters
        ----------
        n : float
            How many samples.
        classes : int
            Of how many classes.

        Returns
        -------
        FitWork
        """
        size = min(self.n, max(1, math.ceil(n)))
        product = self.product_seconds
        if product is not None:
            product *= size / max(1, self.n)
        return replace(self, n=size, classes=classes, product_seconds=product)


def hardness(C: float, growth: float) -> float:
    """Return how much longer a fit takes for a cost C than for C=1: larger ones take more iterations.

    Parameters
    ----------
    C : float
        The cost of an error.
    growth : float
        Exponent; 0 for solvers whose time does not depend on it.

    Returns
    -------
    float

    Examples
    --------
    >>> hardness(10.0, 0.5) / hardness(0.1, 0.5)
    10.0
    """
    return float(min(max(C, 0.01), 1000.0) ** growth)


def dense_algebra(n: float, multiple: float = 1 / 3) -> float:
    """Return the CPU seconds of an algorithm of n³ operations.

    Parameters
    ----------
    n : float
        Size of the matrix.
    multiple : float
        Multiplications and additions, as a multiple of n³: 1/3 of a Cholesky decomposition.

    Returns
    -------
    float
    """
    return multiple * n**3 * FLOP_NS * 1e-9
