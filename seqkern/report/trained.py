"""In words: which hyperparameters the model of a single purpose was trained with."""

from collections.abc import Mapping
from typing import Any

from seqkern.core.markup import tag
from seqkern.report.sentences import metric
from seqkern.solvers.bound_names import BOUNDS


def chosen_values(training: Mapping[str, Any]) -> list[object] | None:
    """Return the chosen values as part of a sentence; None where there was nothing to choose.

    Parameters
    ----------
    training : mapping
        ``solver`` as chosen, and ``search``: ``metric`` and ``folds``, or None.

    Returns
    -------
    list or None
    """
    search = training.get("search")
    if not search:
        return None
    chosen = {key: value for key, value in (training.get("solver") or {}).items() if key != "solver"}
    values = ", ".join(f"{key} = {value}" for key, value in chosen.items())
    scored = metric(search["metric"]).name
    if search["metric"] in BOUNDS:
        return [", with ", tag("b", values), f", the lowest {scored} of one fit for each candidate"]
    return [", with ", tag("b", values), f", the best {scored} in {search['folds']} folds of cross-validation"]
