"""Bounds of the leave-one-out error as criteria of the inner loop: one fit of each candidate, and no inner fold."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import GramError, ParameterError
from seqkern.evaluation.trials import Trials
from seqkern.kernels.kernel import Kernel
from seqkern.solvers import make_solver
from seqkern.solvers.base import Solver
from seqkern.solvers.bound_names import BOUNDS

WITH_GROUPS = (
    "leaves out one sample at a time: it ignores that similar samples are kept together, so its estimates are too good"
)
"""What is said of such a metric where samples have groups."""


def check_bound(
    metric: str, kind: str, specs: Iterable[Mapping[str, Any] | str | Solver], classes: tuple[str, ...] = ()
) -> None:
    """Raise ParameterError if the metric is a bound that a solver does not give for such labels.

    Parameters
    ----------
    metric : str
        Of the inner loop; others than `BOUNDS` suit all.
    kind : str
        Of the labels.
    specs : iterable of dict or Solver
        The solvers.
    classes : tuple of str, optional
        Names of the classes.

    Raises
    ------
    ParameterError
        With the remedy.

    Examples
    --------
    >>> check_bound("span", "binary", ["csvc"])
    >>> check_bound("span", "binary", ["psvc"])
    Traceback (most recent call last):
        ...
    seqkern.core.errors.ParameterError: solver 'psvc' has no bound for the inner metric 'span'; choose csvc ...
    """
    if metric not in BOUNDS:
        return
    if kind != "binary":
        raise ParameterError(
            f"the inner metric {metric!r} is for two classes, but the labels are {kind}",
            remedy="choose another inner metric, such as auto",
        )
    for spec in specs:
        solver = make_solver(spec, kind, classes) if classes else make_solver(spec, kind)
        if not solver.gives_bounds:
            raise ParameterError(
                f"solver {solver.name!r} has no bound for the inner metric {metric!r}",
                remedy="choose csvc or nusvc, or another inner metric, such as auc",
            )


def check_bound_kernels(metric: str, kernels: Mapping[str, Kernel | None]) -> None:
    """Raise ParameterError if the metric is a bound, and a kernel learns from the training set.

    Such a kernel has seen the sample that a bound leaves out, often with its label: the bound would be far too low.

    Parameters
    ----------
    metric : str
        Of the inner loop; others than `BOUNDS` suit all.
    kernels : mapping of str to Kernel
        By name.

    Raises
    ------
    ParameterError
        With the remedy.

    Examples
    --------
    >>> from seqkern.kernels import SpectrumKernel
    >>> check_bound_kernels("span", {"three": SpectrumKernel(3)})
    """
    for name, kernel in kernels.items() if metric in BOUNDS else ():
        if kernel is not None and kernel.data_dependent:
            raise ParameterError(
                f"kernel {name!r} learns from the training set, so that the inner metric {metric!r} would be too good",
                remedy="choose kernels that do not learn, or another inner metric, such as auc",
            )


def whole_part(n: int) -> list[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]]:
    """Return the only part of an inner loop by a bound: all samples for training, none held out.

    Parameters
    ----------
    n : int
        Training samples.

    Returns
    -------
    list of (ndarray, ndarray)
    """
    return [(np.arange(n), np.arange(0))]


class BoundTrials(Trials):
    """Candidates tried on the whole training set, scored by a bound of the leave-one-out error.

    The first measure is named like the bound, whose negative is the score; the others, which decide between equal
    bounds, see the decisions of the span rule.

    Examples
    --------
    >>> from seqkern.evaluation.ranking import roc_auc
    >>> from seqkern.sequences.labels import make_labels
    >>> labels = make_labels(list("abcdef"), ["decoy"] * 3 + ["donor"] * 3)
    >>> x = np.array([-2.0, -1.0, 0.2, 0.5, 1.0, 2.0])
    >>> pairs = {"linear": lambda train, valid, y: (np.outer(x[train], x[train]), np.outer(x[valid], x[train]))}
    >>> measures = {"span": roc_auc}
    >>> trials = BoundTrials(pairs, labels, make_solver, whole_part(6), measures)
    >>> trials.add([("linear", {"solver": "csvc", "C": 10})])
    >>> trials.means().round(3).tolist(), trials.n_fits
    ([[-0.167]], 1)
    """

    def _outcome(self, solver: Any, K_train: Any, K_valid: Any, f: int) -> tuple[list[float], npt.NDArray[np.float64]]:
        """Return the negative of the bound, the measures of the decisions of the span rule, and these decisions."""
        found, (name, *others) = solver.leave_one_out(K_train, self.y, limited=False), self.measures
        if found is None or found.decisions is None:
            raise GramError(
                f"the inner metric {name!r} is not defined on this Gram matrix: it is not positive semi-definite, or "
                "read by rows, or the solver found no margin",
                remedy="choose another inner metric, such as auc",
            )
        outcome = self.labels.y, found.decisions, found.decisions > 0
        return [-found.value(name), *(float(self.measures[other](*outcome)) for other in others)], found.decisions

    def _scored(self, f: int) -> npt.NDArray[np.int64]:
        """Return all rows."""
        return self.parts[f][0]
