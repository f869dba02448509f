"""The motif kernel: occurrences of given motifs (Ben-Hur and Brutlag 2003)."""

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import ParameterError
from seqkern.core.memory import available_memory, format_bytes
from seqkern.core.parameters import flag, positive, share, text
from seqkern.core.threads import GIVEN_THREADS, available_threads, in_threads
from seqkern.core.types import Arrays, Bools, Floats, Header, Ints
from seqkern.kernels import planner
from seqkern.kernels.capabilities import Products, capability
from seqkern.kernels.common_parameters import algorithm_choice, zero_rule
from seqkern.kernels.features import Features
from seqkern.kernels.kernel import check_files
from seqkern.kernels.kernel_operator import SparseImplicit
from seqkern.kernels.kmer.kmer_kernel import KEPT_BYTES, WEIGHT_BYTES
from seqkern.kernels.kmer.kmers import Counted
from seqkern.kernels.models import _scan
from seqkern.kernels.models._scan import LANES, MATRIX_LANES, MatrixBanks, PatternBanks
from seqkern.kernels.models.motif_files import MotifSet
from seqkern.kernels.models.patterns import LANE_LIMIT, Matrix, Pattern, p_value_threshold, share_threshold, tail
from seqkern.kernels.occurrences import KernelPattern, KmerWeights, spread
from seqkern.kernels.planner import Cost, Workload, cheapest, letter_shares, make_plan
from seqkern.kernels.prepared import Plan
from seqkern.kernels.products import _product
from seqkern.kernels.products.product import (
    PANEL,
    WIDEST,
    Counts,
    DenseBlock,
    FeatureKernel,
    SparseBlock,
    Term,
    TermBlocks,
)
from seqkern.sequences.alphabets import Alphabet
from seqkern.sequences.sequence_set import SequenceSet

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


# Motif counts as blocks of the product engine, and the cost of their products.


def make_block(counted: Counted, algorithm: str, like: SparseBlock | None = None) -> SparseBlock | DenseBlock:
    """Return motif counts as a dense or sparse block of features."""
    if algorithm == "index":
        return SparseBlock(counted, like)

    def fill(row: int, tables: Counts) -> None:
        start = counted.start[row : row + len(tables) * PANEL + 1]
        span = slice(start[0], start[-1])
        panels, places = np.divmod(np.repeat(np.arange(len(start) - 1), np.diff(start)), PANEL)
        tables[panels, counted.feature[span], places] = counted.count[span]

    return DenseBlock(len(counted), counted.n_features, fill, int(counted.count.max(initial=0)))


def occurring(chances: Floats, letters: int, records: int) -> Floats:
    """Return the probability that each motif occurs in a record.

    >>> occurring(np.array([0.001, 0.02]), letters=3000, records=30).round(3)
    array([0.095, 0.865])
    """
    return -np.expm1(-chances * letters / max(1, records))


def product_costs(work: Workload, chances: Floats) -> dict[str, Cost]:
    """Return the predicted cost of each feasible product algorithm."""
    rows = occurring(chances, work.row_letters, work.rows)
    cols = occurring(chances, work.col_letters, work.cols)
    counts = cols.sum() * work.cols + (0 if work.symmetric else rows.sum() * work.rows)
    walk = rows.sum() * work.rows * planner.LIST_NS + (rows * cols).sum() * work.pairs * planner.POSTING_NS
    costs = {"index": Cost((counts * planner.INDEX_NS + walk) * 1e-9, int(counts * planner.COUNT_BYTES))}
    if len(chances) <= WIDEST:
        costs["dense"] = work.dense(len(chances), float(chances.max()))
    return costs


# Packing of motifs for the compiled scanners: patterns as bits of machine words, matrices as lanes of vectors.

WORD = 64
MASKS = ("first", "at_end", "last", "at_start", "optional", "block_start", "block_end")
MEMORY_SHARE = 1 / 3  # of the free memory


def pack_patterns(patterns: Sequence[Pattern], classes: Sequence[tuple[Bools, Bools]]) -> PatternBanks:
    """Return patterns as bits of machine words; motif numbers are indices into the list."""
    size = classes[0][0].shape[1] - 1
    packed = [
        _Packed(number, pattern, *(array[::-1] for array in own))
        for number, (pattern, own) in enumerate(zip(patterns, classes, strict=True))
    ]
    small = [item for item in packed if item.size <= WORD]
    groups = []
    for gaps in (False, True):
        words = _fill_words([item for item in small if item.gaps == gaps])
        for first in range(0, len(words), LANES):
            groups.append(_bank(words[first : first + LANES], LANES, size, gaps))
    chains = [_bank([[(item, 0)]], -(-item.size // WORD), size, item.gaps) for item in packed if item.size > WORD]
    return PatternBanks(groups, chains)


class _Packed:
    """The positions of one pattern in reading order, from last to first.

    `accepts` (size, letters + 1) are the letters accepted at each position.
    """

    def __init__(self, number: int, pattern: Pattern, accepts: Bools, optional: Bools) -> None:
        anchored = pattern.at_end
        if not anchored:  # a possible continuation does not matter
            trimmed = int(np.argmin(optional))
            accepts, optional = accepts[trimmed:], optional[trimmed:]
        else:  # a position that accepts no letter, so that no match crosses from the previous pattern
            accepts = np.concatenate((np.zeros_like(accepts[:1]), accepts))
            optional = np.concatenate(([False], optional))
        self.number, self.accepts, self.size = number, accepts, len(optional)
        self.gaps = bool(optional.any())
        self.masks = {name: np.zeros(self.size, dtype=bool) for name in MASKS}
        masks = self.masks
        masks["first"][0] = not anchored
        masks["at_end"][0] = not anchored
        if anchored or pattern.or_end:
            masks["at_end"][1 : 2 + int(np.argmin(np.append(optional[1:], False)))] = True
        masks["at_start"][-1] = True
        masks["last"][-1] = not pattern.at_start
        masks["optional"][:] = optional
        masks["block_start"][:-1] = ~optional[:-1] & optional[1:]
        masks["block_end"][:] = optional & ~np.append(optional[1:], False)


def _fill_words(items: Iterable[_Packed]) -> list[list[tuple[_Packed, int]]]:
    """Return the machine words, each a list of (item, offset), filled by best fit, large items first."""
    words: list[list[tuple[_Packed, int]]] = []
    room: dict[int, list[int]] = {size: [] for size in range(WORD + 1)}
    for item in sorted(items, key=lambda item: -item.size):
        left = next((left for left in range(item.size, WORD + 1) if room[left]), None)
        if left is None:
            words.append([])
            word, left = len(words) - 1, WORD
        else:
            word = room[left].pop()
        words[word].append((item, WORD - left))
        room[left - item.size].append(word)
    return words


def _bank(words: Sequence[Sequence[tuple[_Packed, int]]], n_words: int, size: int, gaps: bool) -> tuple[Any, ...]:
    """Return a bank's arrays in the form that `PatternBanks` takes; an item may continue in the next words."""
    takes = np.zeros((size + 1, n_words), dtype=np.uint64)
    masks = {name: np.zeros(n_words, dtype=np.uint64) for name in MASKS}
    owner = np.full(n_words * WORD, -1, dtype=np.int32)
    for word, items in enumerate(words):
        for item, offset in items:
            first = word * WORD + offset
            owner[first : first + item.size] = item.number
            for part in range(0, item.size, WORD):
                span = slice(part, part + WORD)
                bits = np.uint64(1) << np.arange(offset, offset + len(item.accepts[span]), dtype=np.uint64)
                at = word + part // WORD
                takes[:, at] |= (item.accepts[span].T * bits).sum(axis=1, dtype=np.uint64)
                for name, mask in item.masks.items():
                    masks[name][at] |= (mask[span] * bits).sum(dtype=np.uint64)
    return takes, *(masks[name] for name in MASKS), owner, gaps


def pack_matrices(scores: Sequence[Ints], thresholds: Sequence[int]) -> MatrixBanks:
    """Return scored matrices as lanes of vectors; motif numbers are indices into the lists."""
    widths = np.array([len(table) for table in scores])
    letters = scores[0].shape[1]
    order = np.argsort(widths, kind="stable")
    banks = []
    for first in range(0, len(order), MATRIX_LANES):
        chosen = order[first : first + MATRIX_LANES]
        width = int(widths[chosen].max())
        table = np.zeros((width, letters + 2, MATRIX_LANES), dtype=np.int32)
        limits = np.full(MATRIX_LANES, LANE_LIMIT, dtype=np.int32)
        owner = np.zeros(MATRIX_LANES, dtype=np.int32)
        for lane, motif in enumerate(chosen):
            own = scores[motif]
            table[: len(own), :letters, lane] = own
            table[: len(own), letters:, lane] = -(LANE_LIMIT // len(own))  # less than all others together
            limits[lane], owner[lane] = thresholds[motif], motif
        banks.append((table, limits, owner))
    return MatrixBanks(banks)


def check_memory(count: int, size: int) -> None:
    """Raise ParameterError if the tables of `count` motifs take more than a third of the free memory."""
    if size > MEMORY_SHARE * available_memory():
        raise ParameterError(
            f"{count} motifs take about {format_bytes(size)} of memory",
            remedy="give fewer or shorter motifs, or free some memory",
        )


# Multithreaded scanners that count and locate motifs, prepared for one alphabet, in sequences.

SCORE_BYTES = 16  # of a score: alone, and in a lane
PLACE_BYTES = 3  # of a position of a pattern for each letter: twice as bytes, and as a bit
LEAST_LETTERS = 1 << 15  # of a thread's records


@dataclass(frozen=True)
class Found:
    """Occurrences of motifs in a set of records.

    `first` counts residues over all records; `length` is the shortest match's if there are several.
    """

    motif: Ints  # shape (occurrences,): Motif and record of each occurrence
    record: Ints  # shape (occurrences,): Motif and record of each occurrence
    # shape (occurrences,): First residue, counted over all records, and number of residues, those of the shortest match
    # if there are several
    first: Ints
    # shape (occurrences,): First residue, counted over all records, and number of residues, those of the shortest match
    # if there are several
    length: Ints

    def share(self, values: Floats, letters: int) -> Floats:
        """Return each residue's total share, with the value of each occurrence shared equally by its residues.

        >>> found = Found(motif=np.array([0]), record=np.array([0]), first=np.array([2]), length=np.array([4]))
        >>> found.share(np.array([2.0]), 7)
        array([0. , 0. , 0.5, 0.5, 0.5, 0.5, 0. ])
        """
        out = np.zeros(letters)
        for length in np.unique(self.length):
            some = self.length == length
            out += spread(values[some], self.first[some], range(length), letters)
        return out


class Scanner:
    """Scanner for a set of motifs over one alphabet."""

    def __init__(self, alphabet: Alphabet, banks: _scan.Banks, one_strand: Bools, both_strands: bool) -> None:
        self.alphabet = alphabet
        self.banks = banks
        self.one_strand = np.ascontiguousarray(one_strand, dtype=np.uint8)
        self.complement = np.array(alphabet.complement_codes) if both_strands else None

    def count(self, X: SequenceSet, n_threads: int | None = None) -> Counted:
        """Return the count of each motif in each record."""
        start, items = self._scan(X, True, n_threads)
        feature, count = np.ascontiguousarray(items.T)
        return Counted(start, feature, count, len(self.one_strand))

    def find(self, X: SequenceSet, n_threads: int | None = None) -> "Found":
        """Return the occurrences of the motifs."""
        start, items = self._scan(X, False, n_threads)
        record = np.repeat(np.arange(len(X)), np.diff(start))
        motif, place = items.T.astype(np.int64)
        length = np.empty(len(motif), dtype=np.int64)
        order = np.lexsort((place < 0, record, motif))
        keys = motif[order], record[order], place[order] < 0
        new = np.any([key[1:] != key[:-1] for key in keys], axis=0)
        for some in np.split(order, np.flatnonzero(new) + 1) if len(order) else []:
            one, reverse = some[0], place[some[0]] < 0
            starts = -1 - place[some] if reverse else place[some]
            length[some] = self._lengths(motif[one], X, record[one], reverse, starts)
        offsets = np.concatenate(([0], np.cumsum(X.lengths)))
        first = np.where(place < 0, X.lengths[record] + 1 + place - length, place) + offsets[record]
        return Found(motif, record, first, length)

    def _scan(self, X: SequenceSet, counted: bool, n_threads: int | None) -> tuple[Ints, npt.NDArray[np.int32]]:
        """Return (start, items) as `_scan.scan` does, processing ranges of records in threads."""
        threads = available_threads(GIVEN_THREADS.get() or n_threads)
        letters = np.cumsum(X.lengths)
        parts = max(1, min(4 * threads if threads > 1 else 1, int(letters[-1] if len(X) else 0) // LEAST_LETTERS))
        cuts = np.searchsorted(letters, np.linspace(0, letters[-1] if len(X) else 0, parts + 1)[1:-1])
        cuts = np.concatenate(([0], cuts, [len(X)]))

        def work(first: int, last: int) -> Any:
            bounds = X.starts[first:last], X.stops[first:last]
            return _scan.scan(
                self.banks, X.codes, *bounds, self.alphabet.size, self.complement, self.one_strand, counted
            )

        done = in_threads([lambda span=span: work(*span) for span in itertools.pairwise(cuts)], threads)
        numbers = np.concatenate([np.diff(start) for start, _ in done])
        return np.concatenate(([0], np.cumsum(numbers))), np.concatenate([items for _, items in done])

    def _lengths(self, motif: int, X: SequenceSet, record: int, reverse: bool, starts: Ints) -> int | Ints:
        """Return the lengths of a motif's shortest matches at `starts` in one strand of a record."""
        raise NotImplementedError

    def chances(self, shares: Floats) -> Floats:
        """Return the approximate probability that each motif matches at a position of a random sequence."""
        raise NotImplementedError


class PatternScanner(Scanner):
    """Scanner for patterns over one alphabet."""

    def __init__(self, patterns: Sequence[Pattern], alphabet: Alphabet, both_strands: bool = False) -> None:
        places = [pattern.longest for pattern in patterns]
        check_memory(len(patterns), PLACE_BYTES * (alphabet.size + 1) * sum(places))
        self.patterns = patterns
        self.classes = [pattern.classes(alphabet) for pattern in patterns]
        self._accepts = np.concatenate([accepts for accepts, _ in self.classes])
        self._needed = ~np.concatenate([optional for _, optional in self.classes])
        self._starts = np.concatenate(([0], np.cumsum(places)[:-1]))
        same = np.zeros(len(patterns), dtype=bool)
        if both_strands:
            other = np.append(alphabet.complement_codes[: alphabet.size], alphabet.size)
            same[:] = [
                pattern.one_length
                and pattern.at_start == pattern.at_end
                and np.array_equal(accepts, accepts[::-1, other])
                for pattern, (accepts, _) in zip(patterns, self.classes, strict=True)
            ]
        super().__init__(alphabet, pack_patterns(patterns, self.classes), same, both_strands)

    def _lengths(self, motif: int, X: SequenceSet, record: int, reverse: bool, starts: Ints) -> int | Ints:
        pattern = self.patterns[motif]
        if pattern.one_length:
            return pattern.longest
        accepts, optional = self.classes[motif]
        text = np.minimum(X.codes[X.starts[record] : X.stops[record]], self.alphabet.size)
        if reverse:
            text = np.minimum(cast("npt.NDArray[np.uint8]", self.complement)[text[::-1]], self.alphabet.size)
        return _scan.match_lengths(
            accepts.astype(np.uint8), optional.astype(np.uint8), pattern.at_end, np.ascontiguousarray(text), starts
        )

    def chances(self, shares: Floats) -> Floats:
        """Return approximate match probabilities: the product over the elements, times the number of gap lengths, at
        most 1.
        """
        each = np.where(self._accepts[:, -1], 1.0, self._accepts[:, :-1] @ shares)
        with np.errstate(divide="ignore"):  # an absent letter
            logs = np.log(np.where(self._needed, each, 1.0))
        ways = [sum(math.log(element.high - element.low + 1) for element in one.elements) for one in self.patterns]
        return np.exp(np.minimum(np.add.reduceat(logs, self._starts) + ways, 0.0))


class MatrixScanner(Scanner):
    """Scanner for weight matrices over one alphabet, each with its threshold.

    Scores are in hundredths of a bit; the kernel's `score_share` or `p_value` determines the thresholds.
    """

    def __init__(self, kernel: "MotifKernel", matrices: Sequence[Matrix], alphabet: Alphabet) -> None:
        check_memory(len(matrices), SCORE_BYTES * sum(matrix.counts.size for matrix in matrices))
        self.scores = [matrix.scores(alphabet, kernel.pseudocount) for matrix in matrices]
        backgrounds = [matrix.background_of(alphabet) for matrix in matrices]
        if kernel.score_share is None:
            pairs, p_value = zip(self.scores, backgrounds, strict=True), kernel.p_value
            self.thresholds = [p_value_threshold(*pair, P_VALUE if p_value is None else p_value) for pair in pairs]
        else:
            self.thresholds = [share_threshold(scores, kernel.score_share) for scores in self.scores]
        self.tails = [tail(*given) for given in zip(self.scores, backgrounds, self.thresholds, strict=True)]
        same = np.zeros(len(matrices), dtype=bool)
        both = bool(kernel.reverse_complement)
        if both:
            other = alphabet.complement_codes[: alphabet.size]
            same[:] = [np.array_equal(scores, scores[::-1, other]) for scores in self.scores]
        super().__init__(alphabet, pack_matrices(self.scores, self.thresholds), same, both)

    def _lengths(self, motif: int, X: SequenceSet, record: int, reverse: bool, starts: Ints) -> int:
        return len(self.scores[motif])

    def chances(self, shares: Floats) -> Floats:
        """Return the probability of a match under each matrix's own background; `shares` is not used."""
        return np.array(self.tails)


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
    _missing_file_remedy = "check the path, or put patterns in brackets"
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
    p_value: float | None = share(
        None,
        "For matrices: a window matches if a random window of background residues scores as high "
        "or higher with at most this probability, computed from the exact distribution of scores. "
        "Default: 0.0001, unless `score_share` is given. A motif whose best score is more "
        "probable never matches.",
        open_low=True,
    )
    score_share: float | None = share(
        None,
        "Alternative to `p_value`: a window matches if its score reaches this share (0 to 1) of "
        "the range from the smallest to the largest possible score.",
    )
    pseudocount: float = positive(
        1.0, "c in p_j(a) = (n_j(a) + c·b(a))/(n_j + c), with the counts n_j(a) of column j and their sum n_j."
    )
    zero_diagonal: Literal["error", "zero"] = zero_rule("a sequence in which no motif occurs")
    algorithm: str = algorithm_choice(
        "dense", "index", doc=" for the products: dense vectors over all motifs, or posting lists"
    )

    tested_with = (
        {"motifs": ["A", "C-x-[GT]", "{A}(2)", "TATAWAW", "G-x(1,3)-Y-N(2)-T", "<x(0,4)-C", "A-x(0,2)-[GT>]", "ACGT"]},
        {"motifs": ["A", "R-Y", "GC", "W(3)", "C-x(1,2)-G"], "normalize": False, "reverse_complement": True},
        {
            "motifs": ["AAR", "CGY", "G-A-x(1,2)-T", "TTS", "CAG", "ACGT", "GGW", "TAC", "N"],
            "presence": True,
            "reverse_complement": True,
        },
        {"motifs": ["[HC]-x(2)", "E-x(0,3)-{H}>", "(H,E)C", "~C2", "H(2)", "E"], "alphabet": "HEC"},
    )

    # ---- motifs -----------------------------------------------------------------------------------

    def _check_parameters(self) -> None:
        if self.score_share is not None and self.p_value is not None:
            raise ParameterError("p_value and score_share exclude each other", remedy="give only one of them")
        if not isinstance(self.motifs, str):
            self._set()

    def _files(self) -> tuple[str, ...]:
        """Return the path of the file of motifs, if there is one."""
        return (self.motifs,) if isinstance(self.motifs, str) else ()

    def _set(self) -> MotifSet:
        """Return the MotifSet, read or parsed on first use."""
        key = self.motifs if isinstance(self.motifs, str) else _as_list(self.motifs)
        made = vars(self).get("_made")
        if made is None or made[0] != key:
            check_files(self)
            made = key, MotifSet.from_file(key) if isinstance(key, str) else MotifSet.from_list(key)
            self._made = made
        return made[1]

    def fitted_state(self) -> tuple[Header, Arrays]:
        """Return (JSON dict, dict of arrays): the motifs of the file, if there is one."""
        return self._set().state() if isinstance(self.motifs, str) else ({}, {})

    def restore_fitted(self, header: Header, arrays: Arrays) -> None:
        """Restore the state returned by `fitted_state`; the file is no longer needed."""
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
        if chosen.of_patterns:
            return PatternScanner(chosen.patterns, alphabet, bool(self.reverse_complement))
        return MatrixScanner(self, chosen.matrices, alphabet)

    def _min_length(self) -> int:
        """Return the length of the shortest match of any motif."""
        return min(motif.min_length for motif in self._set().motifs)

    # ---- the matrix -------------------------------------------------------------------------------

    def _counts(self, X: SequenceSet) -> Counted:
        """Return the count of each motif in each record; with `presence`, 1 if it occurs."""
        return self._scanner(X.alphabet).count(X, self.n_threads).once(self.presence)

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
        """Return the number of skipped entries of the file, and of motifs that do not occur."""
        idle = np.setdiff1d(np.arange(counted.n_features), counted.feature)
        if not len(idle):
            return self._set().counts
        names = [self._set().names[motif] for motif in idle[:NAMED]] + ["…"] * (len(idle) > NAMED)
        return self._set().counts | {f"{NOTHING} ({', '.join(names)})": len(idle)}

    @capability
    def implicit(self) -> Products:
        """The counts of the motifs."""
        return Products(self, self._implicit, self._implicit_bytes)

    def _implicit(self, X: SequenceSet) -> SparseImplicit:
        counted = self._counts(X)
        out = SparseImplicit(counted.start, counted.feature, counted.count, counted.n_features)
        out.counts = self._left_out(counted)
        return out

    def _implicit_bytes(self, X: SequenceSet) -> int:
        """Return the bytes that the counts and weights of motifs take."""
        chances = self._chances(X)
        entries = occurring(chances, int(X.lengths.sum()), len(X)).sum() * len(X)
        return int(KEPT_BYTES * entries + WEIGHT_BYTES * len(chances))

    def _chances(self, X: SequenceSet) -> Floats:
        """Return the approximate probability that each motif matches at a position of `X`, float64 (motifs,)."""
        strands = 2 if self.reverse_complement else 1
        return np.minimum(strands * self._scanner(X.alphabet).chances(letter_shares(X)), 1.0)

    def _costs(self, X: SequenceSet, Y: SequenceSet | None = None) -> dict[str, Cost]:
        """Return the Cost of each product algorithm, assuming the same letter frequencies in rows and columns."""
        return product_costs(Workload.of(X, Y), self._chances(X if Y is None else Y))

    def _choose(self, X: SequenceSet) -> str:
        """Return the product algorithm for the columns `X`."""
        return cheapest(self._costs(X)) if self.algorithm == "auto" else self.algorithm

    def _plan(self, X: Any, Y: Any) -> Plan:
        chosen, work = self._set(), Workload.of(X, Y)
        if chosen.of_patterns:
            each = WORD_NS[_product.level()] * sum(pattern.longest for pattern in chosen.patterns) / 64
        else:
            each = COLUMN_NS[_product.level()] * sum(len(matrix.counts) for matrix in chosen.matrices)
        scan = Cost(each * work.letters * (2 if self.reverse_complement else 1) * 1e-9)
        return make_plan([self._choose(X if Y is None else Y)], [self._costs(X, Y)], work.output(self.n_threads) + scan)

    # ---- features and explanations ------------------------------------------------------------------

    @capability
    def features(self) -> Features:
        """The number of occurrences of each motif."""
        return Features(self, self._occurring, self._feature_names, self._implicit_bytes)

    def _feature_names(self, X: Any) -> list[str]:
        """Return the names of the motifs."""
        self.check_parameters()
        return self._set().names

    def _occurring(self, X: SequenceSet) -> "csr_matrix":
        from scipy.sparse import csr_matrix  # 0.1 s to import

        counted = self._counts(X)
        values = counted.count.astype(np.float64)
        return csr_matrix((values, counted.feature, counted.start), shape=(len(X), counted.n_features))

    def _motif_weights(self, support: SequenceSet, coefficients: Floats) -> tuple[Floats, Bools]:
        """Return Σ_j coefficients[j]·φ_m(z_j) of each motif, and whether it occurs in the support."""
        counted = self._counts(support)
        values = np.repeat(coefficients, np.diff(counted.start)) * counted.count
        weights: Any = np.bincount(counted.feature, weights=values, minlength=counted.n_features)
        return weights, np.bincount(counted.feature, minlength=counted.n_features) > 0

    def _attribute(self, X: SequenceSet, support: SequenceSet, coefficients: Floats) -> Floats:
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

    def _kmer_weights(self, X: SequenceSet, support: SequenceSet, coefficients: Floats) -> KmerWeights:
        weights, occurs = self._motif_weights(support, coefficients)
        occurs[self._counts(X).feature] = True
        names = [name for name, here in zip(self._set().names, occurs, strict=True) if here]
        return KmerWeights(names, weights[occurs], [KernelPattern(name, self._occurrences) for name in names])

    def _occurrences(self, X: SequenceSet) -> dict[str, int]:
        """Return the number of matches of each motif in `X`, also with `presence`."""
        counted = self._scanner(X.alphabet).count(X, self.n_threads)
        sums = np.bincount(counted.feature, weights=counted.count, minlength=counted.n_features)
        return dict(zip(self._set().names, sums.astype(np.int64).tolist(), strict=True))


def _as_list(motifs: Sequence[str]) -> list[str]:
    """Return `motifs` as a list of patterns; raise ParameterError if it is not a list of str."""
    good = isinstance(motifs, (list, tuple)) and len(motifs) and all(isinstance(text, str) for text in motifs)
    if not good:
        raise ParameterError(
            f"motifs={motifs!r} is not possible",
            remedy="give a list of patterns, the path of a file, or public:prosite1995",
        )
    return list(motifs)
