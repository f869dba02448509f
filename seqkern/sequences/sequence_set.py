"""Sequence sets: sequences are encoded once, and all other code works on a `SequenceSet`.

A set is a flat buffer of uint8 codes and, for each record, its start and stop in that buffer. Records, parts of
records and windows therefore share the buffer without copies. *Tracks* are further arrays over the same positions:
letters (an annotation, residue states) or float32 columns (a profile). *Views* are vectors of numbers, one for each
record, or mark the sequences that a record joins.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from numbers import Integral
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from seqkern.core.checks import check_choice
from seqkern.core.errors import SequenceError, check_counts, check_texts, unknown_name
from seqkern.core.types import Array, Arrays, Codes, Header, Ids, Ints, Rows
from seqkern.sequences.alphabets import (
    MASK,
    Alphabet,
    alphabet_from_state,
    alphabet_state,
    as_alphabet,
    first_refused,
    guess_alphabet,
    letter_error,
    masked_counts,
    recoding,
    to_bytes,
)
from seqkern.sequences.views import Segments, Vectors, View

# Mixin for data sets that are sliced like NumPy arrays, so that scikit-learn can split them.


class Sliceable:
    """Mixin that adds indexing and iteration to data sets with ``len`` and ``take``.

    ``X[rows]`` is ``X.take(rows)`` for an integer array, a boolean mask or a slice: ids and tracks go with the
    records. ``X[i]`` is one record in its simplest form, returned by the subclass's ``_record``. scikit-learn
    recognises sliceable data by ``shape``.
    """

    def __len__(self) -> int:
        raise NotImplementedError

    def take(self, rows: Rows) -> Self:
        """Return some of the records."""
        raise NotImplementedError

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape, starting with the number of records."""
        return (len(self),)

    def _record(self, i: int) -> Any:
        """Return record `i`, counted from 0, in its simplest form."""
        raise NotImplementedError

    def __getitem__(self, rows: Any) -> Any:
        # scikit-learn indexes X[rows, ...], as for arrays of any number of dimensions.
        if isinstance(rows, tuple) and len(rows) == 2 and rows[1] is Ellipsis:
            rows = rows[0]
        if isinstance(rows, Integral) and not isinstance(rows, bool):
            return self._record(range(len(self))[rows])
        return self.take(rows)

    def __iter__(self) -> Iterator[Any]:
        return (self._record(i) for i in range(len(self)))


PIECE, RUNS = 1 << 22, 64


def frozen(array: npt.ArrayLike, dtype: npt.DTypeLike | None = None) -> Array:
    """Return a read-only contiguous view (a copy only if required by dtype or layout)."""
    view = np.ascontiguousarray(array, dtype=dtype).view()
    view.flags.writeable = False
    return view


class SequenceSet(Sliceable):
    """An immutable set of encoded sequences.

    It supports indexing: ``X[rows]`` is `take`, ``X[i]`` the residues of one record, as text.

    Parameters
    ----------
    codes : ndarray of uint8, shape (total,)
        The codes of all residues; `MASK` for a letter outside the alphabet.
    starts, stops : ndarray of int64, shape (n,)
        Record i is ``codes[starts[i]:stops[i]]``.
    ids : sequence of str, length n
        The id of each record.
    alphabet : Alphabet or str
        The meaning of the codes, as for `seqkern.sequences.alphabets.as_alphabet`.
    tracks : dict of str to ndarray, optional
        Arrays over the positions of `codes`: uint8 (total,) or float32 (total, columns).
    counts : dict of str to int, optional
        Effects of the reading policies, such as ``{"masked letters": 3}``.
    views : dict of str to ndarray, Vectors or Segments, optional
        By the name of the view a vector of numbers for each record, (n, width), or one of the sequences that each
        record joins.

    Attributes
    ----------
    lengths : ndarray of int64, shape (n,)
        The number of residues of each record.

    Raises
    ------
    SequenceError
        If the length of a track differs from `codes`, or the length of a view from the number of records; or if a
        sequence view leaves its record.

    Examples
    --------
    >>> from seqkern import SequenceSet
    >>> X = SequenceSet.from_strings(["GATTACA", "ACGT"], "dna", ids=["a", "b"])
    >>> X
    SequenceSet(2 sequences, alphabet 'dna', 11 letters)
    >>> X.codes.tolist()
    [2, 0, 3, 3, 0, 1, 0, 0, 1, 2, 3]
    >>> X.part(-3, None).strings(), X.reverse_complement().strings()
    (['ACA', 'CGT'], ['TGTAATC', 'ACGT'])
    >>> X[[1, 0]].ids, X[X.lengths == 4].strings(), X[0]
    (['b', 'a'], ['ACGT'], 'GATTACA')
    >>> X.windows(record=[0, 0], centre=[2, 4], left=1, right=1).ids
    ['a:3', 'a:5']
    """

    def __init__(
        self,
        codes: Codes,
        starts: npt.ArrayLike,
        stops: npt.ArrayLike,
        ids: Ids,
        alphabet: Alphabet | str,
        tracks: Arrays | None = None,
        counts: dict[str, int] | None = None,
        views: Mapping[str, npt.ArrayLike | View] | None = None,
    ) -> None:
        self.codes: Codes = frozen(codes, np.uint8)
        self.starts: Ints = frozen(starts, np.int64)
        self.stops: Ints = frozen(stops, np.int64)
        self.ids = ids
        self.alphabet = as_alphabet(alphabet)
        self.tracks: Arrays = {name: frozen(track) for name, track in (tracks or {}).items()}
        given = (views or {}).items()
        self.views: dict[str, View] = {
            name: view if isinstance(view, Segments) else Vectors.of(view) for name, view in given
        }
        self.counts = dict(counts or {})
        self._digest: str | None = None
        for name, track in self.tracks.items():
            if len(track) != len(codes):
                raise SequenceError(
                    f"track {name!r} has {len(track)} positions, but the sequences have {len(codes)}",
                    remedy="give one value for each residue",
                )
        for name, view in self.views.items():
            if len(view) != len(self.starts):
                raise SequenceError(
                    f"the view {name!r} has {len(view)} vectors, but there are {len(self.starts)} records",
                    remedy="give one vector for each record",
                )
            if isinstance(view, Segments) and not view.within(self.lengths):
                raise SequenceError(
                    f"the sequence view {name!r} leaves its record", remedy="give places of residues in each record"
                )

    @classmethod
    def from_offsets(
        cls,
        codes: Codes,
        offsets: npt.ArrayLike,
        ids: Ids,
        alphabet: Alphabet | str,
        tracks: Arrays | None = None,
        counts: dict[str, int] | None = None,
        views: Mapping[str, npt.ArrayLike | View] | None = None,
    ) -> SequenceSet:
        """Return a set whose records are consecutive in the codes.

        Parameters
        ----------
        codes, ids, alphabet, tracks, counts, views
            As for the class.
        offsets : array_like of int, shape (n + 1,)
            Record i is ``codes[offsets[i]:offsets[i + 1]]``.

        Returns
        -------
        SequenceSet
        """
        bounds = np.asarray(offsets, dtype=np.int64)
        return cls(codes, bounds[:-1].copy(), bounds[1:].copy(), ids, alphabet, tracks, counts, views)

    @classmethod
    def from_strings(
        cls,
        strings: Iterable[str],
        alphabet: str | Alphabet | None = None,
        ids: Iterable[str] | None = None,
        unknown: str = "mask",
    ) -> SequenceSet:
        """Encode strings.

        Parameters
        ----------
        strings : iterable of str
            One for each record.
        alphabet : str or Alphabet, optional
            Guessed from the letters by default (`seqkern.sequences.alphabets.guess_alphabet`).
        ids : iterable of str, optional
            By default ``"1"``, ``"2"``, ….
        unknown : {"mask", "error", "mask_all"}
            Letters outside the alphabet, as for `seqkern.read_fasta`.

        Returns
        -------
        SequenceSet

        Raises
        ------
        SequenceError
            If the policy refuses a letter.

        Examples
        --------
        >>> from seqkern import SequenceSet
        >>> SequenceSet.from_strings(["ACGN"], "dna").strings()
        ['ACG*']
        """
        check_choice("unknown", unknown, ("mask", "error", "mask_all"))
        strings = list(strings)
        alphabet = guess_alphabet(strings) if alphabet is None else as_alphabet(alphabet)
        text = "".join(strings)
        offsets = np.zeros(len(strings) + 1, dtype=np.int64)
        np.cumsum(np.fromiter(map(len, strings), dtype=np.int64, count=len(strings)), out=offsets[1:])
        ids = [str(i) for i in range(1, len(strings) + 1)] if ids is None else list(ids)
        letters = to_bytes(text)
        codes = alphabet.encode(letters)
        refused = first_refused(letters, codes, alphabet, unknown)
        if refused is not None:
            record = int(np.searchsorted(offsets[1:], refused, side="right"))
            raise letter_error(text[refused], refused - int(offsets[record]) + 1, alphabet, record=ids[record])
        return cls.from_offsets(codes, offsets, ids, alphabet, counts=masked_counts(letters, codes))

    def __len__(self) -> int:
        return len(self.starts)

    def __repr__(self) -> str:
        letters = self.lengths.sum()
        return f"SequenceSet({len(self)} sequences, alphabet {self.alphabet.name!r}, {letters} letters)"

    @property
    def lengths(self) -> Ints:
        """int64 (n,): the number of residues of each record."""
        return self.stops - self.starts

    def string(self, i: int) -> str:
        """Return one record as a string.

        Parameters
        ----------
        i : int
            The record, from 0.

        Returns
        -------
        str
            Upper case, with ``*`` for masked letters.
        """
        return self.alphabet.decode(self.codes[self.starts[i] : self.stops[i]])

    def _record(self, i: int) -> str:
        return self.string(i)

    def strings(self) -> list[str]:
        """Return all records as strings, with ``*`` for masked letters."""
        return [self.string(i) for i in range(len(self))]

    def parts(self, starts: Ints, stops: Ints, ids: Ids, rows: Rows = slice(None)) -> SequenceSet:
        """Return parts of these records, without copying residues."""
        first, last = starts - self.starts[rows], stops - self.starts[rows]
        views = {name: view.of_parts(rows, first, last) for name, view in self.views.items()}
        return SequenceSet(self.codes, starts, stops, ids, self.alphabet, self.tracks, self.counts, views)

    def replace(
        self,
        *,
        ids: Ids | None = None,
        tracks: Arrays | None = None,
        counts: dict[str, int] | None = None,
        views: Mapping[str, npt.ArrayLike | View] | None = None,
    ) -> SequenceSet:
        """Return the same sequences with other ids, tracks, counts or views, without copying them.

        Parameters
        ----------
        ids : sequence of str, length n, optional
            The new ids; by default this set's.
        tracks : dict of str to ndarray, optional
            Arrays over the positions of `codes`, which replace all tracks.
        counts : dict of str to int, optional
            These replace all counts.
        views : dict of str to ndarray, Vectors or Segments, optional
            These replace all views.

        Returns
        -------
        SequenceSet
        """
        counts = self.counts if counts is None else counts
        ids = self.ids if ids is None else ids
        tracks = self.tracks if tracks is None else tracks
        views = self.views if views is None else views
        return SequenceSet(self.codes, self.starts, self.stops, ids, self.alphabet, tracks, counts, views)

    def take(self, rows: Rows) -> SequenceSet:
        """Return some of the records, without copying residues."""
        if isinstance(rows, slice):
            return self.parts(self.starts[rows], self.stops[rows], self.ids[rows], np.arange(len(self))[rows])
        chosen = np.arange(len(self))[rows]
        return self.parts(self.starts[chosen], self.stops[chosen], [self.ids[i] for i in chosen], chosen)

    def part(self, a: int | None, b: int | None) -> SequenceSet:
        """Return the same part of each record, without copying residues.

        Parameters
        ----------
        a, b : int or None
            Start and stop of the part, as in ``s[a:b]``, including None and negative numbers.

        Returns
        -------
        SequenceSet
        """
        lengths = self.lengths
        start, stop = 0 if a is None else a, lengths if b is None else b
        first = np.clip(np.where(np.less(start, 0), lengths + start, start), 0, lengths)
        last = np.clip(np.where(np.less(stop, 0), lengths + stop, stop), first, lengths)
        return self.parts(self.starts + first, self.starts + last, self.ids)

    def view(self, name: str) -> SequenceSet:
        """Return one sequence of each record that joins several, in the alphabet of the view.

        Parameters
        ----------
        name : str
            Name of a sequence view.

        Returns
        -------
        SequenceSet
            It shares the residues, unless the view has another alphabet than the records. Tracks and vectors stay.

        Raises
        ------
        SequenceError
            If there is no such view.

        Examples
        --------
        >>> from seqkern.sequences.joining import join_views
        >>> X = join_views({"heavy": ["QVQL", "EVQ"], "light": ["DIQ", "DI"]}, "protein")
        >>> X.strings(), X.view("light").strings()
        (['QVQL*DIQ', 'EVQ*DI'], ['DIQ', 'DI'])
        """
        segments = self.views.get(name)
        if not isinstance(segments, Segments):
            raise no_sequence_view(self, name)
        starts, stops = (self.starts + end for end in segments.bounds.T)
        vectors = vector_views(self)
        X = SequenceSet(self.codes, starts, stops, self.ids, self.alphabet, self.tracks, self.counts, vectors)
        if segments.alphabet == self.alphabet:
            return X
        X, table = X.compact(), recoding(self.alphabet, segments.alphabet)
        codes = table[X.codes]
        return SequenceSet(codes, X.starts, X.stops, X.ids, segments.alphabet, X.tracks, X.counts, X.views)

    def windows(self, record: npt.ArrayLike, centre: npt.ArrayLike, left: int, right: int) -> SequenceSet:
        """Return windows around positions, without copying residues.

        Parameters
        ----------
        record : array_like of int, shape (w,)
            The record of each window.
        centre : array_like of int, shape (w,)
            0-based position of the window's centre in its record.
        left, right : int
            Residues before and after the centre; a window has ``left + 1 + right`` of them.

        Returns
        -------
        SequenceSet
            Records named ``id:position``, positions 1-based.

        Raises
        ------
        SequenceError
            If a window extends past an end of its record.
        """
        rows, places = np.asarray(record, dtype=np.int64), np.asarray(centre, dtype=np.int64)
        outside = np.flatnonzero((places < left) | (places + right >= self.lengths[rows]))
        if len(outside):
            w = outside[0]
            raise SequenceError(
                f"a window of -{left}:+{right} around position {places[w] + 1} extends past the end of a record of "
                f"length {self.lengths[rows[w]]}",
                record=self.ids[rows[w]],
                remedy="remove it, or choose a smaller window",
            )
        start = self.starts[rows] + places - left
        ids = [f"{self.ids[r]}:{c + 1}" for r, c in zip(rows, places, strict=True)]
        return self.parts(start, start + left + 1 + right, ids, rows)

    def positions(self) -> Ints:
        """Return int64 (total of lengths,): the place of each residue in `codes`, record by record."""
        lengths = self.lengths
        offsets = np.concatenate(([0], np.cumsum(lengths)))
        return np.repeat(self.starts - offsets[:-1], lengths) + np.arange(offsets[-1])

    def used_positions(self) -> tuple[Ints, Ints]:
        """Return the places in `codes` that belong to a record, each once and in order.

        Returns
        -------
        positions : ndarray of int64, shape (used,)
            The places.
        starts : ndarray of int64, shape (n,)
            The start of each record among them.
        """
        if not self.lengths.sum():
            return np.zeros(0, dtype=np.int64), np.zeros(len(self), dtype=np.int64)
        first, last = int(self.starts.min()), int(self.stops.max())
        changes = np.bincount(self.starts - first, minlength=last - first + 1)
        changes -= np.bincount(self.stops - first, minlength=last - first + 1)
        used = np.cumsum(changes) > 0
        return np.flatnonzero(used) + first, (np.cumsum(used) - used)[self.starts - first]

    def _pieces(self, array: Array) -> Iterator[Array]:
        """Yield the part of an array over `codes` at the residues of these records, in pieces of a few MB."""
        runs = np.flatnonzero(self.stops[:-1] != self.starts[1:]) + 1
        if len(self) and len(runs) < RUNS:
            for first, stop in itertools.pairwise([0, *runs.tolist(), len(self)]):
                yield array[self.starts[first] : self.stops[stop - 1]]
            return
        letters = max(1, PIECE * array.itemsize // array[:1].nbytes) if len(array) else PIECE
        cuts = np.searchsorted(np.cumsum(self.lengths), np.arange(0, self.lengths.sum(), letters), side="right")
        for first, last in itertools.pairwise([*np.unique(cuts), len(self)]):
            yield array[self.take(slice(first, last)).positions()]

    def _joined(self, array: Array) -> Array:
        """Return the part of an array over `codes` at the residues of these records; not copied if it is all."""
        size = int(self.lengths.sum())
        if size == len(array) and np.array_equal(self.starts, np.cumsum(self.lengths) - self.lengths):
            return array
        joined, filled = np.empty((size, *array.shape[1:]), dtype=array.dtype), 0
        for piece in self._pieces(array):
            joined[filled : filled + len(piece)] = piece
            filled += len(piece)
        return joined

    def _own_views(self) -> dict[str, View]:
        """Return the views restricted to these records, by name."""
        return {
            name: Vectors.of(view.rows()) if isinstance(view, Vectors) else view for name, view in self.views.items()
        }

    def compact(self) -> SequenceSet:
        """Return a set with the residues, tracks and views of these records only, in order; itself if it is all."""
        offsets = np.concatenate(([0], np.cumsum(self.lengths)))
        whole = offsets[-1] == len(self.codes) and np.array_equal(self.starts, offsets[:-1])
        if whole and not self.views and isinstance(self.ids, list):
            return self
        codes, *columns = (self._joined(array) for array in (self.codes, *self.tracks.values()))
        tracks = dict(zip(self.tracks, columns, strict=True))
        views = self._own_views()
        return SequenceSet.from_offsets(codes, offsets, list(self.ids), self.alphabet, tracks, self.counts, views)

    def overlap(self) -> bool:
        """Return whether records share residues, as windows around neighbouring positions do."""
        order = np.argsort(self.starts, kind="stable")
        furthest = np.maximum.accumulate(self.stops[order])
        return bool(np.any(self.starts[order][1:] < furthest[:-1]))

    def packed(self) -> SequenceSet:
        """Return a copy with the residues, tracks and views of these records only, each residue once.

        Overlapping records still overlap: unlike in a compact copy, a residue of many windows is stored once.
        """
        used, starts = self.used_positions()
        codes, *columns = (array[used] for array in (self.codes, *self.tracks.values()))
        tracks = dict(zip(self.tracks, columns, strict=True))
        stops, views = starts + self.lengths, self._own_views()
        return SequenceSet(codes, starts, stops, list(self.ids), self.alphabet, tracks, self.counts, views)

    def reverse_complement(self) -> SequenceSet:
        """Return the reverse complements as a compact copy without tracks; the views stay.

        Returns
        -------
        SequenceSet

        Raises
        ------
        ParameterError
            If the alphabet has no complement.
        """
        compact = self.compact()
        codes = self.alphabet.complement_codes[compact.codes[::-1]]
        lengths = compact.lengths
        stops = len(codes) - compact.starts
        views = {
            name: view.reversed(lengths) if isinstance(view, Segments) else view for name, view in compact.views.items()
        }
        return SequenceSet(codes, stops - lengths, stops, self.ids, self.alphabet, counts=self.counts, views=views)

    def digest(self) -> str:
        """Return a hexadecimal digest of alphabet, ids, codes, tracks and views in order."""
        if self._digest is None:
            digest = hashlib.blake2b(digest_size=16)
            digest.update(repr((self.alphabet.letters, len(self), sorted(self.tracks))).encode())
            digest.update("\n".join(self.ids).encode())
            digest.update(self.lengths.data)
            for array in (self.codes, *(self.tracks[key] for key in sorted(self.tracks))):
                for piece in self._pieces(array):
                    digest.update(np.ascontiguousarray(piece).data)
            for key in sorted(self.views):
                rows = self.views[key].rows()
                digest.update(repr((key + self.views[key].letters, str(rows.dtype), rows.shape)).encode())
                digest.update(np.ascontiguousarray(rows).data)
            self._digest = digest.hexdigest()
        return self._digest

    def state(self) -> tuple[Header, Arrays]:
        """Return the input of `from_state`."""
        overlap = self.overlap()
        kept = self.packed() if overlap else self.compact()
        header: Header = {
            "alphabet": alphabet_state(self.alphabet),
            "ids": list(self.ids),
            "counts": self.counts,
            "tracks": sorted(self.tracks),
        }
        if self.views:
            header["views"] = list(self.views)
        segments = {name: view for name, view in self.views.items() if isinstance(view, Segments)}
        if segments:
            header["sequence_views"] = {
                name: {"alphabet": alphabet_state(view.alphabet), "similar": view.similar}
                for name, view in segments.items()
            }
        more = {f"track/{name}": track for name, track in kept.tracks.items()}
        more |= {f"view/{name}": view.rows() for name, view in kept.views.items()}
        if overlap:
            return header, {"codes": kept.codes, "starts": kept.starts, "stops": kept.stops, **more}
        offsets = np.concatenate(([0], np.cumsum(self.lengths)))
        return header, {"codes": kept.codes, "offsets": offsets, **more}

    @classmethod
    def from_state(cls, header: Header, arrays: Arrays) -> SequenceSet:
        """Return the set with this `state`.

        Parameters
        ----------
        header : dict
            The first part of the state.
        arrays : dict of str to ndarray
            The second part.

        Returns
        -------
        SequenceSet

        Raises
        ------
        SequenceError
            If the state is corrupted.
        """
        tracks = {name: arrays[f"track/{name}"] for name in header["tracks"]}
        views: dict[str, Any] = {name: arrays[f"view/{name}"] for name in header.get("views", ())}
        vectors = [view for name, view in views.items() if name not in header.get("sequence_views", {})]
        for name, own in header.get("sequence_views", {}).items():
            views[name] = Segments(views[name], alphabet_from_state(own["alphabet"]), own["similar"] is True)
        alphabet = alphabet_from_state(header["alphabet"])
        ids, counts = check_texts(header["ids"], "ids"), check_counts(header["counts"])
        codes = arrays["codes"]
        # Compiled code relies on these.
        if "starts" in arrays:
            starts, stops = arrays["starts"], arrays["stops"]
            intact = starts.shape == stops.shape == (len(ids),) and codes.ndim == 1
            intact = intact and starts.dtype == stops.dtype == np.int64
            intact = intact and bool(np.all((starts >= 0) & (starts <= stops) & (stops <= len(codes))))
        else:
            offsets = arrays["offsets"]
            starts, stops = offsets[:-1], offsets[1:]
            ordered = offsets.ndim == codes.ndim == 1 and offsets[0] == 0 and np.all(np.diff(offsets) >= 0)
            intact = bool(ordered and offsets[-1] == len(codes) and len(offsets) == len(ids) + 1)
        intact = intact and codes.dtype == np.uint8
        intact = intact and all(track.dtype.kind in "uif" and track.ndim in (1, 2) for track in tracks.values())
        intact = intact and all(view.dtype.kind == "f" and np.isfinite(view).all() for view in vectors)
        if not intact or np.any((codes >= alphabet.size) & (codes != MASK)):
            raise SequenceError("stored sequences are corrupted", remedy="create the file again")
        return cls(codes, starts, stops, ids, alphabet, tracks, counts, views)


def as_sequences(
    X: SequenceSet | Sequence[str] | npt.NDArray[np.str_], alphabet: str | Alphabet | None = None
) -> SequenceSet:
    """Return sequences as a SequenceSet: `X` itself, or the encoded strings.

    >>> from seqkern.sequences.sequence_set import as_sequences
    >>> as_sequences(["MKVLAAG", "MKVIAAG"], "protein")
    SequenceSet(2 sequences, alphabet 'protein', 14 letters)
    """
    if not isinstance(X, SequenceSet):
        listed = isinstance(X, (list, tuple, np.ndarray))
        if not listed or not all(isinstance(item, str) for item in X):
            raise SequenceError(
                f"expected a SequenceSet or a list of str, got a {type(X).__name__}",
                remedy="read it with seqkern.read_fasta, or choose a kernel for this kind of data",
            )
        return SequenceSet.from_strings(X, alphabet)
    if alphabet is not None and as_alphabet(alphabet) != X.alphabet:
        raise SequenceError(
            f"the sequences have the alphabet {X.alphabet.name}, but the kernel has {as_alphabet(alphabet).name}",
            remedy="use the kernel's alphabet",
        )
    return X


def first_difference(X: SequenceSet, i: int, letters: str) -> int | None:
    """Return the first position, from 0, at which record i differs from other letters; masked residues match any."""
    mine, theirs = X.codes[X.starts[i] : X.stops[i]], X.alphabet.encode(to_bytes(letters))
    odd = np.flatnonzero((mine != theirs) & (mine != MASK) & (theirs != MASK))
    return int(odd[0]) if len(odd) else None


def code_matrix(X: SequenceSet) -> Codes:
    """Return the codes of sequences of one length, uint8 (n, length)."""
    return X.codes[X.positions()].reshape(len(X), int(X.lengths.max(initial=0)))


def usual_length(X: SequenceSet) -> int:
    """Return the commonest length of sequences, the least of several; 0 without sequences."""
    return int(np.bincount(X.lengths).argmax()) if len(X) else 0


def sequence_views(X: SequenceSet) -> dict[str, Segments]:
    """Return the sequence views of a set, by name and in order; empty if its records are single sequences."""
    return {name: view for name, view in X.views.items() if isinstance(view, Segments)}


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
