"""The pair HMM kernel: how probable it is that a pair HMM emits two sequences (Watkins 1999; Haussler 1999)."""

import functools
import warnings
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import ParameterError, SequenceError
from seqkern.core.parameters import changed, choice, flag, real, text
from seqkern.core.threads import GIVEN_THREADS
from seqkern.core.types import Arrays, Header
from seqkern.kernels.alignment.alignment_kernel import MatrixKernel
from seqkern.kernels.alignment.lane_costs import lane_cells
from seqkern.kernels.alignment.local_alignment import LARGEST_LOGARITHM, LEAST_BLOCK_ROWS
from seqkern.kernels.alignment.local_sums import product
from seqkern.kernels.alignment.pair_factors import PairFactors, joint_odds
from seqkern.kernels.alignment.pair_gaps import Gaps, estimate_gaps, similar_pairs
from seqkern.kernels.alignment.pair_sums import PairSums
from seqkern.kernels.planner import Cost, Workload
from seqkern.kernels.prepared import Plan, Prepared
from seqkern.kernels.products import _product
from seqkern.sequences.alphabets import DNA, PROTEIN, Alphabet, as_alphabet
from seqkern.sequences.sequence_set import SequenceSet

CELL_NS = {"lanes": (0.9, 0.3, 0.155), "logarithms": (90.0, 90.0, 90.0)}  # a pair of residues, by instructions
LANES = {"lanes": (2, 4, 8), "logarithms": (1, 1, 1)}
ROW_BYTES, PROFILE_BYTES = 160, 64  # for a residue of the rows, and for one of the lanes and each letter


class PairHMMKernel(MatrixKernel):
    r"""Pair HMM kernel: the probability that two sequences descend from a common one, over all global alignments.

    It suits homologs of similar length, such as domains, aligned from end to end; for a common part of longer
    sequences choose `local_alignment`. Its parameters are probabilities, which can be estimated from the data.

    A pair HMM emits two sequences together: pairs of residues, and before, between and after them residues of one
    sequence alone. It goes on with another pair with probability γ; each place between pairs has a gap in a sequence
    with probability δ, and each gap goes on with probability ε. Pairs have the joint probabilities that the
    substitution matrix implies, residues in gaps its background probabilities.

    K itself is positive semi-definite if the joint probabilities are (BLOSUM62, NUC.4.4), but of little use for remote
    homologs: normalised it is near 1 for nearly equal sequences and near 0 for all others. Its logarithm compares
    better, and is indefinite: for an SVM, repair it by the empirical kernel map; a P-SVM takes it as it is.

    With ``gaps="fit"``, γ, δ and ε are estimated in the training set from similar pairs: each of up to 128 records with
    the one most similar to it, if ln K exceeds 0 with `odds`. Baum-Welch begins with the given γ, δ and ε.

    A masked residue stands for any: its probabilities are summed up over all residues.

    Notes
    -----
    With K₁ the joint probability of two residues, K₂(u, v) = g(u)·g(v) that of two gaps, g(u) = 1 − δ for none and
    δ·(1 − ε)·ε^(|u|−1)·Π q(u_i) for some residues, and ⋆ the sum over all ways to cut both sequences in two,

    .. math:: K = γ K_2 ⋆ (K_1 ⋆ K_2)^⋆_γ + (1 − γ) K_2, \quad F^⋆_γ = (1 − γ) \sum_{r≥1} γ^{r−1} F^{⋆r}

    K sums to 1 over all pairs of sequences. Without gaps (δ = 0) it is (1 − γ)·γ^r·Π K₁ for equal lengths r, else 0.
    With `odds` (default) it is divided by Π q(x_i)·Π q(y_j).

    Complexity: O(|x|·|y|) per pair, many pairs at once in vector lanes, in double precision.

    Definiteness: K is positive semi-definite if the joint probabilities of residues are; ln K is not.

    References
    ----------
    Watkins: Dynamic alignment kernels. In: Advances in Large Margin Classifiers, MIT Press, 2000.

    Haussler: Convolution kernels on discrete structures. Technical report UCSC-CRL-99-10, 1999.

    Durbin, Eddy, Krogh, Mitchison: Biological Sequence Analysis. Cambridge University Press, 1998.

    Examples
    --------
    >>> from seqkern.kernels import PairHMMKernel
    >>> PairHMMKernel()(["MKVLAW"], ["MKVLAW", "KVIAW", "GGGG"]).round(2)
    array([[  5.74,  -1.39, -11.52]])
    """

    name = "pair_hmm"
    summary = "How probable it is that two sequences descend from a common one, over all global alignments."

    matrix: str | list[list[float]] = text(
        default="BLOSUM62",
        rows=True,
        kw_only=False,
        doc="Substitution matrix that implies the probabilities of pairs: a name known to Biopython, a file in NCBI "
        "format, or log odds in the order of the alphabet. For DNA: NUC.4.4.",
    )
    gamma: float = real(
        default=0.99, low=0, high=1, open_low=True, open_high=True, doc="γ, the probability of one more pair."
    )
    delta: float = real(default=0.02, low=0, high=1, open_high=True, doc="δ, the probability that a gap opens.")
    epsilon: float = real(default=0.7, low=0, high=1, open_high=True, doc="ε, the probability that a gap goes on.")
    gaps: Literal["given", "fit"] = choice(
        default="given", doc="Use γ, δ and ε as given, or estimate them in the training set by Baum-Welch."
    )
    odds: bool = flag(
        default=True, doc="Divide K by the background probabilities of the residues. Does not change normalised values."
    )
    logarithm: bool = flag(default=True, doc="Return ln K, or K itself.")
    normalize: bool = changed(
        default=False, doc="Divide by sqrt(K(x, x)·K(y, y)), with K the probabilities or their logarithms."
    )
    zero_diagonal: Literal["error", "zero"] = changed(
        default="error",
        doc="When normalising logarithms, what to do with a sequence whose ln K(x, x) is 0 or less: raise an error, or "
        "return zeros.",
    )

    @classmethod
    def examples(cls) -> list["PairHMMKernel"]:
        """Return kernels for the contract suite."""
        return [
            cls(alphabet="protein"),
            cls(logarithm=False, normalize=True, gaps="fit", alphabet="protein"),
            cls("NUC.4.4", delta=0.1, epsilon=0.4, odds=False, logarithm=False, alphabet="dna"),
            cls([[2, -2, -2], [-2, 2, -2], [-2, -2, 2]], delta=1e-200, alphabet="HEC"),
        ]

    @property
    def most_block_columns(self) -> int | None:  # type: ignore[override]  # squares are shared by threads
        """As many as rows for several threads."""
        return None if (GIVEN_THREADS.get() or self.n_threads) == 1 else LEAST_BLOCK_ROWS

    @property
    def least_block_rows(self) -> int:  # type: ignore[override]  # fewer leave too many vector lanes idle
        """Fewer rows in a block of the matrix would leave too many vector lanes idle."""
        return LEAST_BLOCK_ROWS

    @property
    def data_dependent(self) -> bool:  # type: ignore[override]  # here it follows from the parameters
        """Whether the gap probabilities are learned."""
        return self.gaps == "fit"

    @property
    def positive_semidefinite(self) -> bool:  # type: ignore[override]  # here it follows from the parameters
        """Whether every Gram matrix is: that of K is if the joint probabilities are; ln K is not."""
        if self.logarithm:
            return False
        for alphabet in [PROTEIN, DNA] if self.alphabet is None else [as_alphabet(self.alphabet)]:
            try:
                values = np.linalg.eigvalsh(self._probabilities(alphabet)[0])
            except ParameterError:
                continue
            return bool(values[0] >= -1e-12 * values[-1])
        return False

    def _check_parameters(self) -> None:
        super()._check_parameters()
        zero = [name for name in ("delta", "epsilon") if getattr(self, name) == 0]
        if zero and (self.logarithm or self.gaps == "fit"):
            why = "some K are 0 and have no logarithm" if self.logarithm else "Baum-Welch never leaves 0"
            raise ParameterError(
                f"{zero[0]}=0 is not possible: {why}",
                remedy=f"choose {zero[0]} above 0" + (" or logarithm=false" if self.logarithm else ""),
            )

    # ---- probabilities --------------------------------------------------------------------------

    def _probabilities(self, alphabet: Alphabet) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Return the odds of pairs, and the background probabilities, of an alphabet."""
        return joint_odds(self.scores(alphabet)[:-1, :-1])

    def gap_probabilities(self) -> Gaps:
        """Return γ, δ and ε: those learned, or those given."""
        if self.gaps == "fit" and self.fitted:
            return self.gaps_
        return float(self.gamma), float(self.delta), float(self.epsilon)

    def _factors(self, alphabet: Alphabet) -> PairFactors:
        """Return the PairFactors for an alphabet."""
        return PairFactors.of(*self._probabilities(alphabet), self.gap_probabilities())

    def _fit(self, X: SequenceSet, y: npt.ArrayLike | None) -> None:
        if self.gaps != "fit":
            return
        given = float(self.gamma), float(self.delta), float(self.epsilon)
        probabilities = self._probabilities(X.alphabet)
        some, pairs = similar_pairs(X, PairFactors.of(*probabilities, given))
        if not pairs:
            warnings.warn("no two training sequences are similar: γ, δ and ε stay as given", stacklevel=2)
            self.gaps_: Gaps = given
            return
        estimate = estimate_gaps(some, pairs, given, functools.partial(PairFactors.with_factors, *probabilities))
        if not estimate.converged:
            warnings.warn(f"Baum-Welch did not converge in {estimate.iterations} iterations", stacklevel=2)
        self.gaps_ = estimate.gaps

    def learned(self) -> dict[str, float]:
        """Return the gap probabilities, if they were learned."""
        return dict(zip(("gamma", "delta", "epsilon"), self.gaps_, strict=True)) if self.gaps == "fit" else {}

    def fitted_state(self) -> tuple[Header, Arrays]:
        """Return (JSON dict, dict of arrays): scores read from a file, and the learned probabilities."""
        header, arrays = super().fitted_state()
        return (
            ({**header, "gaps": list(self.gaps_)}, arrays) if self.gaps == "fit" and self.fitted else (header, arrays)
        )

    def restore_fitted(self, header: Header, arrays: Arrays) -> None:
        """Restore what `fitted_state` returned.

        Parameters
        ----------
        header : dict
            Its JSON part.
        arrays : dict of str to ndarray
            Its arrays.

        Raises
        ------
        ValueError
            If the probabilities are damaged.
        """
        super().restore_fitted(header, arrays)
        if "gaps" in header:
            gamma, delta, epsilon = (float(value) for value in header["gaps"])
            if not all(0 < value < 1 for value in (gamma, delta, epsilon)):
                raise ValueError("gap probabilities outside 0 to 1")
            self.gaps_ = gamma, delta, epsilon

    # ---- values ---------------------------------------------------------------------------------

    def _prepare(self, X: SequenceSet, like: PairSums | None) -> PairSums:
        payload = PairSums(X, self._factors(X.alphabet), like)
        own = payload.logarithms if self.odds else payload.logarithms + 2 * payload.background
        if self.logarithm:
            payload.values = own
        elif self.normalize:  # all that is asked is whether it is positive
            payload.values = np.exp(np.clip(own, -LARGEST_LOGARITHM, LARGEST_LOGARITHM))
        else:
            over = np.flatnonzero(np.abs(own) > LARGEST_LOGARITHM)
            if len(over):
                raise SequenceError(
                    f"its kernel value {'overflows' if own[over[0]] > 0 else 'underflows'}",
                    record=X.ids[over[0]],
                    remedy="choose logarithm=true or normalize=true",
                )
            payload.values = np.exp(own)
        return payload

    def _block(self, rows: PairSums, cols: PairSums, out: npt.NDArray[np.float64]) -> None:
        product(rows, cols, out)
        out += rows.factors.constant
        if not self.odds:
            out += rows.own_background()[:, None] + cols.own_background()
        if not self.logarithm:
            np.exp(out, out=out)

    def _normalised_block(self, rows: Prepared, cols: Prepared, out: npt.NDArray[np.float64]) -> None:
        if self.logarithm:
            super()._normalised_block(rows, cols, out)
            return
        product(rows.payload, cols.payload, out)
        out += rows.payload.factors.constant
        out -= (rows.payload.own_logarithms()[:, None] + cols.payload.own_logarithms()) / 2
        np.exp(out, out=out)

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
        work, level = Workload.of(X, Y), _product.level()
        method = "lanes" if self._factors(X.alphabet).rows else "logarithms"
        lanes = LANES[method][level]
        cells = lane_cells(X, Y, lanes)
        for Z in (X,) if Y is None else (X, Y):
            cells += lanes * float(Z.lengths.astype(np.float64) @ Z.lengths)  # each with itself, in one lane
        seconds = cells * CELL_NS[method][level] * 1e-9
        longest = max(int(X.lengths.max(initial=0)), work.longest)
        own = Cost(seconds, longest * (ROW_BYTES + PROFILE_BYTES * (X.alphabet.size + 1)))
        total = own + work.output(self.n_threads)
        return Plan(method, total.seconds, total.bytes, f"{cells:.3g} pairs of residues in lanes, {seconds:.2g} s")
