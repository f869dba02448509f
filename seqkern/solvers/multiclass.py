"""Several classes from a binary solver: pairwise voting."""

import itertools

import numpy as np
from sklearn.base import clone

from ..archive import nest, unnest
from ..errors import ParameterError
from ..kernels.implicit import Implicit
from .base import ClassSolver, Solver, count_rows
from .specs import solver_from_state


class PairwiseVoting(ClassSolver):
    """One machine for each pair of classes; the class that wins most of its pairs is predicted.

    Parameters
    ----------
    binary : Solver
        The binary solver; each pair trains a clone on its own rows (and, for a Gram matrix, columns).

    Attributes
    ----------
    machines_ : list of Solver
        One for each pair (a, b) of classes, a before b, restricted to the columns `support_`.

    Notes
    -----
    Knerr, Personnaz & Dreyfus 1990; Kreßel 1999. Ties between classes with equally many votes are broken by
    the sum of their decisions against all others, and after that by the order of the classes.
    """

    name = "pairwise-voting"
    targets = ("multiclass",)

    def __init__(self, binary):
        self.binary = binary

    @property
    def input(self):
        """What the binary solver takes."""
        return getattr(self.binary, "input", "gram")

    @property
    def needs_semidefinite(self):
        """Whether the binary solver needs a positive semi-definite matrix."""
        return getattr(self.binary, "needs_semidefinite", False)

    def check_parameters(self):
        """Raise ParameterError unless `binary` is a binary solver with good parameters."""
        if not isinstance(self.binary, Solver) or "binary" not in self.binary.targets:
            raise ParameterError(f"binary={self.binary!r} is not possible", remedy="give a binary solver")
        self.binary.check_parameters()

    def complexity(self):
        """Return that of the binary solver."""
        return self.binary.complexity()

    @classmethod
    def examples(cls):
        """Return solvers that the contract suite tests."""
        from .svm import CSVC

        return [cls(CSVC(tol=1e-6))]

    def predict(self, K):
        """Return the predicted class of each row of `K`, shape (m,)."""
        best = np.argmax(self.decision_function(K), axis=1)
        return self.classes_[best]

    def decision_function(self, K):
        """Return one value for each class, whose largest is the predicted class.

        Parameters
        ----------
        K : array_like of float64, shape (m, n)

        Returns
        -------
        ndarray of float64, shape (m, classes)
            Votes v plus s / (3 (1 + |s|)), s the sum of the class's decisions against the others: sums order
            the rows within equal votes and never outweigh one. Each column ranks the rows for that class
            against the rest, as a macro-averaged AUC needs it. The same as scikit-learn's SVC.
        """
        return super().decision_function(K)

    def _fit(self, K, y):
        """Train the machines of all pairs."""
        fitted = []
        for a, b in self._pairs():
            rows = np.flatnonzero((y == a) | (y == b))
            machine = clone(self.binary).fit(self._of(K, rows), self.classes_[y[rows]])
            records = self.input == "gram" or isinstance(K, Implicit)
            fitted.append((machine, rows[machine.support_] if records else machine.support_))
        self.support_ = np.unique(np.concatenate([columns for _, columns in fitted]))
        size = len(self.support_)
        self.machines_ = [
            machine.renumber(np.searchsorted(self.support_, columns), size) for machine, columns in fitted
        ]
        reports = [machine.report_ for machine in self.machines_]
        constant = [report["constant_columns"] for report in reports if "constant_columns" in report]
        return {
            **({"constant_columns": max(constant)} if constant else {}),
            "converged": all(report["converged"] for report in reports),
            "iterations": sum(report["iterations"] for report in reports),
            "residual": max(report["residual"] for report in reports),
            "objective": sum(report["objective"] for report in reports),
            "machines": len(reports),
        }

    def _of(self, K, rows):
        """Return what the binary solver takes of `K` for some of the records."""
        if isinstance(K, Implicit):
            return K.take(rows)
        return K[np.ix_(rows, rows)] if self.input == "gram" else K[rows]

    def _decide(self, K, columns):
        """Count votes and break ties."""
        votes = np.zeros((count_rows(K), len(self.classes_)))
        sums = np.zeros_like(votes)
        for (a, b), machine in zip(self._pairs(), self.machines_, strict=True):
            decision = machine._decide(K, columns[machine.support_])
            votes[:, b] += decision > 0
            votes[:, a] += decision <= 0
            sums[:, b] += decision
            sums[:, a] -= decision
        return votes + sums / (3 * (1 + np.abs(sums)))

    def machine(self, a, b):
        """Return the binary solver of the classes at places `a` < `b`, above zero for `b`, for all columns of K."""
        machine = self.machines_[list(self._pairs()).index((a, b))]
        return machine.renumber(self.support_[machine.support_], self.n_features_in_)

    def _pairs(self):
        """Return the pairs of places of classes, the smaller first."""
        return itertools.combinations(range(len(self.classes_)), 2)

    def fitted_state(self):
        """Return the states of the machines."""
        headers, arrays = [], {}
        for number, machine in enumerate(self.machines_):
            header, own = machine.state()
            headers.append(header)
            arrays.update(nest(str(number), own))
        return {"machines": headers}, arrays

    def restore_fitted(self, header, arrays):
        """Set what `fitted_state` returned."""
        self.machines_ = [
            solver_from_state(one, unnest(str(number), arrays)) for number, one in enumerate(header["machines"])
        ]
