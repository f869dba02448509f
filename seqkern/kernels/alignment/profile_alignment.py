"""The profile alignment kernel: alignments of profiles with profiles (Rangwala and Karypis 2005).

`seqkern.kernels.alignment.profile_product` computes the values, in vector lanes.
"""

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from seqkern.core.parameters import changed, choice, real
from seqkern.core.threads import GIVEN_THREADS
from seqkern.kernels.alignment.alignment_kernel import check_gaps
from seqkern.kernels.alignment.lane_costs import lane_cells, own_cells
from seqkern.kernels.alignment.profile_product import (
    LARGEST,
    LEAST_BLOCK_ROWS,
    MOST_BLOCK_ROWS,
    ProfileColumns,
    Sums,
    product,
    shares,
    working_bytes,
)
from seqkern.kernels.kernel import SequenceKernel
from seqkern.kernels.planner import Cost, Workload
from seqkern.kernels.prepared import Plan
from seqkern.kernels.products import _product
from seqkern.kernels.profile_tracks import ProfileTracks
from seqkern.sequences.sequence_set import SequenceSet

METHODS = ("smith_waterman", "local_alignment")

LANES = (4, 8, 16)
"""Of a vector, for each level of instructions."""


class ProfileAlignmentKernel(ProfileTracks, SequenceKernel):
    r"""Profile alignment kernel: local alignments of two profiles.

    It suits remote homologs among proteins with PSSMs. The track ``profile`` holds the probabilities p of the letters
    at a position, the track ``pssm`` their log-odds scores s in half bits. A masked residue has both, too.

    With ``normalize=false`` values grow with the lengths of the sequences, to hundreds and more, and the C of an SVM
    scales with 1/K: normalise, or choose C of about 1e-4 to 1e-2.

    Notes
    -----
    Columns i of x and j of y score

    .. math:: S(i, j) = \sum_a p_i(a) s_j(a) + s_i(a) p_j(a) + shift

    The method ``"smith_waterman"`` returns the score of the best alignment, at least 0; ``"local_alignment"`` sums over
    all non-empty local alignments π with score s(π):

    .. math:: K(x, y) = (1/β) \ln(1 + \sum_π \exp(β s(π)))

    Complexity: O(b·|x|·|y|) per pair for an alphabet of b letters, many pairs at once in vector lanes.

    Definiteness: not positive semi-definite. Many Gram matrices happen to have no negative eigenvalue: check with
    ``seqkern gram --spectrum``.

    Column scores, and the sums of Smith-Waterman, are in single precision: the error of K is below 2^−23·(|x| + |y| +
    b) times the sum of the absolute values of all summands, typically a relative error of 1e-6. The sums of the local
    alignment kernel are in double precision, at any length; they omit alignments whose weight is below e^−700 of those
    that end within 16 positions.

    References
    ----------
    Rangwala, Karypis: Profile-based direct kernels for remote homology detection and fold recognition. Bioinformatics
    21, 2005.

    Vert, Saigo, Akutsu: Local alignment kernels for biological sequences. In: Kernel Methods in Computational Biology,
    MIT Press, 2004.

    Examples
    --------
    Here a profile is little more than the sequence itself:

    >>> import numpy as np
    >>> from seqkern import SequenceSet
    >>> from seqkern.kernels import ProfileAlignmentKernel
    >>> X = SequenceSet.from_strings(["ACGT", "CG"], "dna")
    >>> profile = np.where(np.eye(4)[X.codes] == 1, 0.7, 0.1).astype(np.float32)
    >>> X = X.replace(tracks={"profile": profile, "pssm": 2 * np.log2(4 * profile)})
    >>> ProfileAlignmentKernel()(X).round(2)
    array([[10.29,  5.15],
           [ 5.15,  5.15]])
    """

    name = "profile_alignment"
    summary = "Aligns the profiles of two sequences, and scores where they agree."
    profile_tracks = ("profile", "pssm")
    positive_semidefinite = False

    method: str = choice(default="smith_waterman", choices=METHODS, doc="Use the best alignment, or all alignments.")
    beta: float = real(
        default=0.25,
        low=0,
        open_low=True,
        doc="β, for ``local_alignment`` only. β times a column score must not exceed 35. A column "
        "score is a sum of two: 0.25 here corresponds to the usual 0.5 for substitution scores.",
    )
    gap_open: float = real(
        default=3.0,
        low=0,
        doc="Cost of opening a gap: a gap of n residues costs gap_open + (n − 1)·gap_extend. Profile "
        "column scores are smaller than substitution scores; the default costs are of the size "
        "that Rangwala and Karypis chose.",
    )
    gap_extend: float = real(default=0.75, low=0, doc="Cost of each further residue of a gap.")
    shift: float = real(
        default=0.0,
        low=-LARGEST,
        high=LARGEST,
        doc="Added to each column score: the zero-shift of Rangwala and Karypis, who chose values up to 1.5.",
    )
    normalize: bool = changed(default=False)
    zero_diagonal: Literal["error", "zero"] = changed(
        default="error",
        doc="When normalising, what to do with a sequence without any alignment with itself: raise an "
        "error, or return zeros.",
    )

    @classmethod
    def examples(cls) -> list["ProfileAlignmentKernel"]:
        """Return kernels for the contract suite."""
        return [
            cls(normalize=True),
            cls(method="local_alignment", shift=-0.5),
            cls(method="local_alignment", beta=0.1, gap_open=11, gap_extend=1, normalize=True, alphabet="protein"),
            cls(search="training", iterations=1, alphabet="protein"),
        ]

    @property
    def least_block_rows(self) -> int:  # type: ignore[override]  # here it follows from the parameters
        """Of a large block, the lanes beside each other differ less in length; more threads need smaller ones."""
        return MOST_BLOCK_ROWS if (GIVEN_THREADS.get() or self.n_threads) == 1 else LEAST_BLOCK_ROWS

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_gaps(self.gap_open, self.gap_extend)

    def _sums(self) -> Sums:
        beta = float(self.beta) if self.method == "local_alignment" else 0.0
        return Sums(beta, float(self.gap_open), float(self.gap_extend), float(self.shift))

    def _prepare(self, X: SequenceSet, like: ProfileColumns | None) -> ProfileColumns:
        return ProfileColumns.of(self.with_profiles(X), self._sums())

    def _block(self, rows: ProfileColumns, cols: ProfileColumns, out: npt.NDArray[np.float64]) -> None:
        product(rows, cols, out)

    def _attribute(
        self, X: SequenceSet, support: SequenceSet, coefficients: npt.NDArray[np.float64]
    ) -> npt.NDArray[np.float64]:
        """Share the score of one best alignment: pairs among the residues of x, gaps among the residues in or next to
        them.

        The value of the local alignment kernel is shared by the probability that each residue is aligned.
        """
        sums = self._sums()
        rows, cols = (ProfileColumns.of(self.with_profiles(Z), sums) for Z in (X, support))
        return shares(rows, cols, np.asarray(coefficients))

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
        work = Workload.of(X, Y)
        longest = max(int(X.lengths.max(initial=0)), work.longest)
        lanes = LANES[_product.level()]
        cells = lane_cells(X, Y, lanes) + sum(own_cells(Z, lanes, alone=True) for Z in (X, Y) if Z is not None)
        each = self._sums().cell_ns(X.alphabet.size)
        searched = self.search_seconds(*(Z for Z in (X, Y) if Z is not None))
        own = Cost(each * cells * 1e-9 + searched, working_bytes(longest, X.alphabet.size, self.n_threads))
        total = own + work.output(self.n_threads)
        return Plan("lanes", total.seconds, total.bytes, f"{cells:.3g} pairs of columns, {each:.2g} ns each")
