"""The record of how a model was trained."""

import math
import platform
from importlib.metadata import distribution, version
from typing import Any, cast

import numpy as np

from seqkern import __version__
from seqkern.core.build import build_digest
from seqkern.evaluation.refinement import ends, number_paths
from seqkern.evaluation.selection import AUTO, Choice
from seqkern.sequences.labels import Labels
from seqkern.solvers.base import Solver
from seqkern.solvers.kinds import ClassSolver


def class_names(labels: Labels, solver: Solver) -> tuple[str, ...]:
    """Return the names of the classes, or components, in the order of the solver's decision values.

    Parameters
    ----------
    labels : Labels
        Labels of the training set.
    solver : Solver
        Fitted on it.

    Returns
    -------
    tuple of str
        Of components ``"1"``, ``"2"``, ….
    """
    if labels.kind == "multiclass":
        return tuple(labels.classes[int(code)] for code in cast(ClassSolver, solver).classes_)
    if not hasattr(solver, "predict"):
        return tuple(str(number) for number in range(1, solver.report_["components"] + 1))
    return labels.classes


def search_record(choice: Choice, metric: str, folds: int, kind: str, rule: str) -> dict[str, Any] | None:
    """Return the candidates and their scores, or None if there was nothing to choose.

    Parameters
    ----------
    choice : Choice
        That of the inner loop.
    metric, rule : str
        The metric, and the rule of choice (see `Search`).
    folds : int
        Folds of the inner loop.
    kind : {"binary", "multiclass", "real"}
        Of the labels.

    Returns
    -------
    dict or None
        JSON.
    """
    if math.isnan(choice.score):
        return None
    return {
        "metric": AUTO[kind] if metric == "auto" else metric,
        "folds": folds,
        "rule": rule,
        "kernels": [kernel for kernel, _ in choice.candidates],
        "specs": [spec for _, spec in choice.candidates],
        "scores": choice.scores.tolist(),
        "score": choice.score,
        "ends": grid_ends(choice, kind),
    }


def grid_ends(choice: Choice, kind: str) -> dict[str, str]:
    """Return the parameters whose best value lies at an end of the values tried, so that a better one may lie beyond.

    Parameters
    ----------
    choice : Choice
        Of the inner loop.
    kind : str
        Of the labels: of classes, a score of 1 leaves nothing to gain.

    Returns
    -------
    dict of str to str
        ``"smallest"`` or ``"largest"``, by parameter.
    """
    if choice.place not in choice.tied or (kind != "real" and choice.score >= 1 - 1e-9):
        return {}
    tied = [choice.candidates[c] for c in choice.tied]
    return ends((choice.kernel, choice.spec), tied, choice.candidates, number_paths(choice.spec))


def versions() -> dict[str, str]:
    """Return the versions of the software that trained the model."""
    return {
        "seqkern": __version__,
        "build": build_digest(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": _version("scipy"),
        "scikit-learn": _version("scikit-learn"),
    }


def _version(package: str) -> str:
    """Return the version of an installed package; its long description is not parsed, which takes milliseconds."""
    head = (distribution(package).read_text("METADATA") or "").partition("\n\n")[0]
    found = [line.partition(": ")[2] for line in head.splitlines() if line.startswith("Version: ")]
    return found[0] if found else version(package)
