"""The parameters of a kernel that ``--search`` tries if they are not given."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from seqkern.auto.traits import NUCLEOTIDES, Traits

Points = list[dict[str, Any]]


def _each(name: str, *values: Any) -> Points:
    """Return one point for each value of a parameter."""
    return [{name: value} for value in values]


def _pairs(first: str, second: str, *values: tuple[Any, Any]) -> Points:
    """Return one point for each pair of values of two parameters."""
    return [{first: one, second: two} for one, two in values]


# kernel: (points for nucleotides, points for proteins and other letters)
GRIDS: dict[str, tuple[Points, Points]] = {
    "spectrum": (_each("k", 3, 4, 5, 6, 8), _each("k", 1, 2, 3, 4)),
    "mismatch": (_pairs("k", "m", (6, 1), (8, 1), (10, 2)), _pairs("k", "m", (3, 1), (4, 1), (5, 1))),
    "gapped_kmer": (_pairs("l", "k", (8, 5), (10, 6), (11, 7)), _pairs("l", "k", (4, 2), (5, 3), (6, 4), (8, 4))),
    "gappy_pair": (_pairs("k", "m", (2, 4), (3, 4), (3, 8)), _pairs("k", "m", (1, 3), (1, 8), (2, 4))),
    "wildcard": (_pairs("k", "m", (5, 1), (6, 1), (8, 2)), _pairs("k", "m", (3, 1), (4, 1), (5, 2))),
    "substitution": (_each("k", 4, 5), _each("k", 3, 4)),
    "string": (_each("n", 3, 4, 5), _each("n", 2, 3, 4)),
    "weighted_degree": (_each("degree", 3, 5, 10, 20), _each("degree", 1, 2, 3, 5)),
    "shifted_weighted_degree": (
        _pairs("degree", "shift", (5, 1), (5, 3), (10, 5), (20, 10)),
        _pairs("degree", "shift", (2, 1), (3, 3), (5, 5)),
    ),
    "oligo": (
        _pairs("k", "sigma", (2, 1.0), (3, 1.0), (3, 2.0), (4, 4.0)),
        _pairs("k", "sigma", (1, 1.0), (1, 3.0), (2, 2.0)),
    ),
    "locality_improved": (
        _pairs("l", "d1", (2, 2), (3, 3), (4, 4)),
        _pairs("l", "d1", (2, 2), (3, 3), (4, 4)),
    ),
}


def kernel_grid(spec: Mapping[str, Any], traits: Traits) -> list[dict[str, Any]]:
    """Return the specs to try for a kernel.

    Parameters
    ----------
    spec : dict
        The kernel as given. A parameter in it is kept; of those omitted, the values that suit the alphabet are tried.
    traits : Traits
        What the sequences are like.

    Returns
    -------
    list of dict
        The spec itself for a kernel without a grid, and if all parameters of its grid are given.

    Examples
    --------
    >>> proteins = Traits("protein", n=40, shortest=60, median=90, longest=300, total=4000)
    >>> [spec["k"] for spec in kernel_grid({"kernel": "mismatch", "m": 1}, proteins)]
    [3, 4, 5]
    >>> kernel_grid({"kernel": "spectrum", "k": 6}, proteins)
    [{'kernel': 'spectrum', 'k': 6}]
    """
    points = GRIDS.get(str(spec.get("kernel")), ([], []))[0 if traits.alphabet in NUCLEOTIDES else 1]
    fitting = [point for point in points if all(spec.get(key, value) == value for key, value in point.items())]
    open_points = [{key: value for key, value in point.items() if key not in spec} for point in fitting]
    return [{**spec, **point} for point in open_points] or [dict(spec)]
