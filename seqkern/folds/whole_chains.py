"""Residues of one chain must be in one set of a split, and in one group of the inner folds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import FoldError
from seqkern.core.types import Ids, PathLike
from seqkern.folds.split import Split
from seqkern.folds.splitters import Indices


def check_whole(split: Split, chains: npt.ArrayLike | None, ids: Ids, file: PathLike | None = None) -> None:
    """Check that a split divides no chain.

    Parameters
    ----------
    split : Split
        The split of residues.
    chains : array_like of int, shape (n,), or None
        The chain of each residue; None where samples are not residues.
    ids : sequence of str, length n
        The ids of the residues.
    file : path-like, optional
        Used in messages.

    Raises
    ------
    FoldError
        If a chain has residues in both sets.
    """
    if chains is None:
        return
    numbers = np.asarray(chains)
    divided = split.test[np.isin(numbers[split.test], numbers[split.train])]
    if len(divided):
        raise FoldError(
            f"is in the test set of split {split.name!r}, but other residues of its chain are in the training set",
            file=file,
            record=ids[divided[0]],
            remedy="keep chains whole, for example with the fold method grouped",
        )


def groups_of_chains(
    splits: Sequence[Split], groups: Indices | None, chains: Indices, ids: Ids, path: PathLike
) -> Indices:
    """Return the groups of residues, by default their chains.

    Parameters
    ----------
    splits : sequence of Split
        Of residues.
    groups : ndarray of int64, shape (n,), or None
        The group of each residue, if there are groups.
    chains : ndarray of int64, shape (n,)
        The chain of each residue.
    ids : sequence of str, length n
        The ids of the residues.
    path : path-like
        Used in messages.

    Returns
    -------
    ndarray of int64, shape (n,)
        −1 for a residue that is in no split.

    Raises
    ------
    FoldError
        If residues of one chain are in several groups.
    """
    used = np.unique(np.concatenate([rows for split in splits for rows in (split.train, split.test)]))
    chains = chains[used]
    if groups is None:
        groups = np.full(len(ids), -1, dtype=np.int64)
        groups[used] = np.unique(chains, return_inverse=True)[1]
    _, first, number = np.unique(chains, return_index=True, return_inverse=True)
    own = groups[used]
    divided = used[own != own[first[number]]]
    if len(divided):
        raise FoldError(
            "belongs to another group than the preceding residues of its chain",
            file=path,
            record=ids[divided[0]],
            remedy="create the folds again",
        )
    return groups
