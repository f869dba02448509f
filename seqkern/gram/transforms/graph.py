"""Kernels on a graph of similar samples: diffusion and random walks (Kondor & Lafferty 2002, Smola & Kondor 2003)."""

from typing import Literal

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from seqkern.core.errors import GramError, ParameterError
from seqkern.core.parameters import choice, flag, integer, real
from seqkern.core.types import Arrays, Header
from seqkern.gram.transforms.gram_transform import GramTransform
from seqkern.gram.transforms.products import multiply, square_of_rows

Matrix = npt.NDArray[np.float64]


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
    steps: int = integer(default=2, low=1, doc="p of the random walk: paths of up to as many edges.")
    a: float = real(default=2.0, low=2, doc="a of the random walk: larger values stay nearer.")

    def needs_all(self) -> bool:
        """Return True: the most similar training samples may be any."""
        return True

    def _fit(self, K: Matrix, diagonal: npt.NDArray[np.float64]) -> None:
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
        self.square_: Matrix = square_of_rows(vectors * roots)
        if not np.isfinite(self.square_).all():
            raise GramError(
                f"transform {self.name!r} cannot be fitted: its values overflow", remedy="choose smaller a or steps"
            )

    def _nearest(self, K: Matrix) -> Matrix:
        """Return the weights of the edges to the most similar training samples of each row, 0 to others."""
        count = min(self.neighbours, K.shape[1])
        if count == 0:
            return np.zeros_like(K)
        last = np.partition(K, K.shape[1] - count, axis=1)[:, K.shape[1] - count]
        edges = (last[:, None] <= K) & (K > 0)
        return np.where(edges, K if self.weighted else 1.0, 0.0)

    def _apply(self, K: Matrix, diagonal: npt.NDArray[np.float64] | None) -> tuple[Matrix, npt.NDArray[np.float64]]:
        weights = self._nearest(K)
        largest = weights.max(axis=1, initial=0.0, keepdims=True)  # so that no sum overflows
        weights = np.divide(weights, largest, out=np.zeros_like(weights), where=largest > 0)
        sums = weights.sum(axis=1, keepdims=True)
        weights = np.divide(weights, sums, out=np.zeros_like(weights), where=sums > 0)
        out = multiply(weights, self.square_)
        return out, np.ascontiguousarray(out * weights).sum(axis=1)

    def _apply_train(self, K: Matrix, diagonal: npt.NDArray[np.float64]) -> tuple[Matrix, npt.NDArray[np.float64]]:
        return self.square_.copy(), np.diagonal(self.square_).copy()

    def pull_back(self, coefficients: npt.NDArray[np.float64]) -> tuple[npt.NDArray[np.float64], float]:
        """Raise ParameterError: which samples are the most similar ones is not linear in K.

        Parameters
        ----------
        coefficients : ndarray of float64, shape (l,)
            c_j.

        Raises
        ------
        ParameterError
            Always.
        """
        raise ParameterError(
            f"after the transform {self.name!r} the decision is not a weighted sum of kernel values",
            remedy="leave the transform out to explain decisions",
        )

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
        super().restore_fitted(header, arrays)
        if self.square_.shape != (self.n_columns_, self.n_columns_):
            raise GramError(f"the square of {self.n_columns_} training samples has the shape {self.square_.shape}")
