"""What the inner loop chooses among: pairs of a kernel and a solver specification, in a grid or drawn at random."""

import numpy as np

from seqkern.core.checks import check_integer
from seqkern.solvers.specs import draw_spec, expand_grid, has_range

ATTEMPTS = 20
"""For each candidate that is still to be drawn: a value drawn twice is no new candidate."""


def grid_candidates(kernels, solver, *, search=False):
    """Return every kernel with every specification of a solver's grid.

    Parameters
    ----------
    kernels : iterable of str
        Names.
    solver : dict or str
        A specification, in which lists are values to choose from.
    search : bool
        As in `seqkern.solvers.expand_grid`.

    Returns
    -------
    list of (str, dict)
    """
    grid = expand_grid(solver, search=search)
    return [(kernel, spec) for kernel in kernels for spec in grid]


def random_candidates(kernels, solver, draws, seed, *, search=False):
    """Return kernels with specifications of a solver drawn at random, each pair once.

    Parameters
    ----------
    kernels : sequence of str
        Names; each is as likely as the others.
    solver : dict or str
        As in `grid_candidates`; parameters may be ranges too (see `seqkern.solvers.ranges`).
    draws : int
        How many pairs, at most: of a grid with no more pairs than these all are returned.
    seed : int
    search : bool
        As in `seqkern.solvers.expand_grid`.

    Returns
    -------
    list of (str, dict)
        In the order drawn; a larger number of draws begins with those of a smaller one.

    Raises
    ------
    ParameterError
        As `seqkern.solvers.draw_spec`, and for a number of draws below one.
    """
    check_integer("draws", draws, 1)
    if not has_range(solver):
        grid = grid_candidates(kernels, solver, search=search)
        if len(grid) <= draws:
            return grid
    rng = np.random.default_rng([seed, len(kernels)])
    found = []
    for _ in range(ATTEMPTS * draws):
        candidate = kernels[rng.integers(len(kernels))], draw_spec(solver, rng, search=search)
        if candidate not in found:
            found.append(candidate)
        if len(found) == draws:
            break
    return found


def make_candidates(kernels, solver, *, draws=None, seed=0, search=False):
    """Return the candidates of random search with a number of draws, or of grid search without one."""
    if draws is None:
        return grid_candidates(kernels, solver, search=search)
    return random_candidates(kernels, solver, draws, seed, search=search)
