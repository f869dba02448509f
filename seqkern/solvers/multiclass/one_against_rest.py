"""Several classes by one binary classifier for each."""

from collections.abc import Iterator
from functools import partial
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from seqkern.core.parameters import component
from seqkern.solvers.base import count_rows
from seqkern.solvers.contract import Solver
from seqkern.solvers.multiclass.binary_ensemble import BinaryEnsemble, Task, against_rest


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
    >>> K = SpectrumKernel(k=2).kernel(repeats)
    >>> solver = OneAgainstRest(CSVC()).fit(K, ["CA", "CA", "GT", "GT", "AT", "AT"])
    >>> solver.classes_.tolist()
    ['AT', 'CA', 'GT']
    >>> solver.decision_function(K).argmax(axis=1)
    array([1, 1, 2, 2, 0, 0])
    """

    name = "one_against_rest"
    summary = "One classifier for each class against all others; the largest decision wins."

    @property
    def margin(self) -> float | None:  # type: ignore[override]  # constant of other solvers
        """That of the binary solver: a row is within it if one of its decisions is."""
        return getattr(self.binary, "margin", None)

    binary: Solver = component(
        "solver",
        kw_only=False,
        doc="The binary solver; each class trains a clone on all rows, its own as 1, the others as −1.",
    )

    def tasks(self, classes: npt.NDArray[Any]) -> Iterator[Task]:
        """Yield all classes, and for each of them its rows as 1, the others as −1."""
        for place in range(len(classes)):
            yield np.arange(len(classes)), partial(against_rest, place)

    @classmethod
    def examples(cls) -> list[Self]:
        """Return solvers for the contract suite."""
        # imported here: only the contract suite needs it
        from seqkern.solvers.psvm.psvm import PSVC
        from seqkern.solvers.svm.svm import CSVC

        return [cls(CSVC(C=5.0, tol=1e-6)), cls(PSVC())]

    def _decide(self, K: Any, columns: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """Return the classifiers' decisions, (m, classes)."""
        out = np.empty((count_rows(K), len(self.classes_)))
        for place, classifier in enumerate(self.machines_):
            out[:, place] = classifier._decide(K, columns[classifier.support_])
        return out
