"""A prepared set of sequences, the predicted cost of a computation, and the form in which matrices are stored."""

import os
import weakref
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import ParameterError
from seqkern.core.progress import COMMON_CORE, tell
from seqkern.core.types import Floats
from seqkern.sequences.alphabets import Alphabet

if TYPE_CHECKING:
    from seqkern.kernels.kernel import Kernel

T = TypeVar("T", bound=np.generic)

MOST_HOURS = 100.0
"""Maximum hours of one processor core; longer work is refused, unless `LIMIT` allows it."""

LIMIT = "SEQKERN_MAX_HOURS"
"""Environment variable with another maximum number of hours."""

TOLD = 60.0
"""Predicted seconds above which commands announce the time before they start."""


class RecordRange:
    """A payload with the numbers of many records, of which it is those from `first` to `last` − 1."""

    first: int
    last: int
    squares: Floats  # K(x, x) of all records

    def __len__(self) -> int:
        return self.last - self.first

    def rows(self, start: int, stop: int) -> Self:
        """Return the records `start` to `stop` − 1 of this range, as a view."""
        view = object.__new__(type(self))
        view.__dict__.update(self.__dict__, first=self.first + start, last=self.first + stop)
        return view

    def diagonal(self) -> Floats:
        """Return K(x, x), float64 (n,)."""
        return self.of_range(self.squares)

    def of_range(self, array: npt.NDArray[T]) -> npt.NDArray[T]:
        """Return the part of an array over all records that belongs to this range, as a view."""
        return array[self.first : self.last]


@dataclass(frozen=True)
class Prepared:
    """A set of n sequences prepared by a kernel.

    `payload` is the family's representation; `raw_diagonal` is K(x, x) before normalisation, `diagonal` as the kernel
    returns it. `ids` are the whole set's, and `first` is the index of the first record in them.
    """

    payload: Any  # The representation of the family, with ``len()`` and ``rows(start, stop)``
    raw_diagonal: Floats  # shape (n,): K(x, x) before normalisation
    diagonal: Floats  # shape (n,): K(x, x) as the kernel returns it
    alphabet: Alphabet | None = None  # Of the sequences; None for other data
    # Number of records that each policy affected, by description; empty for a range of rows
    counts: dict[str, int] = field(default_factory=dict)
    ids: Sequence[str] = ()  # Of the whole set, for messages; empty if unknown
    first: int = 0  # The place of the first record in `ids`

    def __len__(self) -> int:
        return len(self.raw_diagonal)

    def rows(self, start: int, stop: int) -> "Prepared":
        """Return some of the records, as a view."""
        span = slice(start, stop)
        return Prepared(
            self.payload.rows(start, stop),
            self.raw_diagonal[span],
            self.diagonal[span],
            self.alphabet,
            ids=self.ids,
            first=self.first + start,
        )

    def name(self, record: int) -> str:
        """Return the id of a record, or its number from 1 if ids are unknown."""
        place = self.first + record
        return str(self.ids[place]) if len(self.ids) else str(place + 1)


@dataclass(frozen=True)
class Plan:
    """The exact algorithm that will run, and its predicted cost: CPU seconds, and bytes besides the matrix itself."""

    algorithm: str
    seconds: float = 0.0  # Predicted CPU seconds for the whole matrix
    bytes: int = 0  # Predicted working memory besides the matrix itself
    reason: str = ""  # One line: the candidates and their predicted seconds

    def check(self, share: float = 1.0) -> Self:
        """Return self if the given share of the work is feasible; announce predicted times above a minute.

        Raises ParameterError if it would take more hours on one processor core than `hours_allowed` returns.
        """
        seconds, most = COMMON_CORE * self.seconds * share, hours_allowed()
        if not seconds <= most * 3600:
            raise ParameterError(
                f"this would take about {duration_text(seconds)} of one processor core, more than the limit of "
                f"{most:g} hours",
                remedy=f"choose parameters that need less work, or fewer or shorter sequences; or set {LIMIT}="
                f"{np.ceil(seconds / 3600 * 1.01):.6g}"
                if np.isfinite(seconds)
                else "choose other parameters",
            )
        if seconds > TOLD:
            tell(f"about {duration_text(seconds)} of one processor core are predicted")
        return self


def hours_allowed() -> float:
    """Return the maximum predicted time of a computation, in hours of one processor core.

    >>> hours_allowed()
    100.0
    """
    text = os.environ.get(LIMIT, "")
    try:
        hours = float(text or MOST_HOURS)
    except ValueError:
        hours = np.nan
    if not hours > 0:
        raise ParameterError(
            f"{LIMIT}={text} is not a number of hours", remedy=f"set it to a number such as {MOST_HOURS:g}"
        )
    return hours


def duration_text(seconds: float) -> str:
    """Return a time, given in seconds, as text in its largest unit.

    >>> duration_text(90.0), duration_text(71_120.0), duration_text(1e9)
    ('1.5 minutes', '20 hours', '32 years')
    """
    units = ("years", 365 * 24 * 3600), ("days", 24 * 3600), ("hours", 3600), ("minutes", 60), ("seconds", 1)
    name, size = next((name, size) for name, size in units if seconds >= size or size == 1)
    return f"{seconds / size:.2g} {name}"


# A cache for the latest result derived from a set of sequences.

Result = TypeVar("Result")


class OneEntryCache:
    """A cache of the latest result derived from a set of sequences.

    Sequences are explained one by one, or in pieces, against the same support set. The result is kept until the set is
    deleted or another set is used.
    """

    def __init__(self) -> None:
        self._kept: tuple[weakref.ref[Any], Hashable, Any] | None = None

    def get(self, X: Any, key: Hashable, make: Callable[[], Result]) -> Result:
        """Return the result of ``make()`` for a set and `key`, computed unless it is the cached one.

        The set is compared by identity.
        """
        kept = self._kept
        if kept is not None and kept[0]() is X and kept[1] == key:
            return kept[2]
        value = make()
        self._kept = weakref.ref(X, self._drop), key, value
        return value

    def _drop(self, reference: weakref.ref[Any]) -> None:
        """Drop the result of a deleted set."""
        kept = self._kept
        if kept is not None and kept[0] is reference:
            self._kept = None


# Kernel matrices of training sets, derived from Gram matrices over all samples.


@dataclass(frozen=True)
class StoredForm:
    """A kernel as Gram matrices over all samples, and the operations that follow on each training set.

    `join`, None for a single part, combines the matrices of several parts (see
    `seqkern.kernels.CombinationKernel`): ``join.learn_from(grams, y)`` on the training set returns an object
    with ``combine(matrices, row diagonals, column diagonals)``, which returns a matrix and its row diagonal,
    ``learned()``, and ``fit_parts(X, y)``, which returns the fitted kernel. `transforms` are the specs of the
    subsequent Gram transforms, fitted on the training set.
    """

    # A Kernel here learns nothing, so that one Gram matrix over all samples serves every training set
    parts: "tuple[Kernel | StoredForm, ...]"
    join: Any = None
    transforms: tuple[dict[str, Any], ...] = ()  # Specs of the subsequent Gram transforms, fitted on the training set

    @property
    def kernels(self) -> "list[Kernel]":
        """The kernels whose Gram matrices are needed, in order."""
        found = []
        for part in self.parts:
            found += part.kernels if isinstance(part, StoredForm) else [part]
        return found

    @property
    def learns(self) -> bool:
        """Whether each training set has its own matrix."""
        return self.join is not None or bool(self.transforms) or isinstance(self.parts[0], StoredForm)

    def then(self, *transforms: dict[str, Any]) -> "StoredForm":
        """Return this form with further transforms."""
        return StoredForm(self.parts, self.join, (*self.transforms, *transforms))
