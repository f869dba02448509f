"""The base of kernels built from other kernels.

They see their parts only through `Prepared` blocks and diagonals, so that any kernel can be a part.
"""

import copy
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.core.archive import nest, unnest
from seqkern.core.errors import ParameterError
from seqkern.core.types import Arrays, Floats, Header
from seqkern.kernels.blocks import check_vanished
from seqkern.kernels.capabilities import Products, Traits, given
from seqkern.kernels.decisions import fold
from seqkern.kernels.kernel import Kernel
from seqkern.kernels.kernel_operator import KernelOperator
from seqkern.kernels.prepared import Plan, Prepared
from seqkern.sequences.alphabets import Alphabet


@dataclass(frozen=True)
class PreparedParts:
    """The payload of a composite kernel: the prepared data of each part, and the resulting diagonal."""

    parts: tuple[Prepared, ...]
    combined: np.ndarray

    def __len__(self) -> int:
        return len(self.combined)

    def rows(self, start: int, stop: int) -> "PreparedParts":
        """Return records `start` to `stop` as a view."""
        parts = tuple(part.rows(start, stop) for part in self.parts)
        return replace(self, parts=parts, combined=self.combined[start:stop])

    def diagonal(self) -> Floats:
        """Return K(x, x) before normalisation, float64 (n,)."""
        return self.combined

    @property
    def least_block_rows(self) -> int:
        """The minimum block rows that the payloads of the parts require; see `Kernel._least_block_rows`."""
        return max(getattr(part.payload, "least_block_rows", 1) for part in self.parts)

    @property
    def counts(self) -> dict[str, int]:
        """The number of records that each policy of the parts affected."""
        return add_counts(part.counts for part in self.parts)


FROM_PARTS = Traits(accepts=None, accepts_words="as for its base kernels", data_dependent=None, definite=None)


class CompositeKernel(Kernel):
    """Base class of composite kernels, with everything inherited from their parts.

    A subclass writes `_given`, `_combine_diagonals` and ``_block``. Parts that learn from data are fitted as
    copies, kept in `bases_`, so that no parameter is changed.
    """

    def _given(self) -> list[Kernel]:
        """Return the parts as given to the constructor, a non-empty list of kernels."""
        raise NotImplementedError

    def _combine_diagonals(self, diagonals: list[Floats]) -> Floats:
        """Return K(x, x), float64 (n,), from the parts' diagonals, by the same arithmetic as ``_block``."""
        raise NotImplementedError

    def _nonzero(self, diagonals: list[Floats]) -> Floats:
        """Return float64 (n,) values that are nonzero wherever K(x, x) is nonzero in exact arithmetic."""
        return self._combine_diagonals([(diagonal != 0).astype(np.float64) for diagonal in diagonals])

    def _seen(self, X: Any) -> Any:
        """Return `X` in the form that the parts take."""
        return X

    @property
    def bases(self) -> list[Kernel]:
        """The parts, fitted if this kernel is."""
        return getattr(self, "bases_", None) or self._given()

    @property
    def _fitted(self) -> bool:
        """Whether `fit` has learned something; reading a file does not count."""
        own = any(name.endswith("_") for name in vars(self) if name != "bases_")
        return own or any(part._fitted for part in vars(self).get("bases_", ()))

    traits = FROM_PARTS

    def _traits(self, declared: Traits) -> Traits:
        parts = [part.traits for part in self._given()]

        def all_of(name: str) -> tuple[str, ...]:
            return tuple(dict.fromkeys(item for part in parts for item in getattr(part, name)))

        learns, definite = declared.data_dependent, declared.definite
        if definite is None:
            definite = lambda: all(part.positive_semidefinite for part in parts)  # noqa: E731
        return replace(
            declared,
            accepts=parts[0].accepts,
            accepts_missing=all(part.accepts_missing for part in parts),
            of_several=any(part.of_several for part in parts),
            data_dependent=any(part.data_dependent for part in parts) if learns is None else learns,
            definite=definite,
            tracks=all_of("tracks"),
            views=all_of("views"),
            sequence_views=all_of("sequence_views"),
        )

    @property  # type: ignore[misc]  # here it follows from the parts
    def alphabet(self) -> str | Alphabet | None:  # type: ignore[override]  # here it follows from the parts
        """The first alphabet that a part names, or None."""
        return next((part.alphabet for part in self._given() if part.alphabet is not None), None)

    @property
    def _least_block_rows(self) -> int:  # type: ignore[override]  # here it follows from the parts
        return max(part._least_block_rows for part in self._given())

    def _check_parameters(self) -> None:
        kinds = {part.traits.accepts for part in self._given()}
        if len(kinds) > 1:
            raise ParameterError(
                f"the parts of kernel {self.name!r} take different data: {', '.join(sorted(kinds))}",
                remedy="combine kernels that take the same kind of data",
            )
        for part in self._given():
            part.check_parameters()

    def _fit(self, X: Any, y: npt.ArrayLike | None) -> None:
        if any(part.traits.data_dependent for part in self._given()):
            X = self._seen(X)
            self.bases_ = [
                copy.deepcopy(part).fit(X, y).forget() if part.traits.data_dependent else part for part in self._given()
            ]

    def learned(self) -> dict[str, float]:
        """Return the learned values of all parts that are worth reporting."""
        return {name: value for part in self.bases for name, value in part.learned().items()}

    def fitted_state(self) -> tuple[Header, Arrays]:
        """Return the parts' fitted states, numbered, as (JSON dict, dict of arrays)."""
        states = [part.fitted_state() for part in self.bases]
        arrays = {}
        for number, (_, own) in enumerate(states):
            arrays.update(nest(f"bases/{number}", own))
        headers = [header for header, _ in states]
        return ({"bases": headers}, arrays) if any(headers) or arrays else ({}, {})

    def restore_fitted(self, header: Header, arrays: Arrays) -> None:
        """Restore the parts' fitted states from the result of `fitted_state`."""
        if "bases" not in header:
            return
        self.bases_ = copy.deepcopy(self._given())
        for number, (part, own) in enumerate(zip(self.bases, header["bases"], strict=True)):
            state = own, unnest(f"bases/{number}", arrays)
            if any(state):
                part.restore_fitted(*state)

    def _prepare(self, X: Any, like: PreparedParts | None) -> PreparedParts:
        X = self._seen(X)
        likes = [None] * len(self.bases) if like is None else like.parts
        parts = tuple(part.prepare(X, other) for part, other in zip(self.bases, likes, strict=True))
        diagonals = [part.diagonal for part in parts]
        combined = self._combine_diagonals(diagonals)
        check_vanished(self, X.ids, self._nonzero(diagonals), combined)
        return PreparedParts(parts, combined)

    def _products_of_parts(self, name: str, make: Callable[[list[Any], Any], KernelOperator]) -> Products:
        """Return the Products that `make` makes from the parts' own and the samples as the parts see them."""
        for part in self._given():
            given(getattr(part, name))

        def parts() -> list[Any]:
            return [getattr(part, name) for part in self.bases]

        return Products(
            self,
            lambda X: make(parts(), self._seen(X)),
            lambda X: sum(part.bytes(self._seen(X)) for part in parts()),
            lambda X: sum(part.cost(self._seen(X)) for part in parts()),
            lambda X: sum(part.making(self._seen(X)) for part in parts()),
        )

    def _plan(self, X: Any, Y: Any) -> Plan:
        """Return the sum of the parts' plans."""
        X = self._seen(X)
        Y = None if Y is None else self._seen(Y)
        plans = [part.plan(X, Y) for part in self.bases]
        return Plan(
            " + ".join(plan.algorithm for plan in plans),
            sum(plan.seconds for plan in plans),
            sum(plan.bytes for plan in plans),
            "; ".join(plan.reason for plan in plans if plan.reason),
        )


class ThroughKernel:
    """Mixin of kernels whose values are another kernel's, on the one prepared set in their `PreparedParts`."""

    @property
    def _through(self) -> Kernel:
        """The other kernel: by default the fitted base kernel."""
        return self.bases[0]  # type: ignore[attr-defined]  # of a composite kernel

    def _combine_diagonals(self, diagonals: list[Floats]) -> Floats:
        return diagonals[0]

    def _block(self, rows: PreparedParts, cols: PreparedParts, out: Floats) -> None:
        self._through.block(rows.parts[0], cols.parts[0], out)

    def _fold(self, columns: PreparedParts, coefficients: Floats) -> Callable[[PreparedParts], Floats] | None:
        values = fold(self._through, columns.parts[0], coefficients)
        return None if values is None else lambda rows: values(rows.parts[0])


def add_counts(counts: Iterable[dict[str, int]]) -> dict[str, int]:
    """Return the sum of several dicts of counts."""
    total: dict[str, int] = {}
    for one in counts:
        for what, count in one.items():
            total[what] = total.get(what, 0) + count
    return total


def as_parts(owner: str | None, parts: Any) -> list[Kernel]:
    """Return the parts of a kernel, checked to be a non-empty list of kernels."""
    good = isinstance(parts, (list, tuple)) and len(parts) > 0
    if not good or not all(isinstance(part, Kernel) for part in parts):
        raise ParameterError(
            f"kernel {owner!r} needs kernels as parts, got {parts!r}",
            remedy="give kernels, such as (spectrum:k=3)",
        )
    return list(parts)
