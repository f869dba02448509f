"""Effects of variants by weights of k-mers: the sums over the k-mers that cover a variant, as in deltaSVM.

References
----------
Lee et al. 2015, Nat. Genet. 47:955-961.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import ModelError
from seqkern.core.threads import available_threads, in_threads
from seqkern.core.types import Arrays
from seqkern.models.variants import _variants as loops
from seqkern.sequences.alphabets import Alphabet
from seqkern.sequences.sequence_set import SequenceSet

if TYPE_CHECKING:
    from seqkern.models.variants.scorer import Alleles

LARGEST = 1e290
"""Absolute weight of a k-mer, at most: no sum over a sequence's k-mers is beyond the largest number."""
LEAST = 1024
"""Variants for which a thread is worth while."""


class TableScorer:
    """Sums of weights of k-mers.

    Parameters
    ----------
    tables : mapping of int to ndarray of float64, shape (letters^k,)
        For each length k the weights, as in `seqkern.models.kmer_table.KmerTables`.
    alphabet : Alphabet
        Of the k-mers.

    Attributes
    ----------
    flank : int
        k − 1 of the longest k-mers.

    Raises
    ------
    ModelError
        If sums of the weights might not be finite numbers.

    Examples
    --------
    The weight of a k-mer is its number of G:

    >>> from seqkern.sequences.alphabets import DNA
    >>> weights = np.array([[a == 2, b == 2] for a in range(4) for b in range(4)]).sum(axis=1).astype(float)
    >>> scorer = TableScorer({2: weights}, DNA)
    >>> scorer.sums(SequenceSet.from_strings(["GAG", "GGG"], "dna"))
    array([2., 4.])
    """

    columns: Mapping[str, str] = {
        "reference": "Sum of the weights of the k-mers that cover the reference allele",
        "alternative": "Sum of the weights of the k-mers that cover the alternative allele",
        "delta": "alternative - reference (deltaSVM)",
        "ref_kmer": "Reference k-mer whose change alters the sum most",
        "alt_kmer": "The same k-mer with the alternative allele",
    }

    def __init__(self, tables: Mapping[int, npt.NDArray[np.float64]], alphabet: Alphabet) -> None:
        self.tables = {length: np.ascontiguousarray(table, dtype=np.float64) for length, table in tables.items()}
        if not all(max(table.max(), -table.min()) <= LARGEST for table in self.tables.values()):  # NaN is not
            raise ModelError(
                "the weights of k-mers are too large: their sums would not be finite numbers",
                remedy="train the model again",
            )
        self.alphabet = alphabet
        self.flank = max(self.tables) - 1

    def score(self, alleles: Alleles, n_threads: int | None = None) -> Arrays:
        """Return sums and k-mers of alleles; see `Scorer.score`.

        Parameters
        ----------
        alleles : Alleles, n
            With the bases around them.
        n_threads : int, optional
            Default: the number of cores.

        Returns
        -------
        dict of str to ndarray, shape (n,)
        """
        codes = self.alphabet.encode(alleles.text.tobytes())
        n, width = len(alleles.places), max(self.tables)
        out: dict[str, Any] = {"reference": np.full(n, np.nan), "alternative": np.full(n, np.nan)}
        kmers = np.zeros((2, n), dtype=f"S{width}")
        single = np.flatnonzero(alleles.snv)
        refs, alts, length, first = self._singles(codes, alleles, single, n_threads)
        good = first >= 0
        out["reference"][single[good]], out["alternative"][single[good]] = refs[good], alts[good]
        for k in self.tables:
            chosen = np.flatnonzero(good & (length == k))
            rows, where = single[chosen], first[chosen]
            found = alleles.text[where[:, None] + np.arange(k)]
            kmers[0, rows] = _joined(found)
            found[np.arange(len(rows)), alleles.places[rows] - where] = _bytes(alleles.alts, rows)
            kmers[1, rows] = _joined(found)
        others = np.flatnonzero(~alleles.snv)
        for name, column in (("reference", alleles.refs), ("alternative", alleles.alts)):
            out[name][others] = self._others(alleles, others, column)
        return {**out, "delta": out["alternative"] - out["reference"], "ref_kmer": kmers[0], "alt_kmer": kmers[1]}

    def sums(self, X: SequenceSet, n_threads: int | None = None) -> npt.NDArray[np.float64]:
        """Return the sum of the weights of all k-mers of each sequence, float64 (n,).

        Parameters
        ----------
        X : SequenceSet, n sequences
            Of the model's alphabet.
        n_threads : int, optional
            Not used.

        Returns
        -------
        ndarray of float64, shape (n,)
        """
        out = np.zeros(len(X))
        for length, table in self.tables.items():
            loops.window_sums(X.codes, X.starts, X.stops, table, length, self.alphabet.size, out)
        return out

    def _singles(
        self, codes: npt.NDArray[np.uint8], alleles: Alleles, rows: npt.NDArray[np.int64], n_threads: int | None
    ) -> tuple[npt.NDArray[Any], ...]:
        """Return sums of single-base variants, and length and place of the k-mer that changes most (-1: none)."""
        n, places, size = len(rows), alleles.places[rows], self.alphabet.size
        alts = self.alphabet.encode(_bytes(alleles.alts, rows).tobytes())
        sums, most = np.zeros((2, n)), np.zeros(n)
        best_length, first = np.zeros(n, dtype=np.int64), np.full(n, -1, dtype=np.int64)
        cuts = np.linspace(0, n, max(1, min(available_threads(n_threads), n // LEAST)) + 1).astype(int).tolist()
        for length, table in self.tables.items():
            change, offset = np.zeros(n), np.zeros(n, dtype=np.int32)

            def part(a: int, b: int, table: Any = table, length: int = length, found: Any = (change, offset)) -> None:
                outputs = sums[0, a:b], sums[1, a:b], found[0][a:b], found[1][a:b]
                loops.snv_sums(codes, places[a:b], alts[a:b], table, length, size, *outputs)

            in_threads([lambda a=a, b=b: part(a, b) for a, b in itertools.pairwise(cuts)], n_threads)
            better = (offset >= 0) & ((first < 0) | (np.abs(change) > np.abs(most)))
            most[better], best_length[better] = change[better], length
            first[better] = places[better] - offset[better]
        return sums[0], sums[1], best_length, first

    def _others(self, alleles: Alleles, rows: npt.NDArray[np.int64], column: list[bytes]) -> npt.NDArray[np.float64]:
        """Return the sums over the k-mers that cover alleles of any length; NaN where there is none."""
        out, bare = np.zeros(len(rows)), np.ones(len(rows), dtype=bool)
        for length, table in self.tables.items():
            windows = covering(alleles, rows, column, length)
            whole = re.compile(b"[ACGT]{%d}" % length, re.IGNORECASE)
            bare &= np.array([whole.search(window) is None for window in windows], dtype=bool)
            codes, starts, stops = joined_codes(windows, self.alphabet)
            loops.window_sums(codes, starts, stops, table, length, self.alphabet.size, out)
        out[bare] = np.nan
        return out


def covering(alleles: Alleles, rows: npt.NDArray[np.int64], column: list[bytes], length: int) -> list[bytes]:
    """Return alleles with the bases around them that k-mers over an allele reach.

    Parameters
    ----------
    alleles : Alleles
        With the bases around them.
    rows : ndarray of int64
        Which of them.
    column : list of bytes
        Reference or alternative alleles.
    length : int
        k.

    Returns
    -------
    list of bytes
    """
    return [
        alleles.text[max(0, place - length + 1) : place].tobytes()
        + column[row]
        + alleles.text[place + len(alleles.refs[row]) :][: length - 1].tobytes()
        for row, place in zip(rows.tolist(), alleles.places[rows].tolist(), strict=True)
    ]


def joined_codes(
    windows: list[bytes], alphabet: Alphabet
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the codes of some texts, one after the other, and where each begins and ends.

    Parameters
    ----------
    windows : list of bytes
        The texts.
    alphabet : Alphabet
        Of the codes.

    Returns
    -------
    codes, starts, stops : ndarray of uint8, int64, int64
    """
    stops = np.cumsum([len(window) for window in windows], dtype=np.int64)
    starts = np.concatenate((np.zeros(1, dtype=np.int64), stops[:-1])) if len(stops) else stops
    return alphabet.encode(b"".join(windows)), starts, stops


def _bytes(texts: list[bytes], rows: npt.NDArray[np.int64]) -> npt.NDArray[np.uint8]:
    """Return single bases as one array."""
    return np.frombuffer(b"".join([texts[row] for row in rows.tolist()]), dtype=np.uint8)


def _joined(rows: npt.NDArray[np.uint8]) -> npt.NDArray[np.bytes_]:
    """Return each row of letters as one text."""
    return np.ascontiguousarray(rows).view(f"S{rows.shape[1]}").ravel()
