"""The ROC curves of one cross-validated method, as a file."""

from collections.abc import Sequence

import numpy as np

from seqkern.evaluation.fold_tables import FoldResult
from seqkern.figures.curves import FloatArray, mean_curve, roc_points
from seqkern.figures.figure_files import collected_figures
from seqkern.figures.roc import class_roc_panel, roc_panel
from seqkern.sequences.labels import Labels

Curve = tuple[FloatArray, FloatArray]


def roc_picture(results: Sequence[FoldResult], labels: Labels) -> bytes | None:
    """Return an SVG file: of two classes a curve for each fold and their mean, of several one for each class.

    Parameters
    ----------
    results : sequence of FoldResult
        Of the folds.
    labels : Labels
        Of all samples.

    Returns
    -------
    bytes or None
        None for real labels, and where no fold has a curve.
    """
    if labels.kind == "real":
        return None
    binary = labels.kind == "binary"
    classes = labels.classes[1:] if binary else labels.classes
    curves = [(name, _curves(results, name, "decision" if binary else f"decision:{name}")) for name in classes]
    curves = [(name, found) for name, found in curves if found]
    if not curves:
        return None
    with collected_figures() as files:
        if binary:
            (_, found), *_ = curves
            roc_panel(found, mean_curve(found), f"ROC curves of {len(found)} folds and their mean")
        else:
            class_roc_panel([(name, mean_curve(found)) for name, found in curves], "mean ROC curve of each class")
    return next(content for name, content in files.items() if name.endswith(".svg"))


def _curves(results: Sequence[FoldResult], name: str, column: str) -> list[Curve]:
    """Return the curve of a class in each fold that has one."""
    found = []
    for result in results:
        positive = np.array([str(row["label"]) == name for row in result.decisions])
        false, true = roc_points(positive, np.array([row[column] for row in result.decisions], dtype=np.float64))
        if false is not None and true is not None:
            found.append((false, true))
    return found
