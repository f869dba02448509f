"""A kernel whose parameters are chosen by the marginal likelihood of a Gaussian process."""

from dataclasses import replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from seqkern.core.convergence import warn_unconverged
from seqkern.core.errors import GramError, ParameterError, unknown_name
from seqkern.core.memory import available_memory, format_bytes
from seqkern.core.parameters import component, fixed, integer, text
from seqkern.core.threads import one_thread
from seqkern.core.types import Arrays, Floats, Header
from seqkern.kernels.capabilities import required
from seqkern.kernels.composite import FROM_PARTS, CompositeKernel, ThroughKernel, as_parts
from seqkern.kernels.decisions import attributions, kmer_weights
from seqkern.kernels.gradients import Gradient
from seqkern.kernels.kernel import Kernel
from seqkern.kernels.occurrences import KmerWeights
from seqkern.kernels.prepared import Plan
from seqkern.sequences.tables import Data

SPREADS = 1.0, 0.25, 4.0, 1 / 16, 16.0, 1 / 64, 64.0
"""Factors of all parameters, for the points that the search starts from."""
MOST_WEIGHTS = 10
"""Number of weights of positions that are reported, the largest ones."""
LIKELIHOODS, LIKELIHOOD_NS, PLAN_SHARE = 200, 0.18, 0.25
"""Likelihoods of a search, nanoseconds of one for each n³, and its share of the time of a matrix of the base."""
SPARE_MATRICES = 3
"""Number of matrices for the choosing samples besides K: a factor, an inverse, and a block of the derivative."""


class LikelihoodKernel(ThroughKernel, CompositeKernel):
    r"""Kernel whose parameters maximise the marginal likelihood of a Gaussian process.

    It suits weights of sums, widths, decays, gap costs and β, whose grids would need too many points.
    `fit` learns them from the training samples, or from `most_samples` of them drawn by `seed`. The solver may be any;
    for `gp_regression` and `gp_classification` they are the usual choice (type II maximum likelihood).

    Attributes
    ----------
    values_ : dict of str to float
        After `fit`: the parameters chosen.
    report_ : dict
        After `fit`: ``log_likelihood``, ``at_start`` (with the given values), ``evaluations``, ``converged`` and
        ``n_samples``.

    Raises
    ------
    ParameterError
        If the base has no parameter with a derivative, or none of a given name.

    Notes
    -----
    With K_θ the base kernel and s, σ² a scale and a noise, which the solver chooses anew, θ maximises

    .. math:: \log N(y | m, s K_θ + σ^2 I)

    for numbers as labels (m is the constant of the greatest likelihood), and Laplace's approximation of the logistic
    likelihood for two classes. L-BFGS-B searches in logarithms, with exact derivatives, from the values given and from
    these times ¼, 4, … A parameter of 0 stays as it is. Weights of a sum are divided by their sum. Kernels may have
    priors of their parameters, which are added to the likelihood, and parameters that are learned after the others, and
    only if the evidence for them, by Laplace's approximation, is at least three times that for the values given: see
    `lock`.

    Complexity: for n samples and p parameters, each of some 50 steps from each start takes n³ and the matrices of the
    parts that changed, with p derivatives, whose loops take 2 to 8 times as long.

    Definiteness: positive semi-definite if the base kernel is.

    References
    ----------
    Rasmussen, Williams: Gaussian Processes for Machine Learning. MIT Press 2006, section 5.4.

    Examples
    --------
    The labels are a slow function of the first number:

    >>> from seqkern.kernels import LikelihoodKernel, RBFKernel
    >>> X = [[0.0, 0.3], [0.5, 0.1], [1.0, 0.9], [1.5, 0.2], [2.0, 0.6], [2.5, 0.5], [3.0, 0.4]]
    >>> y = [0.0, 0.48, 0.84, 1.0, 0.91, 0.6, 0.14]
    >>> kernel = LikelihoodKernel(RBFKernel(gamma=1.0)).fit(X, y)
    >>> round(kernel.values_["gamma"], 2)
    0.1
    """

    name = "likelihood"
    summary = "Chooses the parameters of a kernel by the likelihood of a Gaussian process."
    traits = replace(FROM_PARTS, data_dependent=True)

    base: Kernel = component("kernel", kw_only=False, doc="The kernel, with the values to start from.")
    parameters: list[str] | str | None = text(
        default=None,
        several=True,
        doc="Names of the parameters to choose, such as ``beta``, ``weights__0`` or ``parts__1__gamma``; a name "
        "without ``__`` stands for all parameters of that name. By default all that have a derivative.",
    )
    starts: int = integer(default=3, low=1, high=len(SPREADS), doc="Number of points that the search starts from.")
    most_samples: int = integer(
        default=500, low=2, doc="Maximum number of training samples, drawn at random, that choose the parameters."
    )
    seed: int = integer(default=1, low=0, doc="Seed of the draw.")
    normalize: bool = fixed(False)
    zero_diagonal: Literal["error", "zero"] = fixed("error")

    tested_with = (
        "likelihood:base=(string:n=2),starts=1",
        "likelihood:base=(0.5*rbf:gamma=0.5+linear),parameters=[gamma,weights],starts=1,most_samples=6",
    )

    def _given(self) -> list[Kernel]:
        return as_parts(self.name, [self.base])

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if not self.base.traits.data_dependent and not Gradient(self.base).sized_by_samples():  # others: after `fit`
            self._chosen_names(self.base)

    def _chosen_names(self, base: Kernel) -> list[str]:
        """Return the checked names of the parameters to be chosen."""
        known = required(base, "gradient").tunable()
        given = [self.parameters] if isinstance(self.parameters, str) else self.parameters
        names = list(known) if given is None else []
        for wanted in given or ():
            found = [name for name in known if _stands_for(wanted, name)]
            if not found:
                raise unknown_name(f"parameter with a derivative of kernel {base.name!r}", wanted, known)
            names += [name for name in found if name not in names]
        names = [name for name in names if known[name] > 0]
        if not names:
            raise ParameterError(
                f"the parameters of kernel {base.name!r} are 0, where no search can start",
                remedy="give values above 0",
            )
        return names

    def _plan(self, X: Any, Y: Any) -> Plan:
        """Return the plan of the base; before `fit` with the time of learning."""
        plan = super()._plan(X, Y)
        if hasattr(self, "values_"):
            return plan
        n = min(len(X), self.most_samples)
        each = LIKELIHOOD_NS * 1e-9 * n**3 + PLAN_SHARE * self.base.plan(X.take(np.arange(n))).seconds
        return replace(plan, seconds=plan.seconds + LIKELIHOODS * each)

    # ---- learning ----------------------------------------------------------------------------------------

    def _fit(self, X: Data, y: npt.ArrayLike | None) -> None:
        vars(self).pop("bases_", None)  # of a fit before: the search starts from the values given
        super()._fit(X, y)
        # imported here: scipy slows start-up
        from seqkern.kernels.vectors.marginal_likelihood import Labels, LikelihoodSearch

        base = self.bases[0].gradient.suited(X)
        names, labels = self._chosen_names(base), Labels(y)
        rows = np.arange(len(X))
        if len(X) > self.most_samples:
            rows = np.sort(np.random.default_rng(self.seed).choice(len(X), self.most_samples, replace=False))
            X, labels = X.take(rows), labels.take(rows)
        self._check_memory(base, len(rows))
        with one_thread():
            found = LikelihoodSearch(base.gradient(X), labels, names).best(SPREADS[: self.starts])
        self.values_ = _weights_to_one(base, found.values)
        self.bases_ = [base.gradient.with_values(self.values_)]
        self._given_values = base.gradient.tunable() if base.gradient.sized_by_samples() else {}
        self.report_ = {
            "log_likelihood": found.log_likelihood,
            "at_start": found.at_start,
            "evaluations": found.evaluations,
            "converged": found.converged,
            "n_samples": len(rows),
        }
        if not found.converged:
            warn_unconverged(
                f"the search for {', '.join(names)} stopped after {found.evaluations} likelihoods", stacklevel=4
            )

    def _check_memory(self, base: Kernel, n: int) -> None:
        """Raise GramError, before any work, if the matrices do not fit into memory."""
        need, free = 8 * n * n * (base.gradient.matrices() + SPARE_MATRICES), available_memory()
        if need > free:
            raise GramError(
                f"choosing parameters on {n} samples takes {format_bytes(need)} of memory, {format_bytes(free)} are "
                "free",
                remedy="choose a smaller most_samples",
            )

    def learned(self) -> dict[str, float]:
        """Return the parameters chosen, and the log marginal likelihood, as a dict of text to number."""
        if not hasattr(self, "values_"):
            return super().learned()
        told = {name: value for name, value in super().learned().items() if name not in self.values_}
        weights = {name: self.values_[name] for name in Gradient(self.bases[0]).refining() if name in self.values_}
        largest = (
            sorted(weights, key=lambda name: -weights[name])[:MOST_WEIGHTS] if len(set(weights.values())) > 1 else []
        )
        gained = {"log marginal likelihood": self.report_["log_likelihood"]}
        chosen = {name: value for name, value in self.values_.items() if name not in weights or name in largest}
        return told | chosen | gained

    def fitted_state(self) -> tuple[Header, Arrays]:
        """Return (JSON dict, dict of arrays): the parameters chosen, and the state of the base."""
        header, arrays = super().fitted_state()
        if hasattr(self, "values_"):
            header = {**header, "values": self.values_, "report": self.report_}
            if self._given_values:
                header["given"] = self._given_values
        return header, arrays

    def restore_fitted(self, header: Header, arrays: Arrays) -> None:
        """Restore the state returned by `fitted_state`."""
        super().restore_fitted(header, arrays)
        if "values" in header:
            self.values_, self.report_ = dict(header["values"]), header["report"]
            self._given_values = header.get("given", {})
            self.bases_ = [self.bases[0].gradient.with_values(self._given_values | self.values_)]

    # ---- the matrix --------------------------------------------------------------------------------------

    def _attribute(self, X: Any, support: Any, coefficients: Floats) -> Floats:
        return attributions(self.bases[0], X, support, coefficients)

    def _kmer_weights(self, X: Any, support: Any, coefficients: Floats) -> KmerWeights:
        return kmer_weights(self.bases[0], X, support, coefficients)


def _stands_for(wanted: str, name: str) -> bool:
    """Return whether a given name matches a parameter: its full name, or its last part in any part of the kernel."""
    words = [word for word in name.split("__") if not word.isdigit()]
    return wanted == name or wanted == words[-1]


def _weights_to_one(base: Kernel, values: dict[str, float]) -> dict[str, float]:
    """Return the parameters with the weights of a sum normalised to sum 1 if all were chosen.

    Their common scale is free.
    """
    own = [name for name in base._own_tunable() if name.startswith("weights__")]
    if not all(name in values for name in own):
        return values
    total = sum(values[name] for name in own)
    return {name: value / total if name in own else value for name, value in values.items()}
