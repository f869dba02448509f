"""The method of ``--kernel auto``: the portfolio of the data, and a search that chooses from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from seqkern.models.method import Method
from seqkern.models.search import Search
from seqkern.sequences.tables import Data
from seqkern.study.auto_kernel import AutoKernel
from seqkern.study.solver_entries import SolverEntry


def automatic_method(
    X: Data,
    *,
    real: bool = False,
    entry: AutoKernel,
    solver: str | Mapping[str, Any],
    search: Search,
    n_choices: int = 1,
    calibration: str | None = None,
    threshold: str | None = None,
) -> Method:
    """Return the method that chooses a kernel, and the parameters of its solver, for some sequences.

    Parameters
    ----------
    X : SequenceSet
        All sequences; only their alphabet, lengths, number, tracks and views are looked at.
    real : bool
        Whether the labels are numbers.
    entry : AutoKernel
        With the time for all choices.
    solver : str or dict
        With its default grid for omitted parameters.
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
        If the data are not sequences, or no kernel of the portfolio suits.

    Examples
    --------
    >>> from seqkern import SequenceSet
    >>> X = SequenceSet.from_strings(["ACGTACGTTACA", "TTACGTCA"], "dna")
    >>> method = automatic_method(X, entry=AutoKernel.parse("auto"), solver="csvc", search=Search())
    >>> len(method.kernels) > 3, method.input
    (True, 'gram')
    """
    grid = SolverEntry.parse(solver, defaults=True)
    entries = {member.name: member for member in entry.resolve(X, grid.input, real, grid.accepts_operator)}
    return Method(
        {name: member.kernel for name, member in entries.items()},
        grid.candidates(list(entries)),
        transforms={name: member.transforms for name, member in entries.items()},
        calibration=calibration,
        threshold=threshold,
        search=replace(search, budget=entry.seconds / n_choices),
    )
