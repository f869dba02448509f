"""Choice of the records of a pool to label next, or of the variants to make and measure next."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtr

from seqkern.core.checks import check_choice, check_integer, check_real
from seqkern.core.errors import ModelError
from seqkern.core.memory import available_memory, format_bytes
from seqkern.core.threads import one_thread
from seqkern.core.types import Bools, Floats, Ints
from seqkern.methods.model import MEANS_KEY, Model
from seqkern.methods.novelty import known_samples
from seqkern.solvers.gaussian.processes import covariances

# Choice of the records of a pool to label next: those the model is least sure of, and that differ from each other.
#
# References:
# Tong, Koller: Support vector machine active learning with applications to text classification. Journal of Machine
# Learning Research 2, 2001 (nearest the hyperplane).
# Schohn, Cohn: Less is more: active learning with support vector machines. ICML 2000 (the stopping rule).
# Brinker: Incorporating diversity in active learning with support vector machines. ICML 2003 (the angles).

# The best records of a pool by some value, collected while the pool is read in chunks.

Values = dict[str, Floats]


@dataclass(frozen=True)
class Piece:
    """The candidates of one chunk of a pool, with their places in it and their values.

    Among the values are ``key``, the smaller the better, and ``tie``, which decides between equal keys.
    """

    X: Any
    rows: Ints  # shape (n,): Their places in the pool
    # shape (n,): What is known of them; ``key``, of which small ones are wanted, and ``tie``, which decides between
    # equal ones
    values: Values

    def take(self, kept: Bools) -> "Piece":
        """Return the candidates selected by a mask."""
        X = self.X.take(np.flatnonzero(kept))
        X = X.compact() if hasattr(X, "compact") else X
        return Piece(X, self.rows[kept], {name: value[kept] for name, value in self.values.items()})


class Candidates:
    """The m records of a pool with the smallest keys, without those labelled in training.

    `n` is the number of records read; `n_known` the number of those labelled in training, None if the model
    does not have this information.
    """

    def __init__(self, model: Model, m: int, seed: int) -> None:
        self.model, self.m = model, m
        self.pieces: list[Piece] = []
        self.n = 0
        self.n_known: int | None = 0
        self._rng = np.random.default_rng(seed)

    @property
    def n_pool(self) -> int:
        """Number of records read that were not labelled in training, as far as known."""
        return self.n - (self.n_known or 0)

    def without_known(self, X: Any) -> tuple[Any, Ints]:
        """Count the records of a chunk, and return those not labelled in training, with their places in the pool."""
        rows = self.n + np.arange(len(X))
        self.n += len(X)
        known = known_samples(self.model.record, X)
        if known is None:
            self.n_known = None
        elif known.any() and self.n_known is not None:
            self.n_known += int(np.count_nonzero(known))
            rows, X = rows[~known], X.take(np.flatnonzero(~known))
        return X, rows

    def ties(self, n: int) -> Floats:
        """Return random numbers that break ties among the next n records."""
        return self._rng.random(n)

    def add(self, X: Any, rows: Ints, values: Values) -> None:
        """Add records to the candidates, and keep the best."""
        self.pieces.append(Piece(X, rows, values).take(np.ones(len(X), dtype=bool)))
        keys, ties = self.joined("key"), self.joined("tie")
        kept = np.zeros(len(keys), dtype=bool)
        kept[np.lexsort((ties, keys))[: self.m]] = True
        ends = np.cumsum([len(piece.rows) for piece in self.pieces])[:-1]
        parts = zip(self.pieces, np.split(kept, ends), strict=True)
        self.pieces = [piece if own.all() else piece.take(own) for piece, own in parts if own.any()]

    def joined(self, name: str) -> Floats:
        """Return the named values of all candidates; see `Piece.values`."""
        return np.concatenate([piece.values[name] for piece in self.pieces]) if self.pieces else np.empty(0)

    @property
    def rows(self) -> Ints:
        """The places of all candidates in the pool."""
        return np.concatenate([np.empty(0, dtype=np.int64), *(piece.rows for piece in self.pieces)])

    @property
    def ids(self) -> list[str]:
        """Ids of all candidates."""
        return [name for piece in self.pieces for name in piece.X.ids]


STRATEGIES = ("uncertain", "random")
SAME_DIRECTION = 1e-12
"""Angle, as 1 − its cosine, up to which records are the same for the kernel: a second label would teach nothing."""

CANDIDATES_PER_RECORD = 10
"""Number of candidates, as a multiple of the records to choose."""


@dataclass(frozen=True, eq=False)
class Suggestions:
    """The records to label next, best first."""

    rows: Ints  # shape (n,): Their places in the pool
    ids: list[str]  # length n
    decisions: Floats  # shape (n,): As from `Model.decision`
    # shape (n,): |f|, or the difference of the two largest decisions of several classes: the smaller, the less sure
    gaps: Floats
    # shape (n,): In feature space, to the nearest of the records before it; NaN for the first
    distances: Floats
    n_pool: int  # Records in the pool without those of `n_known`
    within: int | None  # How many of these are within the margin; None if the solver has none
    # How many were left out, since one with the same sequence (or values) had a label in training; None if the model
    # does not say
    n_known: int | None = None

    def sentence(self) -> str:
        """Return a line on whether more labels are worth their cost."""
        if self.within is None:
            return f"{self.n_pool} records in the pool; the solver has no margin, so that no rule says when to stop"
        if self.within == 0:
            return "no sequence of the pool is within the margin: labels of more would change little"
        return f"{self.within} of {self.n_pool} records in the pool are within the margin: more labels may help"


def suggest(
    model: Model,
    pool: Iterable[Any],
    n: int = 20,
    *,
    diversity: float = 0.5,
    strategy: str = "uncertain",
    seed: int = 1,
    n_threads: int | None = None,
) -> Suggestions:
    """Return the records of a pool to label next.

    Candidates are the records with the smallest |f| (for several classes the smallest difference between the two
    largest
    decisions), ten times as many as wanted. The first choice is the record nearest the hyperplane; each further one
    minimises, over the remaining candidates x and the records z chosen before,

    (1 − λ) |f(x)| / max |f| + λ max_z K(x, z) / √(K(x, x) K(z, z))

    so it lies near the hyperplane and at a large angle to the others. Copies of chosen records come last, unless λ
    is 0.
    K is the model's kernel, before any transform. Ties are broken at random by the seed. Records equal to a labelled
    training record are left out. Memory does not grow with the pool.
    """
    check_suggests(model)
    check_integer("n", n, 1)
    check_integer("seed", seed, 0)
    check_real("diversity", diversity, 0, 1)
    check_choice("strategy", strategy, STRATEGIES)
    random = strategy == "random"
    nearest = _Nearest(model, n if random or not diversity else CANDIDATES_PER_RECORD * n, random, seed, n_threads)
    for X in pool:
        nearest.add(X)
    return nearest.chosen(n, 0.0 if random else float(diversity))


def check_suggests(model: Any) -> None:
    """Raise ModelError, with the reason, unless a model has classes."""
    if not isinstance(model, Model):
        raise ModelError("classifies residues, but whole records are suggested", remedy="give a model of records")
    if model.kind == "real":
        raise ModelError(
            "predicts numbers, so that no record is between classes",
            remedy="give a model of two or more classes, or a Gaussian process and --acquisition",
        )
    if model.kind == "none":
        raise ModelError("was trained without classes", remedy="give a model of two or more classes")


class _Nearest:
    """The m records of a pool nearest the hyperplane, or m random ones."""

    def __init__(self, model: Model, m: int, random: bool, seed: int, n_threads: int | None) -> None:
        self.model, self.random, self.n_threads = model, random, n_threads
        self.best = Candidates(model, m, seed)
        self.within = None if model.solver.traits.margin is None else 0

    def add(self, X: Any) -> None:
        """Add a chunk of the pool."""
        X, rows = self.best.without_known(X)
        if not len(X):
            return
        decisions = self.model.decision(X, n_threads=self.n_threads)
        gaps = gaps_of(decisions)
        margin, ties = self.model.solver.traits.margin, self.best.ties(len(X))
        if margin is not None and self.within is not None:
            inside = np.abs(decisions) < margin
            self.within += int(np.count_nonzero(inside if inside.ndim == 1 else inside.any(axis=1)))
        values = {"decision": decisions, "gap": gaps, "key": ties if self.random else gaps, "tie": ties}
        self.best.add(X, rows, values)

    def chosen(self, n: int, diversity: float) -> Suggestions:
        """Return the n suggestions."""
        best = self.best
        if not best.pieces:
            none = np.empty(0)
            return Suggestions(np.empty(0, dtype=np.int64), [], none, none, none, 0, self.within, best.n_known)
        K = kernel_of([piece.X for piece in best.pieces], self.model, self.n_threads)
        order = greedy(K, best.joined("key"), n, diversity, best.joined("tie"))
        ids = best.ids
        return Suggestions(
            best.rows[order],
            [ids[i] for i in order],
            best.joined("decision")[order],
            best.joined("gap")[order],
            distances(K, order),
            best.n_pool,
            self.within,
            best.n_known,
        )


def gaps_of(decisions: Floats) -> Floats:
    """Return the certainty of decisions: |f|, or for several classes the difference between the two largest.

    >>> gaps_of(np.array([0.5, -2.0])).tolist(), gaps_of(np.array([[0.5, 2.0, -1.0]])).tolist()
    ([0.5, 2.0], [1.5])
    """
    if decisions.ndim == 1:
        return np.abs(decisions)
    best = np.sort(decisions, axis=1)
    return best[:, -1] - best[:, -2]


def kernel_of(pieces: Sequence[Any], model: Model, n_threads: int | None) -> Floats:
    """Return the model's kernel matrix, (n, n), of the records in several sets together."""
    found: list[list[Any]] = [[None] * len(pieces) for _ in pieces]
    for i, X in enumerate(pieces):
        found[i][i] = model.kernel(X, n_threads=n_threads)
        for j in range(i):
            found[i][j] = model.kernel(X, pieces[j], n_threads=n_threads)
            found[j][i] = found[i][j].T
    return np.block(found)


def greedy(
    K: Floats,
    keys: Floats,
    n: int,
    diversity: float,
    ties: Floats,
) -> Ints:
    """Return the order in which to choose records, see `suggest`; `keys` are |f|, `diversity` is λ.

    >>> K = np.array([[1.0, 0.99, 0.1], [0.99, 1.0, 0.1], [0.1, 0.1, 1.0]])
    >>> greedy(K, np.array([0.1, 0.2, 0.3]), 2, 0.5, np.zeros(3)).tolist()
    [0, 2]
    """
    norm = np.sqrt(np.maximum(np.diagonal(K), 0.0))
    norm[norm == 0] = 1.0
    near = (1 - diversity) * keys / (keys.max() or 1.0)
    angle, left = np.full(len(keys), -np.inf), np.ones(len(keys), dtype=bool)
    order = [int(np.lexsort((ties, keys))[0])]
    while len(order) < min(n, len(keys)):
        last = order[-1]
        left[last] = False
        angle = np.maximum(angle, K[:, last] / norm / norm[last])
        copies = 2.0 * (angle > 1 - SAME_DIRECTION) if diversity else 0.0  # after all others
        score = np.where(left, near + diversity * angle + copies, np.inf)
        order.append(int(np.lexsort((ties, score))[0]))
    return np.array(order, dtype=np.int64)


def distances(K: Floats, order: Ints) -> Floats:
    """Return the distance in feature space of each record to the nearest one before it; NaN for the first.

    >>> distances(np.array([[1.0, 0.5], [0.5, 1.0]]), np.array([1, 0])).tolist()
    [nan, 1.0]
    """
    diagonal = np.diagonal(K)
    found = np.full(len(order), np.nan)
    for place in range(1, len(order)):
        one, before = order[place], order[:place]
        found[place] = np.sqrt(max(0.0, float(np.min(diagonal[one] - 2 * K[one, before] + diagonal[before]))))
    return found


# The choice of the variants of a pool to make and measure next, by a Gaussian process.
#
# References:
# Srinivas, Krause, Kakade, Seeger: Gaussian process optimization in the bandit setting: no regret and experimental
# design. ICML 2010 (upper confidence bounds).
# Jones, Schonlau, Welch: Efficient global optimization of expensive black-box functions. Journal of Global Optimization
# 13, 1998 (expected improvement).
# Desautels, Krause, Burdick: Parallelizing exploration-exploitation tradeoffs in Gaussian process bandit optimization.
# Journal of Machine Learning Research 15, 2014 (batches).
# Ginsbourger, Le Riche, Carraro: Kriging is well-suited to parallelize optimization. In: Computational Intelligence in
# Expensive Optimization Problems, Springer 2010 (the kriging believer).
# Kandasamy, Krishnamurthy, Schneider, Póczos: Parallelised Bayesian optimisation via Thompson sampling. AISTATS 2018.


SAME_VARIANT = 1e-9
"""Share of two candidates' variances below which the variance of their difference makes them one variant."""
JITTER = 1e-10
"""Share of the largest variance that joint draws add to the diagonal first."""


def expected_improvement(means: Floats, deviations: Floats, best: float) -> Floats:
    """Return E max(0, f − best) for normally distributed f, shape (m,).

    >>> expected_improvement(np.array([0.0, 1.0, -1.0]), np.array([1.0, 0.0, 0.0]), 0.0).round(3)
    array([0.399, 1.   , 0.   ])
    """
    gain = means - best
    z = np.divide(gain, deviations, out=np.zeros(len(gain)), where=deviations > 0)
    density = np.exp(-0.5 * z**2) / np.sqrt(2 * np.pi)
    return np.where(deviations > 0, gain * ndtr(z) + deviations * density, np.maximum(gain, 0.0))


def believer(
    means: Floats,
    covariance: Floats,
    noise: float,
    n: int,
    acquisition: Callable[[Floats, Floats, list[int]], Floats],
    ties: Floats,
) -> tuple[Ints, Floats]:
    """Choose a batch one variant at a time, as if the means of those chosen had been measured."""
    left, given = ~np.zeros(len(means), dtype=bool), covariance.copy()
    order: list[int] = []
    values: list[float] = []
    while left.any() and len(order) < n:
        value = acquisition(means, np.sqrt(np.maximum(np.diagonal(given), 0.0)), order)
        place = int(np.lexsort((ties, np.where(left, -value, np.inf)))[0])
        order.append(place)
        values.append(float(value[place]))
        left &= ~copies_of(place, covariance)
        column = given[:, place].copy()
        if column[place] + noise > 0:
            given -= np.outer(column, column / (column[place] + noise))
    return np.array(order, dtype=np.int64), np.array(values)


def draws(means: Floats, covariance: Floats, n: int, rng: np.random.Generator) -> tuple[Ints, Floats]:
    """Choose a batch by functions drawn from the joint posterior: the best unchosen variant of each.

    >>> order, values = draws(np.array([0.0, 5.0, 4.0]), 1e-6 * np.eye(3), 2, np.random.default_rng(1))
    >>> order.tolist(), values.round(2).tolist()
    ([1, 2], [5.0, 4.0])
    """
    root = _root(covariance)
    left = ~np.zeros(len(means), dtype=bool)
    order: list[int] = []
    values: list[float] = []
    while left.any() and len(order) < n:
        drawn = means + np.sum(root * rng.standard_normal(len(means)), axis=1)
        place = int(np.where(left, drawn, -np.inf).argmax())
        order.append(place)
        values.append(float(drawn[place]))
        left &= ~copies_of(place, covariance)
    return np.array(order, dtype=np.int64), np.array(values)


def copies_of(place: int, covariance: Floats) -> Bools:
    """Return a mask of the duplicates of a candidate, itself included; the function has one value on all."""
    diagonal = np.diagonal(covariance)
    apart = diagonal + diagonal[place] - 2 * covariance[place]
    same = apart < SAME_VARIANT * (diagonal + diagonal[place])
    same[place] = True
    return same


def _root(covariance: Floats) -> Floats:
    """Return the lower triangle L of covariance = L Lᵀ, with as much jitter as it needs."""
    largest = float(np.diagonal(covariance).max(initial=0.0))
    if largest == 0:
        return np.zeros_like(covariance)
    jitter = JITTER * largest
    with one_thread():
        while True:
            try:
                return np.asarray(np.linalg.cholesky(covariance + jitter * np.eye(len(covariance))), dtype=np.float64)
            except np.linalg.LinAlgError:
                jitter *= 10


ACQUISITIONS = ("ucb", "ei", "thompson")
CANDIDATES_PER_VARIANT, LEAST_CANDIDATES = 10, 500
"""Number of candidates, as a multiple of the variants to choose, and the least number."""
WIDEST_BOUND = 3.0
"""Standard deviations above the mean in the bound that selects candidates for joint draws."""
MATRICES = 5
"""Number of matrices of the candidates that exist at the same time."""


@dataclass(frozen=True, eq=False)
class NextVariants:
    """The variants to make next, in the order of choice.

    `rows` are their places in the pool; `values` are the acquisition values when each was chosen, in the unit
    of the labels. `n_known` is the number of records left out because their sequence was measured, None if
    unknown. `best` is the best mean among the training samples, or among the support samples if only these are
    known (`best_of`).
    """

    rows: Ints  # shape (n,): Their places in the pool
    ids: list[str]  # length n
    means: Floats  # shape (n,): Of the function, given the training samples
    deviations: Floats  # shape (n,): Of the function, given the training samples
    values: Floats  # shape (n,): Of the acquisition when each was chosen, in the unit of the labels
    n_pool: int  # Records in the pool without those of `n_known`
    n_candidates: int  # Of how many of them the joint posterior was computed
    best: float  # The best mean among the samples that `best_of` names
    # How many were left out, since one with the same sequence was measured; None if the model does not say
    n_known: int | None = None
    # All training samples; or the support samples, the inducing ones, where a model file of an older version holds the
    # means of no others
    best_of: str = "training"

    def sentence(self) -> str:
        """Return a one-line description of the pool and candidates of the choice."""
        said = f"{self.n_pool} records in the pool; the best mean among the {self.best_of} samples is {self.best:.4g}"
        if self.best_of != "training":
            said += ", as the model does not hold that of all training samples"
        if self.n_candidates < self.n_pool:
            said += f"; chosen jointly among the {self.n_candidates} with the greatest values"
        return said


def next_variants(
    model: Model,
    pool: Iterable[Any],
    n: int = 20,
    *,
    acquisition: str = "ucb",
    minimize: bool = False,
    kappa: float = 2.0,
    seed: int = 1,
    n_threads: int | None = None,
) -> NextVariants:
    """Return the variants of a pool to make next.

    With μ and σ the mean and the standard deviation of the function at a variant, and μ* the best mean among the
    training samples, the acquisition is

    - ``ucb``: μ + κ σ;
    - ``ei``: the expected improvement over μ*, E max(0, f − μ*);
    - ``thompson``: the value of a function drawn from the posterior, a new one for each variant of the batch.

    For ``ucb`` and ``ei`` the variants of a batch are chosen one after the other, each as if the previous ones
    had been measured, with their means as results: this reduces σ near them, so the batch is diverse.
    Duplicates are chosen once. The joint posterior covers the candidates with the greatest μ + κ σ (for
    ``thompson``, κ is at least 3) or expected improvement: at least 500, and ten times the batch size. Records
    equal to a training sample are left out.
    """
    check_acquires(model)
    check_integer("n", n, 1)
    check_choice("acquisition", acquisition, ACQUISITIONS)
    check_real("kappa", kappa, 0, 1e6)
    check_integer("seed", seed, 0)
    search = _Search(model, n, acquisition, -1.0 if minimize else 1.0, float(kappa), seed, n_threads)
    for X in pool:
        search.add(X)
    return search.chosen(n)


def check_acquires(model: Any) -> None:
    """Raise ModelError unless a model is a Gaussian process regression."""
    remedy = "train a model by solver gp_regression or gp_inducing on numbers as labels, or leave --acquisition out"
    if not isinstance(model, Model) or model.kind != "real":
        raise ModelError("does not predict numbers, so that no variant is best", remedy=remedy)
    if not model.solver.traits.variances:
        raise ModelError(f"has no variances: solver {model.solver.name!r} does not give them", remedy=remedy)
    if model.transforms:
        raise ModelError(
            "transforms its Gram matrix, so that variants have no joint posterior",
            remedy="train without a transform of the matrix",
        )


class _Search:
    """The candidates of a pool and the choice among them, as a maximisation; `sign` is −1 for minimisation."""

    def __init__(
        self, model: Model, n: int, acquisition: str, sign: float, kappa: float, seed: int, n_threads: int | None
    ) -> None:
        self.model, self.acquisition, self.sign, self.kappa = model, acquisition, sign, kappa
        self.seed, self.n_threads = seed, n_threads
        self.factor = 1.0 if model.cut.widths is None else model.cut.widths.factor**2  # of variances
        self.best, self.best_of = self._best_mean()
        self.candidates = Candidates(model, max(LEAST_CANDIDATES, CANDIDATES_PER_VARIANT * n), seed)

    def _best_mean(self) -> tuple[float, str]:
        """Return the best mean and its samples, "training", or "support" if only the support samples are known."""
        model = self.model
        stored = model.record.get(MEANS_KEY)
        if stored is not None:
            return max(self.sign * stored["least"], self.sign * stored["greatest"]), "training"
        means = self.sign * model.decision(model.support, n_threads=self.n_threads)
        return float(means.max()), "training" if len(means) == model.record.get("n") else "support"

    def add(self, X: Any) -> None:
        """Add a chunk of the pool."""
        X, rows = self.candidates.without_known(X)
        if not len(X):
            return
        means, variances = self.model.decision_and_variances(X, n_threads=self.n_threads)
        keys = -self._bound(self.sign * means, np.sqrt(variances.latent))  # type: ignore[union-attr]  # it was checked
        self.candidates.add(X, rows, {"mean": means, "key": keys, "tie": self.candidates.ties(len(X))})

    def _bound(self, means: Floats, deviations: Floats) -> Floats:
        """Return the acquisition of each candidate alone, or an upper bound for Thompson sampling."""
        if self.acquisition == "ei":
            return expected_improvement(means, deviations, self.best)
        kappa = max(self.kappa, WIDEST_BOUND) if self.acquisition == "thompson" else self.kappa
        return means + kappa * deviations

    def chosen(self, n: int) -> NextVariants:
        """Return the chosen batch of n variants."""
        best = self.candidates
        means, covariance = self.sign * best.joined("mean"), self._covariance()
        deviations = np.sqrt(np.diagonal(covariance))
        if self.acquisition == "thompson":
            order, values = draws(means, covariance, n, np.random.default_rng(self.seed))
        else:
            noise = float(self.model.solver.noise_) * self.factor
            order, values = believer(means, covariance, noise, n, self._alone, best.joined("tie"))
        if self.acquisition != "ei":
            values = self.sign * values
        ids = best.ids
        return NextVariants(
            best.rows[order],
            [ids[i] for i in order],
            self.sign * means[order],
            deviations[order],
            values,
            best.n_pool,
            len(means),
            self.sign * self.best,
            best.n_known,
            self.best_of,
        )

    def _alone(self, means: Floats, deviations: Floats, chosen: list[int]) -> Floats:
        """Return the acquisition of each candidate, given that the chosen candidates had their means as results."""
        if self.acquisition == "ei":
            return expected_improvement(means, deviations, max([self.best, *means[chosen].tolist()]))
        return self._bound(means, deviations)

    def _covariance(self) -> Floats:
        """Return the posterior covariance of the candidates."""
        pieces = self.candidates.pieces
        if not pieces:
            return np.empty((0, 0))
        size = len(self.candidates.rows)
        need, free = 8 * size * (MATRICES * size + 2 * len(self.model.support)), available_memory()
        if need > free:
            raise ModelError(
                f"the joint posterior of {size} candidates takes {format_bytes(need)} of memory, {format_bytes(free)} "
                "are free",
                remedy="choose fewer variants (-n)",
            )
        K = [self.model.kernel(piece.X, self.model.support, n_threads=self.n_threads) for piece in pieces]
        prior = kernel_of([piece.X for piece in pieces], self.model, self.n_threads)
        found = covariances(self.model.solver, np.concatenate(K), prior) * self.factor
        found[np.diag_indices_from(found)] = np.maximum(np.diagonal(found), 0.0)
        return found
