"""Derivatives of kernel matrices with respect to the kernels' continuous parameters, for tuning these by a likelihood.

A kernel lists the parameters in `Differentiable._own_tunable` and gives ∂K/∂θ in `_derivative`, both before
normalisation; a composite kernel gives `_nested`, `_joined` and `_chained`, the chain rule. `KernelGradient` adds
the normalisation, by the quotient rule, and keeps the matrices of parts while other parameters change.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import ParameterError

Square: TypeAlias = npt.NDArray[np.float64]
"""A matrix (n, n) of all pairs of n samples."""


class Differentiable:
    """Mixin of `Kernel`: the derivatives of its matrix, not normalised, with respect to its continuous parameters.

    Parameters of parts have the names of `set_params`, such as ``base__gamma`` and ``parts__0__beta``; a number in a
    list has the name of the list and its index, such as ``weights__0``.
    """

    _differentiates_logarithm: bool = False
    """Whether `_derivative` returns ∂ ln K/∂θ, for a K that may overflow before normalisation."""
    _chains_elementwise: bool = False
    """Whether `_chained` multiplies each element of the derivative by a factor."""
    _learning_matrices: int = 1
    """Number of n × n matrices that `KernelGradient` keeps of the kernel."""
    _has_scale: bool = False
    """Whether parameters of K scale it to the variance of the labels, so that a likelihood needs no factor."""
    _sized_by_samples: bool = False
    """Whether the length of the samples decides the number of parameters; see `_suited`."""

    def _own_tunable(self) -> dict[str, float]:
        """Return the kernel's own parameters that `_derivative` supports, with their values."""
        return {}

    def _derivative(self, name: str, at: KernelGradient) -> Square:
        """Return ∂K/∂θ (or ∂ ln K/∂θ) on ``at.X`` for one parameter of `_own_tunable`, not normalised."""
        raise NotImplementedError

    def _nested(self) -> Mapping[str, Any]:
        """Return the part kernels that `_chained` supports, by their names in `set_params`."""
        return {}

    def _joined(self, parts: Sequence[Square]) -> Square:
        """Return K, not normalised, computed from the matrices of the parts, which are not modified."""
        raise NotImplementedError

    def _chained(self, number: int, parts: Sequence[Square], derivative: Square) -> Square:
        """Return ∂K/∂θ, not normalised, for a parameter θ of part `number`, by the chain rule from ∂K_part/∂θ."""
        raise NotImplementedError

    def _contracted(self, weights: Square, at: KernelGradient, names: Sequence[str]) -> dict[str, float]:
        """Return Σ_ij weights_ij ∂K_ij/∂θ for at least those of its own parameters `names` for which the kernel has a
        faster way than `_derivative`; K is not normalised, `weights` is symmetric.
        """
        return {}

    def _raw_matrix(self, at: KernelGradient) -> Square:
        """Return K on ``at.X``, not normalised, of a kernel without parts; ``at.shared`` outlives changes of values."""
        plain: Any = self
        if plain.normalize:
            plain = copy.copy(plain)
            plain.normalize = False
        return cast("Square", plain(at.X))

    def _suited(self, X: Any) -> Any:
        """Return the kernel with a value for each of the parameters that samples like `X` have."""
        return self

    def _log_priors(self) -> dict[str, tuple[float, float]]:
        """Return the logarithm of the prior density, up to a constant, and its derivative, of each of its own
        parameters that has a prior.
        """
        return {}

    def _refining(self) -> dict[str, float]:
        """Return its own parameters that are learned only if the evidence for them is greater than for the values
        given, with the standard deviation of the parameter's logarithm under its prior.
        """
        return {}

    def _tuning_bounds(self) -> dict[str, tuple[float, float]]:
        """Return the domain of each parameter of `_own_tunable`, as (minimum, maximum)."""
        declared = self.declarations()  # type: ignore[attr-defined]  # of a kernel
        bounds = {}
        for name in self._own_tunable():
            item = declared[name.partition("__")[0]]
            low, high = getattr(item, "low", None), getattr(item, "high", None)
            low, high = (getattr(self, end) if isinstance(end, str) else end for end in (low, high))
            bounds[name] = (-np.inf if low is None else float(low), np.inf if high is None else float(high))
        return bounds

    def _with_values(self, values: Mapping[str, float]) -> Any:
        """Return a copy with new values of some of the parameters of `_own_tunable`."""
        made = copy.copy(self)
        for name, value in values.items():
            _set_value(made, name, float(value))
        return made


class Gradient:
    """A kernel's capability of derivatives by its continuous parameters."""

    def __init__(self, kernel: Any) -> None:
        self.kernel = kernel
        self.parts = {name: Gradient(part) for name, part in kernel._nested().items()}

    def __call__(self, X: Any) -> KernelGradient:
        """Return the KernelGradient of samples: their kernel matrix and its derivatives."""
        self.kernel.check_parameters()
        self.kernel._check_fitted()
        return KernelGradient(self.kernel, self.kernel.coerce(X))

    def tunable(self) -> dict[str, float]:
        """Return the parameters with a derivative, and their values; empty if there are none."""
        return self._collected("_own_tunable", "tunable")

    def bounds(self) -> dict[str, tuple[float, float]]:
        """Return the domain of each parameter of `tunable`, as (minimum, maximum)."""
        return self._collected("_tuning_bounds", "bounds")

    def log_priors(self) -> dict[str, tuple[float, float]]:
        """Return (logarithm of the prior density, derivative) of each parameter of `tunable` that has a prior."""
        return self._collected("_log_priors", "log_priors")

    def refining(self) -> dict[str, float]:
        """Return the parameters of `tunable` that need evidence to be learned; see `Differentiable._refining`."""
        return self._collected("_refining", "refining")

    def _collected(self, own: str, of_part: str) -> dict[str, Any]:
        """Return a dict of the kernel and those of its parts, with full names."""
        found: dict[str, Any] = getattr(self.kernel, own)()
        for prefix, part in self.parts.items():
            found = found | {f"{prefix}__{name}": value for name, value in getattr(part, of_part)().items()}
        return found

    def with_values(self, values: Mapping[str, float]) -> Any:
        """Return a copy of the kernel with new values of some parameters; it shares the parts without any, fitted or
        not.
        """
        own, inner = _split(values, self.parts)
        made = self.kernel._with_values(own)
        return self._with_parts(
            made, {name: part.with_values(inner[name]) for name, part in self.parts.items() if inner[name]}
        )

    def suited(self, X: Any) -> Any:
        """Return the kernel, or a copy, with a value for each of the parameters that samples like `X` have."""
        if not self.sized_by_samples():
            return self.kernel
        seen = self.kernel._seen(X) if self.parts else None
        parts = {name: part.suited(seen) for name, part in self.parts.items()}
        return self._with_parts(copy.copy(self.kernel._suited(X)), parts)

    def has_scale(self) -> bool:
        """Return whether the matrix is in units of the variance of the labels; see `Differentiable._has_scale`."""
        passed = self.kernel._chains_elementwise and any(part.has_scale() for part in self.parts.values())
        return not self.kernel.normalize and (self.kernel._has_scale or passed)

    def sized_by_samples(self) -> bool:
        """Return whether `suited` adds parameters."""
        return bool(self.kernel._sized_by_samples) or any(part.sized_by_samples() for part in self.parts.values())

    def _with_parts(self, made: Any, changed: dict[str, Any]) -> Any:
        """Return a copy of the kernel, after its parts were replaced by those of `changed`."""
        if changed:
            parts = {name: changed.get(name, part.kernel) for name, part in self.parts.items()}
            made.set_params(**parts)
            if hasattr(made, "bases_"):
                made.bases_ = list(parts.values())
        return made

    def matrices(self) -> int:
        """Return the number of n × n matrices that a `KernelGradient` holds while it is used: one for each kernel, and
        five.
        """
        return 5 + self._kernels()

    def _kernels(self) -> int:
        return int(self.kernel._learning_matrices) + sum(part._kernels() for part in self.parts.values())


class KernelGradient:
    """The kernel matrix of a set of samples, and its derivatives, each computed when asked for."""

    def __init__(
        self, kernel: Any, X: Any, inner: list[KernelGradient] | None = None, shared: dict[str, Any] | None = None
    ) -> None:
        self.kernel, self.X = kernel, X
        self.shared: dict[str, Any] = {} if shared is None else shared
        parts = kernel._nested()
        self.prefixes = list(parts)
        if inner is None:
            seen = kernel._seen(X) if parts else None  # kernels with parts have it
            inner = [Gradient(part)(seen) for part in parts.values()]
        self.inner = inner

    @property
    def names(self) -> list[str]:
        """Names of the parameters, as in `Gradient.tunable`."""
        return list(Gradient(self.kernel).tunable())

    @cached_property
    def raw(self) -> Square:
        """K before normalisation."""
        if self.inner:
            return self.kernel._joined(self.parts)
        return cast("Square", self.kernel._raw_matrix(self))

    @property
    def parts(self) -> list[Square]:
        """The kernel matrices of the parts, normalised as the parts are."""
        return [part.matrix for part in self.inner]

    @property
    def matrix(self) -> Square:
        """K, normalised as the kernel is; read-only."""
        if not self.kernel.normalize:
            return self.raw
        if self.kernel._differentiates_logarithm:
            return self._whole
        self.kernel._count_policies(self.X, self.raw.diagonal(), {})  # refuses what cannot be normalised
        return self.raw * self._inverse_roots()

    @cached_property
    def _whole(self) -> Square:
        """The matrix K as the kernel computes it."""
        return cast("Square", self.kernel(self.X))

    def derivative(self, name: str) -> Square:
        """Return ∂K/∂θ for the parameter `name`, including the derivative of the normalisation."""
        found = self._raw_derivative(name)
        if not np.isfinite(found).all():
            raise ParameterError(
                f"kernel {self.kernel.name!r}: the derivative by {name} overflows",
                remedy="choose a smaller value to start from, or shorter sequences",
            )
        logarithm = self.kernel._differentiates_logarithm
        if not self.kernel.normalize:
            return found * self.raw if logarithm else found
        if logarithm:
            return self.matrix * (found - np.add.outer(found.diagonal() / 2, found.diagonal() / 2))
        diagonal = self.raw.diagonal()
        shares = _over(found.diagonal(), diagonal) / 2
        return (found - self.raw * np.add.outer(shares, shares)) * self._inverse_roots()

    def at(self, values: Mapping[str, float]) -> KernelGradient:
        """Return the KernelGradient for other values of some parameters, reusing independent parts."""
        gradient = Gradient(self.kernel)
        now = gradient.tunable()
        changed = {name: value for name, value in values.items() if now[name] != value}
        if not changed:
            return self
        made = gradient.with_values(changed)
        _, inner = _split(changed, self.prefixes)
        return KernelGradient(
            made,
            self.X,
            [part.at(inner[name]) for part, name in zip(self.inner, self.prefixes, strict=True)],
            self.shared,
        )

    def contracted(self, weights: Square, names: Sequence[str]) -> dict[str, float]:
        """Return Σ_ij weights_ij ∂K_ij/∂θ for each of the parameters `names`; `weights` is symmetric."""
        quick = self._quick(weights, names)
        return {
            name: quick[name] if name in quick else float(np.vdot(weights, self.derivative(name))) for name in names
        }

    def _quick(self, weights: Square, names: Sequence[str]) -> dict[str, float]:
        """Return these sums for parameters of kernels that compute them without the derivatives."""
        kernel = self.kernel
        own, inner = _split(dict.fromkeys(names, 0.0), self.prefixes)
        if kernel._differentiates_logarithm:
            return {}
        if kernel.normalize:
            shares = (weights * self.matrix).sum(axis=1)
            weights = weights * self._inverse_roots()
            weights[np.diag_indices_from(weights)] -= _over(shares, self.raw.diagonal())
        found: dict[str, float] = kernel._contracted(weights, self, list(own)) if own else {}
        for number, (prefix, part) in enumerate(zip(self.prefixes, self.inner, strict=True)):
            if inner[prefix] and kernel._chains_elementwise:
                passed = kernel._chained(number, self.parts, weights)
                found |= {
                    f"{prefix}__{name}": value for name, value in part._quick(passed, list(inner[prefix])).items()
                }
        return found

    def _raw_derivative(self, name: str) -> Square:
        """Return ∂K/∂θ before normalisation."""
        for number, (prefix, part) in enumerate(zip(self.prefixes, self.inner, strict=True)):
            if name.startswith(f"{prefix}__"):
                return self.kernel._chained(number, self.parts, part.derivative(name[len(prefix) + 2 :]))
        if name not in self.kernel._own_tunable():
            raise ParameterError(
                f"kernel {self.kernel.name!r} has no derivative by {name!r}",
                remedy=f"choose from: {', '.join(self.names) or 'none'}",
            )
        return self.kernel._derivative(name, self)

    def _inverse_roots(self) -> Square:
        """Return 1 / √(K(x, x)·K(y, y)) of all pairs, and 0 where K(x, x) or K(y, y) is not positive."""
        diagonal = self.raw.diagonal()
        roots = _over(np.ones(len(diagonal)), np.sqrt(np.maximum(diagonal, 0)))
        return np.multiply.outer(roots, roots)


def _over(values: Square, diagonal: Square) -> Square:
    """Return values / diagonal, and 0 where the diagonal is not positive."""
    return np.divide(values, diagonal, out=np.zeros(len(values)), where=diagonal > 0)


def log_gamma_prior(value: float) -> tuple[float, float]:
    """Return the logarithm of the Gamma(2, 2) density, up to a constant, and its derivative."""
    return math.log(value) - 2 * value, 1 / value - 2


def _split(values: Mapping[str, float], prefixes: Any) -> tuple[dict[str, float], dict[str, dict[str, float]]]:
    """Return the values of a kernel's own parameters, and the values of each part's parameters."""
    own, inner = {}, {prefix: dict[str, float]() for prefix in prefixes}
    for name, value in values.items():
        prefix = next((prefix for prefix in inner if name.startswith(f"{prefix}__")), None)
        if prefix is None:
            own[name] = value
        else:
            inner[prefix][name[len(prefix) + 2 :]] = value
    return own, inner


def _set_value(kernel: Any, name: str, value: float) -> None:
    """Set a parameter, or one number of a list parameter."""
    name, _, place = name.partition("__")
    if place:
        numbers = [float(number) for number in kernel._weights()]
        numbers[int(place)] = value
        setattr(kernel, name, numbers)
    else:
        setattr(kernel, name, value)
