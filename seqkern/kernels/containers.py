"""A kernel matrix as an array or as a data frame, as scikit-learn's ``set_output`` has it."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin


class NamesColumns(Protocol):
    """Object with the column names of a matrix."""

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names.

        Parameters
        ----------
        input_features : None
            Ignored.

        Returns
        -------
        ndarray of str
        """


class _Named(TransformerMixin, BaseEstimator):
    """Adapter that provides the column names of a kernel."""

    def __init__(self, kernel: NamesColumns) -> None:
        self.kernel = kernel

    def fit(self, K: np.ndarray, y: None = None) -> _Named:
        """Learn nothing."""
        return self

    def transform(self, K: np.ndarray) -> np.ndarray:
        """Return the matrix for scikit-learn's container."""
        return K

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the kernel."""
        return self.kernel.get_feature_names_out()


def contain(K: np.ndarray, kernel: NamesColumns) -> Any:
    """Return the matrix of a fitted kernel in the container that its ``set_output``, or the configuration, asks for.

    Parameters
    ----------
    K : ndarray of float64, shape (n, training samples)
        The matrix.
    kernel : Kernel
        Fitted: its training samples name the columns.

    Returns
    -------
    ndarray or DataFrame

    Examples
    --------
    >>> from seqkern.kernels import SpectrumKernel
    >>> contain(np.ones((1, 2)), SpectrumKernel(k=1).fit(["AC", "GG"]).set_output(transform="pandas"))
         1    2
    0  1.0  1.0
    """
    chosen = getattr(kernel, "_sklearn_output_config", {}).get("transform")
    return _Named(kernel).set_output(transform=chosen).transform(K)
