"""Candidate sites in a stream of residues: the occurrences of the letters of a site, and the windows around them.

Memory holds only a piece of the sequences and the residues of a window; short records are scored many at a time. The
decision values come from a `seqkern.models.scan.Scanner`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, MutableMapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from seqkern.core.types import Rows
from seqkern.sequences.alphabets import MASK, Alphabet
from seqkern.sequences.streaming import Piece
from seqkern.sequences.windows import Window

FORWARD, REVERSE = 0, 1


class Decides(Protocol):
    """The scorer of candidates; see `seqkern.models.scan.Scanner`.

    Attributes
    ----------
    site : ndarray of uint8
        Codes of the letters of a candidate.
    window : Window
        The window around it.
    masked, lower : {"skip", …}
        Treatment of windows with masked letters, and of lower case.
    bare : list of str
        Records with masked letters only.
    """

    @property
    def alphabet(self) -> Alphabet:
        """Of the sequences."""

    @property
    def strands(self) -> Sequence[int]:
        """`FORWARD`, `REVERSE` or both."""

    @property
    def counts(self) -> MutableMapping[str, int]:
        """Counts of candidates left out, by reason."""

    site: npt.NDArray[np.uint8]
    window: Window
    masked: str
    lower: str
    bare: list[Any]

    def values(
        self, codes: npt.NDArray[np.uint8], starts: npt.NDArray[np.int64], names: npt.NDArray[np.object_]
    ) -> npt.NDArray[np.float64]:
        """Return the decision values of windows without masked letters.

        Parameters
        ----------
        codes : ndarray of uint8
            The residues of one or several records.
        starts : ndarray of int64, shape (n,)
            Where the windows begin.
        names : ndarray of str, shape (n,)
            The record of each, for messages.

        Returns
        -------
        ndarray of float64, shape (n,)
        """

    def by_model(
        self, codes: npt.NDArray[np.uint8], starts: npt.NDArray[np.int64], names: npt.NDArray[np.object_]
    ) -> npt.NDArray[np.float64]:
        """Return the decision values of any windows.

        Parameters
        ----------
        codes : ndarray of uint8
            The residues of one or several records.
        starts : ndarray of int64, shape (n,)
            Where the windows begin.
        names : ndarray of str, shape (n,)
            The record of each, for messages.

        Returns
        -------
        ndarray of float64, shape (n,)
        """


@dataclass(frozen=True, eq=False)
class Candidates:
    """Candidates on one record, sorted by place; strand + first at the same place.

    Attributes
    ----------
    record : str
        The id of the record.
    starts : ndarray of int64, shape (n,)
        Where each candidate begins in the record as written, from 0.
    reverse : ndarray of bool, shape (n,)
        True on strand −.
    decisions : ndarray of float64, shape (n,) or (n, classes)
        The decision values of the scanner's model.
    width : int
        The length of a candidate.

    Examples
    --------
    A site ``AG`` at bases 4 and 5 of a record: on strand − its first base is the second of the two.

    >>> import numpy as np
    >>> from seqkern.sequences.candidates import Candidates
    >>> found = Candidates("chr1", np.array([3, 3]), np.array([False, True]), np.array([0.8, -0.2]), width=2)
    >>> found.positions.tolist()
    [4, 5]
    """

    record: str
    starts: npt.NDArray[np.int64]
    reverse: npt.NDArray[np.bool_]
    decisions: npt.NDArray[np.float64]
    width: int

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def positions(self) -> npt.NDArray[np.int64]:
        """int64 (n,): the position, from 1, of each candidate's first letter on its strand."""
        return self.starts + np.where(self.reverse, self.width, 1)

    def take(self, rows: Rows) -> Candidates:
        """Return some of the candidates.

        Parameters
        ----------
        rows : array of int, boolean mask or slice
            Which of the n candidates.

        Returns
        -------
        Candidates
        """
        return Candidates(self.record, self.starts[rows], self.reverse[rows], self.decisions[rows], self.width)


class ScanBuffer:
    """Residues not yet scored, of one or several records, and those before them that belong to their windows.

    Parameters
    ----------
    scanner : Scanner
        The scorer; its `counts` and `bare` are updated.
    """

    def __init__(self, scanner: Decides) -> None:
        self.scanner = scanner
        self._clear()

    def _clear(self) -> None:
        """Restart with an empty buffer."""
        self.codes: list[npt.NDArray[np.uint8]] = []  # one array for each piece
        self.lower: list[npt.NDArray[np.bool_]] = []
        self.names: list[str] = []  # the records in the buffer
        self.starts: list[int] = []
        self.size = self.fresh = 0
        self.ended = True  # whether the last record has been read to its end
        self.before = 0  # residues of the first record that have left the buffer
        self.next = 0  # where the next candidate may begin
        self.bare = True  # whether the first record had masked residues only, so far

    def add(self, piece: Piece) -> None:
        """Append the next piece.

        Parameters
        ----------
        piece : Piece
            From `seqkern.sequences.streaming.iter_pieces`, in order.
        """
        if self.ended:
            self.names.append(piece.record)
            self.starts.append(self.size)
        self.codes.append(piece.codes)
        self.lower.append(piece.lower)
        self.size += len(piece.codes)
        self.fresh += len(piece.codes)
        self.ended = piece.last

    def decide(self) -> Iterator[Candidates]:
        """Score what can be scored, and drop what is no longer needed.

        Yields
        ------
        Candidates
            Record by record; never empty.
        """
        if not self.names:
            return
        window, width = self.scanner.window, len(self.scanner.site)
        codes, lower = np.concatenate(self.codes), np.concatenate(self.lower)
        starts = np.array(self.starts, dtype=np.int64)
        begins = starts.copy()  # record starts, possibly before the buffer
        begins[0] -= self.before
        stops = np.append(starts[1:], self.size)
        last = self.size if self.ended else max(starts[-1], self.size - max(window.right, window.left + width - 1))
        last = max(self.next, int(last))
        segment = Segment(self.scanner, codes, lower, np.array(self.names, dtype=object), starts, begins, stops)
        yield from segment.decide(self.next, last)

        bare = segment.bare()
        bare[0] &= self.bare
        n_read = len(self.names) - (not self.ended)
        self.scanner.bare += [self.names[i] for i in np.flatnonzero(bare[:n_read])]
        if self.ended:
            self._clear()
            return
        cut = max(int(starts[-1]), last - max(window.left, window.right + 1 - width))
        self.codes, self.lower = [codes[cut:].copy()], [lower[cut:].copy()]
        self.before, self.next, self.bare = cut - int(begins[-1]), last - cut, bool(bare[-1])
        self.names, self.starts, self.size, self.fresh = self.names[-1:], [0], self.size - cut, 0


@dataclass(frozen=True, eq=False)
class Segment:
    """Residues of consecutive records.

    Attributes
    ----------
    scanner : Scanner
        The scorer.
    codes : ndarray of uint8, shape (residues,)
        Record i is ``codes[starts[i]:stops[i]]``.
    lower : ndarray of bool, shape (residues,)
        True for lower-case letters.
    names : ndarray of object, shape (records,)
        The ids of the records.
    starts, stops : ndarray of int64, shape (records,)
        Where each record starts and stops in `codes`.
    begins : ndarray of int64, shape (records,)
        Where each record began; less than its start if residues have left the buffer.
    """

    scanner: Decides
    codes: npt.NDArray[np.uint8]
    lower: npt.NDArray[np.bool_]
    names: npt.NDArray[np.object_]
    starts: npt.NDArray[np.int64]
    begins: npt.NDArray[np.int64]
    stops: npt.NDArray[np.int64]

    @cached_property
    def masked(self) -> npt.NDArray[np.int64] | None:
        """int64 (residues + 1,): the number of masked residues before each; None if there are none."""
        masked = self.codes == MASK
        return np.concatenate(([0], np.cumsum(masked, dtype=np.int32))) if masked.any() else None

    def bare(self) -> npt.NDArray[np.bool_]:
        """Return bool (records,): which records consist of masked residues only."""
        if self.masked is None:
            return self.starts == self.stops
        return self.masked[self.stops] - self.masked[self.starts] == self.stops - self.starts

    def decide(self, first: int, stop: int) -> Iterator[Candidates]:
        """Score the candidates that begin in a range.

        Parameters
        ----------
        first, stop : int
            The range in `codes`: from `first` up to, but not including, `stop`.

        Yields
        ------
        Candidates
            Record by record; never empty.
        """
        scanner = self.scanner
        width, length = len(scanner.site), scanner.window.length
        alphabet = scanner.alphabet
        place_parts, decision_parts = [], []
        for strand in scanner.strands:
            site = scanner.site if strand == FORWARD else reverse_complement_codes(scanner.site, alphabet)
            here = occurrences(self.codes, site, first, min(stop, len(self.codes) - width + 1))
            ahead = scanner.window.left if strand == FORWARD else scanner.window.right + 1 - width
            here, record = self._allowed(here, here - ahead)
            begin = here - ahead
            hidden = np.zeros(len(here), dtype=bool)
            if self.masked is not None:
                hidden = self.masked[begin + length] > self.masked[begin]
            if scanner.masked == "skip" and hidden.any():
                scanner.counts["candidates with masked letters left out"] += int(np.count_nonzero(hidden))
                here, begin, record, hidden = here[~hidden], begin[~hidden], record[~hidden], hidden[~hidden]
            place_parts.append(here)
            decision_parts.append(self._score(begin, hidden, self.names[record], strand))
        reverse = np.repeat(np.array(scanner.strands, dtype=bool), [len(here) for here in place_parts])
        places, decisions = np.concatenate(place_parts), np.concatenate(decision_parts)
        order = np.argsort(2 * places + reverse, kind="stable")
        places, reverse, decisions = places[order], reverse[order], decisions[order]
        cuts = np.searchsorted(places, [*self.starts, self.stops[-1]])
        for i, (low, high) in enumerate(itertools.pairwise(cuts.tolist())):
            if low < high:
                some = slice(low, high)
                yield Candidates(self.names[i], places[some] - self.begins[i], reverse[some], decisions[some], width)

    def _allowed(
        self, here: npt.NDArray[np.int64], begin: npt.NDArray[np.int64]
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return the places among `here` whose windows, starting at `begin`, lie in one record, and those records."""
        scanner, width = self.scanner, len(self.scanner.site)
        record = np.searchsorted(self.starts, here, side="right") - 1
        whole = here + width <= self.stops[record]  # a site does not span two records
        inside = (begin >= self.begins[record]) & (begin + scanner.window.length <= self.stops[record])
        scanner.counts["candidates too near an end left out"] += int(np.count_nonzero(whole & ~inside))
        kept = whole & inside
        if scanner.lower == "skip":
            low = kept.copy()
            for offset in range(width):
                low &= ~self.lower[here + offset]
            scanner.counts["candidates in lower case left out"] += int(np.count_nonzero(kept & ~low))
            kept = low
        return here[kept], record[kept]

    def _score(
        self,
        begin: npt.NDArray[np.int64],
        hidden: npt.NDArray[np.bool_],
        names: npt.NDArray[np.object_],
        strand: int,
    ) -> npt.NDArray[np.float64]:
        """Return the decision values of the windows at `begin`; `hidden` are those with masked residues."""
        scanner, codes = self.scanner, self.codes
        if strand == REVERSE:
            alphabet = scanner.alphabet
            codes = reverse_complement_codes(codes, alphabet) if len(begin) else codes
            begin, hidden, names = (len(codes) - scanner.window.length - begin)[::-1], hidden[::-1], names[::-1]
        if not hidden.any():
            values = scanner.values(codes, begin, names)
        else:
            values = scanner.by_model(codes, begin[hidden], names[hidden])
            whole = np.empty((len(begin), *values.shape[1:]))
            whole[hidden] = values
            whole[~hidden] = scanner.values(codes, begin[~hidden], names[~hidden])
            values = whole
        return values[::-1] if strand == REVERSE else values


def occurrences(
    codes: npt.NDArray[np.uint8], site: npt.NDArray[np.uint8], first: int, stop: int
) -> npt.NDArray[np.int64]:
    """Return the places where a site's codes occur.

    Parameters
    ----------
    codes : ndarray of uint8, shape (residues,)
        The codes to search.
    site : ndarray of uint8, shape (width,)
        The codes of the site, at least one.
    first, stop : int
        Places from `first` to before `stop` are searched; ``stop + width - 1`` is at most the number of residues.

    Returns
    -------
    ndarray of int64, shape (n,)
        Ascending.

    Examples
    --------
    >>> from seqkern.sequences.alphabets import DNA
    >>> from seqkern.sequences.candidates import occurrences
    >>> occurrences(DNA.encode(b"AGTAGAG"), DNA.encode(b"AG"), 1, 6).tolist()
    [3, 5]
    """
    if stop <= first:
        return np.zeros(0, dtype=np.int64)
    hits = codes[first:stop] == site[0]
    for offset, code in enumerate(site[1:], start=1):
        hits &= codes[first + offset : stop + offset] == code
    return np.flatnonzero(hits) + first


def reverse_complement_codes(codes: npt.NDArray[np.uint8], alphabet: Alphabet) -> npt.NDArray[np.uint8]:
    """Return the codes of the reverse complement.

    Parameters
    ----------
    codes : ndarray of uint8, shape (bases,)
        Masked codes stay masked.
    alphabet : Alphabet
        With complements.

    Returns
    -------
    ndarray of uint8, shape (bases,)

    Raises
    ------
    ParameterError
        If the alphabet has no complement.
    """
    return np.frombuffer(codes[::-1].tobytes().translate(alphabet.complement_codes.tobytes()), dtype=np.uint8)
