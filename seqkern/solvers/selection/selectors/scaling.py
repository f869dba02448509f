"""Preprocessing of expression values, fitted on training rows and applied to new ones."""

from collections.abc import Mapping
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from seqkern.core.checks import check_real
from seqkern.core.errors import GramError, ParameterError
from seqkern.core.parameters import Parameters, choice, flag, real, share
from seqkern.core.specs import json_form
from seqkern.core.types import Array, Bools, Floats


class ExpressionScaler(Parameters, OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Normalisation, present call, standardisation and clipping, in this order.

    `fit` learns everything, so that cross-validation uses no held-out sample.

    Attributes
    ----------
    present_ : ndarray of bool, shape (d,)
        The genes that passed the present call.
    means_, scales_ : ndarray of float64, shape (d,)
        Mean and standard deviation of the training samples; 0 and 1 without `standardize`; a
        scale of 0 marks a constant column.
    low_, high_ : ndarray of float64, shape (d,)
        The range of the scaled training samples.
    quantiles_ : ndarray of float64, shape (d,), or (0,) without quantile normalisation
        The mean of the sorted training samples.

    Notes
    -----
    Bolstad, Irizarry, Åstrand & Speed, Bioinformatics 19, 2003 (quantile normalisation).

    Examples
    --------
    >>> from seqkern.solvers.selection.selectors.scaling import ExpressionScaler
    >>> scaler = ExpressionScaler(normalize="log", floor=20, present_above=100, present_share=0.5)
    >>> scaler.fit_transform([[16, 400, 90], [80, 1600, 95], [40, 800, 60]]).round(2)
    array([[ 0.  , -1.22,  0.  ],
           [ 0.  ,  1.22,  0.  ],
           [ 0.  ,  0.  ,  0.  ]])
    >>> scaler.present_
    array([False,  True, False])
    >>> scaler.transform([[16, 6400, 90]]).round(2)  # clipped to the range of the training samples
    array([[0.  , 1.22, 0.  ]])
    """

    normalize: Literal["log", "quantile"] | None = choice(
        default=None,
        doc='``"log"``: log₂ of the value. ``"quantile"``: each row gets the average distribution of '
        "the training rows: its r-th smallest value becomes the mean of their r-th smallest "
        "values (ties get the mean of theirs). It needs all columns of a row.",
    )
    floor: float | None = real(default=None, doc='Values below are first set to this. ``"log"`` needs a floor above 0.')
    ceiling: float | None = real(default=None, doc="Values above are first set to this.")
    present_above: float | None = real(
        default=None, doc="A gene is called present in a row if its original value is above this."
    )
    present_p: float | None = share(
        None,
        "A gene is called present in a row if its original value is above the background with at most this "
        "p-value: 1 − Φ((x − m)/s). m is the middle of the shortest interval that holds half of the values of the "
        "row, s is 1.4826 times the median distance of the values below m: the background is taken as normal, and as "
        "most of the genes of a chip. With `present_above` too, both must hold.",
        open_low=True,
        open_high=True,
    )
    present_share: float = share(
        0.1,
        "A gene present in less than this share of the training rows is set to 0 everywhere, so "
        "that no selector chooses it.",
    )
    standardize: bool = flag(
        default=True,
        doc="Subtract the mean and divide by the standard deviation (divisor n) of the training rows. "
        "A constant column becomes 0.",
    )
    clip: bool = flag(default=True, doc="Clip new values to the range of their column in the training rows.")

    def _check_parameters(self) -> None:
        if self.normalize == "log":
            check_real("floor", self.floor, 0, open_low=True)
        if self.ceiling is not None and self.floor is not None:
            check_real("ceiling", self.ceiling, self.floor)

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike | None = None) -> Self:
        """Learn from training samples."""
        self.fit_transform(X)
        return self

    def fit_transform(self, X: npt.ArrayLike, y: npt.ArrayLike | None = None) -> Floats:
        """Learn from training samples and return them scaled."""
        self.check_parameters()
        raw = self._checked(X, reset=True)
        self.present_ = np.ones(raw.shape[1], dtype=bool)
        if self.present_above is not None or self.present_p is not None:
            self.present_ = self._calls(raw).mean(axis=0) >= self.present_share
        limited = self._limited(raw)
        self.quantiles_ = np.empty(0)
        if self.normalize == "quantile":
            self.quantiles_ = np.sort(limited, axis=1).mean(axis=0)
        values = self._normalized(limited)
        self.means_, self.scales_ = np.zeros(raw.shape[1]), np.ones(raw.shape[1])
        if self.standardize:
            self.means_ = values.mean(axis=0)
            self.scales_ = np.sqrt(np.square(values - self.means_).mean(axis=0))
            self.scales_[self.scales_ <= 1e-12 * np.abs(values).max(axis=0)] = 0.0
        values = self._standardized(values)
        self.low_, self.high_ = values.min(axis=0), values.max(axis=0)
        return values

    def transform(self, X: npt.ArrayLike) -> Floats:
        """Return samples scaled as the training samples were."""
        check_is_fitted(self)
        values = self._standardized(self._normalized(self._limited(self._checked(X, reset=False))))
        return np.clip(values, self.low_, self.high_) if self.clip else values

    def needs_all_columns(self) -> bool:
        """Return whether a column's scaled values depend on the other columns."""
        return self.normalize == "quantile"

    def restrict(self, columns: npt.ArrayLike) -> "ExpressionScaler":
        """Return the fitted scaler for matrices with these columns alone."""
        header, arrays = self.state()
        columns = np.asarray(columns, dtype=np.int64)
        picked = {key: value if key == "quantiles" else value[columns] for key, value in arrays.items()}
        return scaler_from_state({**header, "columns": len(columns)}, picked)

    def state(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """Return (JSON dict, dict of arrays); `scaler_from_state` restores the scaler from it."""
        check_is_fitted(self)
        names = ("present", "means", "scales", "low", "high", "quantiles")
        header = {"spec": self.spec(), "columns": self.n_features_in_}
        return header, {name: getattr(self, f"{name}_") for name in names}

    def spec(self) -> dict[str, Any]:
        """Return the parameters as a config would write them."""
        return {key: json_form(value) for key, value in self.get_params(deep=False).items()}

    def _calls(self, raw: Floats) -> Bools:
        """Return a mask of the rows in which each gene is present."""
        calls = np.ones(raw.shape, dtype=bool)
        if self.present_above is not None:
            calls &= raw > self.present_above
        if self.present_p is not None:
            calls &= background_p(raw) <= self.present_p
        return calls

    def _limited(self, X: Floats) -> Floats:
        """Return the values clipped to floor and ceiling."""
        if self.floor is None and self.ceiling is None:
            return X
        return np.clip(X, self.floor, self.ceiling)

    def _normalized(self, X: Floats) -> Floats:
        """Return the values on a logarithmic scale, or with the distribution of the training rows."""
        if self.normalize == "log":
            return np.log2(X)
        if self.normalize == "quantile":
            return np.stack([_with_distribution(row, self.quantiles_) for row in X])
        return X

    def _standardized(self, X: Floats) -> Floats:
        """Return the standardised values, 0 for constant columns and absent genes."""
        good = self.present_ & (self.scales_ > 0)
        values = (X - self.means_) / np.where(good, self.scales_, 1.0)
        values[:, ~good] = 0.0
        return values

    def _checked(self, X: npt.ArrayLike, reset: bool) -> Floats:
        """Return `X` as a finite float64 matrix."""
        try:
            matrix = check_array(X, dtype=np.float64, ensure_all_finite=False, estimator=self)
            good = np.isfinite(matrix).all(axis=1)
            if not good.all():
                raise GramError(
                    f"row {int(np.argmin(good))} of the features contains NaN or inf",
                    remedy="correct the table, or remove the record",
                )
            validate_data(self, X, reset=reset, skip_check_array=True)
        except GramError:
            raise
        except ValueError as error:
            raise GramError(str(error)) from error
        return matrix


def scaler_from_state(header: Mapping[str, Any], arrays: Mapping[str, Array]) -> ExpressionScaler:
    """Return the fitted scaler restored from the state of `ExpressionScaler.state`."""
    scaler = ExpressionScaler(**header["spec"])
    scaler.n_features_in_ = header["columns"]
    for name, value in arrays.items():
        setattr(scaler, f"{name}_", value)
    return scaler


def background_p(X: Floats) -> Floats:
    """Return the p-values of values (unscaled, rows are samples) against the background of their row.

    The p-value is 1 − Φ((x − m)/s), with a normal background: m is the middle of the shortest interval that holds half
    of the values, and s is 1.4826 times the median of m − x over the values up to m, where hardly any gene is
    expressed. If s is 0, the p-value is 0 above m and 1 elsewhere. The shortest half: Andrews et al., Robust Estimates
    of Location, Princeton 1972.

    >>> import numpy as np
    >>> background_p(np.array([[10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 400.0]])).round(3)
    array([[0.844, 0.632, 0.368, 0.156, 0.046, 0.009, 0.   ]])
    """
    ordered, half = np.sort(X, axis=1), X.shape[1] // 2
    widths = ordered[:, half:] - ordered[:, : X.shape[1] - half]
    start = widths.argmin(axis=1)
    rows = np.arange(len(X))
    middle = ((ordered[rows, start] + ordered[rows, start + half]) / 2)[:, None]
    below = np.where(middle >= X, middle - X, np.nan)
    deviation = 1.4826 * np.nanmedian(below, axis=1, keepdims=True)
    above = np.divide(X - middle, deviation, out=np.where(middle < X, np.inf, -np.inf), where=deviation > 0)
    return np.asarray(ndtr(-above))


def _with_distribution(row: Floats, quantiles: Floats) -> Floats:
    """Return the row with each value replaced by the quantile of its rank; ties get the mean of their quantiles."""
    order = np.argsort(row)
    ranked = row[order]
    starts = np.flatnonzero(np.concatenate([[True], ranked[1:] != ranked[:-1]]))
    counts = np.diff(starts, append=len(row))
    out = np.empty(len(row))
    out[order] = np.repeat(np.add.reduceat(quantiles, starts) / counts, counts)
    return out


def check_scaler(scaler: ExpressionScaler | None) -> None:
    """Raise ParameterError unless `scaler` is None or an ExpressionScaler with valid parameters."""
    if scaler is None:
        return
    if not isinstance(scaler, ExpressionScaler):
        raise ParameterError(f"scaler={scaler!r} is not possible", remedy="give an ExpressionScaler")
    scaler.check_parameters()
