"""Checks that solvers can learn the labels of every training set, before any kernel is computed.

A solver for other labels, such as a regression solver for classes, would stop a study at its first fold; a ν too
large for the smaller class of one training set would stop it after hours of kernels. Both are found from labels,
folds and parameters only (`Solver.targets`, `Solver.check_labels`).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from seqkern.core.errors import ParameterError
from seqkern.evaluation import selection
from seqkern.sequences.labels import Labels, refuse_numbers_as_classes
from seqkern.solvers.contract import Solver
from seqkern.solvers.layers.chain import Layers
from seqkern.solvers.solver_specs import make_solver
from seqkern.study.dataset import Dataset

Spec = Mapping[str, Any] | str | Solver


def check_labels_kind(labels: Labels, specs: Iterable[Spec]) -> None:
    """Raise ParameterError if a solver cannot learn the labels of a task, or does not know their classes."""
    for spec in specs:
        make_solver(spec, labels.kind, labels.classes)


def check_layers(layers: Layers, dataset: Dataset) -> None:
    """Raise ParameterError unless the layers after a solver suit a data set."""
    if layers.needs_chains() and dataset.residues is None:
        raise ParameterError(
            f"the samples of data set {dataset.name!r} are not residues of chains, so they have no neighbours",
            remedy="remove --layers, or use only --layers probabilities",
        )
    for task in dataset.tasks.values() if layers.layers else ():
        if task.labels.kind not in ("binary", "multiclass"):
            raise ParameterError(
                f"layers need classes, but the labels of task {task.name!r} are {task.labels.kind}",
                remedy="remove --layers",
            )
        layers.check_classes(task.labels.classes)


def check_training_part(
    labels: Labels,
    specs: Sequence[Spec],
    *,
    inner_folds: int = 3,
    seed: int = 0,
    groups: Any = None,
    place: str = "",
) -> None:
    """Raise ParameterError if a solver cannot learn the labels of a training set, or of one of its inner training sets.

    Parameters
    ----------
    labels : Labels
        Labels of the training set; samples without one are ignored.
    specs : list of dict or Solver
        Specs of the solvers.
    inner_folds : int
        Zero if nothing is chosen or fitted by inner folds.
    seed, groups
        For the inner folds, as in `seqkern.evaluation.selection.select`; the groups also for the solvers' own folds.
    place : str
        Name of the training set in messages.

    Raises
    ------
    ParameterError
        With the size of the set, and the possible values.
    LabelError
        For measurements, which would each become a class.
    FoldError
        As for `seqkern.evaluation.selection.inner_folds`.

    Examples
    --------
    >>> from seqkern.sequences.labels import make_labels
    >>> labels = make_labels(list("abcde"), ["1", "1", "0", "0", "0"])
    >>> check_training_part(labels, ["csvc", "nusvc:nu=0.5"], inner_folds=0)
    """
    used = labels.used()
    if not used.all():
        labels, groups = labels.take(used), None if groups is None else np.asarray(groups)[used]
    made = [make_solver(spec, labels.kind, labels.classes) for spec in specs]
    refuse_numbers_as_classes(labels)
    y = labels.y
    if labels.kind == "multiclass":  # by name, so that messages show class names
        y, made = np.array(labels.classes)[y], [make_solver(spec, labels.kind) for spec in specs]
    solvers = [solver for solver in made if type(solver).check_labels is not Solver.check_labels]
    if not solvers:
        return
    groups = labels.groups if groups is None else groups
    parts = [(place, np.arange(len(y)))]
    if inner_folds:
        within = selection.inner_folds(labels, inner_folds, seed, groups)
        parts += [(f"{place}{', ' if place else ''}an inner training set", train) for train, _ in within]
    for name, rows in parts:
        for solver in solvers:
            try:
                solver.check_labels(y[rows], None if groups is None else np.asarray(groups)[rows])
            except ParameterError as error:
                error.problem = f"{name}: {error.problem}" if name else error.problem
                raise
