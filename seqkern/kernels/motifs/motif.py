"""The motif kernel: occurrences of given motifs (Ben-Hur and Brutlag 2003)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import ParameterError
from seqkern.core.parameters import changed, choice, flag, real, text
from seqkern.core.types import Arrays, Header
from seqkern.kernels.implicit import SparseImplicit
from seqkern.kernels.kmer.kmer_kernel import KEPT_BYTES, WEIGHT_BYTES
from seqkern.kernels.kmer.kmers import Counted
from seqkern.kernels.motifs.features import make_block, occurring, product_costs
from seqkern.kernels.motifs.scanner import MatrixScanner, PatternScanner, Scanner
from seqkern.kernels.motifs.sets import MotifSet
from seqkern.kernels.occurrences import KernelPattern, KmerWeights
from seqkern.kernels.planner import Cost, Workload, cheapest, letter_shares, make_plan
from seqkern.kernels.prepared import Plan
from seqkern.kernels.products import _product
from seqkern.kernels.products.product import FeatureKernel, Term, TermBlocks
from seqkern.sequences.alphabets import Alphabet
from seqkern.sequences.sequence_set import SequenceSet

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

P_VALUE = 1e-4
WORD_NS = (0.55, 0.26, 0.26)  # a word of 64 places of patterns, for each letter; for each level of instructions
COLUMN_NS = (0.27, 0.08, 0.08)  # a column of a matrix, for each letter
NOTHING = "motifs that match nothing"
NAMED = 3  # of them, in a message


class MotifKernel(FeatureKernel):
    r"""Motif kernel: occurrences of known motifs.

    It suits sequences whose classes share motifs from a library, such as PROSITE or JASPAR. Motifs are patterns or
    weight matrices.

    **Patterns.** ``A`` is that residue, ``x`` any, ``[AC]`` one of these, ``{ED}`` none of these; ``x(4)``, ``[AC](3)``
    and ``x(2,4)`` repeat the element before. ``<`` at the beginning and ``>`` at the end are the ends of the sequence,
    ``[G>]`` at the end is a G or the end of the sequence; ``-`` and a final ``.`` are optional. GCG writes ``(A,C)``,
    ``~(E,D)``, ``x4``, ``x{2,4}``. The IUPAC codes of DNA and RNA (``TATAWAW``) and B, J, Z of proteins stand for their
    residues; U and T are the same. Case does not matter, except for a custom alphabet with the letter X: there X is
    that letter, and x any. Only ``x``, and N of DNA, match a masked residue (B, X, Z, … in a protein, N in DNA, where
    sequences are read with ``unknown: mask``), because it may or may not be in a class.

    **Weight matrices.** The score of a window is Σ_j log2(p_j(a_j)/b(a_j)), each term in whole hundredths of a bit,
    with the probabilities p_j of column j, pseudocounts included, and the background b (from a MEME file, else
    uniform). The motif matches where the score reaches its threshold; a window with a masked residue does not match.

    Notes
    -----
    With φ_m(x) the number of positions of x at which motif m matches,

    .. math:: K(x, y) = \sum_m φ_m(x) φ_m(y)

    Each position at which a match begins counts once, overlapping matches included, however many matches of different
    lengths begin there.

    Complexity: O(W·|x|) per sequence to scan, W the pattern elements divided by 64, or the columns of all matrices. A
    pair then takes O(number of motifs) with dense vectors, or time proportional to the shared motifs with posting
    lists.

    Definiteness: positive semi-definite.

    References
    ----------
    Ben-Hur, Brutlag: Remote homology detection: a motif based approach. Bioinformatics 19 (Suppl. 1), 2003.

    Navarro, Raffinot: Flexible pattern matching in strings, ch. 4. Cambridge University Press, 2002 (the search
    algorithm).

    Examples
    --------
    >>> from seqkern.kernels import MotifKernel
    >>> kernel = MotifKernel(["C-x(2)-C", "N-{P}-[ST]"], alphabet="protein")
    >>> kernel.features(["CKHCNVTCAAC", "ANGTMNPS", "NITCPYC"]).toarray()
    array([[2., 1.],
           [0., 1.],
           [1., 1.]])
    >>> kernel(["CKHCNVTCAAC", "ANGTMNPS", "NITCPYC"]).round(2)
    array([[1.  , 0.45, 0.95],
           [0.45, 1.  , 0.71],
           [0.95, 0.71, 1.  ]])
    """

    name = "motif"
    summary = "Counts the known motifs that two sequences share; motifs are patterns or weight matrices."
    missing_file_remedy = "check the path, or put patterns in brackets"
    last_parameters = (
        *("normalize", "presence", "reverse_complement", "p_value", "score_share", "pseudocount"),
        *("alphabet", "zero_diagonal", "n_threads", "algorithm"),
    )

    motifs: str | list[str] = text(
        several=True,
        kw_only=False,
        remedy="give a list of patterns, the path of a file, or public:prosite1995",
        doc="Patterns, named by their text; or the path of a file: ``prosite.dat`` (current, whose "
        "profiles and rules are skipped, or in GCG format), a list (one pattern per line, "
        "optionally preceded by a name; ``#`` starts a comment), or weight matrices from JASPAR, "
        "MEME (minimal motif format) or TRANSFAC, or made from the alignments of a BLOCKS or PRINTS file. The format "
        "is detected. Or "
        "``public:prosite1995``: the 1,149 patterns of PROSITE in December 1995 in GCG format, "
        "frequent ones included (where ``[G>]`` became ``(G)>``, and is read as such). On the "
        "command line, patterns without brackets, parentheses and commas can be listed directly, "
        '``motif:motifs=[TATAWAW,G-x-{A}]``; others need quoted JSON: ``{"kernel": "motif", '
        '"motifs": ["[AC]-x-V-x(4)-{ED}"]}``.',
    )
    presence: bool = flag(default=False, doc="φ_m(x) is 1 if m occurs, instead of a count.")
    reverse_complement: bool = flag(
        default=False,
        doc="Add the occurrences on the reverse complement. A motif of fixed length that is its own "
        "reverse complement counts on one strand only. DNA and RNA only.",
    )
    p_value: float | None = real(
        default=None,
        low=0,
        high=1,
        open_low=True,
        doc="For matrices: a window matches if a random window of background residues scores as high "
        "or higher with at most this probability, computed from the exact distribution of scores. "
        "Default: 0.0001, unless `score_share` is given. A motif whose best score is more "
        "probable never matches.",
    )
    score_share: float | None = real(
        default=None,
        low=0,
        high=1,
        doc="Alternative to `p_value`: a window matches if its score reaches this share (0 to 1) of "
        "the range from the smallest to the largest possible score.",
    )
    pseudocount: float = real(
        default=1.0,
        low=0,
        open_low=True,
        doc="c in p_j(a) = (n_j(a) + c·b(a))/(n_j + c), with the counts n_j(a) of column j and their sum n_j.",
    )
    zero_diagonal: Literal["error", "zero"] = changed(
        default="error",
        doc="When normalising, what to do with a sequence in which no motif occurs: raise an error, or return zeros.",
    )
    algorithm: str = choice(
        default="auto",
        choices=("auto", "dense", "index"),
        execution=True,
        doc="Algorithm for the products: dense vectors over all motifs, or posting lists. Results are identical.",
    )

    @classmethod
    def examples(cls) -> list["MotifKernel"]:
        """Return kernels for the contract suite."""
        some = ["A", "C-x-[GT]", "{A}(2)", "TATAWAW", "G-x(1,3)-Y-N(2)-T", "<x(0,4)-C", "A-x(0,2)-[GT>]", "ACGT"]
        return [
            cls(some),
            cls(["A", "R-Y", "GC", "W(3)", "C-x(1,2)-G"], normalize=False, reverse_complement=True),
            cls(
                ["AAR", "CGY", "G-A-x(1,2)-T", "TTS", "CAG", "ACGT", "GGW", "TAC", "N"],
                presence=True,
                reverse_complement=True,
            ),
            cls(["[HC]-x(2)", "E-x(0,3)-{H}>", "(H,E)C", "~C2", "H(2)", "E"], alphabet="HEC"),
        ]

    # ---- motifs -----------------------------------------------------------------------------------

    def _check_parameters(self) -> None:
        if self.score_share is not None and self.p_value is not None:
            raise ParameterError("p_value and score_share exclude each other", remedy="give only one of them")
        if not isinstance(self.motifs, str):
            self._set()

    def files(self) -> tuple[str, ...]:
        """Return the path of the file of motifs, if there is one."""
        return (self.motifs,) if isinstance(self.motifs, str) else ()

    def _set(self) -> MotifSet:
        """Return the MotifSet, read or parsed on first use."""
        key = self.motifs if isinstance(self.motifs, str) else _as_list(self.motifs)
        made = vars(self).get("_made")
        if made is None or made[0] != key:
            self.check_files()
            made = key, MotifSet.from_file(key) if isinstance(key, str) else MotifSet.from_list(key)
            self._made = made
        return made[1]

    def fitted_state(self) -> tuple[Header, Arrays]:
        """Return (JSON dict, dict of arrays): the motifs of the file, if there is one."""
        return self._set().state() if isinstance(self.motifs, str) else ({}, {})

    def restore_fitted(self, header: Header, arrays: Arrays) -> None:
        """Restore what `fitted_state` returned; the file is no longer needed.

        Parameters
        ----------
        header : dict
            Its JSON part.
        arrays : dict of str to ndarray
            Its arrays.
        """
        self._made = self.motifs, MotifSet.from_state(header, arrays)

    def _scanner(self, alphabet: Alphabet) -> Scanner:
        """Return the Scanner for an alphabet."""
        chosen = self._set()
        key = chosen, alphabet, self.reverse_complement, self.p_value, self.score_share, self.pseudocount
        ready = vars(self).get("_ready")
        if ready is None or ready[0][0] is not chosen or ready[0][1:] != key[1:]:
            ready = key, self._make_scanner(chosen, alphabet)
            self._ready = ready
        return ready[1]

    def _make_scanner(self, chosen: MotifSet, alphabet: Alphabet) -> Scanner:
        both = bool(self.reverse_complement)
        if chosen.of_patterns:
            return PatternScanner(chosen.patterns, alphabet, both)
        p_value = P_VALUE if self.p_value is None and self.score_share is None else self.p_value
        options: dict[str, Any] = {
            "p_value": p_value,
            "score_share": self.score_share,
            "pseudocount": self.pseudocount,
        }
        return MatrixScanner(chosen.matrices, alphabet, both, **options)

    def min_length(self) -> int:
        """Return the length of the shortest match of any motif."""
        return min(motif.min_length for motif in self._set().motifs)

    # ---- the matrix -------------------------------------------------------------------------------

    def _counts(self, X: SequenceSet) -> Counted:
        """Return the count of each motif in each record; 1 if it occurs with `presence`."""
        counted = self._scanner(X.alphabet).count(X, self.n_threads)
        if self.presence:
            counted.count[:] = 1
        return counted

    def _prepare(self, X: SequenceSet, like: TermBlocks | None) -> TermBlocks:
        counted = self._counts(X)
        choice = self._choose(X) if like is None else like.choices
        columns: Any = None if like is None else like.blocks[0]
        block = make_block(counted, choice, columns)
        payload = TermBlocks([Term(1.0, [(1, block)])], choices=choice, sequences=X)
        if like is None:
            payload.counts = self._left_out(counted)
        return payload

    def _left_out(self, counted: Counted) -> dict[str, int]:
        """Return a dict of counts: skipped entries of the file, and motifs that do not occur."""
        idle = np.setdiff1d(np.arange(counted.n_features), counted.feature)
        if not len(idle):
            return self._set().counts
        names = [self._set().names[motif] for motif in idle[:NAMED]] + ["…"] * (len(idle) > NAMED)
        return self._set().counts | {f"{NOTHING} ({', '.join(names)})": len(idle)}

    def _implicit(self, X: SequenceSet) -> SparseImplicit:
        counted = self._counts(X)
        out = SparseImplicit(counted.start, counted.feature, counted.count, counted.n_features)
        out.counts = self._left_out(counted)
        return out

    def implicit_bytes(self, X: Any) -> int:
        """Return the bytes that the counts and weights of motifs take.

        Parameters
        ----------
        X : SequenceSet or list of str, n records
            The training samples.

        Returns
        -------
        int
        """
        X = self.coerce(X)
        chances = self._chances(X)
        entries = occurring(chances, int(X.lengths.sum()), len(X)).sum() * len(X)
        return int(KEPT_BYTES * entries + WEIGHT_BYTES * len(chances))

    def _chances(self, X: SequenceSet) -> npt.NDArray[np.float64]:
        """Return the approximate probability of each motif at a position of `X`, float64 (motifs,)."""
        strands = 2 if self.reverse_complement else 1
        return np.minimum(strands * self._scanner(X.alphabet).chances(letter_shares(X)), 1.0)

    def _costs(self, X: SequenceSet, Y: SequenceSet | None = None) -> dict[str, Cost]:
        """Return a dict from algorithm to Cost of the product, assuming the same letter frequencies in rows and
        columns.
        """
        return product_costs(Workload.of(X, Y), self._chances(X if Y is None else Y))

    def _choose(self, X: SequenceSet) -> str:
        """Return the algorithm for columns `X`."""
        return cheapest(self._costs(X)) if self.algorithm == "auto" else self.algorithm

    def plan(self, X: Any, Y: Any = None) -> Plan:
        """Return the Plan for this kernel on `X` (against `Y`).

        Parameters
        ----------
        X : SequenceSet or list of str, n records
            The rows.
        Y : the same, m records, optional
            The columns; by default `X`.

        Returns
        -------
        Plan
        """
        self.check_parameters()
        X, Y = self.coerce(X), None if Y is None else self.coerce(Y)
        chosen, work = self._set(), Workload.of(X, Y)
        if chosen.of_patterns:
            each = WORD_NS[_product.level()] * sum(pattern.longest for pattern in chosen.patterns) / 64
        else:
            each = COLUMN_NS[_product.level()] * sum(len(matrix.counts) for matrix in chosen.matrices)
        scan = Cost(each * work.letters * (2 if self.reverse_complement else 1) * 1e-9)
        return make_plan([self._choose(X if Y is None else Y)], [self._costs(X, Y)], work.output(self.n_threads) + scan)

    # ---- features and explanations ------------------------------------------------------------------

    def feature_names(self) -> list[str]:
        """Return the names of the motifs."""
        self.check_parameters()
        return self._set().names

    def features(self, X: Any) -> "csr_matrix":
        """Return how often each motif occurs.

        Parameters
        ----------
        X : SequenceSet or list of str, n records
            The sequences.

        Returns
        -------
        scipy.sparse.csr_matrix of float64, shape (n, motifs)
            The matrix times its transpose is the kernel matrix, not normalised.
        """
        from scipy.sparse import csr_matrix  # 0.1 s to import

        self.check_parameters()
        X = self.coerce(X)
        counted = self._counts(X)
        values = counted.count.astype(np.float64)
        return csr_matrix((values, counted.feature, counted.start), shape=(len(X), counted.n_features))

    def _motif_weights(
        self, support: SequenceSet, coefficients: npt.NDArray[np.float64]
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
        """Return Σ_j coefficients[j]·φ_m(z_j) of each motif, and whether it occurs in the support."""
        counted = self._counts(support)
        values = np.repeat(coefficients, np.diff(counted.start)) * counted.count
        weights: Any = np.bincount(counted.feature, weights=values, minlength=counted.n_features)
        return weights, np.bincount(counted.feature, minlength=counted.n_features) > 0

    def _attribute(
        self, X: SequenceSet, support: SequenceSet, coefficients: npt.NDArray[np.float64]
    ) -> npt.NDArray[np.float64]:
        """Share the weight of each occurrence among its residues; under `presence`, among all occurrences first."""
        weights, _ = self._motif_weights(support, coefficients)
        found = self._scanner(X.alphabet).find(X, self.n_threads)
        values = weights[found.motif]
        if self.presence:
            _, place, times = np.unique(
                found.record * len(weights) + found.motif, return_inverse=True, return_counts=True
            )
            values = values / times[place]
        return found.share(values, int(X.lengths.sum()))

    def _kmer_weights(self, X: SequenceSet, support: SequenceSet, coefficients: npt.NDArray[np.float64]) -> KmerWeights:
        weights, occurs = self._motif_weights(support, coefficients)
        occurs[self._counts(X).feature] = True
        names = [name for name, here in zip(self._set().names, occurs, strict=True) if here]
        return KmerWeights(names, weights[occurs], [KernelPattern(name, self._occurrences) for name in names])

    def _occurrences(self, X: SequenceSet) -> dict[str, int]:
        """Return a dict from motifs to their numbers of matches in `X`, also with `presence`."""
        counted = self._scanner(X.alphabet).count(X, self.n_threads)
        sums = np.bincount(counted.feature, weights=counted.count, minlength=counted.n_features)
        return dict(zip(self._set().names, sums.astype(np.int64).tolist(), strict=True))


def _as_list(motifs: Sequence[str]) -> list[str]:
    """Return a list of patterns; ParameterError if `motifs` is not one."""
    good = isinstance(motifs, (list, tuple)) and len(motifs) and all(isinstance(text, str) for text in motifs)
    if not good:
        raise ParameterError(
            f"motifs={motifs!r} is not possible",
            remedy="give a list of patterns, the path of a file, or public:prosite1995",
        )
    return list(motifs)
