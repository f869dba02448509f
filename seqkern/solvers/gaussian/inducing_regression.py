"""Gaussian process regression on few inducing samples: the variational bound."""

from typing import Any, Self

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import ParameterError
from seqkern.core.parameters import integer
from seqkern.core.threads import one_thread
from seqkern.gaussian.system import joined_remarks
from seqkern.kernels.kernel_operator import KernelOperator
from seqkern.solvers.costs import FLOP_NS, FitCost, FitWork
from seqkern.solvers.gaussian.gaussian_regression import GaussianRegression
from seqkern.solvers.gaussian.inducing import InducingBound

Floats = npt.NDArray[np.float64]


class InducingGPR(GaussianRegression):
    r"""Gaussian process regression that keeps few inducing samples, by the variational bound of Titsias.

    Attributes
    ----------
    support_ : ndarray of int64, shape (m,)
        The inducing samples.
    dual_coef_ : ndarray of float64, shape (m,)
        Their coefficients.
    intercept_ : float
        The mean of the prior.
    noise_, scale_ : float
        Variance of the noise, and factor of the kernel, as given or chosen.
    report_ : dict
        Besides the usual: ``log_marginal_likelihood``, here a lower bound, of which ``objective`` is the negative,
        ``noise``, ``scale``, ``mean``, and ``unexplained``, the share of tr K that the inducing samples leave.

    Notes
    -----
    The model is that of `GPR`. What the labels tell about f is summarised by its values at m training samples Z, so
    that the covariance of the labels is C = s Q + noise · I with Q = K(X, Z) K(Z, Z)⁻¹ K(Z, X). Noise and scale that
    are ``"auto"`` maximise a lower bound of the log marginal likelihood

    .. math:: \log N(y; m 1, C) − s / (2 noise) (tr K − tr Q)

    in which m is the mean of the prior, by generalised least squares. Inducing samples are pivots of a partial Cholesky
    decomposition of K: each is the sample that those before explain least. With all samples the fit is that of `GPR`.

    Predictions need the kernel with the inducing samples only. A variance is that of f given the inducing values, plus
    what these leave of K(x, x): far from them it is that of the prior.

    Complexity: n·m² multiplications and n·m numbers for n training samples; of a Gram matrix only m rows are read, on a
    KernelOperator m products are computed instead. A variance takes m² multiplications.

    References
    ----------
    Titsias: Variational learning of inducing variables in sparse Gaussian processes. AISTATS 2009.

    Examples
    --------
    Two of five samples suffice, as the others are nearly copies of them:

    >>> import numpy as np
    >>> from seqkern.kernels import RBFKernel
    >>> from seqkern.solvers import InducingGPR
    >>> kernel = RBFKernel(gamma=0.5)
    >>> X, y = np.array([[0.0], [0.01], [2.0], [2.01], [2.02]]), np.array([0.1, 0.2, 0.9, 0.8, 0.9])
    >>> solver = InducingGPR(n_inducing=2, noise=0.01, scale=1.0).fit(kernel(X), y)
    >>> solver.support_.tolist(), solver.predict(kernel(X, X)).round(2).tolist()
    ([2, 0], [0.15, 0.15, 0.86, 0.87, 0.87])
    """

    name = "gp_inducing"
    gram_copies = 0.0
    summary = "Gaussian process regression on few inducing samples, for very many records."

    n_inducing: int = integer(default=500, low=1, doc="Inducing samples, at most.")

    @classmethod
    def examples(cls) -> list[Self]:
        """Return solvers for the contract suite."""
        return [cls(), cls(n_inducing=12, noise=0.05, scale=2.0, mean="zero")]

    @property
    def without_matrix(self) -> str:
        """Nothing: no other Gaussian process needs less."""
        return ""

    def gram_bytes(self, n: int) -> int:
        """Return the memory of a fit besides the Gram matrix: the columns of the inducing samples, twice.

        Parameters
        ----------
        n : int
            Training samples.

        Returns
        -------
        int
        """
        return 16 * n * min(n, self.n_inducing)

    def fit_cost(self, work: FitWork) -> FitCost:
        """Return what a fit is predicted to cost: the columns of the inducing samples, made orthogonal."""
        m = min(work.n, self.n_inducing)
        products = m * work.product if work.gives == "operator" else 0.0
        return FitCost(products + 2 * work.n * m**2 * FLOP_NS * 1e-9, self.gram_bytes(work.n))

    def _fit(self, K: Any, y: Floats) -> dict[str, Any]:
        """Choose inducing samples and parameters; the rest follows."""
        if self.noise != "auto" and float(self.noise) == 0:
            raise ParameterError("noise=0 needs solver gp_regression", remedy="give a noise above 0, or auto")
        report: dict[str, Any] = {}
        with one_thread():
            bound = InducingBound(K, y, self.n_inducing, constant=self.mean == "constant")
            if None in self._given():
                report = self._choose(bound, y)
            coefficients, self.intercept_, self.posterior_ = bound.solution(self.scale_, self.noise_)
        self.support_, self.dual_coef_ = bound.pivots, coefficients
        if isinstance(K, KernelOperator):
            self._vectors = K.take(self.support_)
        return {
            "converged": True,
            "iterations": 1,
            "residual": 0.0,
            **report,
            **self._summary(bound.likelihood(self.scale_, self.noise_)[0]),
            **joined_remarks(report.get("remark"), bound.remark()),
            "unexplained": bound.left / (bound.size * len(y)) if bound.size else 0.0,
        }
