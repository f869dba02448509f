"""A method's data: labels, and the source of each kernel's values."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from seqkern.gram.matrix import GramMatrix
from seqkern.gram.transforms.gram_transform import GramTransform
from seqkern.kernels.kernel import Kernel
from seqkern.models.feature_source import FeatureSource
from seqkern.models.held_gram import HeldGram, HeldMatrices
from seqkern.models.operator_source import OperatorSource
from seqkern.models.room import Room
from seqkern.models.sources import FittedKernel, ImplicitSource, Source, StoredGram, Units
from seqkern.residues import Residues
from seqkern.sequences.labels import Labels


@dataclass(frozen=True, eq=False)
class Data:
    """The data of a `Method`, for fitting and for classification.

    Attributes
    ----------
    labels : Labels
        Labels of all samples; NaN or no label for unused samples.
    sources : mapping of str to Source
        The source of each kernel's values, by the kernel's name.
    residues : Residues, optional
        The residue of each sample, if samples are windows around residues.
    unlabelled : ndarray of int64, optional
        Samples without a label that solvers which accept them learn from: they are in every training set, and in no
        test set. Default: none; a sample outside a task is not one that waits for its label.

    Examples
    --------
    >>> from seqkern.kernels import SpectrumKernel
    >>> from seqkern.sequences.labels import make_labels
    >>> from seqkern.sequences.sequence_set import as_sequences
    >>> X = as_sequences(["AC", "AA", "CC", "CA"], "dna")
    >>> data = Data(make_labels(X.ids, ["0", "0", "1", "1"]), {"spectrum": FittedKernel(SpectrumKernel(1), X)})
    >>> data.source("spectrum").learns
    False
    """

    labels: Labels
    sources: Mapping[str, Source]
    residues: Residues | None = None
    unlabelled: npt.NDArray[np.int64] | None = None

    def source(self, name: str, rows: npt.NDArray[np.int64] | None = None) -> Source:
        """Return the source of a kernel's values.

        Parameters
        ----------
        name : str
            Of the kernel.
        rows : ndarray of int64, optional
            Samples that the source must include; default: those with labels.

        Returns
        -------
        Source
        """
        return self.sources[name]


@dataclass(frozen=True, eq=False)
class TrainingData(Data):
    """Samples to train on, all of them, followed by neighbouring residues without a label.

    The matrix of the former is computed as a whole. The latter are used by layers only: their kernel values come
    from separate sources, `beyond`, created only for such layers.

    Attributes
    ----------
    beyond : callable, optional
        Returns the sources of all samples, including those without a label, by the names of the kernels.

    Examples
    --------
    >>> from seqkern.kernels import SpectrumKernel
    >>> from seqkern.sequences.labels import make_labels
    >>> from seqkern.sequences.sequence_set import as_sequences
    >>> X = as_sequences(["AC", "AA", "CC", "CA"], "dna")
    >>> own = {"spectrum": FittedKernel(SpectrumKernel(1), X.take(slice(2)))}
    >>> everything = {"spectrum": FittedKernel(SpectrumKernel(1), X)}
    >>> data = TrainingData(make_labels(X.ids[:2], ["0", "1"]), own, None, beyond=lambda: everything)
    >>> len(data.source("spectrum").X), len(data.source("spectrum", np.array([1, 3])).X)
    (2, 4)
    """

    beyond: Callable[[], Mapping[str, Source]] | None = None

    def source(self, name: str, rows: npt.NDArray[np.int64] | None = None) -> Source:
        """Return the source of a kernel's values.

        Parameters
        ----------
        name : str
            Of the kernel.
        rows : ndarray of int64, optional
            Samples that the source must include; default: those with labels.

        Returns
        -------
        Source
        """
        if rows is None or not len(rows) or rows.max() < len(self.labels):
            return self.sources[name]
        return self._beyond[name]

    @cached_property
    def _beyond(self) -> Mapping[str, Source]:
        assert self.beyond is not None
        return self.beyond()


def make_source(
    kernel: Kernel,
    X: Units,
    transforms: Sequence[GramTransform] = (),
    *,
    gives: str = "gram",
    form: Mapping[str, bool] | None = None,
    grams: Sequence[GramMatrix] = (),
    memory_limit: int | str | None = None,
    n_threads: int | None = None,
    held: HeldMatrices | None = None,
    room: Room | None = None,
) -> Source:
    """Return the source of a kernel's values.

    Parameters
    ----------
    kernel : Kernel
        Not fitted.
    X : SequenceSet or table
        All samples.
    transforms : sequence of GramTransform, optional
        Of the Gram matrix, not fitted.
    gives : {"gram", "features", "implicit", "operator"}
        What the solvers get; see `seqkern.kernels.solver_input`.
    form : mapping, optional
        The form of features; see `seqkern.models.feature_source.feature_form`.
    grams : sequence of GramMatrix, optional
        Over all samples: those of the kernel's stored form, if it has one. Without any, the kernel is fitted on each
        training set.
    memory_limit : int or str, optional
        For features, Implicits and products: bytes, or text such as ``"2GB"``; default: half of the available memory.
    n_threads : int, optional
        Default: the number of cores.
    held : HeldMatrices, optional
        Keeps the Gram matrices of the kernels that are compared; default: they are not kept.
    room : Room, optional
        Memory for Gram matrices, and what the solvers need of it.

    Returns
    -------
    Source

    Raises
    ------
    ParameterError
        If the kernel does not provide the input of the solvers.
    GramError
        If features do not fit into the memory.

    Examples
    --------
    >>> from seqkern.kernels import SpectrumKernel
    >>> from seqkern.sequences.sequence_set import as_sequences
    >>> make_source(SpectrumKernel(2), as_sequences(["ACA", "CCA"], "dna"), gives="implicit").gives
    'implicit'
    """
    if gives == "operator":
        return OperatorSource(kernel, X, transforms, memory_limit=memory_limit)
    if gives == "implicit":
        return ImplicitSource(kernel, X, transforms, memory_limit=memory_limit)
    if gives == "features":
        return FeatureSource(kernel, X, transforms, memory_limit=memory_limit, **(form or {}))
    if len(grams):
        stored = kernel.stored_form()
        return StoredGram(list(grams), transforms, form=stored, n_threads=n_threads, kernel=kernel, X=X, room=room)
    if held is not None:
        return HeldGram(kernel, held, transforms)
    return FittedKernel(kernel, X, transforms, n_threads, room)
