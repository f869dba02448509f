"""How kernel matrices of training sets follow from Gram matrices over all samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from seqkern.kernels.kernel import Kernel


@dataclass(frozen=True)
class StoredForm:
    """A kernel as Gram matrices over all samples, and the operations on each training set.

    Attributes
    ----------
    parts : tuple of Kernel or StoredForm
        A Kernel here learns nothing, so that one Gram matrix over all samples serves every training set.
    join : object or None
        Object that combines the matrices of several parts (see `seqkern.kernels.CombinationKernel`): ``join.learn_from
        (grams, y)``, of the training set, returns what has ``combine(matrices, row diagonals, column diagonals)``,
        which returns a matrix and its row diagonal, ``learned()``, and ``fit_parts(X, y)``, which returns the fitted
        kernel. None where there is one part.
    transforms : tuple of dict
        Specs of the subsequent Gram transforms, fitted on the training set.
    """

    parts: tuple[Kernel | StoredForm, ...]
    join: Any = None
    transforms: tuple[dict[str, Any], ...] = ()

    @property
    def kernels(self) -> list[Kernel]:
        """The kernels whose Gram matrices are needed, in order."""
        found = []
        for part in self.parts:
            found += part.kernels if isinstance(part, StoredForm) else [part]
        return found

    @property
    def learns(self) -> bool:
        """Whether each training set has its own matrix."""
        return self.join is not None or bool(self.transforms) or isinstance(self.parts[0], StoredForm)

    def then(self, *transforms: dict[str, Any]) -> StoredForm:
        """Return this form with further transforms.

        Parameters
        ----------
        *transforms : dict
            Specs of Gram transforms.

        Returns
        -------
        StoredForm
        """
        return StoredForm(self.parts, self.join, (*self.transforms, *transforms))
