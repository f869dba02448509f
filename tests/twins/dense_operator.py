"""A KernelOperator over a stored matrix."""

import numpy as np

from seqkern.kernels.kernel_operator import KernelOperator


class DenseOperator(KernelOperator):
    """Products with rows of a matrix; it counts those with K."""

    def __init__(self, K, rows=None, tables=None):
        self.K = K
        self.rows = np.arange(len(K)) if rows is None else np.asarray(rows)
        self.squares = np.diagonal(K)[self.rows]
        self.n_weights = len(K)
        self.tables = object() if tables is None else tables
        self.counts = {}
        self.collected = 0

    def take(self, rows):
        return DenseOperator(self.K, self.rows[np.asarray(rows)], self.tables)

    def collect(self, coefficients):
        self.collected += 1
        return np.bincount(self.rows, weights=coefficients, minlength=len(self.K))

    def spread(self, table):
        table[:] = self.K @ table

    def dots(self, weights, out=None):
        return weights[self.rows]
