"""Occurrences of k-mers: their contributions to a decision, the residues that share them, their names.

A k-mer occurs at a window of a record; *labels* number the distinct k-mers of two sets, so that weights learned from
one set apply to the other.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
import numpy.typing as npt

from seqkern.core.types import Array, Floats, Ints
from seqkern.kernels.products import _product
from seqkern.sequences.alphabets import Alphabet
from seqkern.sequences.sequence_set import SequenceSet

Piece = tuple[int | None, int | None] | str
"""A part of a sequence, as start and stop, or the name of a sequence view."""
Parts = tuple[Piece, ...]


@dataclass(frozen=True)
class Labelled:
    """The k-mers of two sets of records under one numbering.

    `distinct` are the k-mers, ascending, as codes or texts; `labels` and `records` give each window's index into it and
    its record, `other_labels` and `other_records` the same for the support.
    """

    # shape (k-mers,): The distinct k-mers, ascending: codes, or texts of `seqkern.kernels.kmer.kmers.find_wide_kmers`
    distinct: Array
    labels: Ints  # shape (windows of X,): The place in `distinct` of each window's k-mer
    records: Ints  # shape (windows of X,): The record of each window
    other_labels: Ints  # shape (windows of the support,): The same for the other set
    other_records: Ints  # shape (windows of the support,): The same for the other set

    @classmethod
    def of(cls, words: Array, start: Ints, other_words: Array, other_start: Ints) -> Self:
        """Label the k-mers, codes or texts, of two sets; the k-mers of record i are ``words[start[i]:start[i +
        1]]``.
        """
        distinct, labels = np.unique(np.concatenate((words, other_words)), return_inverse=True)
        mine, theirs = labels[: len(words)], labels[len(words) :]
        return cls(distinct, mine, _records(start), theirs, _records(other_start))

    @classmethod
    def by_code(cls, codes: Array, start: Ints, other_codes: Array, other_start: Ints, space: int) -> Self:
        """Label codes without sorting: each code is its own label, and all possible codes count as distinct."""
        mine, theirs = codes.astype(np.int64), other_codes.astype(np.int64)
        return cls(np.arange(space), mine, _records(start), theirs, _records(other_start))

    def weights(self, coefficients: Floats, presence: bool = False) -> Floats:
        """Return Σ_j coefficients[j]·Φ_u(z_j) of each k-mer u."""
        labels, records = self.other_labels, self.other_records
        if presence:
            pairs = np.unique(records * len(self.distinct) + labels)
            records, labels = np.divmod(pairs, max(1, len(self.distinct)))
        sums: Array = np.bincount(labels, weights=coefficients[records], minlength=len(self.distinct))
        return sums

    def occurrences(self) -> Ints:
        """Return the count of each window's k-mer in its record, int64 (windows of X,)."""
        pairs = self.records * len(self.distinct) + self.labels
        _, place, counts = np.unique(pairs, return_inverse=True, return_counts=True)
        return counts[place]


def _records(start: Ints) -> Ints:
    """Return the record of each item, given the start of each record."""
    return np.repeat(np.arange(len(start) - 1), np.diff(start))


def spread(values: npt.ArrayLike, starts: npt.ArrayLike, offsets: Iterable[int], letters: int) -> Floats:
    """Share the value of each occurrence equally among its residues, given by `offsets` from its start.

    >>> spread([2.0, 3.0], [0, 2], offsets=(0, 2), letters=5)
    array([1. , 0. , 2.5, 0. , 1.5])
    """
    out = np.zeros(letters)
    values, starts = np.ascontiguousarray(values, dtype=np.float64), np.ascontiguousarray(starts, dtype=np.int64)
    _product.spread(values, starts, np.array(offsets, dtype=np.int64), out)
    return out


def spell(words: Array, k: int, alphabet: Alphabet) -> list[str]:
    """Return k-mers, given as codes or texts, as strings.

    >>> from seqkern.sequences.alphabets import DNA
    >>> spell(np.array([0, 27]), 3, DNA)
    ['AAA', 'CGT']
    """
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


def piece_of(X: SequenceSet, piece: Piece) -> SequenceSet:
    """Return one piece of each record."""
    return X.view(piece) if isinstance(piece, str) else X.part(*piece)


class Pattern(NamedTuple):
    """The form of a k-mer's occurrences.

    `offsets` are the positions of the letters, from 0; residues in between do not matter. `parts` limits
    occurrences to a
    piece of a sequence; each further part is a piece of the previous one.
    """

    letters: str
    offsets: tuple[int, ...]  # Position of each letter, from 0; residues in between do not matter
    # The piece of a sequence in which occurrences count, a part as start and stop or a sequence view; each further one
    # is a piece of the previous one
    parts: Parts = ()


class KernelPattern(NamedTuple):
    """A pattern that is found by its kernel, such as a motif.

    ``count(X)`` returns the number of occurrences by name. Patterns that are counted together share one `count`, equal
    for the same kernel in other sets.
    """

    name: str
    count: Callable[[SequenceSet], dict[str, int]]  # type: ignore[assignment]  # hides an unused tuple method
    parts: Parts = ()  # As of a `Pattern`


class KmerWeights(NamedTuple):
    """K-mers, and the contribution of one occurrence of each to a decision.

    `patterns` tell how to find the occurrences; None if the letters of a k-mer do not determine them. By default, the
    letters of the name must occur contiguously.
    """

    names: list[str]
    weights: Floats  # shape (k-mers,)
    # How to find the occurrences of each k-mer; None if its letters do not determine them. By default, the letters of
    # the name, contiguous
    patterns: list[Pattern | KernelPattern | None] | None = None

    def found_by(self) -> list[Pattern | KernelPattern | None]:
        """Return the patterns that find the k-mers, including default ones."""
        if self.patterns is not None:
            return self.patterns
        offsets = {size: tuple(range(size)) for size in set(map(len, self.names))}
        return [Pattern(name, offsets[len(name)]) for name in self.names]


def merge(parts: Iterable[tuple[Any, ...]]) -> KmerWeights:
    """Return the merged KmerWeights; weights of the same k-mer are summed.

    >>> merge([(["AC", "GT"], np.array([1.0, 2.0])), (["AC"], np.array([0.5]))]).weights
    array([1.5, 2. ])
    """
    given = [KmerWeights(*part) for part in parts]
    if all(part.patterns is None for part in given):
        total = _totals(given, [part.names for part in given])
        return KmerWeights(list(total), _as_weights(total))
    total = _totals(given, [zip(part.names, part.found_by(), strict=True) for part in given])
    return KmerWeights([name for name, _ in total], _as_weights(total), [pattern for _, pattern in total])


def _totals(parts: list[KmerWeights], keys: Iterable[Iterable[Any]]) -> dict[Any, float]:
    """Return the sum of the weights of each key."""
    total: dict[Any, float] = {}
    for part, own in zip(parts, keys, strict=True):
        for key, weight in zip(own, part.weights.tolist(), strict=True):
            total[key] = total.get(key, 0.0) + weight
    return total


def _as_weights(total: dict[Any, float]) -> Floats:
    """Return the values of a dict as float64."""
    return np.array(list(total.values()), dtype=np.float64)


# Sums over k-mers that give decisions without the support sequences.

Sums = npt.NDArray[np.float32 | np.float64]
Tally = list[Sums]


class Tallied:
    """The sum Σ_j c_j·K(x, z_j), not normalised; a kernel family implements all methods."""

    def values(self, X: SequenceSet) -> Floats:
        """Return the sum for each record."""
        raise NotImplementedError

    def attributions(self, X: SequenceSet) -> Floats:
        """Return the contribution of each residue, shape (residues,); see `Kernel._attribute`."""
        raise NotImplementedError

    def kmer_weights(self, X: SequenceSet) -> KmerWeights:
        """Return the contribution of one occurrence of each k-mer of `X`."""
        raise NotImplementedError

    def tables(self) -> list[tuple[int, Floats]] | None:
        """Return the weights of all k-mers; see `Tables.weights`. None if a k-mer's weight is not one number."""
        raise NotImplementedError


class ScansWindows(Protocol):
    """Object that sums over windows of a long sequence; see `WindowValues.scan`."""

    def scan(self, codes: npt.NDArray[np.uint8], starts: Ints, n_threads: int | None = None) -> Floats:
        """Return the values of the windows of a long sequence that begin at `starts` (ascending), float64 (n,)."""
