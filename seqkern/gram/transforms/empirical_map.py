"""The empirical kernel map: a sample is the vector of its kernel values against the training samples."""

from typing import TYPE_CHECKING, Literal, Self

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import GramError, ParameterError, SequenceError
from seqkern.core.parameters import choice, flag
from seqkern.core.types import Arrays, Header
from seqkern.gram.transforms.gram_transform import GramTransform
from seqkern.gram.transforms.products import multiply
from seqkern.kernels.additive import over_root
from seqkern.kernels.alignment.pairwise import kernel_of_vectors
from seqkern.kernels.blocks import fill
from seqkern.kernels.vectors.rbf import VECTOR_GAMMA, VECTOR_KERNEL
from seqkern.sequences.tables import FeatureTable

if TYPE_CHECKING:
    from seqkern.kernels.kernel import Kernel
    from seqkern.kernels.prepared import Prepared


class EmpiricalMapGram(GramTransform):
    """Kernel between vectors of kernel values: K'(x, y) = k(x) · k(y), k(x) = (K(x, z_1), …, K(x, z_l)).

    z_1 … z_l are the training samples. The result is positive semi-definite for any K (Schölkopf, Mika, Burges,
    Knirsch, Müller, Rätsch, Smola, IEEE Transactions on Neural Networks 10, 1999; for alignment scores Liao & Noble,
    J Comput Biol 10, 2003: the kernel ``pairwise`` is this transform of its base kernel's matrix).

    Examples
    --------
    Alignment scores may have negative eigenvalues; products of their rows have none:

    >>> import numpy as np
    >>> from seqkern.gram.transforms import EmpiricalMapGram
    >>> scores = np.array([[1.0, 0.8, 0.1], [0.8, 1.0, 0.8], [0.1, 0.8, 1.0]])
    >>> mapped = EmpiricalMapGram(normalize=False).fit(scores)
    >>> mapped.transform_train()[0]
    array([[1.65, 1.68, 0.84],
           [1.68, 2.28, 1.68],
           [0.84, 1.68, 1.65]])
    >>> mapped.transform([[0.0, 0.5, 1.0]])
    (array([[0.5, 1.3, 1.4]]), array([1.25]))
    """

    name = "empirical_map"
    cubes = 1.0
    learned = squares = ("square_",)
    semidefinite = True

    vector_kernel: Literal["linear", "rbf"] = VECTOR_KERNEL
    gamma: float | str = VECTOR_GAMMA
    normalize: bool = flag(
        default=True, doc="Whether to scale the vectors to unit length, also before the radial basis function."
    )
    zero_diagonal: Literal["error", "zero"] = choice(
        default="error", doc="Treatment, when normalising, of a sample unlike all training samples."
    )

    @property
    def divides(self) -> bool:  # type: ignore[override]  # here it follows from the parameters
        """Whether rows are divided by the lengths of their vectors."""
        return self.vector_kernel == "linear" and bool(self.normalize)

    def _between(self) -> "Kernel":
        """Return the kernel between vectors, unfitted."""
        return kernel_of_vectors(self.vector_kernel, self.gamma, self.normalize, self.zero_diagonal)

    def needs_all(self) -> bool:
        """Return True: a vector has one entry for each training sample."""
        return True

    def _fit(self, K: npt.NDArray[np.float64], diagonal: npt.NDArray[np.float64]) -> None:
        self.square_ = K
        self._columns: Prepared | None = None
        self.between_ = self._between().fit(FeatureTable(K))

    def _prepared(self, K: npt.NDArray[np.float64], like: "Prepared | None" = None) -> "Prepared":
        """Return the vectors, prepared by the kernel between them; GramError for a row that it rejects."""
        try:
            return self.between_.prepare(FeatureTable(K), like=like)
        except SequenceError as error:
            record = None if error.record is None else int(error.record)
            raise GramError(error.problem, record=record, remedy=error.remedy) from error

    def _references(self) -> "Prepared":
        """Return the vectors of the training samples, prepared once."""
        if self._columns is None:
            self._columns = self._prepared(self.square_)
        return self._columns

    def _apply(
        self, K: npt.NDArray[np.float64], diagonal: npt.NDArray[np.float64] | None
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        columns = self._references()
        return self._filled(self._prepared(K, like=columns), columns)

    def _apply_train(
        self, K: npt.NDArray[np.float64], diagonal: npt.NDArray[np.float64]
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        return self._filled(self._references(), self._references())

    def _filled(self, rows: "Prepared", columns: "Prepared") -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Return the kernel between vectors, and its diagonal, which depends on nothing else."""
        out = np.empty((len(rows), len(columns)))
        fill(self.between_, rows, columns, out)
        return out, rows.diagonal

    def pull_back(self, coefficients: npt.NDArray[np.float64]) -> tuple[npt.NDArray[np.float64], float]:
        """Return (c', 0), c' = Σ_j c_j k(z_j): a sum of products with vectors is the product with their sum.

        Parameters
        ----------
        coefficients : ndarray of float64, shape (l,)
            c_j.

        Returns
        -------
        c' : ndarray of float64, shape (l,)
        constant : float

        Raises
        ------
        ParameterError
            Unless `vector_kernel` is linear.
        """
        if self.vector_kernel != "linear":
            raise ParameterError(
                f"after the transform {self.name!r} with vector_kernel={self.vector_kernel} the decision is not a "
                "weighted sum of kernel values",
                remedy="choose vector_kernel=linear",
            )
        if self.normalize:
            coefficients = over_root(coefficients, self._references().raw_diagonal)
        return multiply(np.ascontiguousarray(coefficients)[None], self.square_)[0], 0.0

    def restrict(self, rows: npt.ArrayLike) -> Self:
        """Return the same transform for matrices with all columns in another order.

        Parameters
        ----------
        rows : array_like of int64, shape (l,)
            The training samples in the order of the columns.

        Returns
        -------
        EmpiricalMapGram
            A copy.

        Raises
        ------
        GramError
            If a training sample is missing.
        """
        result = super().restrict(rows)
        result._columns = None
        return result

    def fitted_state(self) -> tuple[Header, Arrays]:
        """Return (JSON dict, dict of arrays): the training square, and the state of the kernel between vectors."""
        return {"between": self.between_.fitted_state()[0]}, {"square_": self.square_}

    def restore_fitted(self, header: Header, arrays: Arrays) -> None:
        """Restore the result of `fitted_state`.

        Parameters
        ----------
        header : dict
            Its JSON part.
        arrays : dict of str to ndarray
            Its arrays.

        Raises
        ------
        GramError
            If the square does not match.
        """
        self.square_, self._columns = arrays["square_"], None
        if self.square_.shape != (self.n_columns_, self.n_columns_):
            raise GramError(f"the square of {self.n_columns_} training samples has the shape {self.square_.shape}")
        self.between_ = self._between()
        self.between_.restore_fitted(header["between"], {})
