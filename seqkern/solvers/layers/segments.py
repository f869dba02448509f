"""Smoothing of scores along the chain by segments with minimum lengths."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from seqkern.core.checks import check_integer
from seqkern.core.errors import ParameterError
from seqkern.core.parameters import integer, numbers_by_name, share
from seqkern.core.types import Array, Bools, Floats, Ints
from seqkern.formats.residues import Residues
from seqkern.sequences.labels import UNLABELLED
from seqkern.solvers.layers.chain import Layer

# Class probabilities from scores.

# Multinomial logistic regression: class probabilities from scores.

PENALTY = 1.0  # Penalty of squared weights, for standardised scores; negligible for thousands of residues
INTERCEPT_PENALTY = 1e-6
STEPS, SMALLEST_STEP, PRECISION, ROUNDING = 100, 1e-8, 1e-10, 1e-12


def fit_multinomial(scores: Floats, y: Ints, k: int | None = None) -> tuple[Floats, Floats, bool]:
    """Return the weights (d, k) and intercepts (k,) of maximum penalised likelihood, and whether the fit converged.

    log P(c | f) = f · w_c + b_c − log Σ_d exp(f · w_d + b_d); the penalty, subtracted from the log likelihood,
    is ½ Σ w² for the weights of scores with spread 1. Newton's method with halved steps suffices for the
    k(d + 1) unknowns. scikit-learn's LogisticRegression finds the same optimum with `tol=1e-10`; it takes 1.5 to 5
    times as long with three classes (half as long with eight and 40,000 samples), after an import that takes
    longer than either.
    """
    n, d = scores.shape
    k = d if k is None else k
    mean, scale = scores.mean(axis=0), scores.std(axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    X = np.column_stack([(scores - mean) / scale, np.ones(n)])
    target = np.zeros((n, k))
    target[np.arange(n), y] = 1.0
    penalty = np.full((d + 1, 1), PENALTY)
    penalty[d] = INTERCEPT_PENALTY
    W, converged = np.zeros((d + 1, k)), False
    loss, P = _loss(X, y, W, penalty)
    for _ in range(STEPS):
        gradient = X.T @ (P - target) + penalty * W
        if np.abs(gradient).max() <= PRECISION * n:
            converged = True
            break
        direction = -np.linalg.solve(_hessian(X, P, penalty), gradient.T.ravel()).reshape(k, d + 1).T
        slope, step = float((gradient * direction).sum()), 1.0
        while True:
            new = W + step * direction
            new_loss, new_P = _loss(X, y, new, penalty)
            if new_loss <= loss + 1e-4 * step * slope + ROUNDING * abs(loss) or step < SMALLEST_STEP:
                break
            step /= 2
        W, loss, P = new, new_loss, new_P
    weights = W[:d] / scale[:, None]
    return weights, W[d] - mean @ weights, converged


def log_probabilities(scores: npt.ArrayLike, weights: Floats, intercepts: Floats) -> Floats:
    """Return the natural logarithms of the class probabilities, (n, k), for scores (n, d).

    The bits of a row depend on that row alone.
    """
    scores = np.asarray(scores, dtype=np.float64)
    z = np.zeros((len(scores), len(intercepts))) + intercepts
    for column, row in zip(scores.T, weights, strict=True):
        z += column[:, None] * row  # a fixed order of summation, so that a row has the same bits in every batch
    return log_softmax(z)


def log_softmax(z: Floats) -> Floats:
    """Return z − log Σ_c exp(z_c) for each row, shape (n, k)."""
    z = z - z.max(axis=1, keepdims=True)
    return z - np.log(np.exp(z).sum(axis=1, keepdims=True))


def _loss(X: Floats, y: Ints, W: Floats, penalty: Floats) -> tuple[float, Floats]:
    """Return the penalised negative log likelihood, and the probabilities."""
    L = log_softmax(X @ W)
    return float(0.5 * (penalty * W * W).sum() - L[np.arange(len(y)), y].sum()), np.exp(L)


def _hessian(X: Floats, P: Floats, penalty: Floats) -> Floats:
    """Return the second derivatives, with the unknowns of each class in one block."""
    d, k = X.shape[1], P.shape[1]
    H = np.empty((k, d, k, d))
    for a in range(k):
        for b in range(a, k):
            H[a, :, b] = (X * (P[:, a] * ((a == b) - P[:, b]))[:, None]).T @ X
            H[b, :, a] = H[a, :, b].T
    square = H.reshape(k * d, k * d)
    square[np.diag_indices(k * d)] += np.tile(penalty.ravel(), k)
    return square


class ProbabilityLayer(Layer):
    """Multinomial logistic regression on the scores of all classes.

    log P(c | f) = f · w_c + b_c + constant, the multi-class form of Platt's sigmoid. It is fitted to scores of held-out
    residues by maximum likelihood with a small penalty on the weights. It uses no neighbours, so that it also suits
    samples that are not residues.

    Attributes
    ----------
    weights_ : ndarray of float64, shape (classes, classes)
        A column for each class.
    intercepts_ : ndarray of float64, shape (classes,)

    Notes
    -----
    `transform` returns natural logarithms of the probabilities.

    References
    ----------
    Platt: Probabilistic outputs for support vector machines. In: Advances in Large Margin Classifiers, MIT Press 1999.
    Guo, Pleiss, Sun, Weinberger: On calibration of modern neural networks (matrix scaling). ICML 2017.

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern import SequenceSet
    >>> from seqkern.solvers.layers import ProbabilityLayer
    >>> from seqkern.formats import Residues
    >>> residues = Residues.of_chains(SequenceSet.from_strings(["GSAELG"], "protein"), window=1)
    >>> scores = [[-2.0, 2.0], [0.5, -0.5], [1.0, -1.0], [1.5, -1.5], [-0.5, 0.5], [-1.0, 1.0]]
    >>> layer = ProbabilityLayer().fit(scores, residues, [1, 1, 0, 0, 0, 1], classes=["H", "C"])
    >>> np.exp(layer.transform(scores, residues)).round(2)[:3]
    array([[0.12, 0.88],
           [0.64, 0.36],
           [0.75, 0.25]])
    """

    name = "probabilities"
    summary = "Turns scores into probabilities of the states, by logistic regression on held-out residues."
    calibrated = True
    needs_chains = False

    def _fit(self, scores: Floats, chains: Residues, y: Ints) -> None:
        """Learn the weights of maximum likelihood."""
        known = y != UNLABELLED
        self.weights_, self.intercepts_, converged = fit_multinomial(scores[known], y[known])
        self.not_converged_ = int(not converged)

    def transform(self, scores: npt.ArrayLike, chains: Residues) -> Floats:
        """Return natural logarithms of probabilities; see `Layer.transform`."""
        return log_probabilities(np.asarray(scores, dtype=np.float64), self.weights_, self.intercepts_)

    def fitted_state(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """Return (JSON dict, dict of arrays) of the values learned by `fit`."""
        return {}, {"weights": self.weights_, "intercepts": self.intercepts_}

    def restore_fitted(self, header: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
        """Restore the state returned by `fitted_state`."""
        k = len(self.classes_)
        self.weights_ = self._stored(arrays, "weights", k, k)
        self.intercepts_ = self._stored(arrays, "intercepts", k)


# A hidden Markov model of segments with minimum lengths: its best path, and class probabilities.
#
# A class of minimum length m is a row of m states, each followed by the next; the last may repeat, and only
# the last can be followed by another class. All chains advance together, one residue at a time, the longest
# first.


class SegmentModel(NamedTuple):
    """Minimum segment lengths and transition probabilities of k classes.

    `start`, `stay` and `follow` are natural logarithms of probabilities: of the first segment's class, of
    continuing a segment of at least its minimum length, and of a segment of the column's class after one of the
    row's. `weight` is the exponent of these probabilities relative to the evidence; 0 keeps only the minimum
    lengths.
    """

    shortest: Ints  # shape (k,): Minimum length of a segment of each class
    start: Floats  # shape (k,): Natural logarithms of the probabilities of the first segment's class
    stay: Floats  # shape (k,): Of continuing, for a segment with at least its minimum length
    # shape (k, k): Of a segment of the column's class after one of the row's; 0 on the unused diagonal
    follow: Floats
    weight: float = 1.0  # Exponent of these probabilities relative to the evidence; 0 keeps only the minimum lengths

    def states(self) -> tuple[Ints, Ints, Ints]:
        """Return the class of each of the K states, and the first and last states of each class, int64."""
        ends = np.cumsum(self.shortest)
        return np.repeat(np.arange(len(ends)), self.shortest), ends - self.shortest, ends - 1

    def transitions(self) -> Floats:
        """Return the weighted log probabilities of transitions from state (row) to state (column), float64 (K, K)."""
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
    """The processing order of residues, one residue of each chain at a time.

    Each step in `slots` lists the rows of the chains that are not over yet, −1 for a missing residue, the
    longest chain first; so the chains of one step are the first chains of the step before.
    """

    # For each step the rows, −1 for a residue that is not among them, of the chains that are not over yet: the longest
    # first, so that those at one step are the first of those at the step before
    slots: list[Ints]

    @classmethod
    def of(cls, chains: Residues) -> Self:
        """Return the steps over residues, each chain from its first given residue to its last."""
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
        """Return the slice of ``slots[step]`` whose chains end at this step."""
        after = len(self.slots[step + 1]) if step + 1 < len(self.slots) else 0
        return slice(after, len(self.slots[step]))


def best_path(model: SegmentModel, evidence: Floats, steps: Steps) -> Ints:
    """Return the most likely class of each residue, over paths that respect the minimum lengths.

    `evidence` (n, k) has log likelihoods of the classes, up to a constant. A chain shorter than all minimum
    lengths is one segment.
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


def _final_states(value: Floats, model: SegmentModel, length: int) -> Ints:
    """Return the best final state of chains of a given length."""
    _, first, last = model.states()
    # if all minimum lengths exceed the chain, it is one segment
    ends = last if length >= model.shortest.min() else first + length - 1
    return ends[value[:, ends].argmax(axis=1)]


def class_probabilities(model: SegmentModel, evidence: Floats, steps: Steps) -> Floats:
    """Return the probability of each class at each residue, (n, k), over all paths.

    `evidence` (n, k) has log likelihoods of the classes, up to a constant.
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


def _product(rows: Floats, A: Floats) -> Floats:
    """Return the product rows @ A, summed in a fixed order.

    So the bits of a chain do not depend on other chains.
    """
    out = np.zeros((len(rows), A.shape[1]))
    for column, row in zip(rows.T, A, strict=True):
        out += column[:, None] * row
    return out


# Segments of known classes: their lengths and transitions.

RARE = 100  # Inverse of the share of a class's segments that may be shorter than the minimum length


class TrueSegments(NamedTuple):
    """The segments of residues of one class, chain after chain.

    `meets` tells whether the next segment follows directly (no end of a chain, no missing residues), and
    `whole` whether no residue beside the segment is missing, so that it cannot be longer.
    """

    state: Ints  # shape (s,): Class, and number of residues
    length: Ints  # shape (s,): Class, and number of residues
    first: Bools  # shape (s,): Whether it is the first of its chain
    # shape (s,): Whether the next segment follows it: not where a chain ends, or residues are missing
    meets: Bools
    whole: Bools  # shape (s,): Whether no residue is missing beside it, so that it cannot be longer

    @classmethod
    def of(cls, chains: Residues, y: Ints) -> Self:
        """Return the segments of residues with the classes `y`."""
        order = np.lexsort((chains.place, chains.record))
        record, place, state = chains.record[order], chains.place[order], y[order]
        joined = (np.diff(record) == 0) & (np.diff(place) == 1)
        begins = np.flatnonzero(np.concatenate(([True], ~joined | (np.diff(state) != 0))))
        ends = np.append(begins[1:], len(state)) - 1
        follows, meets = (np.append(joined, False)[rows] for rows in (begins - 1, ends))
        at_start, at_end = place[begins] == 0, place[ends] == chains.lengths()[order][ends] - 1
        return cls(
            state[begins],
            ends - begins + 1,
            np.concatenate(([True], np.diff(record[begins]) != 0)),
            meets,
            (follows | at_start) & (meets | at_end),
        )

    def shortest(self, k: int, longest: int) -> Ints:
        """Return the minimum length of each class, from 1 to `longest` residues.

        Fewer than one in `RARE` of the class's whole segments are shorter; it is 1 for a class without whole
        segments.
        """
        out = np.ones(k, dtype=np.int64)
        for code in range(k):
            lengths = np.sort(self.length[self.whole & (self.state == code)])
            if len(lengths):
                out[code] = min(lengths[(len(lengths) - 1) // RARE], longest)
        return out

    def model(self, shortest: Ints) -> SegmentModel:
        """Return the segment model with observed frequencies as probabilities, with a pseudocount of 1.

        Segments shorter than the minimum length count as having this length.
        """
        k, state = len(shortest), self.state
        start = 1.0 + np.bincount(state[self.first], minlength=k)
        stayed = 1.0 + np.bincount(state, np.maximum(self.length - shortest[state], 0), minlength=k)
        left = 1.0 + np.bincount(state[self.meets], minlength=k)
        follow = np.ones((k, k))
        np.add.at(follow, (state[self.meets], state[np.flatnonzero(self.meets) + 1]), 1.0)
        np.fill_diagonal(follow, 0.0)
        follow /= follow.sum(axis=1, keepdims=True)
        np.fill_diagonal(follow, 1.0)
        return SegmentModel(shortest, np.log(start / start.sum()), np.log(stayed / (stayed + left)), np.log(follow))


WEIGHTS = (0.0, 0.05, 0.1, 0.2, 0.35, 0.5)
ARRAYS = ("weights", "intercepts", "context_weights", "context_intercepts", "shares")
LONGEST = 100  # of the shortest lengths
LEAST = np.log(1e-12)  # Lower bound of probabilities, so that a single residue does not exclude a class


class SegmentLayer(Layer):
    """Best path through segments with minimum lengths and learned transitions.

    Scores become probabilities by multinomial logistic regression. Divided by the classes' shares, these are the
    evidence of a hidden Markov model over segments, whose transitions are counted in the true states: it gives
    probabilities of the classes at each residue over all paths. A second regression on both makes the probabilities P
    whose logarithms `transform` gives. `predict` gives the path s of greatest
    Σ log P(s_i) + w · (log P(s) − Σ log share(s_i)) (Viterbi), with P(s) by the model and w the weight: no segment of
    it is shorter than its class allows, but where a chain is shorter than any.

    Attributes
    ----------
    model_ : SegmentModel
    weight_ : float
    weights_, intercepts_, context_weights_, context_intercepts_, shares_ : ndarray of float64
        Weights and intercepts of the regressions, and the logarithms of the classes' shares.

    Notes
    -----
    Missing residues within a chain count as residues without information.

    References
    ----------
    Kabsch, Sander: Dictionary of protein secondary structure. Biopolymers 22:2577, 1983.
    Schmidler, Liu, Brutlag: Bayesian segmentation of protein secondary structure. J. Comput. Biol. 7:233, 2000.
    Bourlard, Morgan: Connectionist speech recognition: a hybrid approach. Kluwer 1994.

    Examples
    --------
    A residue within a helix scores as coil; no training helix is shorter than six residues:

    >>> import numpy as np
    >>> from seqkern import SequenceSet
    >>> from seqkern.solvers.layers import SegmentLayer
    >>> from seqkern.formats import Residues
    >>> chains = SequenceSet.from_strings(["GSAEALKAGPSG", "PGEELLAKAGNG"], "protein")
    >>> residues = Residues.of_chains(chains, window=1)
    >>> states = np.tile([1, 1, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1], 2)
    >>> helix = np.where(states == 0, 1.0, -1.0)
    >>> helix[[5, 23]] *= -0.5
    >>> scores = np.column_stack([helix, -helix])
    >>> layer = SegmentLayer().fit(scores, residues, states, classes=["H", "C"])
    >>> layer.model_.shortest
    array([6, 2])
    >>> "".join("HC"[state] for state in scores.argmax(axis=1)[:12])
    'CCHHHCHHCCCC'
    >>> "".join("HC"[state] for state in layer.predict(scores, residues)[:12])
    'CCHHHHHHCCCC'
    """

    name = "segments"
    summary = "Chooses the states of a chain together, so that no segment is shorter than in the training set."
    calibrated = True
    decides = True

    shortest: dict[str, int] | str | None = numbers_by_name(
        value=integer(low=1, high=LONGEST),
        default=None,
        text=True,
        doc="Shortest segment of each class, in residues, by name or as text such as ``H:3 E:2``; "
        "other classes have 1. By default the shortest true segment, ignoring fewer than 1% of a "
        "class.",
    )
    weight: float | None = share(
        None,
        "w, below 1 because the probabilities already reflect the neighbours. By default the "
        "value, among several, with the most residues correct.",
    )

    def _check_parameters(self) -> None:
        for name, length in (read_lengths(self.shortest) or {}).items():
            check_integer(f"shortest {name}", length, 1, LONGEST)

    def check_classes(self, classes: Sequence[str]) -> None:
        """Raise ParameterError if `shortest` names an unknown class."""
        for name in read_lengths(self.shortest) or {}:
            if name not in classes:
                raise ParameterError(
                    f"layer 'segments': shortest names {name!r}, which is not a class",
                    remedy=f"classes are: {', '.join(classes)}",
                )

    def lengths(self, true: TrueSegments) -> Ints:
        """Return the shortest length of each class.

        Parameters
        ----------
        true : TrueSegments
            Source of the lengths if `shortest` is None.

        Returns
        -------
        ndarray of int64, shape (k,)
            In residues.
        """
        named = read_lengths(self.shortest)
        if named is None:
            return true.shortest(len(self.classes_), LONGEST)
        return np.array([named.get(name, 1) for name in self.classes_], dtype=np.int64)

    def _fit(self, scores: Floats, chains: Residues, y: Ints) -> None:
        """Learn the regressions, the transitions, and the weight of the transitions."""
        k, steps, known = len(self.classes_), Steps.of(chains), np.flatnonzero(y != UNLABELLED)
        y = y[known]
        self.weights_, self.intercepts_, converged = fit_multinomial(scores[known], y)
        self.shares_ = np.log(np.bincount(y, minlength=k) / len(y))
        true = TrueSegments.of(chains.take(known), y)
        self.model_ = true.model(self.lengths(true))
        context = self._context(scores, steps)
        self.context_weights_, self.context_intercepts_, also = fit_multinomial(context[known], y, k)
        self.not_converged_ = (not converged) + (not also)
        found = log_probabilities(context, self.context_weights_, self.context_intercepts_)
        right = {
            weight: np.count_nonzero(self._path(found, steps, weight)[known] == y)
            for weight in (WEIGHTS if self.weight is None else (float(self.weight),))
        }
        self.weight_ = max(right, key=right.__getitem__)

    def _context(self, scores: Floats, steps: Steps) -> Floats:
        """Return the log probabilities of the classes from each residue alone, and over all paths, side by side."""
        alone = np.maximum(log_probabilities(scores, self.weights_, self.intercepts_), LEAST)
        over_paths = class_probabilities(self.model_, alone - self.shares_, steps)
        return np.column_stack([alone, np.log(np.maximum(over_paths, np.exp(LEAST)))])

    def _path(self, found: Floats, steps: Steps, weight: float) -> Ints:
        """Return the best path for log probabilities and a weight of the transitions."""
        model = self.model_._replace(weight=weight)
        return best_path(model, np.maximum(found, LEAST) - weight * self.shares_, steps)

    def transform(self, scores: npt.ArrayLike, chains: Residues) -> Floats:
        """Return natural logarithms of probabilities; see `Layer.transform`."""
        context = self._context(np.asarray(scores, dtype=np.float64), Steps.of(chains))
        return log_probabilities(context, self.context_weights_, self.context_intercepts_)

    def predict(self, scores: npt.ArrayLike, chains: Residues) -> Ints:
        """Return the classes on the best path of each chain, int64 (n,)."""
        return self._path(self.transform(scores, chains), Steps.of(chains), self.weight_)

    def learned(self) -> dict[str, Any]:
        """Return the shortest lengths and the weight, unless they were given."""
        lengths = zip(self.classes_, self.model_.shortest.tolist(), strict=True)
        found = {f"shortest {name}": length for name, length in lengths} if self.shortest is None else {}
        return found | ({"weight": self.weight_} if self.weight is None else {})

    def fitted_state(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """Return (JSON dict, dict of arrays) of the values learned by `fit`."""
        model = self.model_._asdict()
        del model["weight"]  # 1, as it is counted
        return {"weight": self.weight_}, model | {name: getattr(self, f"{name}_") for name in ARRAYS}

    def restore_fitted(self, header: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
        """Restore the state returned by `fitted_state`."""
        self.weight_, k = float(header["weight"]), len(self.classes_)
        shapes = ((k, k), (k,), (2 * k, k), (k,), (k,))
        for name, shape in zip(ARRAYS, shapes, strict=True):
            setattr(self, f"{name}_", self._stored(arrays, name, *shape))
        fields = {"shortest": (k,), "start": (k,), "stay": (k,), "follow": (k, k)}
        parts: dict[str, Any] = {name: self._stored(arrays, name, *shape) for name, shape in fields.items()}
        model = SegmentModel(**parts)
        if model.shortest.dtype != np.int64 or not np.all((model.shortest >= 1) & (model.shortest <= LONGEST)):
            raise self._damaged("its lengths are damaged")
        self.model_ = model


def read_lengths(shortest: dict[str, int] | str | None) -> dict[str, int] | None:
    """Return the minimum lengths by class name, also from text such as ``H:3 E:2``."""
    if shortest is None or isinstance(shortest, dict):
        return shortest
    found = re.findall(r"(\S+?):(\d+)", str(shortest))
    if " ".join(f"{name}:{length}" for name, length in found) != str(shortest).strip():
        raise ParameterError(
            f"shortest={shortest!r} is not possible", remedy="write it as {H: 3, E: 2}, or as text H:3 E:2"
        )
    return {name: int(length) for name, length in found}
