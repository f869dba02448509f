"""Hard negatives: windows of negative or unlabelled sequences that a model classifies as positive, for retraining it.

With a window around a site, every occurrence of the site is a candidate, as in a scan. Otherwise the
sequences are cut into windows of the training samples' median length, with half of each overlapping the
next. Memory is bounded: only the best few of any number of candidates are kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from hashlib import blake2b
from typing import cast

import numpy as np
import numpy.typing as npt

from seqkern.core.checks import check_integer
from seqkern.core.errors import ModelError, SequenceError
from seqkern.core.types import Source
from seqkern.methods.model import Model
from seqkern.methods.scan import Scanner
from seqkern.sequences.alphabets import Alphabet
from seqkern.sequences.labels import Labels
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.sequences.streaming import iter_pieces

SHARED = 16
"""A window without a site that shares so many bases in a row with a positive may be its own place."""

AT_ONCE = 1 << 13
"""Windows decided at a time."""

SPARE = 4
"""So many times the wanted number of windows are kept before the worst are dropped."""

Codes = npt.NDArray[np.uint8]


class Hardest:
    """The windows with the highest decisions, each sequence once.

    Known windows, the training samples, are excluded; `seed` breaks ties.
    """

    def __init__(self, number: int, known: set[bytes], seed: int) -> None:
        self.number, self.known, self.seed = number, known, seed
        self._found: dict[bytes, float] = {}
        self._least = -np.inf

    def add(self, windows: Codes, decisions: npt.NDArray[np.float64]) -> None:
        """Keep those windows that are among the best so far."""
        for i in np.flatnonzero(decisions >= self._least):
            window = windows[i].tobytes()
            if window not in self.known:
                self._found[window] = float(decisions[i])
            if len(self._found) > SPARE * self.number:
                self._drop()

    def _drop(self) -> None:
        """Drop all windows except the best."""
        self._found = dict(self.ranked())
        self._least = min(self._found.values())

    def ranked(self) -> list[tuple[bytes, float]]:
        """Return the best windows with their decisions, best first."""

        def rank(item: tuple[bytes, float]) -> tuple[float, bytes]:
            return -item[1], blake2b(item[0], digest_size=8, key=str(self.seed).encode()).digest()

        return sorted(self._found.items(), key=rank)[: self.number]


class _Collector(Scanner):
    """A scanner that hands the windows of all candidates to `Hardest`."""

    hardest: Hardest

    def values(
        self, codes: Codes, starts: npt.NDArray[np.int64], names: npt.NDArray[np.object_]
    ) -> npt.NDArray[np.float64]:
        """Return the decisions about the windows, and keep the hardest."""
        found = super().values(codes, starts, names)
        some = np.flatnonzero(found >= self.hardest._least)
        for first in range(0, len(some), AT_ONCE):
            rows = some[first : first + AT_ONCE]
            windows = codes[starts[rows, None] + np.arange(self.window.length)]
            self.hardest.add(windows, found[rows])
        return found


def find_hard_negatives(
    model: Model,
    source: Source,
    X: SequenceSet,
    labels: Labels,
    *,
    number: int,
    seed: int = 1,
    n_threads: int | None = None,
) -> tuple[SequenceSet, npt.NDArray[np.float64]]:
    """Return the windows of sequences with a model's highest decisions, hardest first, and the decisions.

    A window that equals a training sample is never taken; without a site, neither is one that shares 16
    consecutive residues with a positive, on either strand: it is the positive's own locus, or a copy.
    """
    check_integer("number of hard negatives", number, 1)
    alphabet = model.alphabet
    if labels.kind != "binary" or alphabet is None:
        raise ModelError("hard negatives need sequences of two classes", remedy="name the positive class")
    if model.kernel.tracks or model.kernel.views or model.sequence_views:
        raise ModelError(
            f"kernel {model.kernel.name!r} needs tracks, views or several sequences, which new windows lack",
            remedy="choose another kernel for hard negatives",
        )
    hardest = Hardest(number, {bytes(codes) for codes in _records(X)}, seed)
    if model.window is not None and model.window.site:
        collector = _Collector(model, model.window.site, n_threads=n_threads)
        collector.hardest = hardest
        for _ in collector.scan(source):
            pass
    else:
        _search(model, alphabet, source, X.take(np.flatnonzero(labels.y == 1)), X, hardest, n_threads)
    ranked = hardest.ranked()
    if not ranked:
        raise SequenceError(
            "there is no window to add as a negative", remedy="give longer sequences, or ones that are not masked"
        )
    codes = np.frombuffer(b"".join(window for window, _ in ranked), dtype=np.uint8)
    length = len(ranked[0][0])
    ids = [f"hard{i}" for i in range(1, len(ranked) + 1)]
    found = SequenceSet.from_offsets(codes, np.arange(len(ids) + 1) * length, ids, alphabet)
    return found, np.array([decision for _, decision in ranked])


def _records(X: SequenceSet) -> Iterator[Codes]:
    """Yield the residues of each record."""
    for start, stop in zip(X.starts.tolist(), X.stops.tolist(), strict=True):
        yield X.codes[start:stop]


def _search(
    model: Model,
    alphabet: Alphabet,
    source: Source,
    positives: SequenceSet,
    X: SequenceSet,
    hardest: Hardest,
    n_threads: int | None,
) -> None:
    """Apply the model to windows of the samples' median length, with half of each overlapping the next."""
    length = max(2, int(np.median(X.lengths)))
    shared = _shared(positives, alphabet, min(SHARED, length))
    before = np.empty(0, dtype=np.uint8)
    for piece in iter_pieces(source, alphabet):
        codes = np.concatenate((before, piece.codes))
        starts = np.arange(0, len(codes) - length + 1, length // 2)
        before = np.empty(0, dtype=np.uint8) if piece.last else codes[(len(starts) * (length // 2)) :].copy()
        masked = np.concatenate(([0], np.cumsum(codes >= alphabet.size)))
        starts = starts[masked[starts + length] == masked[starts]] if len(starts) else starts
        for first in range(0, len(starts), AT_ONCE):
            some = starts[first : first + AT_ONCE]
            windows = codes[some[:, None] + np.arange(length)]
            windows = windows[~_has(windows, shared, alphabet.size, min(SHARED, length))]
            if len(windows):
                offsets, ids = np.arange(len(windows) + 1) * length, [str(i) for i in range(len(windows))]
                rows = SequenceSet.from_offsets(windows.ravel(), offsets, ids, alphabet)
                hardest.add(windows, model.decision(rows, n_threads=n_threads))


def _words(codes: Codes, size: int, k: int) -> npt.NDArray[np.uint64]:
    """Return a hash for each k-mer along the last axis; equal k-mers have equal hashes."""
    count = codes.shape[-1] - k + 1
    found = np.zeros((*codes.shape[:-1], max(count, 0)), dtype=np.uint64)
    for i in range(k if count > 0 else 0):  # modulo 2⁶⁴, in an odd base above the alphabet's size
        found = found * np.uint64(2 * size + 1) + codes[..., i : i + count]
    return found


def _shared(positives: SequenceSet, alphabet: Alphabet, k: int) -> npt.NDArray[np.uint64]:
    """Return the hashes of the positives' k-mers, sorted; on both strands if the alphabet has complements."""
    sets = [positives] if alphabet.complement is None else [positives, positives.reverse_complement()]
    words = [_words(codes, alphabet.size, k) for one in sets for codes in _records(one)]
    return np.unique(np.concatenate(words)) if words else np.empty(0, dtype=np.uint64)


def _has(windows: Codes, shared: npt.NDArray[np.uint64], size: int, k: int) -> npt.NDArray[np.bool_]:
    """Return whether each window contains a k-mer with one of the `shared` hashes."""
    return cast("npt.NDArray[np.bool_]", np.isin(_words(windows, size, k), shared).any(axis=1))


def with_negatives(X: SequenceSet, labels: Labels, windows: SequenceSet, name: str) -> tuple[SequenceSet, Labels]:
    """Return the training samples with further negatives, each in a group of its own and without a genomic place."""
    taken = set(X.ids)
    ids = [f"{name}{i}" for i in range(1, len(windows) + 1)]
    while not taken.isdisjoint(ids):
        ids = [f"{one}'" for one in ids]
    codes = np.concatenate([*_records(X), *_records(windows)])
    lengths = np.concatenate((X.lengths, windows.lengths))
    both = SequenceSet.from_offsets(codes, np.concatenate(([0], np.cumsum(lengths))), [*X.ids, *ids], X.alphabet)
    y = np.concatenate((labels.y.astype(np.int64), np.zeros(len(ids), dtype=np.int64)))
    groups = None
    if labels.groups is not None:
        groups = np.concatenate((np.asarray(labels.groups).astype(str), np.array(ids)))
    return both, replace(
        labels, ids=[*X.ids, *ids], y=y, groups=groups, folds=None, chromosome=None, strand=None, position=None
    )
