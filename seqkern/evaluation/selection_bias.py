"""The inflated score of features selected on all samples, including the test sets.

Features selected on training and test set together are given to the same solver, trained on the training set and
tested on the test set. The difference to the honest score is the selection bias; such numbers are reported only as a
warning (Ambroise & McLachlan, PNAS 99, 2002).
"""

import warnings
from collections.abc import Callable
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
    classify: Callable[[npt.NDArray[np.float64]], npt.NDArray[Any]] | None = None,
) -> dict[str, float]:
    """Return the metrics of one fold with features selected on the test data.

    Parameters
    ----------
    honest : Solver
        Fitted on the training set; its other choices are kept.
    parts : pair of ndarray or csr_array
        The feature vectors of the training and of the test set.
    y : pair of ndarray
        Their labels, in the form for solvers.
    labels : Labels
        Labels of all samples.
    test : ndarray of int64
        The rows of the test set.
    classify : callable, optional
        Returns which decisions are positive; default: those above 0.

    Returns
    -------
    dict of str to float
        ``n_features``, then the scores of `seqkern.evaluation.metrics.scores`.
    """
    F_train, F_test = parts
    both = vstack(parts, format="csr") if issparse(F_train) else np.vstack(parts)
    # warnings were already given by the honest fits of the same solver
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
    predicted = solver.predict(F_test) if classify is None else classify(decisions) > 0
    found = scores(labels.kind, labels.y[test], decisions, codes_of(labels.kind, predicted))
    return {"n_features": len(columns), **found}
