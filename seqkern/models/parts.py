"""Output of a source for a training set, and a test set beside it."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from seqkern.gram.transforms.gram_transform import GramTransform
from seqkern.kernels.kernel import Kernel


class Values(NamedTuple):
    """Kernel values of a training and a test set, before the transforms.

    Attributes
    ----------
    train, test : ndarray of float64, or GramRows, shapes (l, l) and (n, l)
        K(train, train) and K(test, train).
    train_diagonal, test_diagonal : ndarray of float64, shapes (l,) and (n,)
        K(x, x) of both.
    learned : dict of str to float
        Fitted values of the kernel to report (`Kernel.learned`).
    joined : object or None
        The last step from the matrices of several kernels (see `StoredForm`), if there was one.

    Examples
    --------
    >>> Values(np.eye(2), np.zeros((1, 2)), np.ones(2), np.ones(1), {}).test.shape
    (1, 2)
    """

    train: Any
    test: Any
    train_diagonal: npt.NDArray[np.float64]
    test_diagonal: npt.NDArray[np.float64] | None
    learned: dict[str, float]
    joined: Any = None


@dataclass(eq=False)
class Part:
    """Output of a source for a training set, and a test set beside it.

    Attributes
    ----------
    train, test : ndarray, GramRows, csr_array, FeatureBlocks or Implicit
        Input of the solver: Gram matrices after the transforms, features, or Implicits;
        `test` is None without a test set.
    learned : dict of str to float
        Fitted values of the kernel to report.
    diagonal : ndarray of float64, shape (l,)
        K(x, x) of the training set, before the transforms; empty for features.
    transforms : list of GramTransform
        Fitted.
    kernel : Kernel or None
        Fitted on the training set; None if not needed to compute the part.
    counts : dict of str to int
        Counts of the kernel's policies; known for a part of `compute_whole`.
    test_diagonal : ndarray of float64, shape (n,), or None
        K(x, x) of the test set, after the transforms; None where no solver asks for it.
    joined : object or None
        As in `Values`: what a model needs not learn again.

    Examples
    --------
    >>> Part(np.eye(2)).test is None
    True
    """

    train: Any
    test: Any = None
    learned: dict[str, float] = field(default_factory=dict)
    diagonal: npt.NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    transforms: list[GramTransform] = field(default_factory=list)
    kernel: Kernel | None = None
    counts: dict[str, int] = field(default_factory=dict)
    test_diagonal: npt.NDArray[np.float64] | None = None
    joined: Any = None
