"""What looks on while a method is fitted."""

import numpy as np

from seqkern.gram.transforms.base import GramTransform
from seqkern.kernels.base import Kernel
from seqkern.models.parts import Values
from seqkern.solvers.base import Solver


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

    def kernel_values(self, values: Values, learns: bool) -> None:
        """Look at kernel values before the transforms; `learns`: each training part has a matrix of its own."""

    def training_matrix(
        self, K: np.ndarray, kernel: Kernel | None, transforms: list[GramTransform], solver: Solver
    ) -> None:
        """Look at the Gram matrix, after the transforms, that a solver is about to be fitted on."""


NOBODY = Watch()
"""Looks at nothing."""
