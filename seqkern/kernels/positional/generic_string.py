"""The generic string kernel: similar k-mers at nearby positions (Giguère et al. 2013)."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any, Literal

import numpy as np

from seqkern.core.parameters import integer, real, text
from seqkern.core.threads import GIVEN_THREADS, available_threads
from seqkern.core.types import Floats
from seqkern.kernels.blocks import symmetric_matrix
from seqkern.kernels.common_parameters import zero_rule
from seqkern.kernels.gradients import KernelGradient, Square
from seqkern.kernels.kernel import SequenceKernel
from seqkern.kernels.planner import Cost, Workload
from seqkern.kernels.positional import _generic_string
from seqkern.kernels.prepared import Plan, RecordRange
from seqkern.kernels.products import _product
from seqkern.kernels.substitution_scores import matrix_names, score_table
from seqkern.kernels.vectors.property import PropertyScales, ScaleParameter, amino_acid_scales
from seqkern.sequences.alphabets import MASK, PROTEIN, Alphabet
from seqkern.sequences.sequence_set import SequenceSet

ONE_HOT, PROPERTIES = "one_hot", "properties"

# CPU nanoseconds for a pair of residues, for one more residue in the longest k-mers, and a pair of short and of other
# sequences; for each level of instructions.
CELL_NS = (0.13, 0.09, 0.075)
LETTER_NS = (0.09, 0.045, 0.033)
DEAREST_LETTERS = 4.5  # longer k-mers cost no more; k-mers of any length cost as much as those of two residues
PAIR_NS = 15.0, 100.0
LEAST_BLOCK_ROWS = 32  # fewer rows reuse too little of each column


class GenericStringKernel(ScaleParameter, SequenceKernel):
    r"""Generic string kernel: similar k-mers at similar positions.

    It suits short peptides, such as ligands, whose residues have measurable similarities. Sequences may differ in
    length. Small σ_p compares k-mers at equal positions only; small σ_c compares equal k-mers only. Many k-mer kernels
    are limiting cases. A k-mer with a masked residue is similar to no other.

    Notes
    -----
    With ψ of a k-mer the vectors ψ of its residues, concatenated,

    .. math::

        K(x, y) = \sum_{l=1}^{L} \sum_i \sum_j \exp(−(i − j)^2 / 2σ_p^2)
        \exp(−‖ψ(x_i..x_{i+l−1}) − ψ(y_j..y_{j+l−1})‖^2 / 2σ_c^2)

    Complexity: O(L·|x|·|y|) per pair; distances |i − j| whose weight is 0 are skipped.

    Definiteness: positive semi-definite.

    Sums are of positive numbers in double precision: the relative error of K is below 2^−52·(L + cells of a diagonal),
    and K(x, y) has the bits of K(y, x).

    References
    ----------
    Giguère, Marchand, Laviolette, Drouin, Corbeil: Learning a peptide-protein binding affinity predictor with kernel
    ridge regression. BMC Bioinformatics 14:82, 2013.

    Examples
    --------
    Peptides that differ in a similar residue are more alike:

    >>> from seqkern.kernels import GenericStringKernel
    >>> kernel = GenericStringKernel(length=2, sigma_p=1.0, sigma_c=1.0, alphabet="protein")
    >>> kernel(["KLVF"], ["KIVF", "KDVF"]).round(2)
    array([[0.97, 0.79]])
    """

    name = "generic_string"
    summary = "Compares k-mers by the properties of their residues; the farther apart, the less they count."
    scale_parameter = "descriptors"
    _missing_file_remedy = "check the path, or choose a substitution matrix, properties or one_hot"
    _least_block_rows = LEAST_BLOCK_ROWS

    length: int = integer(default=3, low=1, kw_only=False, doc="L, the largest length of k-mers.")
    sigma_p: float | None = real(
        default=5.0,
        low=0,
        optional=True,
        kw_only=False,
        doc="σ_p, in positions; 0: equal positions only; none: positions do not matter.",
    )
    sigma_c: float = real(
        default=0.5, low=0, kw_only=False, doc="σ_c, in units of the vectors ψ; 0: residues with equal ψ only."
    )
    descriptors: str | None = text(
        default=None,
        remedy="give a substitution matrix, properties, one_hot or a file",
        doc="Source of ψ. The name of a substitution matrix of Biopython: the residue's row, scaled "
        'to unit length. ``"properties"``: standardised scales of amino acids, divided by the '
        "root of their number; the path of a file with your own scales works the same way (see "
        'resources/property_scales.tsv). ``"one_hot"``: 1 for the residue, else 0. By default '
        'BLOSUM50 for proteins, as in the paper, else ``"one_hot"``.',
    )
    zero_diagonal: Literal["error", "zero"] = zero_rule("a sequence without residues")

    tested_with = (
        {},
        {"length": 4, "sigma_p": 2.0, "sigma_c": 0.3, "descriptors": "BLOSUM62", "alphabet": "protein"},
        {
            "length": 9,
            "sigma_p": None,
            "sigma_c": 0.7,
            "descriptors": PROPERTIES,
            "normalize": False,
            "alphabet": "protein",
        },
        {"length": 100, "sigma_p": 1.0, "sigma_c": 0, "alphabet": "HEC"},
    )

    def _min_length(self) -> int:
        """Return 1, the minimum length of a sequence."""
        return 1

    # ---- letters ----------------------------------------------------------------------------------

    def _files(self) -> tuple[str, ...]:
        """Return the path of the file of scales, if there is one."""
        known = (ONE_HOT, PROPERTIES, *matrix_names())
        return () if self.descriptors is None or self.descriptors in known else (self.descriptors,)

    def property_scales(self) -> PropertyScales:
        """Return the PropertyScales of ψ: of the amino acids, or from the file."""
        return super().property_scales() if self._files() else amino_acid_scales()

    def vectors(self, alphabet: Alphabet) -> Floats:
        """Return ψ of each letter.

        Parameters
        ----------
        alphabet : Alphabet
            The alphabet.

        Returns
        -------
        ndarray of float64, shape (size, coordinates)
            NaN for a letter without ψ.

        Raises
        ------
        ParameterError
            If the matrix or the scales do not match the alphabet.
        """
        chosen = self.descriptors or ("BLOSUM50" if alphabet == PROTEIN else ONE_HOT)
        if chosen == ONE_HOT:
            return np.eye(alphabet.size)
        if chosen in matrix_names():
            rows = score_table(chosen, alphabet)[:-1, :-1]
            return rows / np.sqrt((rows**2).sum(axis=1, keepdims=True))
        rows = self.property_scales().standardised(alphabet)[:-1]
        return rows / math.sqrt(rows.shape[1])

    def letter_weights(self, alphabet: Alphabet) -> Floats:
        """Return exp(−‖ψ(a) − ψ(b)‖²/2σ_c²) of all letters, 0 for the masked one.

        Parameters
        ----------
        alphabet : Alphabet
            The alphabet.

        Returns
        -------
        ndarray of float64, shape (size + 1, size + 1)
            The masked residue is the last one.
        """
        squares = self._letter_squares(alphabet)
        weights = np.zeros((alphabet.size + 1, alphabet.size + 1))
        width = doubled_square(self.sigma_c)
        weights[:-1, :-1] = np.exp(-squares / width) if width > 0 else squares == 0
        weights[np.isnan(weights)] = 0.0
        return weights

    def _letter_squares(self, alphabet: Alphabet) -> Floats:
        """Return ‖ψ(a) − ψ(b)‖² of the letters, float64 (size, size), NaN for one without ψ."""
        vectors = self.vectors(alphabet)
        return np.asarray(((vectors[:, None] - vectors) ** 2).sum(axis=2))

    def _letter_slopes(self, alphabet: Alphabet) -> Floats:
        """Return the derivative of `letter_weights` with respect to σ_c."""
        slopes = self.letter_weights(alphabet)
        slopes[:-1, :-1] *= np.nan_to_num(self._letter_squares(alphabet)) / self.sigma_c**3
        return slopes

    def tolerances(self, longest: int) -> Floats:
        """Return exp(−d²/2σ_p²) for the distances d = 0, 1, … as far as it is not 0.

        Parameters
        ----------
        longest : int
            Length of the longest sequence, an upper bound of distances.

        Returns
        -------
        ndarray of float64
        """
        if self.sigma_p is None:
            return np.ones(longest)
        width = doubled_square(self.sigma_p)
        if width == 0:
            return np.ones(min(longest, 1))
        # One at a time, so that no value depends on their number.
        values = np.array([math.exp(-d * d / width) for d in range(longest)])
        return values[: np.count_nonzero(values)]

    def _rule(self, alphabet: Alphabet, longest: int) -> _generic_string.Rule:
        """Return the compiled Rule for sequences of up to `longest` residues."""
        tolerances = np.append(self.tolerances(longest), np.zeros(_generic_string.TOLERANCE_PADDING))
        longest_words = min(int(self.length), max(1, longest))
        return _generic_string.Rule(longest_words, self.letter_weights(alphabet), tolerances)

    # ---- the matrix -------------------------------------------------------------------------------

    def _prepare(self, X: SequenceSet, like: "GenericStrings | None") -> "GenericStrings":
        return GenericStrings(X, lambda longest: self._rule(X.alphabet, longest))

    def _block(self, rows: "GenericStrings", cols: "GenericStrings", out: Floats) -> None:
        longer = max(rows, cols, key=lambda payload: payload.longest)
        upper = rows.codes is cols.codes and rows.first == cols.first and rows.last <= cols.last
        _generic_string.fill(longer.rule, _product.level(), rows.records(), cols.records(), upper, out)

    def _own_tunable(self) -> dict[str, float]:
        widths = {"sigma_p": self.sigma_p, "sigma_c": self.sigma_c}
        return {name: float(width) for name, width in widths.items() if width}  # 0 and none have no derivative

    def _derivative(self, name: str, at: KernelGradient) -> Square:
        X, longest = at.X, int(at.X.lengths.max(initial=0))
        weights, tolerances = self.letter_weights(X.alphabet), self.tolerances(longest)
        weight_slopes, tolerance_slopes = np.zeros_like(weights), np.zeros_like(tolerances)
        if name == "sigma_p":
            tolerance_slopes = tolerances * np.arange(len(tolerances)) ** 2 / float(self.sigma_p or 0) ** 3
        else:
            weight_slopes = self._letter_slopes(X.alphabet)
        codes = np.where(X.codes == MASK, np.uint8(X.alphabet.size), X.codes)
        rule = min(int(self.length), max(1, longest)), weights, weight_slopes, tolerances, tolerance_slopes
        return symmetric_matrix(
            len(X), partial(_generic_string.fill_slopes, codes, X.starts, X.stops, *rule), self.n_threads
        )

    def _plan(self, X: Any, Y: Any) -> Plan:
        work, level = Workload.of(X, Y), _product.level()
        longest = max(work.longest, int(X.lengths.max(initial=0)))
        mean = (work.row_letters + work.col_letters) / max(1, work.rows + work.cols)
        within = min(1.0, len(self.tolerances(longest)) / max(1.0, mean))
        share = within * (2 - within)  # cells of a square on diagonals that count
        cells = share * work.row_letters * work.col_letters / (2 if work.symmetric else 1)
        more = min(self.length - 1, DEAREST_LETTERS) if self.length < mean else 1
        each = CELL_NS[level] + LETTER_NS[level] * more
        pair = PAIR_NS[mean > _generic_string.SHORT_LENGTH]
        own = Cost((each * cells + pair * work.pairs) * 1e-9, self._bytes(X.alphabet.size + 1, longest) + work.letters)
        total = own + work.output(self.n_threads)
        reason = f"{cells:.3g} pairs of residues, {each:.2g} ns each; {work.pairs:.3g} pairs of sequences"
        return Plan("diagonals", total.seconds, total.bytes, reason)

    def _bytes(self, letters: int, longest: int) -> int:
        """Return the memory that all threads need, in bytes, for sequences of up to `longest` residues."""
        profile = letters * (longest + _generic_string.ROW_PADDING)
        panel = letters * _generic_string.SHORT_LENGTH * _generic_string.PANEL_COLUMNS
        group = max(profile, _generic_string.GROUP_NUMBERS)
        room = (min(self.length, longest) + 4) * _generic_string.ROW_PADDING + 2 * longest
        threads = available_threads(GIVEN_THREADS.get() or self.n_threads)
        return 8 * threads * (max(profile, panel) + group + room)

    def _attribute(self, X: SequenceSet, support: SequenceSet, coefficients: Floats) -> Floats:
        """Share the contribution of two k-mers equally among the residues of the k-mer in `X`."""
        rows, others = self._prepare(X, None), self._prepare(support, None)
        result = np.zeros(int(X.lengths.sum()))
        longer = max(rows, others, key=lambda payload: payload.longest)
        coefficients = np.ascontiguousarray(coefficients, dtype=np.float64)
        _generic_string.share(longer.rule, rows.records(), others.records(), coefficients, result)
        return result


class GenericStrings(RecordRange):
    """Payload with the codes of sequences, or of a range of them, and K of each with itself."""

    def __init__(self, X: SequenceSet, make_rule: Callable[[int], Any]) -> None:
        self.codes = np.where(X.codes == MASK, np.uint8(X.alphabet.size), X.codes)
        self.starts, self.stops = X.starts, X.stops
        self.longest = int(X.lengths.max(initial=0))
        self.rule = make_rule(self.longest)
        self.first, self.last = 0, len(X)
        self.squares = np.zeros(len(X))
        _generic_string.diagonal(self.rule, _product.level(), self.records(), self.squares)

    def records(self) -> Any:
        """Return the compiled Records of these sequences."""
        span = slice(self.first, self.last)
        return _generic_string.Records(self.codes, self.starts[span], self.stops[span])


def doubled_square(sigma: float) -> float:
    """Return 2σ², or inf if it overflows.

    >>> doubled_square(3), doubled_square(1e300)
    (18.0, inf)
    """
    sigma = float(sigma)
    return 2.0 * (sigma * sigma)  # ** raises an error instead
