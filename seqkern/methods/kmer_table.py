"""A model's decision as a sum over the k-mers of a sequence: one table of weights for each length."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from seqkern.core.errors import ModelError, ParameterError
from seqkern.core.types import Floats, PathLike
from seqkern.kernels.kernel import Kernel
from seqkern.methods.table_model import KmerTables, is_kmer_weights, read_kmer_weights

if TYPE_CHECKING:
    from seqkern.methods.model import Model


def kmer_tables(model: Model) -> KmerTables:
    """Return the k-mer weights of a model; raise ParameterError if its decision is not a sum over k-mers."""
    form, kernel = model.form(), model.kernel
    if model.alphabet is None:
        raise ParameterError("the model is of numbers, not of sequences", remedy="give a model of sequences")
    tables = form.kmer_tables()
    if tables is None:
        raise ParameterError(
            f"the decisions of kernel {kernel.name!r} are not sums over k-mers",
            remedy="choose a kernel such as gapped_kmer (with l up to 12 for DNA), without center_weighted",
        )
    merged: dict[int, Floats] = {}
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
    """Read k-mer weights from a seqkern or LS-GKM model, or from a weight file for deltaSVM."""
    from seqkern.methods.loading import load_model  # imported here for fast start-up
    from seqkern.methods.model import Model

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
