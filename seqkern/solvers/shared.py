"""Parameters shared by several solvers."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import ParameterError
from seqkern.core.parameters import integer, numbers_by_name, real
from seqkern.core.types import Array, Floats, Ints
from seqkern.kernels.feature_blocks import FeatureBlocks
from seqkern.solvers.expansion import order_by_content

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


def tolerance(default: float, doc: str) -> Any:
    """Declare the convergence tolerance of a fit; `doc` names the quantity compared with it, and its units."""
    return real(default=default, low=0, open_low=True, doc=doc)


def limit(default: int, doc: str) -> Any:
    """Declare a maximum number of iterations, or another count of at least 1."""
    return integer(default=default, low=1, doc=doc)


def random_seed(doc: str, *, largest: int = LARGEST_SEED) -> Any:
    """Declare a random seed; the default of `largest` suits NumPy."""
    return integer(default=1, low=0, high=largest, doc=doc)


# Class weights: factors of C for each class.

Weights = Mapping[Any, float] | str | None
"""A factor of C for each class, ``"balanced"``, or None for 1 each."""


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
