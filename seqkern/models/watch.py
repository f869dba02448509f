"""What looks on while a method is fitted."""

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ..gram.transforms.base import GramTransform
    from ..kernels.base import Kernel
    from ..solvers.base import Solver
    from .sources import GramSource, Values


class Watch:
    """What looks on while `Method.fit` works: it changes nothing. This one sees nothing either; subclasses do.

    Examples
    --------
    >>> class Printing(Watch):
    ...     def lap(self, stage):
    ...         print(stage)
    >>> Printing().lap("train")
    train
    """

    def lap(self, stage: str) -> None:
        """Hear that a stage is over: ``choose``, ``hold out``, ``layers``, ``kernel`` or ``train``."""

    def kernel_values(self, source: "GramSource", values: "Values") -> None:
        """Look at the kernel values of the training part before the transforms."""

    def training_matrix(
        self, K: np.ndarray, kernel: "Kernel | None", transforms: "list[GramTransform]", solver: "Solver"
    ) -> None:
        """Look at the Gram matrix, after the transforms, that a solver is about to be fitted on."""


NOBODY = Watch()
"""Looks at nothing."""
