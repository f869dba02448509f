"""The engine of the pair HMM kernel: `PairSums` is a set of sequences made ready.

As `seqkern.kernels.alignment.local_sums`, whose `product` fills a rectangle with ln K.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from seqkern.kernels._records import Records
from seqkern.kernels.alignment import _pair_hmm
from seqkern.kernels.alignment.local_sums import LocalSums
from seqkern.kernels.alignment.pair_factors import PairFactors
from seqkern.kernels.products import _product
from seqkern.sequences.sequence_set import SequenceSet


class PairSums(LocalSums):
    """The payload of the pair HMM kernel: sequences, or a range of them, and ln K of each with itself.

    Parameters
    ----------
    X : SequenceSet
        The sequences.
    factors : PairFactors
        For their alphabet.
    like : PairSums, optional
        What they will be compared with, as columns.

    Attributes
    ----------
    background : ndarray of float64
        ln of the background probability of each, of all records.
    """

    factors: PairFactors  # type: ignore[assignment]  # in place of those of local alignments

    def __init__(self, X: SequenceSet, factors: PairFactors, like: PairSums | None = None) -> None:
        super().__init__(X, factors, like)  # type: ignore[arg-type]  # see above
        self.background = np.array(
            [factors.background[self.codes[a:b]].sum() for a, b in zip(self.start, self.stop, strict=True)]
        )

    def own_background(self) -> npt.NDArray[np.float64]:
        """Return ln of the background probability of each of these, float64 (n,)."""
        return self.background[self.first : self.last]

    def _fill_diagonal(self, order: npt.NDArray[np.int64], lengths: npt.NDArray[np.int64]) -> None:
        """Set `logarithms`: each sequence in a lane of its own."""
        for k in order:
            self.logarithms[k] = self.pair(k, k) + self.factors.constant

    def fill(
        self,
        order: npt.NDArray[np.int64],
        lanes: LocalSums,
        lane_order: npt.NDArray[np.int64],
        stop: npt.NDArray[np.int64],
        out: npt.NDArray[np.float64],
    ) -> None:
        """Set out[row, lane] to the logarithm of the sum for each of these as a row, and some of the others in lanes.

        Parameters
        ----------
        order : ndarray of int64, shape (n,)
            These, by rank.
        lanes : PairSums, m records
            The others.
        lane_order : ndarray of int64
            Those of them that are compared, by rank.
        stop : ndarray of int64, shape (n,)
            Of each row, how many of these lanes it meets.
        out : ndarray of float64, shape (n, m)
            Where ln K is written, but for the constant.
        """
        rows, theirs = self._records(order), lanes._records(lane_order)
        _pair_hmm.fill(self.factors.model, _product.level(), rows, theirs, stop.astype(np.int64), out)

    def pair(self, i: int, j: int) -> float:
        """Return the logarithm of the sum over the alignments of two of these, but for the constant.

        Parameters
        ----------
        i, j : int
            Their places.

        Returns
        -------
        float
        """
        out, one = np.empty((1, 1)), np.ones(1, dtype=np.int64)
        records = [Records(self.codes, self.start[k : k + 1], self.stop[k : k + 1], one - 1) for k in (i, j)]
        _pair_hmm.fill(self.factors.model, _product.level(), records[0], records[1], one, out)
        return float(out[0, 0])
