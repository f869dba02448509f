"""A structural SVM along the chain."""

import numpy as np
import numpy.typing as npt

from seqkern.layers import _paths
from seqkern.layers.path_layer import Learned, PathLayer, Paths
from seqkern.layers.path_margin import PathMargin
from seqkern.residues import Residues


class ChainSVMLayer(PathLayer):
    """Structural SVM (hidden Markov SVM): the path of labels with the largest score, by maximum margin.

    The score of a path c is Σ_i (f_i · u_(c_i) + b_(c_i)) + Σ_i t(c_(i−1), c_i). f_i are features of the scores in the
    window around residue i, linear or of an RBF kernel as in `StructureLayer`. The weights w = (u, b, t) minimise
    ½‖w‖² + C Σ max_c (wrong(c) + score(c) − score(true)), wrong(c) the number of wrong labels in c.

    Attributes
    ----------
    weights_ : PathWeights
    objective_, gap_ : float
        What is minimised, and the duality gap.
    iterations_ : int
        Passes over the training set.

    Notes
    -----
    Residues without a class, or without scores, are treated as by `CrfLayer`. `transform` gives for each label of a
    residue the score of the best path with it, less the mean over the labels.

    Block-coordinate Frank-Wolfe: each step finds the path of a run that violates its margin most, by Viterbi, and moves
    its share of the dual weights there, as far as is best. A pass over n residues with d features and k labels takes
    O(n (d k + k² memory)). It takes 15 passes at small C, and about in proportion more at larger: hundreds for C ≥ 1.

    References
    ----------
    Altun, Tsochantaridis, Hofmann: Hidden Markov support vector machines. ICML 2003.
    Tsochantaridis, Joachims, Hofmann, Altun: Large margin methods for structured and interdependent output variables.
    J. Mach. Learn. Res. 6:1453, 2005.
    Lacoste-Julien, Jaggi, Schmidt, Pletscher: Block-coordinate Frank-Wolfe optimization for structural SVMs. ICML 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern import SequenceSet
    >>> from seqkern.layers import ChainSVMLayer
    >>> from seqkern.residues import Residues
    >>> chains = SequenceSet.from_strings(["GSAEALKAGPSG", "PGEELLAKAGNG"], "protein")
    >>> residues = Residues.of_chains(chains, window=1)
    >>> states = np.tile([1, 1, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1], 2)
    >>> helix = np.where(states == 0, 1.0, -1.0)
    >>> helix[[5, 23]] *= -0.5  # two residues that are wrong
    >>> scores = np.column_stack([helix, -helix])
    >>> layer = ChainSVMLayer(window=1, features="linear", C=1).fit(scores, residues, states, classes=["H", "C"])
    >>> "".join("HC"[state] for state in layer.predict(scores, residues)[:12])
    'CCHHHHHHCCCC'
    """

    name = "chain_svm"
    summary = "Chooses the labels of a chain together: the path with the largest score, by a structural SVM."

    def _learn(self, paths: Paths) -> Learned:
        """Minimise ½‖w‖² + C Σ loss."""
        return PathMargin(paths, self.C, self.seed).minimise(self.tol, self.max_iter)

    def transform(self, scores: npt.ArrayLike, chains: Residues) -> npt.NDArray[np.float64]:
        """Return the score of the best path with each label; see `Layer.transform`."""
        out = self._over_runs(scores, chains, _paths.best_scores, np.empty((len(chains), len(self.classes_))))
        return out - out.mean(axis=1, keepdims=True)
