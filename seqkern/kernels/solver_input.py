"""The rule that chooses the input of solvers from a kernel: a Gram matrix, features, or products with the matrix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from seqkern.core.errors import SeqkernError
from seqkern.kernels.decisions import is_deferred, sample

if TYPE_CHECKING:
    from seqkern.kernels.kernel import Kernel

LARGEST_GRAM = 4 << 30
"""Bytes of a Gram matrix above which products replace it: fixed, so that the choice is the same on every machine."""
SMALL_FEATURES = 1 << 28
"""Bytes of feature vectors up to which products are not considered."""


def solver_input(
    kernel: Kernel,
    wanted: str,
    accepts_operator: bool,
    X: Any,
    transforms: Sequence[Any] = (),
) -> str:
    """Return the kind of input that solvers get from a kernel; the same for the same samples on every computer.

    Solvers that accept products with the matrix get them

    - instead of a Gram matrix of more than `LARGEST_GRAM`,
    - instead of features if the kernel has none, or if they take more memory than the products and more than
      `SMALL_FEATURES`.
    """
    if not accepts_operator or transforms or not has_operator(kernel):
        return wanted
    if wanted == "gram":
        return "operator" if 8 * len(X) ** 2 > LARGEST_GRAM else "gram"
    if not gives(kernel, wanted):
        return "operator"
    some, ratio = sample(X) if is_deferred(X) else (X, 1.0)
    features = ratio * (kernel.feature_bytes(some) if wanted == "features" else kernel.implicit_bytes(some))
    return "operator" if features > max(SMALL_FEATURES, ratio * kernel.operator_bytes(some)) else wanted


def has_operator(kernel: Kernel) -> bool:
    """Return whether a kernel provides products with its matrix; data-dependent kernels do not."""
    if kernel.data_dependent:
        return False
    try:
        kernel.check_operator()
    except SeqkernError:
        return False
    return True


def gives(kernel: Kernel, wanted: str, accepts_operator: bool = False) -> bool:
    """Return whether a kernel provides the input of solvers."""
    if wanted == "gram" or (accepts_operator and has_operator(kernel)):
        return True
    try:
        if wanted == "features":
            kernel.check_features()
        else:
            kernel.check_implicit()
    except SeqkernError:
        return False
    return True
