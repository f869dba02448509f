"""Folds of residues seen as folds of their chains: what leaks from a test part to training is looked for there.

Windows of neighbouring residues overlap, and short ones are found in many chains by chance; neither is a leak. A chain
whose homolog, or whose own other residues, are trained on is one.
"""

import numpy as np
import numpy.typing as npt

from seqkern.folds.foldset import FoldSet
from seqkern.folds.split import Split
from seqkern.residues.residues import Residues
from seqkern.sequences.labels import Labels


def chain_folds(foldset: FoldSet, residues: Residues) -> FoldSet:
    """Return a FoldSet of the chains: one is in each part in which it has a residue, in both where a fold divides it.

    Parameters
    ----------
    foldset : FoldSet
        Of the residues.
    residues : Residues
        The samples that were divided.

    Returns
    -------
    FoldSet

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern import SequenceSet
    >>> from seqkern.folds import FoldSet, Split
    >>> from seqkern.folds.chains import chain_folds
    >>> from seqkern.residues import Residues
    >>> residues = Residues.of_chains(SequenceSet.from_strings(["MK", "GIV"], "protein", ids=["1abc", "2xyz"]), 3)
    >>> split = Split("1", train=np.array([2, 3, 4]), test=np.array([0, 1]))
    >>> chains = chain_folds(FoldSet("states", ("1", "2", "3", "4", "5"), (split,)), residues)
    >>> chains.ids, [(s.train.tolist(), s.test.tolist()) for s in chains]
    (('1abc', '2xyz'), [([1], [0])])
    """
    splits = (Split(s.name, *(np.unique(residues.record[rows]) for rows in (s.train, s.test))) for s in foldset)
    return FoldSet(foldset.task, tuple(residues.chains.ids), tuple(splits))


def chain_labels(identical: npt.NDArray[np.int64], residues: Residues) -> Labels:
    """Return Labels of the chains that distinguish identical chains with different states.

    Of identical chains only residues are compared whose states are known in both, as parts of one chain may be masked.

    Parameters
    ----------
    identical : ndarray of int64, shape (chains,)
        Identical chains share a number.
    residues : Residues
        Of the chains, with their states.

    Returns
    -------
    Labels
        ``"same"`` states as the first of the identical chains, or ``"other"``.
    """
    chains = residues.chains
    states = np.zeros(len(chains.codes), dtype=np.uint8)
    states[residues.positions()] = residues.states()
    y = np.zeros(len(chains), dtype=np.int64)
    first: dict[int, npt.NDArray[np.uint8]] = {}
    for i, number in enumerate(identical.tolist()):
        own = states[chains.starts[i] : chains.stops[i]]
        known = first.setdefault(number, own)
        y[i] = np.any((own != known) & (own != 0) & (known != 0))
    return Labels(list(chains.ids), y, "multiclass", ("same", "other"))
