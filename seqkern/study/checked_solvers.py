"""Solvers whose suitability for every training set is checked before any Gram matrix is computed."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from seqkern.core.checks import check_integer
from seqkern.solvers.bound_names import BOUNDS
from seqkern.study.methods import MethodEntry
from seqkern.study.solver_entries import SolverEntry


@dataclass(frozen=True, eq=False)
class CheckedSolver:
    """A solver to check against the labels of training sets.

    Attributes
    ----------
    solver : SolverEntry
        With the layers after it.
    inner_folds : int
        Folds of the training set; zero without inner folds.
    seed : int
        Of the inner folds.
    metric : str
        Of the inner loop: a bound of the leave-one-out error suits some solvers and labels only.

    Examples
    --------
    >>> checked = CheckedSolver.parse({"solver": "nusvc:nu=[0.1,0.2]", "inner_folds": 5}, "nu")
    >>> len(checked.solver.grid), checked.inner_folds, checked.seed
    (2, 5, 1)
    """

    solver: SolverEntry
    inner_folds: int = 3
    seed: int = 1
    metric: str = "auto"

    @classmethod
    def parse(cls, given: Mapping[str, Any], name: str) -> "CheckedSolver":
        """Return the solver described by JSON.

        Parameters
        ----------
        given : mapping
            ``solver``, ``layers``, ``inner_folds``, ``seed`` and ``metric``.
        name : str
            Its name in the study.

        Returns
        -------
        CheckedSolver

        Raises
        ------
        ParameterError
            As for `SolverEntry.parse`, and for a number outside its domain.
        """
        numbers = {key: given[key] for key in ("inner_folds", "seed") if key in given}
        for key, value in numbers.items():
            check_integer(key, value, 0)
        entry = SolverEntry.parse(given["solver"], name, layers=given.get("layers") or [], ranges=True)
        return cls(entry, **numbers, metric=str(given.get("metric", "auto")))

    def to_dict(self) -> dict[str, Any]:
        """Return the input of `parse`."""
        layers = list(self.solver.layer_specs)
        found = {"solver": self.solver.spec, "layers": layers, "inner_folds": self.inner_folds, "seed": self.seed}
        return found | ({"metric": self.metric} if self.metric in BOUNDS else {})


def checked_solvers(methods: Iterable[MethodEntry]) -> dict[str, CheckedSolver]:
    """Return the solvers of the methods on one data set, for checking against its labels.

    Parameters
    ----------
    methods : iterable of MethodEntry
        The methods of the study.

    Returns
    -------
    dict of str to CheckedSolver
        By name; with zero inner folds if nothing is chosen or fitted by them, or the solver accepts all
        labels of its kind.
    """
    found: dict[str, CheckedSolver] = {}
    for method in methods:
        solver, search = method.solver, method.search
        before = solver.name in found and found[solver.name].inner_folds > 0
        inner = before or method.chooses or bool(search.held_out) or solver.has_layers
        by_bound = search.metric in BOUNDS and not solver.has_layers
        folds = search.folds if solver.refuses_labels and inner and not by_bound else 0
        bound = search.metric if by_bound and method.chooses else "auto"
        found[solver.name] = CheckedSolver(solver, folds, method.seed, bound)
    return found
