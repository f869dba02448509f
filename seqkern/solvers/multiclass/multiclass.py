"""Several classes by binary classifiers: pairs, one against the rest, along a list."""

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from seqkern.core.archive import nest, unnest
from seqkern.core.errors import ParameterError
from seqkern.core.parameters import component, labels
from seqkern.core.types import Array, Bools, Floats, Ints
from seqkern.kernels.kernel_operator import KernelOperator
from seqkern.solvers.capabilities import Search, Traits
from seqkern.solvers.checking import checked_matrix
from seqkern.solvers.contract import BinarySolver, ClassSolver, Solver, check_is_fitted, clone, count_rows
from seqkern.solvers.costs import FitCost, FitWork
from seqkern.solvers.shared import class_of, take_rows
from seqkern.solvers.solver_specs import solver_from_state

# Base of solvers built from a binary solver, whose input and requirements they inherit.


class MetaSolver(ClassSolver):
    """Base of solvers with a parameter `binary`, a binary solver that gets the same data."""

    binary: Solver
    # Traits that are the binary solver's
    inherited: ClassVar[tuple[str, ...]] = ("sparse", "blocks", "operator", "selects", "semidefinite", "asymmetric")

    @property
    def input(self) -> str:  # type: ignore[override]  # an attribute of the class in other solvers
        """Kind of input that the binary solver takes."""
        return getattr(self.binary, "input", "gram")

    @property
    def traits(self) -> Traits:
        """Traits of the class, with those inherited from the binary solver."""
        binary = getattr(self.binary, "traits", self.declared)
        return self.declared.but(**{name: getattr(binary, name) for name in self.inherited})

    def _check_parameters(self) -> None:
        if not isinstance(self.binary, Solver) or "binary" not in self.binary.targets:
            raise ParameterError(f"binary={self.binary!r} is not possible", remedy="give a binary solver")
        self.binary.check_parameters()

    def fit_cost(self, work: FitWork) -> FitCost:
        """Return the binary solver's cost on the same samples: one fit for two classes, else one per class."""
        each = self.binary.fit_cost(work.part(work.n))
        return each.times(1 if work.classes < 3 else work.classes)


class Wrapper(MetaSolver, BinarySolver):
    """Base of binary solvers that decide by one fitted binary solver, `machine_`, less a threshold."""

    threshold_ = 0.0

    def check_labels(self, y: Array, groups: npt.ArrayLike | None = None) -> None:
        """Raise ParameterError if the binary solver would."""
        self.binary.check_labels(y, groups)

    def _decide(self, K: Any, columns: Ints) -> Floats:
        """Return the binary solver's decisions minus the threshold."""
        return self.machine_._decide(K, columns[self.machine_.support_]) - self.threshold_

    def linear(self) -> tuple[Floats, float] | None:
        """Return the binary solver's coefficients on all columns, and its constant minus the threshold."""
        found = self.machine_.linear()
        return None if found is None else (self._on_columns(found[0]), found[1] - self.threshold_)

    def _wrap(self, found: Solver, threshold: float = 0.0, rows: Ints | None = None) -> None:
        """Set `machine_` to a fitted solver, on some training rows or all, `support_` and the threshold."""
        self.support_ = found.support_ if rows is None else rows[found.support_]
        self.machine_: Solver = found.restrict(found.support_)
        self.threshold_ = threshold


# Shared base of multi-class solvers built from binary classifiers: training, warm starts, reports, state.

Task: TypeAlias = tuple[Ints, Callable[[Ints], Array]]
"""Indices of the classes of a binary classifier, and the function from class indices to its labels."""


class BinaryEnsemble(MetaSolver):
    """Base of solvers that train several binary classifiers; subclasses implement `tasks` and `_decide`.

    `machines_` holds a classifier for each task, restricted to the columns `support_`.
    """

    targets = ("multiclass",)
    declared = Traits(search=Search(order=("binary",)))
    inherited = (*MetaSolver.inherited, "groups")

    def tasks(self, classes: Array) -> Iterator[Task]:
        """Yield, for each binary classifier, its classes and a function from class indices to its two labels."""
        raise NotImplementedError

    def check_labels(self, y: Array, groups: npt.ArrayLike | None = None) -> None:
        """Raise ParameterError if the labels of any classifier do not suit the binary solver's parameters."""
        classes, codes = np.unique(y, return_inverse=True)
        for places, code in self.tasks(classes):
            rows = np.isin(codes, places)
            labels = code(codes[rows])
            try:
                self.binary.check_labels(labels, None if groups is None else np.asarray(groups)[rows])
            except ParameterError as error:
                second = labels == np.unique(labels)[-1]
                positive, others = np.asarray(y)[rows][second][0], np.unique(np.asarray(y)[rows][~second])
                rest = others[0] if len(others) == 1 else "the rest"
                raise ParameterError(f"{positive} against {rest}: {error.problem}", remedy=error.remedy) from error

    def _fit(self, K: Any, y: Array, groups: npt.ArrayLike | None = None) -> dict[str, Any]:
        """Train the binary classifiers, and return the report."""
        tasks = list(self.tasks(self.classes_))
        chain = hasattr(self, "_before")  # sequential fits
        starts = self._left(str(self.name)) or ()
        starts = starts if len(starts) == len(tasks) else [None] * len(tasks)
        records = self.input == "gram" or isinstance(K, KernelOperator)
        trained, columns = [], []
        for (places, code), start in zip(tasks, starts, strict=True):
            rows = np.flatnonzero(np.isin(y, places))
            own_groups = None if groups is None else np.asarray(groups)[rows]
            classifier, data = clone(self.binary), (self._of(K, rows, len(y)), code(y[rows]), own_groups)
            trained.append(classifier.fit_after(start, *data) if chain else classifier.fit(*data))
            columns.append(rows[classifier.support_] if records else classifier.support_)
        self._warm = {str(self.name): trained}
        self.support_ = np.unique(np.concatenate(columns))
        size = len(self.support_)
        self.machines_ = [
            classifier.renumber(np.searchsorted(self.support_, own), size)
            for classifier, own in zip(trained, columns, strict=True)
        ]
        return summary([classifier.report_ for classifier in self.machines_])

    def _of(self, K: Any, rows: Ints, n: int) -> Any:
        """Return the binary solver's input for some of the n records; `K` itself for all."""
        if len(rows) == n:
            return K
        if self.input == "gram" and not isinstance(K, KernelOperator):
            return K[np.ix_(rows, rows)]
        return take_rows(K, rows)

    def fitted_state(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """Return the states of the classifiers."""
        headers, arrays = [], {}
        for number, classifier in enumerate(self.machines_):
            header, own = classifier.state()
            headers.append(header)
            arrays.update(nest(str(number), own))
        return {"machines": headers}, arrays

    def restore_fitted(self, header: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
        """Restore the classifiers from the output of `fitted_state`."""
        self.machines_ = [
            solver_from_state(one, unnest(str(number), arrays)) for number, one in enumerate(header["machines"])
        ]


def against_rest(place: int, codes: Ints) -> Ints:
    """Return labels for one class against the rest: 1 for its rows, −1 for the others."""
    return np.where(codes == place, 1, -1)


def summary(reports: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the joint report of several classifiers: worst residual and gap, summed iterations and objectives."""
    worst = {
        key: max(report[key] for report in reports if report.get(key) is not None)
        for key in ("constant_columns", "gap")
        if any(report.get(key) is not None for report in reports)
    }
    inner = [report["inner_not_converged"] for report in reports if "inner_not_converged" in report]
    remarks = [report["remark"] for report in reports if "remark" in report]
    return {
        **worst,
        **({"remark": remarks[0]} if remarks else {}),
        **({"inner_not_converged": sum(inner)} if inner else {}),
        "converged": all(report["converged"] for report in reports),
        "iterations": sum(report["iterations"] for report in reports),
        "residual": max(report["residual"] for report in reports),
        "objective": sum(report["objective"] for report in reports),
        "machines": len(reports),
    }


def squashed(values: Floats) -> Floats:
    """Return s / (3 (1 + |s|)) of the numbers s: order-preserving and within ±1/3, so that it only breaks ties."""
    return values / (3 * (1 + np.abs(values)))


# Multi-class solver along a list of classes: each classifier separates one class from all later ones.


class BinaryTree(BinaryEnsemble):
    r"""One classifier fewer than classes: each separates a class from all later ones.

    Attributes
    ----------
    machines_ : list of Solver
        One for each class of the order but the last, restricted to the columns `support_`.
    order_ : ndarray of int64, shape (classes,)
        The places in `classes_` of the classes in their order.

    Notes
    -----
    With f_k the decision of class k against the later ones, in the order of the classes, class k has the value

    .. math:: \min(−f_1(x), …, −f_{k−1}(x), f_k(x))

    without f_k for the last class; the largest value is predicted. These are the tree decoders of protein secondary
    structure of Hua & Sun: SVM_TREE1 is ``[H, E, C]``, SVM_TREE2 ``[E, C, H]``, SVM_TREE3 ``[C, H, E]`` (swapping the
    last two changes nothing).

    Complexity: c − 1 binary fits for c classes, on fewer and fewer rows.

    References
    ----------
    Hua, Sun: A novel method of protein secondary structure prediction with high segment overlap measure: support vector
    machine approach. Journal of Molecular Biology 308, 2001.

    Examples
    --------
    >>> from seqkern import SequenceSet
    >>> from seqkern.kernels import SpectrumKernel
    >>> from seqkern.solvers import CSVC, BinaryTree
    >>> regions = ["MKLVLLAV", "MRLLVALL", "DEKDEEKD", "EKDDKEED", "GPGSGPSG", "SGPGGSPG"]
    >>> states = ["membrane", "membrane", "helix", "helix", "coil", "coil"]
    >>> K = SpectrumKernel(k=1)(SequenceSet.from_strings(regions, "protein"))
    >>> tree = BinaryTree(CSVC(), order=["membrane", "helix", "coil"]).fit(K, states)
    >>> tree.predict(K[::2]).tolist()
    ['membrane', 'helix', 'coil']
    >>> len(tree.machines_)
    2
    """

    name = "binary_tree"
    summary = "Separates one class from the rest, then a second one from what is left, and so on."

    binary: Solver = component(
        "solver",
        kw_only=False,
        doc="The binary solver; each step trains a clone on the rows of its class (1) and of later classes (−1).",
    )
    order: list[str] | None = labels(
        default=None,
        kw_only=False,
        list_parameter=True,
        doc="Order in which the classes are decided; by default that of the labels. For helix, strand "
        "and coil, ``[H, E, C]`` first separates helix from the rest, then strand from coil.",
    )

    def _check_parameters(self) -> None:
        super()._check_parameters()
        good = self.order is None or (isinstance(self.order, (list, tuple)) and len(self.order) > 1)
        if not good or (self.order is not None and len(set(map(str, self.order))) < len(self.order)):
            raise ParameterError(
                f"order={self.order!r} is not possible", remedy="list every class once, like order: [H, E, C]"
            )

    def check_labels(self, y: Array, groups: npt.ArrayLike | None = None) -> None:
        """Raise ParameterError if the order does not match the classes, or a classifier cannot learn them."""
        self._places(np.unique(y))
        super().check_labels(y, groups)

    def tasks(self, classes: Array) -> Iterator[Task]:
        """Yield each class of the order with the later ones, and labels 1 for its rows and −1 for the others."""
        order = self._places(classes)
        for level, own in enumerate(order[:-1]):
            yield order[level:], partial(against_rest, own)

    tested_with = ("binary_tree:binary=(primal_svc:tol=1e-9)",)

    @property
    def order_(self) -> Ints:
        """The index of each class in the order."""
        return self._places(self.classes_)

    def _places(self, classes: Array) -> Ints:
        """Return the indices of `classes` in their order along the list, int64 (c,)."""
        if self.order is None:
            return np.arange(len(classes))
        known = classes.tolist()
        meant = [class_of(name, classes) for name in self.order]
        if sorted(map(str, meant)) != sorted(map(str, known)):
            raise ParameterError(
                f"order={self.order!r} is not of these classes",
                remedy=f"list each class once: {', '.join(map(str, known))}",
            )
        return np.array([known.index(name) for name in meant])

    def _decide(self, K: Any, columns: Ints) -> Floats:
        """Return the smallest decision on the path to each class, (m, classes)."""
        out = np.empty((count_rows(K), len(self.classes_)))
        rest = np.full(len(out), np.inf)
        order = self.order_
        for own, classifier in zip(order, self.machines_, strict=False):
            decision = classifier._decide(K, columns[classifier.support_])
            out[:, own] = np.minimum(rest, decision)
            rest = np.minimum(rest, -decision)
        out[:, order[-1]] = rest
        return out


# Multi-class solver with one binary classifier for each class against the rest.


class OneAgainstRest(BinaryEnsemble):
    r"""One classifier for each class against all others; the largest decision is predicted.

    Attributes
    ----------
    machines_ : list of Solver
        One for each class, restricted to the columns `support_`.

    Notes
    -----
    With f_c the decision of class c against the rest, it predicts

    .. math:: \arg\max_c f_c(x)

    All classifiers learn from one matrix without copying it. Decisions are compared as they are: they have one scale if
    the margins do. In a binary solver with class weights, the classes are 1 and −1.

    Complexity: c binary fits on all rows for c classes.

    References
    ----------
    Vapnik: Statistical Learning Theory. Wiley, 1998.

    Rifkin, Klautau: In defense of one-vs-all classification. Journal of Machine Learning Research 5, 2004.

    Examples
    --------
    >>> from seqkern import SequenceSet
    >>> from seqkern.kernels import SpectrumKernel
    >>> from seqkern.solvers import CSVC, OneAgainstRest
    >>> repeats = SequenceSet.from_strings(["ACACAC", "CACACA", "GTGTGT", "TGTGTG", "ATATAT", "TATATA"], "dna")
    >>> K = SpectrumKernel(k=2)(repeats)
    >>> solver = OneAgainstRest(CSVC()).fit(K, ["CA", "CA", "GT", "GT", "AT", "AT"])
    >>> solver.classes_.tolist()
    ['AT', 'CA', 'GT']
    >>> solver.decision_function(K).argmax(axis=1)
    array([1, 1, 2, 2, 0, 0])
    """

    name = "one_against_rest"
    summary = "One classifier for each class against all others; the largest decision wins."

    # a row is within the margin if one of its decisions is within the binary solver's
    inherited = (*BinaryEnsemble.inherited, "margin")

    binary: Solver = component(
        "solver",
        kw_only=False,
        doc="The binary solver; each class trains a clone on all rows, its own as 1, the others as −1.",
    )

    def tasks(self, classes: Array) -> Iterator[Task]:
        """Yield all classes for each class, with labels 1 for its rows and −1 for the others."""
        for place in range(len(classes)):
            yield np.arange(len(classes)), partial(against_rest, place)

    tested_with = ("one_against_rest:binary=(csvc:C=5,tol=1e-6)", "one_against_rest:binary=psvc")

    def _decide(self, K: Any, columns: Ints) -> Floats:
        """Return the classifiers' decisions, (m, classes)."""
        out = np.empty((count_rows(K), len(self.classes_)))
        for place, classifier in enumerate(self.machines_):
            out[:, place] = classifier._decide(K, columns[classifier.support_])
        return out


# Multi-class solvers with a binary classifier for each pair of classes: voting, or a decision graph.

CHUNK_ROWS = 4096  # Rows predicted at a time
PAIR_SECONDS = 1.2e-3  # CPU seconds of a pair's classifier, with its decisions, however few samples there are


class PairwiseEnsemble(BinaryEnsemble):
    """Base of solvers with a classifier for each pair of classes, trained on the rows of these two."""

    binary: Solver = component(
        "solver",
        kw_only=False,
        doc="The binary solver; each pair trains a clone on the rows of its two classes (and, for a "
        "Gram matrix, columns).",
    )

    def fit_cost(self, work: FitWork) -> FitCost:
        """Return the cost of the binary solver for all pairs of equal-sized classes, each with a copy of its matrix."""
        n_pairs = work.classes * (work.classes - 1) / 2
        pair = work.part(2 * work.n / max(2, work.classes))
        each = self.binary.fit_cost(pair)
        copied = 8 * pair.n * pair.width if work.gives in ("gram", "features") and n_pairs > 1 else 0
        own = PAIR_SECONDS if n_pairs > 1 else 0.0
        return FitCost(n_pairs * (each.seconds + own + copied * 1e-9), each.bytes + copied)

    @classmethod
    def examples(cls) -> list[Self]:
        """Return example solvers for the contract tests."""
        from seqkern.solvers.svm.svm import CSVC  # imported here: only the contract suite needs it

        return [cls(CSVC(tol=1e-6))]

    def tasks(self, classes: Array) -> Iterator[Task]:
        """Yield the pairs of classes, with the names of the two classes as labels."""
        for pair in itertools.combinations(range(len(classes)), 2):
            yield np.array(pair), lambda y: classes[y]

    def pairs(self) -> Iterator[tuple[int, int]]:
        """Yield the pairs of class indices, the smaller first, in the order of `machines_`."""
        return itertools.combinations(range(len(self.classes_)), 2)

    def classifier(self, a: int, b: int) -> Solver:
        """Return the binary classifier of classes a < b, for matrices with all columns of K.

        Its decision is above zero for `b`.
        """
        classifier = self.machines_[list(self.pairs()).index((a, b))]
        return classifier.renumber(self.support_[classifier.support_], self.n_features_in_)


class PairwiseVoting(PairwiseEnsemble):
    r"""One classifier for each pair of classes; the class that wins most pairs is predicted.

    Attributes
    ----------
    machines_ : list of Solver
        One for each pair (a, b) of classes, a before b, restricted to the columns `support_`.

    Notes
    -----
    With f_ab the decision of the classifier of classes a and b, above zero for b and f_ba = −f_ab, it predicts

    .. math:: \arg\max_c \sum_{a ≠ c} [f_{ac}(x) > 0]

    Ties are broken by the sum of the decisions of a class against all others, then by the order of the classes.
    `predict` evaluates no pair of classes that can no longer win, and stops when only one can.

    Complexity: c(c − 1)/2 binary fits for c classes, each on the rows of two classes.

    References
    ----------
    Knerr, Personnaz, Dreyfus: Single-layer learning revisited: a stepwise procedure for building and training a neural
    network. In: Neurocomputing, Springer, 1990.

    Kreßel: Pairwise classification and support vector machines. In: Advances in Kernel Methods, MIT Press, 1999.

    Examples
    --------
    >>> from seqkern import SequenceSet
    >>> from seqkern.kernels import SpectrumKernel
    >>> from seqkern.solvers import CSVC, PairwiseVoting
    >>> repeats = SequenceSet.from_strings(["ACACAC", "CACACA", "GTGTGT", "TGTGTG", "ATATAT", "TATATA"], "dna")
    >>> K = SpectrumKernel(k=2)(repeats)
    >>> solver = PairwiseVoting(CSVC()).fit(K, ["CA", "CA", "GT", "GT", "AT", "AT"])
    >>> solver.predict(K[::2]).tolist()
    ['CA', 'GT', 'AT']
    >>> solver.decision_function(K[:1]).round().astype(int).tolist()  # votes for AT, CA and GT
    [[1, 2, 0]]
    """

    name = "pairwise_voting"
    summary = "One classifier for each pair of classes; the class that wins most pairs is predicted."

    def predict(self, K: Any) -> Array:
        """Return the predicted class of each row of `K`, shape (m,): the decision function's, with fewer decisions."""
        check_is_fitted(self)
        K = checked_matrix(self, K, reset=False)
        m = count_rows(K)
        parts = [np.arange(start, min(start + CHUNK_ROWS, m)) for start in range(0, m, CHUNK_ROWS)]
        return self.classes_[
            np.concatenate([self._winners(K if len(part) == m else take_rows(K, part)) for part in parts])
        ]

    def _decide(self, K: Any, columns: Ints) -> Floats:
        """Return the votes for each class, with ties broken."""
        decisions = np.empty((count_rows(K), len(self.machines_)))
        for j, classifier in enumerate(self.machines_):
            decisions[:, j] = classifier._decide(K, columns[classifier.support_])
        return self._counted(decisions)

    def _counted(self, decisions: Floats) -> Floats:
        """Return the votes (m, classes), with ties broken, for decisions (m, pairs); NaN marks unevaluated pairs."""
        votes = np.zeros((len(decisions), len(self.classes_)))
        sums = np.zeros_like(votes)
        for (a, b), decision in zip(self.pairs(), decisions.T, strict=True):
            votes[:, b] += decision > 0
            votes[:, a] += decision <= 0
            known = np.nan_to_num(decision)
            sums[:, b] += known
            sums[:, a] -= known
        return votes + squashed(sums)

    def _winners(self, K: Any) -> Ints:
        """Return the predicted class indices, evaluating pairs until the winner of each row is certain."""
        game = Game(len(self.classes_))
        decisions = np.full((count_rows(K), len(self.machines_)), np.nan)
        rows = np.arange(len(decisions))
        while len(rows):
            chosen = game.next_pair(decisions[rows])
            rows, chosen = rows[chosen >= 0], chosen[chosen >= 0]
            for j in np.unique(chosen):
                own, classifier = rows[chosen == j], self.machines_[j]
                part = K if len(own) == len(decisions) else take_rows(K, own)
                decisions[own, j] = np.nan_to_num(classifier._decide(part, self.support_[classifier.support_]))
        counted = self._counted(decisions)
        # classes that cannot win have not met all others, so their sums are meaningless
        counted[~game.standing(decisions)[2]] = -np.inf
        return np.argmax(counted, axis=1)


Standing: TypeAlias = tuple[Floats, Floats, Bools]


class Game:
    """State of the voting: the pairs of classes that remain to be evaluated."""

    def __init__(self, c: int) -> None:
        self.first, self.second = np.triu_indices(c, 1)
        self.member = np.zeros((len(self.first), c), dtype=bool)
        places = np.arange(len(self.first))
        self.member[places, self.first] = self.member[places, self.second] = True

    def standing(self, decisions: Floats) -> Standing:
        """Return each row's votes, remaining pairs, and classes that can still win or tie, each (m, c).

        In `decisions`, (m, pairs), NaN marks a pair that is not evaluated; above zero, the second class wins.
        """
        member = self.member.astype(np.float64)
        won = np.where(decisions > 0, 1.0, 0.0), np.where(decisions <= 0, 1.0, 0.0)
        c = self.member.shape[1]
        votes = won[0] @ np.eye(c)[self.second] + won[1] @ np.eye(c)[self.first]
        left = np.isnan(decisions) @ member
        return votes, left, votes + left >= votes.max(axis=1, keepdims=True)

    def next_pair(self, decisions: Floats) -> Ints:
        """Return the index of the pair to evaluate next for each row; −1 if the winner is certain.

        It pairs the class with the most votes, among those that can win, with another that can win if there is one.
        """
        votes, left, alive = self.standing(decisions)
        leader = np.argmax(np.where(alive & (left > 0), votes + 1, 0.0), axis=1)
        worth = np.isnan(decisions) * (self.member[:, leader].T + (alive @ self.member.T) / 4.0)
        chosen = np.argmax(worth, axis=1)
        open_ = (alive & (left > 0)).any(axis=1) & (alive.sum(axis=1) > 1)
        return np.where(open_, chosen, -1)


class DecisionDAG(PairwiseEnsemble):
    r"""One classifier for each pair of classes, evaluated along a decision graph.

    Attributes
    ----------
    machines_ : list of Solver
        One for each pair (a, b) of classes, a before b, restricted to the columns `support_`.

    Notes
    -----
    The classes form a list. The classifier of its first and last class removes the loser until one class is left. With
    f_ab above zero for b, and a and b the first and last of the list S,

    .. math:: S ← S − [a] if f_{ab}(x) > 0, else S ← S − [b]

    The prediction depends on the order of the classes.

    Complexity: c(c − 1)/2 binary fits for c classes; c − 1 decisions per row.

    References
    ----------
    Platt, Cristianini, Shawe-Taylor: Large margin DAGs for multiclass classification. NIPS 12, 2000.

    Examples
    --------
    >>> from seqkern import SequenceSet
    >>> from seqkern.kernels import SpectrumKernel
    >>> from seqkern.solvers import CSVC, DecisionDAG
    >>> repeats = SequenceSet.from_strings(["ACACAC", "CACACA", "GTGTGT", "TGTGTG", "ATATAT", "TATATA"], "dna")
    >>> K = SpectrumKernel(k=2)(repeats)
    >>> solver = DecisionDAG(CSVC()).fit(K, ["CA", "CA", "GT", "GT", "AT", "AT"])
    >>> solver.predict(K[::2]).tolist()
    ['CA', 'GT', 'AT']
    >>> len(solver.machines_), "classifiers; two decide about each record"
    (3, 'classifiers; two decide about each record')
    """

    name = "decision_dag"
    summary = "One classifier for each pair of classes; each decision rules one class out, until one is left."

    def _decide(self, K: Any, columns: Ints) -> Floats:
        """Return the decisions after descending the graph, one node for all its rows at a time."""
        c, m = len(self.classes_), count_rows(K)
        out = np.zeros((m, c))
        first, last = np.zeros(m, dtype=np.int64), np.full(m, c - 1)
        places = {pair: j for j, pair in enumerate(self.pairs())}
        for gone in range(c - 1):
            for a in range(gone + 1):
                b = a + c - 1 - gone
                rows = np.flatnonzero((first == a) & (last == b))
                if not len(rows):
                    continue
                classifier = self.machines_[places[a, b]]
                decision = classifier._decide(take_rows(K, rows), columns[classifier.support_])
                out[rows, a], out[rows, b] = gone + squashed(-decision), gone + squashed(decision)
                second = decision > 0
                out[rows, np.where(second, b, a)] += 1  # the winner is removed later, or never
                first[rows[second]] = a + 1
                last[rows[~second]] = b - 1
        return out
