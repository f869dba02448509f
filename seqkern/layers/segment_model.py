"""A hidden Markov model of segments with minimum lengths: its best path, and class probabilities.

A class of shortest length m is a row of m states, each followed by the next; the last may repeat, and only from it
another class can follow. All chains advance together, one residue at a time, the longest first.
"""

from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt

from seqkern.residues import Residues


class SegmentModel(NamedTuple):
    """Shortest lengths and transition probabilities of k classes.

    Attributes
    ----------
    shortest : ndarray of int64, shape (k,)
        Minimum length of a segment of each class.
    start : ndarray of float64, shape (k,)
        Natural logarithms of the probabilities of the first segment's class.
    stay : ndarray of float64, shape (k,)
        Of continuing, for a segment with at least its minimum length.
    follow : ndarray of float64, shape (k, k)
        Of a segment of the column's class after one of the row's; 0 on the unused diagonal.
    weight : float
        Exponent of these probabilities relative to the evidence; 0 keeps only the minimum lengths.

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern import SequenceSet
    >>> from seqkern.layers.segment_model import SegmentModel, Steps, best_path
    >>> from seqkern.residues import Residues
    >>> half = np.log([0.5, 0.5])
    >>> model = SegmentModel(np.array([3, 1]), half, half, np.zeros((2, 2)))  # helix and coil
    >>> residues = Residues.of_chains(SequenceSet.from_strings(["GSAEALKA"], "protein"), window=1)
    >>> evidence = np.array([[0, 1], [1, 0], [0, 1], [2, 0], [2, 0], [1, 0], [0, 2], [0, 1]], dtype=float)
    >>> best_path(model, evidence, Steps.of(residues))  # a helix of one residue is too short
    array([1, 1, 1, 0, 0, 0, 1, 1])
    """

    shortest: npt.NDArray[np.int64]
    start: npt.NDArray[np.float64]
    stay: npt.NDArray[np.float64]
    follow: npt.NDArray[np.float64]
    weight: float = 1.0

    def states(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return the class of each of the K states, and the first and last states of each class, int64."""
        ends = np.cumsum(self.shortest)
        return np.repeat(np.arange(len(ends)), self.shortest), ends - self.shortest, ends - 1

    def transitions(self) -> npt.NDArray[np.float64]:
        """Return weighted logarithms of the probabilities from state (row) to state, float64 (K, K)."""
        of, first, last = self.states()
        A = np.full((len(of), len(of)), -np.inf)
        inside = np.setdiff1d(np.arange(len(of)), last)
        A[inside, inside + 1] = 0.0
        change = ~np.eye(len(first), dtype=bool)
        leave = np.log(-np.expm1(self.stay))[:, None] + self.follow
        A[np.ix_(last, first)] = np.where(change, self.weight * leave, -np.inf)
        A[last, last] = self.weight * self.stay
        return A


class Steps(NamedTuple):
    """The processing order of residues, one of each chain at a time.

    Attributes
    ----------
    slots : list of ndarray of int64
        For each step the rows, −1 for a residue that is not among them, of the chains that are not over yet: the
        longest first, so that those at one step are the first of those at the step before.
    """

    slots: list[npt.NDArray[np.int64]]

    @classmethod
    def of(cls, chains: Residues) -> Self:
        """Return the steps of some residues, each chain from its first residue among them to its last.

        Parameters
        ----------
        chains : Residues
            The residues.

        Returns
        -------
        Steps
        """
        record, place = np.asarray(chains.record), np.asarray(chains.place)
        _, chain = np.unique(record, return_inverse=True)
        n_chains = int(chain.max()) + 1 if len(chain) else 0
        first = np.full(n_chains, np.iinfo(np.int64).max)
        np.minimum.at(first, chain, place)
        step = place - first[chain]
        span = np.zeros(n_chains, dtype=np.int64)
        np.maximum.at(span, chain, step + 1)
        rank = np.empty(n_chains, dtype=np.int64)
        rank[np.argsort(-span, kind="stable")] = np.arange(n_chains)
        going = np.bincount(span, minlength=1)[::-1].cumsum()[::-1][1:]  # how many chains have a residue at each step
        begin = np.concatenate(([0], np.cumsum(going)))
        rows = np.full(begin[-1], -1, dtype=np.int64)
        rows[begin[step] + rank[chain]] = np.arange(len(chain))
        return cls(np.split(rows, begin[1:-1]) if len(going) else [])

    def ending(self, step: int) -> slice:
        """Return which of the chains at a step end there.

        Parameters
        ----------
        step : int
            From 0.

        Returns
        -------
        slice
            Into ``slots[step]``.
        """
        after = len(self.slots[step + 1]) if step + 1 < len(self.slots) else 0
        return slice(after, len(self.slots[step]))


def best_path(model: SegmentModel, evidence: npt.NDArray[np.float64], steps: Steps) -> npt.NDArray[np.int64]:
    """Return the most likely classes of residues, over paths without too short segments.

    Parameters
    ----------
    model : SegmentModel
        Shortest lengths and transitions.
    evidence : ndarray of float64, shape (n, k)
        Log likelihoods of the classes of each residue, up to a constant.
    steps : Steps
        Of the n residues.

    Returns
    -------
    ndarray of int64, shape (n,)
        A chain shorter than all minimum lengths is one segment.
    """
    of, first, _ = model.states()
    into = np.ascontiguousarray(model.transitions().T)  # (to, from)
    evidence = np.vstack([evidence, np.zeros(len(model.start))])  # the last row is not a residue: all classes alike
    value = np.full((len(steps.slots[0]) if steps.slots else 0, len(of)), -np.inf)
    final, back = np.zeros(len(value), dtype=np.int64), []
    for step, rows in enumerate(steps.slots):
        if step == 0:
            value[:, first] = model.weight * model.start
        else:
            paths = value[: len(rows), None, :] + into
            back.append(paths.argmax(axis=2))
            value = np.take_along_axis(paths, back[-1][:, :, None], axis=2)[:, :, 0]
        value += evidence[rows][:, of]
        over = steps.ending(step)
        final[over] = _final_states(value[over], model, step + 1)
    out = np.empty(len(evidence), dtype=np.int64)
    state = np.zeros(0, dtype=np.int64)
    for step in range(len(steps.slots) - 1, -1, -1):
        if step + 1 < len(steps.slots):
            state = back[step][np.arange(len(state)), state]
        state = np.concatenate([state, final[steps.ending(step)]])
        out[steps.slots[step]] = of[state]
    return out[:-1]


def _final_states(value: npt.NDArray[np.float64], model: SegmentModel, length: int) -> npt.NDArray[np.int64]:
    """Return the best state in which chains of a length may end."""
    _, first, last = model.states()
    # if all minimum lengths exceed the chain, it is one segment
    ends = last if length >= model.shortest.min() else first + length - 1
    return ends[value[:, ends].argmax(axis=1)]


def class_probabilities(
    model: SegmentModel, evidence: npt.NDArray[np.float64], steps: Steps
) -> npt.NDArray[np.float64]:
    """Return the probability of each class at each residue, over all paths.

    Parameters
    ----------
    model : SegmentModel
        Shortest lengths and transitions.
    evidence : ndarray of float64, shape (n, k)
        Log likelihoods of the classes of each residue, up to a constant.
    steps : Steps
        Of the n residues.

    Returns
    -------
    ndarray of float64, shape (n, k)
        Each row sums to 1.
    """
    of, first, last = model.states()
    A = np.exp(model.transitions())
    emission = np.exp(evidence - evidence.max(axis=1, keepdims=True))
    emission = np.vstack([emission, np.ones(len(model.start))])
    forward = []
    for step, rows in enumerate(steps.slots):
        if step == 0:
            alpha = np.zeros((len(rows), len(of)))
            alpha[:, first] = np.exp(model.weight * model.start)
        else:
            alpha = _product(alpha[: len(rows)], A)
        alpha *= emission[rows][:, of]
        alpha /= alpha.sum(axis=1, keepdims=True)
        forward.append(alpha)
    out = np.zeros((len(emission), len(model.start)))
    beta = np.zeros((0, len(of)))
    for step in range(len(steps.slots) - 1, -1, -1):
        rows = steps.slots[step]
        if step + 1 < len(steps.slots):
            after = steps.slots[step + 1]
            beta = _product(beta * emission[after][:, of], A.T)
        over = steps.ending(step)
        end = np.zeros((over.stop - over.start, len(of)))
        end[:, last if step + 1 >= model.shortest.min() else first + step] = 1.0
        beta = np.concatenate([beta, end])
        beta /= beta.sum(axis=1, keepdims=True)
        joint = forward[step] * beta
        for state, code in enumerate(of):
            out[rows, code] += joint[:, state]
    out = out[:-1]
    return out / out.sum(axis=1, keepdims=True)


def _product(rows: npt.NDArray[np.float64], A: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return rows @ A, summed in a fixed order, so that the bits of a chain do not depend on other chains."""
    out = np.zeros((len(rows), A.shape[1]))
    for column, row in zip(rows.T, A, strict=True):
        out += column[:, None] * row
    return out
