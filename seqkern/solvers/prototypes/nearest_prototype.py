"""The nearest class mean in feature space."""

from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.core.threads import one_thread
from seqkern.solvers.prototypes.gram_prototypes import GramPrototypes
from seqkern.solvers.prototypes.starts import means_of


class NearestPrototype(GramPrototypes):
    r"""Nearest prototype: the class whose mean is nearest in feature space.

    Attributes
    ----------
    coef_ : ndarray of float64, shape (classes, n)
        1/n_c for the n_c members of the class, else 0.
    squares_ : ndarray of float64, shape (classes,)
        ‖m_c‖².
    report_ : dict
        ``objective`` is the mean squared distance of the samples from the mean of their class.

    Notes
    -----
    With m_c the mean of φ(x_i) over the class,

    .. math:: ‖φ(x) − m_c‖^2 = K(x, x) − (2/n_c) \sum_{i ∈ c} K(x, x_i) + (1/n_c^2) \sum_{i,j ∈ c} K(x_i, x_j)

    The decision for two classes is the difference of these squared distances, above zero where the second is nearer;
    for several classes, by how much the nearest other mean is farther. K(x, x) cancels, so any matrix works, also −½ D²
    of distances D. Two classes give a linear decision, the simplest there is: nothing is fitted but the means.

    Complexity: O(n²) for n samples, and O(n) per decision.

    References
    ----------
    Rocchio: Relevance feedback in information retrieval. In Salton (ed.), The SMART Retrieval System, 1971.

    Schölkopf, Smola: Learning with Kernels (section 1.2). MIT Press, 2002.

    Examples
    --------
    >>> from seqkern import SequenceSet
    >>> from seqkern.kernels import SpectrumKernel
    >>> from seqkern.solvers import NearestPrototype
    >>> repeats = SequenceSet.from_strings(["ACACACAC", "ACACACAT", "GTGTGTGT", "GTGTGTGA", "ACACACTT"], "dna")
    >>> K = SpectrumKernel(k=2).kernel(repeats)
    >>> solver = NearestPrototype().fit(K[:4, :4], ["CA", "CA", "GT", "GT"])
    >>> solver.predict(K[4:, :4]).tolist()
    ['CA']
    """

    name = "nearest_prototype"
    summary = "Nearest prototype: the class whose mean is nearest, by kernel distance."
    fit_products = 4.0
    gram_copies = 0.1

    def _fit(self, K: Any, y: npt.NDArray[Any]) -> dict[str, Any]:
        """Compute the means."""
        codes = y.astype(np.int64)
        with one_thread():
            distances = self._keep(means_of(codes, len(self.classes_)), self._first_codes(1), np.asarray(K), codes)
        objective = float(distances[codes, np.arange(len(codes))].mean())
        return {"converged": True, "iterations": 1, "residual": 0.0, "objective": objective}
