"""Views of records: a vector for each record, such as an embedding, or one of the sequences that it joins.

A sample with several sequences (two chains, a peptide and its allele) is one record: its sequences one after
the other, separated by a masked residue, which no k-mer crosses. `Segments` mark the residues of one sequence.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import SequenceError
from seqkern.core.types import Array, Ints, Rows
from seqkern.sequences.alphabets import Alphabet


@dataclass(frozen=True, eq=False)
class Vectors:
    """The vectors of n records: rows of an array that several sets of records share without copies.

    >>> vectors = Vectors.of(np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]))
    >>> vectors.take([2, 0]).rows().tolist()
    [[5.0, 6.0], [1.0, 2.0]]
    """

    values: npt.NDArray[np.floating[Any]]  # shape (N, width): Not copied when records are selected
    index: Ints  # shape (n,): The row of each record

    @classmethod
    def of(cls, values: npt.ArrayLike | Vectors) -> Vectors:
        """Return an array, shape (n, width), as Vectors.

        float32 stays float32, half precision becomes float32, other numbers become float64; Vectors are returned
        unchanged.
        """
        if isinstance(values, Vectors):
            return values
        table = np.asarray(values)
        if table.ndim != 2 or table.dtype.kind not in "fiub":
            raise SequenceError(
                f"expected one row of numbers for each record, got shape {table.shape} of {table.dtype}",
                remedy="give a table of numbers",
            )
        small = table.dtype in (np.float16, np.float32)
        stored: Array = np.ascontiguousarray(table, dtype=np.float32 if small else np.float64).view()
        stored.flags.writeable = False
        return cls(stored, np.arange(len(stored), dtype=np.int64))

    def __len__(self) -> int:
        return len(self.index)

    @property
    def width(self) -> int:
        """The length of each vector."""
        return self.values.shape[1]

    def take(self, rows: Rows) -> Vectors:
        """Return the vectors of some records, without copying them."""
        return Vectors(self.values, self.index[rows])

    def of_parts(self, rows: Rows, first: Ints, last: Ints) -> Vectors:
        """Return the vectors of parts of records: each part has the vector of its record."""
        return self.take(rows)

    @property
    def letters(self) -> str:
        """The letters of the alphabet: empty, since vectors have none."""
        return ""

    def rows(self) -> npt.NDArray[np.floating[Any]]:
        """Return the vectors as an array, shape (n, width), in the precision in which they are stored."""
        if np.array_equal(self.index, np.arange(len(self.values))):
            return self.values
        return self.values[self.index]


@dataclass(frozen=True, eq=False)
class Segments:
    """A sequence view: one of the joined sequences of each of n records.

    `bounds`, shape (n, 2), are its first residue in the record, from 0, and the residue after its last.
    """

    # shape (n, 2): Its first residue, counted from 0 in the record, and the residue after its last; equal if it is
    # empty
    bounds: Ints
    alphabet: Alphabet  # Of its letters, which the alphabet of the records contains
    similar: bool = True  # Whether it counts when records are searched for similar ones

    def __len__(self) -> int:
        return len(self.bounds)

    @property
    def lengths(self) -> Ints:
        """Number of residues of this sequence in each record, int64 (n,)."""
        return self.bounds[:, 1] - self.bounds[:, 0]

    @property
    def letters(self) -> str:
        """The letters of the alphabet."""
        return self.alphabet.letters

    def take(self, rows: Rows) -> Segments:
        """Return the segments of some records."""
        return replace(self, bounds=self.bounds[rows])

    def of_parts(self, rows: Rows, first: Ints, last: Ints) -> Segments:
        """Return the segments of parts of records: the residues of this sequence that a part contains."""
        inside = np.clip(self.bounds[rows], first[:, None], last[:, None])
        return replace(self, bounds=inside - first[:, None])

    def reversed(self, lengths: Ints, which: Rows = slice(None)) -> Segments:
        """Return the segments after some or all records are reversed."""
        bounds = self.bounds.copy()
        bounds[which] = (lengths[:, None] - bounds[:, ::-1])[which]
        return replace(self, bounds=bounds)

    def rows(self) -> Ints:
        """Return the `bounds`."""
        return self.bounds

    def within(self, lengths: Ints) -> bool:
        """Return whether all segments lie within records of these lengths, as compiled code requires."""
        bounds = self.bounds
        if bounds.dtype != np.int64 or bounds.shape != (len(lengths), 2):
            return False
        return bool(np.all((bounds[:, 0] >= 0) & (bounds[:, 0] <= bounds[:, 1]) & (bounds[:, 1] <= lengths)))


View: TypeAlias = Vectors | Segments
