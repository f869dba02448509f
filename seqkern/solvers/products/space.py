"""The space of functions for which products with the kernel matrix are known.

A function of the space is f = K·β with β = Σ_j c_j·d_j. The directions d_j, and their products K·d_j, are kept, and are
orthonormal in the kernel's metric, d_iᵀ·K·d_j = δ_ij; so ‖f‖² = ‖c‖², and a whole problem can be solved within the
space without another product. What is learned about K for one class, or one C, serves the others.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.kernels.kernel_operator import KernelOperator

Floats = npt.NDArray[np.float64]

MEMORY = 2**30
"""Bytes that directions and products may take."""

FEWEST, MOST = 48, 512
"""Least and greatest number of directions kept, whatever the memory."""

ROUNDING = 1e-12
"""A direction whose square is below this share of Σ direction_i²·K_ii is nothing but rounding errors."""

NEGATIVE = 1e-6
"""A square below zero by more than this share of Σ direction_i²·K_ii is no rounding error, even of float32 tables."""


class ProductSpace:
    """Directions and their products.

    Parameters
    ----------
    operator : KernelOperator, n records
        The kernel.

    Attributes
    ----------
    products : int
        Number of products so far.
    size : int
        Number of directions.
    indefinite : bool
        Whether K was found not to be positive semi-definite.

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern.kernels import SpectrumKernel
    >>> from seqkern.solvers.products.space import ProductSpace
    >>> space = ProductSpace(SpectrumKernel(k=2, normalize=False).operator(["GATTACA", "ATTA", "TTAC"]))
    >>> space.add(np.array([1.0, 0.0, -1.0]))[0]
    3.0
    >>> space.images.round(3)  # of the direction (1, 0, -1) / √3
    array([[1.732, 0.577, 0.   ]])
    """

    def __init__(self, operator: KernelOperator) -> None:
        self.operator = operator
        self.products = 0
        self.size = 0
        self.indefinite = False
        n = len(operator)
        self.most = int(np.clip(MEMORY // (16 * n), FEWEST, MOST))
        self._directions = np.empty((0, n))
        self._images = np.empty((0, n))

    @property
    def directions(self) -> Floats:
        """The d_j, float64 (size, n)."""
        return self._directions[: self.size]

    @property
    def images(self) -> Floats:
        """K·d_j, float64 (size, n)."""
        return self._images[: self.size]

    def add(self, direction: Floats) -> tuple[float, Floats]:
        """Multiply K by a direction, and add it to the space unless it lies there.

        Parameters
        ----------
        direction : ndarray of float64, shape (n,)
            Records with zero cost less time.

        Returns
        -------
        square : float
            directionᵀ·K·direction.
        coordinates : ndarray of float64, shape (size,)
            Of the direction in the space, as it is now.
        """
        image = self.operator.times(direction)
        self.products += 1
        square = float(direction @ image)
        terms = float(self.operator.squares @ direction**2)
        self.indefinite |= square < -NEGATIVE * terms
        parts = self.images @ direction
        if square > ROUNDING * terms:
            rest, image = direction - parts @ self.directions, image - parts @ self.images
            more = self.images @ rest  # once is not enough after cancellation
            rest, image, parts = rest - more @ self.directions, image - more @ self.images, parts + more
            left = float(rest @ image)
            if left > ROUNDING * terms:
                self._append(rest / np.sqrt(left), image / np.sqrt(left))
                parts = np.append(parts, np.sqrt(left))
        return square, parts

    def _append(self, direction: Floats, image: Floats) -> None:
        """Add a row to both arrays, which grow by half."""
        if self.size == len(self._directions):
            room = min(self.most, self.size + max(8, self.size // 2))
            for name in ("_directions", "_images"):
                grown = np.empty((room, len(direction)))
                grown[: self.size] = getattr(self, name)
                setattr(self, name, grown)
        self._directions[self.size], self._images[self.size] = direction, image
        self.size += 1

    def knows(self, operator: KernelOperator) -> bool:
        """Return whether an operator is that of this space; another object takes one product to tell.

        Parameters
        ----------
        operator : KernelOperator
            Any.

        Returns
        -------
        bool
        """
        if operator is self.operator:
            return True
        if self.size == 0 or len(operator) != len(self.operator) or operator.tables is not self.operator.tables:
            return False
        self.products += 1
        newest = self.images[-1]
        return bool(np.abs(operator.times(self.directions[-1]) - newest).max() <= NEGATIVE * np.abs(newest).max())

    @property
    def full(self) -> bool:
        """Whether no further direction has room."""
        return self.size >= self.most

    def shrink(self, kept: Floats) -> Floats:
        """Keep some functions and the newest third of the directions, and forget the others.

        Parameters
        ----------
        kept : ndarray of float64, shape (k, size)
            Coefficients of the functions, one in each row.

        Returns
        -------
        ndarray of float64, shape (k, new size)
            Their coefficients from now on.
        """
        newest = np.eye(self.size)[self.size - self.most // 3 :]
        # the rows of the basis are orthonormal, and so are the directions that they make of the old ones
        basis: Any = np.linalg.qr(np.concatenate([kept, newest]).T)[0].T
        for array in (self._directions, self._images):
            for start in range(0, array.shape[1], 4096):
                part = array[: self.size, start : start + 4096]
                array[: len(basis), start : start + 4096] = basis @ part
        self.size = len(basis)
        return kept @ basis.T
