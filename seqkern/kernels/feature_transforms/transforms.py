"""The contract of all transforms of feature vectors: fit, transform, names, state."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt

from seqkern.core.convergence import ignoring_unconverged, warn_unconverged
from seqkern.core.errors import ParameterError, SequenceError
from seqkern.core.parameters import Parameters, choice, flag, integer, real
from seqkern.core.registry import Kind, Registry, add_kind
from seqkern.core.specs import build_named, parse_spec
from seqkern.core.threads import one_thread
from seqkern.core.types import Arrays, Bools, Floats, Header
from seqkern.kernels.vectors import _vector


class FeatureTransform(Parameters):
    """Base of all transforms of features: a subclass defines `_fit`, `_apply` and `names`.

    Attributes
    ----------
    name : str
        The name in configurations.
    learned : tuple of str
        Names of the attributes that `fit` sets, arrays of float64.
    completes : bool
        Whether it takes missing values, NaN, and leaves none.
    n_features_ : int
        Number of features before the transform.

    Examples
    --------
    >>> from seqkern.kernels.feature_transforms import PCATransform
    >>> pca = PCATransform(n_components=1).fit([[0.0, 0.0], [2.0, 2.0]])
    >>> pca.transform([[1.0, 1.0], [3.0, 3.0]]).round(3) + 0.0
    array([[0.   ],
           [2.828]])
    """

    name: ClassVar[str | None] = None
    learned: ClassVar[tuple[str, ...]] = ()
    completes: ClassVar[bool] = False

    def _fit(self, values: Floats) -> None:
        """Fit to the training vectors; set the attributes in `learned`."""
        raise NotImplementedError

    def _apply(self, values: Floats) -> Floats:
        """Return the transformed vectors; the bits of a row depend on that row alone."""
        raise NotImplementedError

    def names(self, columns: Sequence[str]) -> list[str]:
        """Return the names of the transformed features.

        Parameters
        ----------
        columns : sequence of str
            The names before.

        Returns
        -------
        list of str
        """
        raise NotImplementedError

    def fit(self, values: npt.ArrayLike) -> Self:
        """Fit to the training set and return self.

        Parameters
        ----------
        values : array_like of float64, shape (n, d)
            NaN only for a transform that `completes`.

        Returns
        -------
        FeatureTransform
            Itself.

        Raises
        ------
        ParameterError, SequenceError
            If the vectors are unsuitable.
        """
        self.check_parameters()
        values = self._checked(values)
        self.n_features_ = values.shape[1]
        self._fit(values)
        return self

    def transform(self, values: npt.ArrayLike) -> Floats:
        """Return the transformed vectors of any samples.

        Parameters
        ----------
        values : array_like of float64, shape (m, d)
            As in `fit`.

        Returns
        -------
        ndarray of float64, shape (m, new features)

        Raises
        ------
        SequenceError
            If they have another number of features than in `fit`, or values that are not finite.
        """
        values = self._checked(values)
        if values.shape[1] != self.n_features_:
            raise SequenceError(
                f"transform {self.name!r} was fitted on {self.n_features_} features, got {values.shape[1]}",
                remedy="give the features of the training samples",
            )
        return np.ascontiguousarray(self._apply(values))

    def _checked(self, values: npt.ArrayLike) -> Floats:
        """Return the vectors as C-ordered float64; raise SequenceError for values that the transform cannot process."""
        values = np.ascontiguousarray(values, dtype=np.float64)
        good = np.isfinite(values) | (np.isnan(values) if self.completes else False)
        if not good.all():
            raise SequenceError(
                f"transform {self.name!r} got a value that is not a finite number",
                record=str(int(np.flatnonzero(~good.all(axis=1))[0]) + 1),
                remedy="complete missing values first: transforms: [impute, …]",
            )
        return values

    def fitted_state(self) -> tuple[Header, Arrays]:
        """Return (JSON dict, dict of arrays) of the fitted attributes."""
        return {"n_features": self.n_features_}, {name: getattr(self, name) for name in self.learned}

    def restore_fitted(self, header: Header, arrays: Arrays) -> None:
        """Restore the result of `fitted_state`.

        Parameters
        ----------
        header : dict
            Its JSON part.
        arrays : dict of str to ndarray
            Its arrays.
        """
        self.n_features_ = int(header["n_features"])
        for name in self.learned:
            setattr(self, name, arrays[name])

    def spec(self) -> dict[str, Any]:
        """Return the transform in the form of a configuration."""
        return {"feature_transform": self.name, **self.get_params()}


def products(values: Floats, weights: Floats) -> Floats:
    """Return values (n, d) · weights (d, c); the bits of a row depend on that row alone.

    >>> products(np.array([[1.0, 2.0]]), np.array([[1.0], [0.5]]))
    array([[2.]])
    """
    out = np.empty((len(values), weights.shape[1]))
    _vector.products(np.ascontiguousarray(values), np.ascontiguousarray(weights), out)
    return out


# Imputation of missing values in feature vectors.


class ImputeTransform(FeatureTransform):
    r"""Completion of missing values by means, or by the nearest training vectors.

    Attributes
    ----------
    means_, deviations_ : ndarray of float64, shape (d,)
        Means and deviations of the known training values of each feature.
    train_ : ndarray of float64, shape (n, d), or (0, d) for means
        The training vectors, standardised, with their gaps.

    Notes
    -----
    ``mean``: the mean of the training values. ``neighbors``: the mean of the feature over the k training vectors with a
    value there that are nearest, by

    .. math:: d^2(x, y) = \frac{1}{|S|} \sum_{j ∈ S} (x_j − y_j)^2 / s_j^2

    with S the features that both have and s_j their standard deviations; all vectors at the distance of the k-th count.
    Without any such vector it is the mean. A complete vector is not changed.

    Complexity: n d for means; m n d for m incomplete vectors by neighbours, whose n training vectors are part of the
    model.

    References
    ----------
    Troyanskaya, Cantor, Sherlock, Brown, Hastie, Tibshirani, Botstein, Altman: Missing value estimation methods for DNA
    microarrays. Bioinformatics 17, 2001.

    Examples
    --------
    >>> from seqkern.kernels.feature_transforms import ImputeTransform
    >>> nan = float("nan")
    >>> train = [[1.0, 10.0], [1.2, 12.0], [5.0, 50.0], [5.2, nan]]
    >>> ImputeTransform().fit(train).transform([[1.1, nan]])
    array([[ 1.1, 24. ]])
    >>> ImputeTransform("neighbors", n_neighbors=2).fit(train).transform([[1.1, nan]])
    array([[ 1.1, 11. ]])
    """

    name = "impute"
    learned = ("means_", "deviations_", "train_")
    completes = True

    method: Literal["mean", "neighbors"] = choice(
        default="mean", kw_only=False, doc="The value for a gap: the mean of the feature, or of the nearest vectors."
    )
    n_neighbors: int = integer(default=5, low=1, doc="k, for neighbours.")

    def _fit(self, values: Floats) -> None:
        known = ~np.isnan(values)
        counts = known.sum(axis=0)
        if not counts.all():
            empty = int(np.flatnonzero(counts == 0)[0]) + 1
            raise ParameterError(
                f"transform 'impute': feature {empty} has no value in the training set",
                remedy="remove this column",
            )
        self.means_ = np.where(known, values, 0.0).sum(axis=0) / counts
        away = np.where(known, values - self.means_, 0.0)
        deviations = np.sqrt(np.square(away).sum(axis=0) / counts)
        self.deviations_ = np.where(deviations > 0, deviations, 1.0)
        standard = (values - self.means_) / self.deviations_
        self.train_ = standard if self.method == "neighbors" else standard[:0]

    def _apply(self, values: Floats) -> Floats:
        gaps = np.isnan(values)
        out = np.where(gaps, self.means_, values)
        if self.method == "neighbors":
            known = ~np.isnan(self.train_)
            for i in np.flatnonzero(gaps.any(axis=1)):
                out[i, gaps[i]] = self._from_neighbours((values[i] - self.means_) / self.deviations_, gaps[i], known)
        return out

    def _from_neighbours(self, row: Floats, gaps: Bools, known: Bools) -> Floats:
        """Return the imputed values of the gaps in one standardised vector."""
        shared = known & ~gaps
        counts = shared.sum(axis=1)
        squares = np.square(np.where(shared, self.train_ - row, 0.0)).sum(axis=1)
        distances = np.divide(squares, counts, out=np.full(len(counts), np.inf), where=counts > 0)
        found = self.means_[gaps].copy()
        for place, j in enumerate(np.flatnonzero(gaps)):
            having = np.flatnonzero(known[:, j] & np.isfinite(distances))
            if len(having):
                k = min(self.n_neighbors, len(having)) - 1
                near = having[distances[having] <= np.partition(distances[having], k)[k]]
                found[place] += self.deviations_[j] * self.train_[near, j].mean()
        return found

    def names(self, columns: Sequence[str]) -> list[str]:
        """Return the names unchanged."""
        return list(columns)


# Principal components of feature vectors.

FLAT = 1e-10
"""Components with at most this share of the largest variance are rounding errors."""


class PCATransform(FeatureTransform):
    r"""Principal component analysis: the directions of largest variance of the training vectors.

    Attributes
    ----------
    mean_ : ndarray of float64, shape (d,)
    components_ : ndarray of float64, shape (d, c)
        Directions u_c as columns; the entry of largest absolute value is positive.
    variances_ : ndarray of float64, shape (c,)
        Variance of the training vectors along each, with divisor n − 1.

    Notes
    -----
    With the mean m and the covariance C u_c = λ_c u_c of the training vectors, component c of x is

    .. math:: u_c^T (x − m), \text{ with } whiten \text{ divided by } \sqrt{λ_c}

    Features that do not vary on the training set give one component that is zero.

    Complexity: n d · min(n, d) + min(n, d)³ multiplications to fit n vectors of d features; a new one takes c d.

    References
    ----------
    Pearson: On lines and planes of closest fit to systems of points in space. Philosophical Magazine 2, 1901.

    Hotelling: Analysis of a complex of statistical variables into principal components. Journal of Educational
    Psychology 24, 1933.

    Examples
    --------
    >>> from seqkern.kernels.feature_transforms import PCATransform
    >>> pca = PCATransform(n_components=1, whiten=True).fit([[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]])
    >>> pca.transform([[2.0, 4.0], [3.0, 6.0]]).round(6).ravel().tolist()
    [0.0, 1.0]
    """

    name = "pca"
    learned = ("mean_", "components_", "variances_")

    n_components: int | None = integer(
        default=10, low=1, optional=True, doc="Maximum number of components, largest variance first; none: all."
    )
    whiten: bool = flag(default=False, doc="Divide each component by its standard deviation on the training set.")

    def _fit(self, values: Floats) -> None:
        self.mean_ = values.mean(axis=0)
        centred = values - self.mean_
        (n, d), free = values.shape, max(len(values) - 1, 1)
        with one_thread():
            if d <= n:
                variances, vectors = np.linalg.eigh(centred.T @ centred / free)
            else:
                variances, vectors = np.linalg.eigh(centred @ centred.T / free)
        variances, vectors = variances[::-1], vectors[:, ::-1]
        # what the mean leaves of features that do not vary is rounding, too
        noise = np.finfo(np.float64).eps ** 2 * float(np.square(self.mean_).max(initial=0.0)) * max(n, d)
        kept = int(np.sum(variances > max(FLAT * variances[0], noise)))
        if kept == 0:  # as of empty sequences
            self.components_, self.variances_ = np.zeros((d, 1)), np.ones(1)
            return
        kept = kept if self.n_components is None else min(kept, self.n_components)
        variances, vectors = variances[:kept], vectors[:, :kept]
        if d > n:
            with one_thread():
                vectors = centred.T @ vectors / np.sqrt(free * variances)
        largest = vectors[np.abs(vectors).argmax(axis=0), np.arange(kept)]
        self.components_ = np.ascontiguousarray(vectors * np.where(largest < 0, -1.0, 1.0))
        self.variances_ = np.ascontiguousarray(variances)

    def _apply(self, values: Floats) -> Floats:
        out = products(values - self.mean_, self.components_)
        return out / np.sqrt(self.variances_) if self.whiten else out

    def names(self, columns: Sequence[str]) -> list[str]:
        """Return the names pc1, pc2, …."""
        return [f"pc{j}" for j in range(1, len(self.variances_) + 1)]


# Independent components of feature vectors.


class ICATransform(FeatureTransform):
    r"""Independent component analysis (FastICA): directions along which the training vectors are least Gaussian.

    Attributes
    ----------
    mean_ : ndarray of float64, shape (d,)
    components_ : ndarray of float64, shape (d, c)
        One column for each component, which has variance 1 on the training set.

    Notes
    -----
    The vectors are whitened by their principal components z; then FastICA of scikit-learn finds orthonormal directions
    w that maximise

    .. math:: (E[G(w^T z)] − E[G(ν)])^2

    for ν of a standard Gaussian, G the logarithm of the hyperbolic cosine, −exp(−u²/2) or u⁴/4. Components are sorted
    by this value, the entry of largest absolute value is positive. The result depends on `seed` where optima are local.

    Complexity: as of principal components, and n c² multiplications for each of its iterations.

    References
    ----------
    Hyvärinen, Oja: Independent component analysis: algorithms and applications. Neural Networks 13, 2000.

    Examples
    --------
    Two uniform signals, mixed:

    >>> import numpy as np
    >>> from seqkern.kernels.feature_transforms import ICATransform
    >>> signals = np.random.default_rng(0).uniform(-1, 1, (500, 2))
    >>> mixed = signals @ [[1.0, 0.5], [0.3, 1.0]]
    >>> found = ICATransform(n_components=2).fit(mixed).transform(mixed)
    >>> np.abs(np.corrcoef(found.T, signals.T)[:2, 2:]).max(axis=0).round(1).tolist()
    [1.0, 1.0]
    """

    name = "ica"
    learned = ("mean_", "components_")

    n_components: int = integer(default=10, low=1, doc="Maximum number of components.")
    contrast: Literal["logcosh", "exp", "cube"] = choice(
        default="logcosh", doc="G: ``exp`` for signals with outliers, ``cube`` for signals without."
    )
    tol: float = real(default=1e-4, low=0, open_low=True, doc="Change of the directions at which it has converged.")
    max_iter: int = integer(default=500, low=1, doc="Maximum number of iterations.")
    seed: int = integer(default=1, low=0, high=2**32 - 1, doc="Seed of the first directions.")

    def _fit(self, values: Floats) -> None:
        from sklearn.decomposition import FastICA  # imported here: it slows start-up, and models do not need it

        white = PCATransform(n_components=self.n_components, whiten=True).fit(values)
        z = white.transform(values)
        if not white.components_.any():
            self.mean_, self.components_ = white.mean_, white.components_
            return
        ica = FastICA(whiten=False, fun=self.contrast, tol=self.tol, max_iter=self.max_iter, random_state=self.seed)
        with one_thread(), ignoring_unconverged():
            ica.fit(z)
        if ica.n_iter_ >= self.max_iter:
            d = values.shape[1]
            few = f"there are only {d} features: lower n_components, or " if self.n_components > d else ""
            warn_unconverged(
                f"transform 'ica' stopped after {ica.n_iter_} iterations before it converged; "
                f"{few}raise max_iter or tol",
                stacklevel=3,
            )
        directions = ica.components_ / np.linalg.norm(ica.components_, axis=1, keepdims=True)
        order = np.argsort(-self._contrast(z @ directions.T), kind="stable")
        mixed = (white.components_ / np.sqrt(white.variances_)) @ directions[order].T
        largest = mixed[np.abs(mixed).argmax(axis=0), np.arange(mixed.shape[1])]
        self.mean_ = white.mean_
        self.components_ = np.ascontiguousarray(mixed * np.where(largest < 0, -1.0, 1.0))

    def _contrast(self, signals: Floats) -> Floats:
        """Return the non-Gaussianity of each signal."""
        nodes, weights = np.polynomial.hermite_e.hermegauss(60)
        function = {
            "logcosh": lambda u: np.logaddexp(u, -u),
            "exp": lambda u: -np.exp(-(u**2) / 2),
            "cube": lambda u: u**4 / 4,
        }[self.contrast]
        gauss = weights @ function(nodes) / weights.sum()
        return np.asarray((function(signals).mean(axis=0) - gauss) ** 2)

    def _apply(self, values: Floats) -> Floats:
        return products(values - self.mean_, self.components_)

    def names(self, columns: Sequence[str]) -> list[str]:
        """Return the names ic1, ic2, …."""
        return [f"ic{j}" for j in range(1, self.components_.shape[1] + 1)]


# The text and configuration forms of transforms of features.

# Table of the feature transforms by name, with the modules of their classes.
#
# A new transform needs a line here, and one in the stub ``__init__.pyi``; the tests of the registry check both.

FEATURE_TRANSFORMS = Registry(
    "feature_transform",
    "seqkern.kernels.feature_transforms.transforms:FeatureTransform",
    {
        "ica": "seqkern.kernels.feature_transforms.transforms:ICATransform",
        "impute": "seqkern.kernels.feature_transforms.transforms:ImputeTransform",
        "pca": "seqkern.kernels.feature_transforms.transforms:PCATransform",
    },
)


KEY = "transform"
"""The key of the name in a configuration, the same as of a transform of a Gram matrix."""


def build_feature_transform(spec: Any) -> FeatureTransform:
    """Return the transform of features that a spec describes.

    Parameters
    ----------
    spec : str, mapping or FeatureTransform
        ``"pca:n_components=5"`` or ``{"transform": "pca", "n_components": 5}``.

    Returns
    -------
    FeatureTransform
        Not fitted.

    Raises
    ------
    ParameterError
        For an unknown transform or parameter (with the nearest name), or a value outside its domain.

    Examples
    --------
    >>> from seqkern.kernels.feature_transforms import build_feature_transform
    >>> build_feature_transform("pca:n_components=5")
    PCATransform(n_components=5)
    """
    if isinstance(spec, FeatureTransform):
        return spec
    params = parse_spec(spec, "feature_transform") if isinstance(spec, str) else spec
    name = params.get(KEY, params.get("feature_transform")) if isinstance(params, Mapping) else None
    if not isinstance(name, str):
        raise ParameterError(f"{spec!r} is not a transform", remedy="write for example pca:n_components=5")
    rest = {key: value for key, value in params.items() if key not in (KEY, "feature_transform")}
    return build_named("feature_transform", name, rest)


add_kind(
    Kind(
        "feature_transform",
        "FeatureTransform",
        build=build_feature_transform,
        example="pca:n_components=5",
        registry=FEATURE_TRANSFORMS,
    )
)


def feature_transforms(kernel: Any) -> list[FeatureTransform]:
    """Return the transforms of features of a kernel and its parts, in order, fitted if the kernel is."""
    found = [step for part in getattr(kernel, "bases", ()) for step in feature_transforms(part)]
    own = vars(kernel).get("transforms_") or getattr(kernel, "steps", [])
    return [*found, *own]
