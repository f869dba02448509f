"""Kernels as functions of dense vectors, for fast approximations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt


class VectorTable(Protocol):
    """The vectors of n samples of a `VectorForm`."""

    @property
    def width(self) -> int:
        """The number of coordinates of a vector."""

    def __len__(self) -> int: ...

    def gather(self, rows: Any = ...) -> npt.NDArray[np.floating[Any]]:
        """Return the vectors of the given rows (default: all), shape (m, width), C-ordered."""


@dataclass(frozen=True, eq=False)
class VectorForm:
    """A kernel as a function of dense vectors, K(x, y) = k(φ(x), φ(y)); the result of `Kernel.vector_form`.

    k is φ(x)·φ(y) ("linear"), (γ·φ(x)·φ(y) + coef0)^degree ("polynomial") or exp(−γ·‖φ(x) − φ(y)‖²) ("rbf");
    `gamma` is None if it is still to be learned. ``vectors(X, dtype)`` returns a `VectorTable`; ``width(X)``
    returns the number of coordinates, an estimate before `Kernel.fit`, without computing vectors, which may
    take long: plans use it.
    """

    kind: Literal["linear", "polynomial", "rbf"]  # φ(x)·φ(y); (γ·φ(x)·φ(y) + coef0)^degree; exp(−γ·‖φ(x) − φ(y)‖²)
    # ``vectors(X, dtype)`` returns the vectors of some samples, a `VectorTable`: it has ``len()``, ``width`` and
    # ``gather(rows)``, which returns those of a slice or an integer array of rows, C-ordered (m, width)
    vectors: Callable[..., VectorTable]
    # ``width(X)`` returns the number of coordinates for some samples, an estimate before `Kernel.fit`. It computes no
    # vectors, which may take long: plans use it
    width: Callable[[Any], int]

    gamma: float | None = 1.0  # γ; None if it is still to be learned
    degree: int = 1
    coef0: float = 0.0


@dataclass(frozen=True, eq=False)
class DenseTable:
    """The vectors of n samples of a `VectorForm`, as an array (n, width)."""

    values: npt.NDArray[np.floating[Any]]

    def __len__(self) -> int:
        return len(self.values)

    @property
    def width(self) -> int:
        """The number of coordinates of a vector."""
        return self.values.shape[1]

    def gather(self, rows: Any = slice(None)) -> npt.NDArray[np.floating[Any]]:
        """Return the vectors of the given rows (default: all), shape (m, width), C-ordered."""
        return np.ascontiguousarray(self.values[rows])


@dataclass(frozen=True, eq=False)
class JoinedTable:
    """The concatenated vectors of n samples from several tables, each table with a factor."""

    tables: list[VectorTable]
    factors: npt.NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.tables[0])

    @property
    def width(self) -> int:
        """The number of coordinates of a vector."""
        return sum(table.width for table in self.tables)

    def gather(self, rows: Any = slice(None)) -> npt.NDArray[np.floating[Any]]:
        """Return the vectors of the given rows (default: all), shape (m, width), C-ordered."""
        parts = [table.gather(rows) for table in self.tables]
        return np.hstack([part * part.dtype.type(factor) for part, factor in zip(parts, self.factors, strict=True)])
