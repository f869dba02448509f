"""The Smith-Waterman kernel: the score of the best local alignment of two sequences."""

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import ParameterError
from seqkern.core.parameters import changed, choice, real, text
from seqkern.core.threads import GIVEN_THREADS, available_threads
from seqkern.kernels.alignment._smith_waterman import lanes
from seqkern.kernels.alignment.alignment_kernel import AlignmentKernel
from seqkern.kernels.alignment.best_scores import AlignedSequences, product, shares
from seqkern.kernels.alignment.integers import LARGEST, IntegerScores
from seqkern.kernels.alignment.lane_costs import lane_cells
from seqkern.kernels.planner import Cost, Workload
from seqkern.kernels.prepared import Plan
from seqkern.kernels.products import _product
from seqkern.sequences.alphabets import Alphabet, as_alphabet
from seqkern.sequences.sequence_set import SequenceSet

# CPU nanoseconds for a pair of residues in lanes of 8 bits (plain: 16), for each level of instructions.
CELL_NS = (0.27, 0.0233, 0.0126)
VECTOR_BYTES = (16, 32, 64)
SAMPLED_SECONDS = 0.05  # a plan of more looks at the scores of a sample
SAMPLED, SAMPLED_RESIDUES = 12, 256  # records, and residues of each
LEAST_BLOCK_ROWS = 64  # fewer leave too many vector lanes idle where rows meet each other
ONE_THREAD_BLOCK_ROWS = 512
WIDTHS = {f"int{width}": width for width in LARGEST}


class SmithWatermanKernel(AlignmentKernel):
    r"""Smith-Waterman kernel: the score of the best local alignment.

    It suits homologs that share a domain. The score is exact and at least 0. Gaps in x and in y may follow each other.

    With ``normalize=false`` values are in the hundreds or thousands, and the C of an SVM scales with 1/K: normalise, or
    choose C of about 1e-4 to 1e-2.

    Notes
    -----
    With s the substitution matrix, and a cost of gap_open + (n − 1)·gap_extend for each gap of n residues, over all
    local alignments π of x and y,

    .. math:: K(x, y) = \max_π (\sum_{(i, j) ∈ π} s(x_i, y_j) − gaps(π))

    Complexity: O(|x|·|y|) per pair, many pairs at once in vector lanes.

    Definiteness: not positive semi-definite. Many Gram matrices happen to have no negative eigenvalue: check with
    ``seqkern gram --spectrum``.

    References
    ----------
    Smith, Waterman: Identification of common molecular subsequences. Journal of Molecular Biology 147, 1981.

    Gotoh: An improved algorithm for matching biological sequences. Journal of Molecular Biology 162, 1982.

    Rognes: Faster Smith-Waterman database searches with inter-sequence SIMD parallelisation. BMC Bioinformatics 12,
    2011.

    Examples
    --------
    >>> from seqkern.kernels import SmithWatermanKernel
    >>> SmithWatermanKernel()(["MKVLAW"], ["MKVLAW", "KVIAW", "GGGG"])
    array([[33., 26.,  0.]])
    """

    name = "smith_waterman"
    summary = "Scores the best local alignment of two sequences."

    matrix: str | list[list[float]] = text(
        default="BLOSUM62",
        rows=True,
        kw_only=False,
        doc='Substitution matrix: a name known to Biopython (``"BLOSUM62"``; ``"NUC.4.4"`` for DNA '
        "and RNA), a file in NCBI format, or symmetric scores in the order of the alphabet. "
        "Scores and costs are decimal numbers with at most six places. Masked residues score as "
        "the matrix's X (N in a DNA matrix), or else as its smallest score. This includes B, J, "
        "O, U, X, Z and ``*`` in proteins if they are masked; to use their own scores, read the "
        "sequences with the alphabet ``ARNDCQEGHILKMFPSTWYVBZX*``.",
    )
    gap_open: float = real(
        default=11, low=0, kw_only=False, doc="Cost of the first residue of a gap, at least `gap_extend`."
    )
    gap_extend: float = real(default=1, low=0, kw_only=False, doc="Cost of each further residue of a gap.")
    zero_diagonal: Literal["error", "zero"] = changed(
        default="error",
        doc="When normalising, what to do with a sequence that scores nothing with itself: raise an "
        "error, or return zeros.",
    )
    algorithm: str = choice(
        default="auto",
        choices=("auto", "int8", "int16", "int32"),
        execution=True,
        doc="Integer type to start with; scores that overflow are recomputed in a wider type. Results are identical.",
    )

    @classmethod
    def examples(cls) -> list["SmithWatermanKernel"]:
        """Return kernels for the contract suite."""
        return [
            cls(alphabet="protein"),
            cls(alphabet="protein", normalize=True, zero_diagonal="zero"),
            cls("NUC.4.4", 10, 0.5, alphabet="dna"),
            cls([[2, -1, -1.5], [-1, 2.25, 0], [-1.5, 0, 3]], 2, 2, alphabet="HEC"),
        ]

    @property
    def least_block_rows(self) -> int:  # type: ignore[override]  # here it follows from the parameters
        """Fewer rows in a block of the matrix would leave too many vector lanes idle."""
        return ONE_THREAD_BLOCK_ROWS if (GIVEN_THREADS.get() or self.n_threads) == 1 else LEAST_BLOCK_ROWS

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.alphabet is not None and self.algorithm != "auto":
            self._integers(as_alphabet(self.alphabet))

    def _integers(self, alphabet: Alphabet) -> tuple[IntegerScores, int]:
        """Return (IntegerScores, bits of the lanes to begin with) for an alphabet."""
        scores = IntegerScores.of(self.scores(alphabet), self.gap_open, self.gap_extend)
        width = WIDTHS.get(self.algorithm, scores.width)
        if width < scores.width:
            raise ParameterError(
                f"algorithm={self.algorithm} cannot hold the scores or costs",
                remedy=f"choose algorithm=auto or algorithm=int{scores.width}",
            )
        return scores, width

    def _prepare(self, X: SequenceSet, like: AlignedSequences | None) -> AlignedSequences:
        return AlignedSequences(X, *self._integers(X.alphabet))

    def _block(self, rows: AlignedSequences, cols: AlignedSequences, out: npt.NDArray[np.float64]) -> None:
        product(rows, cols, out)

    def _attribute(
        self, X: SequenceSet, support: SequenceSet, coefficients: npt.NDArray[np.float64]
    ) -> npt.NDArray[np.float64]:
        """Share the score of one best alignment: pairs among the residues of x, gaps among the residues in or next to
        them.
        """
        return shares(self._prepare(X, None), self._prepare(support, None), coefficients)

    def _sampled_scores(self, X: SequenceSet, Y: SequenceSet) -> npt.NDArray[np.float64]:
        """Return the scores, in units, of some records with others: of their beginnings, grown to their lengths."""
        rows, cols = (Z.take(np.unique(np.linspace(0, len(Z) - 1, SAMPLED, dtype=int))) for Z in (X, Y))
        others = ~np.eye(len(rows), len(cols), dtype=bool) if X is Y else np.ones((len(rows), len(cols)), dtype=bool)
        found = []
        for n in (SAMPLED_RESIDUES // 2, SAMPLED_RESIDUES):
            ours, theirs = (self._prepare(Z.part(0, n), None) for Z in (rows, cols))
            scores = np.empty(others.shape)
            product(ours, theirs, scores)
            found.append(scores[others] / ours.scores.scaled(np.ones(1)))
        growth = 2 * np.mean(found[1] - found[0]) / SAMPLED_RESIDUES if others.any() else 0.0
        shorter = np.minimum.outer(rows.lengths, cols.lengths)[others]
        return found[1] + growth * np.maximum(0, shorter - SAMPLED_RESIDUES)

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
        scores, width = self._integers(X.alphabet)
        work, level = Workload.of(X, Y), _product.level()
        each = CELL_NS[level] * max(1, width / (8 if level else 16))
        cells = lane_cells(X, Y, lanes(level, width), with_own=False)
        if each * cells * 1e-9 > SAMPLED_SECONDS:
            sample = self._sampled_scores(X, X if Y is None else Y)
            for narrow, wide in ((8, 16), (16, 32)):  # scores beyond the narrow lanes are computed again
                if narrow >= (width if level else max(width, 16)) and len(sample):
                    limit = 2**narrow - 1
                    share = float(np.mean(sample >= limit))
                    again = lane_cells(X, Y, lanes(level, wide), with_own=False) * wide / width
                    # Where all are too large, the narrow lanes stop as soon as they find out.
                    cells = share * again + cells * (limit / float(np.mean(sample)) if share == 1 else 1.0)
        # For each thread a group's profile, as wide as the shorter of a pair, and a row's numbers; and all codes.
        both = (X, X) if Y is None else (X, Y)
        longest = [int(Z.lengths.max(initial=0)) for Z in both]
        columns = min(longest) if Y is not None else int(np.sort(X.lengths)[-2:].min(initial=longest[0]))
        threads = available_threads(GIVEN_THREADS.get() or self.n_threads)
        vectors = (columns * len(scores.table) + 2 * max(longest)) * threads
        own = Cost(each * cells * 1e-9, VECTOR_BYTES[level] * vectors + sum(len(Z.codes) for Z in both))
        total = own + work.output(self.n_threads)
        return Plan(
            f"int{width}", total.seconds, total.bytes, f"{cells:.3g} pairs of residues in lanes, {each:.2g} ns each"
        )
