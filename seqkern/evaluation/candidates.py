"""Candidates of the inner loop: pairs of a kernel and a solver specification, from a grid or drawn at random."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from seqkern.core.checks import check_integer
from seqkern.solvers.solver_specs import draw_spec, expand_grid, has_range

Candidate = tuple[Any, dict[str, Any]]

ATTEMPTS = 20
"""Draws for each missing candidate, since duplicates do not count."""


def grid_candidates(
    kernels: Iterable[Any], solver: Mapping[str, Any] | str, *, search: bool = False
) -> list[Candidate]:
    """Return every kernel with every specification of a solver's grid.

    Parameters
    ----------
    kernels : iterable of str
        Their names.
    solver : dict or str
        A specification, in which lists are values to choose from.
    search : bool, default False
        Whether omitted parameters use the solver's default grid.

    Returns
    -------
    list of (str, dict)
        Name of a kernel, specification of a solver.
    """
    grid = expand_grid(solver, search=search)
    return [(kernel, spec) for kernel in kernels for spec in grid]


def random_candidates(
    kernels: Sequence[Any], solver: Mapping[str, Any] | str, draws: int, seed: int, *, search: bool = False
) -> list[Candidate]:
    """Return kernels with specifications of a solver drawn at random, each pair once.

    Parameters
    ----------
    kernels : sequence of str or None
        Names; all equally likely.
    solver : dict or str
        A specification, in which lists are values to choose from; parameters may also be ranges (see
        `seqkern.solvers.ranges`).
    draws : int
        Maximum number of pairs; a grid with at most this many is returned completely.
    seed : int
        Seed of the draws.
    search : bool, default False
        Whether omitted parameters use the solver's default grid.

    Returns
    -------
    list of (str, dict)
        In the order drawn; more draws start with the same pairs.

    Raises
    ------
    ParameterError
        As for `seqkern.solvers.draw_spec`, and for a number of draws below one.
    """
    check_integer("draws", draws, 1)
    if not has_range(solver):
        grid = grid_candidates(kernels, solver, search=search)
        if len(grid) <= draws:
            return grid
    rng = np.random.default_rng([seed, len(kernels)])
    found: list[Candidate] = []
    for _ in range(ATTEMPTS * draws):
        candidate = kernels[int(rng.integers(len(kernels)))], draw_spec(solver, rng, search=search)
        if candidate not in found:
            found.append(candidate)
        if len(found) == draws:
            break
    return found


def make_candidates(
    kernels: Sequence[str],
    solver: dict[str, Any] | str,
    *,
    draws: int | None = None,
    seed: int = 0,
    search: bool = False,
) -> list[Candidate]:
    """Return the candidates of random search with a number of draws, else of grid search.

    Parameters
    ----------
    kernels : sequence of str or None
        Names.
    solver : dict or str
        As for `grid_candidates` or `random_candidates`.
    draws : int, optional
        For random search; None: grid search.
    seed : int, default 0
        Seed of random search.
    search : bool, default False
        Whether omitted parameters use the solver's default grid.

    Returns
    -------
    list of (str, dict)

    Raises
    ------
    ParameterError
        For a number of draws below one, or a range of values in grid search.
    """
    if draws is None:
        return grid_candidates(kernels, solver, search=search)
    return random_candidates(kernels, solver, draws, seed, search=search)
