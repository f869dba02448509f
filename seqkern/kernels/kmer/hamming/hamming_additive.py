"""Decisions of Hamming distance kernels: folded into one table, and explained by residue.

Such a kernel is Σ_l weight_l · Σ_{a ∈ x, b ∈ z} u(a)·v(b)·c[h(a, b)] over windows a, b of l residues, h their Hamming
distance; with reverse complement each pair adds c of the distance of a to the reverse complement of b. A decision
Σ_j coef_j·K(x, z_j) is then a sum over the windows of x alone, Σ_a u(a)·W[a], with a table W over all l-mers,

    W[a] = Σ_b T[b]·c[h(a, b)],   T[b] = Σ_j coef_j · (weight of b's occurrences in z_j).

The sum over b is a product with a matrix that depends on Hamming distances only. All those matrices have common
eigenvectors, products of one function of each position: constant, or of sum zero. The matrix of distance h has the
eigenvalue of a Krawtchouk polynomial, by the number i of positions where the function is not constant,

    κ_h(i) = Σ_s (−1)^s·(b − 1)^(h − s)·C(i, s)·C(l − i, h − s).

One reflection for each position sends T there, a product for each l-mer follows, and the same reflections lead back:
O(l·b^l) for any number of sequences. The share of a residue of a window is such a sum too (`residue_factors`).

If the table would be too large, attributions are summed along the diagonals of x against all sequences z_j.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, cast

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import ParameterError
from seqkern.kernels.kmer.hamming import _hamming_additive as loops
from seqkern.kernels.kmer.hamming.eigenvalues import eigenvalues, reflect, residue_factors
from seqkern.kernels.kmer.hamming.hamming_operator import HammingOperator
from seqkern.kernels.kmer.hamming.hamming_tally import HammingTallied, add_windows
from seqkern.kernels.kmer.kmer_sums import LARGEST_TABLE, whole_table
from seqkern.kernels.kmer.kmers import find_kmers, find_windows
from seqkern.kernels.occurrences import KmerWeights
from seqkern.kernels.products.product import TermBlocks
from seqkern.kernels.tallied import Sums, Tally
from seqkern.sequences.alphabets import Alphabet
from seqkern.sequences.sequence_set import SequenceSet

if TYPE_CHECKING:  # a mixin of its subclasses
    from seqkern.kernels.kmer.kmer_kernel import KmerKernel as Base
else:
    Base = object

Floats = npt.NDArray[np.float64]

LARGEST_WINDOW = 255


class HammingAdditive(Base):
    """Mixin of kernels that compare windows by Hamming distance only.

    A family implements `_pair_weights` (c[0], …, c[l]) and, where windows differ in weight, `_window_weights`. It has
    `_lengths`, `_weights` and `reverse_complement` as `KmerKernel` has them, and its payloads have `sequences`.

    References
    ----------
    Shrikumar, Prakash, Kundaje: GkmExplain. Bioinformatics 35, 2019: the contribution of two windows is shared equally
    by the positions where they match.
    """

    weighs_windows = False

    def _pair_weights(self, size: int, l: int) -> list[int] | list[float]:  # noqa: E741
        """Return what a pair of windows of `l` residues at distance h = 0, …, l adds; `size` letters."""
        raise NotImplementedError

    def _window_weights(self, X: SequenceSet, l: int) -> npt.NDArray[np.int64] | None:  # noqa: E741
        """Return a weight for each window, in the order of `kmers.find_windows`; None if all are 1."""
        return None

    def _fold(
        self, columns: TermBlocks, coefficients: npt.NDArray[np.float64]
    ) -> Callable[[TermBlocks], npt.NDArray[np.float64]] | None:
        support = cast(SequenceSet, columns.sequences).take(slice(columns.start, columns.stop))
        tables = self._weight_tables(support, coefficients)
        if tables is None:
            return super()._fold(columns, coefficients)

        def values(payload: TermBlocks) -> Floats:
            X = cast(SequenceSet, payload.sequences).take(slice(payload.start, payload.stop))
            return self._look_up(X, tables)

        return values

    def _look_up(self, X: SequenceSet, tables: Sequence[tuple[int, Floats]]) -> Floats:
        """Return Σ_a u(a)·W[a] over the windows a of each record."""
        sums = np.zeros(len(X))
        for length, table in tables:
            found = find_kmers(X, length)
            worth = table[found.codes[0]] * own_weights(self, X, length, len(found.codes[0]))
            sums += np.bincount(owners(found.start), weights=worth, minlength=len(X))
        return sums

    def kmer_tables(self, support: SequenceSet, coefficients: Floats) -> list[tuple[int, Floats]] | None:
        """Return the weight of each l-mer; see `KernelContract.kmer_tables`. None if windows differ in weight."""
        return None if self.weighs_windows else self._weight_tables(support, coefficients)

    def tally(self, support: SequenceSet, coefficients: Floats) -> Tally | None:
        """Return T of each length; see `KernelContract.tally`. None if it would be too large."""
        if not self._has_tables(support.alphabet.size):
            return None
        return [add_windows(self, support, coefficients, length) for length in self._lengths()]

    def tallied(self, tally: Iterator[Sums], alphabet: Alphabet) -> HammingTallied:
        """Return the sums from T; see `KernelContract.tallied`."""
        return HammingTallied(self, tally, alphabet)

    def _has_tables(self, size: int) -> bool:
        """Return whether tables over all l-mers of `size` letters are small enough."""
        return all(size**length <= LARGEST_TABLE for length in self._lengths())

    def _weight_tables(self, support: SequenceSet, coefficients: Floats) -> list[tuple[int, Floats]] | None:
        """Return (length, W) for each length of windows; None if a table would be too large."""
        if not self._has_tables(support.alphabet.size):
            return None
        return [
            (length, self._table(support, coefficients, length, weight))
            for length, weight in zip(self._lengths(), self._weights(), strict=True)
        ]

    def _attribute(
        self, X: SequenceSet, support: SequenceSet, coefficients: npt.NDArray[np.float64]
    ) -> npt.NDArray[np.float64]:
        shares = np.zeros(int(X.lengths.sum()))
        cells = float(len(shares)) * float(support.lengths.sum()) * (2 if self.reverse_complement else 1)
        for length, weight in zip(self._lengths(), self._weights(), strict=True):
            space = X.alphabet.size**length
            if space <= LARGEST_TABLE and length**2 * space <= cells:
                shares += weight * self._shares_by_table(X, self._tally(support, coefficients, length), length)
            else:
                shares += weight * self._shares_by_diagonals(X, support, coefficients, length)
        return shares

    def _kmer_weights(
        self, X: SequenceSet, support: SequenceSet, coefficients: npt.NDArray[np.float64]
    ) -> KmerWeights | tuple[list[str], npt.NDArray[np.float64]]:
        size = X.alphabet.size
        tables = [
            (length, self._table(support, coefficients, length, weight) if size**length <= LARGEST_TABLE else None)
            for length, weight in zip(self._lengths(), self._weights(), strict=True)
        ]
        return self._weights_of_windows(X, support, tables, coefficients)

    def _weights_of_windows(
        self,
        X: SequenceSet,
        support: SequenceSet,
        tables: Sequence[tuple[int, Floats | None]],
        coefficients: npt.ArrayLike = (),
    ) -> tuple[list[str], Floats]:
        """Return the distinct windows of both sets and the weight of each, without a table from the support."""
        kmers, weights = [], []
        for (length, table), weight in zip(tables, self._weights(), strict=True):
            found = distinct_windows(X, support, length, self.reverse_complement)
            if table is not None:
                places = X.alphabet.size ** np.arange(length - 1, -1, -1)
                sums = table[found @ places]
            else:
                others = OtherWindows(self, support, coefficients, length, length)
                values = np.array(self._pair_weights(X.alphabet.size, length)[::-1], dtype=np.float64)
                sums = np.empty(len(found))
                loops.word_sums(others.marks, others.windows, found, least_matches(values), values, sums)
                sums *= weight
            kmers += [row.tobytes().decode() for row in letters_of(X.alphabet)[found]]
            weights.append(sums)
        return kmers, np.concatenate(weights)

    def _table(self, support: SequenceSet, coefficients: npt.ArrayLike, length: int, weight: float) -> Floats:
        """Return W times `weight`, float64 (size^length,)."""
        operator = HammingOperator(
            support,
            length,
            self._pair_weights(support.alphabet.size, length),
            both_strands=self.reverse_complement,
            window_weights=self._window_weights(support, length),
            squares=np.zeros(len(support)),  # not needed
        )
        return np.asarray(operator.weights(weight * np.asarray(coefficients, dtype=np.float64)))

    def _spread(self, table: Floats, size: int, length: int, weight: float) -> Floats:
        """Turn T into W times `weight`, in place, and return it."""
        reflect(table, size, length)
        factors = weight * eigenvalues(size, length, self._pair_weights(size, length))
        loops.scale(table, size, 1, factors, factors, table)
        reflect(table, size, length)
        return table

    def _tally(self, support: SequenceSet, coefficients: npt.ArrayLike, length: int) -> Floats:
        """Return T, float64 (size^length,)."""
        sums = add_windows(self, support, coefficients, length)
        return whole_table(sums, support.alphabet, length, self.reverse_complement)

    def _shares_by_table(self, X: SequenceSet, tally: Floats, length: int) -> Floats:
        """Return each residue's share by one table for each position of a window; `tally` is T, and overwritten."""
        size = X.alphabet.size
        reflect(tally, size, length)
        same, other = residue_factors(size, length, self._pair_weights(size, length))
        codes, starts = find_kmers(X, length).codes[0], find_windows(X, length)
        own = own_weights(self, X, length, len(codes))
        shares, table = np.zeros(int(X.lengths.sum())), np.empty_like(tally)
        for position in range(length):
            loops.scale(tally, size, size ** (length - 1 - position), same, other, table)
            reflect(table, size, length)
            shares += np.bincount(starts + position, weights=table[codes] * own, minlength=len(shares))
        return shares

    def _shares_by_diagonals(
        self, X: SequenceSet, support: SequenceSet, coefficients: npt.ArrayLike, length: int
    ) -> Floats:
        """Return each residue's share by comparing every window with every other."""
        if length > LARGEST_WINDOW:
            raise ParameterError(
                f"windows of {length} residues cannot be explained", remedy=f"choose up to {LARGEST_WINDOW} residues"
            )
        others = OtherWindows(self, support, coefficients, length, int(X.lengths.max(initial=length)))
        values = np.array(self._pair_weights(X.alphabet.size, length)[::-1], dtype=np.float64)
        shares = values / np.maximum(1, np.arange(length + 1))
        shares[0] = 0
        own, starts = np.zeros(int(X.lengths.sum())), find_windows(X, length)
        own[starts] = own_weights(self, X, length, len(starts))
        residues, whole = np.zeros(len(own)), np.zeros(len(own))
        ends = np.cumsum(X.lengths)
        for i, (start, stop) in enumerate(zip(ends - X.lengths, ends, strict=True)):
            if stop - start >= length:
                record = slice(start, stop)
                loops.share(
                    others.marks,
                    others.windows,
                    others.pad,
                    X.codes[X.starts[i] : X.stops[i]],
                    own[record],
                    length,
                    least_matches(values),
                    shares,
                    values[0],
                    residues[record],
                    whole[record],
                )
        for position in range(length if values[0] else 0):
            residues[position:] += whole[: len(whole) - position] / length
        return residues


class OtherWindows:
    """The windows of support sequences, one after the other, on both strands if the kernel sees both.

    Parameters
    ----------
    kernel : HammingAdditive
        The kernel, which weights the windows.
    support : SequenceSet
        The m sequences.
    coefficients : array_like of float, shape (m,)
        One for each.
    length : int
        Residues of a window.
    pad : int
        Empty places at each end: the length of the longest sequence to compare with.

    Attributes
    ----------
    marks : ndarray of uint8, shape (letters of the alphabet + 1, width)
        1 where a residue is the letter; the last row is empty.
    windows : ndarray of float64, shape (width,)
        Weight of the window that starts there, times the coefficient of its sequence.
    pad : int
        Number of empty places at the beginning; at the end there are LANE_COUNT more.
    """

    def __init__(
        self, kernel: HammingAdditive, support: SequenceSet, coefficients: npt.ArrayLike, length: int, pad: int
    ) -> None:
        alphabet = support.alphabet
        codes, starts = support.codes[support.positions()], find_windows(support, length)
        total, self.pad = len(codes), pad
        strands = 2 if kernel.reverse_complement else 1
        record = np.repeat(np.arange(len(support)), support.lengths)[starts]
        worth = np.asarray(coefficients, dtype=np.float64)[record]
        worth *= own_weights(kernel, support, length, len(starts))
        self.windows = np.zeros(2 * pad + strands * total + loops.LANE_COUNT)
        self.marks = np.zeros((alphabet.size + 1, len(self.windows)), dtype=np.uint8)
        self.windows[pad + starts] = worth
        if strands == 2:
            codes = np.concatenate((codes, alphabet.complement_codes[codes[::-1]]))
            self.windows[pad + 2 * total - length - starts] = worth
        for code in range(alphabet.size):
            self.marks[code, pad : pad + len(codes)] = codes == code


def own_weights(kernel: HammingAdditive, X: SequenceSet, length: int, windows: int) -> Floats:
    """Return the weights of the windows of `X`.

    Parameters
    ----------
    kernel : HammingAdditive
        The kernel, which weights them.
    X : SequenceSet
        The records.
    length : int
        Residues of a window.
    windows : int
        How many there are.

    Returns
    -------
    ndarray of float64, shape (windows,)
    """
    weights = kernel._window_weights(X, length)
    return np.ones(windows) if weights is None else np.asarray(weights, dtype=np.float64)


def owners(start: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return the record of each item.

    Parameters
    ----------
    start : ndarray of int64, shape (n + 1,)
        The items of record i are `start[i]` to ``start[i + 1]``.

    Returns
    -------
    ndarray of int64, shape (items,)
    """
    return np.repeat(np.arange(len(start) - 1), np.diff(start))


def least_matches(values: Floats) -> int:
    """Return the minimum number of matches of a pair that counts.

    Parameters
    ----------
    values : ndarray of float64, shape (length + 1,)
        Contribution of a pair of windows, by its matches.

    Returns
    -------
    int
        length + 1 if none counts.
    """
    return int(np.flatnonzero(values)[0]) if np.any(values) else len(values)


def distinct_windows(X: SequenceSet, support: SequenceSet, length: int, both_strands: bool) -> npt.NDArray[np.uint8]:
    """Return the distinct windows of two sets.

    Parameters
    ----------
    X, support : SequenceSet
        The two sets.
    length : int
        Residues in a window; masked residues are in none.
    both_strands : bool
        Whether to take the smaller of each window and its reverse complement.

    Returns
    -------
    ndarray of uint8, shape (distinct windows, length)
        The codes of the residues, in ascending order.
    """
    parts = []
    for part in (X, support):
        codes, starts = part.codes[part.positions()], find_windows(part, length)
        windows = codes[starts[:, None] + np.arange(length)]
        if both_strands:
            reverse = part.alphabet.complement_codes[windows[:, ::-1]]
            unlike = windows != reverse
            first = unlike.argmax(axis=1)[:, None]
            smaller = np.take_along_axis(windows, first, 1) <= np.take_along_axis(reverse, first, 1)
            windows = np.where(smaller, windows, reverse)
        parts.append(windows)
    return np.unique(np.concatenate(parts), axis=0)


def letters_of(alphabet: Alphabet) -> npt.NDArray[np.uint8]:
    """Return the ASCII code of each letter.

    Parameters
    ----------
    alphabet : Alphabet
        The letters.

    Returns
    -------
    ndarray of uint8, shape (size,)
    """
    return np.frombuffer(alphabet.letters.encode(), dtype=np.uint8)
