"""Folds of residues seen as folds of their chains: what leaks from a test part to training is looked for there.

Windows of neighbouring residues overlap, and short ones are found in many chains by chance; neither is a leak. A chain
whose relative, or whose own other residues, are trained on is one.
"""

import numpy as np

from seqkern.folds.foldset import FoldSet, Split
from seqkern.sequences.labels import Labels


def chain_folds(foldset, residues):
    """Return a FoldSet of the chains: one is in each part in which it has a residue, in both where a fold divides it.

    Parameters
    ----------
    foldset : FoldSet
        Of the residues.
    residues : Residues

    Returns
    -------
    FoldSet
    """
    splits = (Split(s.name, *(np.unique(residues.record[rows]) for rows in (s.train, s.test))) for s in foldset)
    return FoldSet(foldset.task, tuple(residues.chains.ids), tuple(splits))


def chain_labels(identical, residues):
    """Return Labels of the chains by which identical chains with different states are told apart.

    Of identical chains only residues are compared whose states are known in both, as parts of one chain may be masked.

    Parameters
    ----------
    identical : ndarray of int64
        Identical chains share a number.
    residues : Residues

    Returns
    -------
    Labels
        ``"same"`` states as the first of the identical chains, or ``"other"``.
    """
    chains = residues.chains
    states = np.zeros(len(chains.codes), dtype=np.uint8)
    states[residues.positions()] = residues.states()
    y, first = np.zeros(len(chains), dtype=np.int64), {}
    for i, number in enumerate(identical.tolist()):
        own = states[chains.starts[i] : chains.stops[i]]
        known = first.setdefault(number, own)
        y[i] = np.any((own != known) & (own != 0) & (known != 0))
    return Labels(list(chains.ids), y, "multiclass", ("same", "other"))
