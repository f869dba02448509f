"""A trained model that keeps sums over the k-mers of its support sequences, and none of the sequences.

Of a kernel such as `GappedKmerKernel` a decision value Σ_j c_j·K(x, z_j) + b needs of all z_j together only T, the sum
of the c_j for each l-mer: 8 MB for l = 11 of DNA on both strands, whatever the number of sequences. The weight of every
l-mer, of which decisions are sums, follows from T, and so does the contribution of each base, which does not follow
from the weights.

T is kept in single precision: 7 digits of each sum. `TableModel.error` says by how much a weight is off in consequence;
decision values agree to 6 digits or more with those before.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar, NoReturn

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import ParameterError
from seqkern.core.threads import given_threads
from seqkern.gram.transforms import naming_rows
from seqkern.kernels.kernel import Kernel
from seqkern.kernels.occurrences import KmerWeights
from seqkern.kernels.tallied import Tallied, Tally, normalised_attributions, normalised_tally, normalised_values
from seqkern.models.model import Model, remedy_after_training
from seqkern.sequences.alphabets import Alphabet
from seqkern.sequences.sequence_set import SequenceSet

AT_ONCE = 1 << 20
"""Residues that are looked up in one go."""
NO_SUPPORT = "the model keeps sums over the k-mers of its support sequences, not the sequences"
REMEDY = "train again on fewer sequences, of which a Gram matrix fits into 4 GB"


@dataclass(frozen=True, eq=False)
class TableModel(Model):
    """A trained classifier whose decisions are look-ups; `support` contains no sequences, only their alphabet.

    Attributes
    ----------
    tally : tuple of ndarray of float32
        T; as from `seqkern.kernels.contract.KernelContract.tally`, with the c_j of a normalised kernel divided by the
        norm of z_j.

    Examples
    --------
    >>> from seqkern.kernels import GappedKmerKernel
    >>> from seqkern.models.training import train_model
    >>> from seqkern.sequences.labels import make_labels
    >>> from seqkern.sequences.sequence_set import as_sequences
    >>> X = as_sequences(["ACGTTGCA", "CCGTTGCT", "AAAATTTC", "TAAATTTA"], "dna")
    >>> kernel = GappedKmerKernel(3, 2, reverse_complement=True)
    >>> model = train_model(X, make_labels(X.ids, ["a", "a", "b", "b"], positive="a"), kernel, "csvc:C=1")
    >>> table = tabulated(model)
    >>> [sums.shape for sums in table.tally], bool(np.allclose(table.decision(X), model.decision(X), atol=1e-6))
    ([(32,)], True)
    """

    own_name: ClassVar[str] = "tally"

    tally: tuple[npt.NDArray[np.float32], ...]

    def _decisions(self, X: Any, n_threads: int | None) -> npt.NDArray[np.float64]:
        """Return the decision values of new samples, not checked."""
        assert isinstance(X, SequenceSet)
        form, out = self.form(), np.empty(len(X))
        parts = np.cumsum(X.lengths) // AT_ONCE
        edges: list[int] = [*np.flatnonzero(np.diff(parts, prepend=-1)).tolist(), len(X)]
        with given_threads(n_threads):
            for start, stop in pairwise(edges):
                rows = slice(start, stop)
                with remedy_after_training(), naming_rows(X.ids[rows]):
                    out[rows] = form.values(X.take(rows))
        return out

    def form(self) -> TableForm:  # type: ignore[override]  # with what users of AffineForm.support need as an error
        """Return the decision as a function of T."""
        return self._form

    @cached_property
    def _form(self) -> TableForm:
        linear = self.solver.linear()
        assert self.alphabet is not None
        return TableForm(self.kernel, self.kernel.tallied(iter(self.tally), self.alphabet), float(linear[1]))

    @property
    def n_columns(self) -> int:
        """The number of support sequences that the solver had."""
        columns: int = self.solver.n_features_in_
        return columns

    def own_state(self) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        """Return (JSON dict, dict of arrays) in addition to those of a Model."""
        return {"n": len(self.tally)}, {str(number): sums for number, sums in enumerate(self.tally)}

    def check_own(self) -> None:
        """Raise ValueError unless T is that of the kernel."""
        good = not len(self.support) and not self.transforms and self.kind in ("binary", "real")
        good = good and all(sums.dtype == np.float32 and sums.ndim == 1 for sums in self.tally)
        if not good or not all(np.isfinite(sums).all() for sums in self.tally) or self.solver.linear() is None:
            raise ValueError("inconsistent tables")
        rest = iter(self.tally)
        assert self.alphabet is not None
        tallied = self.kernel.tallied(rest, self.alphabet)
        if next(rest, None) is not None:
            raise ValueError("inconsistent tables")
        tallied.values(SequenceSet.from_strings([], self.alphabet))


@dataclass(frozen=True)
class TableForm:
    """The decision function of a TableModel; `seqkern.models.affine.AffineForm` without support sequences.

    Attributes
    ----------
    kernel : Kernel
        The kernel.
    tallied : Tallied
        T.
    constant : float
        b, the bias.
    """

    kernel: Kernel
    tallied: Tallied
    constant: float
    dividing = ()

    def values(self, X: SequenceSet) -> npt.NDArray[np.float64]:
        """Return decision values.

        Parameters
        ----------
        X : SequenceSet, n records
            New samples.

        Returns
        -------
        ndarray of float64, shape (n,)
        """
        return normalised_values(self.kernel, self.tallied, X) + self.constant

    def attributions(self, X: SequenceSet) -> npt.NDArray[np.float64]:
        """Return the contribution of each residue to f(x) − b.

        Parameters
        ----------
        X : SequenceSet
            The records x.

        Returns
        -------
        ndarray of float64, shape (residues,)
        """
        return normalised_attributions(self.kernel, self.tallied, X)

    def kmer_weights(self, X: SequenceSet) -> KmerWeights:
        """Return what one occurrence of each k-mer of `X` adds.

        Parameters
        ----------
        X : SequenceSet
            The records x.

        Returns
        -------
        KmerWeights
        """
        return self.tallied.kmer_weights(X)

    def kmer_tables(self) -> list[tuple[int, npt.NDArray[np.float64]]] | None:
        """Return the weights of all k-mers in f(x) − b, before the norm of a normalised kernel; None without such."""
        return self.tallied.tables()

    @property
    def support(self) -> NoReturn:
        """Raise ParameterError: there are no support sequences."""
        raise ParameterError(NO_SUPPORT, remedy=REMEDY)

    @property
    def coefficients(self) -> NoReturn:
        """Raise ParameterError: there are no support sequences."""
        raise ParameterError(NO_SUPPORT, remedy=REMEDY)


def tabulated(model: Model, scale: npt.NDArray[np.float64] | None = None) -> TableModel | None:
    """Return the same model with sums over k-mers instead of its support sequences.

    Parameters
    ----------
    model : Model
        Trained.
    scale : ndarray of float64, shape (support,), optional
        1 / √K(z, z) of each support sequence z, of a normalised kernel; default: computed here.

    Returns
    -------
    TableModel or None
        None if the kernel or the solver needs the sequences.
    """
    linear = None if model.transforms or model.kind not in ("binary", "real") else model.solver.linear()
    if linear is None or not isinstance(model.support, SequenceSet):
        return None
    coefficients = np.asarray(linear[0], dtype=np.float64)
    if scale is None:
        tally = normalised_tally(model.kernel, model.support, coefficients)
    else:
        tally = model.kernel.tally(model.support, scale * coefficients)
    if tally is None:
        return None
    return TableModel(
        kernel=model.kernel,
        transforms=[],
        solver=model.solver,
        support=model.support.take(slice(0, 0)).compact(),
        diagonal=np.zeros(0),
        kind=model.kind,
        classes=model.classes,
        policies=model.policies,
        record={**model.record, "rounding": rounding_error(model.kernel, tally, model.support.alphabet)},
        tally=tuple(sums.astype(np.float32) for sums in tally),
    )


def smaller(model: Model, scale: npt.NDArray[np.float64] | None = None) -> Model:
    """Return a model with sums over k-mers if its file is smaller than with the support sequences.

    Parameters
    ----------
    model : Model
        With support sequences.
    scale : ndarray of float64, optional
        As for `tabulated`.

    Returns
    -------
    Model
        The given one, or a TableModel.
    """
    table = tabulated(model, scale)
    return model if table is None or _bytes(model) <= _bytes(table) else table


def _bytes(model: Model) -> int:
    """Return the size of a model's arrays."""
    return sum(array.nbytes for array in model.state()[1].values())


def rounding_error(kernel: Kernel, tally: Tally, alphabet: Alphabet) -> float | None:
    """Return the largest error of the weight of a k-mer if the tally is kept in single precision.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    tally : list of ndarray of float64
        In double precision.
    alphabet : Alphabet
        Of the sequences.

    Returns
    -------
    float or None
        A decision value over n windows is off by n times as much at most, divided by √K(x, x) if the kernel is
        normalised. None if the weight of a k-mer is not one number.
    """
    lost = (sums - sums.astype(np.float32) for sums in tally)
    tables = kernel.tallied(lost, alphabet).tables()
    return None if tables is None else float(max(np.abs(table).max() for _, table in tables))
