"""The transforms of a Gram matrix: centring, normalising, repair, projection, empirical map, graph kernels."""

from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from seqkern.core.errors import GramError, ParameterError, SequenceError
from seqkern.core.matrices import are_few, largest_eigenpairs
from seqkern.core.parameters import choice, flag, integer, real
from seqkern.core.types import Arrays, Floats, Header
from seqkern.gram.transforms.gram_transform import GramTransform, multiply, square_of_rows
from seqkern.kernels import _blocks
from seqkern.kernels.alignment.pairwise import kernel_of_vectors
from seqkern.kernels.blocks import fill
from seqkern.kernels.decisions import over_root
from seqkern.kernels.vectors.vector_kernels import VECTOR_GAMMA, VECTOR_KERNEL
from seqkern.sequences.tables import FeatureTable

if TYPE_CHECKING:
    from seqkern.kernels.kernel import Kernel
    from seqkern.kernels.prepared import Prepared


# Centring of a Gram matrix: the mean of the training samples becomes the origin.


class CentreGram(GramTransform):
    """Centring in feature space: the mean of the training samples becomes the origin.

    K'(x, y) = K(x, y) − mean_i K(x, z_i) − mean_i K(z_i, y) + mean_ij K(z_i, z_j), z the training samples
    (Schölkopf, Smola, Müller, Neural Computation 10, 1998).

    Examples
    --------
    >>> from seqkern.gram.transforms import CentreGram
    >>> centre = CentreGram().fit([[2.0, 1.0], [1.0, 2.0]])
    >>> centre.transform_train()
    (array([[ 0.5, -0.5],
           [-0.5,  0.5]]), array([0.5, 0.5]))
    >>> centre.transform([[1.0, 3.0]], diagonal=[4.0])
    (array([[-1.,  1.]]), array([1.5]))
    """

    name = "centre"
    learned = ("means_", "mean_")

    def needs_all(self) -> bool:
        """Return True, as the mean of a row is over all training samples."""
        return True

    def _fit(self, K: Floats, diagonal: Floats) -> None:
        self.means_ = K.mean(axis=1)
        self.mean_ = float(self.means_.mean())

    def _apply(self, K: Floats, diagonal: Floats | None) -> tuple[Floats, Floats | None]:
        means = K.mean(axis=1)
        result = K - (means[:, None] + self.means_)
        result += self.mean_
        return result, None if diagonal is None else diagonal - 2 * means + self.mean_

    def pull_back(self, coefficients: Floats) -> tuple[Floats, float]:
        """Return (c', constant): the mean of a row is subtracted from each coefficient."""
        total = float(np.sum(coefficients))
        constant = total * self.mean_ - float(np.sum(coefficients * self.means_))
        return coefficients - total / self.n_columns_, constant


# Normalisation of a Gram matrix: every sample gets length 1.


class NormaliseGram(GramTransform):
    """Unit length in feature space: K'(x, y) = K(x, y) / sqrt(K(x, x) K(y, y)).

    Examples
    --------
    >>> from seqkern.gram.transforms import NormaliseGram
    >>> normalise = NormaliseGram().fit([[4.0, 2.0], [2.0, 9.0]])
    >>> normalise.transform_train()[0].round(2)
    array([[1.  , 0.33],
           [0.33, 1.  ]])
    >>> normalise.transform([[2.0, 3.0]], diagonal=[1.0])
    (array([[1., 1.]]), array([1.]))
    """

    name = "normalise"
    learned = ("diagonal_",)
    divides = True

    zero_diagonal: Literal["error", "zero"] = choice(
        default="error", doc="Treatment of K(x, x) ≤ 0: raise an error, or set the row to zero."
    )

    def needs_all(self) -> bool:
        """Return False, as each value needs only its own row and column."""
        return False

    def _fit(self, K: Floats, diagonal: Floats) -> None:
        self.diagonal_ = self._positive(diagonal)

    def _positive(self, diagonal: Floats) -> Floats:
        """Return the diagonal with non-positive values set to zero; raise GramError under the policy ``"error"``."""
        bad = np.flatnonzero(~(diagonal > 0))
        if len(bad) and self.zero_diagonal == "error":
            raise GramError(
                f"K(x, x) = {diagonal[bad[0]]:g} cannot be normalised",
                record=int(bad[0]) + 1,
                remedy="remove the sample, or choose zero_diagonal=zero",
            )
        return np.where(diagonal > 0, diagonal, 0.0)

    def _apply(self, K: Floats, diagonal: Floats | None) -> tuple[Floats, Floats]:
        if diagonal is None:
            raise GramError("normalising needs K(x, x) of the new samples", remedy="give the diagonal")
        diagonal = self._positive(diagonal)
        result = K.copy()
        _blocks.normalise(result, diagonal, self.diagonal_)
        return result, np.where(diagonal > 0, 1.0, 0.0)

    def pull_back(self, coefficients: Floats) -> tuple[Floats, float]:
        """Return (c', 0): each coefficient is divided by the square root of its column's diagonal."""
        return over_root(coefficients, self.diagonal_), 0.0

    def divide_rows(self, diagonal: Floats) -> tuple[Floats, Floats]:
        """Return (√K(x, x), the new diagonal)."""
        diagonal = self._positive(diagonal)
        return np.sqrt(diagonal), np.where(diagonal > 0, 1.0, 0.0)


# Repair of the spectrum of an indefinite Gram matrix.

LARGEST = 1e300
"""Absolute value above which row sums, and sums of squares (which LAPACK scales), may overflow."""


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

    def _fit(self, K: Floats, diagonal: Floats) -> None:
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
        self.vectors_: Floats = np.ascontiguousarray(vectors)

    def _times(self) -> float:
        """Return the factor of the subtracted negative part: 1 clips it to zero, 2 flips its sign."""
        return 1.0 if self.method == "clip" else 2.0

    def _shift(self) -> float:
        """Return the amount added to the diagonal, which shifts all eigenvalues."""
        return max((-value for value in self.values_), default=0.0)

    def _apply(self, K: Floats, diagonal: Floats | None) -> tuple[Floats, Floats | None]:
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

    def pull_back(self, coefficients: Floats) -> tuple[Floats, float]:
        """Return (c', 0): under clip and flip by the same linear map as for rows."""
        if self.method == "shift" or not self.values_:
            return coefficients, 0.0
        return coefficients - self._times() * (self.vectors_ @ (coefficients @ self.vectors_)), 0.0

    def divide_rows(self, diagonal: Floats) -> tuple[None, Floats]:
        """Return (None, the diagonal, shifted under shift)."""
        return None, diagonal + self._shift() if self.method == "shift" else diagonal

    def _apply_train(self, K: Floats, diagonal: Floats) -> tuple[Floats, Floats]:
        if self.method == "shift":
            result = K.copy()
            result[np.diag_indices_from(result)] += self._shift()
        elif self.values_:
            result = square_of_rows(self.vectors_ * np.sqrt(self._times() * np.abs(self.values_)))
            result += K
        else:
            result = K.copy()
        return result, np.diagonal(result).copy()


# Projection onto the leading principal components in feature space.

FLAT = 1e-12
"""Components with at most this share of the largest eigenvalue are rounding errors."""


class KernelPCAGram(GramTransform):
    r"""Projection on the leading principal components in feature space: dot products of the projections.

    With the centred matrix K̄ of the training samples and its eigenvectors K̄ u_c = λ_c u_c,

    .. math:: K'(x, y) = \sum_c p_c(x) p_c(y), p_c(x) = \sum_i (u_{ci} / \sqrt{λ_c}) (K(x, z_i) − mean_j K(z_j, z_i))

    New samples are projected by the stored eigenvectors. Negative eigenvalues have no component, so that the result is
    positive semi-definite for any K (Schölkopf, Smola, Müller, Neural Computation 10, 1998).

    The fit takes the leading eigenvectors of an l × l matrix: O(l²) for each of at most l / 40, otherwise O(l³). A new
    row takes O(l) per component, and O(l·c) for its values.

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern.gram.transforms import KernelPCAGram
    >>> X = np.array([[0.0, 0.0], [4.0, 1.0], [8.0, 0.0]])
    >>> pca = KernelPCAGram(n_components=1).fit(X @ X.T)
    >>> pca.transform_train()[0].round(6) + 0.0
    array([[ 16.,   0., -16.],
           [  0.,   0.,   0.],
           [-16.,   0.,  16.]])
    >>> [values.round(6) + 0.0 for values in pca.transform([[0.0, 8.0, 16.0]])]  # of the sample (2, 0)
    [array([[ 8.,  0., -8.]]), array([4.])]
    """

    name = "kernel_pca"
    cubes = 1.5
    learned = ("means_", "weights_", "values_")
    semidefinite = True

    n_components: int | None = integer(
        default=10, low=1, optional=True, doc="Maximum number of components, largest variance first; none: all."
    )

    def fit_cubes(self, n: int) -> float:
        """Return the operations of a fit as a multiple of n³; with few components they grow only with n²."""
        count = n if self.n_components is None else self.n_components
        return (300.0 + 25.0 * count) / n if are_few(count, n) else self.cubes

    def needs_all(self) -> bool:
        """Return True, as a projection is a sum over all training samples."""
        return True

    def _fit(self, K: Floats, diagonal: Floats) -> None:
        n = len(K)
        wanted = n if self.n_components is None else min(self.n_components, n)
        self.means_ = K.mean(axis=1)

        def centred() -> Floats:
            made = K - (self.means_[:, None] + self.means_)
            made += self.means_.mean()
            return made

        with threadpool_limits(limits=1):  # the bits must not depend on the number of threads
            values, vectors = largest_eigenpairs(centred, wanted)
        # rounding makes a zero eigenvalue about n ε of the largest, or of what centring removed
        noise = max(FLAT, n * np.finfo(np.float64).eps) * max(values[0], np.abs(self.means_).max())
        count = int(np.sum(values > noise))
        if count == 0:
            raise GramError(
                f"transform {self.name!r} cannot be fitted: no direction has positive variance",
                remedy="choose another kernel, or repair the matrix first",
            )
        self.values_: list[float] = values[:count].tolist()
        self.weights_: Floats = np.ascontiguousarray(vectors[:, :count] / np.sqrt(values[:count]))

    def _projections(self) -> Floats:
        """Return the projections p_c of the training samples, shape (l, components)."""
        return np.ascontiguousarray(self.weights_ * self.values_)

    def _apply(self, K: Floats, diagonal: Floats | None) -> tuple[Floats, Floats]:
        projections = multiply(K - self.means_, self.weights_)
        result = multiply(projections, np.ascontiguousarray(self._projections().T))
        return result, np.square(projections).sum(axis=1)

    def _apply_train(self, K: Floats, diagonal: Floats) -> tuple[Floats, Floats]:
        result = square_of_rows(self._projections())
        return result, np.diagonal(result).copy()

    def pull_back(self, coefficients: Floats) -> tuple[Floats, float]:
        """Return (c', constant): a sum of products with projections is a projection, too."""
        pulled = self.weights_ @ (coefficients @ self._projections())
        return pulled, -float(np.sum(pulled * self.means_))


# The empirical kernel map: a sample is the vector of its kernel values against the training samples.


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
        """Return True, as a vector has one entry for each training sample."""
        return True

    def _fit(self, K: Floats, diagonal: Floats) -> None:
        self.square_ = K
        self._columns: Prepared | None = None
        self.between_ = self._between().fit(FeatureTable(K))

    def _prepared(self, K: Floats, like: "Prepared | None" = None) -> "Prepared":
        """Return the vectors, prepared by the kernel between them; raise GramError for a rejected row."""
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

    def _apply(self, K: Floats, diagonal: Floats | None) -> tuple[Floats, Floats]:
        columns = self._references()
        return self._filled(self._prepared(K, like=columns), columns)

    def _apply_train(self, K: Floats, diagonal: Floats) -> tuple[Floats, Floats]:
        return self._filled(self._references(), self._references())

    def _filled(self, rows: "Prepared", columns: "Prepared") -> tuple[Floats, Floats]:
        """Return the kernel matrix between vectors, and the diagonal of its rows."""
        out = np.empty((len(rows), len(columns)))
        fill(self.between_, rows, columns, out)
        return out, rows.diagonal

    def pull_back(self, coefficients: Floats) -> tuple[Floats, float]:
        """Return (c', 0), c' = Σ_j c_j k(z_j): a sum of products with vectors is the product with their sum."""
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
        """Return the same transform for matrices with all columns in another order."""
        result = super().restrict(rows)
        result._columns = None
        return result

    def fitted_state(self) -> tuple[Header, Arrays]:
        """Return (JSON dict, dict of arrays): the training square, and the state of the kernel between vectors."""
        return {"between": self.between_.fitted_state()[0]}, {"square_": self.square_}

    def restore_fitted(self, header: Header, arrays: Arrays) -> None:
        """Restore the result of `fitted_state`."""
        super().restore_fitted(header, arrays)
        self._columns = None
        self.between_ = self._between()
        self.between_.restore_fitted(header["between"], {})


# Kernels on a graph of similar samples: diffusion and random walks (Kondor & Lafferty 2002, Smola & Kondor 2003).


class GraphGram(GramTransform):
    """Similarity along the graph of the training samples, in which each is joined to its most similar ones.

    Two samples are similar if many short paths join them, even if they are unlike each other: useful where classes are
    chains of homologs. It needs enough samples that each has near ones.

    An edge joins two training samples if one is among the `neighbours` most similar ones of the other (all of those
    that tie with the last), and their similarity is above 0; its weight is the similarity, or 1. With W the weights, D
    the diagonal of their row sums and L = 1 − D^(−1/2) W D^(−1/2), the normalised Laplacian, K' is exp(−βL)
    (``"diffusion"``) or (a·1 − L)^p (``"random_walk"``), both positive semi-definite for any K (Kondor & Lafferty, ICML
    2002; Smola & Kondor, COLT 2003). A sample without any edge is similar to itself only.

    Most similar is what has the largest K: put ``normalise`` before it, unless the kernel is normalised.

    New samples are not part of the graph, so that none can influence another one's decision or the training. The row
    of one is the weighted mean of the rows of the training samples most similar to it, as many as `neighbours`: φ'(x) =
    Σ w_i φ'(z_i) / Σ w_i, in the manner of the Nyström extension. It is an approximation: a training sample, were it
    new, would get the mean of its neighbours' rows and not its own. A new sample that is similar to none has a row of
    zeros.

    The fit takes the eigenvalues of an l × l matrix, O(l³); a new row O(l²).

    Examples
    --------
    A chain, in which only neighbours are similar:

    >>> import numpy as np
    >>> from seqkern.gram.transforms import GraphGram
    >>> chain = np.eye(4) + np.diag([0.5] * 3, 1) + np.diag([0.5] * 3, -1)
    >>> graph = GraphGram(neighbours=2, beta=1.0).fit(chain)
    >>> graph.transform_train()[0].round(2)
    array([[0.47, 0.29, 0.07, 0.02],
           [0.29, 0.52, 0.22, 0.07],
           [0.07, 0.22, 0.52, 0.29],
           [0.02, 0.07, 0.29, 0.47]])
    >>> graph.transform([[0.9, 0.3, 0.0, 0.0]])[0].round(2)
    array([[0.42, 0.35, 0.11, 0.03]])
    """

    name = "graph"
    cubes = 10.0
    learned = squares = ("square_",)
    semidefinite = True

    method: Literal["diffusion", "random_walk"] = choice(default="diffusion", doc="exp(−βL), or (a·1 − L)^p.")
    neighbours: int = integer(default=10, low=1, doc="How many of the most similar samples each is joined to.")
    weighted: bool = flag(default=True, doc="Whether the weight of an edge is the similarity; else 1.")
    beta: float = real(default=1.0, low=0, open_low=True, doc="β of diffusion: larger values reach farther.")
    steps: int = integer(default=2, low=1, doc="p of the random walk: the maximum number of edges of a path.")
    a: float = real(default=2.0, low=2, doc="a of the random walk: larger values stay nearer.")

    def needs_all(self) -> bool:
        """Return True, as any training sample may be among the most similar."""
        return True

    def _fit(self, K: Floats, diagonal: Floats) -> None:
        from scipy.linalg import eigh  # 0.2 s to import

        W = K.copy()
        np.fill_diagonal(W, -np.inf)
        W = self._nearest(W)
        W = np.maximum(W, W.T)
        degrees = W.sum(axis=1)
        root = np.divide(1.0, np.sqrt(degrees), out=np.zeros_like(degrees), where=degrees > 0)
        L = -(root[:, None] * W * root)
        L[np.diag_indices_from(L)] += degrees > 0
        with threadpool_limits(limits=1):  # the bits must not depend on the number of threads
            values, vectors = eigh(L) if len(L) else (np.empty(0), np.empty((0, 0)))
        values = np.clip(values, 0.0, 2.0)
        if self.method == "diffusion":
            roots = np.exp(-0.5 * self.beta * values)
        else:
            roots = (self.a - values) ** (self.steps / 2)
        self.square_: Floats = square_of_rows(vectors * roots)
        if not np.isfinite(self.square_).all():
            raise GramError(
                f"transform {self.name!r} cannot be fitted: its values overflow", remedy="choose smaller a or steps"
            )

    def _nearest(self, K: Floats) -> Floats:
        """Return the edge weights between each row and its most similar training samples, with 0 for all others."""
        count = min(self.neighbours, K.shape[1])
        if count == 0:
            return np.zeros_like(K)
        last = np.partition(K, K.shape[1] - count, axis=1)[:, K.shape[1] - count]
        edges = (last[:, None] <= K) & (K > 0)
        return np.where(edges, K if self.weighted else 1.0, 0.0)

    def _apply(self, K: Floats, diagonal: Floats | None) -> tuple[Floats, Floats]:
        weights = self._nearest(K)
        largest = weights.max(axis=1, initial=0.0, keepdims=True)  # so that no sum overflows
        weights = np.divide(weights, largest, out=np.zeros_like(weights), where=largest > 0)
        sums = weights.sum(axis=1, keepdims=True)
        weights = np.divide(weights, sums, out=np.zeros_like(weights), where=sums > 0)
        out = multiply(weights, self.square_)
        return out, np.ascontiguousarray(out * weights).sum(axis=1)

    def _apply_train(self, K: Floats, diagonal: Floats) -> tuple[Floats, Floats]:
        return self.square_.copy(), np.diagonal(self.square_).copy()

    def pull_back(self, coefficients: Floats) -> tuple[Floats, float]:
        """Raise ParameterError, as the choice of the most similar samples is not linear in K."""
        raise ParameterError(
            f"after the transform {self.name!r} the decision is not a weighted sum of kernel values",
            remedy="leave the transform out to explain decisions",
        )
