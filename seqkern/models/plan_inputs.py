"""What the input of solvers is predicted to cost: slices of stored matrices, matrices, features, products."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from seqkern.gram.transforms import build_transform
from seqkern.gram.transforms.gram_transform import GramTransform
from seqkern.kernels.kernel import Kernel
from seqkern.kernels.stored_form import StoredForm
from seqkern.models.crossval import EXACT_ROWS
from seqkern.models.room import TRANSFORMED
from seqkern.models.sources import RECORD_BYTES, Units
from seqkern.solvers.costs import FitCost, FitWork, dense_algebra

OUTPUT_NS = 2.0
"""An entry of a matrix, whatever its kernel: written, normalised, mirrored."""
SLICE_NS = 1.5
"""An entry of a stored matrix: read from its file, copied."""
TRANSFORM_NS = 5.0
"""An entry of a matrix in a transform."""
FEATURE_NS = 8.0
"""A byte of features, computed."""
FEATURE_COPY_NS = 0.5
"""A byte of features, copied, or in a product."""
EIGENVALUES = 4 / 3
"""Multiplications and additions of the eigenvalues of a symmetric matrix, as a multiple of n³."""
ESTIMATED_PRODUCTS = 100
"""With a matrix whose eigenvalues are estimated."""


@dataclass(frozen=True, eq=False)
class KernelInput:
    """The input that solvers get of a kernel.

    Attributes
    ----------
    kernel : Kernel
        Not fitted.
    X : SequenceSet or table
        All samples.
    gives : {"gram", "features", "implicit", "operator"}
        What the solvers get.
    stored : int
        Number of stored matrices that it is made from; 0 if it is computed for each training set.
    held : bool
        Whether the matrix of all samples is computed once by each job and kept, as for a choice among many kernels.
    transforms : sequence of GramTransform
        Of the matrix.

    Examples
    --------
    >>> from seqkern.kernels import SpectrumKernel
    >>> from seqkern.sequences.sequence_set import as_sequences
    >>> X = as_sequences(["ACGT"] * 100, "dna")
    >>> KernelInput(SpectrumKernel(2), X, "gram", 1).of(60, 40).bytes
    48000
    """

    kernel: Kernel
    X: Units
    gives: str
    stored: int = 0
    held: bool = False
    transforms: Sequence[GramTransform] = ()

    @cached_property
    def whole(self) -> FitCost:
        """The cost of the matrix of all samples; the bytes are those besides it."""
        plan = self.kernel.plan(self.X)
        return FitCost(plan.seconds + len(self.X) ** 2 * OUTPUT_NS * 1e-9, plan.bytes)

    @cached_property
    def size(self) -> int:
        """Bytes of what solvers get of all samples where it is not a matrix."""
        if self.gives == "features":
            return int(self.kernel.feature_bytes(self.X))
        if self.gives == "operator":
            return int(self.kernel.operator_bytes(self.X))
        return int(self.kernel.implicit_bytes(self.X)) + RECORD_BYTES * len(self.X)

    @cached_property
    def product(self) -> float:
        """CPU seconds of one product with all samples where they are not a matrix."""
        if self.gives == "operator":
            return float(self.kernel.operator_cost(self.X))
        return self.size * FEATURE_COPY_NS * 1e-9

    @cached_property
    def once(self) -> FitCost:
        """What an evaluation computes once for all folds, and keeps."""
        if self.held:
            return FitCost(self.whole.seconds, 8 * len(self.X) ** 2)
        if self.gives == "gram" or self.kernel.data_dependent:
            return FitCost(0.0)
        return FitCost(self.size * FEATURE_NS * 1e-9, self.size)

    def of(self, train: int, test: int, spectrum: bool = False) -> FitCost:
        """Return the cost of the input for a training and a test set, and its bytes.

        Parameters
        ----------
        train, test : int
            Numbers of samples.
        spectrum : bool
            Whether the eigenvalues of a matrix fitted to the training set are computed, too.

        Returns
        -------
        FitCost
        """
        n = max(1, len(self.X))
        entries = train * (train + test)
        if self.gives != "gram":
            share = (train + test) / n
            each = FEATURE_NS if self.kernel.data_dependent else FEATURE_COPY_NS
            return FitCost(self.size * share * each * 1e-9, int(self.size * share))
        if self.stored or self.held:
            count = max(1, self.stored)
            copies = count if count == 1 else 2 * count + 1  # a sum with learned weights centres its parts
            work = self.whole.bytes if self.held else 0  # of the matrix that a first request computes
            cost = FitCost(copies * entries * SLICE_NS * 1e-9, max(8 * copies * entries, work))
        else:
            seconds = self.whole.seconds * train * (train + 2 * test) / n**2
            cost = FitCost(seconds, 8 * entries + int(self.whole.bytes * min(1.0, (train + test) / n)))
        seconds, size = cost.seconds, cost.bytes
        for transform in self.chain:
            seconds += entries * TRANSFORM_NS * 1e-9 + dense_algebra(1, transform.fit_cubes(train)) * train * entries
        size += 8 * entries * (max(TRANSFORMED, len(self.chain)) if self.chain else 0)
        if spectrum and self.learns:
            exact = train <= EXACT_ROWS
            seconds += dense_algebra(train, EIGENVALUES) if exact else ESTIMATED_PRODUCTS * train**2 * 1e-9
            size = max(size, 8 * entries + 8 * train**2)
        return FitCost(seconds, size)

    @cached_property
    def learns(self) -> bool:
        """Whether each training set has its own matrix, before the transforms of the study."""
        if not (self.stored or self.held):
            return self.kernel.data_dependent
        form = self.kernel.stored_form()
        return form is not None and form.learns

    @property
    def has_rows(self) -> bool:
        """Whether solvers can read its matrix by rows: one that is stored, without transforms."""
        return self.stored == 1 and not self.held and not self.learns and not self.chain

    @cached_property
    def chain(self) -> list[GramTransform]:
        """All transforms of the matrix: those of the stored form, and those of the study."""
        form = self.kernel.stored_form() if self.stored or self.held else None
        return [*([] if form is None else _transforms(form)), *self.transforms]

    def work(self, train: int, classes: int) -> FitWork:
        """Return the sizes of a fit on a training set.

        Parameters
        ----------
        train : int
            Samples of the training set.
        classes : int
            Classes among them.

        Returns
        -------
        FitWork
        """
        if self.gives == "gram":
            return FitWork(train, classes)
        share = train / max(1, len(self.X))
        width = None
        if self.gives == "features":
            width = max(1, self.size // (8 * max(1, len(self.X))))
        return FitWork(train, classes, width, self.gives, self.product * share)


def _transforms(form: Kernel | StoredForm) -> list[GramTransform]:
    """Return the transforms in a stored form."""
    if isinstance(form, Kernel):
        return []
    own = [build_transform(item) for item in form.transforms]
    return [*(one for part in form.parts for one in _transforms(part)), *own]
