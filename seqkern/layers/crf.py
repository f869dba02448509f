"""A conditional random field along the chain."""

from typing import Literal

import numpy as np
import numpy.typing as npt

from seqkern.core.parameters import choice
from seqkern.layers import _paths
from seqkern.layers.path_layer import Learned, PathLayer, Paths
from seqkern.layers.path_likelihood import PathLikelihood
from seqkern.residues import Residues


class CrfLayer(PathLayer):
    """Conditional random field: probabilities of whole paths of labels along a chain.

    P(c | f) ∝ exp(Σ_i (f_i · u_(c_i) + b_(c_i)) + Σ_i t(c_(i−1), c_i)) for a path c of labels. f_i are features of the
    scores in the window around residue i, linear or of an RBF kernel as in `StructureLayer`. The weights w = (u, b, t)
    minimise ½‖w‖² − C Σ log P(c | f), over the true paths.

    Attributes
    ----------
    weights_ : PathWeights
    objective_, gap_ : float
        What is minimised, and an upper bound of how far it is above the minimum.
    iterations_ : int
        Passes over the training set.

    Notes
    -----
    A path is a run of residues that all have a class, and follow each other: chains are cut at residues without a
    class, whose scores still are in the windows of the others. At prediction the paths are whole chains, cut only at
    residues without scores.

    `transform` gives the natural logarithms of the probabilities of the labels of each residue, over all paths. Where
    the scores say little, the single most probable path has few and long segments, and far fewer residues right than
    the most probable labels; hence the default of `decode`.

    Gradients are exact, by the forward and backward recursions in logarithms: O(n (d k + k² memory)) for a pass over n
    residues with d features and k labels. L-BFGS takes 15 to 60 passes, in coordinates in which the second derivatives
    without the steps are about 1. The objective less ½‖w‖² is convex, so that the objective is at most ½‖gradient‖²
    above its minimum.

    References
    ----------
    Lafferty, McCallum, Pereira: Conditional random fields: probabilistic models for segmenting and labeling sequence
    data. ICML 2001.
    Sha, Pereira: Shallow parsing with conditional random fields. HLT-NAACL 2003.

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern import SequenceSet
    >>> from seqkern.layers import CrfLayer
    >>> from seqkern.residues import Residues
    >>> chains = SequenceSet.from_strings(["GSAEALKAGPSG", "PGEELLAKAGNG"], "protein")
    >>> residues = Residues.of_chains(chains, window=1)
    >>> states = np.tile([1, 1, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1], 2)
    >>> helix = np.where(states == 0, 1.0, -1.0)
    >>> helix[[5, 23]] *= -0.5  # two residues that are wrong
    >>> scores = np.column_stack([helix, -helix])
    >>> layer = CrfLayer(window=1, features="linear", C=1).fit(scores, residues, states, classes=["H", "C"])
    >>> "".join("HC"[state] for state in layer.predict(scores, residues)[:12])
    'CCHHHHHHCCCC'
    >>> np.exp(layer.transform(scores, residues)).round(2)[4:7]
    array([[0.98, 0.02],
           [0.78, 0.22],
           [0.98, 0.02]])
    """

    name = "crf"
    summary = "Gives probabilities of whole paths of labels along a chain, by a conditional random field."
    calibrated = True

    decode: Literal["residues", "path"] = choice(
        default="residues",
        doc="What is predicted: the most probable label of each of the ``residues``, over all paths, or the most "
        "probable ``path``.",
    )

    def _learn(self, paths: Paths) -> Learned:
        """Minimise ½‖w‖² − C log likelihood."""
        return PathLikelihood(paths, self.C).minimise(self.tol, self.max_iter)

    def transform(self, scores: npt.ArrayLike, chains: Residues) -> npt.NDArray[np.float64]:
        """Return natural logarithms of probabilities; see `Layer.transform`."""
        return self._over_runs(scores, chains, _paths.log_shares, np.empty((len(chains), len(self.classes_))))

    def predict(self, scores: npt.ArrayLike, chains: Residues) -> npt.NDArray[np.int64]:
        """Return the labels by `decode`, int64 (n,)."""
        if self.decode == "path":
            return super().predict(scores, chains)
        return self.transform(scores, chains).argmax(axis=1)
