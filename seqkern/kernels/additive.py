"""Σ_j c_j·K(x, z_j) without the matrix: folded into one table, and explained by residue and k-mer.

An SVM decision is such a sum over its support sequences z_j, plus a constant. A kernel family implements what it can of
`Kernel._fold`, `Kernel._attribute` and `Kernel._kmer_weights`, without normalisation; users call the functions here,
for any kernel, including parts inside other kernels.

Kernels built from kernels distribute their values among their parts:

- a weighted sum to each part its summand, a kernel on a part of the sequence to the residues of that part;
- a product of n kernels to each of them 1/n;
- a function f of a kernel K (polynomial, radial, sigmoid) in proportion to K, what exceeds the value of f at K = 0: of
  c_j·f(K(x, z_j)) a letter of x has its share of c_j'·K(x, z_j), with c_j' = c_j·(f(K(x, z_j)) − f(0)) / K(x, z_j), or
  c_j·f'(0) where K(x, z_j) = 0. What is left, c_j·f(0), rests on nothing that x and z_j have in common: it is shared
  equally by all residues of x.

In the last two cases the coefficients differ between sequences; the weight of a k-mer is then the mean over the
explained sequences.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import SequenceError
from seqkern.kernels.blocks import fill
from seqkern.kernels.occurrences import KmerWeights
from seqkern.sequences.sequence_set import SequenceSet

if TYPE_CHECKING:
    from seqkern.kernels.kernel import Kernel
    from seqkern.kernels.prepared import Prepared


@dataclass(frozen=True)
class Folded:
    """Support sequences and their coefficients, folded for fast decisions.

    Attributes
    ----------
    values : callable
        ``values(payload)`` returns Σ_j c_j·K(x, z_j), not normalised, float64 (n,), for the payload of n
        sequences.
    normalize : bool
        Whether to divide by √K(x, x).
    """

    values: Callable[[Any], npt.NDArray[np.float64]]
    normalize: bool

    def __call__(self, rows: Prepared) -> npt.NDArray[np.float64]:
        """Return Σ_j c_j·K(x, z_j), float64 (n,), of `rows`, Prepared like the support."""
        sums = self.values(rows.payload)
        return over_root(sums, rows.raw_diagonal) if self.normalize else sums


def fold(kernel: Kernel, columns: Prepared, coefficients: npt.NDArray[np.float64]) -> Folded | None:
    """Return a `Folded`, or None if the matrix is the fastest way.

    Parameters
    ----------
    kernel : Kernel
        Fitted, if it learns from data.
    columns : Prepared
        Of the m support sequences z_j.
    coefficients : ndarray of float64, shape (m,)
        c_j.

    Returns
    -------
    Folded or None
    """
    if kernel.normalize:
        coefficients = over_root(coefficients, columns.raw_diagonal)
    values = kernel._fold(columns.payload, coefficients)
    return None if values is None else Folded(values, kernel.normalize)


def attributions(
    kernel: Kernel, X: Any, support: Any, coefficients: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """Return what each residue contributes to Σ_j c_j·K(x, z_j).

    Parameters
    ----------
    kernel : Kernel
        Fitted, if it learns from data.
    X : SequenceSet, n sequences
        The sequences that are explained.
    support : SequenceSet, m sequences
        The support sequences z_j.
    coefficients : ndarray of float64, shape (m,)
        c_j.

    Returns
    -------
    ndarray of float64, shape (residues of X,)
        Record after record; the sum over a record is Σ_j c_j·K(x, z_j).

    Raises
    ------
    ParameterError
        If the value has no residues to share it.

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern import SequenceSet
    >>> from seqkern.kernels import SpectrumKernel
    >>> X = SequenceSet.from_strings(["GATT"], "dna")
    >>> attributions(SpectrumKernel(k=2, normalize=False), X, ["GAGA"], np.array([1.0]))
    array([1., 1., 0., 0.])
    """
    return _shares(kernel, X, support, coefficients, kernel._attribute)


def row_attributions(
    kernel: Kernel, X: Any, support: Any, coefficients: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """Return what `attributions` does, with separate coefficients for each record.

    Parameters
    ----------
    kernel, X, support
        As in `attributions`.
    coefficients : ndarray of float64, shape (n, m)
        Those of record i in row i.

    Returns
    -------
    ndarray of float64, shape (residues of X,)
    """

    def one_by_one(X: Any, support: Any, coefficients: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        parts = [kernel._attribute(X.take([i]), support, row) for i, row in enumerate(coefficients)]
        return np.concatenate([np.zeros(0), *parts])

    return _shares(kernel, X, support, coefficients, one_by_one)


def _shares(
    kernel: Kernel,
    X: Any,
    support: Any,
    coefficients: npt.NDArray[np.float64],
    attribute: Callable[[Any, Any, npt.NDArray[np.float64]], npt.NDArray[np.float64]],
) -> npt.NDArray[np.float64]:
    """Return ``attribute(X, support, coefficients)``, normalised as the kernel is."""
    X, support = kernel.coerce(X), kernel.coerce(support)
    if not kernel.normalize:
        return attribute(X, support, coefficients)
    columns = kernel.prepare(support)
    shares = attribute(X, support, over_root(coefficients, columns.raw_diagonal))
    diagonal = kernel.prepare(X, like=columns).raw_diagonal
    return over_root(shares, np.repeat(diagonal, X.lengths))


def spread_evenly(X: SequenceSet, values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Share a value of each record equally among its residues.

    Parameters
    ----------
    X : SequenceSet, n sequences
        The records.
    values : ndarray of float64, shape (n,)
        One for each record.

    Returns
    -------
    ndarray of float64, shape (residues of X,)

    Raises
    ------
    SequenceError
        If a record has a value, and no residue.

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern import SequenceSet
    >>> spread_evenly(SequenceSet.from_strings(["ACG", "TT"]), np.array([3.0, 1.0]))
    array([1. , 1. , 1. , 0.5, 0.5])
    """
    bare = np.flatnonzero((X.lengths == 0) & (values != 0))
    if len(bare):
        raise SequenceError("has no residues to share its value", record=X.ids[bare[0]], remedy="remove the record")
    return np.repeat(values / np.maximum(X.lengths, 1), X.lengths)


def matrix(
    kernel: Kernel, X: Any, support: Any
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return the kernel matrix of two sets and the diagonals of both.

    Parameters
    ----------
    kernel : Kernel
        Fitted, if it learns from data.
    X, support : SequenceSet, n and m sequences
        Rows and columns.

    Returns
    -------
    values : ndarray of float64, shape (n, m)
        K(x, z).
    row_diagonal : ndarray of float64, shape (n,)
        K(x, x).
    column_diagonal : ndarray of float64, shape (m,)
        K(z, z).
    """
    columns = kernel.prepare(support)
    rows = kernel.prepare(X, like=columns)
    values = np.empty((len(rows), len(columns)))
    fill(kernel, rows, columns, values)
    return values, rows.diagonal, columns.diagonal


def kmer_weights(kernel: Kernel, X: Any, support: Any, coefficients: npt.NDArray[np.float64]) -> KmerWeights:
    """Return what one occurrence of a k-mer adds to Σ_j c_j·K(x, z_j), before the division by √K(x, x).

    Parameters
    ----------
    kernel, X, support, coefficients
        As in `attributions`.

    Returns
    -------
    KmerWeights
        Of the distinct k-mers of `X` and `support` that the kernel compares.

    Raises
    ------
    NoKmersError
        If the kernel compares no k-mers.
    """
    X, support = kernel.coerce(X), kernel.coerce(support)
    if kernel.normalize:
        coefficients = over_root(coefficients, kernel.prepare(support).raw_diagonal)
    return KmerWeights(*kernel._kmer_weights(X, support, coefficients))


def over_root(values: npt.NDArray[np.float64], diagonal: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return values / √diagonal; 0 where the diagonal is not positive.

    Parameters
    ----------
    values : ndarray of float64, shape (n,)
        What is divided.
    diagonal : ndarray of float64, shape (n,)
        K(x, x).

    Returns
    -------
    ndarray of float64, shape (n,)
    """
    return np.divide(values, np.sqrt(np.maximum(diagonal, 0)), out=np.zeros_like(values), where=diagonal > 0)
