"""Decisions of several methods on one task, the design of its test sets, and reasons why a test is not possible."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import LabelError

SINGLE, FOLDS, FIVE_BY_TWO, REPEATED = "single", "folds", "five_by_two", "repeated"
HALF = re.compile(r"([1-5])\.([12])")
LEAST_RANKED, LEAST_DRAWN = 2, 10
"""Minimum samples of each class in a test set for ranking it alone and for resampling (docs/type_one_error.md)."""
OTHER_FOLDS = "use folds that test each sample once, several of each class together, or the fold method five_by_two"
OVERLAP = "the test sets overlap, so there is no valid test of a difference"
APART = (
    "most samples are tested alone or only with their own class, as in leave-one-out; the test sample is missing from "
    "the training set, which pushes decision values away from the true label, most for uninformative methods, so "
    "useless methods would seem to differ"
)
FEW_RANKED = (
    "a test set has fewer than two samples of a class, and decision values of different classifiers cannot be ranked "
    "together"
)
FEW_DRAWN = (
    f"a test set has fewer than {LEAST_DRAWN} samples of a class, too few for the bootstrap, which estimates the "
    "variation of a score by resampling with replacement"
)


@dataclass(frozen=True, eq=False)
class PairedDecisions:
    """Decisions of several methods on the test samples of one task.

    Attributes
    ----------
    kind : str
        ``binary``, ``multiclass`` or ``real``.
    ids, splits : ndarray of str, shape (n,)
        One row for each sample in each test set that contains it.
    labels : ndarray, shape (n,)
        Binary: 1 is positive; several classes: codes; or real values.
    decisions : dict of method to ndarray of float64, shape (n,)
        NaN if a method has none. Optional for several classes.
    predicted : dict of method to ndarray, shape (n,)
        Like the labels; NaN, or −1 for codes, if a method has none.
    scores : dict of method to dict of (split, metric) to float
        Scores of each test set.

    Examples
    --------
    >>> import numpy as np
    >>> ids, splits = np.array(["a", "b", "c", "d"]), np.array(["1", "1", "2", "2"])
    >>> predicted = {"spectrum": np.array([1, 0, 1, 1]), "mismatch": np.array([1, 0, 0, 1])}
    >>> paired = PairedDecisions("multiclass", ids, splits, np.array([1, 0, 0, 1]), {}, predicted, {})
    >>> paired.shape, paired.sizes().tolist(), paired.untestable("accuracy")
    ('folds', [[1, 1], [1, 1]], None)
    """

    kind: str
    ids: npt.NDArray[np.str_]
    splits: npt.NDArray[np.str_]
    labels: npt.NDArray[Any]
    decisions: Mapping[Any, npt.NDArray[np.float64]]
    predicted: Mapping[Any, npt.NDArray[Any]]
    scores: Mapping[Any, Mapping[tuple[str, str], float]]

    @cached_property
    def shape(self) -> str:
        """The design of the test sets: ``single``, ``folds``, ``five_by_two`` or ``repeated``."""
        names = np.unique(self.splits)
        if len(names) == 1:
            return SINGLE
        tested = np.unique(self.ids, return_inverse=True)[1]
        counts = np.bincount(tested)
        if counts.max() == 1:
            return FOLDS
        halves = [HALF.fullmatch(name) for name in names.tolist()]
        if len(names) != 10 or not all(halves) or (counts != 5).any():
            return REPEATED
        repeat = np.char.partition(self.splits, ".")[:, 0]
        each = np.unique(np.char.add(np.char.add(self.ids, "\t"), repeat))
        return FIVE_BY_TWO if len(each) == len(self.ids) else REPEATED

    def sizes(self, rows: npt.NDArray[np.bool_] | slice = slice(None)) -> npt.NDArray[np.int64]:
        """Return the number of samples of each class in each test set.

        Parameters
        ----------
        rows : ndarray of bool, shape (n,), or slice
            Those to count; default: all.

        Returns
        -------
        ndarray of int64, shape (parts, classes)
        """
        names, part = np.unique(self.splits[rows], return_inverse=True)
        classes = max(2, int(self.labels.max()) + 1)
        counts = np.bincount(part * classes + self.labels[rows], minlength=len(names) * classes)
        return counts.reshape(-1, classes)

    @cached_property
    def apart(self) -> bool:
        """Whether, over several test sets, most samples are tested alone or only with samples of their own class."""
        if self.shape != FOLDS:
            return False
        if self.kind == "real":
            sizes = np.unique(self.splits, return_counts=True)[1]
            own = sizes[sizes == 1]
        else:
            sizes = self.sizes()
            own = sizes[(sizes > 0).sum(axis=1) == 1]
        return bool(2 * own.sum() > len(self.labels))

    def can_draw(self, rows: npt.NDArray[np.bool_] | slice = slice(None)) -> bool:
        """Return whether every test set has enough samples of each class for resampling.

        Parameters
        ----------
        rows : ndarray of bool, shape (n,), or slice
            Those to resample; default: all.

        Returns
        -------
        bool
        """
        return bool(self.sizes(rows).min(initial=LEAST_DRAWN) >= LEAST_DRAWN)

    def untestable(self, metric: str) -> LabelError | None:
        """Return a LabelError with the reason if a metric cannot be tested on this task, else None.

        Parameters
        ----------
        metric : str
            ``auc``, ``accuracy``, another score of a ranking, or ``absolute_error``.

        Returns
        -------
        LabelError or None
            Not raised.
        """
        reason = None
        if self.shape == REPEATED:
            reason = OVERLAP
        elif self.apart:
            reason = APART
        elif self.shape == FIVE_BY_TWO or self.kind == "real":
            return None
        elif metric != "accuracy" and self.sizes().min() < LEAST_RANKED:
            reason = FEW_RANKED
        elif metric not in ("accuracy", "auc") and not self.can_draw():
            reason = FEW_DRAWN
        return LabelError(reason, remedy=OTHER_FOLDS) if reason else None


def has_value(values: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Return which values are present.

    Parameters
    ----------
    values : ndarray, shape (n,)
        Numbers, NaN for missing ones; or codes, negative for missing ones.

    Returns
    -------
    ndarray of bool, shape (n,)
    """
    return ~np.isnan(values) if values.dtype.kind == "f" else values >= 0
