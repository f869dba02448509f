"""What the solvers of Gaussian process regression share: parameters, the choice of noise and scale, variances."""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import LabelError
from seqkern.core.parameters import choice, real
from seqkern.core.types import Arrays, Header
from seqkern.gaussian.search import Likelihood, bound_remark, choose_scale_and_noise
from seqkern.gaussian.system import joined_remarks
from seqkern.kernels.kernel_operator import KernelOperator
from seqkern.solvers.base import RealSolver
from seqkern.solvers.estimator import clone
from seqkern.solvers.expansion import KernelExpansion
from seqkern.solvers.gaussian.posterior import posterior_of_arrays
from seqkern.solvers.products.on_products import OnProducts
from seqkern.solvers.variances import Variances

Floats = npt.NDArray[np.float64]


class GaussianRegression(OnProducts, KernelExpansion, RealSolver):
    """Base of Gaussian process regression; a solver sets `scale_`, `noise_` and `posterior_`.

    Attributes
    ----------
    posterior_ : Posterior or LowRankPosterior
        After `fit`.

    Examples
    --------
    >>> from seqkern.solvers import GPR
    >>> issubclass(GPR, GaussianRegression), GPR().mean
    (True, 'constant')
    """

    needs_semidefinite = True
    gives_variances: ClassVar[bool] = True

    noise: float | str = real(
        default="auto",
        low=0,
        words=("auto",),
        doc="Variance of the errors of the labels; ``auto``: that of the greatest marginal likelihood.",
    )
    scale: float | str = real(
        default="auto",
        low=0,
        open_low=True,
        words=("auto",),
        doc="Factor of the kernel: the variance of the function where K(x, x) = 1; ``auto``: as for `noise`.",
    )
    mean: Literal["constant", "zero"] = choice(
        default="constant", doc="Mean of the prior: a constant, estimated from the labels, or zero."
    )

    @property
    def without_matrix(self) -> str:
        """What to train instead where a Gram matrix does not fit into memory."""
        return "choose --solver gp_inducing with --gram FILE.npy, which copies no matrix"

    def check_labels(self, y: npt.NDArray[Any], groups: npt.ArrayLike | None = None) -> None:
        """Raise LabelError for constant labels, from which no variance can be learned."""
        if np.ptp(y) == 0:
            raise LabelError(
                f"all {len(y)} training labels are {float(y[0]):g}",
                remedy="a Gaussian process needs labels that differ",
            )

    @property
    def best_params_(self) -> dict[str, Any]:
        """Return scale and noise that were chosen, by name."""
        return {name: getattr(self, f"{name}_") for name in ("noise", "scale") if getattr(self, name) == "auto"}

    def with_chosen_parameters(self) -> Self:
        """Return a new solver with the scale and the noise that `fit` chose."""
        return clone(self).set_params(**self.best_params_)

    def _given(self) -> tuple[float | None, float | None]:
        """Return scale and noise as given, which are set; None for those to be chosen."""
        scale, noise = (None if value == "auto" else float(value) for value in (self.scale, self.noise))
        if scale is not None and noise is not None:
            self.scale_, self.noise_ = scale, noise
        return scale, noise

    def _choose(self, likelihood: Likelihood, y: Floats) -> dict[str, Any]:
        """Set scale and noise, of which one at least is to be chosen; return what to report of the search."""
        self.scale_, self.noise_, chosen = choose_scale_and_noise(likelihood, float(np.var(y)), *self._given())
        free = [name for name in ("scale", "noise") if getattr(self, name) == "auto"]
        limits = [bound_remark(free[place], chosen.values[place]) for place in chosen.at_bounds]
        return {"converged": chosen.converged, "iterations": chosen.evaluations, **joined_remarks(*limits)}

    def _summary(self, log_likelihood: float) -> dict[str, Any]:
        """Return what every fit reports."""
        return {
            "objective": -log_likelihood,
            "log_marginal_likelihood": log_likelihood,
            "noise": self.noise_,
            "scale": self.scale_,
            "mean": self.intercept_,
        }

    def _variances(self, K: Any, diagonal: Floats, columns: npt.NDArray[np.int64]) -> Variances:
        """Return the variances of the function and of observations."""
        rows = self._rows(K) if isinstance(K, KernelOperator) else K[:, columns]
        return Variances.of(self.posterior_.variances(rows, diagonal), self.noise_)

    def _rows(self, K: KernelOperator) -> Floats:
        """Return the kernel of the records of an operator with the support."""
        unit = np.zeros(len(self.support_))
        out = np.empty((len(K), len(unit)))
        for j in range(len(unit)):
            unit[j] = 1.0
            out[:, j] = self._sums(K, unit)
            unit[j] = 0.0
        return out

    def fitted_state(self) -> tuple[Header, Arrays]:
        """Return parameters, coefficients and the posterior."""
        header, arrays = super().fitted_state()
        return {**header, "scale": self.scale_, "noise": self.noise_}, {**arrays, **self.posterior_.arrays()}

    def restore_fitted(self, header: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Restore what `fitted_state` returned."""
        super().restore_fitted(header, arrays)
        self.scale_, self.noise_ = header["scale"], header["noise"]
        self.posterior_ = posterior_of_arrays(arrays, self.scale_, len(self.dual_coef_))
