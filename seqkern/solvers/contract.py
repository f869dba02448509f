"""The contract of every solver.

A solver subclasses `BinarySolver` or `RealSolver` (or `Solver`, for other targets) and writes its parameters,
``_check_parameters`` for what concerns several of them, ``_fit`` and ``_decide``, ``fitted_state`` and
``restore_fitted`` for the model file, and ``examples`` for tests/solvers/test_solver_contract.py. The report is made
here, the input checked in `checking.py`, classes are coded in `kinds.py`; state and restriction are in `stored.py`.
Call structure::

    fit(K, y) ─▶ checks ─▶ _fit(K, target) ─▶ support_, report_
    decision_function(K) ─▶ checks ─▶ _decide(K, columns)

Prediction needs the columns `support_` of a kernel matrix between new and training sequences, and no others.
A restricted solver is the same solver with those columns renumbered, so that a model keeps few sequences.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from seqkern.core.convergence import warn_unconverged
from seqkern.core.declarations import Parameter
from seqkern.core.declared_components import Component
from seqkern.core.errors import GramError, LabelError
from seqkern.solvers.checking import checked_labels, checked_matrix, count_rows
from seqkern.solvers.estimator import Estimator, check_is_fitted, clone
from seqkern.solvers.stored import Stored

if TYPE_CHECKING:
    from sklearn.utils import Tags


class Solver(Stored, Estimator):
    """Base of all solvers.

    Attributes
    ----------
    name : str
        The name in configs and on the command line; a class without one is not registered.
    summary : str
        One sentence for readers of a report who know no solvers.
    input : {"gram", "features", "implicit"}
        What `fit` takes. A Gram matrix is square, and cross-validation slices its rows and its columns
        together. An `Implicit` (seqkern/kernels/implicit.py) stands for feature vectors that are never stored;
        who takes it also takes features, dense or sparse. After it the columns are the training samples.
    needs_semidefinite : bool
        Whether a Gram matrix that is not positive semi-definite leaves several solutions, of which one is found.
    targets : tuple of {"binary", "multiclass", "real", "none"}
        The kinds of label that it learns; with ``"none"``, it can be fitted without labels, and `_fit` then
        gets None for them.
    accepts_groups : bool
        Whether `_fit` takes groups, which it keeps together where it divides the training part: ``_fit(K, y, groups)``.
    accepts_blocks : bool
        Whether it takes features as FeatureBlocks (seqkern/kernels/feature_blocks.py), computed when asked for.
    selects : bool
        Whether of features it takes few, which are listed whatever they are called; else they are only where they are
        not many, and have names.
    support_ : ndarray of int64, shape (s,)
        After `fit`: the columns that prediction needs.
    report_ : dict
        After `fit`: ``converged`` (bool), ``iterations`` (int), ``residual`` (float: how far the optimality
        conditions are from holding), ``objective`` (float), ``n_support`` (int), ``support_share`` (float, of
        all columns), and what the solver adds: ``gap`` (float, the duality gap), ``remark`` (str, why it did not
        converge, and what to do), ``inner_not_converged`` (int: of the fits within, that chose something by
        cross-validation, how many did not converge), ….

    Examples
    --------
    A solver that decides by the mean similarity with the members of each class:

    >>> import numpy as np
    >>> from seqkern.kernels import SpectrumKernel
    >>> from seqkern.solvers.base import BinarySolver
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
    needs_semidefinite: ClassVar[bool] = False
    targets: ClassVar[tuple[str, ...]] = ()
    accepts_groups: ClassVar[bool] = False
    accepts_blocks: ClassVar[bool] = False
    selects: ClassVar[bool] = True

    # ---- what a solver writes ----------------------------------------------------------------------------

    def check_labels(self, y: npt.NDArray[Any], groups: npt.ArrayLike | None = None) -> None:
        """Raise ParameterError where the parameters cannot go with the labels of a training part.

        It takes no kernel matrix, so that whoever computes one can ask before. By default all labels will do.

        Parameters
        ----------
        y : ndarray, shape (n,)
            As `fit` would get it, of two classes or more.
        groups : array_like, shape (n,), optional
            As `fit` would get them.

        Raises
        ------
        ParameterError
            It names the parameter, and what would do.
        """

    def _fit(self, K: Any, y: Any) -> dict[str, Any]:
        """Learn; set `support_` and what else ends in ``_``, and return the report but for the support.

        A fit that did not converge may say why, and what to do, in a ``remark`` of its report.
        """
        raise NotImplementedError

    def _decide(self, K: Any, columns: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """Return the decisions for the rows of `K`, whose column ``columns[i]`` belongs to support i."""
        raise NotImplementedError

    @property
    def accepts_sparse(self) -> bool:
        """Whether `fit` takes a sparse matrix of features."""
        return self.input == "implicit"

    def accepts_unread(self, K: Any) -> bool:
        """Return whether `fit` takes `K` as it is, without a check that reads it: by default nothing.

        Parameters
        ----------
        K : object
            What a user gave to `fit` or `decision_function`, of any type.

        Returns
        -------
        bool
        """
        return False

    def linear(self) -> tuple[npt.NDArray[np.float64], float] | None:
        """Return the decision as a linear function of a kernel row, or None if it is not one.

        Returns
        -------
        coefficients : ndarray of float64, shape (n,)
            One for each column of the kernel matrix; zero for those without influence.
        constant : float
            The decision is K @ coefficients + constant.
        """
        return None

    @classmethod
    def has_linear(cls) -> bool:
        """Return whether decisions of this class are linear functions of a kernel row, at least with some
        parameters.
        """
        return cls.linear is not Solver.linear

    def selected_columns(self) -> npt.NDArray[np.int64]:
        """Return the columns that `fit` selected, int64: by default those that prediction needs.

        A solver of features may need more than it selects, where its preprocessing looks at whole rows.
        """
        return self.support_

    def selected_weights(self) -> npt.NDArray[np.float64] | None:
        """Return the factors of `selected_columns` in the decision, float64, or None.

        It is None where the decision is not a weighted sum of them. By default those of `linear`. Where features are
        scaled before, they are factors of the scaled ones.
        """
        linear = self.linear()
        return None if linear is None else np.asarray(linear[0])[self.selected_columns()]

    def weights_by_class(self) -> npt.NDArray[np.float64] | None:
        """Return the factors of `selected_columns` in the decision about each class, (classes, columns), or None.

        It is None where `selected_weights` says all, or there are no such factors.
        """
        return None

    def intervals(self) -> npt.NDArray[np.float64] | None:
        """Return the coefficients of all features with confidence intervals, or None: by default.

        Returns
        -------
        ndarray of float64, shape (classes, features, 6)
            Of each class, or of the second of two: coefficient and both ends of its interval where the features were
            selected, and the same without a selection; NaN for a feature that is not among them.
        """
        return None

    @property
    def best_params_(self) -> dict[str, Any]:
        """Return what `fit` chose by itself, a dict of a parameter's name to its value."""
        return {}

    def with_chosen_parameters(self) -> Self:
        """Return a new solver, not fitted, with what `fit` chose by itself as its parameters."""
        return clone(self)

    def without_selection(self, columns: npt.ArrayLike) -> "Solver | None":
        """Return a new solver, not fitted, that learns from these features of a matrix without selecting any itself.

        By default None: it is to be given these columns alone.

        Parameters
        ----------
        columns : array_like of int, shape (s,)
            Which features, the best first.

        Returns
        -------
        Solver or None
        """
        return None

    @property
    def iterative(self) -> bool:
        """Whether a fit goes on until `tol`, and may stop before: by default, whether there is that parameter."""
        return "tol" in self.parameter_names()

    def complexity(self) -> tuple[float, ...]:
        """Return a tuple of numbers that sorts solvers of one class: of equally good ones the least is chosen."""
        return ()

    @classmethod
    def default_grid(cls) -> dict[str, list[Any]]:
        """Return a dict from parameter to the values that a search tries by default."""
        return {}

    @classmethod
    def list_parameters(cls) -> tuple[str, ...]:
        """Return the names of the parameters whose lists are no grid of values: the solver chooses by itself."""
        return cls.parameters_with("list_parameter")

    @classmethod
    def nested_solvers(cls) -> tuple[str, ...]:
        """Return the names of the parameters that hold a solver: a spec may name it, or give its own spec."""
        own = cls.list_parameters()
        return tuple(name for name, item in cls.declarations().items() if _is_solver(item) and name not in own)

    @classmethod
    def examples(cls) -> list[Self]:
        """Return solvers, small and fast, that the contract suite tests."""
        return [cls()]

    # ---- what its users call -----------------------------------------------------------------------------

    def fit(self, K: Any, y: npt.ArrayLike | None = None, groups: npt.ArrayLike | None = None) -> Self:
        """Learn from the training part.

        Parameters
        ----------
        K : array_like of float64, shape (n, n), or (n, d) for features, or Implicit, or FeatureBlocks
            A C-ordered memory map is used in place.
        y : array_like, shape (n,), optional
            Needed unless ``"none"`` is among the solver's `targets`.
        groups : array_like, shape (n,), optional
            Samples of one group stay together where a solver of `accepts_groups` divides the training part; others
            do not look at them.

        Returns
        -------
        self

        Raises
        ------
        ParameterError
            For a parameter outside its domain, or one that cannot go with these labels.
        GramError
            If `K` is not square where it must be, not finite, or not a matrix.
        LabelError
            If `y` does not fit `K` or the solver, or `groups` does not fit `K`.

        Warns
        -----
        ConvergenceWarning
            If it did not converge, or fits within it did not.
        """
        K, target = self.checked_data(K, y, groups)
        learn: Callable[..., dict[str, Any]] = self._fit
        report = learn(K, target, groups) if self.accepts_groups else learn(K, target)
        size = len(self.support_)
        self.report_ = {**report, "n_support": size, "support_share": size / self.n_features_in_}
        if not report["converged"]:
            warn_unconverged(self._not_converged(), stacklevel=2)
        elif report.get("inner_not_converged"):
            count = report["inner_not_converged"]
            warn_unconverged(
                f"{type(self).__name__}: {count} fit{'s'[: count != 1]} of its inner cross-validation did not converge",
                stacklevel=2,
            )
        return self

    def count_not_converged(self) -> int:
        """Return how many fits, this one and those within it, did not converge."""
        return int(not self.report_["converged"]) + self.report_.get("inner_not_converged", 0)

    def checked_data(
        self, K: Any, y: npt.ArrayLike | None = None, groups: npt.ArrayLike | None = None
    ) -> tuple[Any, npt.NDArray[Any] | None]:
        """Return the matrix and the labels as `_fit` takes them, after all checks; it raises as `fit` does.

        Parameters
        ----------
        K, y, groups
            As in `fit`.

        Returns
        -------
        K : ndarray of float64, sparse matrix, Implicit or FeatureBlocks
            A float64 array is not copied.
        target : ndarray, shape (n,), or None
            Such as −1.0 and 1.0 of a binary solver; None without labels.
        """
        self.check_parameters()
        K = checked_matrix(self, K, reset=True)
        target = None
        if y is not None or "none" not in self.targets:
            labels = checked_labels(self, y, count_rows(K))
            target = self._coded(labels)
            count = len(labels) if groups is None else len(np.asarray(groups))
            if count != len(labels):
                raise LabelError(f"{count} groups for {len(labels)} rows", remedy="give one group for each row")
            self.check_labels(labels, groups)
        if self.input == "gram" and K.shape[0] != K.shape[1]:
            raise GramError(
                f"the Gram matrix is not square: {K.shape[0]} × {K.shape[1]}",
                remedy="slice its rows and its columns with the same indices",
            )
        return K, target

    def fit_after(
        self,
        previous: "Solver | None",
        K: Any,
        y: npt.ArrayLike | None = None,
        groups: npt.ArrayLike | None = None,
    ) -> Self:
        """Fit; a solver may begin with what `previous` learned from the same `K` and `y`. See `fit`.

        Parameters
        ----------
        previous : Solver or None
            Of the same class, or not; a solver that it is of no use to ignores it.
        K, y, groups
            As in `fit`.

        Returns
        -------
        self
        """
        return self.fit(K, y, groups)

    def decision_function(self, K: Any) -> npt.NDArray[np.float64]:
        """Return the decision values.

        Parameters
        ----------
        K : array_like of float64, shape (m, n)
            The kernel of new samples (rows) with the training ones (columns), or features; or an Implicit with the
            tables of the one that it was fitted on.

        Returns
        -------
        ndarray of float64, shape (m,), or (m, classes) for a multi-class solver
        """
        check_is_fitted(self)
        return self._decide(checked_matrix(self, K, reset=False), self.support_)

    @property
    def n_iter_(self) -> int:
        """Number of iterations of the last fit, under scikit-learn's name."""
        return self.report_["iterations"]

    def __sklearn_tags__(self) -> "Tags":
        """Tell scikit-learn that cross-validation must slice rows and columns of a Gram matrix."""
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.input == "gram"
        tags.input_tags.sparse = self.accepts_sparse
        return tags

    def _not_converged(self) -> str:
        """Return the text of the warning, from `report_`."""
        report = self.report_
        sizes = [f"{key} {report[key]:.3g}" for key in ("residual", "gap") if report.get(key) is not None]
        text = f"{type(self).__name__} stopped after {report['iterations']} iterations before it converged"
        return f"{text} ({', '.join(sizes)}){': ' if 'remark' in report else ''}{report.get('remark', '')}"

    def _on_columns(self, values: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Return float64 (n,): `values`, one for each support column, in their places among all columns."""
        out = np.zeros(self.n_features_in_)
        out[self.support_] = values
        return out

    def _coded(self, y: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return checked labels as `_fit` takes them."""
        return y


def _is_solver(item: Parameter) -> bool:
    """Return whether a parameter holds a solver."""
    return isinstance(item, Component) and item.kind == "solver"
