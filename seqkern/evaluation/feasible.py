"""Whether solvers can learn the labels of every training part, asked before any kernel is computed.

A ν that is too large for the smaller class of one training part would stop a study after hours of kernels, at that
part. Labels, folds and parameters are all that is needed to find it (`Solver.check_labels`).
"""

import numpy as np

from ..errors import ParameterError
from ..methods import dataset_methods, kernel_candidates
from ..solvers import build_solver, expand_grid, make_solver
from ..solvers.base import Solver
from . import selection


def may_refuse(spec):
    """Tell whether a solver, of a spec or of a grid of them, refuses some labels."""
    return _may_refuse(build_solver(expand_grid(spec, ends=True)[0]))


def _may_refuse(solver):
    """Tell whether a solver refuses some labels."""
    return type(solver).check_labels is not Solver.check_labels


def refusing_methods(config, dataset):
    """Return the solvers of a study that may refuse labels of a data set.

    Parameters
    ----------
    config : dict
        As `seqkern.config.check_config` returns it.
    dataset : str

    Returns
    -------
    dict of str to dict
        By name ``{"solver": spec, "inner_folds": int, "seed": int}``; no inner folds where there is nothing to choose.
    """
    after = config["inner"]["calibration"] is not None or config["inner"]["threshold"] is not None
    found = {}
    for kernel, solver in dataset_methods(config, dataset):
        spec = config["solvers"][solver]
        if may_refuse(spec):
            several = len(kernel_candidates(config, kernel)) * len(expand_grid(spec, ends=True)) > 1
            before = solver in found and found[solver]["inner_folds"] > 0
            folds = config["inner"]["folds"] if before or several or after else 0
            found[solver] = {"solver": spec, "inner_folds": folds, "seed": config["seed"]}
    return found


def check_training_part(labels, specs, *, inner_folds=3, seed=0, groups=None, place=""):
    """Raise ParameterError where a solver cannot learn the labels of a training part, or of one of its inner parts.

    Parameters
    ----------
    labels : Labels
        Of the training part.
    specs : list of dict
        Of the solvers.
    inner_folds : int
        Zero where there is nothing to choose or to fit by inner folds.
    seed, groups
        Of the inner folds, as in `seqkern.evaluation.selection.select`; the groups of the solvers' own, too.
    place : str
        What the part is called in messages.

    Raises
    ------
    ParameterError
        With the size of the part, and what would be possible.
    FoldError
        As `seqkern.evaluation.selection.inner_folds`.
    """
    made = [make_solver(spec, labels.kind, labels.classes) for spec in specs]
    solvers = [solver for solver in made if _may_refuse(solver)]
    if not solvers:
        return
    # names, so that messages name classes
    y = np.array(labels.classes)[labels.y] if labels.kind == "multiclass" else labels.y
    groups = labels.groups if groups is None else groups
    parts = [(place, np.arange(len(y)))]
    if inner_folds:
        within = selection.inner_folds(labels, inner_folds, seed, groups)
        parts += [(f"{place}{', ' if place else ''}an inner training part", train) for train, _ in within]
    for name, rows in parts:
        for solver in solvers:
            try:
                solver.check_labels(y[rows], None if groups is None else np.asarray(groups)[rows])
            except ParameterError as error:
                error.problem = f"{name}: {error.problem}" if name else error.problem
                raise
