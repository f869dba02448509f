"""A neural network with one hidden layer, as in early secondary structure prediction."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt
from scipy.special import expit, log_softmax

from seqkern.core.errors import ParameterError
from seqkern.core.parameters import integer, real
from seqkern.core.threads import one_thread
from seqkern.solvers.base import AnyClassSolver
from seqkern.solvers.feature_rows import blocks_of_columns, fixed_product, gathered, order_by_content
from seqkern.solvers.shared import random_seed

if TYPE_CHECKING:
    from sklearn.neural_network import MLPClassifier  # scikit-learn slows start-up

LEAST = 1e-4
"""Minimum decrease of the mean −ln P for a pass to count as better."""


class Network(AnyClassSolver):
    r"""Neural network with one hidden layer and one output for each class.

    Training (scikit-learn's MLPClassifier, Adam) stops when the loss on a held-out part of the training groups has not
    fallen for `patience` passes; the weights of the best pass are kept.

    Attributes
    ----------
    weights_ : list of two ndarray
        V as (d, hidden) and W as (hidden, outputs), of the precision of the features; for two classes one output.
    biases_ : list of two ndarray
        v and w.
    report_ : dict
        ``objective`` is the mean of −ln P on the stopping set, ``best_epoch`` (int) the pass whose weights are kept.

    Notes
    -----
    With the hidden units h = σ(V x + v), the outputs z = W h + w and P = softmax(z), it minimises

    .. math:: −mean_i \ln P(y_i | x_i) + (α / 2m) (‖V‖^2 + ‖W‖^2)

    with m the rows of a batch. Qian & Sejnowski used one-hot windows of 13 residues and 40 hidden units; the number of
    units hardly matters. They chose the pass on the test set; here a part of the training set decides. If that part has
    relatives among the rows learned from, training continues for too long: keep relatives in one group. Rows are sorted
    by content before they are shuffled, and BLAS has one thread, so that the fit depends neither on the order of the
    rows nor on threads.

    Complexity: O(n·d·hidden) per pass for n rows with d features; memory for all features as one matrix.

    References
    ----------
    Qian, Sejnowski: Predicting the secondary structure of globular proteins using neural network models. Journal of
    Molecular Biology 202, 1988.

    Examples
    --------
    >>> from seqkern.solvers import Network
    >>> X = [[1, 0, 1, 0], [1, 0, 1, 0], [1, 0, 0, 1], [0, 1, 0, 1], [0, 1, 0, 1], [0, 1, 1, 0]]
    >>> solver = Network(hidden=3, learning_rate=0.1, validation=0, max_epochs=60)
    >>> solver = solver.fit(X, ["coil", "coil", "coil", "helix", "helix", "helix"])
    >>> solver.predict([[1, 0, 1, 0], [0, 1, 0, 1]]).tolist()
    ['coil', 'helix']
    >>> [weights.shape for weights in solver.weights_]
    [(4, 3), (3, 1)]
    """

    name = "network"
    fit_products = 1000.0
    summary = "Neural network with one hidden layer, trained until held-out groups no longer improve."
    input = "features"
    accepts_blocks = True
    selects = False
    accepts_groups = True

    hidden: int = integer(default=10, low=1, doc="Hidden units.")
    alpha: float = real(default=0.01, low=0, doc="α, the penalty on squared weights.")
    learning_rate: float = real(default=1e-3, low=0, open_low=True, doc="Initial learning rate of Adam.")
    batch_size: int = integer(default=200, low=1, doc="Rows per step.")
    validation: float = real(
        default=0.1,
        low=0,
        high=1,
        open_high=True,
        doc="Share of the training groups (or rows) held out for early stopping. With 0, all rows are "
        "learned from, and their loss decides.",
    )
    patience: int = integer(default=5, low=1, doc="Passes without improvement after which training stops.")
    max_epochs: int = integer(default=200, low=1, doc="Maximum number of passes.")
    seed: int = random_seed(
        "Seed of the initial weights, the order of the rows, and the held-out groups.", largest=2**32 - 1
    )

    @classmethod
    def default_grid(cls) -> dict[str, list[Any]]:
        """Return the numbers of hidden units that a search tries."""
        return {"hidden": [5, 10, 20, 40]}

    def complexity(self) -> tuple[float, ...]:
        """Return (hidden units,)."""
        return (float(self.hidden),)

    @classmethod
    def examples(cls) -> list[Self]:
        """Return solvers for the contract suite."""
        return [cls(hidden=4, learning_rate=0.2, batch_size=10, validation=0.2, patience=3)]

    def _fit(self, K: Any, y: npt.NDArray[Any], groups: npt.ArrayLike | None = None) -> dict[str, Any]:
        """Train pass by pass, and keep the best."""
        from sklearn.neural_network import MLPClassifier  # imported here: scikit-learn slows start-up

        learned, held = self._divided(order_by_content(K, y, self.seed), groups)
        X, Z = gathered(K, learned), gathered(K, held)
        network = MLPClassifier(
            (self.hidden,),
            activation="logistic",
            alpha=self.alpha,
            learning_rate_init=self.learning_rate,
            batch_size=min(self.batch_size, len(learned)),
            random_state=self.seed,
        )
        self.support_ = np.arange(K.shape[1])
        best, best_epoch, epochs = np.inf, 0, 0
        with one_thread():
            while epochs < self.max_epochs and epochs - best_epoch < self.patience:
                self._pass(network, X, y[learned])
                epochs += 1
                loss = _mean_loss(_logits(Z, self.support_, network.coefs_, network.intercepts_), y[held])
                if loss < best - LEAST:
                    best, best_epoch = loss, epochs
                    self.weights_ = [weights.copy() for weights in network.coefs_]
                    self.biases_ = [biases.copy() for biases in network.intercepts_]
        stopped = epochs - best_epoch >= self.patience
        remark = {} if stopped else {"remark": "raise max_epochs or learning_rate"}
        report = {"converged": stopped, "iterations": epochs, "residual": 0.0, "objective": best}
        return {**report, "best_epoch": best_epoch, **remark}

    def _divided(
        self, order: npt.NDArray[np.int64], groups: npt.ArrayLike | None
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return the training and stopping rows, in `order`; the same rows if no group is held out."""
        names = order if groups is None else np.unique(np.asarray(groups), return_inverse=True)[1][order]
        several = np.unique(names)
        number = min(round(self.validation * len(several)), len(several) - 1)
        if not number:
            return order, order
        drawn = order if groups is None else np.random.default_rng(self.seed).permutation(several)
        held = np.isin(names, drawn[:number])
        return order[~held], order[held]

    def _pass(self, network: "MLPClassifier", X: npt.NDArray[Any], y: npt.NDArray[Any]) -> None:
        """Make one pass over the rows."""
        try:
            network.partial_fit(X, y, classes=np.arange(len(self.classes_)))
        except ValueError as error:  # weights that are no longer finite
            raise ParameterError(
                f"learning_rate={self.learning_rate} diverges: {error}", remedy="choose a smaller learning_rate"
            ) from error

    def _decide(self, K: Any, columns: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """Return the log odds of the second class, or ln P of each."""
        logits = _logits(K, columns, self.weights_, self.biases_)
        return logits[:, 0] if logits.shape[1] == 1 else log_softmax(logits, axis=1)

    def fitted_state(self) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        """Return the weights and biases."""
        weights = dict(zip(("hidden_weights", "output_weights"), self.weights_, strict=True))
        return {}, weights | dict(zip(("hidden_biases", "output_biases"), self.biases_, strict=True))

    def restore_fitted(self, header: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Restore what `fitted_state` returned."""
        self.weights_ = [arrays["hidden_weights"], arrays["output_weights"]]
        self.biases_ = [arrays["hidden_biases"], arrays["output_biases"]]


def _logits(
    K: Any, columns: npt.NDArray[np.int64], weights: Sequence[npt.NDArray[Any]], biases: Sequence[npt.NDArray[Any]]
) -> npt.NDArray[np.float64]:
    """Return the outputs before the final activation, float64 (n, outputs)."""
    out = np.empty((K.shape[0], len(biases[1])))
    with one_thread():
        for part, block in blocks_of_columns(K, columns):
            hidden = expit(fixed_product(block, weights[0]) + biases[0])
            out[part] = fixed_product(hidden, weights[1]) + biases[1]
    return out


def _mean_loss(logits: npt.NDArray[np.float64], y: npt.NDArray[Any]) -> float:
    """Return the mean of −ln P(y | x)."""
    if logits.shape[1] == 1:
        return float(np.mean(np.logaddexp(0.0, np.where(y == 1, -logits[:, 0], logits[:, 0]))))
    return float(-np.mean(log_softmax(logits, axis=1)[np.arange(len(y)), y]))
