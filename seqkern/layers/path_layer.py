"""The base of layers that choose the labels of a chain together."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from seqkern.core.memory import available_memory
from seqkern.core.parameters import integer, real
from seqkern.kernels.feature_blocks import FeatureBlocks
from seqkern.layers import _paths
from seqkern.layers.window_layer import WindowLayer
from seqkern.residues import Residues
from seqkern.sequences.labels import UNLABELLED

PART_ROWS = 256
"""Residues whose features are converted to double precision at a time."""


class Runs(NamedTuple):
    """Rows in order of chains and places, and the runs of residues that follow each other.

    Attributes
    ----------
    order : ndarray of int64, shape (n,)
        Row numbers.
    starts : ndarray of int64, shape (runs + 1,)
        First place in `order` of each run, and n.

    Examples
    --------
    >>> from seqkern import SequenceSet
    >>> from seqkern.layers.path_layer import Runs
    >>> from seqkern.residues import Residues
    >>> residues = Residues.of_chains(SequenceSet.from_strings(["GSAEA", "PG"], "protein"), window=1)
    >>> Runs.of(residues.take([6, 5, 0, 1, 4])).starts  # residues 2 and 3 of the first chain are missing
    array([0, 2, 3, 5])
    """

    order: npt.NDArray[np.int64]
    starts: npt.NDArray[np.int64]

    @classmethod
    def of(cls, chains: Residues) -> "Runs":
        """Return the runs of residues.

        Parameters
        ----------
        chains : Residues
            The n residues, in any order.

        Returns
        -------
        Runs
        """
        order = np.lexsort((chains.place, chains.record))
        apart = (np.diff(chains.record[order]) != 0) | (np.diff(chains.place[order]) != 1)
        starts = np.concatenate(([0], np.flatnonzero(apart) + 1, [len(order)]))
        return cls(order, starts[: len(order) + 1].astype(np.int64))


class PathWeights(NamedTuple):
    """Weights w of a path of labels: its score is Σ_i (f_i · u_(c_i) + b_(c_i)) + Σ_i t(s_(i−1), c_i).

    f_i are the features of residue i, c_i its label, and s_i the state: the label with the number of residues since its
    segment began, counted up to `memory` − 1.

    Attributes
    ----------
    labels : ndarray of float64, shape (d, k)
        u, a column for each label.
    biases : ndarray of float64, shape (k,)
        b.
    steps : ndarray of float64, shape (k · memory, k)
        t, from a state to a label.
    """

    labels: npt.NDArray[np.float64]
    biases: npt.NDArray[np.float64]
    steps: npt.NDArray[np.float64]

    @classmethod
    def zeros(cls, d: int, k: int, memory: int) -> "PathWeights":
        """Return weights of 0.

        Parameters
        ----------
        d : int
            Number of features.
        k : int
            Number of labels.
        memory : int
            Residues of a segment that are told apart.

        Returns
        -------
        PathWeights
        """
        return cls(np.zeros((d, k)), np.zeros(k), np.zeros((k * memory, k)))

    def squares(self) -> float:
        """Return ‖w‖²."""
        return float(sum((part**2).sum() for part in self))


class Paths(NamedTuple):
    """Labelled runs to learn from.

    Attributes
    ----------
    blocks : FeatureBlocks
        Features of the n residues, run after run.
    y : ndarray of int64, shape (n,)
        Their labels.
    starts : ndarray of int64, shape (runs + 1,)
        First row of each run, and n.
    k : int
        Number of labels.
    memory : int
        Residues of a segment that are told apart.
    """

    blocks: FeatureBlocks
    y: npt.NDArray[np.int64]
    starts: npt.NDArray[np.int64]
    k: int
    memory: int

    def indicators(self) -> npt.NDArray[np.float64]:
        """Return 1 for the label of each residue, else 0, float64 (n, k)."""
        out = np.zeros((len(self.y), self.k))
        out[np.arange(len(self.y)), self.y] = 1.0
        return out

    def count_steps(self, y: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """Return how often each step occurs.

        Parameters
        ----------
        y : ndarray of int64, shape (n,)
            Labels.

        Returns
        -------
        ndarray of float64, shape (k · memory, k)
        """
        counts = np.zeros((self.k * self.memory, self.k))
        _paths.add_steps(y, self.starts, counts)
        return counts

    def parts(self) -> Iterator[tuple[slice, npt.NDArray[np.float64]]]:
        """Iterate over the features, in parts that stay in the processor's cache.

        Yields
        ------
        span : slice
            Which residues these are.
        part : ndarray of float64, shape (residues, d)
            Their features.
        """
        for span, block in self.blocks.blocks():
            for start in range(0, len(block), PART_ROWS):
                part = block[start : start + PART_ROWS].astype(np.float64, copy=False)
                yield slice(span.start + start, span.start + start + len(part)), part

    def scores(self, weights: PathWeights) -> npt.NDArray[np.float64]:
        """Return the scores of the labels of each residue.

        Parameters
        ----------
        weights : PathWeights
            The weights.

        Returns
        -------
        ndarray of float64, shape (n, k)
        """
        out = np.empty((len(self.y), self.k))
        for span, block in self.parts():
            out[span] = block @ weights.labels
        return out + weights.biases

    def sums(self, factors: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return Σ_i f_i · `factors`_i.

        Parameters
        ----------
        factors : ndarray of float64, shape (n, k)
            Of each residue.

        Returns
        -------
        ndarray of float64, shape (d, k)
        """
        out = np.zeros((self.k, self.blocks.shape[1]))
        columns = np.ascontiguousarray(factors.T)
        for span, block in self.parts():
            out += columns[:, span] @ block
        return np.ascontiguousarray(out.T)


class Learned(NamedTuple):
    """What a fit found.

    Attributes
    ----------
    weights : PathWeights
        The weights.
    objective : float
        ½‖w‖² + C Σ loss.
    gap : float
        Upper bound of how far that is above its minimum.
    iterations : int
        Passes over all residues.
    converged : bool
        Whether the gap is small enough.
    """

    weights: PathWeights
    objective: float
    gap: float
    iterations: int
    converged: bool


class PathLayer(WindowLayer):
    """Base of layers that score paths of labels: a subclass implements `_learn` and `transform`.

    Attributes
    ----------
    weights_ : PathWeights
    objective_, gap_ : float
        Of the fit, see `Learned`.
    iterations_ : int
    """

    decides = True

    memory: int = integer(
        default=1,
        low=1,
        high=50,
        doc="Residues of a segment that are told apart: a step is scored by the label before it and by how long its "
        "segment is, up to this length. 1 is the chain of first order.",
    )
    C: float = real(default=0.03, low=0, open_low=True, doc="C, the cost of the loss of a chain.")
    tol: float = real(
        default=0.01,
        low=0,
        open_low=True,
        doc="The fit has converged when the objective is at most this share above its minimum.",
    )
    max_iter: int = integer(default=500, low=1, doc="At most so many passes over the training set.")

    def _learn(self, paths: Paths) -> Learned:
        """Return the weights that minimise the objective."""
        raise NotImplementedError

    def _fit(self, scores: npt.NDArray[np.float64], chains: Residues, y: npt.NDArray[np.int64]) -> None:
        """Learn from the runs of residues with a class; their windows see the others too."""
        order = Runs.of(chains).order
        known = order[y[order] != UNLABELLED]
        blocks = self._learn_windows(scores, chains, known).keep(available_memory() // 4)
        starts = Runs.of(chains.take(known)).starts
        found = self._learn(Paths(blocks, y[known], starts, len(self.classes_), self.memory))
        self.weights_, self.objective_, self.gap_, self.iterations_, converged = found
        self.not_converged_ = int(not converged)

    def _over_runs(self, scores: npt.ArrayLike, chains: Residues, find: Any, out: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return what a function of `_paths` writes, in the order of the rows."""
        scores = np.asarray(scores, dtype=np.float64)
        if not len(scores):
            return out
        order, starts = Runs.of(chains)
        here = self._features(scores, chains).times(self.weights_.labels) + self.weights_.biases
        found = np.empty_like(out)
        find(np.ascontiguousarray(here[order]), self.weights_.steps, starts, found)
        out[order] = found
        return out

    def predict(self, scores: npt.ArrayLike, chains: Residues) -> npt.NDArray[np.int64]:
        """Return the labels on the best path of each chain, int64 (n,)."""
        return self._over_runs(scores, chains, _paths.best_paths, np.empty(len(chains), dtype=np.int64))

    def learned(self) -> dict[str, Any]:
        """Return the passes of the fit, its objective and the bound of its error."""
        return {"passes": self.iterations_, "objective": self.objective_, "gap": self.gap_}

    def fitted_state(self) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        """Return (JSON dict, dict of arrays) of what `fit` learned."""
        header, arrays = self._windows_state()
        numbers = {"objective": self.objective_, "gap": self.gap_, "iterations": self.iterations_}
        return header | numbers, arrays | self.weights_._asdict()

    def restore_fitted(self, header: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Restore what `fitted_state` returned."""
        d, k = self._restore_windows(header, arrays), len(self.classes_)
        shapes = {"labels": (d, k), "biases": (k,), "steps": (k * self.memory, k)}
        self.weights_ = PathWeights(
            **{
                name: np.ascontiguousarray(self._stored(arrays, name, *shape), dtype=np.float64)
                for name, shape in shapes.items()
            }
        )
        self.objective_, self.gap_ = float(header["objective"]), float(header["gap"])
        self.iterations_ = int(header["iterations"])
