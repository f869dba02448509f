"""Several classes from a binary machine for each of them."""

import numpy as np

from seqkern.core.parameters import component
from seqkern.solvers.base import count_rows
from seqkern.solvers.contract import Solver
from seqkern.solvers.multiclass.binary_ensemble import BinaryMachines
from seqkern.solvers.psvm.psvm import PSVC
from seqkern.solvers.svm.svm import CSVC


class OneAgainstRest(BinaryMachines):
    """One machine for each class against all others; the class with the largest decision is predicted.

    Attributes
    ----------
    machines_ : list of Solver
        One for each class, restricted to the columns `support_`.

    Notes
    -----
    Vapnik 1998; Rifkin & Klautau 2004. All machines learn from one matrix, which none of them copies. The decisions are
    compared as they are: they are of one scale where the margins are. For a binary solver with weights of classes these
    are called 1 and −1.
    """

    name = "one_against_rest"
    plain = "One machine for each class against all others; the largest decision wins."

    binary: Solver = component(
        "solver",
        kw_only=False,
        doc="The binary solver; each class trains a clone on all rows, its own as 1, the others as −1.",
    )

    def tasks(self, classes):
        """Yield all classes, and for each of them its rows as 1, the others as −1."""
        for place in range(len(classes)):
            yield np.arange(len(classes)), lambda y, place=place: np.where(y == place, 1, -1)

    @classmethod
    def examples(cls):
        """Return solvers that the contract suite tests."""
        return [cls(CSVC(C=5.0, tol=1e-6)), cls(PSVC())]

    def _decide(self, K, columns):
        """Return the machines' decisions, (m, classes)."""
        out = np.empty((count_rows(K), len(self.classes_)))
        for place, machine in enumerate(self.machines_):
            out[:, place] = machine._decide(K, columns[machine.support_])
        return out
