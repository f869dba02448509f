"""Division of a long evaluation into shares: arguments, and which folds belong to a share."""

from __future__ import annotations

import argparse
import heapq
import json
import re
from collections.abc import Sequence
from typing import Any

from seqkern.core.errors import ParameterError


def share(text: str) -> tuple[int, int]:
    """Return i and n of ``i/n``, for argparse.

    Parameters
    ----------
    text : str
        As given.

    Returns
    -------
    (int, int)

    Raises
    ------
    ArgumentTypeError
        Unless 1 ≤ i ≤ n.

    Examples
    --------
    >>> share("3/8")
    (3, 8)
    """
    match = re.fullmatch(r"([0-9]{1,9})/([0-9]{1,9})", text)
    if match is None or not 1 <= int(match[1]) <= int(match[2]):
        raise argparse.ArgumentTypeError(f"{text!r} is not I/N; write for example 3/8")
    return int(match[1]), int(match[2])


def add_shares(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that divide an evaluation.

    Parameters
    ----------
    parser : ArgumentParser
        The parser of the verb.
    """
    group = parser.add_argument_group("division of a long evaluation")
    group.add_argument(
        "--share",
        type=share,
        metavar="I/N",
        help="compute only the I-th of N shares of the folds and write no tables; without it, compute the missing "
        "folds and write the tables",
    )
    group.add_argument(
        "--methods",
        metavar="JSON",
        help="with --share, several solvers in one job, instead of --solver: "
        '{"svm": {"solver": "csvc:C=1", "layers": []}, ...}; each keeps its folds in its own folder of the output',
    )
    group.add_argument(
        "--plan", metavar="JSON", help="file of seqkern plan, to divide by predicted time (default: by number of folds)"
    )
    group.add_argument("--kernel-name", metavar="NAME", help="name of the kernel in --plan")


def parse_methods(text: str) -> dict[str, dict[str, Any]]:
    """Return the solvers of ``--methods`` by name.

    Parameters
    ----------
    text : str
        JSON.

    Returns
    -------
    dict of str to dict
        With the keys ``solver`` and ``layers``.

    Raises
    ------
    ParameterError
        If it is not JSON of this form, or a name cannot be that of a folder.

    Examples
    --------
    >>> parse_methods('{"svm": {"solver": "csvc:C=1"}}')
    {'svm': {'solver': 'csvc:C=1', 'layers': []}}
    """
    try:
        given = json.loads(text)
        methods = {name: {"solver": one["solver"], "layers": one.get("layers") or []} for name, one in given.items()}
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise ParameterError(
            "--methods is not a JSON object of solvers by name", remedy='write {"svm": {"solver": "csvc:C=1"}}'
        ) from error
    wrong = [name for name in methods if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]*", name)]
    if wrong or not methods:
        problem = f"{wrong[0]!r} cannot name a folder" if wrong else "--methods names no solver"
        raise ParameterError(problem, remedy="name each solver by letters, digits, _, . and -")
    return methods


def assigned(seconds: Sequence[float], share: int, shares: int) -> list[int]:
    """Return the folds of one of several shares, which take about equally long.

    The longest folds are dealt out first, each to the share that has least to do.

    Parameters
    ----------
    seconds : sequence of float
        Predicted for each fold.
    share, shares : int
        Which share, from 1, and of how many.

    Returns
    -------
    list of int
        Places of the folds, ascending.

    Examples
    --------
    >>> [assigned([5, 1, 1, 4, 2, 2], share, 3) for share in (1, 2, 3)]
    [[0], [1, 3], [2, 4, 5]]
    """
    loads = [(0.0, one) for one in range(1, shares + 1)]
    mine = []
    for place in sorted(range(len(seconds)), key=lambda i: (-seconds[i], i)):
        load, one = heapq.heappop(loads)
        heapq.heappush(loads, (load + seconds[place], one))
        if one == share:
            mine.append(place)
    return sorted(mine)
