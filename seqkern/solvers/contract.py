"""The contract of every solver.

A solver subclasses `BinarySolver` or `RealSolver` (or `Solver`, for other targets) and defines its parameters,
``declared``, its traits, ``_check_parameters`` for conditions on several parameters, ``_fit`` and ``_decide``,
``learned`` for the model file, and ``tested_with`` for tests/solvers/test_solver_contract.py. Call structure::

    fit(K, y) ─▶ checks ─▶ _fit(K, target) ─▶ support_, report_
    decision_function(K) ─▶ checks ─▶ _decide(K, columns)

Prediction needs only the columns `support_` of a kernel matrix between new and training sequences. In a restricted
solver these columns are renumbered, so that a model keeps few sequences.
"""

import copy
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

import numpy as np
import numpy.typing as npt

from seqkern.core.archive import nest, unnest
from seqkern.core.convergence import warn_unconverged
from seqkern.core.declarations import Component, Parameter
from seqkern.core.errors import GramError, LabelError, ModelError, ParameterError
from seqkern.core.memory import WITHOUT_MATRIX
from seqkern.core.parameters import Parameters
from seqkern.core.registry import kind_of
from seqkern.core.specs import json_form
from seqkern.core.types import Array, Arrays, Floats, Header, Ints
from seqkern.gram.matrix import GramRows
from seqkern.kernels.kernel_operator import KernelOperator
from seqkern.solvers.capabilities import Exemplar, LeaveOneOut, SelectedFeatures, Traits, Variances
from seqkern.solvers.checking import (
    check_decisions,
    check_fit,
    check_targets,
    checked_labels,
    checked_matrix,
    count_rows,
    known_labels,
    labelled,
    lost_beside_bias,
    lost_digits,
)
from seqkern.solvers.costs import EXPECTED_PRODUCTS, PRODUCT_SECONDS, FitCost, FitWork

if TYPE_CHECKING:
    from sklearn.utils import Tags
    from sklearn.utils.metadata_routing import MetadataRequest


# scikit-learn's estimator protocol without importing scikit-learn, which takes a second.
#
# `clone`, `Pipeline`, `GridSearchCV` and `cross_val_score` need parameters, tags, `score` and the fitted state, but no
# base class. Tags and scores are built on demand, when scikit-learn is already imported.

Some = TypeVar("Some", bound=Parameters)


class Estimator(Parameters):
    """Base of solvers; `fit` sets the attributes that end with an underscore."""

    def __sklearn_tags__(self) -> "Tags":
        """Return scikit-learn's tags for an estimator that is neither classifier nor regressor."""
        from sklearn.utils import Tags, TargetTags  # imported here: scikit-learn slows start-up

        return Tags(estimator_type=None, target_tags=TargetTags(required=False))

    def __sklearn_is_fitted__(self) -> bool:
        """Return whether `fit` was called."""
        return any(name.endswith("_") and not name.startswith("__") for name in vars(self))

    # metadata routing: groups for `fit`, sample weights for `score` where it exists

    def get_metadata_routing(self) -> "MetadataRequest":
        """Return the requests made by `set_fit_request` and `set_score_request`."""
        # imported here: scikit-learn, the caller, has loaded it already
        from sklearn.utils.metadata_routing import MetadataRequest, get_routing_for_object

        if hasattr(self, "_metadata_request"):
            return get_routing_for_object(self._metadata_request)
        request = MetadataRequest(owner=self)
        request.fit.add_request(param="groups", alias=None)
        if hasattr(self, "score"):
            request.score.add_request(param="sample_weight", alias=None)
        return request

    def set_fit_request(self, *, groups: bool | str | None) -> Self:
        """Set whether a meta-estimator passes groups to `fit`; None makes passing them an error."""
        return self._request("fit", "groups", groups)

    def set_score_request(self, *, sample_weight: bool | str | None) -> Self:
        """Set whether a meta-estimator passes sample weights to `score`."""
        return self._request("score", "sample_weight", sample_weight)

    def _request(self, method: str, name: str, wanted: Any) -> Self:
        """Keep one request under the name that `sklearn.base.clone` copies, and return self."""
        from sklearn import get_config  # imported here: slows start-up

        if not get_config()["enable_metadata_routing"]:
            raise RuntimeError("metadata routing is off; call sklearn.set_config(enable_metadata_routing=True) before")
        request = self.get_metadata_routing()
        getattr(request, method).add_request(param=name, alias=wanted)
        self._metadata_request = request
        return self

    if TYPE_CHECKING:

        def set_params(self, **params: Any) -> Self:  # documented in Parameters, with a more general type
            ...

    def _repr_html_(self) -> str:
        """Return the HTML representation for notebooks."""
        from sklearn.utils import estimator_html_repr  # imported here: scikit-learn slows start-up

        return estimator_html_repr(self)


def clone(estimator: Some) -> Some:
    """Return a new, unfitted estimator with the same parameters, like `sklearn.base.clone`.

    >>> from seqkern.solvers import CSVC
    >>> from seqkern.solvers.contract import clone
    >>> fitted = CSVC(C=10.0).fit([[1.0, 0.0], [0.0, 1.0]], [-1, 1])
    >>> clone(fitted), hasattr(clone(fitted), "support_")
    (CSVC(C=10.0), False)
    """
    return type(estimator)(**{name: _copied(value) for name, value in estimator.get_params(deep=False).items()})


def check_is_fitted(estimator: Estimator) -> None:
    """Raise scikit-learn's NotFittedError unless `fit` was called."""
    if not estimator.__sklearn_is_fitted__():
        from sklearn.exceptions import NotFittedError  # imported here: scikit-learn slows start-up

        raise NotFittedError(
            f"This {type(estimator).__name__} instance is not fitted yet. "
            "Call 'fit' with appropriate arguments before using this estimator."
        )


def _copied(value: Any) -> Any:
    """Return a copy of a parameter's value, in which all estimators are unfitted."""
    if isinstance(value, (list, tuple, set, frozenset)):
        return type(value)(map(_copied, value))
    if hasattr(value, "get_params") and not isinstance(value, type):
        return clone(value)
    return copy.deepcopy(value)


def check_places(places: Array, count: int, name: str) -> None:
    """Raise ModelError unless an array read from a file holds valid indices.

    They are int64, shape (m,), from 0 to `count` - 1.

    >>> import numpy as np
    >>> check_places(np.array([0, 3]), 3, "support")
    Traceback (most recent call last):
        ...
    seqkern.core.errors.ModelError: the array 'support' is corrupted; train the model again
    """
    if places.dtype != np.int64 or places.ndim != 1 or np.any((places < 0) | (places >= count)):
        raise ModelError(f"the array {name!r} is corrupted", remedy="train the model again")


def stored(**attributes: str) -> Mapping[str, str]:
    """Return the names of the attributes that a fit sets, by their names in a model file."""
    return MappingProxyType(attributes)


EXACT = {"converged": True, "iterations": 1, "residual": 0.0}
"""Report of a fit that does not iterate, and solves its problem exactly."""

UNPICKLED = frozenset({"_vectors", "_warm", "_before"})
"""Attributes that hold records, products and other solvers; neither pickled nor stored."""


class Solver(Estimator):
    """Base of all solvers.

    Attributes
    ----------
    name : str
        The name in configs and on the command line; a class without one is not registered.
    summary : str
        One sentence for report readers without knowledge of solvers.
    input : {"gram", "features", "implicit"}
        Input of `fit`. A Gram matrix is square, and cross-validation slices its rows and its columns together. An
        `Implicit` (kernels/kernel_operator.py) stands for feature vectors that are never stored; such solvers also take
        features, dense or sparse. After it the columns are the training samples.
    targets : tuple of {"binary", "multiclass", "real", "none"}
        Supported label kinds; with ``"none"``, it can be fitted without labels, and `_fit` gets None.
    declared : Traits
        What it takes, gives and needs; `traits` are these for the solver's parameters.
    learned : dict of str to str
        The attributes that a fit sets besides support, classes and report, by their names in a model file: arrays,
        JSON values or fitted solvers.
    support_ : ndarray of int64, shape (s,)
        After `fit`: the columns that prediction needs.
    report_ : dict
        After `fit`: ``converged`` (bool), ``iterations`` (int), ``residual`` (float: violation of the optimality
        conditions), ``objective`` (float), ``n_support`` (int), ``support_share`` (float, of all columns), and
        solver-specific entries: ``gap`` (float, the duality gap), ``remark`` (str, why it did not converge, and what to
        do; or else what to know of the fit), ``inner_not_converged`` (int: number of unconverged fits of inner
        cross-validation), ….

    Examples
    --------
    A solver that decides by the mean similarity to the members of each class:

    >>> import numpy as np
    >>> from seqkern.kernels import SpectrumKernel
    >>> from seqkern.solvers.contract import BinarySolver
    >>> class MeanSimilarity(BinarySolver):
    ...     def _fit(self, K, y):
    ...         self.support_ = np.arange(len(y))
    ...         self.weights_ = np.where(y > 0, 1 / np.sum(y > 0), -1 / np.sum(y < 0))
    ...         return {"converged": True, "iterations": 1}
    ...
    ...     def _decide(self, K, columns):
    ...         return K[:, columns] @ self.weights_
    ...
    ...     def linear(self):
    ...         return self._on_columns(self.weights_), 0.0
    >>> kernel = SpectrumKernel(k=2)
    >>> train = ["ACGTACGT", "ACGACG", "GGTTGGTT", "TTGGTT"]
    >>> solver = MeanSimilarity().fit(kernel(train), ["donor", "donor", "decoy", "decoy"])
    >>> solver.predict(kernel(["ACGTT", "TTGG"], train)).tolist()
    ['donor', 'decoy']
    """

    name: ClassVar[str | None] = None
    summary: ClassVar[str] = ""
    input: ClassVar[str] = "gram"
    tabulates = False  # whether a fit on products may leave sums over l-mers and no support
    targets: ClassVar[tuple[str, ...]] = ()
    declared: ClassVar[Traits] = Traits()
    learned: ClassVar[Mapping[str, str]] = stored()
    tested_with: ClassVar[Sequence[dict[str, Any] | str]] = ({},)

    @property
    def traits(self) -> Traits:
        """What the solver takes, gives and needs with its parameters."""
        return self.declared

    # ---- what a solver writes ----------------------------------------------------------------------------

    def check_labels(self, y: Array, groups: npt.ArrayLike | None = None) -> None:
        """Raise ParameterError if the parameters do not suit the labels of a training set.

        It needs no kernel matrix, so it can be called before computing one. By default all labels are accepted.

        Parameters
        ----------
        y : ndarray, shape (n,)
            Labels as in `fit`, with two classes or more.
        groups : array_like, shape (n,), optional
            Groups as in `fit`.

        Raises
        ------
        ParameterError
            It names the parameter and the remedy.
        """

    def _fit(self, K: Any, y: Any) -> dict[str, Any]:
        """Set `support_` and other attributes ending in ``_``, and return the report without the support.

        A fit without iterations leaves out ``converged`` and ``iterations``, an exact one ``residual``. An unconverged
        fit may add a ``remark`` with cause and remedy; a ``remedy`` becomes the remark of a fit that did not converge.
        """
        raise NotImplementedError

    def _decide(self, K: Any, columns: Ints) -> Floats:
        """Return the decisions for the rows of `K`, whose column ``columns[i]`` belongs to support sample i."""
        raise NotImplementedError

    def _variances(self, K: Any, diagonal: Floats, columns: Ints) -> Variances:
        """Return the variances for the rows of `K`, with columns as in `_decide`; `diagonal` is K(x, x) of each row."""
        raise NotImplementedError

    def gram_bytes(self, n: int) -> int:
        """Return the memory of a fit on a Gram matrix of n samples, besides that matrix.

        Parameters
        ----------
        n : int
            Training samples.

        Returns
        -------
        int
        """
        return int(8 * n * n * self.traits.effort.copies)

    @property
    def without_matrix(self) -> str:
        """Advice on what to train instead where a Gram matrix does not fit into memory; empty if there is none.

        By default a linear machine for solvers of classes.
        """
        return WITHOUT_MATRIX if self.targets and not {"none", "real"} & set(self.targets) else ""

    def accepts_unread(self, K: Any) -> bool:
        """Return whether `fit` accepts `K` without reading it; by default GramRows, if it takes these.

        Parameters
        ----------
        K : object
            The argument of `fit` or `decision_function`, of any type.

        Returns
        -------
        bool
        """
        return isinstance(K, GramRows) and self.traits.rows

    def linear(self) -> tuple[Floats, float] | None:
        """Return the decision as a linear function of a kernel row, or None if it is not one.

        Returns
        -------
        coefficients : ndarray of float64, shape (n,)
            One for each column of the kernel matrix; zero without influence.
        constant : float
            The decision is K @ coefficients + constant.
        """
        return None

    def leave_one_out(self, K: Any, y: Array, *, limited: bool = True) -> LeaveOneOut | None:
        """Return bounds of the leave-one-out error of the fit; None by default, and for input other than an array.

        Parameters
        ----------
        K : ndarray of float64, shape (n, n)
            The matrix of the fit.
        y : ndarray, shape (n,)
            The labels of the fit.
        limited : bool
            Whether what takes much longer than the fit is left out.

        Returns
        -------
        LeaveOneOut or None
            Never None for an array if the solver's traits have `bounds`.
        """
        return None

    def stages(self) -> "tuple[Solver, Solver] | None":
        """Return two fitted solvers, the second only for samples that pass the first; None by default.

        Returns
        -------
        tuple of Solver or None
            Solvers for the same columns: samples with a first decision of at least 0 pass; ``joined(first, second)``
            returns the decisions.
        """
        return None

    def selection(self) -> SelectedFeatures:
        """Return the features that `fit` selected: by default the columns that prediction needs, with their weights."""
        linear = self.linear()
        return SelectedFeatures(self.support_, None if linear is None else np.asarray(linear[0])[self.support_])

    def probabilities(self, decisions: Floats, variances: Variances | None = None) -> Floats | None:
        """Return the solver's own probabilities of the classes, shape (m, classes); None by default.

        Parameters
        ----------
        decisions : ndarray of float64, shape (m,), or (m, classes)
            Decision values as from `decision_function`.
        variances : Variances, optional
            Variances of the same samples, as from `variances`; for solvers that give these.
        """
        return None

    def exemplars(self) -> list[Exemplar]:
        """Return the training samples that are typical of each class, list of Exemplar; empty by default.

        For solvers whose classifier can be read from a few samples, such as those nearest to prototypes. Rows are those
        of the training set, also after `restrict`.
        """
        return []

    @property
    def best_params_(self) -> dict[str, Any]:
        """Return the parameters that `fit` chose itself, a dict of name to value."""
        return {}

    def with_chosen_parameters(self) -> Self:
        """Return a new unfitted solver with the parameters that `fit` chose itself."""
        return clone(self).set_params(**self.best_params_)

    def without_selection(self, columns: npt.ArrayLike) -> "Solver | None":
        """Return a new unfitted solver that uses the given features without selection.

        By default None: pass these columns only.

        Parameters
        ----------
        columns : array_like of int, shape (s,)
            The features, best first.

        Returns
        -------
        Solver or None
        """
        return None

    def fit_cost(self, work: FitWork) -> FitCost:
        """Return the predicted cost of a fit: products with the matrix, and dense linear algebra.

        Parameters
        ----------
        work : FitWork
            The sizes of the training set.

        Returns
        -------
        FitCost
        """
        if self.traits.operator and work.gives == "operator":
            seconds = EXPECTED_PRODUCTS * (work.product + PRODUCT_SECONDS)
            return FitCost(seconds, 16 * EXPECTED_PRODUCTS * work.n)
        return self.traits.effort.cost(work, float(getattr(self, "C", 1.0)))

    def complexity(self) -> tuple[float, ...]:
        """Return a tuple that orders solvers of one class; a search prefers the smallest of equally good ones."""
        return self.traits.search.complexity(self)

    @classmethod
    def nested_solvers(cls) -> tuple[str, ...]:
        """Return the parameters that hold a solver, given by name or spec."""
        own = cls.parameters_with("list_parameter")
        return tuple(name for name, item in cls.declarations().items() if _is_solver(item) and name not in own)

    @classmethod
    def examples(cls) -> list[Self]:
        """Return small, fast solvers, with the parameters `tested_with`, for the contract suite."""
        made: list[Any] = [
            kind_of("solver").build(one) if isinstance(one, str) else cls(**one) for one in cls.tested_with
        ]
        return made

    # ---- the fitted state: saving, restoring, restriction to fewer columns ---------------------------------

    def fitted_state(self) -> tuple[Header, Arrays]:
        """Return (JSON dict, dict of arrays) of the values `learned`; the state of a solver is nested."""
        if not self.learned:
            raise NotImplementedError
        header: Header = {}
        arrays: Arrays = {}
        for key, name in self.learned.items():
            value = getattr(self, name)
            if isinstance(value, Solver):
                header[key], nested = value.state()
                arrays |= nest(key, nested)
            else:
                (arrays if isinstance(value, np.ndarray) else header)[key] = value
        return header, arrays

    def restore_fitted(self, header: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
        """Restore the state returned by `fitted_state`; `arrays` may contain others."""
        for key, name in self.learned.items():
            value = arrays[key] if key in arrays else header[key]
            if isinstance(value, dict):
                from seqkern.solvers.solver_specs import solver_from_state  # imported here: it knows all solvers

                value = solver_from_state(value, unnest(key, arrays))
            setattr(self, name, value)

    def state(self) -> tuple[Header, Arrays]:
        """Return (JSON dict, dict of arrays); `solver_from_state` restores this solver from it."""
        check_is_fitted(self)
        header, arrays = self.fitted_state()
        header = {
            "spec": self.spec(),
            "columns": self.n_features_in_,
            "report": self.report_,
            "learned": header,
        }
        return header, {"support": self.support_, **arrays}

    def restore(self, header: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
        """Restore the state returned by `state`."""
        # typed here, because annotations in the class body would become constructor parameters
        self.n_features_in_: int = header["columns"]
        self.report_: dict[str, Any] = header["report"]
        self.support_: Ints = arrays["support"]
        self._vectors: Any = None  # records of the support after a fit on products, for decisions on an operator
        self._warm: dict[str, Any] = {}  # what the next fit may need, by name
        check_places(self.support_, self.n_features_in_, "support")
        self.restore_fitted(header["learned"], arrays)

    def restrict(self, rows: npt.ArrayLike) -> Self:
        """Return an equivalent fitted solver for kernel matrices with fewer columns.

        `rows` are training rows (columns of the kernel matrix) in any order, and include the whole support. The new
        solver's ``decision_function(K[:, rows])`` has the same bits as this one's ``decision_function(K)``.
        """
        rows = np.asarray(rows, dtype=np.int64)
        places = np.full(self.n_features_in_, -1, dtype=np.int64)
        places[rows] = np.arange(len(rows))
        support = places[self.support_]
        if np.any(support < 0):
            raise ParameterError(
                f"row {self.support_[support < 0][0]} is missing, but prediction needs it",
                remedy="keep every row of support_",
            )
        other = self.renumber(support, len(rows))
        other._vectors = None  # fewer columns are for kernel rows, as of a model
        return other

    def renumber(self, support: Ints, columns: int) -> Self:
        """Return this fitted solver for matrices of another width.

        `support` gives the new index of each support column, `columns` the new width.
        """
        header, arrays = self.state()
        other = clone(self)
        other.restore({**header, "columns": columns}, {**arrays, "support": support})
        other._vectors = getattr(self, "_vectors", None)
        return other

    def spec(self) -> dict[str, Any]:
        """Return the solver as a config would write it: ``{"solver": name, parameter: value, …}``."""
        return {
            "solver": self.name,
            **{key: json_form(value) for key, value in self.get_params(deep=False).items()},
        }

    # ---- what its users call -----------------------------------------------------------------------------

    def fit(self, K: Any, y: npt.ArrayLike | None = None, groups: npt.ArrayLike | None = None) -> Self:
        """Learn from the training set.

        Parameters
        ----------
        K : array_like of float64, shape (n, n), or (n, d) for features, or Implicit, FeatureBlocks or KernelOperator
            A C-ordered memory map is used in place.
        y : array_like, shape (n,), optional
            Required unless ``"none"`` is among the solver's `targets`.
        groups : array_like, shape (n,), optional
            Samples of one group stay together if a solver whose traits have `groups` splits the training set; others
            ignore groups.

        Returns
        -------
        self

        Raises
        ------
        ParameterError
            For a parameter outside its domain, or unsuitable for these labels.
        GramError
            If `K` is not square and symmetric where it must be, not finite, too large or too small for sums of
            products, or not a matrix; or if the fit ended with numbers that are not finite.
        LabelError
            If `y` does not fit `K` or the solver, or `groups` does not fit `K`.

        Warns
        -----
        ConvergenceWarning
            If the fit, or an inner fit, did not converge.
        """
        K, target = self.checked_data(K, y, groups)
        learn: Callable[..., dict[str, Any]] = self._fit
        try:
            report = learn(K, target, groups) if self.traits.groups else learn(K, target)
        except np.linalg.LinAlgError as error:
            raise lost_digits(self) from error
        report = {**{key: value for key, value in EXACT.items() if key not in report}, **report}
        remedy = report.pop("remedy", None)
        report |= {"remark": remedy} if remedy and not report["converged"] else {}
        size = len(self.support_)
        self.report_ = {**report, "n_support": size, "support_share": size / self.n_features_in_}
        check_fit(self)
        lost = lost_beside_bias(self, K)
        if report["converged"] and lost is not None:
            self.report_.update(converged=False, remark=lost)
        if not self.report_["converged"]:
            warn_unconverged(self._not_converged(), stacklevel=2)
        elif report.get("inner_not_converged"):
            count = report["inner_not_converged"]
            warn_unconverged(
                f"{type(self).__name__}: {count} fit{'s'[: count != 1]} of its inner cross-validation did not converge",
                stacklevel=2,
            )
        return self

    def count_not_converged(self) -> int:
        """Return the number of unconverged fits, this one and inner ones."""
        return int(not self.report_["converged"]) + self.report_.get("inner_not_converged", 0)

    def checked_data(
        self, K: Any, y: npt.ArrayLike | None = None, groups: npt.ArrayLike | None = None
    ) -> tuple[Any, Array | None]:
        """Return matrix and labels for `_fit`, after all checks; raises like `fit`.

        Parameters
        ----------
        K, y, groups
            As in `fit`.

        Returns
        -------
        K : ndarray of float64, sparse matrix, Implicit, FeatureBlocks or KernelOperator
            A float64 array is not copied.
        target : ndarray, shape (n,), or None
            Such as −1.0 and 1.0 of a binary solver, NaN for rows without a label; None without labels.
        """
        self.check_parameters()
        K = checked_matrix(self, K, reset=True)
        target = None
        if y is not None or "none" not in self.targets:
            labels = checked_labels(self, y, count_rows(K), unlabelled=self.traits.unlabelled)
            count = len(labels) if groups is None else len(np.asarray(groups))
            if count != len(labels):
                raise LabelError(f"{count} groups for {len(labels)} rows", remedy="give one group for each row")
            known = labelled(labels) if self.traits.unlabelled else np.ones(len(labels), dtype=bool)
            if known.all():
                target = self._coded(labels)
                self.check_labels(labels, groups)
            else:
                target = np.full(len(labels), np.nan)
                own = known_labels(labels, known)
                target[known] = self._coded(own)
                self.check_labels(own, None if groups is None else np.asarray(groups)[known])
        if self.input == "gram" and not isinstance(K, KernelOperator) and K.shape[0] != K.shape[1]:
            raise GramError(
                f"the Gram matrix is not square: {K.shape[0]} × {K.shape[1]}",
                remedy="slice its rows and its columns with the same indices",
            )
        return K, target

    def fit_after(
        self, previous: "Solver | None", K: Any, y: npt.ArrayLike | None = None, groups: npt.ArrayLike | None = None
    ) -> Self:
        """Fit, with an optional warm start from `previous`, fitted on the same `K` and `y`; raise like `fit`.

        A solver with warm starts keeps what the next fit may need in `_warm`, by name, and reads it by `_left`.

        Parameters
        ----------
        previous : Solver or None
            A fitted solver, ignored if it does not help.
        K, y, groups
            As in `fit`.

        Returns
        -------
        self
        """
        self._before = previous
        try:
            return self.fit(K, y, groups)
        finally:
            del self._before

    def _left(self, name: str) -> Any:
        """Return what the solver given to `fit_after` left under a name, or None."""
        return getattr(getattr(self, "_before", None), "_warm", {}).get(name)

    def decision_function(self, K: Any) -> Floats:
        """Return the decision values.

        Parameters
        ----------
        K : array_like of float64, shape (m, n)
            The kernel of new samples (rows) with the training ones (columns), or features; or an Implicit or
            KernelOperator with the tables of the training data.

        Returns
        -------
        ndarray of float64, shape (m,), or (m, classes) for a multi-class solver

        Raises
        ------
        GramError
            As `fit`; also if a decision overflows.
        """
        check_is_fitted(self)
        decisions = self._decide(checked_matrix(self, K, reset=False), self.support_)
        check_decisions(self, decisions)
        return decisions

    def variances(self, K: Any, diagonal: npt.ArrayLike) -> Variances | None:
        """Return the variances of the predictions of new samples; None unless the solver's traits have `variances`.

        Parameters
        ----------
        K : array_like of float64, shape (m, n)
            Input as for `decision_function`.
        diagonal : array_like of float64, shape (m,)
            K(x, x) of the new samples.

        Returns
        -------
        Variances or None

        Raises
        ------
        GramError
            As `decision_function`; also if `diagonal` does not fit `K`.
        """
        if not self.traits.variances:
            return None
        check_is_fitted(self)
        K = checked_matrix(self, K, reset=False)
        own = np.asarray(diagonal, dtype=np.float64)
        if own.shape != (count_rows(K),):
            raise GramError(
                f"a diagonal of shape {own.shape} for {count_rows(K)} rows", remedy="give K(x, x) of each row"
            )
        found = self._variances(K, own, self.support_)
        check_decisions(self, found.latent)
        return found

    @property
    def n_iter_(self) -> int:
        """Number of iterations of the last fit, under scikit-learn's name."""
        return self.report_["iterations"]

    def __sklearn_tags__(self) -> "Tags":
        """Return scikit-learn's tags: cross-validation slices rows and columns of a Gram matrix."""
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.input == "gram"
        tags.input_tags.sparse = self.traits.sparse
        return tags

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes to pickle: without records and products, which `_vectors` and `_warm` hold."""
        return {name: value for name, value in vars(self).items() if name not in UNPICKLED}

    def _not_converged(self) -> str:
        """Return the text of the convergence warning, from `report_`."""
        report = self.report_
        sizes = [f"{key} {report[key]:.3g}" for key in ("residual", "gap") if report.get(key) is not None]
        text = f"{type(self).__name__} stopped after {report['iterations']} iterations before it converged"
        return f"{text} ({', '.join(sizes)}){': ' if 'remark' in report else ''}{report.get('remark', '')}"

    def _on_columns(self, values: npt.ArrayLike) -> Floats:
        """Return `values` of the support columns spread over all columns, float64 (n,)."""
        out = np.zeros(self.n_features_in_)
        out[self.support_] = values
        return out

    def _coded(self, y: Array) -> Array:
        """Return the checked labels in the form that `_fit` takes."""
        return y


def _is_solver(item: Parameter) -> bool:
    """Return whether a parameter holds a solver."""
    return isinstance(item, Component) and item.kind == "solver"


# Solver bases by label kind: any number of classes, two classes, real numbers.

MANY = 0.4  # Classes per sample above which scikit-learn decides whether labels are classes


def _are_classes(y: Array) -> bool:
    """Return whether labels are certainly classes: text, integers, or integral reals."""
    return y.dtype.kind in "biuU" or (y.dtype.kind == "f" and bool(np.all(y == np.floor(y))))


def _check_classes(y: Array) -> None:
    """Raise LabelError for labels that scikit-learn does not recognise as classes."""
    from sklearn.utils.multiclass import check_classification_targets  # imported here: it slows start-up

    try:
        check_classification_targets(y)
    except ValueError as error:
        raise LabelError(str(error)) from error


class ClassSolver(Solver):
    """Base of classifiers; `fit` sets `classes_`, sorted."""

    _estimator_type = "classifier"

    def __sklearn_tags__(self) -> "Tags":
        """Return scikit-learn's tags for a classifier."""
        from sklearn.utils import ClassifierTags  # imported here: scikit-learn slows start-up

        tags = super().__sklearn_tags__()
        tags.estimator_type, tags.classifier_tags = "classifier", ClassifierTags()
        tags.target_tags.required = True
        return tags

    def score(self, X: Any, y: npt.ArrayLike, sample_weight: npt.ArrayLike | None = None) -> float:
        """Return the accuracy, weighted by `sample_weight` if given."""
        from sklearn.metrics import accuracy_score  # imported here: scikit-learn slows start-up

        return accuracy_score(y, self.predict(X), sample_weight=sample_weight)

    def predict(self, K: Any) -> Array:
        """Return the predicted class of each row."""
        decisions = self.decision_function(K)
        return self.classes_[(decisions > 0).astype(np.int64) if decisions.ndim == 1 else decisions.argmax(axis=1)]

    def _coded(self, y: Array) -> Array:
        """Set `classes_` and return the index of each label."""
        certain = _are_classes(y)
        if not certain:
            _check_classes(y)
        classes, codes = np.unique(y, return_inverse=True)
        if certain and len(classes) > MANY * len(y):
            _check_classes(y)  # warns that labels may be numbers
        self.classes_: Array = classes
        if len(self.classes_) < 2:
            raise LabelError(
                f"all {len(y)} training labels are of one class, {self.classes_[0]!s}",
                remedy="a classifier needs samples of two classes",
            )
        return codes

    def state(self) -> tuple[Header, Arrays]:
        """Return the state, including the classes."""
        header, arrays = super().state()
        classes = self.classes_.astype(str) if self.classes_.dtype == object else self.classes_
        return header, {"classes": classes, **arrays}

    def restore(self, header: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
        """Restore the solver from the output of `state`."""
        super().restore(header, arrays)
        self.classes_ = arrays["classes"]


class BinarySolver(ClassSolver):
    """Base of binary solvers; a decision above zero means ``classes_[1]``.

    Examples
    --------
    >>> from seqkern.solvers import CSVC
    >>> solver = CSVC().fit([[2.0, 0.0], [0.0, 2.0]], [0, 1])
    >>> solver.decision_function([[1.0, 0.0], [0.0, 1.0]]).tolist()
    [-0.5, 0.5]
    >>> solver.predict([[1.0, 0.0], [0.0, 1.0]]).tolist()
    [0, 1]
    """

    targets: ClassVar[tuple[str, ...]] = ("binary",)

    def _coded(self, y: Array) -> Floats:
        """Return the labels as −1.0 and 1.0."""
        codes = super()._coded(y)
        if len(self.classes_) > 2:
            from sklearn.utils.multiclass import type_of_target  # imported here: only a message needs it

            raise LabelError(
                f"Only binary classification is supported. The type of the target is {type_of_target(y)}.",
                remedy="wrap the solver in PairwiseVoting, OneAgainstRest or DecisionDAG",
            )
        return 2.0 * codes - 1.0

    def __sklearn_tags__(self) -> "Tags":
        """Return scikit-learn's tags for a binary classifier."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


class AnyClassSolver(ClassSolver):
    """Base of solvers that handle two or more classes without binary classifiers.

    For two classes the decision is one number, above zero for the second class; otherwise one number for each class.
    """

    targets: ClassVar[tuple[str, ...]] = ("binary", "multiclass")


class RealSolver(Solver):
    """Base of regression solvers; the decision is the prediction."""

    targets: ClassVar[tuple[str, ...]] = ("real",)
    _estimator_type = "regressor"

    def __sklearn_tags__(self) -> "Tags":
        """Return scikit-learn's tags for a regressor."""
        from sklearn.utils import RegressorTags  # imported here: scikit-learn slows start-up

        tags = super().__sklearn_tags__()
        tags.estimator_type, tags.regressor_tags = "regressor", RegressorTags()
        tags.target_tags.required = True
        return tags

    def score(self, X: Any, y: npt.ArrayLike, sample_weight: npt.ArrayLike | None = None) -> float:
        """Return the coefficient of determination, R²."""
        from sklearn.metrics import r2_score  # imported here: scikit-learn slows start-up

        return r2_score(y, self.predict(X), sample_weight=sample_weight)

    def predict(self, K: Any) -> Floats:
        """Return the predicted value of each row of `K`, float64 (m,)."""
        return self.decision_function(K)

    def _coded(self, y: Array) -> Floats:
        """Return the labels as float64."""
        try:
            numbers = y.astype(np.float64)
        except ValueError as error:
            raise LabelError(f"labels are not numbers: {error}") from error
        check_targets(numbers)
        return numbers
