"""Several classes along a list: each classifier separates one class from all later ones."""

from collections.abc import Iterator
from functools import partial
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import ParameterError
from seqkern.core.parameters import component, labels
from seqkern.solvers.base import count_rows
from seqkern.solvers.class_weights import class_of
from seqkern.solvers.contract import Solver
from seqkern.solvers.multiclass.binary_ensemble import BinaryEnsemble, Task, against_rest


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
    >>> K = SpectrumKernel(k=1).kernel(SequenceSet.from_strings(regions, "protein"))
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

    def check_labels(self, y: npt.NDArray[Any], groups: npt.ArrayLike | None = None) -> None:
        """Raise ParameterError if the order does not match the classes, or a classifier cannot learn them."""
        self._places(np.unique(y))
        super().check_labels(y, groups)

    def tasks(self, classes: npt.NDArray[Any]) -> Iterator[Task]:
        """Yield each class of the order with those after it, and its rows as 1, the others as −1."""
        order = self._places(classes)
        for level, own in enumerate(order[:-1]):
            yield order[level:], partial(against_rest, own)

    @classmethod
    def examples(cls) -> list[Self]:
        """Return solvers for the contract suite."""
        from seqkern.solvers.svm.primal import PrimalSVC  # imported here: only the contract suite needs it

        return [cls(PrimalSVC(tol=1e-9))]

    @property
    def order_(self) -> npt.NDArray[np.int64]:
        """The places of the classes in their order."""
        return self._places(self.classes_)

    def _places(self, classes: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        """Return the places of `classes` in their order, int64 (c,)."""
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

    def _decide(self, K: Any, columns: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
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
