"""Which residue of which chain each unit is, and what its state is.

The windows that kernels compare know nothing of states; these are kept here, beside the whole chains.
"""

from dataclasses import dataclass

import numpy as np

from seqkern.core.archive import nest, unnest
from seqkern.core.checks import check_integer
from seqkern.core.errors import ParameterError, SequenceError
from seqkern.sequences.sequence_set import SequenceSet

STATES = "states"
"""Name of the track of states, ASCII letters; 0 is a residue whose state is not known."""
WINDOW = 15
"""Letters of the window around a residue, where no other number is asked for."""


@dataclass(frozen=True, eq=False)
class Residues:
    """The residues that n units are.

    Attributes
    ----------
    chains : SequenceSet
        Whole chains; the track ``states`` holds the true state of each residue as an ASCII letter (uint8), 0 where it
        is not known. Without the track, no state is known.
    record : ndarray of int64, shape (n,)
        The chain of each unit.
    place : ndarray of int64, shape (n,)
        Its residue, from 0.
    window : int
        Letters of the window around each residue, an odd number.
    """

    chains: SequenceSet
    record: np.ndarray
    place: np.ndarray
    window: int

    def __post_init__(self):
        check_window(self.window)
        for name in ("record", "place"):
            values = np.ascontiguousarray(getattr(self, name), dtype=np.int64).view()
            values.flags.writeable = False
            object.__setattr__(self, name, values)
        if self.record.shape != self.place.shape or self.record.ndim != 1:
            raise SequenceError("residues need one place for each record", remedy="give arrays of one length")
        # What is read from a file is not to point outside the chains.
        inside = np.all((self.record >= 0) & (self.record < len(self.chains)))
        if not inside or np.any((self.place < 0) | (self.place >= self.chains.lengths[self.record])):
            raise SequenceError("a residue lies outside its chain", remedy="make the file again")

    def __len__(self):
        return len(self.record)

    @classmethod
    def of_chains(cls, chains, window):
        """Return all residues of whole chains, chain after chain.

        Parameters
        ----------
        chains : SequenceSet
        window : int
        """
        lengths = chains.lengths
        record = np.repeat(np.arange(len(chains)), lengths)
        place = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        return cls(chains, record, place, window)

    def take(self, rows):
        """Return the residues `rows` (integer array, boolean mask or slice) of the same chains."""
        return Residues(self.chains, self.record[rows], self.place[rows], self.window)

    def positions(self):
        """Return int64 (n,): where each residue stands in the codes and tracks of `chains`."""
        return self.chains.starts[self.record] + self.place

    def states(self):
        """Return uint8 (n,): the true state of each residue as an ASCII letter, 0 where it is not known."""
        if STATES not in self.chains.tracks:
            return np.zeros(len(self), dtype=np.uint8)
        return self.chains.tracks[STATES][self.positions()]

    def lengths(self):
        """Return int64 (n,): the length of each unit's chain."""
        return self.chains.lengths[self.record]

    def to_terminus(self):
        """Return int64 (n,): residues between each residue and the nearer end of its chain, 0 at the end."""
        return np.minimum(self.place, self.lengths() - 1 - self.place)

    def neighbours(self, half):
        """Return the units around each unit in its chain.

        Parameters
        ----------
        half : int
            Residues before and after it.

        Returns
        -------
        ndarray of int64, shape (n, 2 * half + 1)
            Rows of this view; −1 where there is no residue, or it is not among the units.
        """
        check_integer("half", half, 0)
        chains = self.chains
        # every chain is followed by `half` places without a unit, which also stand before the next one
        first = half + np.concatenate(([0], np.cumsum(chains.lengths + half)))
        row = np.full(first[-1], -1, dtype=np.int64)
        centre = first[self.record] + self.place
        row[centre] = np.arange(len(self))
        return row[centre[:, None] + np.arange(-half, half + 1)]

    def chain_rows(self):
        """Yield (chain, int64 rows of its units in the order of their places) of each chain that has units."""
        order = np.lexsort((self.place, self.record))
        chains, first = np.unique(self.record[order], return_index=True)
        yield from zip(chains.tolist(), np.split(order, first)[1:], strict=True)

    def state(self):
        """Return what `from_state` needs: a JSON dict and a dict of arrays."""
        header, arrays = self.chains.state()
        places = {"record": self.record, "place": self.place}
        return {"chains": header, "window": int(self.window)}, nest("chains", arrays) | places

    @classmethod
    def from_state(cls, header, arrays):
        """Return the residues whose `state` this was; SequenceError if it was tampered with."""
        chains = SequenceSet.from_state(header["chains"], unnest("chains", arrays))
        return cls(chains, arrays["record"], arrays["place"], header["window"])


def check_window(window, name="window"):
    """Raise ParameterError unless `window` is an odd whole number: the residue itself is in the middle."""
    check_integer(name, window, 1)
    if window % 2 == 0:
        raise ParameterError(
            f"{name}={window} is even, so no residue is in the middle",
            remedy=f"take {window - 1} or {window + 1}",
        )
