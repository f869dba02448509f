"""An SVM's decision value as one weighted sum of kernel values: solver and Gram transforms merged into the weights.

f(x) = Σ_j c_j K(x, z_j) / r(x) + b, where K is the kernel before all transforms, z_j are the model's samples, and r(x)
is the square root of K(x, x) if ``normalise`` is among the transforms, else 1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import ParameterError
from seqkern.gram.transforms.gram_transform import GramTransform
from seqkern.kernels.additive import attributions, fold, kmer_weights, over_root
from seqkern.kernels.kernel import Kernel
from seqkern.kernels.occurrences import KmerWeights
from seqkern.kernels.prepared import Prepared
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.sequences.tables import FeatureTable


@dataclass(frozen=True)
class AffineForm:
    """The decision function of an SVM, or of another solver with one decision value.

    Attributes
    ----------
    kernel : Kernel
        Fitted, if it learns from data.
    support : SequenceSet or FeatureTable, m samples
        The z_j.
    coefficients : ndarray of float64, shape (m,)
        c_j.
    constant : float
        b, the bias.
    dividing : list of GramTransform
        The transforms up to the last that divides rows, in order; often none.

    Examples
    --------
    >>> from seqkern.kernels import SpectrumKernel
    >>> from seqkern.models.training import train_model
    >>> from seqkern.sequences.labels import make_labels
    >>> from seqkern.sequences.sequence_set import as_sequences
    >>> X = as_sequences(["AAC", "CAA", "GGT", "TTG"], "dna")
    >>> model = train_model(X, make_labels(X.ids, ["a", "a", "b", "b"]), SpectrumKernel(1), "csvc:C=1")
    >>> form, new = model.form(), as_sequences(["AAG"], "dna")
    >>> shares = form.attributions(new)
    >>> bool(np.isclose(shares.sum() + form.constant, model.decision(new)[0]))
    True
    """

    kernel: Kernel
    support: SequenceSet | FeatureTable
    coefficients: npt.NDArray[np.float64]
    constant: float
    dividing: Sequence[GramTransform]

    def fold(self, columns: Prepared) -> Callable[[Prepared], npt.NDArray[np.float64]] | None:
        """Return a function that computes decision values without the kernel matrix.

        Parameters
        ----------
        columns : Prepared
            The support samples, prepared by the kernel.

        Returns
        -------
        callable or None
            ``decide(rows)`` for Prepared rows returns float64 (n,); None if the matrix is required.
        """
        folded = fold(self.kernel, columns, self.coefficients)
        if folded is None:
            return None
        return lambda rows: self.divided(folded(rows), rows.diagonal) + self.constant

    def attributions(self, X: SequenceSet) -> npt.NDArray[np.float64]:
        """Return the contribution of each residue to f(x) − b.

        Parameters
        ----------
        X : SequenceSet
            The records x.

        Returns
        -------
        ndarray of float64, shape (residues,)
            Record by record.

        Raises
        ------
        ParameterError
            If the kernel does not support contributions of residues.
        """
        shares = attributions(self.kernel, X, self.support, self.coefficients)
        if not self.dividing:
            return shares
        diagonal = self.kernel.prepare(X, like=self.kernel.prepare(self.support)).diagonal
        factors = self.divided(np.ones(len(X)), diagonal)
        return shares * np.repeat(factors, X.lengths)

    def kmer_weights(self, X: SequenceSet) -> KmerWeights:
        """Return what one occurrence of a k-mer of `X` or of the z_j adds; see `seqkern.kernels.additive.kmer_weights`.

        Parameters
        ----------
        X : SequenceSet
            The records x.

        Returns
        -------
        KmerWeights

        Raises
        ------
        NoKmersError
            If the kernel compares no k-mers.
        """
        return kmer_weights(self.kernel, X, self.support, self.coefficients)

    def kmer_tables(self) -> list[tuple[int, npt.NDArray[np.float64]]] | None:
        """Return the weights of all k-mers in f(x) − b, before the norm of a normalised kernel; None without such."""
        if self.dividing or not isinstance(self.support, SequenceSet):
            return None
        coefficients = self.coefficients
        if self.kernel.normalize:
            coefficients = over_root(coefficients, self.kernel.prepare(self.support).raw_diagonal)
        return self.kernel.kmer_tables(self.support, coefficients)

    def divided(self, values: npt.NDArray[np.float64], diagonal: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return values / r(x), 0 if r(x) is 0.

        Parameters
        ----------
        values : ndarray of float64, shape (n,)
            Such as sums of kernel values.
        diagonal : ndarray of float64, shape (n,)
            K(x, x) before all transforms.

        Returns
        -------
        ndarray of float64, shape (n,)
        """
        for transform in self.dividing:
            root, diagonal = transform.divide_rows(diagonal)
            if root is not None:
                values = np.divide(values, root, out=np.zeros_like(values), where=root > 0)
        return values


def affine_form(
    kernel: Kernel, support: SequenceSet | FeatureTable, solver: Any, transforms: Sequence[GramTransform]
) -> AffineForm:
    """Return the AffineForm of a fitted solver after fitted transforms.

    Parameters
    ----------
    kernel : Kernel
        Fitted, if it learns from data.
    support : SequenceSet or FeatureTable
        The columns of the kernel matrix.
    solver : Solver
        Fitted; with one decision value.
    transforms : sequence of GramTransform
        Fitted, in the order in which they are applied.

    Returns
    -------
    AffineForm

    Raises
    ------
    ParameterError
        If the decision value is not such a sum.
    """
    linear = solver.linear()
    if linear is None:
        raise ParameterError(
            f"the decisions of solver {solver.name!r} are not weighted sums of kernel values",
            remedy="choose a solver such as csvc or psvc",
        )
    coefficients, constant = linear
    dividing = [number for number, transform in enumerate(transforms) if transform.divides]
    before = transforms[: dividing[-1] + 1] if dividing else []
    if any(transform.needs_all() for transform in before):
        raise ParameterError(
            f"the transform {before[-1].name!r} divides by a value that depends on all columns, so the decision is "
            "not a weighted sum of kernel values",
            remedy="normalise first, or in the kernel (normalize=true), and use an empirical map with normalize=false",
        )
    for transform in reversed(transforms):
        coefficients, more = transform.pull_back(coefficients)
        constant += more
    return AffineForm(kernel, support, coefficients, float(constant), before)
