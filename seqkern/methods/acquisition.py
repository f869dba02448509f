"""The choice of the variants of a pool to make and measure next, by a Gaussian process.

References
----------
Srinivas, Krause, Kakade, Seeger: Gaussian process optimization in the bandit setting: no regret and experimental
design. ICML 2010 (upper confidence bounds).
Jones, Schonlau, Welch: Efficient global optimization of expensive black-box functions. Journal of Global Optimization
13, 1998 (expected improvement).
Desautels, Krause, Burdick: Parallelizing exploration-exploitation tradeoffs in Gaussian process bandit optimization.
Journal of Machine Learning Research 15, 2014 (batches).
Ginsbourger, Le Riche, Carraro: Kriging is well-suited to parallelize optimization. In: Computational Intelligence in
Expensive Optimization Problems, Springer 2010 (the kriging believer).
Kandasamy, Krishnamurthy, Schneider, Póczos: Parallelised Bayesian optimisation via Thompson sampling. AISTATS 2018.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

from seqkern.core.checks import check_choice, check_integer, check_real
from seqkern.core.errors import ModelError
from seqkern.core.memory import available_memory, format_bytes
from seqkern.core.threads import one_thread
from seqkern.methods.model import MEANS_KEY, Model
from seqkern.methods.suggestion import Candidates, kernel_of
from seqkern.solvers.gaussian.posterior import covariances

# Batches of variants, chosen from the joint posterior of a Gaussian process; see `seqkern.methods.acquisition`.

Floats = npt.NDArray[np.float64]

SAME = 1e-9
"""Candidates whose functions differ by a variance of less than this share are the same variant."""
JITTER = 1e-10
"""Of the largest variance; what joint draws add to the diagonal first."""


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
) -> tuple[npt.NDArray[np.int64], Floats]:
    """Choose a batch one variant at a time, as if those chosen had been measured with their means as results."""
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


def draws(means: Floats, covariance: Floats, n: int, rng: np.random.Generator) -> tuple[npt.NDArray[np.int64], Floats]:
    """Choose a batch by functions drawn from the joint posterior: the best variant of each that is not chosen yet.

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


def copies_of(place: int, covariance: Floats) -> npt.NDArray[np.bool_]:
    """Return a mask of the duplicates of a candidate, itself included, on which the function cannot differ."""
    diagonal = np.diagonal(covariance)
    apart = diagonal + diagonal[place] - 2 * covariance[place]
    same = apart < SAME * (diagonal + diagonal[place])
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
MANY, LEAST_CANDIDATES = 10, 500
"""Candidates, as a multiple of the variants to choose; and at least."""
WIDEST_BOUND = 3.0
"""Standard deviations of the bound by which candidates for joint draws are chosen."""
MATRICES = 5
"""Of the candidates, at the same time."""


@dataclass(frozen=True, eq=False)
class NextVariants:
    """The variants to make next, in the order of choice.

    `rows` are their places in the pool; `values` are the acquisition values when each was chosen, in the unit
    of the labels. `n_known` is the number of records left out because their sequence was measured, None if
    unknown. `best` is the best mean among the training samples, or among the support samples if only these are
    known (`best_of`).
    """

    rows: npt.NDArray[np.int64]  # shape (n,): Their places in the pool
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
    if not model.solver.gives_variances:
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
        self.best, self.best_of = self._best_mean()
        self.candidates = Candidates(model, max(LEAST_CANDIDATES, MANY * n), seed)

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
        """Return the acquisition of each candidate by itself, or an upper bound for Thompson sampling."""
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
            noise = float(self.model.solver.noise_)
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
        K = [self.model.kernel.kernel(piece.X, self.model.support, n_threads=self.n_threads) for piece in pieces]
        prior = kernel_of([piece.X for piece in pieces], self.model, self.n_threads)
        found = covariances(self.model.solver, np.concatenate(K), prior)
        found[np.diag_indices_from(found)] = np.maximum(np.diagonal(found), 0.0)
        return found
