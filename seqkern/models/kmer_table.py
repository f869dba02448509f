"""A model's decision as a sum over the k-mers of a sequence: one table of weights for each length."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import ModelError, ParameterError
from seqkern.core.types import PathLike
from seqkern.kernels.kernel import Kernel
from seqkern.models.kmer_weights import KmerTables, is_kmer_weights, read_kmer_weights

if TYPE_CHECKING:
    from seqkern.models.model import Model


def kmer_tables(model: Model) -> KmerTables:
    """Return the weights of k-mers of a model.

    Parameters
    ----------
    model : Model
        Trained.

    Returns
    -------
    KmerTables

    Raises
    ------
    ParameterError
        If the decision is not such a sum: the kernel, the solver or a transform does not allow it.

    Examples
    --------
    >>> from seqkern.kernels import GappedKmerKernel
    >>> from seqkern.models.training import train_model
    >>> from seqkern.sequences.labels import make_labels
    >>> from seqkern.sequences.sequence_set import as_sequences
    >>> X = as_sequences(["ACGTTGCA", "CCGTTGCT", "AAAATTTC", "TAAATTTA"], "dna")
    >>> kernel = GappedKmerKernel(4, 3, normalize=False)
    >>> model = train_model(X, make_labels(X.ids, ["a", "a", "b", "b"], positive="a"), kernel, "csvc:C=1")
    >>> weights = kmer_tables(model)
    >>> bool(np.isclose(weights.tables[4][0b00011011] + weights.constant, model.decision(["ACGT"])[0]))
    True
    """
    form, kernel = model.form(), model.kernel
    if model.alphabet is None:
        raise ParameterError("the model is of numbers, not of sequences", remedy="give a model of sequences")
    tables = form.kmer_tables()
    if tables is None:
        raise ParameterError(
            f"the decisions of kernel {kernel.name!r} are not sums over k-mers",
            remedy="choose a kernel such as gapped_kmer (with l up to 12 for DNA), without center_weighted",
        )
    merged: dict[int, npt.NDArray[np.float64]] = {}
    for length, weights in tables:
        merged[length] = merged[length] + weights if length in merged else weights
    return KmerTables(model.alphabet, merged, form.constant, kernel.normalize, _counts_both_strands(kernel))


def _counts_both_strands(kernel: Kernel) -> bool:
    """Return whether a kernel, or each of its parts, counts both strands."""
    parts = getattr(kernel, "bases", ())
    if parts:
        return all(_counts_both_strands(part) for part in parts)
    return bool(getattr(kernel, "reverse_complement", False))


def load_kmer_tables(path: PathLike) -> KmerTables:
    """Read weights of k-mers: from a model of seqkern or of LS-GKM, or from a file of weights as deltaSVM reads them.

    Parameters
    ----------
    path : path-like
        The file; see `seqkern.models.loading.load_model` and `seqkern.models.kmer_weights.read_kmer_weights`.

    Returns
    -------
    KmerTables

    Raises
    ------
    ModelError
        If the file is not one of these, or the model's decision is not a sum of weights of k-mers.
    FileError
        If it cannot be read.
    """
    from seqkern.models.loading import load_model  # imported here for fast start-up
    from seqkern.models.model import Model

    if is_kmer_weights(path):
        return read_kmer_weights(path)
    model = load_model(Path(path))
    if not isinstance(model, Model):
        raise ModelError(
            "is a model of residues, without weights of k-mers", file=path, remedy="give a model of whole sequences"
        )
    try:
        return kmer_tables(model)
    except ParameterError as error:
        raise ModelError(error.problem, file=path, remedy=error.remedy) from error
