"""Explicit features of a kernel as a scikit-learn transformer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from seqkern.core.checks import check_choice
from seqkern.core.errors import ParameterError, SequenceError
from seqkern.core.memory import available_memory, format_bytes
from seqkern.kernels.capabilities import required
from seqkern.kernels.kernel import Kernel
from seqkern.kernels.transformer import References, Samples
from seqkern.sequences.sequence_set import SequenceSet

if TYPE_CHECKING:
    from sklearn.utils import Tags


class FeatureMap(TransformerMixin, BaseEstimator):
    """Transformer from samples to the explicit features of a kernel, normalised like the kernel.

    The dot product of two rows is the kernel of two samples, so that a linear method on the features is the kernel
    method without a Gram matrix.

    Parameters
    ----------
    kernel : Kernel
        One with explicit features; ``seqkern kernels`` lists them. A copy of it is fitted.
    sparse_output : bool, optional
        Whether the features are a sparse matrix; by default as the kernel makes them.

    Attributes
    ----------
    kernel_ : Kernel
        After `fit`: the fitted copy.
    n_features_in_ : int
        After `fit`, of kernels of tables: the number of columns.

    Examples
    --------
    >>> from seqkern.kernels import SpectrumKernel
    >>> features = FeatureMap(SpectrumKernel(k=1, normalize=False), sparse_output=False).fit(["AACG", "GTT"])
    >>> features.transform(["ACT", "GGG"])
    array([[1., 1., 0., 1.],
           [0., 0., 3., 0.]])
    >>> features.get_feature_names_out()
    array(['A', 'C', 'G', 'T'], dtype=object)
    """

    kernel_: Kernel
    n_features_in_: int

    def __init__(self, kernel: Kernel, *, sparse_output: bool | None = None) -> None:
        self.kernel = kernel
        self.sparse_output = sparse_output

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the kernel, if it learns from data, and count the features."""
        check_choice("sparse_output", self.sparse_output, (None, True, False))
        if not isinstance(self.kernel, Kernel):
            raise ParameterError(f"kernel={self.kernel!r} is not a kernel", remedy="give one, such as SpectrumKernel()")
        kernel = clone(self.kernel)
        required(kernel, "features")
        X = kernel.coerce(X)
        if not len(X):
            raise SequenceError("there are no samples to learn from", remedy="give a training set")
        self.kernel_ = kernel.fit(X, y).forget()
        self._example = References(_longest(X))
        self._n_features_out = kernel.features(self._example.samples).shape[1]
        if kernel.traits.accepts == "features":
            self.n_features_in_ = X.shape[1]
        return self

    def transform(self, X: Any) -> np.ndarray | csr_array:
        """Return the features of samples."""
        check_is_fitted(self)
        vectors = self.kernel_.features.normalised(self._example.read(X))
        if vectors.shape[1] != self._n_features_out:
            raise SequenceError(
                f"the samples have {vectors.shape[1]} features, the training samples have {self._n_features_out}",
                remedy="give samples with the length, or the columns, of the training samples",
            )
        if self.sparse_output is None or issparse(vectors) == self.sparse_output:
            return vectors
        return csr_array(vectors) if self.sparse_output else _dense(vectors)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the features, such as k-mers; ``feature 1``, … where the kernel has none."""
        check_is_fitted(self)
        names = self.kernel_.features.named(self._example.samples, np.arange(self._n_features_out))
        return np.array(names, dtype=object)

    def __sklearn_tags__(self) -> Tags:
        """Return scikit-learn's tags, with the input type of the kernel."""
        tags = super().__sklearn_tags__()
        tags.input_tags = self.kernel.__sklearn_tags__().input_tags
        return tags


def _longest(X: Samples) -> Samples:
    """Return a one-record copy with the alphabet and length, or columns, that determine the features."""
    if not isinstance(X, SequenceSet):
        return X.take([0])
    return X.take([int(np.argmax(X.lengths))]).compact()


def _dense(vectors: csr_array) -> np.ndarray:
    """Return sparse features as an array, if they fit into the memory."""
    need, free = 8 * vectors.shape[0] * vectors.shape[1], available_memory()
    if need > free:
        raise ParameterError(
            f"the features take {format_bytes(need)} of memory, {format_bytes(free)} are free",
            remedy="remove sparse_output=False, or choose a kernel with fewer features",
        )
    return vectors.toarray()
