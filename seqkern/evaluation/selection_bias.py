"""The selection bias: the inflated score when features are selected on all samples, including the test sets.

Features selected on the training and test sets together are given to the same solver, trained on the training set and
tested on the test set. The difference from the honest score is the selection bias; such numbers are reported only as
a warning (Ambroise & McLachlan, PNAS 99, 2002).
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
from seqkern.solvers.contract import ConstantColumnWarning


def biased_scores(
    honest: Any,
    parts: tuple[Any, Any],
    y: tuple[npt.NDArray[Any], npt.NDArray[Any]],
    labels: Labels,
    test: npt.NDArray[np.int64],
    classify: Callable[[npt.NDArray[np.float64]], npt.NDArray[Any]] | None = None,
) -> dict[str, float]:
    """Return the inflated metrics of one fold with features selected on training and test data together.

    `honest` is the solver fitted on the training set, whose other choices are kept.
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
