"""What the folds of a task keep together of its similar samples, in words and as arguments of `make_folds`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.folds.foldset import UNCHANGED
from seqkern.folds.leakage import Links
from seqkern.residues.residues import Residues
from seqkern.sequences.labels import Labels
from seqkern.similarity.groups import SimilarGroups


def codes_of(labels: Labels) -> npt.NDArray[np.int64] | None:
    """Return the class of each sample, −1 without one; None if the labels are not classes.

    Parameters
    ----------
    labels : Labels
        Labels of n samples.

    Returns
    -------
    ndarray of int64, shape (n,), or None
    """
    return labels.y.astype(np.int64) if labels.kind in ("binary", "multiclass") else None


def groups_of(
    together: bool | str, links: Links, labels: Labels, residues: Residues | None, of_sequences: bool
) -> SimilarGroups:
    """Return the groups of similar samples of a task, or of their chains.

    Parameters
    ----------
    together : bool or "auto"
        As `seqkern.study.settings.LeakageSettings.together`; only ``"auto"`` cuts large groups.
    links : Links
        Similar samples, or chains.
    labels : Labels
        Labels of the task.
    residues : Residues, optional
        The samples, if they are residues of these chains.
    of_sequences : bool
        Whether samples are sequences; equal rows of a table are not grouped.

    Returns
    -------
    SimilarGroups
    """
    if together == "auto" and not of_sequences and residues is None:
        return SimilarGroups(np.arange(len(links.identical)))
    if together != "auto":
        return SimilarGroups(links.groups(), aligned=links.aligned)
    return links.similar(codes_of(labels) if residues is None else None)


def kept_groups(together: bool | str, groups: SimilarGroups, residues: Residues | None) -> dict[str, Any]:
    """Return the arguments of `make_folds` that keep similar samples together.

    Parameters
    ----------
    together : bool or "auto"
        As `seqkern.study.settings.LeakageSettings.together`.
    groups : SimilarGroups
        The groups of similar samples, or chains.
    residues : Residues, optional
        The samples, if they are residues of these chains.

    Returns
    -------
    dict of str to ndarray
        Empty if nothing is kept together.
    """
    if not together or (together == "auto" and not groups):
        return {}
    numbers = groups.groups if residues is None else groups.groups[residues.record]
    return {"similar" if together == "auto" else "links": numbers}


def kept_where(together: bool | str, method: str, options: Mapping[str, Any]) -> str:
    """Return where similar samples are kept together.

    Parameters
    ----------
    together : bool or "auto"
        As for `kept_groups`.
    method : str
        The fold method.
    options : mapping
        Its options.

    Returns
    -------
    {"folds", "inner folds", ""}
    """
    if not together:
        return ""
    return "inner folds" if method in UNCHANGED or "train" in options else "folds"


def told(tasks: Sequence[tuple[SimilarGroups, Sequence[Any]]], unit: str) -> Iterator[str]:
    """Yield what was found and kept together: a line for all tasks, and one for each class that was not.

    Parameters
    ----------
    tasks : sequence of (SimilarGroups, tuple)
        The groups of each task, and its row of `seqkern.folds.leakage.similar_row`.
    unit : str
        What the samples are called.

    Yields
    ------
    str
    """
    # tasks share their samples and differ in the links that were cut
    groups, row = max(tasks, key=lambda task: task[0].links_cut)
    where = row[-2]
    ending = f"kept together in {where}; --allow-similar to split them" if where else "only reported"
    if groups:
        yield groups.describe(unit, ending)
    reasons = dict.fromkeys(row[-1] for _, row in tasks if row[-1])
    yield from list(reasons)[:1]
    if len(reasons) > 1:
        yield f"and so in {len(reasons) - 1} more task{'s' * (len(reasons) > 2)}"
