"""Kernels made of kernels: weighted sums, products, and a kernel on a part of each sequence.

They know their parts only through `Prepared` blocks and diagonals, so any kernel can be a part.
"""

import copy
from dataclasses import dataclass

import numpy as np

from ..archive import nest, unnest
from ..errors import ParameterError
from ..parameters import check_integer, check_real
from .base import Kernel, Plan, Prepared


@dataclass(frozen=True)
class PreparedParts:
    """The payload of a kernel made of kernels: what each part prepared, and the diagonal that follows."""

    parts: tuple[Prepared, ...]
    combined: np.ndarray

    def __len__(self):
        return len(self.combined)

    def rows(self, start, stop):
        """Return records `start` to `stop` as a view."""
        parts = tuple(part.rows(start, stop) for part in self.parts)
        return PreparedParts(parts, self.combined[start:stop])

    def diagonal(self):
        """Return float64 (n,): K(x, x) before normalisation."""
        return self.combined


class CompositeKernel(Kernel):
    """Base of kernels made of kernels: what they inherit from their parts.

    A subclass writes `_given`, `_combine_diagonals` and ``_block``. Parts that learn from data are fitted as
    copies, kept in `bases_`, so that no parameter is changed.
    """

    def _given(self):
        """Return the parts as the constructor was given them: a non-empty list of kernels."""
        raise NotImplementedError

    def _combine_diagonals(self, diagonals):
        """Return float64 (n,): K(x, x) from the parts' diagonals, by the same arithmetic as ``_block``."""
        raise NotImplementedError

    def _seen(self, X):
        """Return what the parts see of `X`."""
        return X

    @property
    def bases(self):
        """List of Kernel: the parts, fitted if this kernel is."""
        return getattr(self, "bases_", None) or self._given()

    @property
    def accepts(self):
        """The kind of data, as its parts."""
        return self._given()[0].accepts

    @property
    def tracks(self):
        """Names of all tracks that a part needs."""
        return tuple(dict.fromkeys(track for part in self._given() for track in part.tracks))

    @property
    def alphabet(self):
        """The first alphabet that a part names, or None."""
        return next((part.alphabet for part in self._given() if part.alphabet is not None), None)

    @property
    def data_dependent(self):
        """Whether a part learns from the data."""
        return any(part.data_dependent for part in self._given())

    @property
    def positive_semidefinite(self):
        """Whether all parts are."""
        return all(part.positive_semidefinite for part in self._given())

    def _check_parameters(self):
        kinds = {part.accepts for part in self._given()}
        if len(kinds) > 1:
            raise ParameterError(
                f"the parts of kernel {self.name!r} take different data: {', '.join(sorted(kinds))}",
                remedy="combine kernels of one kind of data",
            )
        for part in self._given():
            part.check_parameters()

    def _fit(self, X, y):
        if any(part.data_dependent for part in self._given()):
            X = self._seen(X)
            self.bases_ = [
                copy.deepcopy(part).fit(X, y) if part.data_dependent else part for part in self._given()
            ]

    def fitted_state(self):
        """Return (JSON dict, dict of arrays): the parts' fitted states, numbered."""
        if "bases_" not in vars(self):
            return {}, {}
        headers, arrays = [], {}
        for number, part in enumerate(self.bases_):
            header, own = part.fitted_state()
            headers.append(header)
            arrays.update(nest(f"bases/{number}", own))
        return {"bases": headers}, arrays

    def restore_fitted(self, header, arrays):
        """Set what `fitted_state` returned."""
        if "bases" not in header:
            return
        self.bases_ = copy.deepcopy(self._given())
        for number, (part, own) in enumerate(zip(self.bases_, header["bases"], strict=True)):
            if part.data_dependent:
                part.restore_fitted(own, unnest(f"bases/{number}", arrays))

    def _prepare(self, X, like):
        X = self._seen(X)
        likes = [None] * len(self.bases) if like is None else like.parts
        parts = tuple(part.prepare(X, other) for part, other in zip(self.bases, likes, strict=True))
        return PreparedParts(parts, self._combine_diagonals([part.diagonal for part in parts]))

    def plan(self, X, Y=None):
        """Return the sum of the parts' plans."""
        X = self._seen(self.coerce(X))
        Y = None if Y is None else self._seen(self.coerce(Y))
        plans = [part.plan(X, Y) for part in self.bases]
        return Plan(
            " + ".join(plan.algorithm for plan in plans),
            sum(plan.seconds for plan in plans),
            sum(plan.bytes for plan in plans),
            "; ".join(plan.reason for plan in plans if plan.reason),
        )


def as_parts(owner, parts):
    """Return `parts`, checked to be a non-empty list of kernels; ParameterError otherwise."""
    good = isinstance(parts, (list, tuple)) and len(parts) > 0
    if not good or not all(isinstance(part, Kernel) for part in parts):
        raise ParameterError(
            f"kernel {owner!r} is made of kernels, got {parts!r}",
            remedy="give Kernel objects, or use build_kernel",
        )
    return list(parts)


class SumKernel(CompositeKernel):
    """Weighted sum of kernels: K(x, y) = Σ w_i K_i(x, y).

    Parameters
    ----------
    parts : list of Kernel
    weights : list of float, optional
        w_i ≥ 0, one for each part; by default all 1.
    normalize : bool
        Whether to divide the sum by sqrt(K(x, x) K(y, y)); each part has its own `normalize` besides.
    zero_diagonal : {"error", "zero"}
        What to do, when normalising, about a sequence with K(x, x) = 0.
    n_threads : int, optional

    Raises
    ------
    ParameterError
        If there is no part, the parts take different kinds of data, or a weight is negative: such a sum would
        not be positive semi-definite.
    """

    name = "sum"

    def __init__(self, parts, *, weights=None, normalize=False, zero_diagonal="error", n_threads=None):
        self.parts = parts
        self.weights = weights
        self.normalize = normalize
        self.zero_diagonal = zero_diagonal
        self.n_threads = n_threads

    @classmethod
    def examples(cls):
        """Return kernels for the contract suite."""
        from .specs import build_kernel

        parts = build_kernel("spectrum:k=3+spectrum:k=2,part=2:-2")
        return [parts.set_params(normalize=True), build_kernel("0.25*linear+2*rbf:gamma=scale+0*linear")]

    def _given(self):
        return as_parts(self.name, self.parts)

    def _check_parameters(self):
        super()._check_parameters()
        if self.weights is None:
            return
        if len(self.weights) != len(self.parts):
            raise ParameterError(
                f"{len(self.weights)} weights for {len(self.parts)} parts",
                remedy="give one weight for each part",
            )
        for weight in self.weights:
            check_real("weight", weight, 0)

    def _weights(self):
        return [1.0] * len(self.parts) if self.weights is None else [float(weight) for weight in self.weights]

    def _combine_diagonals(self, diagonals):
        total = self._weights()[0] * diagonals[0]
        for weight, diagonal in zip(self._weights()[1:], diagonals[1:], strict=True):
            total += weight * diagonal
        return total

    def _block(self, rows, cols, out):
        term = np.empty_like(out) if len(self.bases) > 1 else None
        for number, (part, weight) in enumerate(zip(self.bases, self._weights(), strict=True)):
            target = term if number else out
            part.block(rows.parts[number], cols.parts[number], target)
            target *= weight
            if number:
                out += term


class ProductKernel(CompositeKernel):
    """Product of kernels, entry by entry: K(x, y) = Π K_i(x, y).

    Parameters
    ----------
    parts : list of Kernel
    normalize : bool
        Whether to divide the product by sqrt(K(x, x) K(y, y)).
    zero_diagonal : {"error", "zero"}
        What to do, when normalising, about a sequence with K(x, x) = 0.
    n_threads : int, optional

    Raises
    ------
    ParameterError
        If there is no part, or the parts take different kinds of data.
    """

    name = "product"

    def __init__(self, parts, *, normalize=False, zero_diagonal="error", n_threads=None):
        self.parts = parts
        self.normalize = normalize
        self.zero_diagonal = zero_diagonal
        self.n_threads = n_threads

    @classmethod
    def examples(cls):
        """Return kernels for the contract suite."""
        from .specs import build_kernel

        return [build_kernel("spectrum:k=1*spectrum:k=2"), build_kernel("rbf*linear*polynomial:degree=2")]

    def _given(self):
        return as_parts(self.name, self.parts)

    def _combine_diagonals(self, diagonals):
        total = diagonals[0].copy()
        for diagonal in diagonals[1:]:
            total *= diagonal
        return total

    def _block(self, rows, cols, out):
        factor = np.empty_like(out) if len(self.bases) > 1 else None
        for number, part in enumerate(self.bases):
            part.block(rows.parts[number], cols.parts[number], factor if number else out)
            if number:
                out *= factor


class PartKernel(CompositeKernel):
    """A kernel on letters `start` to `stop` of each sequence, as in ``s[start:stop]``.

    Parameters
    ----------
    base : Kernel
        A kernel on sequences.
    start, stop : int or None
        Negative numbers count from the end; None is an open end.
    n_threads : int, optional

    Raises
    ------
    ParameterError
        If an end is no integer, or the base takes no sequences.
    """

    name = "part"

    def __init__(self, base, start, stop, *, n_threads=None):
        self.base = base
        self.start = start
        self.stop = stop
        self.n_threads = n_threads

    @classmethod
    def examples(cls):
        """Return kernels for the contract suite."""
        from .specs import build_kernel

        return [build_kernel("spectrum:k=2,part=1:9"), build_kernel("spectrum:k=2,part=-7:")]

    def _given(self):
        return as_parts(self.name, [self.base])

    def _check_parameters(self):
        super()._check_parameters()
        if self.base.accepts != "sequences":
            raise ParameterError(
                f"kernel {self.base.name!r} takes no sequences",
                remedy="only sequences have parts: leave part out",
            )
        for name, end in (("start", self.start), ("stop", self.stop)):
            if end is not None:
                check_integer(f"part's {name}", end, -(2**62), 2**62)

    def _seen(self, X):
        return X.part(self.start, self.stop)

    def _combine_diagonals(self, diagonals):
        return diagonals[0]

    def _block(self, rows, cols, out):
        self.bases[0].block(rows.parts[0], cols.parts[0], out)
