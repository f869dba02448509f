"""The method of ``--kernel auto``: the portfolio of the data, and a search that chooses from it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from seqkern.auto.choosing import default_solver, members_for
from seqkern.models.method import Method
from seqkern.models.search import Search
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.solvers import common_input
from seqkern.study.kernel_entries import KernelEntry
from seqkern.study.solver_entries import SolverEntry


def automatic_method(
    X: SequenceSet,
    kind: str,
    *,
    solver: str | Mapping[str, Any] | None = None,
    search: Search,
    calibration: str | None = None,
    threshold: str | None = None,
) -> Method:
    """Return the method that chooses a kernel, and the parameters of its solver, for some sequences.

    Parameters
    ----------
    X : SequenceSet
        All sequences; only their alphabet, lengths, number and tracks are looked at.
    kind : {"binary", "multiclass", "real"}
        Of the labels.
    solver : str or dict, optional
        Default: a C-SVM with its default grid, for many sequences one without a Gram matrix.
    search : Search
        With the budget for choosing.
    calibration, threshold : str, optional
        As for `Method`.

    Returns
    -------
    Method

    Raises
    ------
    ParameterError
        If the labels are missing, or no kernel of the portfolio suits.

    Examples
    --------
    >>> X = SequenceSet.from_strings(["ACGTACGTTACA", "TTACGTCA"], "dna")
    >>> method = automatic_method(X, "binary", search=Search(budget=60.0))
    >>> len(method.kernels) > 3, method.input
    (True, 'gram')
    """
    spec = default_solver(kind, len(X)) if solver is None else solver
    grid = SolverEntry.parse(spec, defaults=True)
    members = members_for(X, common_input(grid.specs) == "implicit")
    entries = {member.name: KernelEntry.parse(member.spec, member.name) for member in members}
    return Method(
        {name: entry.kernel for name, entry in entries.items()},
        grid.candidates(list(entries)),
        transforms={name: entry.transforms for name, entry in entries.items()},
        calibration=calibration,
        threshold=threshold,
        search=search,
    )
