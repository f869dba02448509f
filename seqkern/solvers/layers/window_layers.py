"""Layers that read windows of decisions: a kernel machine, and paths through chains (CRF, chain SVM)."""

import copy
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Literal, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from seqkern.core.archive import nest, unnest
from seqkern.core.memory import available_memory
from seqkern.core.parameters import choice, count, integer, numbers, positive
from seqkern.core.threads import one_thread
from seqkern.core.types import Array, Floats, Ints
from seqkern.formats.residues import Residues, check_window
from seqkern.kernels.features import FeatureBlocks
from seqkern.kernels.vectors.approximation import PackedMap, in_chunks, inverse_root, squares
from seqkern.kernels.vectors.windows import SHAPES, check_position_weights, position_weights
from seqkern.sequences.labels import UNLABELLED
from seqkern.solvers.contract import Solver
from seqkern.solvers.layers import _paths
from seqkern.solvers.layers.chain import Layer
from seqkern.solvers.solver_specs import build_solver, solver_from_state

# Windows of scores around residues, and explicit features of an RBF kernel on them.

TOLERANCE = 1e-6
"""Directions with less than this share of the largest variance of landmarks are single-precision rounding errors."""


class ScoreWindows:
    """Vectors of residues: the scores around each residue, flags of missing neighbours, and means of its chain.

    Scores are standardised to mean 0 and standard deviation 1, chain means to standard deviation 1.
    """

    def __init__(
        self, scores: Floats, means: Floats, chains: Residues, window: int, weights: str | Sequence[float]
    ) -> None:
        self.known = np.zeros((len(scores) + 1, scores.shape[1] + 1), dtype=np.float32)
        self.known[:-1, :-1] = scores
        self.known[-1, -1] = 1.0
        self.means = means.astype(np.float32)
        self.around = chains.neighbours(window // 2)
        # of products and squared distances: coordinates get their roots
        self.weights = np.sqrt(position_weights(weights, window)).astype(np.float32)[:, None]
        self.width = self.known.shape[1] * window + means.shape[1]

    def __len__(self) -> int:
        return len(self.around)

    def of(self, rows: Ints) -> "ScoreWindows":
        """Return the windows of some residues, with access to the scores of the others."""
        some = copy.copy(self)
        some.means, some.around = self.means[rows], self.around[rows]
        return some

    def take(self, rows: slice | Ints) -> npt.NDArray[np.float32]:
        """Return the vectors of the given residues, float32 (rows, width)."""
        around = self.around[rows]
        out = np.empty((len(around), self.width), dtype=np.float32)
        split = self.width - self.means.shape[1]
        np.multiply(self.known[around], self.weights, out=out[:, :split].reshape(*around.shape, -1))
        out[:, split:] = self.means[rows]
        return out


class Landmarks:
    """Features φ with φ(u)·φ(v) ≈ exp(−γ ‖u − v‖²), from the kernel with some vectors of the training set.

    `map` is the inverse square root of the kernel matrix among these vectors, the landmarks.
    """

    def __init__(self, vectors: npt.NDArray[np.float32], map: npt.NDArray[np.float32], gamma: float) -> None:
        self.vectors = vectors
        self.map = map
        self.gamma = gamma
        self._columns = PackedMap(vectors.T)
        self._squares = squares(vectors)

    @cached_property
    def _packed(self) -> PackedMap:
        """The map packed for multiplication; not needed for prediction."""
        return PackedMap(self.map)

    @classmethod
    def draw(cls, windows: ScoreWindows, count: int, gamma: float, seed: int) -> Self:
        """Return `count` landmarks drawn at random from the windows, or all windows if there are fewer."""
        rng = np.random.default_rng(seed)
        vectors = windows.take(np.sort(rng.choice(len(windows), min(count, len(windows)), replace=False)))
        exact = vectors.astype(np.float64)
        lengths = (exact**2).sum(axis=1)
        with one_thread():
            K = np.exp(-gamma * np.maximum(lengths[:, None] + lengths - 2.0 * (exact @ exact.T), 0.0))
            return cls(vectors, inverse_root(K, TOLERANCE), gamma)

    def features(self, windows: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Return the features φ of vectors, float32 (n, features); the bits of a row depend on that row alone."""
        return self._mapped(windows, self._packed)

    def times(self, windows: npt.NDArray[np.float32], weights: Floats) -> Floats:
        """Return φ @ `weights`, float64 (n, k), without computing φ."""
        return self._mapped(windows, PackedMap(self.map @ weights)).astype(np.float64)

    def _mapped(self, windows: npt.NDArray[np.float32], map: PackedMap) -> npt.NDArray[np.float32]:
        """Return the kernel with the landmarks times `map`, float32 (n, columns of `map`)."""

        def values(rows: Ints | slice) -> npt.NDArray[np.float32]:
            chunk = windows[rows]
            near = chunk @ self._columns
            near *= 2.0
            near -= squares(chunk)[:, None]
            near -= self._squares
            near *= np.float32(self.gamma)
            return np.exp(np.minimum(near, 0.0, out=near), out=near)

        return in_chunks(np.arange(len(windows)), values, map, map.shape[1], n_threads=1)


def feature_blocks(windows: ScoreWindows, landmarks: Landmarks | None) -> FeatureBlocks:
    """Return the features of windows, or their vectors if there are no landmarks, computed in blocks on demand."""
    if landmarks is None:
        return FeatureBlocks((len(windows), windows.width), np.float32, windows.take)
    shape = len(windows), landmarks.map.shape[1]
    return FeatureBlocks(
        shape,
        np.float32,
        lambda rows: landmarks.features(windows.take(rows)),
        lambda weights: lambda rows: landmarks.times(windows.take(rows), weights),
    )


class WindowLayer(Layer):
    """Base of layers on windows of scores.

    A window contains the scores of all classes, standardised over the training set, a flag for each missing or
    unknown residue, and the mean scores of the chain.
    """

    window: int = count(21, "Residues in a window, an odd number.")
    position_weights: str | list[float] = numbers(
        default="gaussian",
        low=0,
        words=SHAPES,
        doc="Weight of each position in products and squared distances, as in `WindowKernel`.",
    )
    features: Literal["rbf", "linear"] = choice(
        default="rbf", doc="``rbf``: features of an RBF kernel; ``linear``: the window itself."
    )
    n_components: int = count(500, "Number of landmarks of the RBF features.")
    gamma: float | None = positive(
        None, "γ in exp(−γ ‖u − v‖²) for windows u and v; by default 1 / the number of coordinates of a window."
    )
    seed: int = integer(default=1, low=0, doc="Seed of the landmarks.")

    def _check_parameters(self) -> None:
        check_window(self.window)
        check_position_weights(self.position_weights)
        position_weights(self.position_weights, self.window)

    def _learn_windows(self, scores: Floats, chains: Residues, known: Ints) -> FeatureBlocks:
        """Learn means and standard deviations, draw the landmarks, and return the features of the known rows."""
        self.mean_, self.scale_ = scores.mean(axis=0), _spread(scores)
        self.chain_scale_ = _spread(_chain_means((scores - self.mean_) / self.scale_, chains))
        windows = self._windows(scores, chains).of(known)
        self.landmarks_ = None
        if self.features == "rbf":
            gamma = 1.0 / windows.width if self.gamma is None else self.gamma
            self.landmarks_ = Landmarks.draw(windows, self.n_components, gamma, self.seed)
        return feature_blocks(windows, self.landmarks_)

    def _windows(self, scores: Floats, chains: Residues) -> ScoreWindows:
        """Return the vectors of residues, a ScoreWindows."""
        scores = (scores - self.mean_) / self.scale_
        means = _chain_means(scores, chains) / self.chain_scale_
        return ScoreWindows(scores, means, chains, self.window, self.position_weights)

    def _features(self, scores: Floats, chains: Residues) -> FeatureBlocks:
        """Return the features of residues, FeatureBlocks."""
        return feature_blocks(self._windows(scores, chains), self.landmarks_)

    def _windows_state(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """Return (JSON dict, dict of arrays) of the values learned by `_learn_windows`."""
        arrays: dict[str, Array] = {name: getattr(self, f"{name}_") for name in ("mean", "scale", "chain_scale")}
        if self.landmarks_ is not None:
            arrays |= {"landmarks": self.landmarks_.vectors, "map": self.landmarks_.map}
        return {"gamma": None if self.landmarks_ is None else self.landmarks_.gamma}, arrays

    def _restore_windows(self, header: Mapping[str, Any], arrays: Mapping[str, Array]) -> int:
        """Restore the state returned by `_windows_state`, and return the number of features."""
        k = len(self.classes_)
        for name in ("mean", "scale", "chain_scale"):
            setattr(self, f"{name}_", self._stored(arrays, name, k))
        self.landmarks_, width = None, self.window * (k + 1) + k
        if self.features == "rbf":
            vectors = self._stored(arrays, "landmarks", None, width)
            by = self._stored(arrays, "map", len(vectors), None)
            self.landmarks_, width = Landmarks(vectors, by, float(header["gamma"])), by.shape[1]
        return width


def _spread(values: Floats) -> Floats:
    """Return the standard deviation of each column, 1 where it is 0."""
    spread = values.std(axis=0)
    return np.where(spread > 0, spread, 1.0)


def _chain_means(scores: Floats, chains: Residues) -> Floats:
    """Return the mean score of each row's chain, float64 (n, classes)."""
    _, chain = np.unique(chains.record, return_inverse=True)
    sizes = np.bincount(chain)
    # in order of positions, so that the bits of a chain do not depend on other chains
    order = np.lexsort((chains.place, chains.record))
    sums = np.column_stack([np.bincount(chain[order], column[order]) for column in scores.T])
    return (sums / sizes[:, None])[chain]


# A second classifier on the scores around each residue.


class StructureLayer(WindowLayer):
    """Support vector machine on the scores of the residues around each residue.

    The window contains the scores of all classes, standardised over the training set, and a flag for each missing or
    unknown residue. The mean scores of the chain are added, its apparent helix and strand content. A linear SVM, or one
    with Nyström features of an RBF kernel, learns from these.

    Attributes
    ----------
    mean_, scale_ : ndarray of float64, shape (classes,)
        Mean and standard deviation of the scores.
    chain_scale_ : ndarray of float64, shape (classes,)
        Standard deviation of the mean standardised scores of chains.
    landmarks_ : Landmarks or None
    solver_ : PrimalSVC

    References
    ----------
    Qian, Sejnowski: Predicting the secondary structure of globular proteins using neural network models. J. Mol. Biol.
    202:865, 1988 (the second network on the first one's outputs).
    Rost, Sander: Prediction of protein secondary structure at better than 70% accuracy. J. Mol. Biol. 232:584, 1993.
    Guo, Chen, Sun, Lin: A novel method for protein secondary structure prediction using dual-layer SVM and profiles.
    Proteins 54:738, 2004.
    Williams, Seeger: Using the Nyström method to speed up kernel machines. NIPS 2000.

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern import SequenceSet
    >>> from seqkern.solvers.layers import StructureLayer
    >>> from seqkern.formats import Residues
    >>> chains = SequenceSet.from_strings(["GSAEALKAGPSG", "PGEELLAKAGNG"], "protein")
    >>> residues = Residues.of_chains(chains, window=1)
    >>> states = np.tile([1, 1, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1], 2)
    >>> helix = np.where(states == 0, 1.0, -1.0)
    >>> helix[[5, 23]] *= -0.5  # two residues that are wrong
    >>> scores = np.column_stack([helix, -helix])
    >>> layer = StructureLayer(window=5, features="linear").fit(scores, residues, states, classes=["H", "C"])
    >>> "".join("HC"[state] for state in layer.predict(scores, residues)[:12])
    'CCHHHHHHCCCC'
    """

    name = "structure"
    summary = "A second classifier decides each residue again, from the scores of the residue and its neighbours."

    C: float = positive(1.0, "C, the cost of a margin error.")
    loss: Literal["squared_hinge", "squared"] = choice(default="squared_hinge", doc="Loss of the SVM, see `PrimalSVC`.")

    def _new_solver(self) -> Solver:
        """Return a new solver."""
        return build_solver({"solver": "primal_svc", "C": self.C, "loss": self.loss})

    def _fit(self, scores: Floats, chains: Residues, y: Ints) -> None:
        """Learn means and standard deviations, draw the landmarks, and train the solver."""
        known = np.flatnonzero(y != UNLABELLED)
        blocks = self._learn_windows(scores, chains, known).keep(available_memory() // 4)
        self.solver_ = self._new_solver().fit(blocks, y[known])
        self.not_converged_ = self.solver_.count_not_converged()

    def transform(self, scores: npt.ArrayLike, chains: Residues) -> Floats:
        """Return the decisions of the second classifier; see `Layer.transform`."""
        scores = np.asarray(scores, dtype=np.float64)
        if not len(scores):
            return np.zeros((0, len(self.classes_)))
        decisions = self.solver_.decision_function(self._features(scores, chains))
        return np.column_stack([-decisions / 2, decisions / 2]) if decisions.ndim == 1 else decisions

    def fitted_state(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """Return (JSON dict, dict of arrays) of the values learned by `fit`."""
        solver, arrays = self.solver_.state()
        header, own = self._windows_state()
        return header | {"solver": solver}, nest("solver", arrays) | own

    def restore_fitted(self, header: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
        """Restore the state returned by `fitted_state`."""
        width = self._restore_windows(header, arrays)
        solver: Any = solver_from_state(header["solver"], unnest("solver", arrays))
        self.solver_ = solver
        if solver.n_features_in_ != width or len(solver.classes_) != len(self.classes_):
            raise self._damaged("its parts do not fit")


# The base of layers that choose the labels of a chain together.

PART_ROWS = 256  # Residues whose features are converted to double precision at a time


class Runs(NamedTuple):
    """The rows ordered by chain and position, and the runs of consecutive residues.

    `order` has the row numbers, and `starts` the place in `order` of each run's first row, and n.
    """

    order: Ints  # shape (n,): Row numbers
    starts: Ints  # shape (runs + 1,): First place in `order` of each run, and n

    @classmethod
    def of(cls, chains: Residues) -> "Runs":
        """Return the runs of consecutive residues."""
        order = np.lexsort((chains.place, chains.record))
        apart = (np.diff(chains.record[order]) != 0) | (np.diff(chains.place[order]) != 1)
        starts = np.concatenate(([0], np.flatnonzero(apart) + 1, [len(order)]))
        return cls(order, starts[: len(order) + 1].astype(np.int64))


class PathWeights(NamedTuple):
    """The weights w of a path of labels with score Σ_i (f_i · u_(c_i) + b_(c_i)) + Σ_i t(s_(i−1), c_i).

    f_i are the features of residue i, c_i is its label, and s_i the state: the label and the number of residues
    since its segment began, counted up to `memory` − 1. `labels` is u (d, k), `biases` b (k,), `steps` t (k ·
    memory, k).
    """

    labels: Floats  # shape (d, k): u, a column for each label
    biases: Floats  # shape (k,): b
    steps: Floats  # shape (k · memory, k): t, from a state to a label

    @classmethod
    def zeros(cls, d: int, k: int, memory: int) -> "PathWeights":
        """Return zero weights for d features, k labels and a memory of `memory` residues."""
        return cls(np.zeros((d, k)), np.zeros(k), np.zeros((k * memory, k)))

    def squares(self) -> float:
        """Return the squared norm ‖w‖²."""
        return float(sum((part**2).sum() for part in self))


class Paths(NamedTuple):
    """Labelled runs to learn from: the features and labels of n residues, run after run."""

    blocks: FeatureBlocks  # Features of the n residues, run after run
    y: Ints  # shape (n,): Their labels
    starts: Ints  # shape (runs + 1,): First row of each run, and n
    k: int  # Number of labels
    memory: int  # Residues of a segment that are distinguished

    def indicators(self) -> Floats:
        """Return label indicators, float64 (n, k): 1 for the label of each residue, else 0."""
        out = np.zeros((len(self.y), self.k))
        out[np.arange(len(self.y)), self.y] = 1.0
        return out

    def count_steps(self, y: Ints) -> Floats:
        """Return the number of steps from each state to each label in the paths `y`, shape (k · memory, k)."""
        counts = np.zeros((self.k * self.memory, self.k))
        _paths.add_steps(y, self.starts, counts)
        return counts

    def parts(self) -> Iterator[tuple[slice, Floats]]:
        """Yield the features of slices of residues that fit in the processor's cache, as (slice, features)."""
        for span, block in self.blocks.blocks():
            for start in range(0, len(block), PART_ROWS):
                part = block[start : start + PART_ROWS].astype(np.float64, copy=False)
                yield slice(span.start + start, span.start + start + len(part)), part

    def scores(self, weights: PathWeights) -> Floats:
        """Return the score of each label at each residue, shape (n, k)."""
        out = np.empty((len(self.y), self.k))
        for span, block in self.parts():
            out[span] = block @ weights.labels
        return out + weights.biases

    def sums(self, factors: Floats) -> Floats:
        """Return Σ_i f_i · `factors`_i, shape (d, k), for factors (n, k)."""
        out = np.zeros((self.k, self.blocks.shape[1]))
        columns = np.ascontiguousarray(factors.T)
        for span, block in self.parts():
            out += columns[:, span] @ block
        return np.ascontiguousarray(out.T)


class Learned(NamedTuple):
    """The result of a fit: weights, objective ½‖w‖² + C Σ loss, and convergence.

    `gap` is an upper bound of the objective's distance from its minimum; `iterations` counts passes over all
    residues.
    """

    weights: PathWeights  # The weights
    objective: float  # ½‖w‖² + C Σ loss
    gap: float  # Upper bound of how far that is above its minimum
    iterations: int  # Passes over all residues
    converged: bool  # Whether the gap is small enough


class PathLayer(WindowLayer):
    """Base of layers that score paths of labels: a subclass implements `_learn` and `transform`."""

    decides = True

    memory: int = integer(
        default=1,
        low=1,
        high=50,
        doc="Residues of a segment that are distinguished: a step is scored by the label before it and by how long its "
        "segment is, up to this length. 1 is the chain of first order.",
    )
    C: float = positive(0.03, "C, the cost of the loss of a chain.")
    tol: float = positive(0.01, "The fit has converged when the objective is at most this share above its minimum.")
    max_iter: int = count(500, "Maximum number of passes over the training set.")

    def _learn(self, paths: Paths) -> Learned:
        """Return the weights that minimise the objective."""
        raise NotImplementedError

    def _fit(self, scores: Floats, chains: Residues, y: Ints) -> None:
        """Learn from the runs of residues with a class; their windows see the others too."""
        order = Runs.of(chains).order
        known = order[y[order] != UNLABELLED]
        blocks = self._learn_windows(scores, chains, known).keep(available_memory() // 4)
        starts = Runs.of(chains.take(known)).starts
        found = self._learn(Paths(blocks, y[known], starts, len(self.classes_), self.memory))
        self.weights_, self.objective_, self.gap_, self.iterations_, converged = found
        self.not_converged_ = int(not converged)

    def _over_runs(self, scores: npt.ArrayLike, chains: Residues, find: Any, out: Array) -> Array:
        """Return the output of a function of `_paths` applied to all runs, in the order of the rows."""
        scores = np.asarray(scores, dtype=np.float64)
        if not len(scores):
            return out
        order, starts = Runs.of(chains)
        here = self._features(scores, chains).times(self.weights_.labels) + self.weights_.biases
        found = np.empty_like(out)
        find(np.ascontiguousarray(here[order]), self.weights_.steps, starts, found)
        out[order] = found
        return out

    def predict(self, scores: npt.ArrayLike, chains: Residues) -> Ints:
        """Return the labels on the best path of each chain, int64 (n,)."""
        return self._over_runs(scores, chains, _paths.best_paths, np.empty(len(chains), dtype=np.int64))

    def learned(self) -> dict[str, Any]:
        """Return the number of passes of the fit, its objective, and the bound of its error."""
        return {"passes": self.iterations_, "objective": self.objective_, "gap": self.gap_}

    def fitted_state(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """Return (JSON dict, dict of arrays) of the values learned by `fit`."""
        header, arrays = self._windows_state()
        numbers = {"objective": self.objective_, "gap": self.gap_, "iterations": self.iterations_}
        return header | numbers, arrays | self.weights_._asdict()

    def restore_fitted(self, header: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
        """Restore the state returned by `fitted_state`."""
        d, k = self._restore_windows(header, arrays), len(self.classes_)
        shapes = {"labels": (d, k), "biases": (k,), "steps": (k * self.memory, k)}
        stored = (self._stored(arrays, name, *shape) for name, shape in shapes.items())
        self.weights_ = PathWeights(*(np.ascontiguousarray(one, dtype=np.float64) for one in stored))
        self.objective_, self.gap_ = float(header["objective"]), float(header["gap"])
        self.iterations_ = int(header["iterations"])


# The likelihood of paths of labels, and the weights that maximise it.

MOST_ROWS = 16_384  # Residues whose features scale the coordinates of L-BFGS
CURVATURE = 0.2  # Rough p (1 − p) of a label's probability p at a residue
PAIRS = 20  # Steps that L-BFGS remembers


class PathLikelihood:
    """The objective ½‖w‖² − C log P of the true paths, and its gradient."""

    def __init__(self, paths: Paths, C: float) -> None:
        self.paths = paths
        self.C = C
        self.indicators = paths.indicators()
        self.steps = paths.count_steps(paths.y)

    def weights(self, w: Floats) -> PathWeights:
        """Return the vector of all weights, features first, as PathWeights, which are views of it."""
        d, k = self.paths.blocks.shape[1], self.paths.k
        return PathWeights(w[: d * k].reshape(d, k), w[d * k : (d + 1) * k], w[(d + 1) * k :].reshape(-1, k))

    def value(self, w: Floats) -> tuple[float, Floats]:
        """Return the objective and its gradient, shape (m,), at the weights `w`."""
        weights, paths = self.weights(w), self.paths
        E = paths.scores(weights)
        P, counts = np.empty_like(E), np.zeros_like(self.steps)
        total = _paths.log_shares(E, weights.steps, paths.starts, P, counts)
        true = (E * self.indicators).sum() + (weights.steps * self.steps).sum()
        excess = np.exp(P) - self.indicators
        slopes = paths.sums(excess), excess.sum(axis=0), counts - self.steps
        gradient = w + self.C * np.concatenate([part.ravel() for part in slopes])
        return 0.5 * float(w @ w) + self.C * float(total - true), gradient

    def minimise(self, tol: float, max_iter: int) -> Learned:
        """Return the weights of the minimum, up to a relative gap of `tol`.

        At most `max_iter` values are computed, apart from the last line search's.
        """
        from scipy.optimize import minimize  # imported here for fast start-up

        with one_thread():
            scaled = ScaledWeights(self)
            best: list[tuple[float, float, Floats]] = []
            passes = 0

            def value(v: Floats) -> tuple[float, Floats]:
                nonlocal passes
                passes += 1
                w = scaled.weights(v)
                found, gradient = self.value(w)
                if not best or found <= best[0][0]:
                    best[:] = [(found, 0.5 * float(gradient @ gradient), w)]
                return found, scaled.slopes(gradient)

            def stop(xk: Floats) -> None:
                if best[0][1] <= tol * best[0][0]:
                    raise StopIteration

            options: Any = {"maxcor": PAIRS, "maxiter": max_iter, "maxfun": max_iter, "gtol": 0.0, "ftol": 0.0}
            start = np.zeros(self.steps.size + (self.paths.blocks.shape[1] + 1) * self.paths.k)
            minimize(value, start, jac=True, method="L-BFGS-B", callback=stop, options=options)
            found, gap, w = best[0]
            return Learned(self.weights(w), found, gap, passes, gap <= tol * found)


class ScaledWeights:
    """Coordinates v of the weights w = S v in which L-BFGS takes few steps: Sᵀ H S ≈ 1 for the Hessian H.

    H is approximated by 1 + 0.2 C Σ_i f_i f_iᵀ for each label, the sum over a subset of the residues if there
    are many, and by 1 + 0.2 C times the number of steps from a state.
    """

    def __init__(self, problem: PathLikelihood) -> None:
        n, d = problem.paths.blocks.shape
        rows = np.arange(0, n, -(-n // MOST_ROWS))
        H = np.zeros((d + 1, d + 1))
        for _, block in problem.paths.blocks.take(rows).blocks():
            features = np.column_stack([block.astype(np.float64), np.ones(len(block))])
            H += features.T @ features
        H *= CURVATURE * problem.C * n / len(rows)
        H[np.diag_indices(d + 1)] += 1.0
        self.root = np.linalg.cholesky(H)
        self.k = problem.paths.k
        self.scale = np.sqrt(1.0 + CURVATURE * problem.C * problem.steps.sum(axis=1, keepdims=True))

    def weights(self, v: Floats) -> Floats:
        """Return the weights w for coordinates v, shape (m,)."""
        return self._solved(v, transposed=True)

    def slopes(self, gradient: Floats) -> Floats:
        """Return the gradient with respect to the coordinates, from the gradient with respect to the weights."""
        return self._solved(gradient, transposed=False)

    def _solved(self, values: Floats, *, transposed: bool) -> Floats:
        """Return the product of S or Sᵀ with a vector."""
        from scipy.linalg import solve_triangular  # imported here for fast start-up

        split = len(self.root) * self.k
        labels = values[:split].reshape(-1, self.k)
        labels = solve_triangular(self.root, labels, lower=True, trans="T" if transposed else "N", check_finite=False)
        return np.concatenate([labels.ravel(), (values[split:].reshape(-1, self.k) / self.scale).ravel()])


# The margin of paths of labels, and the weights that maximise it, found by block-coordinate Frank-Wolfe.


class PathMargin:
    """The objective ½‖w‖² + C Σ_r max_c (wrong(c) + score(c) − score(true)) over runs r, and its dual.

    The dual has a distribution of paths for each run; only its means are stored: of the labels of each residue
    (n, k), of the steps (runs, k · memory, k), and of the number of wrong labels (runs,). The weights are C
    times the excess of the true paths over these means.
    """

    def __init__(self, paths: Paths, C: float, seed: int) -> None:
        self.paths = paths
        self.C = C
        self.rng = np.random.default_rng(seed)
        self.true = paths.indicators()
        self.weights = PathWeights.zeros(paths.blocks.shape[1], paths.k, paths.memory)
        self.labels = self.true.copy()
        runs = len(paths.starts) - 1
        self.steps = np.zeros((runs, *self.weights.steps.shape))
        for run in range(runs):
            _paths.add_steps(paths.y[self._rows(run)], self._whole(run), self.steps[run])
        self.wrong = np.zeros(runs)

    def _rows(self, run: int) -> slice:
        """Return the slice of a run's rows."""
        return slice(self.paths.starts[run], self.paths.starts[run + 1])

    def _whole(self, run: int) -> Ints:
        """Return the starts array for a run on its own."""
        return np.array([0, self.paths.starts[run + 1] - self.paths.starts[run]])

    def move(self, run: int) -> float:
        """Move the mean path of a run towards the path that violates the margin most.

        Return the run's duality gap before the move.
        """
        rows, whole, weights = self._rows(run), self._whole(run), self.weights
        block = self.paths.blocks.block(rows.start, rows.stop).astype(np.float64, copy=False)
        E = block @ weights.labels + weights.biases
        path = np.empty(len(E), dtype=np.int64)
        _paths.best_paths(E + 1.0 - self.true[rows], weights.steps, whole, path)
        labels, steps = -self.labels[rows], -self.steps[run]
        labels[np.arange(len(path)), path] += 1.0
        _paths.add_steps(path, whole, steps)
        wrong = np.count_nonzero(path != self.paths.y[rows]) - self.wrong[run]
        gap = self.C * float((labels * E).sum() + (steps * weights.steps).sum() + wrong)
        if gap <= 0.0:
            return 0.0
        change = PathWeights(*(self.C * part for part in ((labels.T @ block).T, labels.sum(axis=0), steps)))
        share = gap / max(gap, change.squares())
        for part, of in zip(weights, change, strict=True):
            part -= share * of
        self.labels[rows] += share * labels
        self.steps[run] += share * steps
        self.wrong[run] += share * wrong
        return gap

    def dual(self) -> float:
        """Return the dual objective, a lower bound of the minimum."""
        return self.C * float(self.wrong.sum()) - 0.5 * self.weights.squares()

    def primal(self) -> float:
        """Return the primal objective."""
        paths = self.paths
        E = paths.scores(self.weights)
        path = np.empty(len(E), dtype=np.int64)
        _paths.best_paths(E + 1.0 - self.true, self.weights.steps, paths.starts, path)
        chosen = np.zeros_like(E)
        chosen[np.arange(len(E)), path] = 1.0
        more = paths.count_steps(path) - paths.count_steps(paths.y)
        loss = np.count_nonzero(path != paths.y) + ((chosen - self.true) * E).sum() + (more * self.weights.steps).sum()
        return 0.5 * self.weights.squares() + self.C * float(loss)

    def minimise(self, tol: float, max_iter: int) -> Learned:
        """Return the weights of the minimum of the primal objective, up to a relative duality gap of `tol`.

        At most `max_iter` passes over all runs are made.
        """
        with one_thread():
            for passes in range(1, max_iter + 1):
                gap = sum(self.move(run) for run in self.rng.permutation(len(self.wrong)))
                # these gaps are of different weights; that of the last ones takes a pass
                if passes < max_iter and gap > tol * (self.dual() + gap):
                    continue
                objective = self.primal()
                gap = objective - self.dual()
                if gap <= tol * objective:
                    break
            return Learned(self.weights, objective, gap, passes, gap <= tol * objective)


# A conditional random field on the paths of labels along chains.


class CrfLayer(PathLayer):
    """Conditional random field: probabilities of whole paths of labels along a chain.

    P(c | f) ∝ exp(Σ_i (f_i · u_(c_i) + b_(c_i)) + Σ_i t(c_(i−1), c_i)) for a path c of labels. f_i are features of the
    scores in the window around residue i, linear or of an RBF kernel as in `StructureLayer`. The weights w = (u, b, t)
    minimise ½‖w‖² − C Σ log P(c | f), over the true paths.

    Attributes
    ----------
    weights_ : PathWeights
    objective_, gap_ : float
        The minimised objective, and an upper bound of its distance from the minimum.
    iterations_ : int
        Passes over the training set.

    Notes
    -----
    A path is a run of residues that all have a class, and follow each other: chains are cut at residues without a
    class, whose scores still are in the windows of the others. At prediction the paths are whole chains, cut only at
    residues without scores.

    `transform` gives the natural logarithms of the probabilities of the labels of each residue, over all paths. Where
    the scores say little, the single most probable path has few and long segments, and far fewer residues right than
    the most probable labels; hence the default of `decode`.

    Gradients are exact, by the forward and backward recursions in logarithms: O(n (d k + k² memory)) for a pass over n
    residues with d features and k labels. L-BFGS takes 15 to 60 passes, in coordinates in which the second derivatives
    without the steps are about 1. The objective less ½‖w‖² is convex, so that the objective is at most ½‖gradient‖²
    above its minimum.

    References
    ----------
    Lafferty, McCallum, Pereira: Conditional random fields: probabilistic models for segmenting and labeling sequence
    data. ICML 2001.
    Sha, Pereira: Shallow parsing with conditional random fields. HLT-NAACL 2003.

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern import SequenceSet
    >>> from seqkern.solvers.layers import CrfLayer
    >>> from seqkern.formats import Residues
    >>> chains = SequenceSet.from_strings(["GSAEALKAGPSG", "PGEELLAKAGNG"], "protein")
    >>> residues = Residues.of_chains(chains, window=1)
    >>> states = np.tile([1, 1, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1], 2)
    >>> helix = np.where(states == 0, 1.0, -1.0)
    >>> helix[[5, 23]] *= -0.5  # two residues that are wrong
    >>> scores = np.column_stack([helix, -helix])
    >>> layer = CrfLayer(window=1, features="linear", C=1).fit(scores, residues, states, classes=["H", "C"])
    >>> "".join("HC"[state] for state in layer.predict(scores, residues)[:12])
    'CCHHHHHHCCCC'
    >>> np.exp(layer.transform(scores, residues)).round(2)[4:7]
    array([[0.98, 0.02],
           [0.78, 0.22],
           [0.98, 0.02]])
    """

    name = "crf"
    summary = "Gives probabilities of whole paths of labels along a chain, by a conditional random field."
    calibrated = True

    decode: Literal["residues", "path"] = choice(
        default="residues",
        doc="What is predicted: the most probable label of each of the ``residues``, over all paths, or the most "
        "probable ``path``.",
    )

    def _learn(self, paths: Paths) -> Learned:
        """Return the weights that minimise ½‖w‖² − C log likelihood."""
        return PathLikelihood(paths, self.C).minimise(self.tol, self.max_iter)

    def transform(self, scores: npt.ArrayLike, chains: Residues) -> Floats:
        """Return natural logarithms of probabilities; see `Layer.transform`."""
        return self._over_runs(scores, chains, _paths.log_shares, np.empty((len(chains), len(self.classes_))))

    def predict(self, scores: npt.ArrayLike, chains: Residues) -> Ints:
        """Return the labels by `decode`, int64 (n,)."""
        if self.decode == "path":
            return super().predict(scores, chains)
        return self.transform(scores, chains).argmax(axis=1)


# A structural SVM on the paths of labels along chains.


class ChainSVMLayer(PathLayer):
    """Structural SVM (hidden Markov SVM): the path of labels with the largest score, by maximum margin.

    The score of a path c is Σ_i (f_i · u_(c_i) + b_(c_i)) + Σ_i t(c_(i−1), c_i). f_i are features of the scores in the
    window around residue i, linear or of an RBF kernel as in `StructureLayer`. The weights w = (u, b, t) minimise
    ½‖w‖² + C Σ max_c (wrong(c) + score(c) − score(true)), wrong(c) the number of wrong labels in c.

    Attributes
    ----------
    weights_ : PathWeights
    objective_, gap_ : float
        The minimised objective, and the duality gap.
    iterations_ : int
        Passes over the training set.

    Notes
    -----
    Residues without a class, or without scores, are treated as by `CrfLayer`. `transform` gives for each label of a
    residue the score of the best path with it, less the mean over the labels.

    Block-coordinate Frank-Wolfe: each step finds the path of a run that violates its margin most, by Viterbi, and moves
    its share of the dual weights there, as far as is best. A pass over n residues with d features and k labels takes
    O(n (d k + k² memory)). It takes 15 passes at small C, and about in proportion more at larger: hundreds for C ≥ 1.

    References
    ----------
    Altun, Tsochantaridis, Hofmann: Hidden Markov support vector machines. ICML 2003.
    Tsochantaridis, Joachims, Hofmann, Altun: Large margin methods for structured and interdependent output variables.
    J. Mach. Learn. Res. 6:1453, 2005.
    Lacoste-Julien, Jaggi, Schmidt, Pletscher: Block-coordinate Frank-Wolfe optimization for structural SVMs. ICML 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern import SequenceSet
    >>> from seqkern.solvers.layers import ChainSVMLayer
    >>> from seqkern.formats import Residues
    >>> chains = SequenceSet.from_strings(["GSAEALKAGPSG", "PGEELLAKAGNG"], "protein")
    >>> residues = Residues.of_chains(chains, window=1)
    >>> states = np.tile([1, 1, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1], 2)
    >>> helix = np.where(states == 0, 1.0, -1.0)
    >>> helix[[5, 23]] *= -0.5  # two residues that are wrong
    >>> scores = np.column_stack([helix, -helix])
    >>> layer = ChainSVMLayer(window=1, features="linear", C=1).fit(scores, residues, states, classes=["H", "C"])
    >>> "".join("HC"[state] for state in layer.predict(scores, residues)[:12])
    'CCHHHHHHCCCC'
    """

    name = "chain_svm"
    summary = "Chooses the labels of a chain together: the path with the largest score, by a structural SVM."

    def _learn(self, paths: Paths) -> Learned:
        """Return the weights that minimise ½‖w‖² + C Σ loss."""
        return PathMargin(paths, self.C, self.seed).minimise(self.tol, self.max_iter)

    def transform(self, scores: npt.ArrayLike, chains: Residues) -> Floats:
        """Return the score of the best path with each label; see `Layer.transform`."""
        out = self._over_runs(scores, chains, _paths.best_scores, np.empty((len(chains), len(self.classes_))))
        return out - out.mean(axis=1, keepdims=True)
