"""Which variants of a pool to make and measure next, by a Gaussian process: those that may be best.

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

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.core.checks import check_choice, check_integer, check_real
from seqkern.core.errors import ModelError
from seqkern.core.memory import available_memory, format_bytes
from seqkern.models.batches import believer, draws, expected_improvement
from seqkern.models.candidates import Candidates
from seqkern.models.model import MEANS_KEY, Model
from seqkern.models.suggestion import kernel_of
from seqkern.solvers.gaussian.joint import covariances

Floats = npt.NDArray[np.float64]

ACQUISITIONS = ("ucb", "ei", "thompson")
MANY, LEAST_CANDIDATES = 10, 500
"""Candidates, as a multiple of the variants to choose; and at least."""
WIDEST_BOUND = 3.0
"""Standard deviations of the bound by which candidates for joint draws are chosen."""
MATRICES = 5
"""Of the candidates, at the same time."""


@dataclass(frozen=True, eq=False)
class NextVariants:
    """The variants to make next, in the order in which they were chosen.

    Attributes
    ----------
    rows : ndarray of int64, shape (n,)
        Their places in the pool.
    ids : list of str, length n
    means, deviations : ndarray of float64, shape (n,)
        Of the function, given the training samples.
    values : ndarray of float64, shape (n,)
        Of the acquisition when each was chosen, in the unit of the labels.
    n_pool : int
        Records in the pool without those of `n_known`.
    n_candidates : int
        Of how many of them the joint posterior was computed.
    best : float
        The best mean among the samples that `best_of` names.
    n_known : int or None
        How many were left out, since one with the same sequence was measured; None if the model does not say.
    best_of : {"training", "support"}
        All training samples; or the support samples, the inducing ones, where a model file of an older version holds
        the means of no others.
    """

    rows: npt.NDArray[np.int64]
    ids: list[str]
    means: Floats
    deviations: Floats
    values: Floats
    n_pool: int
    n_candidates: int
    best: float
    n_known: int | None = None
    best_of: str = "training"

    def sentence(self) -> str:
        """Return what they were chosen from, in one line.

        Returns
        -------
        str
        """
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

    For ``ucb`` and ``ei`` the variants of a batch are chosen one after the other, each as if those before had been
    measured, with their means as results: σ falls near them. So a batch is diverse. Copies are chosen once. The joint
    posterior is that of the candidates, at least 500 and ten times as many as wanted, with the greatest μ + κ σ (for
    ``thompson``, κ is at least 3) or expected improvement. Records equal to a training sample are left out.

    Parameters
    ----------
    model : Model
        Of a Gaussian process regression.
    pool : iterable of SequenceSet or FeatureTable
        The variants, in chunks.
    n : int
        How many to choose; fewer if the pool is smaller.
    acquisition : {"ucb", "ei", "thompson"}
        By what.
    minimize : bool
        Whether small labels are wanted.
    kappa : float
        κ, ≥ 0: larger explores more.
    seed : int
        Of the draws, and of ties.
    n_threads : int, optional
        Default: the number of cores.

    Returns
    -------
    NextVariants

    Raises
    ------
    ModelError
        For a model without variances; or if the candidates need more memory than there is.
    ParameterError
        For a number outside its domain.
    SequenceError
        As for `Model.decision`.

    Examples
    --------
    >>> from seqkern.kernels import SpectrumKernel
    >>> from seqkern.models.training import train_model
    >>> from seqkern.sequences.labels import make_labels
    >>> from seqkern.sequences.sequence_set import as_sequences
    >>> X = as_sequences(["AAAA", "AAAC", "AACC", "CCCC"], "dna")
    >>> labels = make_labels(X.ids, [0.1, 0.9, 2.1, 3.9], kind="real")
    >>> model = train_model(X, labels, SpectrumKernel(1, normalize=False), "gp_regression")
    >>> pool = as_sequences(["CACC", "ACCC", "AACA"], "dna")
    >>> found = next_variants(model, [pool], 2)
    >>> found.rows.tolist(), found.means.round(1).tolist()  # to the kernel, the first two are the same
    ([0, 2], [3.0, 1.0])
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
    """Raise ModelError unless a model is a Gaussian process regression.

    Parameters
    ----------
    model : Model or ResidueModel
        Any.

    Raises
    ------
    ModelError
        With the reason.
    """
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
    """The candidates of a pool, and the choice among them, by numbers of a maximum; `sign` is −1 for a minimum."""

    def __init__(
        self, model: Model, n: int, acquisition: str, sign: float, kappa: float, seed: int, n_threads: int | None
    ) -> None:
        self.model, self.acquisition, self.sign, self.kappa = model, acquisition, sign, kappa
        self.seed, self.n_threads = seed, n_threads
        self.best, self.best_of = self._best_mean()
        self.candidates = Candidates(model, max(LEAST_CANDIDATES, MANY * n), seed)

    def _best_mean(self) -> tuple[float, str]:
        """Return the best mean among the training samples, and "training"; or "support" if only these are known."""
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
        """Return the acquisition of each candidate alone; of draws, an upper bound."""
        if self.acquisition == "ei":
            return expected_improvement(means, deviations, self.best)
        kappa = max(self.kappa, WIDEST_BOUND) if self.acquisition == "thompson" else self.kappa
        return means + kappa * deviations

    def chosen(self, n: int) -> NextVariants:
        """Return the batch."""
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
        """Return the acquisition of each candidate if those chosen had their means as results."""
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
