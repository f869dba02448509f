"""What a model keeps of how it was made, besides its parts."""

import math
import platform
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from . import __version__
from .build import build_digest
from .evaluation.selection import AUTO, Choice
from .labels import Labels
from .solvers.base import Solver

if TYPE_CHECKING:
    from .models.fitted import FittedMethod
    from .models.sources import Units


def training_record(fitted: "FittedMethod", X: "Units", notes: Mapping[str, Any]) -> dict[str, Any]:
    """Return how a model was made, as JSON: versions, sizes, what was compared and chosen, how the fits went.

    Parameters
    ----------
    fitted : FittedMethod
    X : SequenceSet or table
        The training part.
    notes : mapping
        JSON to add.
    """
    labels, search = fitted.labels, fitted.method.search
    recognised = {}
    if labels.kind not in ("real", "none"):
        right = fitted.solver.predict(fitted.part.train) == fitted.y
        recognised = labels.take(right).class_counts()
    afterwards = {"calibration": fitted.calibration, "threshold": fitted.threshold}
    return {
        "versions": versions(),
        "seed": search.seed,
        "n": len(X),
        "classes": labels.class_counts(),
        "training_digest": X.digest(),
        "counts": X.counts,
        "kernel_counts": fitted.part.counts,
        "solver": fitted.choice.spec,
        "search": search_record(fitted.choice, search.metric, search.folds, labels.kind, search.rule),
        "report": fitted.solver.report_,
        "inner_not_converged": fitted.inner_not_converged,
        "recognised": recognised,
        **{name: fit.record() for name, fit in afterwards.items() if fit is not None},
        **notes,
    }


def class_names(labels: Labels, machine: Solver) -> tuple[str, ...]:
    """Return the names of the classes, or components, in the order of the solver's decisions."""
    if labels.kind == "multiclass":
        return tuple(labels.classes[int(code)] for code in machine.classes_)
    if not hasattr(machine, "predict"):
        return tuple(str(number) for number in range(1, machine.report_["components"] + 1))
    return labels.classes


def search_record(choice: Choice, metric: str, folds: int, kind: str, rule: str) -> dict[str, Any] | None:
    """Return what was compared and found, or None if there was nothing to choose."""
    if math.isnan(choice.score):
        return None
    return {
        "metric": AUTO[kind] if metric == "auto" else metric,
        "folds": folds,
        "rule": rule,
        "specs": [spec for _, spec in choice.candidates],
        "scores": choice.scores.tolist(),
        "score": choice.score,
    }


def versions() -> dict[str, str]:
    """Return the versions of what computed the model."""
    import scipy
    import sklearn

    return {
        "seqkern": __version__,
        "build": build_digest(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
    }
