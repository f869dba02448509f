"""A profile hidden Markov model, and the gradient of its likelihood."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from seqkern.core.threads import GIVEN_THREADS, available_threads, in_threads
from seqkern.core.types import Arrays
from seqkern.kernels.hmm import _forward_backward as loops
from seqkern.sequences.sequence_set import SequenceSet

LOOP = 350 / 351
"""Probability that a flanking state emits one more residue."""

STEPS = ("MM", "MI", "MD", "IM", "II", "DM", "DD")
GROUPS = (slice(0, 3), slice(3, 5), slice(5, 7))
"""The steps out of a match, an insert and a delete state."""

CHUNKS = 8


@dataclass(frozen=True, eq=False)
class ProfileHMM:
    """A profile HMM, passed from begin to end, once, anywhere in a sequence (glocal, single-hit).

    States: begin; for each of `length` columns a match state, an insert state after it (but for the last column) and a
    delete state; end. Before the begin and after the end a state emits any number of letters, one more with the
    probability 350/351. These two and the inserts emit residues with their background frequencies, as in HMMER's
    programs. A masked residue is emitted with probability 1 by any state, and not counted.

    Attributes
    ----------
    emissions : ndarray of float64, shape (length, letters)
        Of the match states; rows sum to 1.
    steps : ndarray of float64, shape (length, 7)
        Probabilities of the steps MM, MI, MD, IM, II, DM, DD: row 0 is of the begin (MM and MD alone), row k of column
        k, counted from 1. The last column leads to the end only.
    background : ndarray of float64, shape (letters,)
    """

    emissions: np.ndarray
    steps: np.ndarray
    background: np.ndarray

    @classmethod
    def of(cls, emissions: npt.ArrayLike, steps: npt.ArrayLike, background: npt.ArrayLike) -> Self:
        """Return the model of any non-negative numbers, normalised; rows of zeros stay zeros.

        Parameters
        ----------
        emissions : array_like of float, shape (length, letters)
            Of the match states.
        steps : array_like of float, shape (length, 7)
            As the attribute. Values of row 0 for inserts and deletes are ignored.
        background : array_like of float, shape (letters,)
            Frequencies of the letters.

        Returns
        -------
        ProfileHMM
        """
        emissions, steps = np.array(emissions, np.float64), np.array(steps, np.float64)
        background = np.array(background, np.float64)
        steps[0, [1, 3, 4, 5, 6]] = 0.0
        for part in (emissions, *(steps[:, group] for group in GROUPS)):
            total = part.sum(axis=1, keepdims=True)
            np.divide(part, total, out=part, where=total > 0)
        return cls(emissions, steps, background / background.sum())

    @property
    def length(self) -> int:
        """Number of columns."""
        return len(self.emissions)

    def width(self, transitions: bool) -> int:
        """Return the number of scores.

        Parameters
        ----------
        transitions : bool
            Whether to include the transitions.

        Returns
        -------
        int
        """
        return self.emissions.size + (self.steps.size if transitions else 0)

    def score(
        self, X: SequenceSet, transitions: bool = False, *, n_threads: int | None = None, kept_rows: int = 0
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Return the Fisher scores, and the logarithms of the odds over the background alone.

        Parameters
        ----------
        X : SequenceSet, n records
        transitions : bool
            Whether to include the scores of the transitions.
        n_threads : int, optional
            By default all cores.
        kept_rows : int, optional
            Forward rows kept at a time; does not change the bits.

        Returns
        -------
        scores : ndarray of float64, shape (n, width)
            ∂ ln P(x) / ∂θ, the probabilities θ of a state normalised anew: expected count / θ, less the expected
            counts of the state; first emissions, column after column, then steps. 0 where θ is 0; and everywhere
            for a sequence that the model cannot emit.
        odds : ndarray of float64, shape (n,)
            ln P(x) − Σ_i ln background(x_i), −∞ for a sequence that the model cannot emit.
        """
        scores, odds = np.empty((len(X), self.width(transitions))), np.empty(len(X))
        arrays = X.codes, X.starts, X.stops

        def task(first: int, last: int) -> Callable[[], None]:
            return lambda: self._recursions.scores(*arrays, first, last, transitions, kept_rows, scores, odds)

        n_threads = available_threads(GIVEN_THREADS.get() or n_threads)
        in_threads([task(*span) for span in _spans(X.lengths, n_threads)], n_threads)
        return scores, odds + X.lengths * np.log(LOOP) + 2 * np.log1p(-LOOP)

    def posteriors(self, codes: npt.NDArray[np.uint8]) -> npt.NDArray[np.float64]:
        """Return the probability of each match state at each residue, float64 (n, length), 0 at masked residues.

        Parameters
        ----------
        codes : ndarray of uint8, shape (n,)
            One sequence.

        Returns
        -------
        ndarray of float64, shape (n, length)
        """
        striped = np.zeros((len(codes), len(self._places)))
        self._recursions.posteriors(np.ascontiguousarray(codes), striped)
        result = striped[:, self._places[: self.length]]
        result[codes >= len(self.background)] = 0.0
        return result

    def shares(self, X: SequenceSet, weights: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return what each residue of `X` adds to the scores of the emissions times `weights`.

        Parameters
        ----------
        X : SequenceSet
            The sequences that are explained.
        weights : ndarray of float64, shape (length · letters,)
            One for each emission.

        Returns
        -------
        ndarray of float64, shape (residues of X,)
        """
        free = self.emissions > 0
        table = np.where(free, weights.reshape(self.emissions.shape), 0.0)
        values = np.divide(table, self.emissions, out=np.zeros_like(table), where=free)
        values = np.vstack(((values - table.sum(axis=1, keepdims=True)).T, np.zeros(self.length)))
        shares = [np.zeros(0)]
        for start, stop in zip(X.starts, X.stops, strict=True):
            codes = X.codes[start:stop]
            shares.append((self.posteriors(codes) * values[np.minimum(codes, len(values) - 1)]).sum(axis=1))
        return np.concatenate(shares)

    def information(self, transitions: bool = False) -> npt.NDArray[np.float64]:
        """Return the diagonal of the Fisher information of one passage, float64 (width,): visits · (1 − θ)/θ.

        The visits of a state are those that the model expects; emissions and transitions are assumed known. 0 for θ of
        0 and 1, which are not parameters.

        Parameters
        ----------
        transitions : bool
            Whether to include the transitions.

        Returns
        -------
        ndarray of float64, shape (width,)
        """
        visits = self._visits()
        parts = [_variance(visits[1:, :1], self.emissions).reshape(-1)]
        if transitions:
            each = np.repeat(visits[:-1], [3, 2, 2], axis=1)
            parts.append(_variance(each, self.steps).reshape(-1))
        return np.concatenate(parts)

    def _visits(self) -> npt.NDArray[np.float64]:
        """Return how often the model is expected to visit match, insert and delete states, (length + 1, 3).

        Row 0 is the begin.
        """
        visits = np.zeros((self.length + 1, 3))
        visits[0, 0] = 1.0
        for k in range(self.length):
            match, deleted = visits[k, 0], visits[k, 2]
            mm, mi, md, im, ii, dm, dd = self.steps[k]
            visits[k, 1] = match * mi / (1.0 - ii) if ii < 1 else 0.0
            visits[k + 1, 0] = match * mm + visits[k, 1] * im + deleted * dm
            visits[k + 1, 2] = match * md + deleted * dd
        return visits

    @cached_property
    def _places(self) -> npt.NDArray[np.int64]:
        """int64 (Q·8,): where the loops have each column."""
        columns = self.length // loops.LANES + 1
        at = np.arange(columns * loops.LANES)
        return at % columns * loops.LANES + at // columns

    @cached_property
    def _recursions(self) -> loops.Recursions:
        """What the loops read: columns after the last are passed by deletes, and the last of them is the end."""
        size, length, n = len(self.background), self.length, len(self._places)
        emit, steps = np.zeros((size + 1, n)), np.zeros((len(STEPS), n))
        odds = np.divide(self.emissions, self.background, out=np.zeros_like(self.emissions), where=self.background > 0)
        emit[:size, :length] = odds.T / LOOP
        emit[size, :length] = 1.0 / LOOP
        steps[:, :length] = self.steps.T
        steps[2, length] = 1.0
        steps[6, length:] = 1.0
        for into_insert in (1, 4):
            steps[into_insert] = np.roll(steps[into_insert], -1) / LOOP
        deletes = steps[6].reshape(loops.LANES, -1).copy()
        ahead = np.cumprod(np.where(np.arange(deletes.shape[1]) > 0, deletes, 1.0), axis=1)
        behind = np.ones_like(deletes)
        behind[:, :-1] = np.cumprod(deletes[:, :0:-1], axis=1)[:, ::-1]
        striped = [np.empty((len(part), n)) for part in (emit, steps, np.zeros((2, n)))]
        sources = emit, steps, np.stack((ahead.reshape(-1), behind.reshape(-1)))
        for target, source in zip(striped, sources, strict=True):
            target[:, self._places] = source
        inverse = np.divide(1.0, self.emissions, out=np.zeros_like(self.emissions), where=self.emissions > 0)
        return loops.Recursions(
            striped[0], striped[1], 1.0 / LOOP, striped[2][0], striped[2][1], inverse, self.steps.copy()
        )

    def arrays(self) -> Arrays:
        """Return what `from_arrays` needs."""
        return {"emissions": self.emissions, "steps": self.steps, "background": self.background}

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> Self:
        """Return the model whose `arrays` these were.

        Parameters
        ----------
        arrays : dict of str to ndarray
            The result of `arrays`.

        Returns
        -------
        ProfileHMM
        """
        return cls(**arrays)

    def __getstate__(self) -> Arrays:
        return self.arrays()

    def __setstate__(self, state: Arrays) -> None:
        self.__dict__.update(state)


def _variance(visits: npt.NDArray[np.float64], chances: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return visits · (1 − θ)/θ, 0 where θ is 0."""
    return np.divide(visits * (1.0 - chances), chances, out=np.zeros_like(chances), where=chances > 0)


def _spans(lengths: npt.NDArray[np.int64], n_threads: int) -> list[tuple[int, int]]:
    """Return (first, last) of ranges of records with about as many residues each, some for each thread."""
    total = np.cumsum(lengths + 1)
    parts = CHUNKS * n_threads
    inner: Any = np.searchsorted(total, np.linspace(0, total[-1], parts + 1)[1:-1]) if len(total) else []
    cuts = np.unique(np.concatenate(([0], inner, [len(lengths)]))).astype(int)
    return list(zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True))
