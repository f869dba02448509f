"""Sequences as codes: text is encoded once, and everything after it sees `SequenceSet`.

A set is a flat buffer of uint8 codes and, for each record, where it starts and stops in that buffer. Records,
parts of records and windows are therefore index views that copy nothing. *Tracks* are further arrays over the
same positions: letters (an annotation, residue states) or float32 columns (a profile).
"""

import hashlib
import itertools

import numpy as np

from seqkern.core.checks import check_choice
from seqkern.core.errors import SequenceError
from seqkern.sequences.alphabets import MASK, Alphabet, as_alphabet, guess_alphabet, letter_error, to_bytes

PIECE = 1 << 22


def _frozen(array, dtype=None):
    """Return a read-only contiguous view (a copy only where the dtype or layout asks for one)."""
    view = np.ascontiguousarray(array, dtype=dtype).view()
    view.flags.writeable = False
    return view


class SequenceSet:
    """An immutable set of encoded sequences.

    Parameters
    ----------
    codes : ndarray of uint8, shape (total,)
        The codes of all letters; `MASK` for a letter outside the alphabet.
    starts, stops : ndarray of int64, shape (n,)
        Record i is ``codes[starts[i]:stops[i]]``.
    ids : sequence of str, length n
    alphabet : Alphabet or str
    tracks : dict of str to ndarray, optional
        Arrays over the positions of `codes`: uint8 (total,) or float32 (total, columns).
    counts : dict of str to int, optional
        What the policies of reading touched, such as ``{"masked letters": 3}``.

    Attributes
    ----------
    lengths : ndarray of int64, shape (n,)
    """

    def __init__(self, codes, starts, stops, ids, alphabet, tracks=None, counts=None):
        self.codes = _frozen(codes, np.uint8)
        self.starts = _frozen(starts, np.int64)
        self.stops = _frozen(stops, np.int64)
        self.ids = ids
        self.alphabet = as_alphabet(alphabet)
        self.tracks = {name: _frozen(track) for name, track in (tracks or {}).items()}
        self.counts = dict(counts or {})
        self._digest = None
        for name, track in self.tracks.items():
            if len(track) != len(codes):
                raise SequenceError(
                    f"track {name!r} has {len(track)} positions, the sequences {len(codes)}",
                    remedy="give one value for each letter",
                )

    @classmethod
    def from_offsets(cls, codes, offsets, ids, alphabet, tracks=None, counts=None):
        """Return the set whose record i is ``codes[offsets[i]:offsets[i + 1]]``."""
        offsets = np.asarray(offsets, dtype=np.int64)
        return cls(codes, offsets[:-1].copy(), offsets[1:].copy(), ids, alphabet, tracks, counts)

    @classmethod
    def from_strings(cls, strings, alphabet=None, ids=None, unknown="error"):
        """Encode a list of strings.

        Parameters
        ----------
        strings : list of str
        alphabet : str or Alphabet, optional
            By default guessed from the letters (`seqkern.sequences.alphabets.guess_alphabet`).
        ids : list of str, optional
            By default ``"1"``, ``"2"``, ….
        unknown : {"error", "mask"}
            What to do about letters outside the alphabet.

        Raises
        ------
        SequenceError
            If a letter is outside the alphabet and `unknown` is ``"error"``.
        """
        check_choice("unknown", unknown, ("error", "mask"))
        strings = list(strings)
        alphabet = guess_alphabet(strings) if alphabet is None else as_alphabet(alphabet)
        text = "".join(strings)
        offsets = np.zeros(len(strings) + 1, dtype=np.int64)
        np.cumsum(np.fromiter(map(len, strings), dtype=np.int64, count=len(strings)), out=offsets[1:])
        ids = [str(i) for i in range(1, len(strings) + 1)] if ids is None else list(ids)
        result = cls.from_offsets(alphabet.encode(to_bytes(text)), offsets, ids, alphabet)
        if unknown == "error":
            masked = np.flatnonzero(result.codes == MASK)
            if len(masked):
                record = int(np.searchsorted(result.stops, masked[0], side="right"))
                position = int(masked[0] - offsets[record]) + 1
                raise letter_error(text[masked[0]], position, alphabet, record=ids[record])
        return result

    def __len__(self):
        return len(self.starts)

    def __repr__(self):
        letters = self.lengths.sum()
        return f"SequenceSet({len(self)} sequences, alphabet {self.alphabet.name!r}, {letters} letters)"

    @property
    def lengths(self):
        """int64 (n,): the number of letters of each record."""
        return self.stops - self.starts

    def string(self, i):
        """Return record i as a string, masked letters as ``*``."""
        table = np.full(256, ord("*"), dtype=np.uint8)
        table[: self.alphabet.size] = np.frombuffer(self.alphabet.letters.encode(), dtype=np.uint8)
        return table[self.codes[self.starts[i] : self.stops[i]]].tobytes().decode()

    def strings(self):
        """Return all records as strings."""
        return [self.string(i) for i in range(len(self))]

    def _view(self, starts, stops, ids):
        return SequenceSet(self.codes, starts, stops, ids, self.alphabet, self.tracks, self.counts)

    def replace(self, *, ids=None, tracks=None, counts=None):
        """Return the same letters with other ids, tracks or counts, as a view.

        Parameters
        ----------
        ids : sequence of str, length n, optional
        tracks : dict of str to ndarray, optional
            Arrays over the positions of `codes`; they take the place of all tracks.
        counts : dict of str to int, optional
        """
        counts = self.counts if counts is None else counts
        ids = self.ids if ids is None else ids
        tracks = self.tracks if tracks is None else tracks
        return SequenceSet(self.codes, self.starts, self.stops, ids, self.alphabet, tracks, counts)

    def take(self, rows):
        """Return the records `rows` (integer array, boolean mask or slice) as a view."""
        rows = np.arange(len(self))[rows]
        return self._view(self.starts[rows], self.stops[rows], [self.ids[i] for i in rows])

    def part(self, a, b):
        """Return letters a to b of each record, as in ``s[a:b]`` (None and negative allowed), as a view."""
        lengths = self.lengths
        a, b = 0 if a is None else a, lengths if b is None else b
        first = np.clip(np.where(np.less(a, 0), lengths + a, a), 0, lengths)
        last = np.clip(np.where(np.less(b, 0), lengths + b, b), first, lengths)
        return self._view(self.starts + first, self.starts + last, self.ids)

    def windows(self, record, centre, left, right):
        """Return windows around positions as a view.

        Parameters
        ----------
        record : array_like of int, shape (w,)
            The record of each window.
        centre : array_like of int, shape (w,)
            0-based position of the window's centre in its record.
        left, right : int
            Letters before and after the centre; a window has ``left + 1 + right`` letters.

        Returns
        -------
        SequenceSet
            Records named ``id:position``, positions 1-based.

        Raises
        ------
        SequenceError
            If a window runs past an end of its record.
        """
        record, centre = np.asarray(record, dtype=np.int64), np.asarray(centre, dtype=np.int64)
        outside = np.flatnonzero((centre < left) | (centre + right >= self.lengths[record]))
        if len(outside):
            w = outside[0]
            raise SequenceError(
                f"a window of -{left}:+{right} around position {centre[w] + 1} runs past the end of "
                f"{self.lengths[record[w]]} letters",
                record=self.ids[record[w]],
                remedy="leave it out, or take a smaller window",
            )
        start = self.starts[record] + centre - left
        ids = [f"{self.ids[r]}:{c + 1}" for r, c in zip(record, centre, strict=True)]
        return self._view(start, start + left + 1 + right, ids)

    def positions(self):
        """Return int64 (total of lengths,): the place in `codes` of each letter, record after record."""
        lengths = self.lengths
        offsets = np.concatenate(([0], np.cumsum(lengths)))
        return np.repeat(self.starts - offsets[:-1], lengths) + np.arange(offsets[-1])

    def used_positions(self):
        """Return the places in `codes` of all letters, each once and in order, and where each record starts among them.

        Returns
        -------
        positions : ndarray of int64, shape (used,)
        starts : ndarray of int64, shape (n,)
        """
        if not self.lengths.sum():
            return np.zeros(0, dtype=np.int64), np.zeros(len(self), dtype=np.int64)
        first, last = int(self.starts.min()), int(self.stops.max())
        changes = np.bincount(self.starts - first, minlength=last - first + 1)
        changes -= np.bincount(self.stops - first, minlength=last - first + 1)
        used = np.cumsum(changes) > 0
        return np.flatnonzero(used) + first, (np.cumsum(used) - used)[self.starts - first]

    def _pieces(self, array):
        """Yield an array over `codes` at the letters of these records, in pieces of some megabytes."""
        if len(self) and np.array_equal(self.stops[:-1], self.starts[1:]):
            yield array[self.starts[0] : self.stops[-1]]
            return
        letters = max(1, PIECE * array.itemsize // array[:1].nbytes) if len(array) else PIECE
        cuts = np.searchsorted(np.cumsum(self.lengths), np.arange(0, self.lengths.sum(), letters), side="right")
        for first, last in itertools.pairwise([*np.unique(cuts), len(self)]):
            yield array[self.take(slice(first, last)).positions()]

    def compact(self):
        """Return a copy that holds the letters and tracks of these records only, in order."""
        offsets = np.concatenate(([0], np.cumsum(self.lengths)))
        codes, *tracks = (
            np.concatenate([array[:0], *self._pieces(array)]) for array in (self.codes, *self.tracks.values())
        )
        tracks = dict(zip(self.tracks, tracks, strict=True))
        return SequenceSet.from_offsets(codes, offsets, list(self.ids), self.alphabet, tracks, self.counts)

    def overlap(self):
        """Tell whether records share letters, as windows around neighbouring positions do."""
        order = np.argsort(self.starts, kind="stable")
        furthest = np.maximum.accumulate(self.stops[order])
        return bool(np.any(self.starts[order][1:] < furthest[:-1]))

    def packed(self):
        """Return a copy that holds the letters and tracks of these records only, once: records that overlap still do.

        Unlike in a compact copy, a letter of many windows takes the place of one.
        """
        used, starts = self.used_positions()
        codes, *tracks = (array[used] for array in (self.codes, *self.tracks.values()))
        tracks = dict(zip(self.tracks, tracks, strict=True))
        return SequenceSet(codes, starts, starts + self.lengths, list(self.ids), self.alphabet, tracks, self.counts)

    def reverse_complement(self):
        """Return the reverse complements as a compact copy without tracks.

        Raises
        ------
        ParameterError
            If the alphabet has no complement.
        """
        compact = self.compact()
        codes = self.alphabet.complement_codes[compact.codes[::-1]]
        lengths = compact.lengths
        stops = len(codes) - compact.starts
        return SequenceSet(codes, stops - lengths, stops, self.ids, self.alphabet, counts=self.counts)

    def digest(self):
        """Return a hexadecimal digest of alphabet, ids, codes and tracks in order."""
        if self._digest is None:
            digest = hashlib.blake2b(digest_size=16)
            digest.update(repr((self.alphabet.letters, len(self), sorted(self.tracks))).encode())
            digest.update("\n".join(self.ids).encode())
            digest.update(self.lengths.data)
            for array in (self.codes, *(self.tracks[key] for key in sorted(self.tracks))):
                for piece in self._pieces(array):
                    digest.update(np.ascontiguousarray(piece).data)
            self._digest = digest.hexdigest()
        return self._digest

    def state(self):
        """Return what `from_state` needs: a JSON dict and a dict of arrays.

        Letters that several records share are kept once.
        """
        overlap = self.overlap()
        kept = self.packed() if overlap else self.compact()
        letters = {
            "name": self.alphabet.name,
            "letters": self.alphabet.letters,
            "complement": self.alphabet.complement,
        }
        header = {
            "alphabet": letters,
            "ids": list(self.ids),
            "counts": self.counts,
            "tracks": sorted(self.tracks),
        }
        tracks = {f"track/{name}": track for name, track in kept.tracks.items()}
        if overlap:
            return header, {"codes": kept.codes, "starts": kept.starts, "stops": kept.stops, **tracks}
        offsets = np.concatenate(([0], np.cumsum(self.lengths)))
        return header, {"codes": kept.codes, "offsets": offsets, **tracks}

    @classmethod
    def from_state(cls, header, arrays):
        """Return the set whose `state` this was; SequenceError if it was tampered with."""
        tracks = {name: arrays[f"track/{name}"] for name in header["tracks"]}
        alphabet = Alphabet(**header["alphabet"])
        codes = arrays["codes"]
        # Compiled code trusts these.
        if "starts" in arrays:
            starts, stops = arrays["starts"], arrays["stops"]
            whole = starts.shape == stops.shape == (len(header["ids"]),) and codes.ndim == 1
            whole = whole and np.all((starts >= 0) & (starts <= stops) & (stops <= len(codes)))
        else:
            offsets = arrays["offsets"]
            starts, stops = offsets[:-1], offsets[1:]
            ordered = offsets.ndim == codes.ndim == 1 and offsets[0] == 0 and np.all(np.diff(offsets) >= 0)
            whole = ordered and offsets[-1] == len(codes) and len(offsets) == len(header["ids"]) + 1
        if not whole or np.any((codes >= alphabet.size) & (codes != MASK)):
            raise SequenceError("stored sequences are damaged", remedy="make the file again")
        return cls(codes, starts, stops, header["ids"], alphabet, tracks, header["counts"])


def as_sequences(X, alphabet=None):
    """Return `X` as a SequenceSet: itself, or a list of str encoded.

    Parameters
    ----------
    X : SequenceSet or list of str
    alphabet : str or Alphabet, optional
        For strings the alphabet to encode with; for a SequenceSet the one that it must have.

    Raises
    ------
    SequenceError
        If `X` is neither, or has another alphabet.
    """
    if not isinstance(X, SequenceSet):
        listed = isinstance(X, (list, tuple, np.ndarray))
        if not listed or not all(isinstance(item, str) for item in X):
            raise SequenceError(
                f"expected a SequenceSet or a list of str, got a {type(X).__name__}",
                remedy="see seqkern.read_fasta, or choose a kernel for this kind of data",
            )
        return SequenceSet.from_strings(X, alphabet)
    if alphabet is not None and as_alphabet(alphabet) != X.alphabet:
        raise SequenceError(
            f"the sequences have the alphabet {X.alphabet.name}, the kernel {as_alphabet(alphabet).name}",
            remedy="read them with the kernel's alphabet",
        )
    return X


def unique_ids(ids, policy, file=None):
    """Return (ids without repeats, number of records whose id had occurred before), or raise SequenceError.

    Parameters
    ----------
    ids : list of str
    policy : {"header", "number", "suffix"}
        Repeated ids are an error; all records are numbered 1, 2, …; or repeats are given ``.2``, ``.3``, ….
    file : path-like, optional
        Named in messages.

    Raises
    ------
    SequenceError
        If an id is repeated and the policy is ``"header"``.
    """
    check_choice("ids", policy, ("header", "number", "suffix"))
    repeats = len(ids) - len(set(ids))
    if policy == "number":
        return [str(i) for i in range(1, len(ids) + 1)], repeats
    if not repeats:
        return ids, 0
    taken, seen, result = set(ids), {}, []
    for name in ids:
        if name in seen and policy == "header":
            raise SequenceError(
                "id occurs twice",
                file=file,
                record=name,
                remedy="rename one, or choose the policy ids=number or ids=suffix",
            )
        unique = name
        while unique in seen or (unique in taken and unique != name):
            seen[name] = seen.get(name, 1) + 1
            unique = f"{name}.{seen[name]}"
        seen.setdefault(unique, 1)
        result.append(unique)
    return result, repeats
