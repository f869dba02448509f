"""Candidates tried on the inner folds: their scores, and which of them is best.

Of candidates with equal scores the simplest is best, then the one that ranks better, then the one that predicts the
classes better. Scores are equal if they differ by no more than rounding and the tolerance of a fit can explain.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from seqkern.core.archive import canonical_json
from seqkern.core.progress import progress_counter
from seqkern.evaluation.candidates import Candidate
from seqkern.sequences.labels import Labels

RESOLUTION = 1e-4
"""Scores that differ by less than this share of the best are equal: the fourth digit of a printed score."""
DIGITS = 12
"""Number of digits to which mean scores are rounded for comparison."""
KEPT_BYTES = 256 << 20
"""Size of the matrices of all inner folds that are kept for a refinement; larger ones are computed again."""


class Finished(Protocol):
    """Keeps finished fits for the case that this process is killed."""

    def get(self, key: str) -> Any:
        """Return what was kept; None if nothing.

        Parameters
        ----------
        key : str
            Of the fits.

        Returns
        -------
        object
        """

    def put(self, key: str, value: Any) -> None:
        """Keep a value.

        Parameters
        ----------
        key : str
            Of the fits.
        value : object
            Anything JSON can hold.
        """


class Trials:
    """The candidates tried so far.

    Parameters
    ----------
    pairs : mapping of str to callable
        As for `seqkern.evaluation.selection.select`.
    labels : Labels
        Labels of the training set.
    make_solver : callable
        ``make_solver(spec, kind)`` returns a new solver.
    parts : sequence of (ndarray, ndarray)
        Training and validation rows of each inner fold.
    measures : mapping of str to callable
        The metric to maximise, then those that break ties.
    groups : ndarray, optional
        Samples that solvers keep together if they split their training set.
    resolution : float
        The least difference of two scores that counts, see `pair_resolution`.
    refines : bool
        Whether more candidates will be added, for which matrices and fitted solvers are kept.
    finished : Finished, optional
        Keeps the fits of one kernel on one fold. Each starts from the one before, so that a part of them is of no use.
    kept_bytes : int
        Matrices of all folds that are kept for candidates added later; larger ones are computed again.

    Attributes
    ----------
    candidates : list of (str, dict)
        In the order tried.
    n_fits, not_converged : int
        The number of fits, and how many of these, and of nested ones, did not converge.
    gaps : list of float
        The gaps of those that did not.
    """

    def __init__(
        self,
        pairs: Mapping[str, Any],
        labels: Labels,
        make_solver: Callable[[dict[str, Any], str], Any],
        parts: Sequence[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]],
        measures: Mapping[str, Callable[..., float]],
        *,
        groups: npt.NDArray[Any] | None = None,
        resolution: float = 0.0,
        refines: bool = False,
        finished: Finished | None = None,
        kept_bytes: int = KEPT_BYTES,
    ) -> None:
        self.kept_bytes = kept_bytes
        self.pairs, self.labels, self.make, self.parts, self.measures = pairs, labels, make_solver, parts, measures
        self.groups, self.resolution, self.refines, self.finished = groups, resolution, refines, finished
        self.y: Any = labels.targets()
        self.candidates: list[Candidate] = []
        self.n_fits, self.not_converged = 0, 0
        self.gaps: list[float] = []
        self._sizes: list[Any] = []
        self._scores: list[npt.NDArray[np.float64]] = []  # of each candidate, (measures, folds)
        self._decisions: list[npt.NDArray[np.float64]] = []  # of each candidate about all samples
        self._solvers: dict[tuple[int, int], Any] = {}  # fitted, by candidate and fold
        self._kept: dict[tuple[int, str], tuple[Any, Any]] = {}
        self._chains: dict[int, tuple[list[int], int | None]] = {}  # of each candidate, the fits it was one of

    def add(self, candidates: Sequence[Candidate], after: int | None = None) -> None:
        """Try more candidates.

        Parameters
        ----------
        candidates : sequence of (str, dict)
            The name of a kernel and the specification of a solver.
        after : int, optional
            The candidate whose fitted solvers the first fits may start from.
        """
        first, kind = len(self.candidates), self.labels.kind
        self.candidates += candidates
        self._sizes += [self.make(spec, kind).complexity() for _, spec in candidates]
        self._scores += [np.full((len(self.measures), len(self.parts)), np.nan) for _ in candidates]
        self._decisions += [np.full(len(self.y), np.nan) for _ in candidates if kind == "binary"]
        # from the simplest on: a solver may start from the previous solution
        order = sorted(range(first, len(self.candidates)), key=lambda c: self._sizes[c])
        chains = {name: [c for c in order if self.candidates[c][0] == name] for name in self.pairs}
        for own in chains.values():
            self._chains |= dict.fromkeys(own, (own, after))
        with progress_counter("inner loop", " fits") as show:
            done = 0
            for own in filter(None, chains.values()):  # a kernel's matrix serves all folds, and may then be forgotten
                for f in range(len(self.parts)):
                    self._enter(f, own, self._fitted(f, own, after))
                    done += len(own)
                    if show is not None:
                        show(done, len(self.parts) * len(order))

    def _fitted(self, f: int, chain: list[int], after: int | None) -> dict[str, Any]:
        """Return the outcome of the fits of some candidates with one kernel on one fold, perhaps of a former run."""
        if self.finished is None:
            return self._fit(f, chain, after)
        parts = blake2b(b"".join(rows.tobytes() + b"." for rows in self.parts[f]), digest_size=16).hexdigest()
        specs = [self.candidates[c] for c in chain], None if after is None else self.candidates[after]
        key = canonical_json([len(self.y), parts, repr(specs), list(self.measures)])
        found: dict[str, Any] | None = self.finished.get(key)
        if found is None:
            found = self._fit(f, chain, after)
            self.finished.put(key, found)
        return found

    def _fit(self, f: int, chain: list[int], after: int | None) -> dict[str, Any]:
        """Fit candidates with one kernel on one fold, each starting from the one before."""
        (train, _), kind = self.parts[f], self.labels.kind
        solver = None if after is None else self._solver(after, f)
        K_train, K_valid = self._matrices(f, self.candidates[chain[0]][0])
        own_groups = None if self.groups is None else self.groups[train]
        found: dict[str, Any] = {"scores": [], "decisions": [], "failed": 0, "gaps": []}
        for c in chain:
            solver = self.make(self.candidates[c][1], kind).fit_after(solver, K_train, self.y[train], own_groups)
            failed = solver.count_not_converged()
            found["failed"] += failed
            if failed and solver.report_.get("gap") is not None:
                found["gaps"].append(float(solver.report_["gap"]))
            scores, decisions = self._outcome(solver, K_train, K_valid, f)
            found["scores"].append(scores)
            if kind == "binary":
                found["decisions"].append(decisions.tolist())
            if self.refines:
                self._solvers[c, f] = solver
        return found

    def _outcome(self, solver: Any, K_train: Any, K_valid: Any, f: int) -> tuple[list[float], npt.NDArray[np.float64]]:
        """Return the scores of a fitted solver, and its decisions about the samples scored."""
        valid = self.parts[f][1]
        decisions, predicted = decided(solver, K_valid, self.labels.kind)
        outcome = self.labels.y[valid], decisions, predicted
        return [float(measure(*outcome)) for measure in self.measures.values()], decisions

    def _solver(self, c: int, f: int) -> Any:
        """Return the solver of a candidate fitted on a fold; fitted again if only its outcome was kept."""
        if (c, f) not in self._solvers and self.finished is not None:
            self._fit(f, *self._chains[c])
        return self._solvers.get((c, f))

    def _enter(self, f: int, chain: list[int], found: dict[str, Any]) -> None:
        """Enter the outcome of fits on a fold."""
        self.n_fits += len(chain)
        self.not_converged += found["failed"]
        self.gaps += found["gaps"]
        for c, scores in zip(chain, found["scores"], strict=True):
            self._scores[c][:, f] = scores
        for c, decisions in zip(chain, found["decisions"], strict=False):
            self._decisions[c][self._scored(f)] = decisions

    def _scored(self, f: int) -> npt.NDArray[np.int64]:
        """Return the rows whose decisions a fold gives."""
        return self.parts[f][1]

    def _matrices(self, f: int, name: str) -> tuple[Any, Any]:
        """Return the solver's input for training and validation of a fold; kept for later if it is small."""
        if (f, name) in self._kept:
            return self._kept[f, name]
        train, valid = self.parts[f]
        made = self.pairs[name](train, valid, self.y[train])
        arrays = all(isinstance(matrix, np.ndarray) for matrix in made)
        kernels = len(self.pairs)
        if (
            self.refines
            and arrays
            and kernels * len(self.parts) * sum(matrix.nbytes for matrix in made) <= self.kept_bytes
        ):
            self._kept[f, name] = made
        return made

    @property
    def usable(self) -> npt.NDArray[np.bool_]:
        """Which folds could be scored for all candidates."""
        undefined: npt.NDArray[np.bool_] = np.isnan(np.stack([scores[0] for scores in self._scores]))
        return np.logical_not(np.any(undefined, axis=0))

    def scores(self) -> npt.NDArray[np.float64]:
        """Return the scores of all candidates on the folds that could be scored, (measures, candidates, folds)."""
        return np.stack(self._scores, axis=1)[:, :, self.usable]

    def decisions(self, c: int) -> npt.NDArray[np.float64] | None:
        """Return the decisions about all samples, each by a classifier not trained on it; None unless binary.

        Parameters
        ----------
        c : int
            The index of a candidate.

        Returns
        -------
        ndarray of float64 or None
            NaN for samples of no fold.
        """
        return self._decisions[c] if self._decisions else None

    def best(self) -> int:
        """Return the index of the best candidate."""
        return self.simplest(self.tied())

    def tied(self, error: float = 0.0) -> list[int]:
        """Return the candidates whose mean score equals the best one, or is at most `error` below it.

        Parameters
        ----------
        error : float
            Such as a standard error.

        Returns
        -------
        list of int
            Indices.
        """
        means = self.means()[0]
        least = means.max() - max(error, self.resolution, RESOLUTION * abs(means.max()))
        return np.flatnonzero(means >= least - 10.0**-DIGITS).tolist()

    def simplest(self, among: Sequence[int]) -> int:
        """Return the simplest of some candidates; one that predicts a single class only after those that predict both.

        Parameters
        ----------
        among : sequence of int
            Their indices.

        Returns
        -------
        int
        """
        means = self.means()
        ranks = -means.round(DIGITS)
        one_class = np.zeros(len(self.candidates), dtype=bool)
        if "balanced_accuracy" in self.measures:
            place = list(self.measures).index("balanced_accuracy")
            one_class = means[place] < 1 / len(self.labels.classes) + RESOLUTION
        return min(among, key=lambda c: (one_class[c], self._sizes[c], *ranks[1:, c], ranks[0, c], c))

    def means(self) -> npt.NDArray[np.float64]:
        """Return the mean scores, (measures, candidates); 0 if one is undefined for all samples."""
        return np.nan_to_num(self.scores().mean(axis=2))


def decided(solver: Any, K: Any, kind: str) -> tuple[npt.NDArray[np.float64], npt.NDArray[Any]]:
    """Return the decision values and predictions of a fitted solver, binary ones as booleans.

    Parameters
    ----------
    solver : Solver
        Fitted.
    K : matrix
        Its input for new samples.
    kind : str
        The kind of labels.

    Returns
    -------
    decisions, predicted : ndarray
        Both the predicted numbers for real labels.
    """
    predicted = solver.predict(K)
    if kind == "real":
        return predicted, predicted
    return solver.decision_function(K), np.asarray(predicted) > 0 if kind == "binary" else predicted


def pair_resolution(labels: Labels, parts: Sequence[tuple[Any, npt.NDArray[np.int64]]]) -> float:
    """Return the change of a mean AUC if one positive and one negative change places, in one fold.

    The tolerance of a fit may do as much: it says nothing about which of two candidates is better.

    Parameters
    ----------
    labels : Labels
        Of two classes.
    parts : sequence of (object, ndarray)
        The folds; the second are the rows that a fold ranks.

    Returns
    -------
    float

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern.sequences.labels import make_labels
    >>> labels = make_labels(list("abcdefgh"), ["decoy", "donor"] * 4)
    >>> pair_resolution(labels, [(None, np.arange(4)), (None, np.arange(4, 8))])
    0.125
    """
    counts = [np.bincount(labels.y[valid], minlength=2) for _, valid in parts]
    shares = [1 / int(count[0] * count[1]) for count in counts if count.all()]
    return float(np.mean(shares)) / len(shares) if shares else 0.0
