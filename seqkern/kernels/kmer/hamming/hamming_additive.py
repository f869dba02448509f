"""Decisions of kernels on Hamming distances: folded into one table, and taken apart letter by letter.

Such a kernel is Σ_l weight_l · Σ_{a ∈ x, b ∈ z} u(a)·v(b)·c[h(a, b)] over windows a, b of l letters, h their Hamming
distance; with reverse complement each pair adds c of the distance of a to the reverse complement of b. A decision
Σ_j coef_j·K(x, z_j) is then a sum over the windows of x alone, Σ_a u(a)·W[a], with a table W over all words,

    W[a] = Σ_b T[b]·c[h(a, b)],   T[b] = Σ_j coef_j · (weight of b's occurrences in z_j).

The sum over b is a product with a matrix that depends on Hamming distances only. All those matrices have common
eigenvectors, products of one function of each position: constant, or of sum zero. The matrix of distance h has the
eigenvalue of a Krawtchouk polynomial, by the number i of positions where the function is not constant,

    κ_h(i) = Σ_s (−1)^s·(b − 1)^(h − s)·C(i, s)·C(l − i, h − s).

One reflection for each position sends T there, a product for each word follows, and the same reflections lead back:
O(l·b^l) for any number of sequences. What a letter of a window receives is such a sum too (`_letter_factors`).

Where the table would be too large, attributions are summed along the diagonals of x against all sequences z_j.
"""

import numpy as np

from seqkern.core.errors import ParameterError
from seqkern.kernels.kmer.estimators import krawtchouk
from seqkern.kernels.kmer.hamming import _hamming_additive as loops
from seqkern.kernels.kmer.kmers import find_kmers, find_windows

LARGEST_TABLE = 1 << 24
LARGEST_BLOCK = 1 << 14
LARGEST_WINDOW = 255


class HammingAdditive:
    """Mixin of kernels whose windows are compared by their Hamming distance alone.

    A family has `_lengths`, `_weights`, `_pair_weights(size, l)` (c[0], …, c[l]), `_window_weights(X, l)` (None, or
    an array in the order of `find_windows`) and `reverse_complement`; its payloads have `sequences`.

    References
    ----------
    Shrikumar, Prakash, Kundaje: GkmExplain. Bioinformatics 35, 2019: what two windows have in common is shared
    equally by the positions where they match.
    """

    def _fold(self, columns, coefficients):
        support = columns.sequences.take(slice(columns.start, columns.stop))
        size = support.alphabet.size
        if any(size**length > LARGEST_TABLE for length in self._lengths()):
            return super()._fold(columns, coefficients)
        tables = [
            (length, self._table(support, coefficients, length, weight))
            for length, weight in zip(self._lengths(), self._weights(), strict=True)
        ]

        def values(payload):
            X = payload.sequences.take(slice(payload.start, payload.stop))
            sums = np.zeros(len(X))
            for length, table in tables:
                found = find_kmers(X, length)
                worth = table[found.codes[0]] * own_weights(self, X, length, len(found.codes[0]))
                sums += np.bincount(owners(found.start), weights=worth, minlength=len(X))
            return sums

        return values

    def _attribute(self, X, support, coefficients):
        shares = np.zeros(int(X.lengths.sum()))
        cells = float(len(shares)) * float(support.lengths.sum()) * (2 if self.reverse_complement else 1)
        for length, weight in zip(self._lengths(), self._weights(), strict=True):
            space = X.alphabet.size**length
            if space <= LARGEST_TABLE and length**2 * space <= cells:
                shares += weight * self._shares_by_table(X, support, coefficients, length)
            else:
                shares += weight * self._shares_by_diagonals(X, support, coefficients, length)
        return shares

    def _word_weights(self, X, support, coefficients):
        words, weights = [], []
        for length, weight in zip(self._lengths(), self._weights(), strict=True):
            found = distinct_words(X, support, length, self.reverse_complement)
            if X.alphabet.size**length <= LARGEST_TABLE:
                places = X.alphabet.size ** np.arange(length - 1, -1, -1)
                sums = self._table(support, coefficients, length, weight)[found @ places]
            else:
                others = OtherWindows(self, support, coefficients, length, length)
                values = np.array(self._pair_weights(X.alphabet.size, length)[::-1], dtype=np.float64)
                sums = np.empty(len(found))
                loops.word_sums(others.marks, others.windows, found, least_matches(values), values, sums)
                sums *= weight
            words += [row.tobytes().decode() for row in letters_of(X.alphabet)[found]]
            weights.append(sums)
        return words, np.concatenate(weights)

    def _table(self, support, coefficients, length, weight):
        """Return W times `weight`, float64 (size^length,)."""
        size = support.alphabet.size
        table = self._tally(support, coefficients, length)
        reflect(table, size, length)
        factors = weight * eigenvalues(size, length, self._pair_weights(size, length))
        loops.scale(table, size, 1, factors, factors, table)
        reflect(table, size, length)
        return table

    def _tally(self, support, coefficients, length):
        """Return T, float64 (size^length,)."""
        strands = 2 if self.reverse_complement else 1
        found = find_kmers(support, length, strands="both" if strands == 2 else "one")
        worth = np.asarray(coefficients, dtype=np.float64)[owners(found.start)]
        worth *= np.repeat(own_weights(self, support, length, len(worth) // strands), strands)
        return np.bincount(found.codes[0], weights=worth, minlength=found.space)

    def _shares_by_table(self, X, support, coefficients, length):
        """Return each letter's share by one table for each position of a window."""
        size = X.alphabet.size
        tally = self._tally(support, coefficients, length)
        reflect(tally, size, length)
        same, other = letter_factors(size, length, self._pair_weights(size, length))
        codes, starts = find_kmers(X, length).codes[0], find_windows(X, length)
        own = own_weights(self, X, length, len(codes))
        shares, table = np.zeros(int(X.lengths.sum())), np.empty_like(tally)
        for position in range(length):
            loops.scale(tally, size, size ** (length - 1 - position), same, other, table)
            reflect(table, size, length)
            shares += np.bincount(starts + position, weights=table[codes] * own, minlength=len(shares))
        return shares

    def _shares_by_diagonals(self, X, support, coefficients, length):
        """Return each letter's share by comparing every window with every other."""
        if length > LARGEST_WINDOW:
            raise ParameterError(
                f"windows of {length} letters cannot be taken apart", remedy=f"choose up to {LARGEST_WINDOW} letters"
            )
        others = OtherWindows(self, support, coefficients, length, int(X.lengths.max(initial=length)))
        values = np.array(self._pair_weights(X.alphabet.size, length)[::-1], dtype=np.float64)
        shares = values / np.maximum(1, np.arange(length + 1))
        shares[0] = 0
        own, starts = np.zeros(int(X.lengths.sum())), find_windows(X, length)
        own[starts] = own_weights(self, X, length, len(starts))
        letters, whole = np.zeros(len(own)), np.zeros(len(own))
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
                    letters[record],
                    whole[record],
                )
        for position in range(length if values[0] else 0):
            letters[position:] += whole[: len(whole) - position] / length
        return letters


class OtherWindows:
    """The windows of support sequences, one after the other, on both strands if the kernel sees both.

    Attributes
    ----------
    marks : ndarray of uint8, shape (letters + 1, width)
        1 where a letter is; the last row is empty.
    windows : ndarray of float64, shape (width,)
        What the window that starts there weighs: its weight times the coefficient of its sequence.
    pad : int
        So many places at the beginning are empty, and at the end LANE_COUNT more.
    """

    def __init__(self, kernel, support, coefficients, length, pad):
        alphabet = support.alphabet
        letters, starts = support.codes[support.positions()], find_windows(support, length)
        total, self.pad = len(letters), pad
        strands = 2 if kernel.reverse_complement else 1
        record = np.repeat(np.arange(len(support)), support.lengths)[starts]
        worth = np.asarray(coefficients, dtype=np.float64)[record]
        worth *= own_weights(kernel, support, length, len(starts))
        self.windows = np.zeros(2 * pad + strands * total + loops.LANE_COUNT)
        self.marks = np.zeros((alphabet.size + 1, len(self.windows)), dtype=np.uint8)
        self.windows[pad + starts] = worth
        if strands == 2:
            letters = np.concatenate((letters, alphabet.complement_codes[letters[::-1]]))
            self.windows[pad + 2 * total - length - starts] = worth
        for code in range(alphabet.size):
            self.marks[code, pad : pad + len(letters)] = letters == code


def eigenvalues(size, length, values):
    """Return float64 (length + 1,): the eigenvalues of the matrix values[h(a, b)] over all words of `length` letters.

    Number i belongs to functions that depend on i of the positions, and on nothing at the others.
    """
    return np.array(
        [
            sum(value * krawtchouk(h, i, length, size - 1) for h, value in enumerate(values) if value)
            for i in range(length + 1)
        ],
        dtype=np.float64,
    )


def letter_factors(size, length, values):
    """Return the eigenvalues for what the letter at one position of a word receives.

    Of a pair at distance h < length that is values[h] / (length − h) if the letter matches: the identity at this
    position, a matrix of Hamming distances at the others. At distance `length` it is values[length] / length.

    Returns
    -------
    same, other : ndarray of float64, shape (length + 1,)
        For functions of i positions, without this one and with it.
    """
    inner = eigenvalues(size, length - 1, [value / (length - h) for h, value in enumerate(values[:length])])
    apart = eigenvalues(size, length, [0] * length + [values[length] / length])
    return np.append(inner, 0) + apart, np.append(0, inner) + apart


def reflect(table, size, length):
    """Reflect a table over all words of `length` letters, in place; see `_hamming_additive.reflect`."""
    low = 1
    while low < length and size ** (low + 1) <= LARGEST_BLOCK:
        low += 1
    high = length - low
    loops.reflect(table, size, high, low, np.empty(size**high * loops.LANE_COUNT))


def own_weights(kernel, X, length, windows):
    """Return the weights of the windows of `X`, float64 (windows,)."""
    weights = kernel._window_weights(X, length)
    return np.ones(windows) if weights is None else np.asarray(weights, dtype=np.float64)


def owners(start):
    """Return int64: the record of each item, from where each record's items start."""
    return np.repeat(np.arange(len(start) - 1), np.diff(start))


def least_matches(values):
    """Return how many matches a pair needs to count at all, from its value by matches."""
    return int(np.flatnonzero(values)[0]) if np.any(values) else len(values)


def distinct_words(X, support, length, both_strands):
    """Return the codes of the distinct words of two sets, uint8 (words, length); of both strands, the smaller."""
    parts = []
    for part in (X, support):
        letters, starts = part.codes[part.positions()], find_windows(part, length)
        words = letters[starts[:, None] + np.arange(length)]
        if both_strands:
            reverse = part.alphabet.complement_codes[words[:, ::-1]]
            unlike = words != reverse
            first = unlike.argmax(axis=1)[:, None]
            smaller = np.take_along_axis(words, first, 1) <= np.take_along_axis(reverse, first, 1)
            words = np.where(smaller, words, reverse)
        parts.append(words)
    return np.unique(np.concatenate(parts), axis=0)


def letters_of(alphabet):
    """Return uint8 (size,): the ASCII code of each letter."""
    return np.frombuffer(alphabet.letters.encode(), dtype=np.uint8)
