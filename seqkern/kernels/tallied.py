"""Σ_j c_j·K(x, z_j) without the z_j: sums over their k-mers are all that a decision needs of them.

`Kernel.tally` makes the sums, `Kernel.tallied` the object that applies them. A model of many support sequences is
smaller with the sums than with the sequences, and its decisions are look-ups.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from seqkern.kernels.additive import over_root
from seqkern.kernels.occurrences import KmerWeights, merge
from seqkern.sequences.sequence_set import SequenceSet

if TYPE_CHECKING:
    from seqkern.kernels.kernel import Kernel

Floats = npt.NDArray[np.float64]
Sums = npt.NDArray[np.float32 | np.float64]
Tally = list[Sums]


class Tallied:
    """Σ_j c_j·K(x, z_j), not normalised; a family implements all methods."""

    def values(self, X: SequenceSet) -> Floats:
        """Return the sum for each record.

        Parameters
        ----------
        X : SequenceSet, n records
            x.

        Returns
        -------
        ndarray of float64, shape (n,)
        """
        raise NotImplementedError

    def attributions(self, X: SequenceSet) -> Floats:
        """Return what each residue contributes; see `Kernel._attribute`.

        Parameters
        ----------
        X : SequenceSet
            The records.

        Returns
        -------
        ndarray of float64, shape (residues,)
        """
        raise NotImplementedError

    def kmer_weights(self, X: SequenceSet) -> KmerWeights:
        """Return what one occurrence of each k-mer of `X` adds.

        Parameters
        ----------
        X : SequenceSet
            The records.

        Returns
        -------
        KmerWeights
        """
        raise NotImplementedError

    def tables(self) -> list[tuple[int, Floats]] | None:
        """Return the weight of every k-mer; see `Kernel.kmer_tables`. None if a k-mer's weight is not one number."""
        raise NotImplementedError


class TalliedParts(Tallied):
    """The sum of several kernels, each normalised as it is.

    Parameters
    ----------
    kernels : sequence of Kernel
        The parts.
    parts : sequence of Tallied
        Of each, with the weight of the part in its sums.
    """

    def __init__(self, kernels: Sequence[Kernel], parts: Sequence[Tallied]) -> None:
        self.kernels, self.parts = kernels, parts

    def values(self, X: SequenceSet) -> Floats:
        """Return the sum for each record; see `Tallied.values`."""
        total = np.zeros(len(X))
        for kernel, part in zip(self.kernels, self.parts, strict=True):
            total += normalised_values(kernel, part, X)
        return total

    def attributions(self, X: SequenceSet) -> Floats:
        """Return what each residue contributes to all parts; see `Tallied.attributions`."""
        total = np.zeros(int(X.lengths.sum()))
        for kernel, part in zip(self.kernels, self.parts, strict=True):
            total += normalised_attributions(kernel, part, X)
        return total

    def kmer_weights(self, X: SequenceSet) -> KmerWeights:
        """Return what one occurrence of each k-mer adds to all parts, each before its normalisation."""
        return merge(part.kmer_weights(X) for part in self.parts)

    def tables(self) -> list[tuple[int, Floats]] | None:
        """Return the tables of all parts; None if a part is normalised, since its norm divides its own table only."""
        found = [
            None if kernel.normalize else part.tables() for kernel, part in zip(self.kernels, self.parts, strict=True)
        ]
        known = [tables for tables in found if tables is not None]
        return [one for tables in known for one in tables] if len(known) == len(found) else None


def normalised_values(kernel: Kernel, tallied: Tallied, X: SequenceSet) -> Floats:
    """Return Σ_j c_j·K(x, z_j), normalised as the kernel is.

    Parameters
    ----------
    kernel : Kernel
        The kernel, whose policies decide on short records.
    tallied : Tallied
        Of the kernel, with c_j / √K(z_j, z_j) if it is normalised.
    X : SequenceSet, n records
        x.

    Returns
    -------
    ndarray of float64, shape (n,)
    """
    diagonal = kernel.prepare(X).raw_diagonal
    values = tallied.values(X)
    return over_root(values, diagonal) if kernel.normalize else values


def normalised_attributions(kernel: Kernel, tallied: Tallied, X: SequenceSet) -> Floats:
    """Return the contributions of residues to `normalised_values`.

    Parameters
    ----------
    kernel, tallied, X
        As in `normalised_values`.

    Returns
    -------
    ndarray of float64, shape (residues,)
    """
    shares = tallied.attributions(X)
    if not kernel.normalize:
        return shares
    return over_root(shares, np.repeat(kernel.prepare(X).raw_diagonal, X.lengths))


def normalised_tally(kernel: Kernel, support: SequenceSet, coefficients: Floats) -> Tally | None:
    """Return the tally of Σ_j c_j·K(x, z_j), normalised as the kernel is.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    support : SequenceSet, m records
        z_j.
    coefficients : ndarray of float64, shape (m,)
        c_j.

    Returns
    -------
    list of ndarray, or None
        As `Kernel.tally`.
    """
    if kernel.normalize:
        coefficients = over_root(coefficients, kernel.prepare(support).raw_diagonal)
    return kernel.tally(support, coefficients)
