"""The string kernel: shared subsequences, weighted by their span (Lodhi et al. 2002).

`seqkern.kernels.subsequence.chains` computes the values, in vector lanes, in time proportional to n·|x|·|y|.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal

import numpy as np

from seqkern.core.errors import NoKmersError, ParameterError, SequenceError
from seqkern.core.parameters import choice, flag, integer, real, text
from seqkern.core.threads import GIVEN_THREADS
from seqkern.core.types import Floats
from seqkern.kernels._blocks import Records
from seqkern.kernels.blocks import symmetric_matrix
from seqkern.kernels.capabilities import Traits
from seqkern.kernels.common_parameters import short_rule, zero_rule
from seqkern.kernels.decisions import spread_evenly
from seqkern.kernels.gradients import KernelGradient, Square
from seqkern.kernels.kernel import SequenceKernel
from seqkern.kernels.kmer.kmers import check_lengths
from seqkern.kernels.planner import Cost, Workload
from seqkern.kernels.prepared import Plan
from seqkern.kernels.products import _product
from seqkern.kernels.subsequence import _subsequence
from seqkern.kernels.subsequence.chains import EXACTLY, UP_TO, Chains, Subsequences, product
from seqkern.kernels.substitution_scores import matrix_names, matrix_probabilities
from seqkern.sequences.alphabets import DNA, MASK, PROTEIN, Alphabet, as_alphabet
from seqkern.sequences.sequence_set import SequenceSet

# Contributions of single residues to the decisions of the string kernel.


def length_nodes(longest: int) -> tuple[Floats, Floats]:
    """Return nodes z and factors f such that Σ_k f_k·z_k^p is 1 / p for every p from 1 to `longest`.

    This is ∫ z^(p − 1) dz from 0 to 1 by Gauss-Legendre quadrature. N nodes are exact for p ≤ 2N; but z^p is so close
    to a polynomial of degree d (within 2·exp(−d²/p)) that degree √(48·p) suffices for a double.
    """
    enough = math.isqrt(48 * longest) // 2 + 1
    nodes, factors = np.polynomial.legendre.leggauss(min(longest // 2 + 1, enough))
    return (nodes + 1) / 2, factors / (nodes + 1)


def residue_shares(chains: Chains, X: SequenceSet, support: SequenceSet, coefficients: Floats) -> Floats:
    """Return the contribution of each residue of `X` to Σ_j coefficients[j]·K(x, z_j), record after record.

    The weight of each chain is shared equally by its residues; chains of different lengths are summed with
    `length_nodes`.
    """
    size = len(chains.weights)
    recursion = chains.recursion(max(int(Z.lengths.max(initial=0)) for Z in (X, support)))

    def records(Z: SequenceSet) -> Records:
        codes = np.where(Z.codes == MASK, np.uint8(size), Z.codes)
        return Records(codes, Z.starts, Z.stops, np.arange(len(Z)))

    mine, theirs = records(X), records(support)
    shares = np.zeros(int(X.lengths.sum()))
    if chains.mode == EXACTLY:
        nodes, factors = np.ones(1), np.ones(1) / (chains.levels + 1)
    else:
        longest = min(int(Z.lengths.max(initial=0)) for Z in (X, support))
        longest = min(longest, chains.levels + 1) if chains.mode == UP_TO else longest
        nodes, factors = length_nodes(longest)
    _subsequence.share(recursion, mine, theirs, np.ascontiguousarray(coefficients), nodes, factors, shares)
    if not np.isfinite(shares).all():
        record = int(np.searchsorted(np.cumsum(X.lengths), np.flatnonzero(~np.isfinite(shares))[0], side="right"))
        raise SequenceError(
            "the contributions of its residues overflow",
            record=X.ids[record],
            remedy="choose a smaller n or decay, or cut the sequence into parts",
        )
    return shares


# Weights of matches between letters, from a substitution matrix (0 to 1) or as given.

Matching = str | Sequence[Sequence[float]]
"""A substitution matrix by name, or the weight of each pair of letters."""


def letter_weights(matching: Matching | None, alphabet: Alphabet) -> Floats:
    """Return the weight of each pair of letters of an alphabet, symmetric, shape (letters, letters).

    For a substitution matrix, w(a, b) = q(a, b) / √(q(a, a)·q(b, b)) with q(a, b) = exp(λ·s(a, b)), the odds
    ratio of a score s; for None, the unit matrix.
    """
    if matching is None:
        return np.eye(alphabet.size)
    if isinstance(matching, str):
        if matching not in matrix_names():
            raise ParameterError(
                f"matching={matching!r} is not a substitution matrix of Biopython",
                remedy=f"choose one of {', '.join(matrix_names())}, or give the weights",
            )
        # P(a | b)·P(b | a) is p(a)·p(b)·q(a, b)², with the background p, which cancels.
        odds = matrix_probabilities(alphabet, matching)
        own = odds.diagonal()
        weights = np.sqrt(odds * odds.T / np.outer(own, own))
        np.fill_diagonal(weights, 1.0)
        return weights
    return _as_weights(matching, alphabet)


def definite(matching: Matching, alphabet: str | Alphabet | None = None) -> bool:
    """Return whether the letter weights are positive semi-definite, up to rounding."""
    if not isinstance(matching, str):
        weights = np.array(matching, dtype=np.float64)
    elif alphabet is not None:
        weights = letter_weights(matching, as_alphabet(alphabet))
    else:
        try:
            weights = letter_weights(matching, PROTEIN)
        except ParameterError:
            weights = letter_weights(matching, DNA)
    values = np.linalg.eigvalsh(weights)
    return bool(values[0] >= -1e-12 * values[-1])


def _as_weights(rows: Sequence[Sequence[float]], alphabet: Alphabet) -> Floats:
    """Return custom weights, float64 (size, size), checked."""
    size = alphabet.size
    try:
        weights = np.array(rows, dtype=np.float64)
    except (TypeError, ValueError):
        weights = np.empty(0)
    if weights.shape != (size, size):
        raise ParameterError(
            f"matching does not have {size} rows of {size} weights",
            remedy=f"give one number for each pair of the letters {alphabet.letters}",
        )
    good = np.isfinite(weights).all() and (weights == weights.T).all()
    if not good or (weights < 0).any() or (weights > 1e6).any() or ((weights > 0) & (weights < 1e-6)).any():
        raise ParameterError(
            "the weights of matching are not possible",
            remedy="give a symmetric table of numbers that are 0 or from 1e-6 to 1e6",
        )
    return weights


SMALLEST_DECAY = 1e-6
LEAST_BLOCK_ROWS = 128  # fewer rows leave too many vector lanes idle
ONE_THREAD_BLOCK_ROWS = 1024  # smaller blocks do not help a single thread

# CPU nanoseconds for a cell, and for each level of it, for each level of instructions; single precision.
CELL_NS = (0.06, 0.03, 0.04)
LEVEL_NS = (0.09, 0.045, 0.023)
UP_TO_COST = 1.5  # factor of each if shorter subsequences count too


class StringKernel(SequenceKernel):
    r"""String kernel: shared subsequences, weighted by their span.

    It suits sequences with gaps of any length between conserved residues. The residues of an occurrence need not be
    adjacent; its span is last − first + 1. Subsequences have n residues, 1 to n (`up_to`), or any number (n = None).
    With decay = 1 occurrences are counted: the kernels of fixed-length and of all subsequences. A masked residue
    matches nothing, but counts in the span.

    Notes
    -----
    With φ_u(x) the sum of λ^span over the occurrences of u in x as a subsequence, λ the parameter `decay`,

    .. math:: K(x, y) = \sum_u φ_u(x) φ_u(y),  φ_u(x) = \sum_{u = x[i]} λ^{i_n − i_1 + 1}

    Complexity: O(n·|x|·|y|) per pair, many pairs at once.

    Definiteness: positive semi-definite if the weights of `matching` are; always without soft matching.

    References
    ----------
    Lodhi, Saunders, Shawe-Taylor, Cristianini, Watkins: Text classification using string kernels. Journal of Machine
    Learning Research 2, 2002.

    Saunders, Tschach, Shawe-Taylor: Syllables and other string kernel extensions. ICML 2002 (soft matching).

    Examples
    --------
    ``GA`` and ``GGA`` share the subsequence GA, once over 2 residues, and twice, over 2 and over 3:

    >>> from seqkern.kernels import StringKernel
    >>> StringKernel(2, 0.5, normalize=False)(["GA", "GGA"])
    array([[0.0625  , 0.09375 ],
           [0.09375 , 0.203125]])

    With soft matching, isoleucine for leucine costs less than tryptophan:

    >>> StringKernel(2, alphabet="protein")(["KLKV"], ["KIKV", "KWKV"]).round(2)
    array([[0.45, 0.45]])
    >>> StringKernel(2, matching="BLOSUM62", alphabet="protein")(["KLKV"], ["KIKV", "KWKV"]).round(2)
    array([[0.82, 0.56]])
    """

    name = "string"
    traits = Traits(definite=None)
    summary = "Counts the subsequences that two sequences share; gaps reduce their weight."

    n: int | None = integer(
        default=4, low=1, optional=True, kw_only=False, doc="Residues of a subsequence; none: any number."
    )
    decay: float = real(
        default=0.5, low=SMALLEST_DECAY, high=1, kw_only=False, doc="λ, the factor for each residue of the span."
    )
    up_to: bool = flag(default=False, doc="Count subsequences of 1 to n residues, all lengths with the same weight.")
    empty: bool = flag(
        default=False, doc="Count the empty subsequence, once in every sequence. Needs `up_to` or n = none."
    )
    matching: str | list[list[float]] | None = text(
        default=None,
        rows=True,
        doc="Soft matching: any two residues a and b match with a weight w(a, b), and the weights of "
        "an occurrence are multiplied. Give symmetric, non-negative weights in the order of the "
        'alphabet, or a substitution matrix of Biopython such as ``"BLOSUM62"``: w(a, b) = q(a, '
        "b) / √(q(a, a)·q(b, b)), with q the odds ratios of its scores, so that w(a, a) = 1. K is "
        "positive semi-definite if w is; BLOSUM62 is.",
    )
    precision: Literal["double", "single"] = choice(
        default="double",
        doc="Precision of the sums. In single precision the relative error of K(x, y) is below "
        "2^−23·(|x| + |y| + 2n + 4), and values below 1e-30 of √(K(x, x)·K(y, y)) may be lost: subnormal "
        "numbers are taken as zero, where the processor can. "
        "Sequences whose sums might exceed single precision, and everything if decay < 1/32, are "
        "computed in double precision.",
    )
    short: Literal["error", "zero"] = short_rule("the subsequences", "none")
    zero_diagonal: Literal["error", "zero"] = zero_rule("a sequence without any subsequence that counts")

    tested_with = (
        {"n": 3},
        {"n": 2, "decay": 0.8, "normalize": False},
        {"n": 3, "decay": 0.7, "up_to": True},
        {"n": None, "decay": 1},
        {"n": 11, "decay": 0.9},
        {"n": 3, "decay": 0.5, "precision": "single"},
        {"n": 3, "matching": "BLOSUM62", "alphabet": "protein"},
        {"n": 2, "decay": 0.9, "matching": [[1, 0.5, 0], [0.5, 1, 0.2], [0, 0.2, 1]], "alphabet": "HEC"},
    )

    @property
    def _least_block_rows(self) -> int:  # type: ignore[override]  # an attribute of the class in other kernels
        """Minimum number of rows in a block: fewer would leave too many vector lanes idle."""
        return ONE_THREAD_BLOCK_ROWS if (GIVEN_THREADS.get() or self.n_threads) == 1 else LEAST_BLOCK_ROWS

    def _traits(self, declared: Traits) -> Traits:
        return replace(declared, definite=self._is_definite)

    def _is_definite(self) -> bool:
        """Whether every Gram matrix is, because the matrix of match weights is."""
        return self.matching is None or definite(self.matching, self.alphabet)

    def _check_parameters(self) -> None:
        if self.empty and not (self.up_to or self.n is None):
            raise ParameterError(
                f"the empty subsequence does not have n={self.n} residues",
                remedy="give up_to=true, n=none or empty=false",
            )

    def _min_length(self) -> int:
        """Return the length of the shortest subsequence that counts."""
        if self.empty:
            return 0
        return 1 if self.up_to or self.n is None else self.n

    def _chains(self, alphabet: Alphabet) -> Chains:
        """Return the Chains for an alphabet."""
        return Chains.of(self.n, self.up_to, float(self.decay), letter_weights(self.matching, alphabet))

    def _prepare(self, X: SequenceSet, like: Subsequences | None) -> Subsequences:
        if self.short == "error":
            check_lengths(X, self._min_length(), "n")
        return Subsequences(self, X, like)

    def _block(self, rows: Subsequences, cols: Subsequences, out: Floats) -> None:
        product(rows, cols, out)

    def _own_tunable(self) -> dict[str, float]:
        return {"decay": float(self.decay)}

    def _derivative(self, name: str, at: KernelGradient) -> Square:
        X, chains = at.X, self._chains(at.X.alphabet)
        rule = chains.mode, chains.levels, np.ascontiguousarray(chains.weights), chains.decay
        fill = partial(_subsequence.fill_slopes, X.codes, X.starts, X.stops, *rule)
        return symmetric_matrix(len(X), fill, self.n_threads)

    def _plan(self, X: Any, Y: Any) -> Plan:
        chains, work = self._chains(X.alphabet), Workload.of(X, Y)
        level, double = _product.level(), self.precision == "double"
        cells = work.row_letters * work.col_letters / (2 if work.symmetric else 1)
        each = (CELL_NS[level] + LEVEL_NS[level] * chains.levels) * (2 if double else 1)
        each *= UP_TO_COST if self.up_to else 1
        longest = max(int(X.lengths.max(initial=0)), work.longest)
        own = Cost(each * cells * 1e-9, chains.working_bytes(longest))
        total = own + work.output(self.n_threads)
        return Plan("lanes", total.seconds, total.bytes, f"{cells:.3g} pairs of residues, {each:.2g} ns each")

    def _attribute(self, X: SequenceSet, support: SequenceSet, coefficients: Floats) -> Floats:
        coefficients = np.asarray(coefficients, dtype=np.float64)
        shares = residue_shares(self._chains(X.alphabet), X, support, coefficients)
        if self.empty:
            shares = shares + spread_evenly(X, np.full(len(X), coefficients.sum()))
        return shares

    def _kmer_weights(self, X: SequenceSet, support: SequenceSet, coefficients: Floats) -> tuple[list[str], Floats]:
        """Return the n-mers (with `up_to`, of 1 to n residues), and Σ_j coefficients[j]·φ_u(z_j) for each n-mer u.

        With soft matching φ_u(z) is Σ decay^span·Π w over all subsequences of n residues.
        """
        if self.n is None:
            raise NoKmersError("subsequences of any length have no k-mers", remedy="choose an n")
        kmers, weights = [], []
        for length in range(1 if self.up_to else self.n, self.n + 1):
            found = sorted({kmer for Z in (X, support) for kmer in _kmers(Z, length)})
            kernel = StringKernel(
                length, self.decay, matching=self.matching, normalize=False, short="zero", n_threads=self.n_threads
            )
            # K(u, z) is decay^n·φ_u(z), because u has a single subsequence of n residues.
            values = kernel(SequenceSet.from_strings(found, X.alphabet), support) @ coefficients
            kmers += found
            weights.append(values / float(self.decay) ** length)
        return kmers, np.concatenate(weights)


def _kmers(X: SequenceSet, n: int) -> Iterator[str]:
    """Yield the windows of n unmasked residues of every record, as strings."""
    for string in X.strings():
        for i in range(len(string) - n + 1):
            if "*" not in string[i : i + n]:
                yield string[i : i + n]
