"""The contract of every feature selector.

A selector subclasses `Selector` and defines its parameters besides `n_features`, ``_check_parameters`` for joint
conditions on them, ``_fit``, and ``tested_with`` for tests/solvers/selection/test_selector_contract.py. Input checks,
label coding, ranking and scikit-learn's transformer interface are implemented here. Call structure::

    fit(X, y) ─▶ checks ─▶ _fit(X, target) ─▶ scores_ ─▶ _order(scores) ─▶ ranking_
    get_support(), transform(X): the `n_features` best

A selector learns only from its input: inside cross-validation, fit it on the training set.
"""

import warnings
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import ClassifierTags, Tags
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted

from seqkern.core.convergence import unconverged
from seqkern.core.errors import GramError, LabelError
from seqkern.core.parameters import Parameters, anything, count
from seqkern.core.specs import json_form
from seqkern.core.threads import one_thread
from seqkern.core.types import Array, Bools, Floats, Ints
from seqkern.solvers.checking import check_width, checked_labels, convert_matrix, first_bad_row
from seqkern.solvers.selection.selectors.scaling import ExpressionScaler


class Selector(Parameters, SelectorMixin, BaseEstimator):
    """Base of all feature selectors."""

    name: ClassVar[str | None] = None
    summary: ClassVar[str] = ""
    targets: ClassVar[tuple[str, ...]] = ("binary", "multiclass")
    tested_with: ClassVar[Sequence[dict[str, Any]]] = ({},)

    n_features: int | None = count(
        None, "Number of features to choose; features that cannot be rated are never chosen. By default all others."
    )

    fit_products: ClassVar[float] = 20.0
    """Products with the matrix of features that a fit is predicted to cost; for the plan of a study."""

    # ---- what a selector writes --------------------------------------------------------------------------

    def _fit(self, X: Floats, y: Array) -> Floats:
        """Return a score for each feature, float64 (d,): greater is better, −inf if it cannot be rated.

        `X` is finite and C-ordered; `y` holds indices into `classes_` (int64), or real labels (float64).
        """
        raise NotImplementedError

    def _order(self, scores: Floats) -> Ints:
        """Return the features from best to worst, int64 (d,)."""
        return np.argsort(-scores, kind="stable")

    def fit_seconds(self, n: int, d: int) -> float:
        """Return the predicted CPU seconds of a fit to n samples with d features."""
        return self.fit_products * n * d * 1e-9

    def inner(self, *, scaled: bool = False) -> "Selector":
        """Return a new, unfitted selector for one of several parts of the training data.

        A selector that splits the data itself returns the selector that it uses in one part. If `scaled`, the part is
        already scaled, and a selector with its own scaler omits it.
        """
        return type(self)(**self.get_params(deep=False))

    def _fit_scaled(self, X: Floats, y: Array, scaler: ExpressionScaler | None) -> Floats:
        """Return the scores of `_fit` for X scaled by a fitted copy of `scaler`.

        Selectors that split the data override this to fit the scaler to each part.
        """
        return self._fit(X if scaler is None else _new(scaler).fit_transform(X), y)

    @classmethod
    def examples(cls) -> list[Self]:
        """Return small, fast selectors, with the parameters `tested_with`, for the contract suite."""
        return [cls(**one) for one in cls.tested_with]

    # ---- what its users call -----------------------------------------------------------------------------

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike) -> Self:
        """Rate and rank the features."""
        return self._learn(X, y, None)

    def fit_scaled(self, X: npt.ArrayLike, y: npt.ArrayLike, scaler: ExpressionScaler | None) -> Self:
        """Fit on unscaled values: a selector that splits the training data scales each part separately."""
        return self._learn(X, y, scaler)

    def _learn(self, X: npt.ArrayLike, y: npt.ArrayLike, scaler: ExpressionScaler | None) -> Self:
        """Check the input, rate the features with `_fit_scaled`, and rank them."""
        self.check_parameters()
        X = self._checked(X)
        target = self._coded(checked_labels(self, y, len(X)))
        # one thread gives the same sums on any computer
        with one_thread(), unconverged() as failed:
            scores = np.asarray(self._fit_scaled(X, target, scaler), dtype=np.float64)
        order = self._order(scores)
        self.scores_ = scores
        self.ranking_ = np.empty(len(order), dtype=np.int64)
        self.ranking_[order] = np.arange(1, len(order) + 1)
        self.not_converged_ = len(failed)
        if failed:
            warnings.warn(self.not_converged(), ConvergenceWarning, stacklevel=3)
        return self

    def not_converged(self) -> str:
        """Return a sentence about the classifiers that did not converge."""
        count = "1 classifier" if self.not_converged_ == 1 else f"{self.not_converged_} classifiers"
        return f"selector {self.name!r}: {count} did not converge, so the ranking is less reliable"

    def _get_support_mask(self) -> Bools:
        """Return a mask of the chosen features, bool (d,)."""
        check_is_fitted(self)
        chosen = self.scores_ > -np.inf
        return chosen if self.n_features is None else chosen & (self.ranking_ <= self.n_features)

    def spec(self) -> dict[str, Any]:
        """Return the selector as a config would write it: ``{"selector": name, parameter: value, …}``."""
        return {
            "selector": self.name,
            **{key: json_form(value) for key, value in self.get_params(deep=False).items()},
        }

    def __sklearn_tags__(self) -> Tags:
        """Return scikit-learn tags: labels are required, and whether more than two classes are accepted."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        if "multiclass" not in self.targets:
            tags.classifier_tags = ClassifierTags(multi_class=False)
        return tags

    # ---- checks ------------------------------------------------------------------------------------------

    def _checked(self, X: npt.ArrayLike) -> Floats:
        """Return `X` as a finite, C-ordered float64 matrix, without a copy if it already is one."""
        matrix: Floats = np.ascontiguousarray(convert_matrix(self, X, reset=True, sparse=False))
        row = first_bad_row(matrix)
        if row is not None:
            raise GramError(
                f"row {row} of the features contains NaN or inf", remedy="correct the table, or remove the record"
            )
        check_width(self, X, reset=True)
        return matrix

    def _coded(self, y: Array) -> Array:
        """Set `kind_` and `classes_`, and return the labels as `_fit` expects them."""
        numbers = y.dtype.kind in "fiub"
        kind = type_of_target(y)
        kind = "real" if kind == "continuous" else kind
        if kind not in self.targets and numbers and "real" in self.targets:
            kind = "real"
        if kind != "real" or kind not in self.targets:
            classes, codes = np.unique(y, return_inverse=True)
            if len(classes) < 2:
                raise LabelError(
                    f"all {len(y)} training labels are of one class, {classes[0]!s}",
                    remedy="a feature selector needs samples of two classes",
                )
        self.kind_ = kind
        if kind not in self.targets:
            raise LabelError(
                f"Unknown label type: selector {self.name!r} does not take {kind} labels",
                remedy=f"it takes: {', '.join(self.targets)}",
            )
        if kind == "real":
            return y.astype(np.float64)
        self.classes_ = classes
        return codes.astype(np.int64)


def _new(scaler: ExpressionScaler) -> ExpressionScaler:
    """Return an unfitted copy of a scaler."""
    return type(scaler)(**scaler.get_params(deep=False))


# A selector of a given list of features.


class GivenSelector(Selector):
    """A selector of given features, in the given order; it has no name in configurations."""

    summary = "Features that were chosen before."
    targets = ("binary", "multiclass", "real")

    columns: Any = anything(kw_only=False, doc="The features, best first.")

    def _fit(self, X: Floats, y: Array) -> Floats:
        """Return the scores m, m − 1, … for the given columns, −inf for the others."""
        scores = np.full(X.shape[1], -np.inf)
        scores[np.asarray(self.columns)] = np.arange(len(self.columns), 0, -1)
        return scores
