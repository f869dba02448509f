"""Candidate sites among the letters at hand: where some letters stand, and the windows around them.

No more is held than a piece of the sequences and the letters of a window; of short records many are taken at once. What
decides is a `seqkern.models.scan.Scanner`.
"""

import itertools
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from seqkern.sequences.alphabets import MASK

FORWARD, REVERSE = 0, 1


@dataclass(frozen=True, eq=False)
class Candidates:
    """Candidates on one record, by place; of two at one place that on strand + first.

    Attributes
    ----------
    record : str
    starts : ndarray of int64, shape (n,)
        Where the letters of each candidate begin in the record as it is written, from 0.
    reverse : ndarray of bool, shape (n,)
        True on strand −.
    decisions : ndarray of float64, shape (n,) or (n, classes)
    width : int
        The number of those letters.
    """

    record: str
    starts: np.ndarray
    reverse: np.ndarray
    decisions: np.ndarray
    width: int

    def __len__(self):
        return len(self.starts)

    @property
    def positions(self):
        """int64 (n,): the position, from 1, of each candidate's own first letter."""
        return self.starts + np.where(self.reverse, self.width, 1)

    def take(self, rows):
        """Return the candidates `rows`."""
        return Candidates(self.record, self.starts[rows], self.reverse[rows], self.decisions[rows], self.width)


class AtHand:
    """Letters not yet decided about, of one record or several, and those before them that belong to their windows."""

    def __init__(self, scanner):
        self.scanner = scanner
        self._forget()

    def _forget(self):
        """Begin anew, with nothing at hand."""
        self.codes, self.lower = [], []  # pieces
        self.names, self.starts = [], []  # the records, and where each begins among the letters at hand
        self.size = self.fresh = 0
        self.ended = True  # whether the last record has been read to its end
        self.before = 0  # letters of the first record that are no longer at hand
        self.next = 0  # where the next candidate may begin
        self.bare = True  # whether the first record had masked letters only, so far

    def add(self, piece):
        """Take in the next piece."""
        if self.ended:
            self.names.append(piece.record)
            self.starts.append(self.size)
        self.codes.append(piece.codes)
        self.lower.append(piece.lower)
        self.size += len(piece.codes)
        self.fresh += len(piece.codes)
        self.ended = piece.last

    def decide(self):
        """Yield the Candidates that can be decided about now, record by record; forget what is no longer needed."""
        if not self.names:
            return
        window, width = self.scanner.window, len(self.scanner.site)
        codes, lower = np.concatenate(self.codes), np.concatenate(self.lower)
        starts = np.array(self.starts, dtype=np.int64)
        begins = starts.copy()  # where the records begin, also of what is no longer at hand
        begins[0] -= self.before
        stops = np.append(starts[1:], self.size)
        last = self.size if self.ended else max(starts[-1], self.size - max(window.right, window.left + width - 1))
        last = max(self.next, int(last))
        stretch = Stretch(self.scanner, codes, lower, np.array(self.names, dtype=object), starts, begins, stops)
        yield from stretch.decide(self.next, last)

        bare = stretch.bare()
        bare[0] &= self.bare
        n_read = len(self.names) - (not self.ended)
        self.scanner.bare += [self.names[i] for i in np.flatnonzero(bare[:n_read])]
        if self.ended:
            self._forget()
            return
        cut = max(int(starts[-1]), last - max(window.left, window.right + 1 - width))
        self.codes, self.lower = [codes[cut:].copy()], [lower[cut:].copy()]
        self.before, self.next, self.bare = cut - int(begins[-1]), last - cut, bool(bare[-1])
        self.names, self.starts, self.size, self.fresh = self.names[-1:], [0], self.size - cut, 0


@dataclass(frozen=True, eq=False)
class Stretch:
    """Letters of records one after the other: record i is ``codes[starts[i]:stops[i]]``, and begins at `begins[i]`."""

    scanner: object
    codes: np.ndarray
    lower: np.ndarray
    names: np.ndarray
    starts: np.ndarray
    begins: np.ndarray
    stops: np.ndarray

    @cached_property
    def masked(self):
        """int32 (letters + 1,): the number of masked letters before each; None if there are none."""
        masked = self.codes == MASK
        return np.concatenate(([0], np.cumsum(masked, dtype=np.int32))) if masked.any() else None

    def bare(self):
        """Return bool (records,): which have masked letters only."""
        if self.masked is None:
            return self.starts == self.stops
        return self.masked[self.stops] - self.masked[self.starts] == self.stops - self.starts

    def decide(self, first, stop):
        """Yield the Candidates that begin from `first` to before `stop`, record by record."""
        scanner = self.scanner
        width, length = len(scanner.site), scanner.window.length
        places, decisions = [], []
        for strand in scanner.strands:
            site = scanner.site if strand == FORWARD else turned(scanner.site, scanner.model.alphabet)
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
            places.append(here)
            decisions.append(self._score(begin, hidden, self.names[record], strand))
        reverse = np.repeat(np.array(scanner.strands, dtype=bool), [len(here) for here in places])
        places, decisions = np.concatenate(places), np.concatenate(decisions)
        order = np.argsort(2 * places + reverse, kind="stable")
        places, reverse, decisions = places[order], reverse[order], decisions[order]
        cuts = np.searchsorted(places, [*self.starts, self.stops[-1]])
        for i, (low, high) in enumerate(itertools.pairwise(cuts.tolist())):
            if low < high:
                some = slice(low, high)
                yield Candidates(self.names[i], places[some] - self.begins[i], reverse[some], decisions[some], width)

    def _allowed(self, here, begin):
        """Return those of the places `here` that have their windows, from `begin` on, in one record, and it."""
        scanner, width = self.scanner, len(self.scanner.site)
        record = np.searchsorted(self.starts, here, side="right") - 1
        whole = here + width <= self.stops[record]  # letters of two records are no candidate
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

    def _score(self, begin, hidden, names, strand):
        """Return the decisions about the windows that begin at `begin`; `hidden` are those with masked letters."""
        scanner, codes = self.scanner, self.codes
        if strand == REVERSE:
            codes = turned(codes, scanner.model.alphabet) if len(begin) else codes
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


def occurrences(codes, site, first, stop):
    """Return the places from `first` to before `stop` where the codes `site` stand, int64."""
    if stop <= first:
        return np.zeros(0, dtype=np.int64)
    hits = codes[first:stop] == site[0]
    for offset, code in enumerate(site[1:], start=1):
        hits &= codes[first + offset : stop + offset] == code
    return np.flatnonzero(hits) + first


def turned(codes, alphabet):
    """Return the codes of the reverse complement."""
    return np.frombuffer(codes[::-1].tobytes().translate(alphabet.complement_codes.tobytes()), dtype=np.uint8)
