"""Independent components of feature vectors."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from seqkern.core.convergence import ignoring_unconverged, warn_unconverged
from seqkern.core.parameters import choice, integer, real
from seqkern.core.threads import one_thread
from seqkern.kernels.feature_transforms.feature_transform import FeatureTransform, products
from seqkern.kernels.feature_transforms.pca import PCATransform


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

    Complexity: that of the principal components, and n c² multiplications for each of its iterations.

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

    def _fit(self, values: npt.NDArray[np.float64]) -> None:
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

    def _contrast(self, signals: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return how far from Gaussian each signal is."""
        nodes, weights = np.polynomial.hermite_e.hermegauss(60)
        function = {
            "logcosh": lambda u: np.logaddexp(u, -u),
            "exp": lambda u: -np.exp(-(u**2) / 2),
            "cube": lambda u: u**4 / 4,
        }[self.contrast]
        gauss = weights @ function(nodes) / weights.sum()
        return np.asarray((function(signals).mean(axis=0) - gauss) ** 2)

    def _apply(self, values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        return products(values - self.mean_, self.components_)

    def names(self, columns: Sequence[str]) -> list[str]:
        """Return ic1, ic2, ….

        Parameters
        ----------
        columns : sequence of str
            The names before.

        Returns
        -------
        list of str
        """
        return [f"ic{j}" for j in range(1, self.components_.shape[1] + 1)]
