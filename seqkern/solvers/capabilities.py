"""Traits that a solver declares, and results of some besides decisions: exemplars, variances, leave-one-out error."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from seqkern.core.statistics import half_width
from seqkern.core.types import Floats, Ints
from seqkern.solvers.costs import FitCost, FitWork, dense_algebra, hardness

if TYPE_CHECKING:
    from seqkern.solvers.contract import Solver

# Traits: what a solver takes, gives and needs.


@dataclass(frozen=True)
class Search:
    """The default hyperparameter search of a solver.

    `order` names the parameters by which a search prefers the simplest of equally good solvers of one class: the
    smallest value, or the largest after ``-``; of a nested solver, its own order.
    """

    grid: Mapping[str, Sequence[Any]] = field(default_factory=dict)  # Values to try first
    limits: Mapping[str, tuple[float, float]] = field(default_factory=dict)  # Intervals in which they are refined
    order: tuple[str, ...] = ()

    def complexity(self, solver: "Solver") -> tuple[float, ...]:
        """Return the numbers that order solvers of one class, the simplest first."""
        numbers: tuple[float, ...] = ()
        for name in self.order:
            value = getattr(solver, name.removeprefix("-"))
            if hasattr(value, "complexity"):
                numbers += value.complexity()
            else:
                number = float(value) if isinstance(value, Real) else 0.0
                numbers += (-number if name.startswith("-") else number,)
        return numbers


SEARCH_COST = Search({"C": [0.1, 1.0, 10.0]}, {"C": (1e-4, 1e4)}, ("C",))
"""The search of solvers whose only choice is the cost C."""
# Of many samples: half-decade steps reach a large C, which takes many more passes, only where each step scores higher
SEARCH_COST_OF_MANY = replace(SEARCH_COST, grid={"C": [0.1, 0.3, 1.0]})


@dataclass(frozen=True)
class Effort:
    """How the cost of a solver's fit grows with the training set, as measured; for the plan of a study.

    >>> Effort(products=10, growth=0.5).cost(FitWork(1000), C=4.0).seconds
    0.02
    """

    products: float = 100.0  # Products with the matrix until a fit has converged, for C = 1
    growth: float = 0.0  # Their number grows with this power of C
    cubes: float = 0.0  # Multiplications of dense linear algebra, as a multiple of the third power of the columns
    copies: float = 1.0  # Matrices of the size of the training set's that a fit holds at most, besides its own

    def cost(self, work: FitWork, C: float = 1.0) -> FitCost:
        """Return the predicted cost of a fit: products with the matrix, and dense linear algebra."""
        products = self.products * hardness(C, self.growth)
        return FitCost(products * work.product + dense_algebra(work.width, self.cubes))


@dataclass(frozen=True)
class Traits:
    """What a solver takes, gives and needs: its flags, its search, and the effort of a fit."""

    semidefinite: bool = False  # The solution is only local unless the Gram matrix is positive semi-definite
    asymmetric: bool = False  # Takes a square matrix that is not symmetric; it does not matter for features
    sparse: bool = False  # Takes a sparse matrix of features
    blocks: bool = False  # Takes features as FeatureBlocks, computed on demand (kernels/features.py)
    rows: bool = False  # Takes a Gram matrix in a file, as GramRows (gram/matrix.py)
    operator: bool = False  # Takes a KernelOperator (kernels/kernel_operator.py) and trains on products K·v
    tables: bool = False  # May leave the sums over l-mers of such a fit instead of a support
    # `_fit` takes groups, kept together when it splits the training set: ``_fit(K, y, groups)``
    groups: bool = False
    # Training rows may lack a label: NaN, None or empty text (−1 is a class here); `_fit` then gets NaN for them
    unlabelled: bool = False
    pairs: bool = True  # A binary solver serves for any two of several classes, in pairwise voting
    variances: bool = False  # Predictions have variances; the solver writes `_variances`
    bounds: bool = False  # `leave_one_out` bounds the error of a fit on a Gram matrix of two classes
    own_threshold: bool = False  # Decision 0 is a choice of the parameters: no other threshold is set by default
    # Selects few features, which are always listed; otherwise features are listed only if few and named
    selects: bool = True
    # A further training sample beyond this decision, on its class's side, does not change the solution
    margin: float | None = None
    search: Search = field(default_factory=Search)
    effort: Effort = field(default_factory=Effort)

    def but(self, **changes: Any) -> Self:
        """Return these traits with some changed."""
        return replace(self, **changes)


# Features that a fit selected.


@dataclass(frozen=True)
class SelectedFeatures:
    """The features that a fit selected, and their factors in the decision.

    Factors are None if the decision is not a weighted sum; for scaled features, they belong to the scaled ones.
    """

    columns: Ints  # shape (s,): by default those that prediction needs; preprocessing of whole rows may need more
    weights: Floats | None = None  # shape (s,)
    by_class: Floats | None = None  # shape (classes, s): of the decision about each class; None if `weights` suffices
    # shape (classes, features, 6): of all features, for each class or the second of two, the coefficient and both ends
    # of its confidence interval with selection, and the same without; NaN for features not included
    intervals: Floats | None = None


# Exemplars: typical training samples of a classifier, shown instead of means of kernel features.

MOST = 5  # Number of typical samples listed for a prototype


class Exemplar(NamedTuple):
    """A training sample that is typical of a prototype of its class.

    `code` indexes `classes_`; `prototype` and `rank` count from 1, `row` from 0; `distance` is squared; `members`
    counts the training samples of the class that are nearest to this prototype.

    >>> Exemplar(0, 1, 1, row=17, distance=0.25, members=40).row
    17
    """

    code: int  # Index of the class in `classes_`
    prototype: int  # Which prototype of the class, from 1
    rank: int  # 1 for the sample nearest to the prototype
    row: int  # Row of the training set, from 0
    # Squared distance from the prototype, in the feature space of the kernel or by the metric that was learned
    distance: float
    members: int  # Training samples of the class that are nearer to this prototype than to others of the class


def typical(distances: Floats, codes: Ints, y: Ints, most: int = MOST) -> list[Exemplar]:
    """Return, for each prototype, the nearest of the samples of its class that have no nearer prototype.

    >>> import numpy as np
    >>> distances = np.array([[0.1, 4.0, 0.3], [5.0, 0.2, 6.0]])
    >>> [one.row for one in typical(distances, np.array([0, 1]), np.array([0, 1, 0]))]
    [0, 2, 1]
    """
    found = []
    for code in np.unique(codes):
        own, rows = np.flatnonzero(codes == code), np.flatnonzero(y == code)
        nearest = distances[np.ix_(own, rows)].argmin(axis=0)
        for place, prototype in enumerate(own):
            members = rows[nearest == place]
            order = members[np.argsort(distances[prototype, members], kind="stable")]
            for rank, row in enumerate(order[:most].tolist(), start=1):
                value = float(distances[prototype, row])
                found.append(Exemplar(int(code), place + 1, rank, row, value, len(members)))
    return found


def as_array(found: list[Exemplar]) -> Floats:
    """Return exemplars as an array, shape (m, 6), for a solver's state."""
    return np.array(found, dtype=np.float64).reshape(-1, len(Exemplar._fields))


def from_array(values: Floats) -> list[Exemplar]:
    """Return the exemplars stored by `as_array`."""
    return [
        Exemplar(int(code), int(prototype), int(rank), int(row), float(distance), int(members))
        for code, prototype, rank, row, distance, members in values.tolist()
    ]


# Prediction variances of solvers that are probabilistic models.


@dataclass(frozen=True, eq=False)
class Variances:
    """The prediction variances of some samples.

    `latent` is the variance of the function at each sample around its mean, the decision; `noise` is the variance of an
    observation around the function (0 for classes); `clipped` counts variances that rounding made negative, set to 0.

    >>> found = Variances.of(np.array([0.5, -1e-17]), noise=0.25)
    >>> found.latent.tolist(), found.observed.tolist(), found.clipped
    ([0.5, 0.0], [0.75, 0.25], 1)
    """

    # shape (m,): Of the function at each sample, ≥ 0: how much its mean there, the decision, may be wrong
    latent: Floats
    noise: float = 0.0  # Of an observation about the function; 0 where labels are classes
    clipped: int = 0  # How many were below zero by rounding, and are 0 here
    tail: float = 0.0  # Of observations, see `half_width`: 0 where they are normal

    @classmethod
    def of(cls, values: Floats, noise: float = 0.0) -> "Variances":
        """Return variances with negative values set to 0 and counted."""
        return cls(np.maximum(values, 0.0), noise, int(np.count_nonzero(values < 0)))

    @classmethod
    def joined(cls, parts: "list[Variances]") -> "Variances":
        """Return the concatenated variances of consecutive samples of one model."""
        latent = np.concatenate([np.empty(0), *(part.latent for part in parts)])
        return cls(latent, parts[0].noise if parts else 0.0, sum(part.clipped for part in parts))

    def interval(self, means: Floats, level: float) -> tuple[Floats, Floats]:
        """Return the ends of the central interval of an observation at each sample; `level` is its probability.

        >>> lower, upper = Variances(np.array([0.75]), noise=0.25).interval(np.array([2.0]), 0.95)
        >>> lower.round(2), upper.round(2)
        (array([0.04]), array([3.96]))
        """
        half = half_width(level, self.tail) * np.sqrt(self.observed)
        return means - half, means + half

    def take(self, rows: Ints) -> "Variances":
        """Return the variances of some samples."""
        return replace(self, latent=self.latent[rows])

    def widened(self, factor: float, tail: float) -> "Variances":
        """Return the variances with all standard deviations multiplied by a factor, and observations with a tail."""
        return Variances(self.latent * factor**2, self.noise * factor**2, self.clipped, tail)

    @property
    def observed(self) -> Floats:
        """The variance of a new observation at each sample, float64 (m,)."""
        return self.latent + self.noise


# Estimates of the leave-one-out error by solvers that have them from one fit.


@dataclass(frozen=True)
class LeaveOneOut:
    """Estimates of the leave-one-out error from one fit.

    `span` is the share of errors by the span rule (None with too many support vectors or an indefinite matrix),
    `xi_alpha` the ξα estimate, and `radius_margin` (R² + 1/C) · (‖w‖² + 2 C Σ ξ_i) / n, with a hard margin R² / (n γ²).
    `decisions` are, by the span rule, those on each sample by an SVM trained without it.

    >>> LeaveOneOut(0.1, 0.3, 2.5, 1.0).value("span")
    0.1
    """

    # The share of errors by the span rule; None if there are too many support vectors, or the matrix is indefinite
    span: float | None
    xi_alpha: float  # The ξα estimate, a share; a bound under the condition of `xi_alpha`
    radius_margin: float  # (R² + 1/C) · (‖w‖² + 2 C Σ ξ_i) / n; with a hard margin R² / (n γ²)
    radius_square: float  # R² of the smallest sphere around the training samples
    # shape (n,): By the span rule, the decision about each sample of an SVM trained without it
    decisions: Floats | None = None
    remark: str | None = None  # Why something is missing

    def value(self, name: str) -> float:
        """Return the estimate called `name`, NaN if it is missing."""
        found = getattr(self, name)
        return float("nan") if found is None else float(found)
