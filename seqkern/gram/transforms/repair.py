"""Repairing the spectrum of an indefinite Gram matrix."""

from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from seqkern.core.errors import GramError
from seqkern.core.parameters import choice
from seqkern.gram.transforms.gram_transform import GramTransform
from seqkern.gram.transforms.products import multiply, square_of_rows

LARGEST = 1e300
"""Sums of squares of larger values, which LAPACK scales, and row sums may overflow."""


class RepairGram(GramTransform):
    """Positive semi-definite from indefinite: treatment of negative eigenvalues of the training square.

    With K = UΛUᵀ, ``"clip"`` sets negative eigenvalues to zero, ``"flip"`` to their absolute values;
    ``"shift"`` adds the largest of those to all. New rows are transformed by the same linear map of similarities to
    the training samples, k' = Pk with P = U diag(λ ≥ 0) Uᵀ or U diag(sign λ) Uᵀ; under ``"shift"`` they stay
    unchanged (Chen, Garcia, Gupta, Rahimi, Cazzanti, JMLR 10, 2009). A positive semi-definite matrix is
    not changed.

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern.gram.transforms import RepairGram
    >>> K = np.array([[0.0, 2.0], [2.0, 0.0]])  # its eigenvalues are 2 and −2
    >>> for method in "clip", "flip", "shift":
    ...     print(RepairGram(method=method).fit(K).transform_train()[0].round(2).tolist())
    [[1.0, 1.0], [1.0, 1.0]]
    [[2.0, 0.0], [0.0, 2.0]]
    [[2.0, 2.0], [2.0, 2.0]]
    """

    name = "repair"
    cubes = 6.0
    learned = ("vectors_", "values_")
    semidefinite = True

    method: Literal["clip", "flip", "shift"] = choice(default="clip", doc="Treatment of the negative eigenvalues.")

    def needs_all(self) -> bool:
        """Return whether rows change: under clip and flip, if an eigenvalue is negative."""
        return self.method != "shift" and len(self.values_) > 0

    def _fit(self, K: npt.NDArray[np.float64], diagonal: npt.NDArray[np.float64]) -> None:
        from scipy.linalg import eigh  # 0.2 s to import

        if np.abs(K).max(initial=0.0) > LARGEST / max(len(K), 1):
            raise GramError(
                f"transform {self.name!r} cannot be fitted: sums of kernel values overflow",
                remedy="choose normalize=true for the kernel",
            )
        # No eigenvalue exceeds the largest row sum, and rounding makes at most this of a zero eigenvalue.
        rounding = len(K) * np.finfo(np.float64).eps * np.abs(K).sum(axis=1).max(initial=0.0)
        wanted: dict[str, Any] = {"subset_by_value": (-np.inf, -rounding), "check_finite": False}
        vectors = np.empty((len(K), 0))
        with threadpool_limits(limits=1):  # the bits must not depend on the number of threads
            if rounding == 0:
                values = np.empty(0)
            elif self.method == "shift":
                values = eigh(K, eigvals_only=True, **wanted)
            else:
                values, vectors = eigh(K, **wanted)
        self.values_: list[float] = values.tolist()
        self.vectors_: npt.NDArray[np.float64] = np.ascontiguousarray(vectors)

    def _times(self) -> float:
        """Return how often the negative part is subtracted: once gives zero, twice the opposite sign."""
        return 1.0 if self.method == "clip" else 2.0

    def _shift(self) -> float:
        """Return the value added to the diagonal."""
        return max((-value for value in self.values_), default=0.0)

    def _apply(
        self, K: npt.NDArray[np.float64], diagonal: npt.NDArray[np.float64] | None
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64] | None]:
        if self.method == "shift":
            return K, None if diagonal is None else diagonal + self._shift()
        if not self.values_:
            return K, diagonal
        along = multiply(K, self.vectors_)
        result = multiply(along, np.ascontiguousarray(self.vectors_.T))
        result *= -self._times()
        result += K
        if diagonal is not None:
            # The component of x along a direction of negative square λ has the square −(k·u)² / |λ|.
            diagonal = diagonal + self._times() * (along**2 / np.abs(self.values_)).sum(axis=1)
        return result, diagonal

    def pull_back(self, coefficients: npt.NDArray[np.float64]) -> tuple[npt.NDArray[np.float64], float]:
        """Return (c', 0): under clip and flip by the same linear map as for rows.

        Parameters
        ----------
        coefficients : ndarray of float64, shape (l,)
            c_j.

        Returns
        -------
        c' : ndarray of float64, shape (l,)
        constant : float
        """
        if self.method == "shift" or not self.values_:
            return coefficients, 0.0
        return coefficients - self._times() * (self.vectors_ @ (coefficients @ self.vectors_)), 0.0

    def divide_rows(self, diagonal: npt.NDArray[np.float64]) -> tuple[None, npt.NDArray[np.float64]]:
        """Return (None, the diagonal, shifted under shift).

        Parameters
        ----------
        diagonal : ndarray of float64, shape (n,)
            K(x, x).

        Returns
        -------
        divisors : None
        diagonal : ndarray of float64, shape (n,)
        """
        return None, diagonal + self._shift() if self.method == "shift" else diagonal

    def _apply_train(
        self, K: npt.NDArray[np.float64], diagonal: npt.NDArray[np.float64]
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        if self.method == "shift":
            result = K.copy()
            result[np.diag_indices_from(result)] += self._shift()
        elif self.values_:
            result = square_of_rows(self.vectors_ * np.sqrt(self._times() * np.abs(self.values_)))
            result += K
        else:
            result = K.copy()
        return result, np.diagonal(result).copy()
