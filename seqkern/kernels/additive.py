"""Σ_j c_j·K(x, z_j) without the matrix: folded into one table, and taken apart letter by letter and word by word.

A decision of a kernel machine is such a sum over its support sequences z_j, and a constant. A kernel family offers
what it can by `Kernel._fold`, `Kernel._attribute` and `Kernel._word_weights`, which know nothing of normalisation;
the functions here are what their users call, for any kernel, also for parts inside other kernels.

Kernels made of kernels hand their values on to their parts:

- a weighted sum to each part its summand, a kernel on a part of the sequence to the letters of that part;
- a product of n kernels to each of them 1/n;
- a function f of a kernel K (polynomial, radial, sigmoid) in proportion to K what is more than f's value at K = 0: of
  c_j·f(K(x, z_j)) a letter of x has its share of c_j'·K(x, z_j), with c_j' = c_j·(f(K(x, z_j)) − f(0)) / K(x, z_j), or
  c_j·f'(0) where K(x, z_j) = 0. What is left, c_j·f(0), rests on nothing that x and z_j have in common: it is shared
  equally by all letters of x.

In the last two cases the coefficients differ from sequence to sequence; the weight of a word is then the mean over the
sequences that are explained.
"""

from dataclasses import dataclass

import numpy as np

from seqkern.core.errors import SequenceError
from seqkern.kernels.blocks import fill
from seqkern.kernels.occurrences import WordWeights


@dataclass(frozen=True)
class Folded:
    """Support sequences and their coefficients, folded into what decides about any sequence.

    Attributes
    ----------
    values : callable
        ``values(payload)`` returns Σ_j c_j·K(x, z_j), not normalised, float64 (n,), for the payload of n
        sequences.
    normalize : bool
        Whether to divide by √K(x, x).
    """

    values: object
    normalize: bool

    def __call__(self, rows):
        """Return Σ_j c_j·K(x, z_j), float64 (n,), of `rows`, Prepared like the support."""
        sums = self.values(rows.payload)
        return over_root(sums, rows.raw_diagonal) if self.normalize else sums


def fold(kernel, columns, coefficients):
    """Return a `Folded`, or None if the kernel knows no way faster than the matrix.

    Parameters
    ----------
    kernel : Kernel
    columns : Prepared
        Of the m support sequences.
    coefficients : ndarray of float64, shape (m,)
    """
    if kernel.normalize:
        coefficients = over_root(coefficients, columns.raw_diagonal)
    values = kernel._fold(columns.payload, coefficients)
    return None if values is None else Folded(values, kernel.normalize)


def attributions(kernel, X, support, coefficients):
    """Return what each letter contributes to Σ_j c_j·K(x, z_j).

    Parameters
    ----------
    kernel : Kernel
        Fitted, if it learns from data.
    X : SequenceSet, n sequences
    support : SequenceSet, m sequences
    coefficients : ndarray of float64, shape (m,)

    Returns
    -------
    ndarray of float64, shape (letters of X,)
        Record after record; the sum over a record is Σ_j c_j·K(x, z_j).

    Raises
    ------
    ParameterError
        If the kernel's value has no letters to be shared among.
    """
    return _shares(kernel, X, support, coefficients, kernel._attribute)


def row_attributions(kernel, X, support, coefficients):
    """Return what `attributions` does, the coefficients float64 (n, m): those of record i in row i."""

    def one_by_one(X, support, coefficients):
        parts = [kernel._attribute(X.take([i]), support, row) for i, row in enumerate(coefficients)]
        return np.concatenate([np.zeros(0), *parts])

    return _shares(kernel, X, support, coefficients, one_by_one)


def _shares(kernel, X, support, coefficients, attribute):
    """Return ``attribute(X, support, coefficients)``, normalised as the kernel is."""
    X, support = kernel.coerce(X), kernel.coerce(support)
    if not kernel.normalize:
        return attribute(X, support, coefficients)
    columns = kernel.prepare(support)
    shares = attribute(X, support, over_root(coefficients, columns.raw_diagonal))
    diagonal = kernel.prepare(X, like=columns).raw_diagonal
    return over_root(shares, np.repeat(diagonal, X.lengths))


def spread_evenly(X, values):
    """Return float64 (letters of X,): values[i] shared equally by all letters of record i.

    Raises
    ------
    SequenceError
        If a record has a value, and no letter.
    """
    bare = np.flatnonzero((X.lengths == 0) & (values != 0))
    if len(bare):
        raise SequenceError("has no letters to share its value among", record=X.ids[bare[0]], remedy="leave it out")
    return np.repeat(values / np.maximum(X.lengths, 1), X.lengths)


def matrix(kernel, X, support):
    """Return the kernel matrix, float64 (n, m), and the two diagonals."""
    columns = kernel.prepare(support)
    rows = kernel.prepare(X, like=columns)
    return fill(kernel, rows, columns, np.empty((len(rows), len(columns)))), rows.diagonal, columns.diagonal


def word_weights(kernel, X, support, coefficients):
    """Return what one occurrence of a word adds to Σ_j c_j·K(x, z_j), before the division by √K(x, x).

    Parameters
    ----------
    kernel, X, support, coefficients
        As in `attributions`.

    Returns
    -------
    WordWeights
        Of the distinct words of `X` and `support` that the kernel compares.

    Raises
    ------
    NoWordsError
        If the kernel compares no words.
    """
    X, support = kernel.coerce(X), kernel.coerce(support)
    if kernel.normalize:
        coefficients = over_root(coefficients, kernel.prepare(support).raw_diagonal)
    return WordWeights(*kernel._word_weights(X, support, coefficients))


def over_root(values, diagonal):
    """Return values / √diagonal; 0 where the diagonal is not positive."""
    return np.divide(values, np.sqrt(np.maximum(diagonal, 0)), out=np.zeros_like(values), where=diagonal > 0)
