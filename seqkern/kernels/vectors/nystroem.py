"""The Nyström approximation: features from the kernel with some landmarks (Williams & Seeger 2001)."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal, cast

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from seqkern.core.archive import nest, unnest
from seqkern.core.errors import ParameterError, SequenceError
from seqkern.core.parameters import choice, component, integer, real
from seqkern.core.threads import one_thread
from seqkern.core.types import Arrays, Header
from seqkern.kernels.finite import without_warnings
from seqkern.kernels.kernel import Kernel
from seqkern.kernels.kernel_specs import build_kernel
from seqkern.kernels.prepared import Plan, Prepared
from seqkern.kernels.vector_form import VectorForm
from seqkern.kernels.vectors.approximation import ApproximateKernel, Values, check_single, search_seconds, too_far
from seqkern.kernels.vectors.comparison import LandmarkComparison, exact
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.sequences.tables import Data, FeatureTable

PER_CENTRE = 20  # vectors, from which the centres are learned
KMEANS_BATCH = 4096
KMEANS_EPOCHS = 10

ROOT_SECONDS, ROOT_BYTES = 3e-10, 40
"""Of the inverse root of m landmarks, for each of m³ and m² numbers."""


class NystroemKernel(ApproximateKernel):
    """Nyström approximation: explicit features from a few landmarks.

    It makes any base kernel usable for large training sets. `fit` draws the landmarks Z from the training samples.

    Notes
    -----
    With k(Z, Z) = U·Λ·Uᵀ, eigenvalues up to `tolerance` times the largest left out,

    .. math:: K(x, y) = φ(x) · φ(y),  φ(x) = k(x, Z) U Λ^{−1/2} Q

    This is k(x, Z)·k(Z, Z)⁺·k(Z, y), equal to the features of k(Z, Z)^(−1/2) up to a rotation that leaves one feature
    for each eigenvalue kept. The rotation Q is the one that makes the upper part of U Λ^{−1/2} Q triangular: it changes
    no φ(x) · φ(y), and nearly half of the products are with zeros, which are left out. Between landmarks K is k up to
    rounding: within 10⁻⁷ to 10⁻⁶ of the largest value, 10⁻⁴ for an RBF of large γ·‖x‖². If k is not positive
    semi-definite, this does not hold: negative eigenvalues are left out, and the error is at least as large as the most
    negative one divided by the number of landmarks.

    Complexity: m values of the base kernel and m²/2 products per sample for m landmarks, O(m³) once, then O(m) per
    pair.

    Definiteness: positive semi-definite.

    If k is a function of dense vectors (window kernels, kernels of a table of numbers, ``rbf`` and ``polynomial`` on
    them), its values are computed in single precision, with an error of about 10⁻⁷·γ·(‖x‖ + ‖z‖)² of an RBF value, the
    mean of Z taken as the origin; otherwise in double precision. φ is rounded to single precision. Its bits depend on x
    alone; but the exponentials of NumPy may differ between kinds of processor.

    References
    ----------
    Williams, Seeger: Using the Nyström method to speed up kernel machines. NIPS 13, 2001.

    Zhang, Tsang, Kwok: Improved Nyström low-rank approximation and error analysis. ICML 2008 (k-means landmarks).

    Examples
    --------
    >>> from seqkern.kernels import NystroemKernel, SpectrumKernel
    >>> X = ["GATTACA", "ATTACCA", "CCGGTCC", "GGCCGGA"]
    >>> kernel = NystroemKernel(SpectrumKernel(k=2), n_components=3, seed=1).fit(X)
    >>> kernel.features(X).shape
    (4, 3)
    >>> abs(kernel(X) - SpectrumKernel(k=2)(X)).max(axis=0).round(2)  # one sample is not a landmark
    array([0.  , 0.  , 0.36, 0.  ])
    """

    name = "nystroem"
    summary = "Compares with a few landmarks instead of with all training samples."
    data_dependent = True
    made_again = (*ApproximateKernel.made_again, "_columns")

    base: Kernel = component(
        "kernel", kw_only=False, doc="k, the kernel to approximate: any kernel of sequences or features."
    )
    n_components: int = integer(default=1000, low=1, doc="Number of landmarks; all samples if there are fewer.")
    landmarks: Literal["random", "kmeans"] = choice(
        default="random",
        doc="Training samples drawn without replacement; or, for a kernel of vectors, the centres of "
        "k-means clusters of at most 20 times as many samples.",
    )
    seed: int = integer(default=1, low=0, doc="Seed of the draw.")
    tolerance: float = real(
        default=1e-6,
        low=0,
        high=1,
        open_low=True,
        open_high=True,
        doc="Eigenvalues of k(Z, Z) up to this share of the largest are left out.",
    )

    @classmethod
    def examples(cls) -> list["NystroemKernel"]:
        """Return kernels for the contract suite."""
        return [
            cls(build_kernel("window:gamma=0.05"), n_components=6),
            cls(build_kernel("spectrum:k=2"), normalize=True),
            cls(build_kernel("pssm_window:vector_kernel=polynomial,gamma=0.01,degree=3"), n_components=5),
            cls(build_kernel("window:gamma=scale"), n_components=4, landmarks="kmeans", normalize=True),
            cls(build_kernel("rbf:gamma=scale"), n_components=7),
        ]

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.accepts == "similarities":
            raise ParameterError(
                "precomputed similarities have no landmarks", remedy="choose a kernel of sequences or features"
            )
        if self.landmarks == "kmeans" and self._given()[0].vector_form() is None:
            raise ParameterError(
                f"the samples of kernel {self._given()[0].name!r} are not dense vectors: no cluster centres",
                remedy="choose landmarks=random, or a kernel such as window or pssm_window",
            )

    def _most_features(self, n: int) -> int:
        return min(self.n_components, n)

    def plan(self, X: Any, Y: Any = None) -> Plan:
        """Return the Plan for this kernel on `X` (against `Y`), with the fit to `X`.

        Parameters
        ----------
        X : SequenceSet, list of str, or table, n records
            The rows.
        Y : the same, m records, optional
            The columns; by default `X`.

        Returns
        -------
        Plan
        """
        plan = super().plan(X, Y)
        X = self.coerce(X)
        count = min(self.n_components, len(X))
        seconds = ROOT_SECONDS * count**3
        base = self.bases[0]
        if count and base.vector_form() is None:  # else the values are counted as products of vectors
            Z = X.take(np.arange(count))
            for samples, other in ((Z, None), (X, Z), *(() if Y is None else ((self.coerce(Y), Z),))):
                sets = [samples] if other is None else [samples, other]
                seconds += base.plan(samples, other).seconds - search_seconds(base, sets)
        return replace(plan, seconds=plan.seconds + seconds, bytes=plan.bytes + ROOT_BYTES * count**2)

    # ---- landmarks ------------------------------------------------------------------------------

    def _fit(self, X: Data, y: npt.ArrayLike | None) -> None:
        super()._fit(X, y)
        if not len(X):
            raise SequenceError("there are no samples to draw landmarks from", remedy="give a training set")
        rng = np.random.default_rng(self.seed)
        count = min(self.n_components, len(X))
        form = self.bases[0].vector_form()
        check_single(self, X)
        if self.landmarks == "kmeans":
            rows = np.sort(rng.choice(len(X), min(PER_CENTRE * count, len(X)), replace=False))
            with without_warnings():
                vectors = cast(VectorForm, form).vectors(X).gather(rows)
            if not np.isfinite(vectors).all():
                raise too_far(self, "a number of the vectors", np.inf)
            self.landmarks_: Any = centres(vectors, count, self.seed)  # vectors; else samples
        else:
            drawn = X.take(np.sort(rng.choice(len(X), count, replace=False)))
            with without_warnings():
                self.landmarks_ = self._alone(drawn) if form is None else form.vectors(drawn).gather()
        self._columns: Any = None  # the columns of the samples, prepared on first use
        with one_thread(), without_warnings():
            among = self.bases[0].kernel(self.landmarks_) if form is None else exact(form, self.landmarks_)
            if not np.isfinite(among).all():
                raise too_far(self, "a kernel value between landmarks", float(np.abs(among).max()))
            self.map_ = inverse_root(among, self.tolerance)

    def _alone(self, X: Data) -> Data:
        """Return an independent copy of some samples."""
        if not isinstance(X, SequenceSet):
            return X
        tracks = {name: X.tracks[name] for name in (*self.tracks, *self.views) if name in X.tracks}
        views = {name: X.views[name] for name in self.views if name in X.views}
        return X.replace(tracks=tracks, views=views).compact()

    def fitted_state(self) -> tuple[Header, Arrays]:
        """Return (JSON dict, dict of arrays): the landmarks, as vectors or samples, the map, and the base's state."""
        header, arrays = super().fitted_state()
        if not hasattr(self, "map_"):
            return header, arrays
        arrays = arrays | {"map": self.map_}
        if isinstance(self.landmarks_, np.ndarray):
            return header, arrays | {"landmarks": self.landmarks_}
        samples, own = self.landmarks_.state()
        return header | {"landmarks": samples}, arrays | nest("landmarks", own)

    def restore_fitted(self, header: Header, arrays: Arrays) -> None:
        """Restore what `fitted_state` returned.

        Parameters
        ----------
        header : dict
            Its JSON part.
        arrays : dict of str to ndarray
            Its arrays.
        """
        super().restore_fitted(header, arrays)
        if "map" not in arrays:
            return
        self.map_, self._columns = arrays["map"], None
        if "landmarks" in arrays:
            self.landmarks_ = arrays["landmarks"]
        else:
            kind = SequenceSet if self.accepts == "sequences" else FeatureTable
            self.landmarks_ = kind.from_state(header["landmarks"], unnest("landmarks", arrays))

    def learned(self) -> dict[str, float]:
        """Return the numbers of landmarks and features, and what the base learned."""
        return super().learned() | {"landmarks": len(self.landmarks_), "components": self.map_.shape[1]}

    # ---- values ---------------------------------------------------------------------------------

    def _map(self) -> npt.NDArray[np.float32]:
        return self.map_

    def _values(self, X: Data) -> tuple[int, Values]:
        if isinstance(self.landmarks_, np.ndarray):
            return len(self.landmarks_), self._vector_values(X)
        if getattr(self, "_columns", None) is None:
            self._columns = self.bases[0].prepare(self.landmarks_)
        base = self.bases[0]
        cols: Prepared = self._columns

        def values(rows: npt.NDArray[np.int64]) -> npt.NDArray[np.floating[Any]]:
            return base.block(base.prepare(X.take(rows), like=cols), cols)

        return len(cols), values

    def _vector_values(self, X: Data) -> Callable[[npt.NDArray[np.int64]], npt.NDArray[np.float32]]:
        """Return the function of `_values` for kernels of vectors."""
        form = cast(VectorForm, self.bases[0].vector_form())
        if getattr(self, "_columns", None) is None:
            self._columns = LandmarkComparison(form, self.landmarks_)
        compare: LandmarkComparison = self._columns
        table = form.vectors(X)
        if len(X) and table.width != self.landmarks_.shape[1]:
            raise SequenceError(
                f"has {table.width} numbers, the landmarks {self.landmarks_.shape[1]}",
                record=X.ids[0],
                remedy="trim all windows to one length",
            )
        return lambda rows: compare(table.gather(rows))


def inverse_root(among: npt.NDArray[np.float64], tolerance: float) -> npt.NDArray[np.float32]:
    """Return U·Λ^(−1/2)·Q of the kernel among landmarks, without its smallest eigenvalues.

    Parameters
    ----------
    among : ndarray of float64, shape (m, m)
        k(Z, Z) = U·Λ·Uᵀ.
    tolerance : float
        Eigenvalues up to this share of the largest are left out.

    Returns
    -------
    ndarray of float32, shape (m, features)
        Zero above the diagonal: Q is the rotation that makes it so.

    Examples
    --------
    >>> root = inverse_root(np.array([[2.0, 1.0], [1.0, 2.0]]), 1e-6)
    >>> (root @ root.T).round(3)  # the inverse
    array([[ 0.667, -0.333],
           [-0.333,  0.667]], dtype=float32)
    >>> float(root[0, 1])
    0.0
    """
    eigenvalues, eigenvectors = np.linalg.eigh(among)
    kept = np.flatnonzero(eigenvalues > tolerance * max(eigenvalues[-1], 0))[::-1]
    root = eigenvectors[:, kept] / np.sqrt(eigenvalues[kept])
    if len(kept) == len(root):  # root.T = Q R, so that root Q = R.T
        triangle: Any = np.linalg.qr(root.T, mode="r")
        return np.ascontiguousarray(triangle.T, dtype=np.float32)
    rotation = np.linalg.qr(root[: len(kept)].T)[0]
    return np.tril(root @ rotation).astype(np.float32)


def centres(vectors: npt.NDArray[np.floating[Any]], count: int, seed: int) -> npt.NDArray[np.float32]:
    """Return the centres of k-means clusters.

    Parameters
    ----------
    vectors : ndarray of float32, shape (n, width)
        Of samples.
    count : int
        Number of clusters, at most n.
    seed : int
        Seed of the initial centres.

    Returns
    -------
    ndarray of float32, shape (count, width)
    """
    if not vectors.shape[1]:  # of records without letters; k-means needs a coordinate
        return vectors[:count].astype(np.float32)
    from sklearn.cluster import MiniBatchKMeans  # 1 s to import

    clusters = MiniBatchKMeans(
        count, random_state=seed, batch_size=KMEANS_BATCH, n_init=1, max_iter=KMEANS_EPOCHS, reassignment_ratio=0
    )
    with threadpool_limits(limits=1):  # OpenMP threads too, which affect the order of sums
        return clusters.fit(vectors).cluster_centers_.astype(np.float32)
