"""The profile kernel: k-mers that the profile of a sequence makes likely (Kuang et al. 2005).

Unlike in the mismatch kernel, the profile of the sequence decides which residues may differ: a position counts for the
k-mers whose residues cost less than σ in total, a residue costing −ln of its probability. The algorithms are those of
`inexact`; the features of a position are found by descending the trie of all k-mers while the best possible completion
stays below σ.
"""

from dataclasses import replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import NoKmersError
from seqkern.core.parameters import changed, fixed, integer, real
from seqkern.kernels.kmer.inexact import InexactKernel
from seqkern.kernels.kmer.kmer_kernel import LARGEST_K
from seqkern.kernels.kmer.neighbourhoods import Rule, Windows, place_rule
from seqkern.kernels.prepared import Plan
from seqkern.kernels.profile_tracks import SAMPLE_RECORDS, ProfileTracks
from seqkern.sequences.sequence_set import SequenceSet

UNIT = 2.0**32  # costs are multiples of 1 / UNIT, so that their sums are exact


class ProfileKernel(ProfileTracks, InexactKernel):
    r"""Profile kernel: the k-mers that the profiles of two sequences make likely.

    It suits remote homologs among proteins with PSSMs. The profile p is the track ``profile``, a positive probability
    for each letter at each position. `seqkern.profiles` reads it from files or builds it by search; with
    ``search=training`` the kernel searches itself. The sequence x matters only through its masked residues: a window of
    k residues that covers one counts for nothing.

    With σ = 7.5 and k = 5 a position counts for about 40 k-mers on PSSMs of PSI-BLAST, with σ = 9 for 400; every
    further 1.5 takes ten times the time and memory. Profiles built by search come from HMMER and are flatter (0.59 bits
    per position): with σ = 8 a position counts for about 50 k-mers, with σ = 8.5 for 120.

    Notes
    -----
    With Φ_u(x) the number of positions j of x at which −Σ_i ln p_{j+i}(u_i) < σ, over all possible k-mers u,

    .. math:: K(x, y) = \sum_u Φ_u(x) Φ_u(y)

    Costs −ln p are rounded to multiples of 2^−32; the sums are exact.

    Complexity: with N k-mers per position, O(N·|x|) per sequence to list them. A pair then takes O(b^k) with dense
    vectors over the b letters of the alphabet, time proportional to the shared k-mers with posting lists, or a walk
    through the trie of k-mers, which stores no lists. Searches, where needed, come on top.

    Definiteness: positive semi-definite.

    References
    ----------
    Kuang, Ie, Wang, Wang, Siddiqi, Freund, Leslie: Profile-based string kernels for remote homology detection and motif
    extraction. Journal of Bioinformatics and Computational Biology 3, 2005.

    Examples
    --------
    Two nucleotides that the profile allows at the second place make AC and AG features of both sequences:

    >>> import numpy as np
    >>> from seqkern.kernels import ProfileKernel
    >>> from seqkern.sequences.sequence_set import SequenceSet
    >>> X = SequenceSet.from_strings(["AC", "AG"], "dna")
    >>> first, second = [0.97, 0.01, 0.01, 0.01], [0.01, 0.49, 0.49, 0.01]
    >>> X = X.replace(tracks={"profile": np.array([first, second] * 2, dtype=np.float32)})
    >>> ProfileKernel(k=2, sigma=1, normalize=False)(X)
    array([[2., 2.],
           [2., 2.]])
    """

    name = "profile"
    summary = "Counts the k-mers that two sequences share according to their profiles."
    fewer_features = "choose a smaller sigma, or a smaller k"

    k: int = integer(default=5, low=1, high=LARGEST_K, kw_only=False, doc="Length of the k-mers.")
    sigma: float = real(
        default=7.5,
        low=0,
        high=1e6,
        open_low=True,
        kw_only=False,
        doc="σ: k-mers with −Σ ln p below it count.",
    )
    search: Literal["training"] | None = changed(
        default=None,
        doc="Source of the profiles: tracks of the sequences; or a search of every sequence against "
        "the training sequences that `fit` keeps (`seqkern.profiles.search`), so that no profile "
        "depends on a sequence outside the training set. A search against a few thousand "
        "training sequences takes about a tenth of a CPU second per sequence, once for each "
        "training set; profiles are cached.",
    )
    reverse_complement: bool = fixed(False)
    zero_diagonal: Literal["error", "zero"] = changed(
        default="error",
        doc="When normalising, what to do with a sequence none of whose places counts for any k-mer: "
        "raise an error, or return zeros.",
    )
    algorithm: str = changed(
        default="auto",
        doc="Algorithm: dense vectors over all k-mers, posting lists, or a walk through the trie of "
        "all k-mers. Results are identical.",
    )

    @classmethod
    def examples(cls) -> list["ProfileKernel"]:
        """Return kernels for the contract suite."""
        return [
            cls(3, 5),
            cls(4, 6.5, presence=True, normalize=False),
            cls(2, 4, alphabet="protein"),
            cls(2, 5, search="training", iterations=1, alphabet="protein"),
        ]

    def _rule_of(self, X: SequenceSet) -> Rule:
        X = self.with_profiles(X)
        profile = X.tracks["profile"][X.positions()]
        costs = np.rint(-UNIT * np.log(profile, dtype=np.float64))
        # A probability rounded above 1 costs nothing.
        return place_rule(np.maximum(costs, 0).astype(np.int64), self.k, int(np.ceil(self.sigma * UNIT)))

    def _sample(self, X: SequenceSet) -> SequenceSet:
        if self.search is None:
            return super()._sample(X)
        return X.take(slice(None, None, max(1, len(X) // SAMPLE_RECORDS)))

    def plan(self, X: Any, Y: Any = None) -> Plan:
        """Return the Plan for this kernel on `X` (against `Y`), searches included.

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
        plan = super().plan(X, Y)
        searched = self.search_seconds(*(self.coerce(Z) for Z in (X, Y) if Z is not None))
        return replace(plan, seconds=plan.seconds + searched)

    def _windows(self, X: SequenceSet) -> Windows:
        return Windows.of_places(X, self.k)

    def _kmer_weights(
        self, X: SequenceSet, support: SequenceSet, coefficients: npt.NDArray[np.float64]
    ) -> tuple[list[str], npt.NDArray[np.float64]]:
        raise NoKmersError(
            f"kernel {self.name!r} counts k-mers that the sequences need not contain",
            remedy="choose a kernel based on k-mers, such as spectrum",
        )
