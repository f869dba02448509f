"""Words where they occur: what each adds to a decision, which letters share it, how it is spelled.

A word occurs at a window of a record; *labels* number the distinct words of two sets, so that a weight learned from the
one applies to the other.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from seqkern.kernels.products import _fold


@dataclass(frozen=True)
class Labelled:
    """The words of two sets of records under one numbering.

    Attributes
    ----------
    distinct : ndarray, shape (words,)
        The distinct words, ascending: codes, or texts of `seqkern.kernels.kmer.wide_kmers.find_wide_kmers`.
    labels : ndarray of int64, shape (windows of X,)
        The place in `distinct` of each window's word.
    records : ndarray of int64, shape (windows of X,)
        The record of each window.
    other_labels, other_records : ndarray of int64, shape (windows of the support,)
    """

    distinct: np.ndarray
    labels: np.ndarray
    records: np.ndarray
    other_labels: np.ndarray
    other_records: np.ndarray

    @classmethod
    def of(cls, words, start, other_words, other_start):
        """Label the words of two sets, record i of a set being ``words[start[i]:start[i + 1]]``."""
        distinct, labels = np.unique(np.concatenate((words, other_words)), return_inverse=True)
        mine, theirs = labels[: len(words)], labels[len(words) :]
        return cls(distinct, mine, _records(start), theirs, _records(other_start))

    @classmethod
    def by_code(cls, codes, start, other_codes, other_start, space):
        """Do the same for codes below `space`, each its own label, without sorting: all codes count as distinct."""
        mine, theirs = codes.astype(np.int64), other_codes.astype(np.int64)
        return cls(np.arange(space), mine, _records(start), theirs, _records(other_start))

    def weights(self, coefficients, presence=False):
        """Return Σ_j coefficients[j]·Φ_u(z_j) of each word u, float64 (words,); Φ is a count, or with `presence` 1."""
        labels, records = self.other_labels, self.other_records
        if presence:
            pairs = np.unique(records * len(self.distinct) + labels)
            records, labels = np.divmod(pairs, max(1, len(self.distinct)))
        return np.bincount(labels, weights=coefficients[records], minlength=len(self.distinct))

    def occurrences(self):
        """Return for each window of X how often its word occurs in its record, int64."""
        pairs = self.records * len(self.distinct) + self.labels
        _, place, counts = np.unique(pairs, return_inverse=True, return_counts=True)
        return counts[place]


def _records(start):
    """Return the record of each item, from where the records start."""
    return np.repeat(np.arange(len(start) - 1), np.diff(start))


def spread(values, starts, offsets, letters):
    """Share each occurrence's value equally among its letters.

    Parameters
    ----------
    values : ndarray of float64, shape (occurrences,)
    starts : ndarray of int64, shape (occurrences,)
        First letter of each, counted over all records as `seqkern.kernels.kmer.kmers.find_windows` does.
    offsets : iterable of int
        The letters of an occurrence, from its start.
    letters : int
        How many there are in all.

    Returns
    -------
    ndarray of float64, shape (letters,)
    """
    out = np.zeros(letters)
    values, starts = np.ascontiguousarray(values, dtype=np.float64), np.ascontiguousarray(starts, dtype=np.int64)
    _fold.spread(values, starts, np.array(offsets, dtype=np.int64), out)
    return out


def spell(words, k, alphabet):
    """Return words of `k` letters, codes or texts as in `Labelled`, as a list of str."""
    letters = np.frombuffer(alphabet.letters.encode(), dtype=np.uint8)
    if words.dtype.kind == "S":
        digits = np.frombuffer(words.astype(f"S{k}").tobytes(), dtype=np.uint8).reshape(-1, k) - 1
    else:
        digits = np.empty((len(words), k), dtype=np.uint8)
        rest = words.astype(np.uint64)
        for place in reversed(range(k)):
            rest, digits[:, place] = np.divmod(rest, np.uint64(alphabet.size))
    text = letters[digits].tobytes().decode()
    return [text[i : i + k] for i in range(0, len(text), k)]


class Pattern(NamedTuple):
    """What an occurrence of a word looks like.

    Attributes
    ----------
    letters : str
    offsets : tuple of int
        Where each of the letters is, from 0 on; letters between them do not matter.
    parts : tuple of (int or None, int or None)
        The part of a sequence where occurrences count, as start and stop; of further ones, each is a part of the one
        before it.
    """

    letters: str
    offsets: tuple
    parts: tuple = ()


class KernelPattern(NamedTuple):
    """A word that its kernel finds, such as a motif, and not its letters.

    Attributes
    ----------
    name : str
    count : callable
        ``count(X)`` returns a dict from names to how often they occur in a SequenceSet. Words that are counted together
        share one, equal to that of the same kernel's words in other sets.
    parts : tuple of (int or None, int or None)
        As of a `Pattern`.
    """

    name: str
    count: object
    parts: tuple = ()


class WordWeights(NamedTuple):
    """Words, and what one occurrence of each adds to a decision.

    Attributes
    ----------
    names : list of str
    weights : ndarray of float64, shape (words,)
    patterns : list of Pattern, KernelPattern or None, optional
        How to find the occurrences of each word, None where letters alone do not tell. By default every word is its
        name's letters, next to each other.
    """

    names: list
    weights: np.ndarray
    patterns: list | None = None

    def found_by(self):
        """Return the patterns, also where they are the default."""
        if self.patterns is not None:
            return self.patterns
        offsets = {size: tuple(range(size)) for size in set(map(len, self.names))}
        return [Pattern(name, offsets[len(name)]) for name in self.names]


def merge(parts):
    """Return the WordWeights of several; the weights of a word in more than one are summed."""
    parts = [WordWeights(*part) for part in parts]
    if all(part.patterns is None for part in parts):
        total = _totals(parts, [part.names for part in parts])
        return WordWeights(list(total), _as_weights(total))
    total = _totals(parts, [zip(part.names, part.found_by(), strict=True) for part in parts])
    return WordWeights([name for name, _ in total], _as_weights(total), [pattern for _, pattern in total])


def _totals(parts, keys):
    """Return a dict with the sum of the weights of each key."""
    total = {}
    for part, own in zip(parts, keys, strict=True):
        for key, weight in zip(own, part.weights.tolist(), strict=True):
            total[key] = total.get(key, 0.0) + weight
    return total


def _as_weights(total):
    """Return the values of a dict as float64."""
    return np.array(list(total.values()), dtype=np.float64)
