"""Σ_j c_j·K(x, z_j) for windows of a long sequence, by weights at positions, normalised like the kernel.

A kernel provides its sums by `Kernel.weights_at_positions`, without normalisation: a weighted degree kernel a
`PositionWeights`, a composite kernel a part of the window or a sum, both defined here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np
import numpy.typing as npt

from seqkern.kernels.additive import over_root
from seqkern.sequences.sequence_set import SequenceSet

if TYPE_CHECKING:
    from seqkern.kernels.kernel import Kernel
    from seqkern.kernels.prepared import Prepared

AT_ONCE = 1 << 14


class ScansWindows(Protocol):
    """Object that sums over windows of a long sequence; see `WindowValues.scan`."""

    def scan(
        self, codes: npt.NDArray[np.uint8], starts: npt.NDArray[np.int64], n_threads: int | None = None
    ) -> npt.NDArray[np.float64]:
        """Return the values of windows.

        Parameters
        ----------
        codes : ndarray of uint8, shape (residues,)
            One long sequence.
        starts : ndarray of int64, shape (n,)
            Starts of the windows, ascending.
        n_threads : int, optional
            By default the kernel's own, or all cores.

        Returns
        -------
        ndarray of float64, shape (n,)
        """


class WindowValues:
    """The values of one kernel.

    Parameters
    ----------
    kernel : Kernel
        With weights at positions: `has_weights_at_positions`.
    support : SequenceSet, m sequences of one length
    coefficients : ndarray of float64, shape (m,)
        c_j.
    columns : Prepared, optional
        Of the support.

    Raises
    ------
    ParameterError
        If the weights do not fit into memory.
    """

    def __init__(
        self,
        kernel: Kernel,
        support: SequenceSet,
        coefficients: npt.NDArray[np.float64],
        columns: Prepared | None = None,
    ) -> None:
        self.kernel, self.alphabet = kernel, support.alphabet
        self.length = int(support.lengths[0]) if len(support) else 0
        support = kernel.coerce(support)
        self._columns = kernel.prepare(support) if columns is None else columns
        if kernel.normalize:
            coefficients = over_root(coefficients, self._columns.raw_diagonal)
        self._weights = cast(ScansWindows, kernel.weights_at_positions(support, coefficients))
        self._same = kernel.constant_diagonal(self.length)

    def scan(
        self, codes: npt.NDArray[np.uint8], starts: npt.NDArray[np.int64], n_threads: int | None = None
    ) -> npt.NDArray[np.float64]:
        """Return the values of windows, float64 (n,).

        Parameters
        ----------
        codes : ndarray of uint8, shape (residues,)
            One long sequence.
        starts : ndarray of int64, shape (n,)
            Where the windows start, ascending; none of their residues is masked.
        n_threads : int, optional
            By default the kernel's own, or all cores.

        Returns
        -------
        ndarray of float64, shape (n,)
        """
        values = self._weights.scan(codes, starts, n_threads)
        return over_root(values, self._raw_diagonal(codes, starts)) if self.kernel.normalize else values

    def diagonal(self, codes: npt.NDArray[np.uint8], starts: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """Return K(x, x) of windows, as the kernel returns it.

        Parameters
        ----------
        codes : ndarray of uint8, shape (residues,)
            One long sequence.
        starts : ndarray of int64, shape (n,)
            Starts of the windows, ascending.

        Returns
        -------
        ndarray of float64, shape (n,)
            Or (1,) if all windows have the same value.
        """
        raw = self._raw_diagonal(codes, starts)
        return (raw > 0).astype(np.float64) if self.kernel.normalize else raw

    def _raw_diagonal(self, codes: npt.NDArray[np.uint8], starts: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        starts = starts[:1] if self._same else starts
        out = np.empty(len(starts))
        for first in range(0, len(starts), AT_ONCE):
            some = starts[first : first + AT_ONCE]
            windows = SequenceSet(codes, some, some + self.length, [""] * len(some), self.alphabet)
            out[first : first + AT_ONCE] = self.kernel.prepare(windows, like=self._columns).raw_diagonal
        return out


class PartOfWindow:
    """The values of a part of each window.

    Parameters
    ----------
    values : WindowValues
        Of windows of the part's length.
    offset : int
        Where the part begins.
    """

    def __init__(self, values: ScansWindows, offset: int) -> None:
        self.values, self.offset = values, offset

    def scan(
        self, codes: npt.NDArray[np.uint8], starts: npt.NDArray[np.int64], n_threads: int | None = None
    ) -> npt.NDArray[np.float64]:
        """Return the values of windows, as `WindowValues.scan`.

        Parameters
        ----------
        codes, starts, n_threads
            As in `WindowValues.scan`.

        Returns
        -------
        ndarray of float64, shape (n,)
        """
        return self.values.scan(codes, starts + self.offset, n_threads)


class SumOfValues:
    """The sum of several values of each window.

    Parameters
    ----------
    parts : list of WindowValues
        Terms of the sum.
    """

    def __init__(self, parts: Sequence[ScansWindows]) -> None:
        self.parts = parts

    def scan(
        self, codes: npt.NDArray[np.uint8], starts: npt.NDArray[np.int64], n_threads: int | None = None
    ) -> npt.NDArray[np.float64]:
        """Return the values of windows, as `WindowValues.scan`.

        Parameters
        ----------
        codes, starts, n_threads
            As in `WindowValues.scan`.

        Returns
        -------
        ndarray of float64, shape (n,)
        """
        total: Any = sum(part.scan(codes, starts, n_threads) for part in self.parts)
        return total
