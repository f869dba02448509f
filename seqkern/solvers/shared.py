"""Parameters that several solvers declare."""

from typing import Any

from seqkern.core.parameters import integer, numbers_by_name, real

LARGEST_SEED = 2**63 - 1
BALANCED = (
    'Factor of C for each class: ``"balanced"`` gives classes the same total, n / (c · members) with c classes and n '
    "training rows."
)


def cost(doc: str, *, infinite: bool = False) -> Any:
    """Declare C."""
    return real(default=1.0, low=0, open_low=True, infinite=infinite, doc=doc)


def class_weights(doc: str = BALANCED) -> Any:
    """Declare factors of C for the classes."""
    return numbers_by_name(
        value=real(low=0, open_low=True),
        default=None,
        words=("balanced",),
        each="class_weight of",
        remedy="give balanced, or a weight for each class",
        doc=doc,
    )


def tolerance(default: float, doc: str) -> Any:
    """Declare when a fit has converged."""
    return real(default=default, low=0, open_low=True, doc=doc)


def limit(default: int, doc: str) -> Any:
    """Declare the most iterations, or what else is counted from 1."""
    return integer(default=default, low=1, doc=doc)


def random_seed(doc: str, *, largest: int = LARGEST_SEED) -> Any:
    """Declare where random numbers begin."""
    return integer(default=1, low=0, high=largest, doc=doc)
