"""Views of records: a vector for each record, such as an embedding, or one of the sequences that it joins.

A sample with several sequences (two chains, a peptide and its allele) is one record: its sequences one after
the other, separated by a masked residue, which no k-mer crosses. `Segments` mark the residues of one sequence.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import SequenceError, unknown_name
from seqkern.core.types import Rows
from seqkern.sequences.alphabets import Alphabet

if TYPE_CHECKING:
    from seqkern.sequences.sequence_set import SequenceSet


@dataclass(frozen=True, eq=False)
class Vectors:
    """The vectors of n records: rows of an array that several sets of records share without copies.

    >>> vectors = Vectors.of(np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]))
    >>> vectors.take([2, 0]).rows().tolist()
    [[5.0, 6.0], [1.0, 2.0]]
    """

    values: npt.NDArray[np.floating[Any]]  # shape (N, width): Not copied when records are selected
    index: npt.NDArray[np.int64]  # shape (n,): The row of each record

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
        stored: npt.NDArray[Any] = np.ascontiguousarray(table, dtype=np.float32 if small else np.float64).view()
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

    def of_parts(self, rows: Rows, first: npt.NDArray[np.int64], last: npt.NDArray[np.int64]) -> Vectors:
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
    bounds: npt.NDArray[np.int64]
    alphabet: Alphabet  # Of its letters, which the alphabet of the records contains
    similar: bool = True  # Whether it counts when records are searched for similar ones

    def __len__(self) -> int:
        return len(self.bounds)

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """Number of residues of this sequence in each record, int64 (n,)."""
        return self.bounds[:, 1] - self.bounds[:, 0]

    @property
    def letters(self) -> str:
        """The letters of the alphabet."""
        return self.alphabet.letters

    def take(self, rows: Rows) -> Segments:
        """Return the segments of some records."""
        return replace(self, bounds=self.bounds[rows])

    def of_parts(self, rows: Rows, first: npt.NDArray[np.int64], last: npt.NDArray[np.int64]) -> Segments:
        """Return the segments of parts of records: the residues of this sequence that a part contains."""
        inside = np.clip(self.bounds[rows], first[:, None], last[:, None])
        return replace(self, bounds=inside - first[:, None])

    def reversed(self, lengths: npt.NDArray[np.int64], which: Rows = slice(None)) -> Segments:
        """Return the segments after some or all records are reversed."""
        bounds = self.bounds.copy()
        bounds[which] = (lengths[:, None] - bounds[:, ::-1])[which]
        return replace(self, bounds=bounds)

    def rows(self) -> npt.NDArray[np.int64]:
        """Return the `bounds`."""
        return self.bounds

    def within(self, lengths: npt.NDArray[np.int64]) -> bool:
        """Return whether all segments lie within records of these lengths, as compiled code requires."""
        bounds = self.bounds
        if bounds.dtype != np.int64 or bounds.shape != (len(lengths), 2):
            return False
        return bool(np.all((bounds[:, 0] >= 0) & (bounds[:, 0] <= bounds[:, 1]) & (bounds[:, 1] <= lengths)))


View: TypeAlias = Vectors | Segments


def sequence_views(X: SequenceSet) -> dict[str, Segments]:
    """Return the sequence views of a set, by name and in order; empty if its records are single sequences."""
    return {name: view for name, view in X.views.items() if isinstance(view, Segments)}


class Stretch(NamedTuple):
    """One of the sequences that a record joins."""

    name: str  # Of the view
    start: int  # Its first residue, counted from 0 in the record, and the residue after its last
    stop: int  # Its first residue, counted from 0 in the record, and the residue after its last


def stretches(X: SequenceSet, i: int) -> list[Stretch]:
    """Return the non-empty sequences that record `i` joins; an empty list if it is a single sequence."""
    found = [Stretch(name, *map(int, view.bounds[i])) for name, view in sequence_views(X).items()]
    return [one for one in found if one.stop > one.start]


def vector_views(X: SequenceSet) -> dict[str, Vectors]:
    """Return the vector views of a set by name, in order."""
    return {name: view for name, view in X.views.items() if isinstance(view, Vectors)}


def no_sequence_view(X: SequenceSet, name: str) -> SequenceError:
    """Return the error for a missing sequence view; it names the most similar name, if any."""
    known = sequence_views(X)
    if name in X.views:
        what = f"name one of the sequences: {', '.join(known)}" if known else "choose a kernel of vectors, such as rbf"
        return SequenceError(f"the view {name!r} holds vectors, and the kernel compares sequences", remedy=what)
    if not known:
        return SequenceError(
            f"the view {name!r} is missing: the samples are single sequences",
            remedy="give a table with several columns of sequences, or a FASTA file for each view; or remove view",
        )
    error = unknown_name("sequence view", name, known)
    return SequenceError(error.problem, remedy=error.remedy)


def vectors_of(X: SequenceSet, name: str) -> npt.NDArray[np.float64]:
    """Return the vectors of a view, shape (n, width).

    The name may also be of a track with a vector for each residue; windows then take the vector of their middle
    residue.

    >>> from seqkern import SequenceSet
    >>> X = SequenceSet.from_strings(["MKV", "GKV"]).replace(views={"esm": [[0.5, 1], [2, 0]]})
    >>> vectors_of(X, "esm").tolist()
    [[0.5, 1.0], [2.0, 0.0]]
    """
    view = X.views.get(name)
    if isinstance(view, Vectors):
        values = view.rows().astype(np.float64)
    else:
        values = X.tracks[name][X.starts + X.lengths // 2].astype(np.float64)
    bad = np.flatnonzero(~np.isfinite(values).all(axis=1))
    if len(bad):
        raise SequenceError(
            f"has a number that is not finite (NaN or inf) in the view {name!r}",
            record=X.ids[bad[0]],
            remedy="compute its vector again, or remove the record",
        )
    return np.ascontiguousarray(values)


def view_width(X: SequenceSet, name: str) -> int | None:
    """Return the length of the vectors of a view; None if there is no such view."""
    view = X.views.get(name)
    if view is not None:
        return view.width if isinstance(view, Vectors) else None
    track = X.tracks.get(name)
    # an annotation, with one letter for each residue, is not a view
    return int(track.shape[1]) if track is not None and track.ndim == 2 else None


def check_widths(X: SequenceSet, like: SequenceSet, names: Iterable[str]) -> None:
    """Raise SequenceError unless the vectors of some views have the same length in both sets of records."""
    for name in names:
        own, other = view_width(X, name), view_width(like, name)
        if own is not None and other is not None and own != other:
            raise SequenceError(
                f"the vectors of the view {name!r} have {own} numbers, those of the training sequences {other}",
                remedy="compute them with the program and the model that made those of the training sequences",
            )


def check_views(X: SequenceSet, kernel: str | None, names: Iterable[str], sequences: Collection[str]) -> None:
    """Raise SequenceError unless a set has the views that a kernel needs, each of the right type."""
    for name in names:
        if name in sequences:
            if not isinstance(X.views.get(name), Segments):
                raise no_sequence_view(X, name)
        elif name in sequence_views(X):
            raise SequenceError(
                f"kernel {kernel!r} compares vectors, and the view {name!r} holds sequences",
                remedy=f"choose a kernel of sequences, such as spectrum:k=2,view={name}",
            )
        elif view_width(X, name) is None:
            raise SequenceError(
                f"kernel {kernel!r} needs the view {name!r}",
                remedy=f"give it with the sequences, by SequenceSet.replace or --view {name}=FILE; in a study by "
                "the data set's views",
            )
