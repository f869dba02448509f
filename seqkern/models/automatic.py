"""The method of ``--kernel auto``: the portfolio of the data, and a search that chooses from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from seqkern.auto.choosing import default_solver
from seqkern.models.method import Method
from seqkern.models.search import Search
from seqkern.sequences.tables import Data
from seqkern.solvers import common_input
from seqkern.study.auto_kernel import AutoKernel
from seqkern.study.solver_entries import SolverEntry


def automatic_method(
    X: Data,
    kind: str,
    *,
    entry: AutoKernel,
    solver: str | Mapping[str, Any] | None = None,
    search: Search,
    n_choices: int = 1,
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
    entry : AutoKernel
        With the time for all choices.
    solver : str or dict, optional
        Default: a C-SVM with its default grid, for many sequences one without a Gram matrix.
    search : Search
        How one of several candidates is chosen.
    n_choices : int
        Number of training sets that share the time.
    calibration, threshold : str, optional
        As for `Method`.

    Returns
    -------
    Method

    Raises
    ------
    ParameterError
        If the labels are missing, the data are not sequences, or no kernel of the portfolio suits.

    Examples
    --------
    >>> X = SequenceSet.from_strings(["ACGTACGTTACA", "TTACGTCA"], "dna")
    >>> method = automatic_method(X, "binary", entry=AutoKernel.parse("auto"), search=Search())
    >>> len(method.kernels) > 3, method.input
    (True, 'gram')
    """
    spec = default_solver(kind, len(X)) if solver is None else solver
    grid = SolverEntry.parse(spec, defaults=True)
    entries = {member.name: member for member in entry.resolve(X, common_input(grid.specs))}
    return Method(
        {name: member.kernel for name, member in entries.items()},
        grid.candidates(list(entries)),
        transforms={name: member.transforms for name, member in entries.items()},
        calibration=calibration,
        threshold=threshold,
        search=replace(search, budget=entry.seconds / n_choices),
    )
