"""Early methods for secondary structure: GOR, and a network with one hidden layer."""

import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from scipy.special import expit, log_softmax

from seqkern.core.errors import GramError, ParameterError
from seqkern.core.parameters import count, flag, integer, not_negative, positive, share
from seqkern.core.threads import one_thread
from seqkern.core.types import Array, Bools, Floats, Ints
from seqkern.solvers import shared
from seqkern.solvers.capabilities import Effort, Search, Traits
from seqkern.solvers.contract import AnyClassSolver, stored

if TYPE_CHECKING:
    from sklearn.neural_network import MLPClassifier
    from sklearn.utils import Tags


# GOR: the information of residues in a window, single or in pairs, on the class of its centre.

LETTERS_OF = "choose the kernel window with vector_kernel=linear and encoding=one_hot"  # Features encoding residues


class GOR(AnyClassSolver):
    r"""GOR method: information of the residues in a window on the state of its centre.

    Attributes
    ----------
    log_odds_ : ndarray of float64, shape (c,)
        L(S).
    information_ : ndarray of float64, shape (w, letters + 1, c)
        I(S; a_m); 0 for a residue absent there in the training set.
    pair_information_ : ndarray of float64, shape (w (w − 1) / 2, letters + 1, letters + 1, c)
        I(S; a_m, a_k) in the order (0, 1), (0, 2), …; without `pairs` there are none.
    report_ : dict
        ``objective`` is the share of training rows that it misclassifies.

    Notes
    -----
    Each position m of the window holds a residue a_m. For a class S against all others, n−S, the information of a
    residue is I(S; a_m) = ln P(a_m | S) − ln P(a_m | n−S), and for a pair I(S; a_m, a_k) likewise. With the log
    odds of the class, L(S) = ln P(S) − ln P(n−S), and w residues in the window, the decision of GOR I is

    .. math:: L(S) + \sum_m I(S; a_m)

    the log odds of S if residues were independent in each class. GOR IV counts pairs:

    .. math:: L(S) + (2/w) \sum_{m<k} I(S; a_m, a_k) − ((w − 2)/w) \sum_m I(S; a_m)

    The decision constants of the original, chosen so that each class is predicted as often as it occurs, are the log
    odds L(S) here.

    Complexity: O(n·w) for n rows, O(n·w²/2) with pairs; 4 w bytes for each row, besides a block of features.

    References
    ----------
    Garnier, Osguthorpe, Robson: Analysis of the accuracy and implications of simple methods for predicting the
    secondary structure of globular proteins. Journal of Molecular Biology 120, 1978.

    Garnier, Gibrat, Robson: GOR method for predicting protein secondary structure from amino acid sequence. Methods in
    Enzymology 266, 1996.

    Examples
    --------
    The alphabet has two residues, P and G; a window has two positions, with one feature per residue:

    >>> from seqkern.solvers import GOR
    >>> X = [[1, 0, 1, 0], [1, 0, 1, 0], [1, 0, 0, 1], [0, 1, 0, 1], [0, 1, 0, 1], [0, 1, 1, 0]]
    >>> solver = GOR(letters=2).fit(X, ["coil", "coil", "coil", "helix", "helix", "helix"])
    >>> solver.predict([[1, 0, 0, 1], [0, 1, 0, 1]]).tolist()
    ['coil', 'helix']
    >>> solver.information_[0, 1:, 1].round(2)  # of P and G at the first position about helix
    array([-1.95,  1.95])
    """

    name = "gor"
    learned = stored(log_odds="log_odds_", information="information_", pair_information="pair_information_")
    summary = "GOR: the information of each residue in a window, or each pair, on the class of its centre."
    declared = Traits(blocks=True, selects=False, search=Search(order=("-pair_pseudocount", "-pseudocount")))
    input = "features"

    letters: int = integer(
        default=21,
        low=1,
        high=10_000,
        doc="Number of features for each position, as in one-hot windows: 20 amino acids and the "
        "terminus. The one feature above zero is the residue, the others are 0; a position "
        "without one, beyond an end or unknown, counts as a residue of its own, first in the "
        "tables.",
    )
    pairs: bool = flag(default=False, doc="Count pairs of positions (GOR IV).")
    pseudocount: float = not_negative(
        1.0, "Pseudocount added to the residues of a class at each position, distributed as in all classes."
    )
    pair_pseudocount: float = not_negative(
        300.0, "Pseudocount added to the pairs of a class, distributed as if residues were independent."
    )

    tested_with = ({"letters": 1}, {"letters": 1, "pairs": True, "pair_pseudocount": 1.0})

    def _fit(self, K: Any, y: Array) -> dict[str, Any]:
        """Count residues and pairs of residues in each class, and return the report."""
        if K.shape[1] % self.letters:
            raise ParameterError(
                f"letters={self.letters} is not possible with {K.shape[1]} features",
                remedy=f"give the number of features of each position; {LETTERS_OF}",
            )
        self.support_ = np.arange(K.shape[1])
        codes, y = self._codes(K, self.support_), y.astype(np.int64)
        rows = np.bincount(y).astype(np.float64)
        self.log_odds_ = np.log(rows) - np.log(rows.sum() - rows)
        probabilities = self._learn_letters(codes, y)
        self._learn_pairs(codes, y, probabilities)
        wrong = np.mean(self._scores(codes).argmax(axis=1) != y)
        return {"objective": float(wrong)}

    def _codes(self, K: Any, columns: Ints) -> npt.NDArray[np.int32]:
        """Return the residue code at each position of each row, int32 (n, w); 0 where no feature is above zero."""
        w = len(columns) // self.letters
        codes = np.empty((K.shape[0], w), dtype=np.int32)
        for part, block in shared.blocks_of_columns(K, columns):
            block = block.reshape(len(block), w, self.letters)
            largest = block.argmax(axis=2)
            found = np.take_along_axis(block, largest[:, :, None], 2)[:, :, 0] > 0
            self._check_letters(block, found, part.start)
            codes[part] = np.where(found, largest + 1, 0)
        return codes

    def _check_letters(self, block: Array, found: Bools, start: int) -> None:
        """Raise GramError if a position has several non-zero features, or a negative one."""
        if self.letters == 1:
            return
        odd = np.argwhere(np.count_nonzero(block, axis=2) != found)
        if len(odd):
            row, place = odd[0]
            raise GramError(
                f"row {start + row}: the features of position {place + 1} are not one-hot: one must be above 0 and "
                f"the other {self.letters - 1} are 0",
                remedy=LETTERS_OF,
            )

    def _learn_letters(self, codes: npt.NDArray[np.int32], y: Ints) -> list[Floats]:
        """Set `information_`; return P(a_m | S) and P(a_m | n−S), each (w, letters + 1, c)."""
        c, size = len(self.log_odds_), self.letters + 1
        own = np.array([_counts(column, y, size, c) for column in codes.T])
        total = own.sum(axis=2, keepdims=True)
        added = self.pseudocount * _shares(total, axis=1)
        found = [_shares(counts + added, axis=1) for counts in (own, total - own)]
        self.information_ = _log_ratio(*found)
        return found

    def _learn_pairs(self, codes: npt.NDArray[np.int32], y: Ints, probabilities: list[Floats]) -> None:
        """Set the pair information, `pair_information_`."""
        c, size = len(self.log_odds_), self.letters + 1
        places = list(itertools.combinations(range(codes.shape[1] if self.pairs else 0), 2))
        self.pair_information_ = np.empty((len(places), size, size, c))
        for information, (m, k) in zip(self.pair_information_, places, strict=True):
            own = _counts(codes[:, m] * size + codes[:, k], y, size**2, c)
            counts = own, own.sum(axis=1, keepdims=True) - own
            expected = [(given[m, :, None] * given[k, None]).reshape(own.shape) for given in probabilities]
            found = [_shares(n + self.pair_pseudocount * p, axis=0) for n, p in zip(counts, expected, strict=True)]
            information[:] = _log_ratio(*found).reshape(size, size, c)

    def _scores(self, codes: npt.NDArray[np.int32]) -> Floats:
        """Return the decision value of each class, float64 (n, c)."""
        singles = np.zeros((len(codes), len(self.log_odds_)))
        for table, column in zip(self.information_, codes.T, strict=True):
            singles += table[column]
        if not self.pairs:
            return singles + self.log_odds_
        w, pairs = codes.shape[1], np.zeros_like(singles)
        for table, (m, k) in zip(self.pair_information_, itertools.combinations(range(w), 2), strict=True):
            pairs += table[codes[:, m], codes[:, k]]
        return self.log_odds_ + (2.0 * pairs - (w - 2.0) * singles) / w

    def _decide(self, K: Any, columns: Ints) -> Floats:
        """Return the log odds of each class, or of the second of two classes."""
        scores = self._scores(self._codes(K, columns))
        return scores[:, 1] if len(self.log_odds_) == 2 else scores

    def __sklearn_tags__(self) -> "Tags":
        """Return scikit-learn's tags, which announce a poor score on general numeric data."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags


def _counts(codes: Array, y: Ints, size: int, c: int) -> Floats:
    """Return the number of times that each code occurs in each class, float64 (size, c)."""
    return np.bincount(codes.astype(np.int64) * c + y, minlength=size * c).reshape(size, c).astype(np.float64)


def _shares(counts: Floats, axis: int) -> Floats:
    """Return counts normalised along an axis; 0 where there are no counts."""
    total = counts.sum(axis=axis, keepdims=True)
    return np.divide(counts, total, out=np.zeros_like(counts), where=total > 0)


def _log_ratio(own: Floats, others: Floats) -> Floats:
    """Return the log ratio ln own − ln others; 0 if either is 0."""
    known = (own > 0) & (others > 0)
    return np.log(np.where(known, own, 1.0)) - np.log(np.where(known, others, 1.0))


# A neural network with one hidden layer, as in early secondary structure prediction.

LEAST = 1e-4  # Minimum decrease of the mean −ln P for a pass to count as better


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
    summary = "Neural network with one hidden layer, trained until held-out groups no longer improve."
    declared = Traits(
        blocks=True,
        groups=True,
        selects=False,
        search=Search({"hidden": [5, 10, 20, 40]}, order=("hidden",)),
        effort=Effort(products=1000.0),
    )
    input = "features"

    hidden: int = count(10, "Hidden units.")
    alpha: float = not_negative(0.01, "α, the penalty on squared weights.")
    learning_rate: float = positive(1e-3, "Initial learning rate of Adam.")
    batch_size: int = count(200, "Rows per step.")
    validation: float = share(
        0.1,
        "Share of the training groups (or rows) held out for early stopping. With 0, all rows are learned from, and "
        "their loss decides.",
        open_high=True,
    )
    patience: int = count(5, "Passes without improvement after which training stops.")
    max_epochs: int = count(200, "Maximum number of passes.")
    seed: int = shared.random_seed(
        "Seed of the initial weights, the order of the rows, and the held-out groups.", largest=2**32 - 1
    )

    tested_with = ({"hidden": 4, "learning_rate": 0.2, "batch_size": 10, "validation": 0.2, "patience": 3},)

    def _fit(self, K: Any, y: Array, groups: npt.ArrayLike | None = None) -> dict[str, Any]:
        """Train pass by pass, keep the best network, and return the report."""
        from sklearn.neural_network import MLPClassifier  # imported here: scikit-learn slows start-up

        learned, held = self._divided(shared.order_by_content(K, y, self.seed), groups)
        X, Z = shared.gathered(K, learned), shared.gathered(K, held)
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
        report = {"converged": stopped, "iterations": epochs, "residual": 0.0, "objective": best}
        return {**report, "best_epoch": best_epoch, "remedy": "raise max_epochs or learning_rate"}

    def _divided(self, order: Ints, groups: npt.ArrayLike | None) -> tuple[Ints, Ints]:
        """Return the training and early-stopping rows, in `order`; the same rows if no group is held out."""
        names = order if groups is None else np.unique(np.asarray(groups), return_inverse=True)[1][order]
        several = np.unique(names)
        number = min(round(self.validation * len(several)), len(several) - 1)
        if not number:
            return order, order
        drawn = order if groups is None else np.random.default_rng(self.seed).permutation(several)
        held = np.isin(names, drawn[:number])
        return order[~held], order[held]

    def _pass(self, network: "MLPClassifier", X: Array, y: Array) -> None:
        """Make one training pass over the rows."""
        try:
            network.partial_fit(X, y, classes=np.arange(len(self.classes_)))
        except ValueError as error:  # weights that are no longer finite
            raise ParameterError(
                f"learning_rate={self.learning_rate} diverges: {error}", remedy="choose a smaller learning_rate"
            ) from error

    def _decide(self, K: Any, columns: Ints) -> Floats:
        """Return the log odds of the second of two classes, or ln P of each class."""
        logits = _logits(K, columns, self.weights_, self.biases_)
        return logits[:, 0] if logits.shape[1] == 1 else log_softmax(logits, axis=1)

    def fitted_state(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """Return the weights and biases."""
        weights = dict(zip(("hidden_weights", "output_weights"), self.weights_, strict=True))
        return {}, weights | dict(zip(("hidden_biases", "output_biases"), self.biases_, strict=True))

    def restore_fitted(self, header: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
        """Restore the state returned by `fitted_state`."""
        self.weights_ = [arrays["hidden_weights"], arrays["output_weights"]]
        self.biases_ = [arrays["hidden_biases"], arrays["output_biases"]]


def _logits(K: Any, columns: Ints, weights: Sequence[Array], biases: Sequence[Array]) -> Floats:
    """Return the outputs before the final activation, float64 (n, outputs)."""
    out = np.empty((K.shape[0], len(biases[1])))
    with one_thread():
        for part, block in shared.blocks_of_columns(K, columns):
            hidden = expit(shared.fixed_product(block, weights[0]) + biases[0])
            out[part] = shared.fixed_product(hidden, weights[1]) + biases[1]
    return out


def _mean_loss(logits: Floats, y: Array) -> float:
    """Return the mean loss, −ln P(y | x)."""
    if logits.shape[1] == 1:
        return float(np.mean(np.logaddexp(0.0, np.where(y == 1, -logits[:, 0], logits[:, 0]))))
    return float(-np.mean(log_softmax(logits, axis=1)[np.arange(len(y)), y]))
