"""Seqlets: stretches of sequences whose contributions to the decision exceed those of random sequences.

A window's sum of contributions is compared with the sums in random sequences, drawn from a Markov chain with the
frequencies of pairs of residues of each sequence. The threshold is the lowest at which the windows of random sequences
are at most a share `FALSE_DISCOVERIES` of those of the sequences (seqlets as in TF-MoDISco: Shrikumar et al.,
arXiv:1811.00416, 2018, with another null).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from seqkern.explain import Explainer
from seqkern.motifs.pieces import Pieces
from seqkern.sequences.sequence_set import SequenceSet

FALSE_DISCOVERIES = 0.2
MOST_SEQLETS = 10_000
SEED = 1


class Contributions:
    """Contributions of the residues of sequences, and those of random sequences of like composition.

    Parameters
    ----------
    explainer : Explainer
        The model.
    X : SequenceSet
        The sequences.

    Attributes
    ----------
    X : SequenceSet
        The sequences, one after the other.
    scores, null : ndarray of float64, shape (residues,)
        Contributions to the decision value, of the sequences and of the random ones.
    """

    def __init__(self, explainer: Explainer, X: SequenceSet) -> None:
        self.X = X.compact()
        self.both_strands = explainer.both_strands
        self.scores = _contributions(explainer, self.X)
        self.null = _contributions(explainer, random_like(self.X, np.random.default_rng(SEED)))

    @property
    def total(self) -> float:
        """Sum of the absolute contributions."""
        return float(np.abs(self.scores).sum())

    def seqlets(self, sign: int, window: int, flank: int, margin: int) -> Pieces:
        """Return the seqlets of one sign, strongest first, at most `MOST_SEQLETS`.

        Parameters
        ----------
        sign : {1, -1}
            Of the contributions.
        window : int
            Residues over which contributions are added; windows of two seqlets do not overlap.
        flank : int
            Residues on either side that belong to the seqlet.
        margin : int
            As in `Pieces`.

        Returns
        -------
        Pieces
        """
        sums = _window_sums(sign * self.scores, self.X, window)
        null = _window_sums(sign * self.null, self.X, window)
        starts = _peaks(sums, _threshold(sums, null), window)[:MOST_SEQLETS]
        size, wide = self.X.alphabet.size, flank + margin
        offsets = np.arange(-wide, window + wide)
        places = starts[:, None] + offsets
        record = np.searchsorted(self.X.stops, starts, side="right")
        inside = (places >= self.X.starts[record][:, None]) & (places < self.X.stops[record][:, None])
        places = np.where(inside, places, 0)
        codes = np.where(inside, self.X.codes[places], np.uint8(size)).astype(np.uint8)
        scores = np.where(inside, np.maximum(sign * self.scores[places], 0.0), 0.0)[:, margin:-margin]
        return Pieces(codes, scores, margin, self.X.alphabet, self.both_strands)


def _contributions(explainer: Explainer, X: SequenceSet) -> npt.NDArray[np.float64]:
    """Return the contributions of all residues, computed in sets of bounded size."""
    return np.concatenate([np.zeros(0), *(explainer.letters(piece)[1] for piece in explainer.pieces(X))])


def random_like(X: SequenceSet, rng: np.random.Generator) -> SequenceSet:
    """Return random sequences with the lengths of others and, each, about the same pairs of residues.

    Each is drawn from a Markov chain with the transitions counted in its own sequence; masked residues stay masked.

    Parameters
    ----------
    X : SequenceSet
        The sequences.
    rng : numpy.random.Generator
        Random number generator.

    Returns
    -------
    SequenceSet

    Examples
    --------
    >>> from seqkern.sequences.sequence_set import as_sequences
    >>> random_like(as_sequences(["ACACACACAC", "GGGGG"], "dna"), np.random.default_rng(1)).strings()
    ['ACACACACAC', 'GGGGG']
    """
    X, size = X.compact(), X.alphabet.size
    drawn = X.codes.copy()
    for rows in _batches(X, 2_000_000 // size**2):
        part = X.take(rows).compact()
        record = np.repeat(np.arange(len(part)), part.lengths)
        known = np.minimum(part.codes, size)
        counts = np.zeros((len(part), size + 1, size))
        follows = np.flatnonzero((record[1:] == record[:-1]) & (known[1:] < size))
        np.add.at(counts, (record[follows], known[follows], known[follows + 1]), 1.0)
        single = np.zeros((len(part), size))
        np.add.at(single, (record[known < size], known[known < size]), 1.0)
        counts += np.where(counts.sum(axis=2, keepdims=True) > 0, 0.0, single[:, None] + 1e-9)
        steps = np.cumsum(counts, axis=2) / counts.sum(axis=2, keepdims=True)
        steps[:, :, -1] = 1.0
        draws = rng.random(len(part.codes))
        state = np.full(len(part), size)
        for place in range(int(part.lengths.max(initial=0))):
            alive = np.flatnonzero(part.lengths > place)
            at = part.starts[alive] + place
            chosen = (steps[alive, state[alive]] < draws[at, None]).sum(axis=1)
            if place == 0:  # the first residue stays, as with shuffles that keep pairs
                chosen = known[at].astype(np.int64)
            masked = known[at] == size
            state[alive] = np.where(masked, size, chosen)
            drawn[X.starts[rows][alive] + place] = np.where(masked, part.codes[at], chosen)
    return SequenceSet.from_offsets(drawn, np.concatenate(([0], np.cumsum(X.lengths))), X.ids, X.alphabet)


def _batches(X: SequenceSet, most: int) -> Iterator[slice]:
    """Yield slices of at most `most` records."""
    for start in range(0, len(X), max(1, most)):
        yield slice(start, min(start + max(1, most), len(X)))


def _window_sums(scores: npt.NDArray[np.float64], X: SequenceSet, window: int) -> npt.NDArray[np.float64]:
    """Return the sum over the window that starts at each residue; -inf where it leaves its sequence."""
    sums = np.full(len(scores), -np.inf)
    running = np.concatenate(([0.0], np.cumsum(scores)))
    room = np.repeat(X.stops, X.lengths) - np.arange(len(scores))
    starts = np.flatnonzero(room >= window)
    sums[starts] = running[starts + window] - running[starts]
    return sums


def _threshold(sums: npt.NDArray[np.float64], null: npt.NDArray[np.float64]) -> float:
    """Return the lowest threshold above 0 with at most the share FALSE_DISCOVERIES of random windows; inf if none."""
    real, random = np.sort(sums[sums > 0])[::-1], np.sort(null[null > 0])[::-1]
    above = np.searchsorted(-random, -real, side="right")
    good = np.flatnonzero(above <= FALSE_DISCOVERIES * np.arange(1, len(real) + 1))
    return float(real[good[-1]]) if len(good) else np.inf


def _peaks(sums: npt.NDArray[np.float64], threshold: float, window: int) -> npt.NDArray[np.int64]:
    """Return the starts of windows from the threshold on, greatest sum first, without overlap."""
    found = np.flatnonzero(sums >= threshold)
    order = found[np.argsort(-sums[found], kind="stable")]
    taken = np.zeros(len(sums) + window, dtype=bool)
    kept = []
    for start in order.tolist():
        if not taken[start] and not taken[start + window - 1]:
            taken[start : start + window] = True
            kept.append(start)
    return np.array(kept, dtype=np.int64)
