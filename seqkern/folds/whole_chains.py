"""Residues of one chain are in one part of a split, and in one group of the inner folds."""

import numpy as np

from seqkern.core.errors import FoldError


def check_whole(split, chains, ids, file=None):
    """Raise FoldError if a chain has residues in both parts of a split; `chains` may be None."""
    if chains is None:
        return
    chains = np.asarray(chains)
    divided = split.test[np.isin(chains[split.test], chains[split.train])]
    if len(divided):
        raise FoldError(
            f"is tested in split {split.name!r}, while other residues of its chain are trained on",
            file=file,
            record=ids[divided[0]],
            remedy="keep chains whole, as the fold method grouped does",
        )


def groups_of_chains(splits, groups, chains, ids, path):
    """Return the groups of residues, by default their chains; FoldError where residues of one chain are in several."""
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
            "has another group than the residues before it in its chain",
            file=path,
            record=ids[divided[0]],
            remedy="make the folds again",
        )
    return groups
