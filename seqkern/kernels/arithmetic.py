"""Kernel arithmetic in Python: ``A + B``, ``0.5 * A``, ``A * B``, ``A ** 2``."""

import math
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, cast

from seqkern.core.errors import ParameterError
from seqkern.kernels.kernel_table import KERNELS

if TYPE_CHECKING:
    from seqkern.kernels.kernel import Kernel

# The results are the kernels `sum`, `product` and `polynomial`, as in the text form: ``0.5 * A + B`` is ``0.5*a + b``.
# Nested sums and products are flattened, and numbers move to the front: ``2 * (A + B) * 3`` is ``6*a + 6*b``. A sum or
# product with its own parameter, such as ``normalize=True``, stays one part.


class Operators:
    """Mixin of `Kernel`: sums, products and powers.

    Factors are numbers ≥ 0 and exponents integers ≥ 1, which preserve positive semi-definiteness; others raise
    ParameterError. Other types raise TypeError.
    """

    __array_ufunc__ = None  # a NumPy array or scalar on the left leaves the operation to the kernel

    def __add__(self, other: "Kernel") -> "Kernel":
        return weighted_sum([*_terms(self), *_terms(other)]) if isinstance(other, Operators) else NotImplemented

    def __radd__(self, other: int) -> "Kernel":
        # The built-in sum() starts with 0.
        return cast("Kernel", self) if _is_number(other) and other == 0 else NotImplemented

    def __mul__(self, other: "Kernel | float") -> "Kernel":
        if _is_number(other):
            return self.__rmul__(cast("float", other))
        if not isinstance(other, Operators):
            return NotImplemented
        (one, factor), (two, second) = _scaled(self), _scaled(other)
        return weighted_sum([(one * two, KERNELS.build("product", parts=[*_factors(factor), *_factors(second)]))])

    def __rmul__(self, other: float) -> "Kernel":
        if not _is_number(other):
            return NotImplemented
        number = _plain_number(other)
        if not 0 <= number < math.inf:
            raise ParameterError(
                f"{number!r} times a kernel is not possible",
                remedy="give a finite number ≥ 0, so that the result is a kernel",
            )
        return weighted_sum([(number * weight, part) for weight, part in _terms(self)])

    def __pow__(self, exponent: int) -> "Kernel":
        if not _is_number(exponent):
            return NotImplemented
        if not isinstance(exponent, Integral) or exponent < 1:
            raise ParameterError(f"a kernel to the power of {exponent!r} is not possible", remedy="give an integer ≥ 1")
        # K(x, y)ⁿ, multiplied from left to right, from one block of K.
        return self if exponent == 1 else KERNELS.build("polynomial", degree=int(exponent), coef0=0, base=self)


def weighted_sum(terms: list[tuple[float, Any]]) -> "Kernel":
    """Return the weighted sum of kernels; a single kernel with weight 1 is returned unchanged.

    >>> from seqkern.kernels import SpectrumKernel
    >>> weighted_sum([(2, SpectrumKernel(k=2))])
    SumKernel(parts=[SpectrumKernel(k=2)], weights=[2])
    """
    weights, parts = [weight for weight, _ in terms], [part for _, part in terms]
    if set(weights) != {1}:
        return KERNELS.build("sum", parts=parts, weights=weights)
    return parts[0] if len(parts) == 1 else KERNELS.build("sum", parts=parts)


def _is_number(other: object) -> bool:
    return isinstance(other, Real) and not isinstance(other, bool)


def _plain_number(number: Any) -> float:
    """Return a NumPy number as a Python number, for specs."""
    return int(number) if isinstance(number, Integral) else float(number)


def _is_bare(kernel: Any, name: str) -> bool:
    """Return whether a kernel has exactly the class of `name`, and default parameters except for parts and weights."""
    cls = KERNELS.get(name)
    if type(kernel) is not cls:
        return False
    given, default = kernel.get_params(deep=False), cls(parts=[]).get_params(deep=False)
    return all(given[key] == default[key] for key in given.keys() - {"parts", "weights"})


def _terms(kernel: Any) -> list[tuple[float, Any]]:
    """Return the weights and kernels of a sum."""
    if not _is_bare(kernel, "sum"):
        return [(1, kernel)]
    kernel.check_parameters()  # as many weights as parts
    return list(zip([1] * len(kernel.parts) if kernel.weights is None else kernel.weights, kernel.parts, strict=True))


def _scaled(kernel: Any) -> tuple[float, Any]:
    """Return the weight and kernel of a one-part sum, else 1 and the kernel."""
    terms = _terms(kernel)
    return terms[0] if len(terms) == 1 else (1, kernel)


def _factors(kernel: Any) -> list:
    """Return the factors of a product."""
    return list(kernel.parts) if _is_bare(kernel, "product") else [kernel]
