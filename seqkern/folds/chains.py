"""Folds of residues as folds of their chains, to detect leakage between training and test sets.

Windows of neighbouring residues overlap, and short ones occur in many chains by chance; neither is leakage. A test
chain is a leak if a homolog, or other residues of the chain, are in the training set.
"""

import numpy as np
import numpy.typing as npt

from seqkern.folds.foldset import FoldSet
from seqkern.folds.split import Split
from seqkern.residues.residues import Residues
from seqkern.sequences.labels import Labels


def chain_folds(foldset: FoldSet, residues: Residues) -> FoldSet:
    """Return a FoldSet of the chains: each is in the sets that contain its residues, possibly in both.

    Parameters
    ----------
    foldset : FoldSet
        Folds of the residues.
    residues : Residues
        The samples of these folds.

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

    Of identical chains, only residues with known states in both are compared, since parts of a chain may be masked.

    Parameters
    ----------
    identical : ndarray of int64, shape (chains,)
        Identical chains share a number.
    residues : Residues
        The residues, with their states.

    Returns
    -------
    Labels
        ``"same"`` if the states equal those of the first identical chain, else ``"other"``.
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
