"""The C-SVM: LIBSVM's quadratic program, through scikit-learn."""

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from ..parameters import check_integer, check_real
from . import _linear
from .base import BinarySolver, check_cost
from .class_weights import check_class_weight, class_factors


class CSVC(BinarySolver):
    """Support vector machine with soft margin (C-SVM) on a Gram matrix.

    Parameters
    ----------
    C : float
        Cost of a margin error, > 0; infinite for a hard margin.
    class_weight : {"balanced"} or dict, optional
        Factor of C for each class: "balanced" gives classes the same total, n / (2 · members).
    tol : float
        LIBSVM stops when the largest violation of the optimality conditions is below it.
    max_iter : int
        At most so many iterations; LIBSVM's own limit by default.

    Attributes
    ----------
    dual_coef_ : ndarray of float64, shape (s,)
        α_i y_i of the support vectors.
    intercept_ : float

    Notes
    -----
    Cortes & Vapnik 1995; Chang & Lin 2011. ``report_`` has ``residual``, LIBSVM's stopping quantity computed
    from the solution in double precision, and ``objective``, the dual ½ αᵀQα − Σα. The Gram matrix should be
    positive semi-definite; on an indefinite one the solution is a local one.
    """

    name = "csvc"
    plain = "Support vector machine: the widest margin between two classes, with a price C for errors."
    needs_semidefinite = True

    def __init__(self, *, C=1.0, class_weight=None, tol=1e-3, max_iter=10_000_000):
        self.C = C
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter

    def check_parameters(self):
        """Raise ParameterError for a parameter outside its domain."""
        check_cost(self.C)
        check_real("tol", self.tol, 0, open_low=True)
        check_integer("max_iter", self.max_iter, 1)
        check_class_weight(self.class_weight)

    @classmethod
    def default_grid(cls):
        """Return the values of C that a search tries."""
        return {"C": [0.01, 0.1, 1.0, 10.0, 100.0]}

    def complexity(self):
        """Return (C,): the cheaper a margin error, the smoother the decision."""
        return (float(self.C),)

    @classmethod
    def examples(cls):
        """Return solvers that the contract suite tests."""
        return [cls(tol=1e-6), cls(C=0.3, class_weight="balanced", tol=1e-6), cls(C=np.inf, tol=1e-6)]

    def _fit(self, K, y):
        """Run LIBSVM and keep its support vectors."""
        weights = class_factors(self.class_weight, self.classes_, y)
        machine = SVC(
            kernel="precomputed",
            C=self.C,
            class_weight=dict(zip((-1.0, 1.0), weights, strict=True)),
            tol=self.tol,
            max_iter=self.max_iter,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            machine.fit(K, y)
        self.support_ = machine.support_.astype(np.int64)
        self.dual_coef_ = machine.dual_coef_[0].copy()
        self.intercept_ = float(machine.intercept_[0])
        residual, objective = self._optimality(K, y, self.C * np.where(y > 0, weights[1], weights[0]))
        return {
            "converged": machine.fit_status_ == 0,
            "iterations": int(machine.n_iter_[0]),
            "residual": residual,
            "objective": objective,
        }

    def _optimality(self, K, y, cost):
        """Return LIBSVM's stopping quantity m(α) − M(α) (Fan, Chen & Lin 2005) and the dual objective."""
        coef = np.zeros(len(y))
        coef[self.support_] = self.dual_coef_
        product = np.empty(len(y))
        _linear.decide(K, self.support_, np.zeros(len(self.support_)), self.dual_coef_, 0.0, product)
        gradient = y - product
        alpha = coef * y
        up = np.where(y > 0, alpha < cost, alpha > 0)
        low = np.where(y > 0, alpha > 0, alpha < cost)
        violation = np.max(gradient[up], initial=-np.inf) - np.min(gradient[low], initial=np.inf)
        return max(0.0, float(violation)), float(0.5 * np.sum(coef * product) - np.sum(alpha))

    def _decide(self, K, columns):
        """Return Σ α_i y_i K(x, x_i) + b."""
        out = np.empty(len(K))
        _linear.decide(K, columns, np.zeros(len(columns)), self.dual_coef_, self.intercept_, out)
        return out

    def linear(self):
        """Return (coefficients, constant): α_i y_i in their columns, and b."""
        return self._on_columns(self.dual_coef_), self.intercept_

    def fitted_state(self):
        """Return the intercept and the coefficients."""
        return {"intercept": self.intercept_}, {"coef": self.dual_coef_}

    def restore_fitted(self, header, arrays):
        """Set what `fitted_state` returned."""
        self.intercept_ = header["intercept"]
        self.dual_coef_ = arrays["coef"]
