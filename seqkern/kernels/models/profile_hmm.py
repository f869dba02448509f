"""A profile hidden Markov model, and the gradient of its likelihood."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import FileError, ParameterError, SequenceError
from seqkern.core.memory import available_memory, format_bytes
from seqkern.core.public_files import local_path
from seqkern.core.text_files import open_text
from seqkern.core.threads import GIVEN_THREADS, available_threads, in_threads
from seqkern.core.types import Arrays, Floats, Ints, PathLike
from seqkern.formats.hmmer import parse_hmms
from seqkern.kernels.alignment.smith_waterman import SmithWatermanKernel
from seqkern.kernels.models import _forward_backward
from seqkern.kernels.models import _forward_backward as loops
from seqkern.kernels.prepared import Plan
from seqkern.kernels.substitution_scores import score_table
from seqkern.sequences.alphabets import ALPHABETS, Alphabet
from seqkern.sequences.sequence_set import SequenceSet

if TYPE_CHECKING:
    import pyhmmer


LOOP = 350 / 351
"""Probability that a flanking state emits one more residue."""

STEPS = ("MM", "MI", "MD", "IM", "II", "DM", "DD")
GROUPS = (slice(0, 3), slice(3, 5), slice(5, 7))
"""The steps out of a match, an insert and a delete state."""

CHUNKS = 8


@dataclass(frozen=True, eq=False)
class ProfileHMM:
    """A profile HMM, traversed from begin to end, once, anywhere in a sequence (glocal, single-hit).

    States: begin; for each of `length` columns a match state, an insert state after it (but for the last column) and a
    delete state; end. Before the begin and after the end a state emits any number of letters, one more with the
    probability 350/351. These two and the inserts emit residues with their background frequencies, as in HMMER's
    programs. A masked residue is emitted with probability 1 by any state, and not counted.

    `emissions` (length, letters) are the match states'; rows sum to 1. `steps` (length, 7) are the
    probabilities
    of MM, MI, MD, IM, II, DM, DD: row 0 belongs to the begin (MM and MD alone), row k to column k, counted from 1. The
    last column leads to the end only. `background` has shape (letters,).
    """

    emissions: np.ndarray  # shape (length, letters): Of the match states; rows sum to 1
    # shape (length, 7): Probabilities of the steps MM, MI, MD, IM, II, DM, DD: row 0 is of the begin (MM and MD alone),
    # row k of column k, counted from 1. The last column leads to the end only
    steps: np.ndarray
    background: np.ndarray  # shape (letters,)

    @classmethod
    def of(cls, emissions: npt.ArrayLike, steps: npt.ArrayLike, background: npt.ArrayLike) -> Self:
        """Return the model of any non-negative numbers, each row normalised; rows of zeros remain zero."""
        emissions, steps = np.array(emissions, np.float64), np.array(steps, np.float64)
        background = np.array(background, np.float64)
        steps[0, [1, 3, 4, 5, 6]] = 0.0
        for part in (emissions, *(steps[:, group] for group in GROUPS)):
            total = part.sum(axis=1, keepdims=True)
            np.divide(part, total, out=part, where=total > 0)
        return cls(emissions, steps, background / background.sum())

    @property
    def length(self) -> int:
        """Number of columns."""
        return len(self.emissions)

    def width(self, transitions: bool) -> int:
        """Return the number of scores."""
        return self.emissions.size + (self.steps.size if transitions else 0)

    def score(
        self, X: SequenceSet, transitions: bool = False, *, n_threads: int | None = None, kept_rows: int = 0
    ) -> tuple[Floats, Floats]:
        """Return the Fisher scores (n, width), and the log-odds of each sequence over the background (n,).

        A score is ∂ ln P(x) / ∂θ, with the probabilities θ of a state renormalised: expected count / θ, less the
        expected
        visits of the state; first emissions, column after column, then steps. It is 0 where θ is 0, and everywhere
        for a
        sequence that the model cannot emit, whose log-odds are −∞.
        """
        scores, odds = np.empty((len(X), self.width(transitions))), np.empty(len(X))
        arrays = X.codes, X.starts, X.stops

        def task(first: int, last: int) -> Callable[[], None]:
            return lambda: self._recursions.scores(*arrays, first, last, transitions, kept_rows, scores, odds)

        n_threads = available_threads(GIVEN_THREADS.get() or n_threads)
        in_threads([task(*span) for span in _spans(X.lengths, n_threads)], n_threads)
        return scores, odds + X.lengths * np.log(LOOP) + 2 * np.log1p(-LOOP)

    def posteriors(self, codes: npt.NDArray[np.uint8]) -> Floats:
        """Return the probability of each match state at each residue, float64 (n, length), 0 at masked residues."""
        striped = np.zeros((len(codes), len(self._places)))
        self._recursions.posteriors(np.ascontiguousarray(codes), striped)
        result = striped[:, self._places[: self.length]]
        result[codes >= len(self.background)] = 0.0
        return result

    def shares(self, X: SequenceSet, weights: Floats) -> Floats:
        """Return each residue's contribution to the scores of the emissions times `weights`."""
        free = self.emissions > 0
        table = np.where(free, weights.reshape(self.emissions.shape), 0.0)
        values = np.divide(table, self.emissions, out=np.zeros_like(table), where=free)
        values = np.vstack(((values - table.sum(axis=1, keepdims=True)).T, np.zeros(self.length)))
        shares = [np.zeros(0)]
        for start, stop in zip(X.starts, X.stops, strict=True):
            codes = X.codes[start:stop]
            shares.append((self.posteriors(codes) * values[np.minimum(codes, len(values) - 1)]).sum(axis=1))
        return np.concatenate(shares)

    def information(self, transitions: bool = False) -> Floats:
        """Return the diagonal of the Fisher information of one traversal, float64 (width,): visits · (1 − θ)/θ.

        The visits of a state are those that the model expects; emissions and transitions are assumed known. 0 for θ of
        0 and 1, which are not parameters.
        """
        visits = self._visits()
        parts = [_variance(visits[1:, :1], self.emissions).reshape(-1)]
        if transitions:
            each = np.repeat(visits[:-1], [3, 2, 2], axis=1)
            parts.append(_variance(each, self.steps).reshape(-1))
        return np.concatenate(parts)

    def _visits(self) -> Floats:
        """Return the expected numbers of visits to match, insert and delete states, (length + 1, 3).

        Row 0 is the begin.
        """
        visits = np.zeros((self.length + 1, 3))
        visits[0, 0] = 1.0
        for k in range(self.length):
            match, deleted = visits[k, 0], visits[k, 2]
            mm, mi, md, im, ii, dm, dd = self.steps[k]
            visits[k, 1] = match * mi / (1.0 - ii) if ii < 1 else 0.0
            visits[k + 1, 0] = match * mm + visits[k, 1] * im + deleted * dm
            visits[k + 1, 2] = match * md + deleted * dd
        return visits

    @cached_property
    def _places(self) -> Ints:
        """Place of each column in the vectors of the compiled loops, int64 (Q·8,)."""
        columns = self.length // loops.LANES + 1
        at = np.arange(columns * loops.LANES)
        return at % columns * loops.LANES + at // columns

    @cached_property
    def _recursions(self) -> loops.Recursions:
        """Input of the compiled loops: padding columns are passed by deletes, and the last of them is the end."""
        size, length, n = len(self.background), self.length, len(self._places)
        emit, steps = np.zeros((size + 1, n)), np.zeros((len(STEPS), n))
        odds = np.divide(self.emissions, self.background, out=np.zeros_like(self.emissions), where=self.background > 0)
        emit[:size, :length] = odds.T / LOOP
        emit[size, :length] = 1.0 / LOOP
        steps[:, :length] = self.steps.T
        steps[2, length] = 1.0
        steps[6, length:] = 1.0
        for into_insert in (1, 4):
            steps[into_insert] = np.roll(steps[into_insert], -1) / LOOP
        deletes = steps[6].reshape(loops.LANES, -1).copy()
        ahead = np.cumprod(np.where(np.arange(deletes.shape[1]) > 0, deletes, 1.0), axis=1)
        behind = np.ones_like(deletes)
        behind[:, :-1] = np.cumprod(deletes[:, :0:-1], axis=1)[:, ::-1]
        striped = [np.empty((len(part), n)) for part in (emit, steps, np.zeros((2, n)))]
        sources = emit, steps, np.stack((ahead.reshape(-1), behind.reshape(-1)))
        for target, source in zip(striped, sources, strict=True):
            target[:, self._places] = source
        inverse = np.divide(1.0, self.emissions, out=np.zeros_like(self.emissions), where=self.emissions > 0)
        return loops.Recursions(
            striped[0], striped[1], 1.0 / LOOP, striped[2][0], striped[2][1], inverse, self.steps.copy()
        )

    def arrays(self) -> Arrays:
        """Return the arrays that `from_arrays` needs."""
        return {"emissions": self.emissions, "steps": self.steps, "background": self.background}

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> Self:
        """Return the model restored from the result of `arrays`."""
        return cls(**arrays)

    def __getstate__(self) -> Arrays:
        return self.arrays()

    def __setstate__(self, state: Arrays) -> None:
        self.__dict__.update(state)


def _variance(visits: Floats, chances: Floats) -> Floats:
    """Return visits · (1 − θ)/θ, 0 where θ is 0."""
    return np.divide(visits * (1.0 - chances), chances, out=np.zeros_like(chances), where=chances > 0)


def _spans(lengths: Ints, n_threads: int) -> list[tuple[int, int]]:
    """Return (first, last) of ranges of records with about equally many residues, several for each thread."""
    total = np.cumsum(lengths + 1)
    parts = CHUNKS * n_threads
    inner: Any = np.searchsorted(total, np.linspace(0, total[-1], parts + 1)[1:-1]) if len(total) else []
    cuts = np.unique(np.concatenate(([0], inner, [len(lengths)]))).astype(int)
    return list(zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True))


# Progressive multiple alignment: the most similar sequences first, along a tree of local alignment scores.

MATRICES = {"protein": "BLOSUM62", "dna": "NUC.4.4", "rna": "NUC.4.4"}
GAP_OPEN, GAP_EXTEND = 11.0, 1.0
CELL_NS = 13.0
"""CPU nanoseconds for a pair of columns."""
IN_TREE = 1000
"""Maximum number of sequences compared in pairs; each further one is aligned with all before it."""


@dataclass(frozen=True, eq=False)
class Aligned:
    """An alignment of some sequences.

    `members` are the numbers of the sequences, and `places` the column of each residue, one array for each member.
    `counts` (letters + 1, columns) is how often each letter is in a column; its last row counts all residues,
    masked ones
    included.
    """

    members: list[int]  # Numbers of the sequences
    places: list[Ints]  # shape (residues,): The column of each residue, one array for each member
    # shape (letters + 1, columns): How often each letter is in a column; in the last row the residues, masked ones
    # included
    counts: Floats


def align_sequences(X: SequenceSet) -> npt.NDArray[np.uint8]:
    """Return a multiple alignment of sequences, codes of shape (n, columns).

    The most similar sequences or alignments are aligned first, along the UPGMA tree of Smith-Waterman scores, each
    divided by the roots of both self-scores. The score of two columns is the sum of BLOSUM62 (NUC.4.4 for bases)
    over all
    pairs of residues; a gap costs 11 for its first residue and 1 for each further one. Masked residues score
    nothing. Of
    more than 1000 distinct sequences, 1000 evenly spaced in the sorted order form the tree, and the others are
    added one
    by one. All scores are integers: the result depends on the sequences alone, not on their order.

    In the result, the code ``letters`` marks a masked residue, and ``letters + 1`` a gap.

    Time: n² Smith-Waterman scores and n alignments for n sequences; memory: the product of two lengths, in bytes.
    """
    size = X.alphabet.size
    texts = sorted(set(X.strings()))
    number = {text: place for place, text in enumerate(texts)}
    own = SequenceSet.from_strings(texts, X.alphabet, unknown="mask_all")
    plan = alignment_plan(own)
    _check_memory(int(own.lengths.max()), int(np.sort(own.lengths)[-2:].min()), plan.check().bytes)
    whole = _align_all(own)
    rows = np.full((len(texts), whole.counts.shape[1]), size + 1, dtype=np.uint8)
    for member, places in zip(whole.members, whole.places, strict=True):
        rows[member, places] = np.minimum(own.codes[own.starts[member] : own.stops[member]], size)
    return rows[[number[text] for text in X.strings()]]


def alignment_plan(X: SequenceSet) -> Plan:
    """Return the predicted cost of aligning distinct sequences.

    >>> X = SequenceSet.from_strings(["MKVWHDELAW", "MKVWHDEDELAW"], "protein")
    >>> alignment_plan(X).algorithm
    'tree'
    """
    if len(X) < 2:
        return Plan("tree")
    pairs = _tree_kernel(X).plan(X.take(_in_tree(len(X))))
    first, second = (float(length) for length in np.sort(X.lengths)[:-3:-1])
    cells = (len(X) - 1) * float(X.lengths.mean()) ** 2 if len(X) > 2 else first * second
    return Plan("tree", pairs.seconds + CELL_NS * 1e-9 * cells, max(pairs.bytes, int((first + 1) * (second + 1))))


def _tree_kernel(X: SequenceSet) -> SmithWatermanKernel:
    """Return the Smith-Waterman kernel whose values determine the tree."""
    return SmithWatermanKernel(MATRICES[X.alphabet.name], GAP_OPEN, GAP_EXTEND, normalize=True, zero_diagonal="zero")


def _in_tree(n: int) -> Ints:
    """Return the numbers of the sequences, of n, that are compared in pairs."""
    return np.linspace(0, n - 1, min(n, IN_TREE)).round().astype(np.int64)


def _align_all(X: SequenceSet) -> "Aligned":
    """Return the alignment of distinct sequences."""
    score = score_table(MATRICES[X.alphabet.name], X.alphabet)[:-1, :-1].copy()
    nodes = {i: _alone(X, i) for i in range(len(X))}
    for number, (first, second) in enumerate(_merges(X), len(X)):
        nodes[number] = _merge(nodes.pop(first), nodes.pop(second), score, X)
    return nodes.popitem()[1]


def _alone(X: SequenceSet, i: int) -> "Aligned":
    """Return one sequence as an alignment."""
    codes = np.minimum(X.codes[X.starts[i] : X.stops[i]], X.alphabet.size).astype(np.int64)
    places = np.arange(len(codes))
    counts = np.zeros((X.alphabet.size + 1, len(codes)))
    counts[codes, places] = 1
    counts[-1] = 1
    return Aligned([i], [places], counts)


def _merges(X: SequenceSet) -> Iterator[tuple[int, int]]:
    """Yield pairs of nodes to align: nodes 0 to n − 1 are the sequences, and each pair becomes a new node."""
    from scipy.cluster.hierarchy import linkage  # imported here: slows start-up

    n = len(X)
    if n < 2:
        return
    chosen = _in_tree(n)
    distances = 1 - _tree_kernel(X)(X.take(chosen))[np.triu_indices(len(chosen), 1)]
    node = n - 1
    for first, second in linkage(distances, "average")[:, :2].astype(np.int64).tolist():
        node += 1
        yield _node(first, chosen, n), _node(second, chosen, n)
    for other in np.setdiff1d(np.arange(n), chosen).tolist():
        yield node, other
        node += 1


def _node(number: int, chosen: Ints, n: int) -> int:
    """Return the node of `_merges` that corresponds to a node of the tree of the chosen sequences."""
    return int(chosen[number]) if number < len(chosen) else n + number - len(chosen)


def _merge(first: "Aligned", second: "Aligned", score: Floats, X: SequenceSet) -> "Aligned":
    """Return the alignment of two alignments."""
    sizes = first.counts.shape[1], second.counts.shape[1]
    _check_memory(*sizes, (sizes[0] + 1) * (sizes[1] + 1))
    counts = len(first.members), len(second.members)
    path = _forward_backward.align(first.counts, counts[0], second.counts, counts[1], score, GAP_OPEN, GAP_EXTEND)
    merged, places = np.zeros((len(first.counts), len(path))), []
    for one, other in ((first, 2), (second, 1)):
        column = np.flatnonzero(path != other)
        merged[:, column] += one.counts
        places += [column[own] for own in one.places]
    return Aligned(first.members + second.members, places, merged)


def _check_memory(first: int, second: int, need: int) -> None:
    """Raise SequenceError if aligning `first` with `second` columns needs more memory than is available."""
    free = available_memory()
    if need > free:
        raise SequenceError(
            f"aligning {first} with {second} columns takes {format_bytes(need)} of memory, {format_bytes(free)} "
            "are free",
            remedy="choose shorter sequences, another kernel, or give an HMM with hmm=FILE",
        )


# Profile HMMs from unaligned sequences: they are aligned, and HMMER's builder makes the model.

SEED = 42


def check_alphabet(alphabet: Alphabet) -> None:
    """Raise SequenceError unless the alphabet is dna, rna or protein, as profile HMMs require."""
    if alphabet not in ALPHABETS.values():
        raise SequenceError(
            f"profile HMMs need dna, rna or protein, and the sequences have the alphabet {alphabet.name}",
            remedy="choose model=markov",
        )


def hmmer_alphabet(alphabet: Alphabet) -> "pyhmmer.easel.Alphabet":
    """Return pyhmmer's alphabet for dna, rna or protein; its first letters are the same as seqkern's."""
    # imported here: slows start-up
    from pyhmmer.easel import Alphabet

    return {"dna": Alphabet.dna, "rna": Alphabet.rna, "protein": Alphabet.amino}[alphabet.name]()


def background(alphabet: Alphabet) -> Floats:
    """Return HMMER's background frequencies of the letters, float64 (letters,)."""
    # imported here: slows start-up
    from pyhmmer.plan7 import Background

    return np.array(Background(hmmer_alphabet(alphabet)).residue_frequencies, dtype=np.float64)


def build_profile(X: SequenceSet) -> "ProfileHMM":
    """Return the ProfileHMM of a set of sequences.

    The sequences are aligned by `align_sequences`, and the model is built as hmmbuild does: a column belongs to the
    model if half of the sequences, with Henikoff weights, have a residue in it (if none does, all columns belong);
    mixture Dirichlet priors; the effective number of sequences that gives HMMER's target information. For a single
    sequence the priors dominate. Fully masked sequences are ignored; if no others exist, the model is one column
    with the
    background frequencies. The result does not depend on the number of threads.
    """
    check_alphabet(X.alphabet)
    known = X.take([bool(set(text) - {"*"}) for text in X.strings()])
    frequencies = background(X.alphabet)
    if not len(known):
        return ProfileHMM.of([frequencies], [[1, 0, 1, 0, 0, 0, 0]], frequencies)
    letters = X.alphabet.letters + ("X-" if X.alphabet.name == "protein" else "N-")
    aligned = ["".join(letters[code] for code in row) for row in align_sequences(known).tolist()]
    model = _build(aligned, X.alphabet, symfrac=0.5) or _build(aligned, X.alphabet, symfrac=0.0)
    if model is None:
        raise ParameterError(
            "no profile HMM can be built from the positive sequences", remedy="give an HMM with hmm=FILE"
        )
    return from_hmmer(model, frequencies)


def from_hmmer(model: Any, frequencies: npt.ArrayLike) -> "ProfileHMM":
    """Return the ProfileHMM of a pyhmmer HMM."""
    steps = np.asarray(model.transition_probabilities)[:-1]
    return ProfileHMM.of(np.asarray(model.match_emissions)[1:], steps, frequencies)


def _build(aligned: Sequence[str], alphabet: Alphabet, symfrac: float) -> "pyhmmer.plan7.HMM | None":
    """Return pyhmmer's HMM of an alignment, or None if no column belongs to it or a sequence has no residue in it."""
    # imported here: slows start-up
    from pyhmmer.easel import TextMSA, TextSequence
    from pyhmmer.errors import UnexpectedError
    from pyhmmer.plan7 import Background, Builder

    letters = hmmer_alphabet(alphabet)
    rows = [TextSequence(name=b"%d" % i, sequence=row) for i, row in enumerate(aligned)]
    alignment = TextMSA(name=b"positives", sequences=rows).digitize(letters)
    # Short beside a wide alignment they are no fragments: else columns that few sequences have would be counted in.
    builder = Builder(letters, architecture="fast", weighting="pb", symfrac=symfrac, fragthresh=0.0, seed=SEED)
    try:
        return builder.build_msa(alignment, Background(letters))[0]
    except (ValueError, UnexpectedError):
        return None


# Profile HMMs from HMMER3 files.


def read_profiles(path: PathLike) -> tuple[list[ProfileHMM], Alphabet]:
    """Return the models of a HMMER3 file, in file order and with HMMER's background, and their alphabet."""
    with open_text(local_path(path)) as (text, name):
        found = parse_hmms(text.read())
    letters = found[0].alphabet.type
    name_here = {"amino": "protein", "DNA": "dna", "RNA": "rna"}.get(letters)
    if name_here is None:
        raise FileError(f"has models of {letters}", file=name, remedy="give models of dna, rna or protein")
    alphabet = ALPHABETS[name_here]
    frequencies = background(alphabet)
    return [from_hmmer(model, frequencies) for model in found], alphabet
