"""Weights of k-mers, and their files: a k-mer and a number in each line, as ``gkmpredict`` gives and deltaSVM reads.

The files of deltaSVM have the scores of all k-mers of DNA, of each pair of reverse complements only one; it counts for
both strands.
"""

from __future__ import annotations

import gzip
import re
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from seqkern.core.archive import atomic_write
from seqkern.core.errors import ModelError, ParameterError, SeqkernError
from seqkern.core.text_files import open_lines, open_text
from seqkern.core.types import PathLike
from seqkern.core.values import read_number
from seqkern.kernels.kmer.strands import first_of_pairs, reverse_complements
from seqkern.sequences.alphabets import DNA, Alphabet

LONGEST = 12
LINE = re.compile(rf"[ACGT]{{1,{LONGEST}}}[ \t]+[-+]?[0-9.][0-9.eE+-]*\s*", re.IGNORECASE)
REMEDY = "score all k-mers with gkmpredict again"


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


def is_kmer_weights(path: PathLike) -> bool:
    """Return whether a file, plain or compressed, starts with a k-mer of DNA and a number.

    Parameters
    ----------
    path : path-like
        The file; it need not exist.

    Returns
    -------
    bool
    """
    try:
        with open_lines(path) as (lines, _):
            return LINE.fullmatch(next(lines)) is not None
    except (SeqkernError, OSError, ValueError):
        return False


def read_kmer_weights(path: PathLike) -> KmerTables:
    r"""Read weights of k-mers, plain or compressed.

    Parameters
    ----------
    path : path-like
        Each line has a k-mer of DNA and its weight. Of each k-mer and its reverse complement, one suffices.

    Returns
    -------
    KmerTables
        With the constant 0, not normalised. Of both strands, unless some k-mer and its reverse complement differ.

    Raises
    ------
    ModelError
        If a line is something else, or k-mers are missing, or given twice.
    FileError
        If the file cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "weights.txt"
    ...     _ = path.write_text("A\t1.5\nC\t-0.5\n")
    ...     read_kmer_weights(path).tables
    {1: array([ 1.5, -0.5, -0.5,  1.5])}
    """
    with open_text(path) as (text, name):
        words = text.read().split()
    kmers, numbers = words[::2], words[1::2]
    length = len(kmers[0]) if kmers else 0
    if not 1 <= length <= LONGEST or len(kmers) != len(numbers):
        raise ModelError(
            f"is not a table of weights of k-mers of DNA, of up to {LONGEST} bases", file=name, remedy=REMEDY
        )
    codes = _codes(kmers, length, name)
    values = _numbers(kmers, numbers, name)
    table, seen = np.zeros(4**length), np.bincount(codes, minlength=4**length)
    if seen.max() > 1:
        raise ModelError(f"has {_spell(int(seen.argmax()), length)} more than once", file=name, remedy=REMEDY)
    table[codes] = values
    other = reverse_complements(DNA, length)
    both = (seen[other] > 0) & (seen == 0)
    table[both] = table[other[both]]
    missing = np.flatnonzero((seen == 0) & ~both)
    if len(missing):
        raise ModelError(
            f"has no weight of {_spell(int(missing[0]), length)}: {len(missing)} of {len(table)} k-mers of "
            f"{length} bases are missing",
            file=name,
            remedy=REMEDY,
        )
    return KmerTables(DNA, {length: table}, 0.0, False, bool(np.array_equal(table, table[other])))


def write_kmer_weights(tables: KmerTables, path: PathLike) -> None:
    r"""Write weights of k-mers; compressed if the name ends in ``.gz``.

    Parameters
    ----------
    tables : KmerTables
        Of DNA, and of one length. The file keeps neither the constant nor the norm of sequences, so differences between
        sequences of one length follow from it as from `tables` if these are not normalised, else up to these norms.
    path : path-like
        The file. If both strands count, it has the first of each k-mer and its reverse complement.

    Raises
    ------
    ParameterError
        If the k-mers are of another alphabet, or of several lengths.
    FileError
        If the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> tables = KmerTables(DNA, {1: np.array([1.5, -0.5, -0.5, 1.5])}, 0.0, False, True)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_kmer_weights(tables, f"{folder}/weights.txt")
    ...     Path(f"{folder}/weights.txt").read_text()
    'A\t1.5\nC\t-0.5\n'
    """
    if tables.alphabet.letters != DNA.letters or len(tables.tables) != 1:
        raise ParameterError(
            "a file of weights has k-mers of DNA of one length", remedy="give a model of a kernel such as gapped_kmer"
        )
    ((length, weights),) = tables.tables.items()
    codes = first_of_pairs(DNA, length) if tables.both_strands else np.arange(len(weights))
    pairs = zip(codes.tolist(), weights[codes].tolist(), strict=True)
    lines = [f"{_spell(code, length)}\t{value!r}\n" for code, value in pairs]
    content = "".join(lines).encode("ascii")
    with atomic_write(path) as file:
        file.write(gzip.compress(content, mtime=0) if str(path).endswith(".gz") else content)


def _codes(kmers: list[str], length: int, name: str) -> npt.NDArray[np.int64]:
    """Return the code of each k-mer; ModelError if one has another length, or other letters."""
    for number, kmer in enumerate(kmers, start=1):
        if len(kmer) != length or not kmer.isascii():
            raise ModelError(
                f"line {number} has {kmer[:40]!r}, not a k-mer of {length} bases as the first line",
                file=name,
                remedy=REMEDY,
            )
    letters = np.frombuffer("".join(kmers).upper().encode("ascii"), dtype=np.uint8).reshape(-1, length)
    values = np.full(256, -1, dtype=np.int64)
    values[np.frombuffer(DNA.letters.encode(), dtype=np.uint8)] = np.arange(DNA.size)
    codes = np.zeros(len(kmers), dtype=np.int64)
    for place in range(length):
        found = values[letters[:, place]]
        if found.min() < 0:
            odd = int(found.argmin())
            raise ModelError(f"line {odd + 1}: {kmers[odd]!r} is not DNA", file=name, remedy=REMEDY)
        codes = DNA.size * codes + found
    return codes


def _numbers(kmers: list[str], words: list[str], name: str) -> npt.NDArray[np.float64]:
    """Return the weights; ModelError if one is not a finite number."""
    values = np.array([read_number(word) for word in words])
    odd = np.flatnonzero(np.isnan(values))
    if len(odd):
        where = f"line {odd[0] + 1}: the weight of {kmers[odd[0]]}"
        raise ModelError(f"{where} is {words[odd[0]][:40]!r}, not a number", file=name, remedy=REMEDY)
    return values


def _spell(code: int, length: int) -> str:
    """Return the k-mer of a code."""
    return "".join(DNA.letters[code // DNA.size**place % DNA.size] for place in range(length - 1, -1, -1))
