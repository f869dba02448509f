"""Observers of the fitting of a method."""

import numpy as np
import numpy.typing as npt

from seqkern.gram.transforms.gram_transform import GramTransform
from seqkern.kernels.kernel import Kernel
from seqkern.models.parts import Values
from seqkern.solvers.base import Solver


class Watch:
    """Observer of `Method.fit`, without influence on it. This one does nothing; subclasses do.

    Examples
    --------
    >>> class Printing(Watch):
    ...     def lap(self, stage):
    ...         print(stage)
    >>> Printing().lap("train")
    train
    """

    def lap(self, stage: str) -> None:
        """Called after a stage.

        Parameters
        ----------
        stage : str
            ``choose``, ``hold out``, ``layers``, ``kernel`` or ``train``.
        """

    def kernel_values(self, values: Values, learns: bool) -> None:
        """Called with kernel values before the transforms.

        Parameters
        ----------
        values : Values
            Kernel values of the training set, and of the rows beside it.
        learns : bool
            Whether each training set has its own matrix.
        """

    def training_matrix(
        self, K: npt.NDArray[np.float64], kernel: Kernel | None, transforms: list[GramTransform], solver: Solver
    ) -> None:
        """Called with the Gram matrix before a solver is fitted on it.

        Parameters
        ----------
        K : ndarray of float64, shape (l, l)
            After the transforms; features or an Implicit for solvers on these.
        kernel : Kernel or None
            The kernel of these values; None if only the values are known.
        transforms : list of GramTransform
            Fitted.
        solver : Solver
            Not fitted yet.
        """


NOBODY = Watch()
"""Does nothing."""
