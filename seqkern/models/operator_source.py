"""Products with the kernel matrix instead of the matrix."""

from __future__ import annotations

from seqkern.kernels.kernel import Kernel
from seqkern.kernels.kernel_operator import KernelOperator
from seqkern.models.sources import ImplicitSource, Units
from seqkern.solvers.products.on_products import EXPECTED_PRODUCTS


class OperatorSource(ImplicitSource):
    """Products with the kernel matrix, for solvers that accept them.

    Takes what `ImplicitSource` takes; ParameterError says that a kernel has no products.

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern.kernels import SpectrumKernel
    >>> from seqkern.sequences.sequence_set import as_sequences
    >>> source = OperatorSource(SpectrumKernel(1, normalize=False), as_sequences(["AC", "AA", "CC"], "dna"))
    >>> train, test = source.pair(np.array([0, 1]), np.array([2]))
    >>> train.times([1.0, 1.0]), test.dots(train.weights([1.0, 1.0]))
    (array([4., 6.]), array([2.]))
    """

    gives = "operator"

    @property
    def predicted_seconds(self) -> float:
        """Predicted CPU seconds of the products of a fit on all samples."""
        return EXPECTED_PRODUCTS * self.kernel.operator_cost(self.X)

    def _check(self, kernel: Kernel) -> None:
        kernel.check_operator()

    def _bytes(self, kernel: Kernel, X: Units) -> int:
        return kernel.operator_bytes(X)

    def _make(self, kernel: Kernel, X: Units) -> KernelOperator:
        return kernel.operator(X)
