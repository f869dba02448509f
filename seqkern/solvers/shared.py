"""What several solvers share: parameters, class weights, decisions as sums over training rows, rows of features."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import ParameterError
from seqkern.core.parameters import integer, numbers_by_name, real
from seqkern.core.types import Array, Floats, Ints, Rows
from seqkern.gram.matrix import GramRows
from seqkern.kernels.features import FeatureBlocks, filled
from seqkern.kernels.kernel_operator import KernelOperator
from seqkern.solvers import _linear
from seqkern.solvers.capabilities import SelectedFeatures
from seqkern.solvers.contract import AnyClassSolver, Solver, stored

LARGEST_SEED = 2**63 - 1
BALANCED = (
    'Factor of C for each class; ``"balanced"`` is n / (c · members) for c classes and n '
    "training rows, so that all classes have the same total."
)


def cost(doc: str, *, infinite: bool = False) -> Any:
    """Declare the parameter C; `infinite` allows infinity."""
    return real(default=1.0, low=0, open_low=True, infinite=infinite, doc=doc)


def class_weights(doc: str = BALANCED) -> Any:
    """Declare the class weights, the factors of C for the classes."""
    return numbers_by_name(
        value=real(low=0, open_low=True),
        default=None,
        words=("balanced",),
        each="class_weight of",
        remedy="give balanced, or a weight for each class",
        doc=doc,
    )


def random_seed(doc: str, *, largest: int = LARGEST_SEED) -> Any:
    """Declare a random seed; the default of `largest` suits NumPy."""
    return integer(default=1, low=0, high=largest, doc=doc)


# Class weights: factors of C for each class.

Weights = Mapping[Any, float] | str | None  # A factor of C for each class, ``"balanced"``, or None for 1 each


def class_factors(weight: Weights, classes: Array, y: Floats) -> Floats:
    """Return the factors of C for the two classes, shape (2,).

    Balanced factors give both classes the same total.

    >>> import numpy as np
    >>> from seqkern.solvers.shared import class_factors
    >>> y = np.array([-1.0, -1.0, -1.0, 1.0])
    >>> class_factors("balanced", np.array(["decoy", "donor"]), y).round(3)
    array([0.667, 2.   ])
    """
    return factors_of_codes(weight, classes, (y > 0).astype(int))


def row_costs(C: float, weight: Weights, classes: Array, y: Floats) -> Floats:
    """Return the cost of each training row: C times the factor of its class."""
    factors = class_factors(weight, classes, y)
    return float(C) * np.where(y > 0, factors[1], factors[0])


def factors_of_codes(weight: Weights, classes: Array, codes: npt.NDArray[np.integer[Any]]) -> Floats:
    """Return the factors of C for all classes, shape (c,)."""
    if weight is None:
        return np.ones(len(classes))
    if not isinstance(weight, Mapping):  # balanced
        return len(codes) / (len(classes) * np.bincount(codes, minlength=len(classes)).astype(np.float64))
    given = {class_of(key, classes): value for key, value in weight.items()}
    named = classes.tolist()
    if not set(named) <= set(given) and not set(given) <= set(named):
        raise ParameterError(
            f"class_weight={given!r} names unknown classes",
            remedy=f"classes are: {', '.join(map(str, named))}; or give balanced",
        )
    return np.array([given.get(name, 1.0) for name in named], dtype=np.float64)


def class_of(key: Any, classes: Array) -> Any:
    """Return the class for a key of `class_weight`, whose numbers arrive as text from configurations.

    >>> import numpy as np
    >>> from seqkern.solvers.shared import class_of
    >>> class_of("1", np.array([-1.0, 1.0]))
    1.0
    """
    for item in classes.tolist():
        if str(item) == str(key):
            return item
        try:
            if float(item) == float(key):
                return item
        except (TypeError, ValueError):
            continue
    return key


# Order of a Gram matrix's samples that depends only on their kernel values, not on the input order.


def gram_order(K: Floats, y: Array, seed: int = 0) -> Ints:
    """Return an order of the samples that depends only on their kernel values, their labels and a seed.

    Passes over the samples in this order, and draws from it, are independent of the input order. The sort key of a
    sample is its sorted kernel values and K(x, x); samples with equal keys and labels, nearly always copies of each
    other, keep their order. Complexity: O(n² log n).
    """
    diagonal = np.diagonal(K)[:, None]
    content = FeatureBlocks(
        (len(K), len(K) + 1), np.float64, lambda rows: np.hstack((np.sort(K[rows], axis=1), diagonal[rows]))
    )
    return order_by_content(content, y, seed)


# Decision functions as sums over training rows: of kernel values, or of the rows' features.


class KernelExpansion(Solver):
    """Base of solvers whose decision is linear in the row of the kernel matrix: `dual_coef_`, `intercept_`."""

    learned = stored(intercept="intercept_", coef="dual_coef_")

    def _keep(self, coefficients: Floats, intercept: float) -> None:
        """Set the fitted attributes, given a coefficient for every training row."""
        self.support_ = np.flatnonzero(coefficients).astype(np.int64)
        self.dual_coef_: Floats = np.ascontiguousarray(coefficients[self.support_])
        self.intercept_ = float(intercept)

    def _decide(self, K: Any, columns: Ints) -> Floats:
        """Return the decisions Σ c_i K(x, x_i) + b; on an operator from the features of the support."""
        if isinstance(K, KernelOperator):
            return operator_sums(self, K, self.dual_coef_) + self.intercept_
        return weighted_sums(K, columns, self.dual_coef_, self.intercept_)

    def linear(self) -> tuple[Floats, float]:
        """Return (coefficients, constant) of the decision: c_i on their columns, and b."""
        return self._on_columns(self.dual_coef_), self.intercept_


class FeatureWeights(AnyClassSolver):
    """Base of classifiers that decide by weighted sums of features: one for two classes, else one for each class."""

    learned = stored(coef="coef_", intercept="intercept_")

    def _weights(self) -> tuple[Floats, Floats]:
        """Return the weights of the features of `support_`, (1, s) for two classes, else (classes, s), and each b."""
        fitted: Any = self
        return fitted.coef_, fitted.intercept_

    def _decide(self, K: Any, columns: Ints) -> Floats:
        """Return the decisions w·x + b of each class, or of the second of two."""
        weights, constants = self._weights()
        out = weighted_features(K, columns, weights.T) + constants
        return out[:, 0] if out.shape[1] == 1 else out

    def linear(self) -> tuple[Floats, float] | None:
        """Return (weights, b) of two classes; None of several."""
        weights, constants = self._weights()
        return (self._on_columns(weights[0]), float(constants[0])) if len(weights) == 1 else None

    def selection(self) -> SelectedFeatures:
        """Return the features of `support_` with their weights, of several classes for each."""
        weights, _ = self._weights()
        return replace(super().selection(), by_class=weights if len(weights) > 1 else None)


def operator_sums(solver: Solver, K: KernelOperator, coefficients: Floats) -> Floats:
    """Return Σ_i coefficients[i]·K(x, x_i) over the support of a solver fitted on products, for each record of `K`."""
    vectors = getattr(solver, "_vectors", None)
    if vectors is None or vectors.tables is not K.tables:
        raise ParameterError(
            "these records have other tables than the training data",
            remedy="take both from the same operator, or give kernel rows",
        )
    return K.dots(vectors.weights(coefficients))


def weighted_sums(K: Floats | GramRows, columns: Ints, weights: Floats, constant: float = 0.0) -> Floats:
    """Return Σ_j K[i, columns[j]] · weights[j] + constant of each row i; its bits depend on that row alone.

    >>> import numpy as np
    >>> from seqkern.solvers.shared import weighted_sums
    >>> weighted_sums(np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), np.array([0, 2]), np.array([1.0, -1.0]), 0.5)
    array([-1.5, -1.5])
    """
    if isinstance(K, GramRows):
        return K.sums(columns, weights) + constant
    out = np.empty(len(K))
    _linear.decide(K, columns, np.zeros(len(columns)), weights, constant, out)
    return out


# Rows of features for solvers that take blocks: column subsets, products, and an order by content.

ROWS = 1024  # Rows processed at a time; a fixed shape of the product gives a row the same bits at any position


Features = npt.NDArray[np.floating[Any]] | FeatureBlocks


def take_rows(K: Any, rows: Rows) -> Any:
    """Return some rows of a solver's input.

    >>> from seqkern.kernels import SpectrumKernel
    >>> from seqkern.solvers.shared import take_rows
    >>> blocks = SpectrumKernel(k=1, normalize=False).features.blocks(["AAC", "GGG", "ACG"])
    >>> take_rows(blocks, [1, 2]).shape
    (2, 4)
    """
    if isinstance(K, KernelOperator):
        return K.take(np.asarray(rows))
    return K.take(rows) if isinstance(K, FeatureBlocks) else K[rows]


def as_blocks(K: Features) -> FeatureBlocks:
    """Return features, shape (n, d), as FeatureBlocks."""
    return K if isinstance(K, FeatureBlocks) else FeatureBlocks.of(K)


def blocks_of_columns(K: Features, columns: Ints) -> Iterator[tuple[slice, npt.NDArray[np.floating[Any]]]]:
    """Yield (slice of rows, some features of these rows) in blocks of ROWS rows."""
    every = np.array_equal(columns, np.arange(K.shape[1]))
    for part, block in as_blocks(K).blocks(ROWS):
        yield part, block if every else np.ascontiguousarray(block[:, columns])


def fixed_product(block: npt.NDArray[np.floating[Any]], weights: Floats) -> Floats:
    """Return block @ weights; the bits of a row depend on that row alone."""
    return (filled(block, ROWS) @ weights)[: len(block)]


def weighted_features(K: Floats | FeatureBlocks, columns: Ints, weights: Floats) -> Floats:
    """Return the product of some feature columns with weights, shape (n, k)."""
    if isinstance(K, FeatureBlocks):
        spread = np.zeros((K.shape[1], weights.shape[1]))
        spread[columns] = weights
        return K.times(spread)
    return np.column_stack([weighted_sums(K, columns, np.ascontiguousarray(one)) for one in weights.T])


def gathered(K: Features, rows: Ints) -> npt.NDArray[np.floating[Any]]:
    """Return some rows, in the given order, as one matrix in the precision of the features."""
    taken = as_blocks(K).take(rows)
    return np.array(taken.block(0, len(rows)))


def order_by_content(K: Features, y: npt.ArrayLike, seed: int) -> Ints:
    """Return an order of the rows that depends only on their content, their labels and a seed.

    Draws and sequential passes are then independent of the input order: the first m rows are a random subset, nested
    for smaller m. The rows are sorted by one weighted sum of each, then permuted by `seed`. Unlike a hash of the
    values, this order does not change if another processor rounds them differently.
    """
    blocks = as_blocks(K)
    weights, sums = np.random.default_rng(0).random(blocks.shape[1]), np.empty(len(blocks))
    for part, block in blocks.blocks(ROWS):
        np.sum(block * weights, axis=1, out=sums[part])  # no product of BLAS: copies of a row have the same bits
    return np.lexsort((np.asarray(y), sums))[np.random.default_rng(seed).permutation(len(blocks))]
