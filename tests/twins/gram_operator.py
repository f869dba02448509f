"""The kernel matrix of records as a scipy operator, for the P-SVM."""

import numpy as np
from scipy.sparse.linalg import LinearOperator


def gram_operator(rows, columns=None):
    """Return the operator of a product with the matrix of records (rows) and others (columns)."""
    columns = rows if columns is None else columns
    return LinearOperator(
        (len(rows), len(columns)),
        matvec=lambda vector: rows.dots(columns.weights(np.ravel(vector))),
        rmatvec=lambda vector: columns.dots(rows.weights(np.ravel(vector))),
        dtype=np.float64,
    )
