"""The base of kernels built from other kernels.

They see their parts only through `Prepared` blocks and diagonals, so that any kernel can be a part.
"""

import copy
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.core.archive import nest, unnest
from seqkern.core.errors import ParameterError
from seqkern.core.types import Arrays, Header
from seqkern.kernels.blocks import check_vanished
from seqkern.kernels.kernel import Kernel
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

    def diagonal(self) -> npt.NDArray[np.float64]:
        """Return K(x, x) before normalisation, float64 (n,)."""
        return self.combined

    @property
    def least_block_rows(self) -> int:
        """The minimum block rows that the payloads of the parts require; see `Kernel.least_block_rows`."""
        return max(getattr(part.payload, "least_block_rows", 1) for part in self.parts)

    @property
    def counts(self) -> dict[str, int]:
        """The number of records that each policy of the parts affected."""
        return add_counts(part.counts for part in self.parts)


class CompositeKernel(Kernel):
    """Base class of composite kernels, with everything inherited from their parts.

    A subclass writes `_given`, `_combine_diagonals` and ``_block``. Parts that learn from data are fitted as
    copies, kept in `bases_`, so that no parameter is changed.
    """

    def _given(self) -> list[Kernel]:
        """Return the parts as given to the constructor, a non-empty list of kernels."""
        raise NotImplementedError

    def _combine_diagonals(self, diagonals: list[npt.NDArray[np.float64]]) -> npt.NDArray[np.float64]:
        """Return K(x, x), float64 (n,), from the parts' diagonals, by the same arithmetic as ``_block``."""
        raise NotImplementedError

    def _nonzero(self, diagonals: list[npt.NDArray[np.float64]]) -> npt.NDArray[np.float64]:
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
    def fitted(self) -> bool:
        """Whether `fit` has learned something; reading a file does not count."""
        own = any(name.endswith("_") for name in vars(self) if name != "bases_")
        return own or any(part.fitted for part in vars(self).get("bases_", ()))

    accepts_words = "as for its base kernels"

    @property
    def accepts(self) -> str:  # type: ignore[override]  # here it follows from the parts
        """The kind of data accepted, as determined by the parts."""
        return self._given()[0].accepts

    @property
    def tracks(self) -> tuple[str, ...]:  # type: ignore[override]  # here it follows from the parts
        """The names of all tracks that any part needs."""
        return tuple(dict.fromkeys(track for part in self._given() for track in part.tracks))

    @property
    def views(self) -> tuple[str, ...]:  # type: ignore[override]  # here it follows from the parts
        """The names of all views that any part needs."""
        return tuple(dict.fromkeys(view for part in self._given() for view in part.views))

    @property
    def sequence_views(self) -> tuple[str, ...]:  # type: ignore[override]  # here it follows from the parts
        """The names of all sequence views that any part needs."""
        return tuple(dict.fromkeys(view for part in self._given() for view in part.sequence_views))

    @property
    def of_several(self) -> bool:  # type: ignore[override]  # here it follows from the parts
        """Whether any part needs samples with several sequences."""
        return any(part.of_several for part in self._given())

    @property  # type: ignore[misc]  # here it follows from the parts
    def alphabet(self) -> str | Alphabet | None:  # type: ignore[override]  # here it follows from the parts
        """The first alphabet that a part names, or None."""
        return next((part.alphabet for part in self._given() if part.alphabet is not None), None)

    @property
    def data_dependent(self) -> bool:  # type: ignore[override]  # here it follows from the parts
        """Whether any part learns from the data."""
        return any(part.data_dependent for part in self._given())

    @property
    def accepts_missing(self) -> bool:  # type: ignore[override]  # here it follows from the parts
        """Whether all parts accept missing values."""
        return all(part.accepts_missing for part in self._given())

    @property
    def positive_semidefinite(self) -> bool:  # type: ignore[override]  # here it follows from the parts
        """Whether all parts are positive semi-definite."""
        return all(part.positive_semidefinite for part in self._given())

    @property
    def least_block_rows(self) -> int:  # type: ignore[override]  # here it follows from the parts
        """The minimum block rows that the parts require."""
        return max(part.least_block_rows for part in self._given())

    def files(self) -> tuple[str, ...]:
        """Return the paths of the files that the parts name."""
        return tuple(dict.fromkeys(file for part in self._given() for file in part.files()))

    def check_files(self) -> None:
        """Raise FileError if a local file of a part does not exist."""
        for part in self._given():
            part.check_files()

    def _check_parameters(self) -> None:
        kinds = {part.accepts for part in self._given()}
        if len(kinds) > 1:
            raise ParameterError(
                f"the parts of kernel {self.name!r} take different data: {', '.join(sorted(kinds))}",
                remedy="combine kernels that take the same kind of data",
            )
        for part in self._given():
            part.check_parameters()

    def _fit(self, X: Any, y: npt.ArrayLike | None) -> None:
        if any(part.data_dependent for part in self._given()):
            X = self._seen(X)
            self.bases_ = [
                copy.deepcopy(part).fit(X, y).forget() if part.data_dependent else part for part in self._given()
            ]

    def feature_transforms(self) -> list[Any]:
        """Return the feature transforms of all parts, in order."""
        return [step for part in self.bases for step in part.feature_transforms()]

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

    def check_implicit(self) -> None:
        """Raise ParameterError unless this kernel and its parts have feature vectors."""
        super().check_implicit()
        for part in self._given():
            part.check_implicit()

    def check_operator(self) -> None:
        """Raise ParameterError unless this kernel and its parts have products without a Gram matrix."""
        super().check_operator()
        for part in self._given():
            part.check_operator()

    def operator_bytes(self, X: Any) -> int:
        """Return the sum of the parts' operator memory in bytes."""
        X = self._seen(self.coerce(X))
        return sum(part.operator_bytes(X) for part in self.bases)

    def operator_cost(self, X: Any) -> float:
        """Return the sum of the parts' operator costs in seconds."""
        X = self._seen(self.coerce(X))
        return sum(part.operator_cost(X) for part in self.bases)

    def implicit_bytes(self, X: Any) -> int:
        """Return the sum of the parts' memory for feature vectors in bytes."""
        X = self._seen(self.coerce(X))
        return sum(part.implicit_bytes(X) for part in self.bases)

    def feature_bytes(self, X: Any) -> int:
        """Return the sum of the parts' memory for features in bytes."""
        X = self._seen(self.coerce(X))
        return sum(part.feature_bytes(X) for part in self.bases)

    def plan(self, X: Any, Y: Any = None) -> Plan:
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
