"""A model's decision as a sum over the k-mers of a sequence: one table of weights for each length."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import ModelError, ParameterError
from seqkern.core.types import PathLike
from seqkern.kernels.additive import over_root
from seqkern.sequences.alphabets import Alphabet
from seqkern.sequences.sequence_set import SequenceSet

if TYPE_CHECKING:
    from seqkern.models.model import Model


@dataclass(frozen=True, eq=False)
class KmerTables:
    """Weights of k-mers, on the given strand; of kernels that count both strands, w(a) = w(reverse complement of a).

    The decision value of x is b + Σ w(a) over the k-mers a of x, the sum divided by √K(x, x) if `normalised`.

    Attributes
    ----------
    alphabet : Alphabet
        Letters of the k-mers.
    tables : dict of int to ndarray of float64, shape (letters^k,)
        For each length k the weights, by the code of the k-mer: its first letter is the most significant digit.
    constant : float
        b.
    normalised : bool
        Whether the kernel is normalised.
    both_strands : bool
        Whether the kernel counts both strands.
    """

    alphabet: Alphabet
    tables: dict[int, npt.NDArray[np.float64]]
    constant: float
    normalised: bool
    both_strands: bool


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
    form = model.form()
    if not isinstance(form.support, SequenceSet):
        raise ParameterError("the model is of numbers, not of sequences", remedy="give a model of sequences")
    coefficients = form.coefficients
    if form.kernel.normalize:
        coefficients = over_root(coefficients, form.kernel.prepare(form.support).raw_diagonal)
    tables = None if form.dividing else form.kernel.kmer_tables(form.support, coefficients)
    if tables is None:
        raise ParameterError(
            f"the decisions of kernel {form.kernel.name!r} are not sums over k-mers",
            remedy="choose a kernel such as gapped_kmer (with l up to 12 for DNA), without center_weighted",
        )
    merged: dict[int, npt.NDArray[np.float64]] = {}
    for length, weights in tables:
        merged[length] = merged[length] + weights if length in merged else weights
    both = bool(getattr(form.kernel, "reverse_complement", False))
    return KmerTables(form.support.alphabet, merged, form.constant, form.kernel.normalize, both)


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
    from seqkern.models.kmer_weights import is_kmer_weights, read_kmer_weights  # imported here for fast start-up
    from seqkern.models.loading import load_model
    from seqkern.models.model import Model

    if is_kmer_weights(path):
        return read_kmer_weights(path)
    model = load_model(path)
    if not isinstance(model, Model):
        raise ModelError(
            "is a model of residues, without weights of k-mers", file=path, remedy="give a model of whole sequences"
        )
    try:
        return kmer_tables(model)
    except ParameterError as error:
        raise ModelError(error.problem, file=path, remedy=error.remedy) from error
