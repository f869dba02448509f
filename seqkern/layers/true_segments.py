"""Segments of true states: lengths and transitions."""

from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt

from seqkern.layers.segment_model import SegmentModel
from seqkern.residues import Residues

RARE = 100
"""Lengths are impossible if fewer than one in this many segments of a class is shorter."""


class TrueSegments(NamedTuple):
    """Segments of the residues of a class in chains, chain after chain.

    Attributes
    ----------
    state, length : ndarray of int64, shape (s,)
        Class, and number of residues.
    first : ndarray of bool, shape (s,)
        Whether it is the first of its chain.
    meets : ndarray of bool, shape (s,)
        Whether the next segment follows it: not where a chain ends, or residues are missing.
    whole : ndarray of bool, shape (s,)
        Whether no residue is missing beside it, so that it cannot be longer.

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern import SequenceSet
    >>> from seqkern.layers.true_segments import TrueSegments
    >>> from seqkern.residues import Residues
    >>> residues = Residues.of_chains(SequenceSet.from_strings(["GSAEALKAGP"], "protein"), window=1)
    >>> true = TrueSegments.of(residues, np.array([1, 1, 0, 0, 0, 0, 0, 1, 1, 1]))
    >>> true.state, true.length
    (array([1, 0, 1]), array([2, 5, 3]))
    """

    state: npt.NDArray[np.int64]
    length: npt.NDArray[np.int64]
    first: npt.NDArray[np.bool_]
    meets: npt.NDArray[np.bool_]
    whole: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, chains: Residues, y: npt.NDArray[np.int64]) -> Self:
        """Return the segments of residues.

        Parameters
        ----------
        chains : Residues
            Which residue of which chain each row is.
        y : ndarray of int64, shape (n,)
            Their classes.

        Returns
        -------
        TrueSegments
        """
        order = np.lexsort((chains.place, chains.record))
        record, place, state = chains.record[order], chains.place[order], y[order]
        joined = (np.diff(record) == 0) & (np.diff(place) == 1)
        begins = np.flatnonzero(np.concatenate(([True], ~joined | (np.diff(state) != 0))))
        ends = np.append(begins[1:], len(state)) - 1
        follows, meets = (np.append(joined, False)[rows] for rows in (begins - 1, ends))
        at_start, at_end = place[begins] == 0, place[ends] == chains.lengths()[order][ends] - 1
        return cls(
            state[begins],
            ends - begins + 1,
            np.concatenate(([True], np.diff(record[begins]) != 0)),
            meets,
            (follows | at_start) & (meets | at_end),
        )

    def shortest(self, k: int, longest: int) -> npt.NDArray[np.int64]:
        """Return the shortest length of each class.

        Fewer than one in `RARE` of the class's whole segments are shorter; without any it is 1.

        Parameters
        ----------
        k : int
            How many classes.
        longest : int
            Upper bound of the lengths.

        Returns
        -------
        ndarray of int64, shape (k,)
            In residues, from 1 to `longest`.
        """
        out = np.ones(k, dtype=np.int64)
        for code in range(k):
            lengths = np.sort(self.length[self.whole & (self.state == code)])
            if len(lengths):
                out[code] = min(lengths[(len(lengths) - 1) // RARE], longest)
        return out

    def model(self, shortest: npt.NDArray[np.int64]) -> SegmentModel:
        """Return the model with the observed frequencies as probabilities, with a pseudocount of 1.

        Parameters
        ----------
        shortest : ndarray of int64, shape (k,)
            Fewest residues of a segment of each class; shorter segments count as that length.

        Returns
        -------
        SegmentModel
        """
        k, state = len(shortest), self.state
        start = 1.0 + np.bincount(state[self.first], minlength=k)
        stayed = 1.0 + np.bincount(state, np.maximum(self.length - shortest[state], 0), minlength=k)
        left = 1.0 + np.bincount(state[self.meets], minlength=k)
        follow = np.ones((k, k))
        np.add.at(follow, (state[self.meets], state[np.flatnonzero(self.meets) + 1]), 1.0)
        np.fill_diagonal(follow, 0.0)
        follow /= follow.sum(axis=1, keepdims=True)
        np.fill_diagonal(follow, 1.0)
        return SegmentModel(shortest, np.log(start / start.sum()), np.log(stayed / (stayed + left)), np.log(follow))
