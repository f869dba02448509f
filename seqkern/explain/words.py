"""Words with their weights and how often they occur, collected from any number of sequences in bounded memory."""

import functools
import re

import numpy as np

from ..kernels.words import spell

MOST_WORDS = 200_000
PART = re.compile(r"(.+) \[(-?\d*):(-?\d*)\]")
PAIR = re.compile(r"(.*?)\((\d+)\)(.*)", re.DOTALL)


class WordTable:
    """Words, weights and occurrences.

    Parameters
    ----------
    both_strands : bool
        Whether an occurrence of a word's reverse complement is one of the word.

    Attributes
    ----------
    dropped : int
        How many words of small weight were left out, because there were too many.
    """

    def __init__(self, both_strands=False):
        self.both_strands = both_strands
        self.dropped = 0
        self._rows = {}

    def __len__(self):
        return len(self._rows)

    def add(self, X, words, weights):
        """Add words with their weights, those without any left out, and count how often each occurs in `X`.

        A word that is there already keeps the mean of its weights, by the numbers of sequences: for most kernels it
        has one weight in all of them.
        """
        patterns = [read_pattern(word, X.alphabet) for word in words]
        counts = {kind: self._count(X, *kind) for kind in {kind for _, kind in patterns} - {None}}
        for word, (text, kind), weight in zip(words, patterns, weights.tolist(), strict=True):
            row = self._rows.get(word)
            if row is None:
                if weight == 0:  # of most k-mers that the model has never seen
                    continue
                row = self._rows[word] = [weight, 0, None if kind is None else 0]
            row[0] += (weight - row[0]) * len(X) / max(1, row[1] + len(X))
            row[1] += len(X)
            if kind is not None:
                row[2] += counts[kind].get(text, 0)
        if len(self._rows) > 2 * MOST_WORDS:
            kept = self.sorted()[:MOST_WORDS]
            self.dropped += len(self._rows) - len(kept)
            self._rows = {word: self._rows[word] for word, _, _ in kept}

    def sorted(self):
        """Return a list of (word, weight, occurrences or None), the largest absolute weight first."""
        rows = [(word, weight, count) for word, (weight, _, count) in self._rows.items()]
        return sorted(rows, key=lambda row: (-abs(row[1]), row[0]))

    def _count(self, X, offsets, start, stop):
        """Return a dict from words at `offsets` of a window to how often they occur in letters `start` to `stop`."""
        X = X.part(start, stop)
        letters, size = X.codes[X.positions()], len(offsets)
        room = np.repeat(np.cumsum(X.lengths), X.lengths) - np.arange(len(letters))
        starts = np.flatnonzero(room > max(offsets))
        found = letters[starts[:, None] + np.array(offsets)]
        found = found[(found < X.alphabet.size).all(axis=1)]
        texts = np.ascontiguousarray(found + np.uint8(1)).view(f"S{size}").reshape(-1)
        if self.both_strands:
            other = X.alphabet.complement_codes[found[:, ::-1]]
            others = np.ascontiguousarray(other + np.uint8(1)).view(f"S{size}").reshape(-1)
            texts = np.where(others < texts, others, texts)
        distinct, numbers = np.unique(texts, return_counts=True)
        return dict(zip(spell(distinct, size, X.alphabet), numbers.tolist(), strict=True))


def read_pattern(name, alphabet):
    """Return what the name of a word stands for.

    Parameters
    ----------
    name : str
        Letters; with dots for any letters, ``AC..GT``; two words and the distance of their starts, ``AC(5)GT``; with
        the part of the sequence where it counts, ``ACGT [3:20]``.
    alphabet : Alphabet

    Returns
    -------
    letters : str
    kind : (tuple of int, int or None, int or None), or None
        The letters' offsets from the first, start and stop of the part; None for another feature.
    """
    if name and not name.strip(alphabet.letters):
        return name, _window(len(name))
    match = PART.fullmatch(name)
    whole, *ends = match.groups() if match else (name, "", "")
    first, distance, second = (PAIR.fullmatch(whole) or PAIR.fullmatch(f"{whole}(0)")).groups()
    places = [(letter, i) for i, letter in enumerate(first)]
    places += [(letter, i + int(distance)) for i, letter in enumerate(second)]
    places = [(letter, place) for letter, place in places if letter != "."]
    if not places or {letter for letter, _ in places} - set(alphabet.letters):
        return name, None
    letters = "".join(letter for letter, _ in places)
    return letters, (tuple(place for _, place in places), *(int(end) if end else None for end in ends))


@functools.cache
def _window(size):
    """Return the kind of a word of neighbouring letters, anywhere."""
    return tuple(range(size)), None, None
