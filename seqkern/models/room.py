"""Memory for the Gram matrices of a fit: what it needs, and whether the matrix is read by rows instead."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from seqkern.core.errors import TooLargeError
from seqkern.core.memory import available_memory, format_bytes, parse_bytes
from seqkern.core.memory_limits import memory_left

if TYPE_CHECKING:
    from seqkern.kernels.kernel import Kernel

FEWER = "train on fewer samples (folds: {method: grouped, train_size: …})"
BY_ROWS = (
    "choose a solver that reads a stored matrix by rows, without transforms and repair: csvc or svr with a finite C, "
    "psvc, psvr or one_class_svm"
)
"""The other remedy for a stored matrix."""
TRANSFORMED = 2
"""Matrices, besides the one that a chain of transforms is given, that exist at the same time."""
JOINED = 2
"""Matrices, besides those of several kernels, that exist at the same time while they are joined."""
ROWS_SHARE = 3 / 4
"""Of the limit, for the rows that a solver keeps."""
ROW_WORK_BYTES = 256 * 2**20
"""For blocks in transit and what is not a matrix, of a fit by rows."""


def no_bytes(n: int) -> int:
    """Return 0: what a solver needs besides a matrix of n samples if it is not known.

    Parameters
    ----------
    n : int
        Training samples.

    Returns
    -------
    int
    """
    return 0


@dataclass(frozen=True)
class HeldKernel:
    """What a choice among many kernels keeps of one of them.

    Attributes
    ----------
    stored : tuple of str
        Identities of the kernels of whose matrices it is made; none if it is fitted on each training set.
    transforms : int
        Number of transforms of a training set's matrix.
    work : int
        Bytes that computing a matrix of all samples takes besides it.
    """

    stored: tuple[str, ...]
    transforms: int = 0
    work: int = 0

    @classmethod
    def of(cls, kernel: Kernel, X: Any, transforms: int = 0) -> HeldKernel:
        """Return what is kept of a kernel.

        Parameters
        ----------
        kernel : Kernel
            Not fitted.
        X : SequenceSet or table
            All samples.
        transforms : int
            Number of transforms after those of its stored form.

        Returns
        -------
        HeldKernel
        """
        form = kernel.stored_form()
        parts = [kernel] if form is None else form.kernels
        own = 0 if form is None else int(form.learns and form.join is None)
        work = max(part.plan(X).bytes for part in parts)
        stored = () if form is None else tuple(part.identity() for part in parts)
        return cls(stored, transforms + own, int(work))


@dataclass(frozen=True)
class Room:
    """Memory for the matrices of a fit, and what its solvers need.

    Attributes
    ----------
    limit : int
        Bytes within which matrices are sliced; a larger fit reads a stored matrix by rows, if its solvers can.
    most : int
        Bytes within which they are sliced if the solvers cannot read rows; a larger fit is refused. Equal to the limit
        where this has no exceptions, as for a choice among many kernels.
    accepts_rows : bool
        Whether all solvers can be fitted on rows of a stored matrix.
    beside : callable
        ``beside(n)`` returns the bytes that the solvers need besides a matrix of n training samples.
    without : str
        What to train instead: `Solver.without_matrix`.

    Examples
    --------
    >>> room = Room(limit=10**9, most=2 * 10**9, accepts_rows=True)
    >>> room.by_rows(10_000, 1000), room.by_rows(20_000, 1000)
    (False, True)
    """

    limit: int
    most: int
    accepts_rows: bool = False
    beside: Callable[[int], int] = no_bytes
    without: str = ""

    @classmethod
    def of(
        cls,
        memory_limit: int | str | None,
        accepts_rows: bool,
        beside: Callable[[int], int] = no_bytes,
        without: str = "",
    ) -> Room:
        """Return the room within a limit; by default half of the available memory, and all of it at most.

        Parameters
        ----------
        memory_limit : int, str or None
            Bytes, or text such as ``"2GB"``.
        accepts_rows, beside, without : object
            As the attributes.

        Returns
        -------
        Room
        """
        if memory_limit is not None:
            limit = parse_bytes(memory_limit)
            return cls(limit, max(limit, available_memory()), accepts_rows, beside, without)
        available = available_memory()
        return cls(available // 2, available, accepts_rows, beside, without)

    @property
    def for_rows(self) -> int:
        """Bytes for the rows that a solver keeps."""
        return int(self.limit * ROWS_SHARE)

    def slice_bytes(self, n_train: int, n_test: int, matrices: int = 1, transforms: int = 0, work: int = 0) -> int:
        """Return the peak memory of a fit on slices of matrices, without the process itself.

        Parameters
        ----------
        n_train, n_test : int
            Samples of the training and the test set.
        matrices : int
            From which the kernel's own is made.
        transforms : int
            Number of transforms.
        work : int
            Bytes that computing kernel values takes besides them, before the solver is fitted.

        Returns
        -------
        int
        """
        one = 8 * n_train * (n_train + n_test)
        made = one * (matrices + JOINED * (matrices > 1) + TRANSFORMED * (transforms > 0))
        return made + max(self.beside(n_train), work)

    def held_bytes(self, n: int, kernels: Iterable[HeldKernel]) -> tuple[int, int]:
        """Return what a choice among kernels takes that keeps the matrices of all samples.

        Parameters
        ----------
        n : int
            All samples.
        kernels : iterable of HeldKernel
            Those among which is chosen.

        Returns
        -------
        matrices : int
            Bytes of all matrices.
        fit : int
            Bytes that the largest fit takes besides them.
        """
        every = list(kernels)
        stored = {identity for one in every for identity in one.stored}
        fits = (self.slice_bytes(n, 0, max(1, len(one.stored)), one.transforms, one.work) for one in every)
        return 8 * n * n * len(stored), max(fits, default=0)

    def row_bytes(self, n_train: int) -> int:
        """Return the peak memory of a fit on rows of a stored matrix, without the process itself.

        Parameters
        ----------
        n_train : int
            Samples of the training set.

        Returns
        -------
        int
        """
        return min(self.for_rows, 4 * n_train**2) + ROW_WORK_BYTES

    def by_rows(self, n_train: int, n_test: int) -> bool:
        """Return whether a stored matrix is read by rows: if the solvers can, and slices exceed the limit.

        Parameters
        ----------
        n_train, n_test : int
            Samples of the training and the test set.

        Returns
        -------
        bool
        """
        return self.accepts_rows and self.slice_bytes(n_train, n_test) > self.limit

    def check(self, need: int, n_train: int, n_test: int, *, stored: bool) -> None:
        """Raise GramError unless a fit on slices fits into memory.

        Parameters
        ----------
        need : int
            Bytes, as from `slice_bytes`.
        n_train, n_test : int
            Samples of the training and the test set.
        stored : bool
            Whether the matrix is in a file.

        Raises
        ------
        GramError
            With a remedy.
        """
        if need > self.most:
            left, size = memory_left(), format_bytes(self.most)
            remedy = f"raise it to {format_bytes(need)}" if self.most == self.limit else left.remedy
            more = f"{remedy}, {BY_ROWS}" if stored else remedy
            what = f"the limit is {size}" if self.most == self.limit else f"{size} are left {left.place}"
            error = TooLargeError(
                f"a solver that needs the kernel values of {n_train} training and {n_test} test samples at once takes "
                f"{format_bytes(need)} of memory, but {what}",
                remedy=f"{more}, or {FEWER}",
                more=more,
            )
            error.suggest(self.without)
            raise error
