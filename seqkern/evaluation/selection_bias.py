"""The inflated score that features chosen on all samples, the test parts among them, would seem to have.

What a solver selects on training and test part together is given to the same solver, trained on the training part and
tested on the test part. The difference to the honest score is the selection bias; such numbers are shown as a warning
only (Ambroise & McLachlan, PNAS 99, 2002).
"""

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse, vstack

from seqkern.core.convergence import ignoring_unconverged
from seqkern.evaluation.metrics import codes_of, scores
from seqkern.sequences.labels import Labels
from seqkern.solvers.base import ConstantColumnWarning


def biased_scores(
    honest: Any,
    parts: tuple[Any, Any],
    y: tuple[npt.NDArray[Any], npt.NDArray[Any]],
    labels: Labels,
    test: npt.NDArray[np.int64],
    threshold: float | None = None,
) -> dict[str, float]:
    """Return the metrics of one fold whose features were chosen with a look at the test part.

    Parameters
    ----------
    honest : Solver
        Fitted on the training part; what it chose there by itself is kept.
    parts : pair of ndarray or csr_array
        The feature vectors of the training and of the test part.
    y : pair of ndarray
        Their labels, as solvers take them.
    labels : Labels
        Of all samples.
    test : ndarray of int64
        The rows of the test part among them.
    threshold : float, optional
        The decision above which a sample was predicted to be positive, where that is not what `honest` predicts.

    Returns
    -------
    dict of str to float
        ``n_features``, then what `seqkern.evaluation.metrics.scores` gives.
    """
    F_train, F_test = parts
    both = vstack(parts, format="csr") if issparse(F_train) else np.vstack(parts)
    # the honest fits of the same solver say what there is to say
    with ignoring_unconverged(), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConstantColumnWarning)
        columns = honest.with_chosen_parameters().fit(both, np.concatenate(y)).selected_columns()
        solver = honest.with_chosen_parameters().without_selection(columns)
        if solver is None:
            solver = honest.with_chosen_parameters()
            if len(columns):
                F_train, F_test = F_train[:, columns], F_test[:, columns]
            else:  # nothing was selected: a constant column
                F_train, F_test = (np.zeros((part.shape[0], 1)) for part in parts)
        solver.fit(F_train, y[0])
    decisions = solver.predict(F_test) if labels.kind == "real" else solver.decision_function(F_test)
    predicted = solver.predict(F_test) if threshold is None else decisions > threshold
    found = scores(labels.kind, labels.y[test], decisions, codes_of(labels.kind, predicted))
    return {"n_features": len(columns), **found}
