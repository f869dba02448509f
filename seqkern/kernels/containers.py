"""Conversion of a kernel matrix to an array or a data frame, according to scikit-learn's ``set_output``."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin


class NamesColumns(Protocol):
    """An object that provides the column names of a matrix."""

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names."""


class _Named(TransformerMixin, BaseEstimator):
    """Adapter that provides the column names of a kernel."""

    def __init__(self, kernel: NamesColumns) -> None:
        self.kernel = kernel

    def fit(self, K: np.ndarray, y: None = None) -> _Named:
        """Learn nothing."""
        return self

    def transform(self, K: np.ndarray) -> np.ndarray:
        """Return the matrix, which scikit-learn then puts into the container."""
        return K

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the kernel."""
        return self.kernel.get_feature_names_out()


def contain(K: np.ndarray, kernel: NamesColumns) -> Any:
    """Return the matrix of a fitted kernel in the container requested by its ``set_output`` or the configuration.

    >>> from seqkern.kernels import SpectrumKernel
    >>> contain(np.ones((1, 2)), SpectrumKernel(k=1).fit(["AC", "GG"]).set_output(transform="pandas"))
         1    2
    0  1.0  1.0
    """
    chosen = getattr(kernel, "_sklearn_output_config", {}).get("transform")
    return _Named(kernel).set_output(transform=chosen).transform(K)
