"""Refine a coarse grid around its best candidate, and extend it where the best lies at its end.

Values are tried in half-decade steps, …, 0.1, 0.3, 1, 3, …, within the limits that a solver declares. Each round tries
the neighbours of the best candidate so far, until a round brings no better one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from seqkern.evaluation.candidates import Candidate
from seqkern.solvers.free_parameters import Limits, ends_domain

if TYPE_CHECKING:
    from seqkern.evaluation.trials import Trials

ROUNDS = 12
"""Most rounds of a refinement: six decades from the end of a grid."""


def refine(trials: Trials, limits: Sequence[Limits]) -> int:
    """Try more candidates around the best one, until none is better: an equal one, simpler or not, gains nothing.

    Parameters
    ----------
    trials : Trials
        With the candidates of a grid.
    limits : sequence of Limits
        The parameters to vary.

    Returns
    -------
    int
        The index of the best candidate.
    """
    best = trials.best()
    for _ in range(ROUNDS if limits else 0):
        tried = trials.candidates
        more = neighbours(tried[best], [tried[c] for c in trials.tied()], tried, limits)
        if not more:
            break
        trials.add(more, after=best)
        if best in trials.tied():
            break
        best = trials.best()
    return best


def step(value: float, up: bool) -> float:
    """Return the next larger, or next smaller, value of …, 0.1, 0.3, 1, 3, ….

    Parameters
    ----------
    value : float
        Above zero.
    up : bool
        Whether the larger one.

    Returns
    -------
    float

    Examples
    --------
    >>> step(1.0, up=True), step(0.3, up=True), step(0.1, up=False), step(0.5, up=False)
    (3.0, 1.0, 0.03, 0.3)
    """
    decade = math.floor(math.log10(value))
    near = [Decimal(digit).scaleb(exponent) for exponent in range(decade - 2, decade + 3) for digit in (1, 3)]
    ladder = [float(one) for one in near]
    if up:
        return min(one for one in ladder if one > value * (1 + 1e-9))
    return max(one for one in ladder if one < value * (1 - 1e-9))


def neighbours(
    best: Candidate, tied: Sequence[Candidate], tried: Sequence[Candidate], limits: Sequence[Limits]
) -> list[Candidate]:
    """Return the candidates to try next: those half a decade beside the best one, in each parameter.

    No step is made towards values that tie with the best: they are a plateau. Away from a plateau, past the end of the
    values tried, the step is a whole decade, since a smaller one may not leave the plateau.

    Parameters
    ----------
    best : (str, dict)
        The best candidate so far.
    tied : sequence of (str, dict)
        All candidates of equal score, itself included.
    tried : sequence of (str, dict)
        All candidates so far.
    limits : sequence of Limits
        The parameters to vary.

    Returns
    -------
    list of (str, dict)
        None of those tried.

    Examples
    --------
    >>> grid = [("spectrum", {"solver": "csvc", "C": C}) for C in (0.1, 1.0, 10.0)]
    >>> C = Limits(("C",), 0.0001, 10000.0)
    >>> [spec["C"] for _, spec in neighbours(grid[2], grid[2:], grid, [C])]
    [3.0, 30.0]
    >>> [spec["C"] for _, spec in neighbours(grid[0], grid, grid, [C])]
    [0.01]
    """
    found: list[Candidate] = []
    for one in limits:
        value = one.value(best[1])
        if not _is_number(value):
            continue
        alike, values = _values(tied, best, one), _values(tried, best, one)
        plateau = len(alike) > 1
        moves = []
        if min(alike) == value:
            moves.append(_next(value, plateau and min(values) == value, up=False))
        if max(alike) == value:
            moves.append(_next(value, plateau and max(values) == value, up=True))
        found += [(best[0], one.with_value(best[1], move)) for move in moves if one.low <= move <= one.high]
    return [candidate for candidate in found if candidate not in tried]


def _next(value: float, decade: bool, *, up: bool) -> float:
    """Return the value half a decade beside another, or a whole one."""
    beside = step(value, up)
    return step(beside, up) if decade else beside


def ends(
    best: Candidate, tied: Sequence[Candidate], tried: Sequence[Candidate], paths: Sequence[tuple[str, ...]]
) -> dict[str, str]:
    """Return the parameters of the best candidate that lie at an end of the values tried.

    Only three values or more have ends that tell something, and only if the values before the end are worse. Beyond
    the smallest or largest value that the solver allows there is nothing to try.

    Parameters
    ----------
    best, tied, tried : object
        As for `neighbours`.
    paths : sequence of tuple of str
        The parameters, as the `path` of Limits.

    Returns
    -------
    dict of str to str
        ``"smallest"`` or ``"largest"``, by the name of the parameter.

    Examples
    --------
    >>> grid = [("spectrum", {"solver": "csvc", "C": C}) for C in (0.1, 1.0, 10.0)]
    >>> ends(grid[2], grid[2:], grid, [("C",)]), ends(grid[2], grid, grid, [("C",)])
    ({'C': 'largest'}, {})
    """
    found = {}
    for path in paths:
        one = Limits(path, 0.0, math.inf)
        value, values = one.value(best[1]), _values(tried, best, one)
        if len(values) < 3 or not all(map(_is_number, values)) or len(_values(tied, best, one)) > 1:
            continue
        if value in (min(values), max(values)) and not ends_domain(best[1], path, value):
            found[" ".join(path)] = "smallest" if value == min(values) else "largest"
    return found


def number_paths(spec: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """Return the names of the parameters of a spec that are numbers, also of nested solvers.

    Parameters
    ----------
    spec : mapping
        Of a solver.

    Returns
    -------
    list of tuple of str

    Examples
    --------
    >>> number_paths({"solver": "one_against_rest", "binary": {"solver": "csvc", "C": 3.0}})
    [('binary', 'C')]
    """
    found = [(name,) for name, value in spec.items() if _is_number(value)]
    inside = [(name, part) for name, part in spec.items() if isinstance(part, Mapping)]
    return found + [(name, *path) for name, part in inside for path in number_paths(part)]


def _values(candidates: Sequence[Candidate], best: Candidate, one: Limits) -> set[Any]:
    """Return the values of one parameter in the candidates that differ from the best in no other."""
    value = one.value(best[1])
    alike = [spec for kernel, spec in candidates if kernel == best[0] and one.value(spec) is not None]
    return {one.value(spec) for spec in alike if one.with_value(spec, value) == best[1]}


def _is_number(value: Any) -> bool:
    """Return whether a value is a number above zero, and finite."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value < math.inf
