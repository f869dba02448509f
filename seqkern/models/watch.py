"""What looks on while a method is fitted."""

import numpy as np
import numpy.typing as npt

from seqkern.gram.transforms.gram_transform import GramTransform
from seqkern.kernels.kernel import Kernel
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
        """Hear that a stage is over.

        Parameters
        ----------
        stage : str
            ``choose``, ``hold out``, ``layers``, ``kernel`` or ``train``.
        """

    def kernel_values(self, values: Values, learns: bool) -> None:
        """Look at kernel values before the transforms.

        Parameters
        ----------
        values : Values
            Of the training part, and of the rows beside it.
        learns : bool
            Whether each training part has a matrix of its own.
        """

    def training_matrix(
        self, K: npt.NDArray[np.float64], kernel: Kernel | None, transforms: list[GramTransform], solver: Solver
    ) -> None:
        """Look at the Gram matrix that a solver is about to be fitted on.

        Parameters
        ----------
        K : ndarray of float64, shape (l, l)
            After the transforms; or features, or an Implicit, where the solver takes these.
        kernel : Kernel or None
            Whose values these are; None if only they are known.
        transforms : list of GramTransform
            Fitted.
        solver : Solver
            Not fitted yet.
        """


NOBODY = Watch()
"""Looks at nothing."""
