"""The pair HMM kernel: the probability that a pair HMM emits two sequences (Watkins 1999; Haussler 1999)."""

import functools
import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import ParameterError, SequenceError
from seqkern.core.parameters import changed, choice, flag, real, share, text
from seqkern.core.threads import GIVEN_THREADS
from seqkern.core.types import Arrays, Floats, Header, Ints
from seqkern.kernels._blocks import Records
from seqkern.kernels.alignment import _pair_hmm
from seqkern.kernels.alignment.alignment_kernel import MatrixKernel, lane_cells
from seqkern.kernels.alignment.local_alignment import LARGEST_LOGARITHM, LEAST_BLOCK_ROWS, LocalSums, product
from seqkern.kernels.capabilities import Traits
from seqkern.kernels.common_parameters import zero_rule
from seqkern.kernels.planner import Cost, Workload
from seqkern.kernels.prepared import Plan, Prepared
from seqkern.kernels.products import _product
from seqkern.sequences.alphabets import DNA, PROTEIN, Alphabet, as_alphabet
from seqkern.sequences.sequence_set import SequenceSet

# Probabilities of a pair HMM, derived from a substitution matrix, and the factors of its loops.
#
# Numbers in a tile share a power of two in each vector lane (`_pair_hmm.h`). `tile_rows` finds how many rows a tile may
# have. Numbers grow by at most one pair, and the sum of a row, in each row of the tile. A number that underflows
# beside the largest one, v, at the start of the tile could matter only through alignments in the remaining rows, with
# at most one pair in each; the same could follow v at the price of a gap in each row and column of the tile. The total
# is kept below 2^900, where a double holds 2^1022 beside 1, so that losses are below 2^−100 of K.

TILE_ROWS = (64, 32, 16, 8)
STRIP = 8  # the most columns of a strip
BITS, SPARE_BITS = 900, 64
SCALES = np.geomspace(1e-3, 20, 200)  # of scores, times the largest of them
HALVINGS = 100


@dataclass(frozen=True)
class PairFactors:
    """The factors of a pair HMM that the compiled loops need."""

    model: Any
    constant: float  # ln K less the sum over alignments that the loops return
    background: Floats  # shape (size + 1,): ln q of each code, the masked residue's, 0, last
    rows: int  # Of a tile; 0 if the loops compute in logarithms

    @classmethod
    def of(cls, odds: Floats, background: Floats, gaps: tuple[float, float, float]) -> "PairFactors":
        """Return the PairFactors for the odds, background probabilities and gap parameters (γ, δ, ε)."""
        gamma, delta, _epsilon = gaps
        constant = math.log1p(-gamma) + 2 * math.log1p(-delta)
        return cls.with_factors(odds, background, *loop_factors(gaps), constant)

    @classmethod
    def with_factors(
        cls,
        odds: Floats,
        background: Floats,
        pair: float,
        opened: float,
        extended: float,
        constant: float = 0.0,
    ) -> "PairFactors":
        """Return the PairFactors for given loop factors, whether or not they follow from probabilities."""
        size = len(background)
        match = np.zeros((size + 1, size + 2))
        match[:, :-1] = pair  # a masked residue stands for any: the sum over them
        match[:size, :size] *= odds
        rows = tile_rows(float(match.max()), opened, extended)
        with np.errstate(divide="ignore"):
            score = np.log(np.ascontiguousarray(match[:, :-1]))
        model = _pair_hmm.PairHMM(match, score, opened, extended, rows)
        return cls(model, constant, np.append(np.log(background), 0.0), rows)


def loop_factors(gaps: tuple[float, float, float]) -> tuple[float, float, float]:
    """Return the factors of a pair, of a gap's first residue and of each further one, for gap parameters (γ, δ, ε)."""
    gamma, delta, epsilon = gaps
    return gamma * (1 - delta) ** 2, delta * (1 - epsilon) / (1 - delta), epsilon


def tile_rows(best: float, opened: float, extended: float) -> int:
    """Return the number of rows of a tile, or 0 if not even a few are possible.

    >>> tile_rows(30.0, 0.006, 0.7), tile_rows(30.0, 0.0, 0.7)
    (64, 0)
    """
    if not (opened > 0 and extended > 0 and best < math.inf):
        return 0
    pair, gap, more = (math.log2(value) for value in (max(best, 1.0), opened, extended))
    growth = pair + max(gap, 0.0) + 2
    for rows in TILE_ROWS:
        if rows * (growth - 2 * more) - (rows + STRIP) * more + 4 * abs(gap) + SPARE_BITS <= BITS:
            return rows
    return 0


def joint_odds(scores: Floats) -> tuple[Floats, Floats]:
    """Return the odds p(a, b) / (q(a)·q(b)) and background probabilities q implied by a substitution matrix.

    Scores are log odds in units of 1/λ: s(a, b) = ln(p(a, b) / (q(a)·q(b))) / λ. As Σ_b p(a, b) = q(a), the
    probabilities q are exp(λs)⁻¹·1, and λ is the number for which they sum to 1 (Yu, Wootton, Altschul, PNAS 100,
    2003).

    >>> joint = np.array([[0.4, 0.1], [0.1, 0.4]])
    >>> odds, background = joint_odds(2 * np.log(joint / 0.25))
    >>> (odds * 0.25).round(6), background.round(6)
    (array([[0.4, 0.1],
           [0.1, 0.4]]), array([0.5, 0.5]))
    """
    return _joint_odds(np.ascontiguousarray(scores, dtype=np.float64).tobytes(), len(scores))


@lru_cache(maxsize=8)
def _joint_odds(values: bytes, size: int) -> tuple[Floats, Floats]:
    """Return `joint_odds` of scores, float64 (size, size), given as bytes."""
    scores = np.frombuffer(values).reshape(size, size)
    largest = np.abs(scores).max(initial=0.0)
    excess = [_excess(scale / largest * scores) for scale in SCALES] if largest > 0 else []
    for low, high, before, after in zip(SCALES, SCALES[1:], excess, excess[1:], strict=False):
        if before > 0 >= after:
            for _ in range(HALVINGS):
                middle = (low + high) / 2
                low, high = (middle, high) if _excess(middle / largest * scores) > 0 else (low, middle)
            odds = np.exp(high / largest * scores)
            background = np.linalg.solve(odds, np.ones(size))
            if (background > 0).all() and abs(background.sum() - 1) < 1e-9:
                return odds, background / background.sum()
    raise ParameterError(
        "the scores of the matrix do not follow from probabilities of pairs",
        remedy="choose a matrix of log odds, such as BLOSUM62 or NUC.4.4: equal residues score above 0, unlike ones "
        "below 0 on average",
    )


def _excess(exponents: Floats) -> float:
    """Return Σq − 1 for the exponents λs, or NaN if there is no q."""
    try:
        return float(np.linalg.solve(np.exp(exponents), np.ones(len(exponents))).sum()) - 1
    except np.linalg.LinAlgError:
        return math.nan


# The engine of the pair HMM kernel: `PairSums`, a prepared set of sequences.
#
# It works like `seqkern.kernels.alignment.local_alignment`, whose `product` fills a rectangle with ln K.


class PairSums(LocalSums):
    """The payload of the pair HMM kernel: sequences, or a range of them, with ln K(x, x) of each."""

    factors: "PairFactors"  # type: ignore[assignment]  # in place of those of local alignments

    def __init__(self, X: SequenceSet, factors: "PairFactors", like: "PairSums | None" = None) -> None:
        super().__init__(X, factors, like)  # type: ignore[arg-type]  # see above
        self.background = np.array(
            [factors.background[self.codes[a:b]].sum() for a, b in zip(self.start, self.stop, strict=True)]
        )

    def own_background(self) -> Floats:
        """Return the log background probability of each sequence, float64 (n,)."""
        return self.background[self.first : self.last]

    def _fill_diagonal(self, order: Ints, lengths: Ints) -> None:
        """Set `logarithms`, with each sequence in a separate lane."""
        for k in order:
            self.logarithms[k] = self.pair(k, k) + self.factors.constant

    def fill(self, order: Ints, lanes: LocalSums, lane_order: Ints, stop: Ints, out: Floats) -> None:
        """Set out[row, lane] to the log sum over alignments, for each of these records as a row and some others in
        lanes.
        """
        rows, theirs = self._records(order), lanes._records(lane_order)
        _pair_hmm.fill(self.factors.model, _product.level(), rows, theirs, stop.astype(np.int64), out)

    def pair(self, i: int, j: int) -> float:
        """Return the log sum over the alignments of records i and j, without the constant."""
        out, one = np.empty((1, 1)), np.ones(1, dtype=np.int64)
        records = [Records(self.codes, self.start[k : k + 1], self.stop[k : k + 1], one - 1) for k in (i, j)]
        _pair_hmm.fill(self.factors.model, _product.level(), records[0], records[1], one, out)
        return float(out[0, 0])


# Baum-Welch estimation of the gap probabilities of a pair HMM from similar pairs of sequences.

MOST_RECORDS = 128  # among which similar pairs are looked for
ITERATIONS, TOLERANCE = 100, 1e-6
STEP = 1e-4  # of the differences
LEAST, MOST = 1e-6, 1 - 1e-6  # probabilities: without any gap, that of one is not 0

Gaps = tuple[float, float, float]
FactorsOf = Callable[[float, float, float], PairFactors]


class Estimate(NamedTuple):
    """Estimated γ, δ and ε, with the number of pairs used and whether Baum-Welch converged."""

    gaps: Gaps
    pairs: int
    iterations: int
    converged: bool


def similar_pairs(X: SequenceSet, factors: PairFactors) -> tuple[SequenceSet, list[tuple[int, int]]]:
    """Return some of the records, and pairs of each with the record most similar to it.

    Pairs need positive log odds. Of more than 128 different sequences, 128 are chosen, evenly in the order of
    lengths and residues.
    """
    texts = X.strings()
    first = {text: place for place, text in reversed(list(enumerate(texts)))}
    order = [first[text] for text in sorted(first, key=lambda text: (len(text), text)) if text]
    if len(order) > MOST_RECORDS:
        order = [order[k * len(order) // MOST_RECORDS] for k in range(MOST_RECORDS)]
    some = X.take(np.array(order, dtype=np.int64))
    if len(some) < 2:
        return some, []
    sums = PairSums(some, factors)
    odds = np.empty((len(some), len(some)))
    product(sums, sums, odds)
    odds += factors.constant
    own = sums.own_logarithms()
    near = odds - (own[:, None] + own) / 2
    np.fill_diagonal(near, -np.inf)
    nearest = near.argmax(axis=1)
    pairs = {(min(i, int(j)), max(i, int(j))) for i, j in enumerate(nearest) if odds[i, j] > 0}
    return some, sorted(pairs)


def estimate_gaps(X: SequenceSet, pairs: list[tuple[int, int]], gaps: Gaps, factors_of: FactorsOf) -> Estimate:
    """Return the gap parameters that maximise the likelihood of local alignments of the pairs, by Baum-Welch.

    An expected count is the derivative of ln K by the logarithm of the factor that it counts, computed by central
    differences. Let r be the expected pairs of residues and g the expected gaps of all pairs of sequences. There
    are 2 (r + 1) places for a gap, and all residues but 2r are in gaps: γ = r / (r + 1), δ = g / (2 (r + 1)), and
    ε is the share of the residues in gaps that are not the first. Each of n pairs of sequences adds its own 1.
    """
    residues = float(sum(X.lengths[i] + X.lengths[j] for i, j in pairs))
    sums, step = PairSums(X, factors_of(*loop_factors(gaps))), 0
    for step in range(1, ITERATIONS + 1):
        before = gaps
        matched, opened = expected_counts(sums, pairs, gaps, factors_of)
        extended = max(residues - 2 * matched - opened, 0.0)
        places = matched + len(pairs)
        gamma, delta = matched / places, opened / (2 * places)
        epsilon = extended / (extended + opened) if opened > 0 else gaps[2]
        gaps = (_inside(gamma), _inside(delta), _inside(epsilon))
        if max(abs(math.log(new / old)) for new, old in zip(gaps, before, strict=True)) < TOLERANCE:
            return Estimate(gaps, len(pairs), step, True)
    return Estimate(gaps, len(pairs), step, False)


def expected_counts(
    sums: PairSums, pairs: list[tuple[int, int]], gaps: Gaps, factors_of: FactorsOf
) -> tuple[float, float]:
    """Return the expected numbers of residue pairs and of gaps, over all alignments of some sequence pairs."""
    pair, first, further = loop_factors(gaps)

    def total(matched: float, opened: float) -> float:
        """Return Σ ln K with the factors of a pair and a gap multiplied by e^matched and e^opened."""
        sums.factors = factors_of(pair * math.exp(matched), first * math.exp(opened), further)
        return math.fsum(sums.pair(i, j) for i, j in pairs)

    matched = (total(STEP, 0.0) - total(-STEP, 0.0)) / (2 * STEP)
    opened = (total(0.0, STEP) - total(0.0, -STEP)) / (2 * STEP)
    return matched, opened


def _inside(probability: float) -> float:
    """Return a probability, moved off 0 and 1."""
    return min(max(probability, LEAST), MOST)


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
    With K₁ the joint probability of two residues, K₂(u, v) = g(u)·g(v) of two gaps, g(u) = 1 − δ for none and
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
    traits = Traits(data_dependent=None, definite=None)
    summary = "How probable it is that two sequences descend from a common one, over all global alignments."

    matrix: str | list[list[float]] = text(
        default="BLOSUM62",
        rows=True,
        kw_only=False,
        doc="Substitution matrix that implies the probabilities of pairs: a name known to Biopython, a file in NCBI "
        "format, or log odds in the order of the alphabet. For DNA: NUC.4.4.",
    )
    gamma: float = share(0.99, "γ, the probability of one more pair.", open_low=True, open_high=True)
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
    zero_diagonal: Literal["error", "zero"] = zero_rule("a sequence whose ln K(x, x) is 0 or less")

    tested_with = (
        {"alphabet": "protein"},
        {"logarithm": False, "normalize": True, "gaps": "fit", "alphabet": "protein"},
        {"matrix": "NUC.4.4", "delta": 0.1, "epsilon": 0.4, "odds": False, "logarithm": False, "alphabet": "dna"},
        {"matrix": [[2, -2, -2], [-2, 2, -2], [-2, -2, 2]], "delta": 1e-200, "alphabet": "HEC"},
    )

    @property
    def _most_block_columns(self) -> int | None:  # type: ignore[override]  # squares are shared by threads
        """Maximum number of columns in a block: as many as rows for several threads, else no limit."""
        return None if (GIVEN_THREADS.get() or self.n_threads) == 1 else LEAST_BLOCK_ROWS

    @property
    def _least_block_rows(self) -> int:  # type: ignore[override]  # fewer leave too many vector lanes idle
        """Minimum number of rows in a block: fewer would leave too many vector lanes idle."""
        return LEAST_BLOCK_ROWS

    def _traits(self, declared: Traits) -> Traits:
        return replace(declared, data_dependent=self.gaps == "fit", definite=self._is_definite)

    def _is_definite(self) -> bool:
        """Whether every Gram matrix of K is: if the joint probabilities are; never for ln K."""
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

    def _probabilities(self, alphabet: Alphabet) -> tuple[Floats, Floats]:
        """Return the odds of residue pairs, and the background probabilities, for an alphabet."""
        return joint_odds(self.scores(alphabet)[:-1, :-1])

    def gap_probabilities(self) -> Gaps:
        """Return γ, δ and ε, learned or given."""
        if self.gaps == "fit" and self._fitted:
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
            ({**header, "gaps": list(self.gaps_)}, arrays) if self.gaps == "fit" and self._fitted else (header, arrays)
        )

    def restore_fitted(self, header: Header, arrays: Arrays) -> None:
        """Restore the state returned by `fitted_state`."""
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
            payload.squares = own
        elif self.normalize:  # all that is asked is whether it is positive
            payload.squares = np.exp(np.clip(own, -LARGEST_LOGARITHM, LARGEST_LOGARITHM))
        else:
            over = np.flatnonzero(np.abs(own) > LARGEST_LOGARITHM)
            if len(over):
                raise SequenceError(
                    f"its kernel value {'overflows' if own[over[0]] > 0 else 'underflows'}",
                    record=X.ids[over[0]],
                    remedy="choose logarithm=true or normalize=true",
                )
            payload.squares = np.exp(own)
        return payload

    def _block(self, rows: PairSums, cols: PairSums, out: Floats) -> None:
        product(rows, cols, out)
        out += rows.factors.constant
        if not self.odds:
            out += rows.own_background()[:, None] + cols.own_background()
        if not self.logarithm:
            np.exp(out, out=out)

    def _normalised_block(self, rows: Prepared, cols: Prepared, out: Floats) -> None:
        if self.logarithm:
            super()._normalised_block(rows, cols, out)
            return
        product(rows.payload, cols.payload, out)
        out += rows.payload.factors.constant
        out -= (rows.payload.own_logarithms()[:, None] + cols.payload.own_logarithms()) / 2
        np.exp(out, out=out)

    def _plan(self, X: Any, Y: Any) -> Plan:
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
