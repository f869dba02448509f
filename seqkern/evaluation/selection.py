"""The inner loop: the choice of a solver's hyperparameters, and of one of several kernels, on a training set.

Kernel values come by row numbers (`Numbers`), so that a kernel that is fitted is fitted on each inner training set,
and nothing outside the training set is accessible.
"""

import contextlib
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from hashlib import blake2b
from typing import Any, Protocol, Self

import numpy as np
import numpy.typing as npt

from seqkern.core.archive import canonical_json
from seqkern.core.checks import check_choice, check_integer
from seqkern.core.errors import FoldError, GramError, ParameterError, unknown_name
from seqkern.core.progress import progress_counter
from seqkern.core.types import Array, Bools, Floats, Indices
from seqkern.evaluation import metrics, ranking
from seqkern.formats.residues import Residues
from seqkern.kernels.kernel import Kernel
from seqkern.sequences.labels import Labels
from seqkern.sequences.sampling import deal
from seqkern.solvers.contract import Solver
from seqkern.solvers.costs import BOUNDS, EVIDENCE, WITHOUT_FOLDS
from seqkern.solvers.solver_specs import (
    SOLVERS,
    Free,
    Limits,
    draw_spec,
    ends_domain,
    expand_grid,
    has_range,
    make_solver,
)

# Candidates of the inner loop: pairs of a kernel and a solver specification, from a grid or drawn at random.

Candidate = tuple[Any, dict[str, Any]]

ATTEMPTS = 20
"""Number of draws for each missing candidate, since duplicates do not count."""


def grid_candidates(
    kernels: Iterable[Any], solver: Mapping[str, Any] | str, *, search: bool = False
) -> list[Candidate]:
    """Return all pairs of a kernel and a specification from a solver's grid."""
    grid = expand_grid(solver, search=search)
    return [(kernel, spec) for kernel in kernels for spec in grid]


def random_candidates(
    kernels: Sequence[Any], solver: Mapping[str, Any] | str, draws: int, seed: int, *, search: bool = False
) -> list[Candidate]:
    """Return distinct pairs of a kernel and a solver specification drawn at random; more draws extend the list."""
    check_integer("draws", draws, 1)
    if not has_range(solver):
        grid = grid_candidates(kernels, solver, search=search)
        if len(grid) <= draws:
            return grid
    rng = np.random.default_rng([seed, len(kernels)])
    found: list[Candidate] = []
    for _ in range(ATTEMPTS * draws):
        candidate = kernels[int(rng.integers(len(kernels)))], draw_spec(solver, rng, search=search)
        if candidate not in found:
            found.append(candidate)
        if len(found) == draws:
            break
    return found


Part = tuple[Indices, Indices]
"""The rows for training and for validation in an inner fold."""

# Candidates tried on the inner folds, with their scores and the choice of the best.
#
# Among candidates with equal scores the simplest is best, then the one that ranks better, then the one that predicts
# classes better. Scores count as equal if rounding and the tolerance of a fit can explain their difference.

RESOLUTION = 1e-4
"""Share of the best score within which scores count as equal: the fourth digit of a printed score."""
DIGITS = 12
"""Number of digits to which mean scores are rounded for comparison."""
KEPT_BYTES = 256 << 20
"""Maximum bytes of the matrices of all inner folds that are kept for a refinement; larger ones are computed again."""


MakeSolver = Callable[[dict[str, Any], str], Any]
"""``make_solver(spec, kind)`` returns a new solver; its methods besides `fit` depend on the kind of labels."""


class FitCache(Protocol):
    """A store of finished fits, in case the process is killed."""

    def get(self, key: str) -> Any:
        """Return the value stored under a key; None if there is none."""

    def put(self, key: str, value: Any) -> None:
        """Store a JSON-serialisable value under a key."""


class Numbers(Protocol):
    """A training set with labels, and the solvers' input for its parts: a `seqkern.methods.sources.FitData`."""

    @property
    def labels(self) -> Labels:
        """The labels of the samples."""

    @property
    def residues(self) -> Residues | None:
        """The residue of each sample and its neighbours; None if samples are not windows around residues."""

    def at(self, kernel: str, rows: Indices, like: Indices) -> Any:
        """Return `train` and `test`: a solver's input for the samples `like`, and for `rows` to be classified."""

    def take(self, rows: Indices) -> Self:
        """Return some samples as a training set."""

    def with_groups(self, groups: Array | None) -> Self:
        """Return the same samples in other groups."""


class Trials:
    """The candidates tried so far, their scores on each inner fold, and statistics of their fits."""

    def __init__(
        self,
        data: Numbers,
        make_solver: MakeSolver,
        parts: Sequence[Part],
        measures: Mapping[str, Callable[..., float]],
        *,
        resolution: float = 0.0,
        refines: bool = False,
        fit_cache: "FitCache | None" = None,
        kept_bytes: int = KEPT_BYTES,
        shared: "SharedFits | None" = None,
        rows: Indices | None = None,
    ) -> None:
        self.data, self.labels, self.make, self.parts, self.measures = data, data.labels, make_solver, parts, measures
        self.shared, self.rows = shared, np.arange(len(self.labels)) if rows is None else rows
        self.resolution, self.refines, self.fit_cache, self.kept_bytes = resolution, refines, fit_cache, kept_bytes
        self.groups = None if self.labels.groups is None else np.asarray(self.labels.groups)
        self.y: Any = self.labels.targets()
        self.candidates: list[Candidate] = []
        self.n_fits, self.not_converged = 0, 0
        self.gaps: list[float] = []
        self._sizes: list[Any] = []
        self._scores: list[Floats] = []  # of each candidate, (measures, folds)
        self._decisions: list[Floats] = []  # of each candidate about all samples
        self._solvers: dict[tuple[int, int], Any] = {}  # fitted, by candidate and fold
        self._kept: dict[tuple[int, str], tuple[Any, Any]] = {}
        self._chains: dict[int, tuple[list[int], int | None]] = {}  # of each candidate, the fits it was one of
        self.advance: Callable[[], None] | None = None  # Called after each chain of fits, in place of showing progress

    def add(self, candidates: "Sequence[Candidate]", after: int | None = None) -> None:
        """Try more candidates; their first fits may start from the fitted solvers of the candidate `after`."""
        first, kind = len(self.candidates), self.labels.kind
        self.candidates += candidates
        self._sizes += [self.make(spec, kind).complexity() for _, spec in candidates]
        self._scores += [np.full((len(self.measures), len(self.parts)), np.nan) for _ in candidates]
        self._decisions += [np.full(len(self.y), np.nan) for _ in candidates if kind == "binary"]
        # from the simplest on: a solver may start from the previous solution
        order = sorted(range(first, len(self.candidates)), key=lambda c: self._sizes[c])
        chains = {name: [c for c in order if self.candidates[c][0] == name] for name in self._kernels}
        for own in chains.values():
            self._chains |= dict.fromkeys(own, (own, after))
        with contextlib.nullcontext() if self.advance else progress_counter("inner loop", " fits") as show:
            done = 0
            for own in filter(None, chains.values()):  # a kernel's matrix serves all folds, and may then be forgotten
                for f in range(len(self.parts)):
                    self._enter(f, own, self._fitted(f, own, after))
                    done += len(own)
                    if show is not None:
                        show(done, len(self.parts) * len(order))
                    if self.advance is not None:
                        self.advance()

    def _fitted(self, f: int, chain: list[int], after: int | None) -> dict[str, Any]:
        """Return the outcome of fitting candidates with one kernel on one fold, reusing an earlier run's if stored."""
        if self.shared is not None:
            train, valid = self.parts[f]
            specs = [self.candidates[c][1] for c in chain]
            found = self.shared.fits(self.candidates[chain[0]][0], specs, self.rows[train])
            both = [self.shared.decided(one, self.rows[valid]) for one in found["fits"]]
            scores = [self._measured(valid, *one) for one in both]
            return {**found, "scores": scores, "decisions": [one[0] for one in both if self._decisions]}
        if self.fit_cache is None:
            return self._fit(f, chain, after)
        parts = blake2b(b"".join(rows.tobytes() + b"." for rows in self.parts[f]), digest_size=16).hexdigest()
        own = [self.candidates[c] for c in chain], None if after is None else self.candidates[after]
        key = canonical_json([len(self.y), parts, repr(own), list(self.measures)])
        stored: dict[str, Any] | None = self.fit_cache.get(key)
        if stored is None:
            stored = self._fit(f, chain, after)
            self.fit_cache.put(key, stored)
        return stored

    def _fit(self, f: int, chain: list[int], after: int | None) -> dict[str, Any]:
        """Fit candidates with one kernel on one fold, each starting from the previous solution."""
        (train, _), kind = self.parts[f], self.labels.kind
        solver = None if after is None else self._solver(after, f)
        K_train, K_valid = self._matrices(f, self.candidates[chain[0]][0])
        own_groups = None if self.groups is None else self.groups[train]
        found: dict[str, Any] = {"scores": [], "decisions": [], "failed": 0, "gaps": []}
        specs = [self.candidates[c][1] for c in chain]
        fits = fit_chain(self.make, specs, solver, (K_train, self.y[train], own_groups), kind, found)
        for c, solver in zip(chain, fits, strict=True):
            scores, decisions = self._outcome(solver, K_train, K_valid, f)
            found["scores"].append(scores)
            if kind == "binary":
                found["decisions"].append(decisions.tolist())
            if self.refines:
                self._solvers[c, f] = solver
        return found

    def _outcome(self, solver: Any, K_train: Any, K_valid: Any, f: int) -> tuple[list[float], Floats]:
        """Return the scores of a fitted solver, and its decisions on the scored samples."""
        valid = self.parts[f][1]
        decisions, predicted = decided(solver, K_valid, self.labels.kind)
        return self._measured(valid, decisions, predicted), decisions

    def _measured(self, valid: Indices, decisions: Floats, predicted: Array) -> list[float]:
        """Return the scores of the decisions about some samples."""
        return [float(measure(self.labels.y[valid], decisions, predicted)) for measure in self.measures.values()]

    def _solver(self, c: int, f: int) -> Any:
        """Return a candidate's solver fitted on a fold; refit it if only the outcome was stored."""
        if (c, f) not in self._solvers and self.fit_cache is not None:
            self._fit(f, *self._chains[c])
        return self._solvers.get((c, f))

    def _enter(self, f: int, chain: list[int], found: dict[str, Any]) -> None:
        """Record the outcome of fits on a fold."""
        self.n_fits += len(chain)
        self.not_converged += found["failed"]
        self.gaps += found["gaps"]
        for c, scores in zip(chain, found["scores"], strict=True):
            self._scores[c][:, f] = scores
        for c, decisions in zip(chain, found["decisions"], strict=False):
            self._decisions[c][self._scored(f)] = decisions

    def _scored(self, f: int) -> Indices:
        """Return the rows that a fold scores."""
        return self.parts[f][1]

    def _matrices(self, f: int, name: str) -> tuple[Any, Any]:
        """Return the solver's inputs for training and validation on a fold, cached if small."""
        if (f, name) in self._kept:
            return self._kept[f, name]
        train, valid = self.parts[f]
        block = self.data.at(name, valid, like=train)
        made = block.train, block.test
        if self.refines and all(isinstance(matrix, np.ndarray) for matrix in made):
            each = sum(matrix.nbytes for matrix in made)
            if len(self._kernels) * len(self.parts) * each <= self.kept_bytes:
                self._kept[f, name] = made
        return made

    @property
    def _kernels(self) -> list[Any]:
        """The names of the candidates' kernels."""
        return list(dict.fromkeys(kernel for kernel, _ in self.candidates))

    @property
    def usable(self) -> Bools:
        """Mask of the folds that could be scored for all candidates."""
        undefined: Bools = np.isnan(np.stack([scores[0] for scores in self._scores]))
        return np.logical_not(np.any(undefined, axis=0))

    def scores(self) -> Floats:
        """Return the scores of all candidates on the folds that could be scored, (measures, candidates, folds)."""
        return np.stack(self._scores, axis=1)[:, :, self.usable]

    def decisions(self, c: int) -> Floats | None:
        """Return the decisions about all samples, each by a classifier not trained on it; None unless binary."""
        return self._decisions[c] if self._decisions else None

    def best(self, kernels: Collection[str] | None = None) -> int:
        """Return the index of the best candidate, optionally of those with some kernels."""
        return self.simplest(self.tied(kernels=kernels))

    def tied(self, error: float = 0.0, kernels: Collection[str] | None = None) -> list[int]:
        """Return the indices of the candidates whose mean score is equal to the best, or at most `error` below it."""
        means = self.means()[0]
        if kernels is not None:
            means = np.where([kernel in kernels for kernel, _ in self.candidates], means, -np.inf)
        least = means.max() - max(error, self.resolution, RESOLUTION * abs(means.max()))
        return np.flatnonzero(means >= least - 10.0**-DIGITS).tolist()

    def simplest(self, among: Sequence[int]) -> int:
        """Return the simplest of some candidates; those that predict a single class come last."""
        means = self.means()
        ranks = -means.round(DIGITS)
        one_class = np.zeros(len(self.candidates), dtype=bool)
        if "balanced_accuracy" in self.measures:
            place = list(self.measures).index("balanced_accuracy")
            one_class = means[place] < 1 / len(self.labels.classes) + RESOLUTION
        return min(among, key=lambda c: (one_class[c], self._sizes[c], *ranks[1:, c], ranks[0, c], c))

    def means(self) -> Floats:
        """Return the mean scores, (measures, candidates), with 0 for undefined means."""
        return np.nan_to_num(self.scores().mean(axis=2))


class SharedFits:
    """The fits of the inner loops of several training sets, each made once.

    The inner folds of a training set are the test sets of the others. A classifier trained without two of them serves
    the inner loops of both, and decides about no sample that it has seen. `sample` has the rows of all sets.
    """

    def __init__(
        self, data: Numbers, make_solver: MakeSolver, sample: Indices, fit_cache: FitCache | None = None
    ) -> None:
        self.data, self.make, self.sample, self.fit_cache = data, make_solver, sample, fit_cache
        self._found: dict[str, dict[str, Any]] = {}

    def fits(self, kernel: str, specs: Sequence[dict[str, Any]], train: Indices) -> dict[str, Any]:
        """Return the fits of solvers with one kernel on a training set, and how many failed."""
        rows = blake2b(train.tobytes(), digest_size=16).hexdigest()
        key = canonical_json([kernel, repr(specs), rows, len(self.sample)])
        if key in self._found:
            return self._found[key]
        others = np.setdiff1d(self.sample, train)
        found = None if self.fit_cache is None else self.fit_cache.get(key)
        if found is None:
            found = self._fit(kernel, specs, train, others)
            if self.fit_cache is not None:
                self.fit_cache.put(key, found)
        self._found[key] = {**found, "fits": [(others, *map(np.asarray, one)) for one in found["fits"]]}
        return self._found[key]

    def _fit(self, kernel: str, specs: Sequence[dict[str, Any]], train: Indices, others: Indices) -> dict[str, Any]:
        """Fit solvers, each starting from the previous solution; return their decisions about the other samples."""
        labels = self.data.labels.take(train)
        y = labels.targets()
        block = self.data.at(kernel, others, like=train)
        found: dict[str, Any] = {"fits": [], "failed": 0, "gaps": []}
        for solver in fit_chain(self.make, specs, None, (block.train, y, labels.groups), labels.kind, found):
            found["fits"].append([one.tolist() for one in decided(solver, block.test, labels.kind)])
        return found

    @staticmethod
    def decided(fit: tuple[Indices, Floats, Array], rows: Indices) -> tuple[Floats, Array]:
        """Return a fit's decisions about some samples, and its predictions."""
        others, decisions, predicted = fit
        places = np.searchsorted(others, rows)
        return decisions[places], predicted[places]


def fit_chain(
    make: MakeSolver,
    specs: Iterable[dict[str, Any]],
    solver: Any,
    samples: tuple[Any, Any, Any],
    kind: str,
    found: dict[str, Any],
) -> Iterator[Any]:
    """Yield solvers fitted on `samples` (matrix, targets, groups), each starting from the one before.

    `found` counts the fits that failed, and collects their gaps.
    """
    for spec in specs:
        solver = make(spec, kind).fit_after(solver, *samples)
        failed = solver.count_not_converged()
        found["failed"] += failed
        if failed and solver.report_.get("gap") is not None:
            found["gaps"].append(float(solver.report_["gap"]))
        yield solver


def decided(solver: Any, K: Any, kind: str) -> tuple[Floats, Array]:
    """Return a fitted solver's decision values and predictions, as booleans for two classes."""
    predicted = solver.predict(K)
    if kind == "real":
        return predicted, predicted
    return solver.decision_function(K), np.asarray(predicted) > 0 if kind == "binary" else predicted


def pair_resolution(labels: Labels, parts: Sequence[tuple[Any, Indices]]) -> float:
    """Return the change of a mean AUC if one positive and one negative swap ranks in one fold.

    The tolerance of a fit may have as large an effect, so such a change does not show which of two candidates is
    better.

    >>> import numpy as np
    >>> from seqkern.sequences.labels import make_labels
    >>> labels = make_labels(list("abcdefgh"), ["decoy", "donor"] * 4)
    >>> pair_resolution(labels, [(None, np.arange(4)), (None, np.arange(4, 8))])
    0.125
    """
    counts = [np.bincount(labels.y[valid], minlength=2) for _, valid in parts]
    shares = [1 / int(count[0] * count[1]) for count in counts if count.all()]
    return float(np.mean(shares)) / len(shares) if shares else 0.0


# Refinement of a coarse grid around its best candidate, and its extension where the best lies at an end.
#
# Values are tried in half-decade steps, …, 0.1, 0.3, 1, 3, …, within the limits that a solver declares. Each round
# tries the neighbours of the best candidate so far, until a round finds no better one.

ROUNDS = 12
"""Maximum number of rounds of a refinement: six decades from the end of a grid."""


def refine(trials: "Trials", limits: Sequence[Limits], kernels: Collection[str] | None = None) -> int:
    """Try more candidates around the best one until none scores higher, and return the index of the best.

    With `kernels`, only candidates with one of them count.
    """
    best = trials.best(kernels)
    for _ in range(ROUNDS if limits else 0):
        tried = trials.candidates
        more = neighbours(tried[best], [tried[c] for c in trials.tied(kernels=kernels)], tried, limits)
        if not more:
            break
        trials.add(more, after=best)
        if best in trials.tied(kernels=kernels):
            break
        best = trials.best(kernels)
    return best


def step(value: float, up: bool) -> float:
    """Return the next larger or smaller value of the series …, 0.1, 0.3, 1, 3, ….

    >>> step(1.0, up=True), step(0.3, up=True), step(0.1, up=False), step(0.5, up=False)
    (3.0, 1.0, 0.03, 0.3)
    """
    decade = math.floor(math.log10(value))
    near = [Decimal(digit).scaleb(exponent) for exponent in range(decade - 2, decade + 3) for digit in (1, 3)]
    ladder = [float(one) for one in near]
    if up:
        return min(one for one in ladder if one > value * (1 + 1e-9))
    return max(one for one in ladder if one < value * (1 - 1e-9))


def neighbours(
    best: "Candidate", tied: "Sequence[Candidate]", tried: "Sequence[Candidate]", limits: Sequence[Limits]
) -> "list[Candidate]":
    """Return the untried candidates half a decade from the best one, in each parameter.

    No step is made towards values that tie with the best: they are a plateau. Away from a plateau, beyond the range
    of values tried, the step is a whole decade, since a smaller one may not leave the plateau.
    """
    found: list[Candidate] = []
    for one in limits:
        value = one.value(best[1])
        if not _is_number(value):
            continue
        alike, values = _values(tied, best, one), _values(tried, best, one)
        plateau = len(alike) > 1
        moves = []
        if min(alike) == value:
            moves.append(_next(value, plateau and min(values) == value, up=False))
        if max(alike) == value:
            moves.append(_next(value, plateau and max(values) == value, up=True))
        found += [(best[0], one.with_value(best[1], move)) for move in moves if one.low <= move <= one.high]
    return [candidate for candidate in found if candidate not in tried]


def _next(value: float, decade: bool, *, up: bool) -> float:
    """Return the value half a decade, or a whole decade, above or below a value."""
    beside = step(value, up)
    return step(beside, up) if decade else beside


def ends(
    best: "Candidate", tied: "Sequence[Candidate]", tried: "Sequence[Candidate]", paths: Sequence[tuple[str, ...]]
) -> dict[str, str]:
    """Return the best candidate's parameters that lie at an end of the values tried: ``"smallest"`` or ``"largest"``.

    An end is meaningful only among at least three values, and only if the values before it are worse. Beyond the
    smallest or largest value that the solver allows there is nothing to try.

    >>> grid = [("spectrum", {"solver": "csvc", "C": C}) for C in (0.1, 1.0, 10.0)]
    >>> ends(grid[2], grid[2:], grid, [("C",)]), ends(grid[2], grid, grid, [("C",)])
    ({'C': 'largest'}, {})
    """
    found = {}
    for path in paths:
        one = Limits(path, 0.0, math.inf)
        value, values = one.value(best[1]), _values(tried, best, one)
        if len(values) < 3 or not all(map(_is_number, values)) or len(_values(tied, best, one)) > 1:
            continue
        if value in (min(values), max(values)) and not ends_domain(best[1], path, value):
            found[" ".join(path)] = "smallest" if value == min(values) else "largest"
    return found


def number_paths(spec: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """Return the paths of a spec's numeric parameters, also in nested solvers.

    >>> number_paths({"solver": "one_against_rest", "binary": {"solver": "csvc", "C": 3.0}})
    [('binary', 'C')]
    """
    found = [(name,) for name, value in spec.items() if _is_number(value)]
    inside = [(name, part) for name, part in spec.items() if isinstance(part, Mapping)]
    return found + [(name, *path) for name, part in inside for path in number_paths(part)]


def _values(candidates: "Sequence[Candidate]", best: "Candidate", one: Limits) -> set[Any]:
    """Return the values of one parameter among the candidates that differ from the best in no other parameter."""
    value = one.value(best[1])
    alike = [spec for kernel, spec in candidates if kernel == best[0] and one.value(spec) is not None]
    return {one.value(spec) for spec in alike if one.with_value(spec, value) == best[1]}


def _is_number(value: Any) -> bool:
    """Return whether a value is a finite number above zero."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value < math.inf


# Classes of unequal size: when they count as unequal, and which class weights are tried.

RARE = 0.4
"""Share of the samples below which the rarer class makes classes unequal in size."""


def unequal(labels: Labels) -> bool:
    """Return whether there are two classes and one has less than 40% of the samples.

    Always predicting the larger class then has an accuracy above 60%, and a classifier that weights all errors
    equally is biased towards it.

    >>> from seqkern.sequences.labels import make_labels
    >>> unequal(make_labels(list("abcde"), ["decoy"] * 4 + ["donor"]))
    True
    >>> unequal(make_labels(list("abcde"), ["decoy"] * 3 + ["donor"] * 2))
    False
    """
    known = labels.y[labels.used()]
    if labels.kind != "binary" or not len(known):
        return False
    share = float(np.mean(known == 1))
    return min(share, 1 - share) < RARE - 1e-9


def with_class_weights(candidates: "Sequence[Candidate]", labels: Labels, *, alone: bool = False) -> "list[Candidate]":
    """Return candidates with balanced class weights, where the solver has a weight parameter.

    For classes of unequal size each candidate is also tried without weights, unless they stand `alone`. Otherwise
    weights hardly change a ranking, but without them an SVM with a small C predicts the class that has just one
    sample more.
    """
    both = unequal(labels) and not alone
    found: list[Candidate] = []
    for kernel, spec in candidates:
        has_weight = "class_weight" in SOLVERS.get(spec["solver"]).parameter_names() and "class_weight" not in spec
        if both or not has_weight:
            found.append((kernel, spec))
        if has_weight:
            found.append((kernel, spec | {"class_weight": "balanced"}))
    return found


# Bounds on the leave-one-out error as criteria of the inner loop: one fit per candidate, without inner folds.

WITH_GROUPS = (
    "leaves out one sample at a time: it ignores that similar samples are kept together, so its estimates are too good"
)
"""The note on such a metric where samples have groups."""


def check_bound(
    metric: str, kind: str, specs: Iterable[Mapping[str, Any] | str | Solver], classes: tuple[str, ...] = ()
) -> None:
    """Raise ParameterError if the metric is a bound that a solver cannot give for such labels.

    >>> check_bound("span", "binary", ["csvc"])
    >>> check_bound("span", "binary", ["psvc"])
    Traceback (most recent call last):
        ...
    seqkern.core.errors.ParameterError: solver 'psvc' has no bound for the inner metric 'span'; choose csvc ...
    """
    if metric == EVIDENCE:
        for solver in (make_solver(spec, kind) for spec in specs):
            if not solver.traits.variances:
                raise ParameterError(
                    f"solver {solver.name!r} has no marginal likelihood for the inner metric {metric!r}",
                    remedy="choose gp_regression, or another inner metric, such as r2",
                )
    if metric not in BOUNDS:
        return
    if kind != "binary":
        raise ParameterError(
            f"the inner metric {metric!r} is for two classes, but the labels are {kind}",
            remedy="choose another inner metric, such as auto",
        )
    for spec in specs:
        solver = make_solver(spec, kind, classes) if classes else make_solver(spec, kind)
        if not solver.traits.bounds:
            raise ParameterError(
                f"solver {solver.name!r} has no bound for the inner metric {metric!r}",
                remedy="choose csvc or nusvc, or another inner metric, such as auc",
            )


def check_bound_kernels(metric: str, kernels: Mapping[str, Kernel | None]) -> None:
    """Raise ParameterError if the metric is a bound, and a kernel learns from the training set.

    Such a kernel has seen the sample that a bound leaves out, often with its label: the bound would be far too low.

    >>> from seqkern.kernels import SpectrumKernel
    >>> check_bound_kernels("span", {"three": SpectrumKernel(3)})
    """
    for name, kernel in kernels.items() if metric in BOUNDS else ():
        if kernel is not None and kernel.traits.data_dependent:
            raise ParameterError(
                f"kernel {name!r} learns from the training set, so that the inner metric {metric!r} would be too good",
                remedy="choose kernels that do not learn, or another inner metric, such as auc",
            )


def whole_part(n: int) -> list[Part]:
    """Return the only fold of an inner loop by a bound: all samples for training, none held out."""
    return [(np.arange(n), np.arange(0))]


class BoundTrials(Trials):
    """Candidates tried on the whole training set, scored by a bound on the leave-one-out error.

    The first measure has the name of the bound, and the score is the negative bound; the other measures break ties,
    and use the decisions of the span rule.
    """

    def _outcome(self, solver: Any, K_train: Any, K_valid: Any, f: int) -> tuple[list[float], Floats]:
        """Return the negative bound and the measures of the span rule's decisions, then these decisions."""
        found, (name, *others) = solver.leave_one_out(K_train, self.y, limited=False), self.measures
        if found is None or found.decisions is None:
            raise GramError(
                f"the inner metric {name!r} is not defined on this Gram matrix: it is not positive semi-definite, or "
                "read by rows, or the solver found no margin",
                remedy="choose another inner metric, such as auc",
            )
        outcome = self.labels.y, found.decisions, found.decisions > 0
        return [-found.value(name), *(float(self.measures[other](*outcome)) for other in others)], found.decisions

    def _scored(self, f: int) -> Indices:
        """Return all rows."""
        return self.parts[f][0]


class EvidenceTrials(Trials):
    """Candidates tried on the whole training set, scored by the log marginal likelihood of a sample."""

    def _outcome(self, solver: Any, K_train: Any, K_valid: Any, f: int) -> tuple[list[float], Floats]:
        """Return the log marginal likelihood of a sample, and no decisions."""
        return [solver.report_["log_marginal_likelihood"] / len(self.y)], np.empty(0)


Measure = Callable[[Array, Floats, Array], float]
"""A score of labels, decision values and predictions; larger is better."""

AUTO = {"binary": "auc", "multiclass": "macro_auc", "real": "r2"}


def _on_decisions(function: Callable[..., float]) -> "Measure":
    """Return a measure that applies a function to labels and decision values."""
    return lambda y, decisions, predicted: function(y, decisions)


def _on_predictions(function: Callable[..., float]) -> "Measure":
    """Return a measure that applies a function to labels and predictions."""
    return lambda y, decisions, predicted: function(y, predicted)


_MACRO_AUC = _on_decisions(metrics.macro_auc)
_CLASSES: "dict[str, Measure]" = {
    "balanced_accuracy": _on_predictions(metrics.balanced_accuracy),
    "mcc": _on_predictions(metrics.matthews_correlation),
    "accuracy": _on_predictions(metrics.accuracy),
}
# for each kind of labels: name → function of (labels, decisions, predictions); larger is better
METRICS: "dict[str, dict[str, Measure]]" = {
    "binary": {"auc": _on_decisions(ranking.roc_auc), "roc50": _on_decisions(ranking.roc_n), **_CLASSES},
    "multiclass": {
        "auc": _MACRO_AUC,
        "macro_auc": _MACRO_AUC,
        **_CLASSES,
        # other names of accuracy for three or eight states of residues
        "q3": _CLASSES["accuracy"],
        "q8": _CLASSES["accuracy"],
    },
    "real": {"r2": _on_predictions(metrics.r2), "rmse": lambda y, decisions, predicted: -metrics.rmse(y, predicted)},
}
# What decides between equally good candidates that are equally simple.
TIES: dict[str, tuple[str, ...]] = {
    "binary": ("auc", "balanced_accuracy"),
    "multiclass": ("macro_auc", "balanced_accuracy"),
    "real": (),
}


@dataclass(frozen=True, eq=False)
class Choice:
    """The result of the inner loop: the chosen kernel and solver specification, and all candidates' scores."""

    kernel: Any  # The name of the chosen kernel
    spec: dict[str, Any]  # The chosen solver specification
    score: float  # Their mean score over the inner folds; NaN if there was only one candidate
    candidates: "list[Candidate]"  # All candidates: the name of a kernel and a solver specification
    # shape (n_candidates, n_folds): The score of each on each inner fold; no columns if there was nothing to choose
    scores: Floats
    not_converged: int = 0  # Number of fits of the inner folds, including nested ones, that did not converge
    n_fits: int = 0  # Number of fits of the inner folds
    worst_gap: float | None = None  # The largest gap among those that did not converge, including nested fits
    # shape (n,): The chosen candidate's decision about each sample, by the classifier of the inner fold without it; NaN
    # where there is none. None unless the labels are binary and there was something to choose
    decisions: Floats | None = None
    n_folds: int = 0  # Number of inner folds, including those that could not be scored
    tied: list[int] = field(default_factory=list)  # The candidates whose score equals the best, as indices
    rungs: Sequence[Any] = ()  # The comparisons by successive halving (`seqkern.evaluation.halving.Rung`); none without

    @property
    def place(self) -> int:
        """The index of the chosen candidate."""
        return self.candidates.index((self.kernel, self.spec))


@dataclass(frozen=True, eq=False)
class PooledChoice(Choice):
    """A choice by the mean rank over several tasks, including the task itself."""

    tasks: int = 1  # Number of tasks, with the task itself
    mean_rank: float = 1.0  # Of the chosen candidate; 1 if it is the best for all of them


RULES = ("best", "one_standard_error")
"""The rules of choice; see `select`."""


@dataclass(frozen=True)
class Search:
    """Settings for choosing one of several candidates, by cross-validation within a training set."""

    folds: int = 3  # Folds of the cross-validation; also for held-out decision values
    # The metric to maximise: ``"auto"``, a name of `METRICS`, or a bound of the leave-one-
    # out error: no fold is made then
    metric: str = "auto"
    seed: int = 1  # Of the folds
    rule: str = "best"  # The rule of choice (see `select`)
    # What is searched beyond the candidates: refined values of parameters, and balanced class weights
    free: Free = field(default_factory=Free)
    # Predicted CPU seconds for choosing one of several kernels by successive halving (`seqkern.evaluation.halving`);
    # default: all candidates are tried on the whole training set
    budget: float | None = None
    n_choices: int = 1  # Choices that share no fits, each with that budget
    # Hold out clusters of similar positive samples, this many, in place of folds; see `seqkern.evaluation.pooled`
    clusters: int | None = None


def select(
    data: Numbers,
    candidates: Sequence[Candidate],
    make_solver: MakeSolver,
    search: Search,
    *,
    fit_cache: FitCache | None = None,
) -> "Choice":
    """Choose a kernel and a solver specification by cross-validation within a training set.

    Inner folds are stratified, and keep groups together. With a development part (`Labels.dev`) there is one fold:
    candidates are fitted to the rest and scored on that part. A class with fewer members (or groups) than `folds`
    reduces their number, to at least two. An inner fold is skipped if a missing class prevents training or scoring.

    Among candidates with equal scores, the one whose solver has the smallest `complexity` wins; then the best by the
    metrics of `TIES`, in order, then the first. A candidate that predicts a single class loses against others. Scores
    count as equal if they differ by at most a ten-thousandth, or AUCs by one pair of samples in one fold, since the
    tolerance of a fit can have as large an effect.

    The rule ``one_standard_error`` (Breiman et al., Classification and Regression Trees, 1984) accepts a slightly
    lower score for simplicity: it chooses the simplest candidate with the best one's kernel and a mean less than one
    standard error below the best mean. The standard error is the best mean's over the inner folds.
    """
    candidates = list(candidates)
    if not candidates:
        raise ParameterError("no solver to choose from", remedy="give at least one")
    check_search(search, data.labels.kind)
    if len(candidates) == 1:
        return Choice(*candidates[0], math.nan, candidates, np.empty((1, 0)))
    trials = make_trials(data, candidates, make_solver, search, fit_cache=fit_cache)
    trials.add(candidates)
    return best_choice(trials, search)


def check_search(search: Search, kind: str) -> None:
    """Raise ParameterError for settings that no inner loop of a kind of labels can have."""
    if search.metric not in BOUNDS:  # those have a check of their own
        _metric(search.metric, kind)
    check_integer("inner folds", search.folds if search.clusters is None else search.clusters, 2)
    check_integer("seed", search.seed, 0)
    check_choice("rule", search.rule, RULES)


def make_trials(
    data: Numbers,
    candidates: Sequence[Candidate],
    make_solver: MakeSolver,
    search: Search,
    *,
    parts: Sequence[Part] = (),
    **options: Any,
) -> Trials:
    """Return the trials of an inner loop before the first candidate; `parts` are its folds if they are given."""
    labels, metric = data.labels, search.metric
    names = dict.fromkeys([AUTO[labels.kind] if metric == "auto" else metric, *TIES[labels.kind]])
    if metric in WITHOUT_FOLDS:
        check_bound(metric, labels.kind, [make_solver(spec, labels.kind) for _, spec in candidates])
        parts = whole_part(len(labels))
    folds = search.folds if search.clusters is None else search.clusters
    parts = parts or list(inner_folds(labels, folds, search.seed, labels.groups))
    kinds = {EVIDENCE: EvidenceTrials} | dict.fromkeys(BOUNDS, BoundTrials)
    return kinds.get(metric, Trials)(
        data,
        make_solver,
        parts,
        {name: _metric(name, labels.kind) for name in names},
        resolution=pair_resolution(labels, parts) if next(iter(names)) == "auc" and labels.kind == "binary" else 0.0,
        refines=bool(search.free.limits),
        **options,
    )


def best_choice(trials: Trials, search: Search, combinations: Collection[str] = ()) -> Choice:
    """Return the choice among the candidates tried, after more of them around the best.

    A kernel in `combinations`, which cannot be explained as one, must lead the best other kernel by more than the
    standard error of their difference on the inner folds: a smaller lead may be chance.
    """
    if not trials.usable.any():
        raise FoldError(
            "no inner fold can be scored",
            remedy="give more samples, reduce the inner folds, or choose another inner metric",
        )
    best = refine(trials, search.free.limits)
    among: Collection[str] | None = None
    single = {kernel for kernel, _ in trials.candidates if kernel not in combinations}
    if single and trials.candidates[best][0] in combinations:
        second = refine(trials, search.free.limits, single)
        leads = trials.scores()[0, best] - trials.scores()[0, second]
        if leads.mean() <= standard_error(leads):
            best, among = second, single
    if search.rule == "one_standard_error":
        error = standard_error(trials.scores()[0, best])
        kernel = trials.candidates[best][0]
        best = trials.simplest([c for c in trials.tied(error, among) if trials.candidates[c][0] == kernel])
    return Choice(
        *trials.candidates[best],
        float(trials.means()[0, best]),
        trials.candidates,
        trials.scores()[0],
        trials.not_converged,
        trials.n_fits,
        max(trials.gaps, default=None),
        trials.decisions(best),
        len(trials.parts),
        trials.tied(kernels=among),
    )


def standard_error(scores: Floats) -> float:
    """Return the standard error of the mean of scores; 0 for a single score."""
    return float(np.std(scores, ddof=1) / math.sqrt(len(scores))) if len(scores) > 1 else 0.0


def inner_folds(labels: Labels, folds: int, seed: int, groups: npt.ArrayLike | None = None) -> Iterator[Part]:
    """Return the inner folds of a training set; with a development part, one fold that holds out that part.

    Folds whose training set lacks a class are skipped. Samples without a label are in every training part, and in no
    validation part.
    """
    if labels.dev is not None and labels.dev.any():
        yield np.flatnonzero(~labels.dev), np.flatnonzero(labels.dev)
        return
    used = labels.used()
    if not used.all():
        own, spare = np.flatnonzero(used), np.flatnonzero(~used)
        groups = None if groups is None else np.asarray(groups)[used]
        for train, valid in inner_folds(labels.take(own), folds, seed, groups):
            yield np.union1d(own[train], spare), own[valid]
        return
    y = np.zeros(len(labels), dtype=np.int64) if labels.kind == "real" else labels.y
    groups = np.arange(len(y)) if groups is None else np.unique(groups, return_inverse=True)[1]
    classes = np.unique(y)
    rarest = min(len(np.unique(groups[y == c])) for c in classes)
    if rarest < 2:
        raise FoldError(
            "a class of the training set has only one sample (or group), so hyperparameters cannot be chosen",
            remedy="give more samples, or one value for each parameter of the solver",
        )
    yield from parts_of_folds(deal(y, min(folds, rarest), seed, groups), labels)


def parts_of_folds(fold: Indices, labels: Labels) -> Iterator[Part]:
    """Yield the inner folds of samples whose folds are given, without those whose training part lacks a class."""
    n_classes = 0 if labels.kind == "real" else len(np.unique(labels.y))
    for f in np.unique(fold):
        train, valid = np.flatnonzero(fold != f), np.flatnonzero(fold == f)
        if not n_classes or len(np.unique(labels.y[train])) == n_classes:
            yield train, valid


def _metric(name: str, kind: str) -> "Measure":
    """Return a metric's scoring function; raise ParameterError if the metric does not match the kind of labels."""
    known, bounds = METRICS[kind], {"binary": BOUNDS, "real": (EVIDENCE,)}.get(kind, ())
    if name in bounds:
        return lambda *_: math.nan  # see `BoundTrials` and `EvidenceTrials`
    name = AUTO[kind] if name == "auto" else name
    if name not in known:
        raise unknown_name(f"inner metric for {kind} labels", name, [*known, *bounds, "auto"])
    return known[name]
