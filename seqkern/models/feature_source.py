"""Explicit feature vectors of a training and a test set, for solvers on features."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import GramError
from seqkern.core.memory import available_memory, default_limit_words, format_bytes, parse_bytes
from seqkern.gram.transforms.gram_transform import GramTransform
from seqkern.kernels.explicit import feature_vectors, name_features
from seqkern.kernels.feature_blocks import FeatureBlocks
from seqkern.kernels.kernel import Kernel
from seqkern.models.parts import Part
from seqkern.models.sources import Source, Units, check_no_transforms, is_all
from seqkern.models.watch import NOBODY, Watch
from seqkern.solvers import build_solver


class FeatureSource(Source):
    """Feature vectors of a kernel, normalised like the kernel.

    Those of a kernel without fitting are computed once and sliced; a kernel with fitting is fitted on each training
    set.

    Parameters
    ----------
    kernel : Kernel
        Copied before fitting.
    X : SequenceSet or FeatureTable
        All samples of the data set.
    transforms : sequence of GramTransform, optional
        Must be empty.
    sparse : bool
        Whether a mostly zero matrix may be a csr_array; else it is an ndarray.
    blocks : bool
        Whether features that are not sparse are FeatureBlocks, in the kernel's precision: these are stored
        if they fit into memory, and otherwise computed again on each access.
    memory_limit : int or str, optional
        Bytes, or text such as ``"2GB"``; default: half of the available memory.

    Raises
    ------
    ParameterError
        If the kernel has no explicit features, or there are transforms, which require a Gram matrix.

    Examples
    --------
    >>> from seqkern.kernels import SpectrumKernel
    >>> from seqkern.sequences.sequence_set import as_sequences
    >>> X = as_sequences(["AC", "AA", "CC"], "dna")
    >>> source = FeatureSource(SpectrumKernel(1, normalize=False), X, sparse=False)
    >>> source.pair(np.array([0, 1]), np.array([2]))[1]
    array([[0., 2., 0., 0.]])
    """

    gives = "features"
    kernel: Kernel
    X: Units

    def __init__(
        self,
        kernel: Kernel,
        X: Units,
        transforms: Sequence[GramTransform] = (),
        *,
        sparse: bool = True,
        blocks: bool = False,
        memory_limit: int | str | None = None,
    ) -> None:
        kernel.check_features()
        check_no_transforms(transforms)
        self.kernel = kernel
        self.X = X
        self.sparse = sparse
        self.blocks = blocks
        self.memory_limit = memory_limit
        self.limit = available_memory() // 2 if memory_limit is None else parse_bytes(memory_limit)
        self.counts: dict[str, int] = {}
        self._whole: tuple[Kernel, Any] | None = None

    @cached_property
    def whole(self) -> Any:
        """The feature vectors of all samples, for a kernel without fitting."""
        return self.of(self.kernel, self.X, self.counts)

    def of(self, kernel: Kernel, X: Units, counts: dict[str, int] | None = None) -> Any:
        """Return the feature vectors of some samples for a fitted kernel; see `feature_vectors`.

        FeatureBlocks, if requested, are not yet computed.

        Parameters
        ----------
        kernel : Kernel
            Fitted.
        X : SequenceSet or FeatureTable
            The n samples.
        counts : dict of str to int, optional
            Extended with the counts of the kernel's policies.

        Returns
        -------
        ndarray, csr_array or FeatureBlocks, shape (n, features)

        Raises
        ------
        GramError
            If dense features do not fit into memory.
        """
        if self.blocks:
            blocks = kernel.feature_blocks(X, counts)
            return blocks.sparse if self.sparse and blocks.sparse is not None else blocks
        vectors: Any = feature_vectors(kernel, X, counts)
        if self.sparse or isinstance(vectors, np.ndarray):
            return vectors
        need = 8 * vectors.shape[0] * vectors.shape[1]
        if need > self.limit:
            raise GramError(
                f"{vectors.shape[1]} features of {vectors.shape[0]} samples need {format_bytes(need)} of memory, "
                f"but the limit is {format_bytes(self.limit)}{default_limit_words(self.memory_limit)}",
                remedy="choose shorter k-mers, or a solver for sparse features such as linear_svc",
            )
        return vectors.toarray()

    def pair(
        self, train: npt.NDArray[np.int64], test: npt.NDArray[np.int64], y: npt.NDArray[Any] | None = None
    ) -> tuple[Any, Any]:
        """Return the feature vectors of a training and a test set.

        Parameters
        ----------
        train, test, y : object
            As for `Source.pair`.

        Returns
        -------
        train, test : ndarray, csr_array or FeatureBlocks
        """
        part = self.part(train, test, y)
        return part.train, part.test

    def part(
        self,
        train: npt.NDArray[np.int64],
        test: npt.NDArray[np.int64] | None = None,
        y: npt.NDArray[Any] | None = None,
        watch: Watch = NOBODY,
    ) -> Part:
        """Return the Part of some rows.

        Parameters
        ----------
        train, test, y, watch : object
            As for `Source.part`.

        Returns
        -------
        Part
        """
        rows = [train] if test is None else [train, test]
        made, counts = None, {}
        if self._whole is not None and test is None and is_all(train, len(self.X)):
            made, whole = self._whole
            parts, counts = [whole], self.counts
        elif self.kernel.data_dependent:
            made = self.fitted(train, y)
            parts = [self.of(made, self.X.take(part)) for part in rows]
        elif isinstance(self.whole, FeatureBlocks):
            parts = [self.whole.take(part) for part in rows]
        else:
            parts = [self.whole[part] for part in rows]
        kept = self.kept(*parts)
        return Part(kept[0], None if test is None else kept[1], kernel=made, counts=counts)

    def compute_whole(self, y: npt.NDArray[Any] | None = None, **options: Any) -> None:
        """Fit the kernel on all samples, and compute their features.

        Parameters
        ----------
        y, **options : object
            As for `Source.compute_whole`.
        """
        kernel = self.fitted_kernel(np.arange(len(self.X)), y)
        vectors = self.of(kernel, self.X, self.counts) if kernel.data_dependent else self.whole
        self._whole = kernel, vectors

    def kept(self, *parts: Any) -> tuple[Any, ...]:
        """Return features of several parts, with FeatureBlocks stored as far as they fit into memory together.

        Those of a test set are not stored if their products with weights take less: a solver decides by products.

        Parameters
        ----------
        *parts : ndarray, csr_array or FeatureBlocks
            Features of each; those of the training set first.

        Returns
        -------
        tuple
            The same features.
        """
        room = min(self.limit, available_memory() // 2)
        out = []
        for place, part in enumerate(parts):
            if isinstance(part, FeatureBlocks) and not (place and part.has_products):
                part = part.keep(room)
                room -= part.nbytes if part.stored else 0
            out.append(part)
        return tuple(out)

    def fitted(self, train: npt.NDArray[np.int64], y: npt.NDArray[Any] | None = None) -> Kernel:
        """Return the kernel fitted on a training set; the kernel itself if it needs no fitting.

        Parameters
        ----------
        train : ndarray of int64
            Rows of the training set.
        y : ndarray, optional
            Their labels.

        Returns
        -------
        Kernel
        """
        return self.fitted_kernel(train, y) if self.kernel.data_dependent else self.kernel

    def names(
        self, columns: npt.NDArray[np.int64], train: npt.NDArray[np.int64], y: npt.NDArray[Any] | None = None
    ) -> list[str]:
        """Return the names of some features of a training set.

        Parameters
        ----------
        columns : ndarray of int64
            The features, counted from 0.
        train : ndarray of int64
            Rows of the training set.
        y : ndarray, optional
            Their labels.

        Returns
        -------
        list of str
        """
        return name_features(self.fitted(train, y), self.X, columns)


def feature_form(specs: Sequence[Any]) -> dict[str, bool]:
    """Return the form of features for all solvers of a grid.

    Parameters
    ----------
    specs : sequence of str or dict
        Specs of the solvers.

    Returns
    -------
    dict of str to bool
        `sparse` and `blocks` of `FeatureSource`.

    Examples
    --------
    >>> feature_form(["linear_svc:C=1"])["sparse"]
    True
    """
    solvers = [build_solver(spec) for spec in specs]
    return {
        "sparse": all(solver.accepts_sparse for solver in solvers),
        "blocks": all(solver.accepts_blocks for solver in solvers),
    }
