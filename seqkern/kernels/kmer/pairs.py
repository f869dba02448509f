"""Kernels on pairs of k-mers: gappy pairs and oligomer distances."""

from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import dataclass, replace
from functools import partial, reduce
from itertools import repeat
from operator import add
from typing import Any, Literal, cast

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import ParameterError, SequenceError, ShortError
from seqkern.core.parameters import changed, choice, fixed, integer, real, text
from seqkern.core.threads import GIVEN_THREADS, in_threads
from seqkern.core.types import Array, Floats, Ints
from seqkern.kernels.capabilities import Traits
from seqkern.kernels.common_parameters import SUMMED, algorithm_choice, short_rule, zero_rule
from seqkern.kernels.kmer import _kmer_pairs
from seqkern.kernels.kmer.kmer_kernel import LARGEST_K, KmerKernel
from seqkern.kernels.kmer.kmers import (
    CODE_LIMIT,
    MOST_CODES,
    NO_COMPLEMENT,
    Counted,
    Occurrences,
    code_type,
    per_record,
    residue_count_text,
)
from seqkern.kernels.kmer.oligo import (
    FORMS,
    PositionBlock,
    distance_weights,
    mean_shares,
    occurrence_shares,
    position_costs,
)
from seqkern.kernels.occurrences import KmerWeights, Pattern, merge, spell
from seqkern.kernels.planner import SAMPLE_RECORDS, Cost, Workload
from seqkern.kernels.products import _product
from seqkern.kernels.products.product import WIDEST, Block, Counts, SparseBlock, dense_block
from seqkern.sequences.alphabets import Alphabet
from seqkern.sequences.sequence_set import SequenceSet

# Pairs of k-mers as integer codes, with or without annotation, and their start positions.
#
# A residue and its annotation letter make one *symbol*, annotation · b + letter over b letters; without annotation a
# symbol is the residue. The k-mer u over s symbols has the code u < s^k, and the pair of u and v whose starts are
# separated by the t-th of the given distances has the code (t·s^k + u)·s^k + v. Pairs with a masked residue in a k-mer
# do not count; residues between the k-mers do not matter.

NO_SYMBOL = 0xFFFF
LEAST_PART = 1 << 14  # features
MOST_PARTS = 64
NO_KMERS = np.zeros(0, dtype=np.uint32)
NO_POSITIONS = np.zeros(0, dtype=np.int32)

Notes = npt.NDArray[np.uint8]
"""Codes of annotation letters."""


@dataclass(frozen=True)
class Symbols:
    """The residues of records, each with its annotation letter, concatenated.

    The code `NO_SYMBOL` marks a masked residue or an excluded annotation letter; the symbols of record i are
    ``start[i]`` to ``start[i + 1]``. `complement` maps each symbol to its complement; the annotation letter stays.
    """

    # shape (residues,): `NO_SYMBOL` for a masked residue, or an annotation letter that does not count
    codes: npt.NDArray[np.uint16]
    start: Ints  # shape (n + 1,): The symbols of record i are ``start[i]`` to ``start[i + 1]``
    size: int  # How many symbols there are
    # shape (65536,): The complement of each; the annotation letter stays
    complement: npt.NDArray[np.uint16] | None = None

    def __len__(self) -> int:
        return len(self.start) - 1


def annotation_letters(X: SequenceSet, track: str) -> Notes:
    """Return the distinct annotation letters of unmasked residues, ascending."""
    positions = X.positions()
    seen = np.bincount(X.tracks[track][positions], X.codes[positions] < X.alphabet.size, minlength=256)
    return np.flatnonzero(seen).astype(np.uint8)


def find_symbols(
    X: SequenceSet, track: str | None = None, notes: Notes | None = None, complement: bool = False
) -> Symbols:
    """Return the Symbols of records: each residue with its annotation letter."""
    positions, size = X.positions(), X.alphabet.size
    codes = X.codes[positions].astype(np.uint16)
    bad = codes >= size
    start = per_record(X.lengths)
    complements = X.alphabet.complement_codes[:size].astype(np.uint16) if complement else None
    n_notes = 1
    if track is not None and notes is not None:
        n_notes = len(notes)
        numbers = np.full(256, NO_SYMBOL, dtype=np.uint16)
        numbers[notes] = np.arange(n_notes)
        noted = numbers[X.tracks[track][positions]]
        bad |= noted == NO_SYMBOL
        codes = noted * np.uint16(size) + codes
    codes[bad] = NO_SYMBOL
    table = None
    if complements is not None:
        table = np.full(NO_SYMBOL + 1, NO_SYMBOL, dtype=np.uint16)
        firsts = np.arange(n_notes, dtype=np.uint16) * np.uint16(size)
        table[: n_notes * size] = np.add.outer(firsts, complements).reshape(-1)
    return Symbols(codes, start, max(1, n_notes * size), table)


class Pairs:
    """The pairs of k-mers of records, at several distances between their starts.

    If `symbols` have complements, a pair and its reverse complement share the smaller code.
    """

    def __init__(self, symbols: Symbols, k: int, distances: range) -> None:
        check_pair_space(symbols.size, k, distances)
        self.start, self.k = symbols.start, k
        self.kmer_space = symbols.size**k
        self._kmers = np.empty(len(symbols.codes), dtype=np.uint32)
        self._reverse = NO_KMERS if symbols.complement is None else np.empty_like(self._kmers)
        self._found = np.empty(len(symbols), dtype=np.int64)
        complement = NO_COMPLEMENT.astype(np.uint16) if symbols.complement is None else symbols.complement
        _kmer_pairs.code_words(
            symbols.codes, symbols.start, k, symbols.size, complement, self._kmers, self._reverse, self._found
        )
        self._set_distances(distances)

    def _set_distances(self, distances: range) -> None:
        self._range, self.space = distances, self.kmer_space**2 * len(distances)
        # Distances beyond the longest record have codes, but no pairs.
        longest = int(np.diff(self.start).max(initial=0))
        self.distances = np.array([d for d in distances[: longest + 1] if d <= longest - self.k], dtype=np.int64)

    def parts(self) -> list["Pairs"]:
        """Return separate Pairs for each distance if there are many features, else one Pairs with all distances.

        Posting lists are built fastest if their ends fit into the cache.
        """
        if self.kmer_space**2 < LEAST_PART or len(self._range) > MOST_PARTS:
            return [self]
        parts = [copy(self) for _ in self._range]
        for part, distance in zip(parts, self._range, strict=True):
            part._set_distances(range(distance, distance + 1))
        return parts

    def __len__(self) -> int:
        return len(self.start) - 1

    def find(self) -> Occurrences:
        """Return the codes of all pairs, in one row."""
        return self._find(located=False)[0]

    def locate(self) -> tuple[Occurrences, npt.NDArray[np.int32]]:
        """Return the codes of all pairs, in one row, and their start positions within the records."""
        return self._find(located=True)

    def _find(self, located: bool) -> tuple[Occurrences, npt.NDArray[np.int32]]:
        """Return the result of `locate`, without positions unless `located`."""
        most = self._most()
        if most > MOST_CODES:
            raise SequenceError(
                f"{most} pairs of k-mers are too many for one matrix",
                remedy="compute the matrix for fewer sequences at a time",
            )
        codes = np.empty(most, dtype=code_type(self.space))
        positions = np.empty(most, dtype=np.int32) if located else NO_POSITIONS
        start = np.empty(len(self) + 1, dtype=np.int64)
        _kmer_pairs.code_pairs(
            self._kmers,
            self._reverse,
            self.start,
            self._found,
            self.k,
            self.distances,
            self.kmer_space,
            codes,
            positions,
            start,
        )
        found = Occurrences(codes[: start[-1]].reshape(1, -1), start, self.space)
        return found, positions[: start[-1]]

    def _most(self) -> int:
        """Return the number of pairs without masked residues."""
        lengths, counts = np.unique(np.diff(self.start), return_counts=True)
        return sum(
            int(np.maximum(length - self.k + 1 - self.distances, 0).sum()) * int(count)
            for length, count in zip(lengths, counts, strict=True)
        )

    @property
    def most(self) -> int:
        """The largest number of k-mers in a record, an upper bound of the pairs at one distance."""
        return int(np.diff(self.start).max(initial=0))

    def tally(self, row: int, tables: Counts) -> None:
        """Add the counts of each pair to `tables`; see `seqkern.kernels.products.product.Tally`."""
        _kmer_pairs.tally_pairs(
            self._kmers, self._reverse, self.start, self.k, self.distances, self.kmer_space, row, tables
        )


def check_pair_space(size: int, k: int, distances: range) -> None:
    """Raise ParameterError unless the codes of all k-mer pairs fit into 63 bits."""
    if not pairs_fit(size, k, distances):
        possible = next((n for n in range(min(k, 32), 0, -1) if pairs_fit(size, n, distances)), None)
        raise ParameterError(
            f"pairs of k-mers with k={k} over {size} letters, at {len(distances)} distances, have too many features",
            remedy="choose fewer distances" if possible is None or possible == k else f"choose k up to {possible}",
        )


def pairs_fit(size: int, k: int, distances: range) -> bool:
    """Return whether the codes of all k-mer pairs fit into 63 bits."""
    return size ** min(2 * k, 128) * len(distances) < CODE_LIMIT


# Conversion of k-mer pair codes to names.


def name_pairs(
    codes: Array,
    k: int,
    distances: range,
    letters: str,
    notes: npt.NDArray[np.uint8] | None,
    name: Callable[[Any, Any, int, int], Any],
) -> list[str]:
    """Return the names of pairs of k-mers."""
    texts = [np.array(list(letters), dtype=object)]
    if notes is not None:
        texts = [np.tile(texts[0], len(notes)), np.repeat([note_name(note) for note in notes], len(letters))]
        texts[1] = texts[1].astype(object)
    kmers = len(texts[0]) ** k
    number, pair = np.divmod(codes.astype(np.int64), kmers * kmers)
    names = np.empty(len(codes), dtype=object)
    for t in np.unique(number):
        here = np.flatnonzero(number == t)
        both = [_digits(code, k, len(texts[0])) for code in np.divmod(pair[here], kmers)]
        parts = []
        for shown in texts:
            first, second = (reduce(add, [shown[digit] for digit in digits]) for digits in both)
            parts.append(name(first, second, k, distances[int(t)]))
        names[here] = reduce(add, parts)
    return list(names)


def note_name(note: int) -> str:
    """Return an annotation letter as text, or its code in angle brackets if it is not printable."""
    return chr(note) if 32 < note < 127 else f"<{note}>"


def _digits(codes: Ints, k: int, size: int) -> list[Ints]:
    """Return the symbols of k-mers with these codes: k arrays."""
    digits: list[Ints] = []
    for _ in range(k):
        codes, digit = np.divmod(codes, size)
        digits.insert(0, digit)
    return digits


# Base of the kernels on pairs of k-mers: distances, annotation, positions.


@dataclass(frozen=True)
class PairWorkload(Workload):
    """A Workload of annotated residues, with the number `notes` of annotation letters."""

    notes: int = 1  # How many annotation letters there are


class PairKernel(KmerKernel):
    """Base of the kernels on pairs of k-mers.

    A family implements `_distances`, `_min_length` and `_name`.
    """

    annotation: str | None = fixed(None)
    annotation_letters: str | None = fixed(None)
    distance_weight: str | None = fixed(None)
    sigma: float = fixed(1.0)

    k: int | list[int] = integer(
        default=1, low=1, high=LARGEST_K, summed=True, kw_only=False, doc=f"Length of each of the two k-mers. {SUMMED}."
    )
    reverse_complement: bool = changed(
        default=False, doc="Treat a pair and its reverse complement as one feature. DNA and RNA only."
    )
    algorithm: str = algorithm_choice(
        "dense", "index", doc=": products of dense vectors over all pairs, or posting lists"
    )

    def _traits(self, declared: Traits) -> Traits:
        tracks = () if self.annotation is None else (self.annotation,)
        return replace(declared, kmers_vary=self.distance_weight is not None, tracks=tracks)

    def _distances(self, k: int) -> range:
        """Return the range of the distances between the starts of the two k-mers."""
        raise NotImplementedError

    @staticmethod
    def _name(first: Any, second: Any, k: int, distance: int) -> Any:
        """Return the name of the pair of two k-mers (str, or arrays of them)."""
        raise NotImplementedError

    # ---- checks and costs -----------------------------------------------------------------------

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.distance_weight is not None and self.presence:
            raise ParameterError(
                "presence does not apply with distance_weight",
                remedy="choose presence=false, or remove distance_weight",
            )
        letters = self.annotation_letters
        if letters is not None and (not letters or not letters.isascii() or len(set(letters)) < len(letters)):
            raise ParameterError(
                f"annotation_letters={letters!r} is not possible", remedy="give distinct ASCII letters"
            )

    def _check_sequences(self, X: SequenceSet) -> None:
        if self.short == "zero":
            return
        short = np.flatnonzero(X.lengths < self._min_length())
        if len(short):
            raise ShortError(
                f"{residue_count_text(X.lengths[short[0]])} too few: a pair of k-mers needs {self._min_length()}",
                record=X.ids[short[0]],
                remedy="remove the record, choose a smaller k, or short=zero",
            )

    def _workload(self, X: SequenceSet, Y: SequenceSet | None = None) -> PairWorkload:
        work = Workload.of(X, Y)
        if self.annotation is None:
            return PairWorkload(**vars(work))
        cols = X if Y is None else Y
        notes = self._notes(cols)
        some = find_symbols(cols.take(slice(None, None, max(1, len(cols) // SAMPLE_RECORDS))), self.annotation, notes)
        counts = np.bincount(some.codes, minlength=some.size)[: some.size]
        shares = counts / max(1, counts.sum())
        work = replace(work, match=float(shares @ shares), common=float(shares.max(initial=0.0)))
        return PairWorkload(**vars(work), notes=1 if notes is None else max(1, len(notes)))

    def _choose(self, work: PairWorkload, size: int, k: int) -> tuple[str, dict[str, Cost]]:
        check_pair_space(size * work.notes, k, self._distances(k))
        return super()._choose(work, size, k)

    def _costs(self, work: PairWorkload, size: int, k: int) -> dict[str, Cost]:
        distances, size = self._distances(k), size * work.notes
        if not pairs_fit(size, k, distances):
            return {}
        lists = min(len(distances), work.longest + 1)
        space = size ** (2 * k) * len(distances)
        # Pairs closer than k cover fewer residues.
        near = [min(k + d, 2 * k) for d in distances[:k]]
        residues = [*near, *[2 * k] * (lists - len(near))] or [2 * k]
        agree = sum(work.match**n for n in residues) / len(residues)
        if self.distance_weight is not None:
            reach = len(distance_weights(self.distance_weight, work.longest, self.sigma))
            return position_costs(work, agree, space, lists, reach)
        costs = {}
        if work.col_letters * lists <= MOST_CODES:
            costs["index"] = work.index(agree, space, lists)
        if space <= WIDEST:
            costs["dense"] = work.dense(space, max(work.common**n for n in residues), lists)
        return costs

    def _out_of_reach(self, k: int) -> tuple[str, str]:
        return (
            f"the sequences have more than {MOST_CODES} pairs of k-mers at {len(self._distances(k))} distances",
            "choose fewer distances, or fewer sequences",
        )

    # ---- the matrix -----------------------------------------------------------------------------

    def _choices(self, X: SequenceSet) -> list[Any]:
        """Return the algorithm of each k, and the annotation letters of the features."""
        notes = self._notes(X)
        return [(algorithm, notes) for algorithm in super()._choices(X)]

    def _members(self, X: SequenceSet, k: int, algorithm: Any, others: Iterator[Any]) -> Iterator[tuple[int, Block]]:
        name, notes = algorithm
        yield from ((1, block) for block in self._blocks(X, k, name, notes, self._notes(X), others))

    def _notes(self, X: SequenceSet) -> Notes | None:
        """Return the annotation letters that count, uint8, or None without annotation."""
        if self.annotation is None:
            return None
        track = X.tracks[self.annotation]
        if track.dtype != np.uint8 or track.ndim != 1:
            raise SequenceError(
                f"track {self.annotation!r} has no letters", remedy="give one annotation letter for each residue"
            )
        seen = annotation_letters(X, self.annotation)
        if self.annotation_letters is None:
            return seen
        notes = np.frombuffer(self.annotation_letters.encode("ascii"), dtype=np.uint8)
        if not np.isin(seen, notes).all():
            other = seen[~np.isin(seen, notes)][0]
            inside = X.codes[X.positions()] < X.alphabet.size
            first = np.flatnonzero((track[X.positions()] == other) & inside)[0]
            raise SequenceError(
                f"annotation letter {note_name(other)!r} is not one of {self.annotation_letters!r}",
                record=X.ids[int(np.searchsorted(np.cumsum(X.lengths), first, side="right"))],
                remedy="add it to annotation_letters",
            )
        return notes

    def _pairs(self, X: SequenceSet, k: int, notes: Notes | None) -> Pairs:
        """Return the Pairs of `X`."""
        return Pairs(find_symbols(X, self.annotation, notes, self.reverse_complement), k, self._distances(k))

    def _blocks(
        self,
        X: SequenceSet,
        k: int,
        algorithm: str,
        notes: Notes | None,
        own_notes: Notes | None,
        others: Iterator[Any],
    ) -> list[Any]:
        """Return the blocks for one k, with features for the annotation letters `notes`.

        Other letters in `X` count only in the product of a record with itself.
        """
        pairs = self._pairs(X, k, notes)
        blocks: list[Any]
        if self.distance_weight is not None:
            found = pairs.locate()
            blocks = [PositionBlock(*found, self._weigh, next(others), smooth=algorithm == "dense")]
        elif algorithm == "dense":
            blocks = [dense_block(pairs, self.presence)]
            next(others)
        else:
            tasks = [partial(self._sparse_block, part, next(others)) for part in pairs.parts()]
            blocks = in_threads(tasks, GIVEN_THREADS.get() or self.n_threads)
        if notes is not None and own_notes is not None and not np.isin(own_notes, notes).all():
            complete = self._blocks(X, k, "index", own_notes, own_notes, repeat(None))
            blocks[0].squares = sum(block.squares for block in complete) - sum(block.squares for block in blocks[1:])
            if hasattr(blocks[0], "largest"):
                blocks[0].largest = sum(block.largest for block in complete)
        return blocks

    def _sparse_block(self, pairs: Pairs, other: Any) -> SparseBlock:
        """Return the features of Pairs as a block to compare with `other`."""
        return SparseBlock(self._counted(pairs), other)

    def _weigh(self, length: int) -> Floats:
        """Return the weights of the distances below `length`."""
        return distance_weights(self.distance_weight, length, self.sigma)

    def _counted(self, pairs: Pairs) -> Counted:
        """Return the feature counts of Pairs."""
        return pairs.find().count().once(self.presence)

    # ---- features -------------------------------------------------------------------------------

    def _check_explicit(self) -> None:
        if self.distance_weight is not None:
            raise ParameterError(
                f"kernel {self.name!r} has no explicit features at positions", remedy="remove distance_weight"
            )
        if self.annotation is not None and self.annotation_letters is None:
            raise ParameterError("features need the annotation letters", remedy="give annotation_letters=…")

    def _features_of_window(self, X: SequenceSet, k: int) -> int:
        return len(self._distances(k))

    def _counts(self, X: SequenceSet, k: int) -> Counted:
        return self._counted(self._pairs(X, k, self._notes(X)))

    def _space(self, size: int, k: int) -> int:
        notes = 1 if self.annotation is None else len(self.annotation_letters or "")
        return (size * notes) ** (2 * k) * len(self._distances(k))

    def _names_of(self, alphabet: Alphabet, k: int) -> list[str]:
        letters = (self.annotation_letters or "").encode()
        notes = None if self.annotation is None else np.frombuffer(letters, dtype=np.uint8)
        return self._names(np.arange(self._space(alphabet.size, k)), k, alphabet, notes)

    def _names(self, codes: Array, k: int, alphabet: Alphabet, notes: Notes | None) -> list[str]:
        """Return the names of the pairs with these codes."""
        return name_pairs(codes, k, self._distances(k), alphabet.letters, notes, self._name)

    # ---- explanations: contributions of occurrences to Σ_j c_j·K(x, z_j) ----------------------

    def _attribute(self, X: SequenceSet, support: SequenceSet, coefficients: Floats) -> Floats:
        """Share the contribution of a pair equally among the residues of its two k-mers.

        With `presence`, the occurrences of a pair in a record share one contribution.
        """
        notes = self._common_notes(X, support)
        first, total = np.cumsum(X.lengths) - X.lengths, np.zeros(int(X.lengths.sum()))
        for k, weight in zip(self._lengths(), self._weights(), strict=True):
            pairs, theirs = self._pairs(X, k, notes), self._pairs(support, k, notes)
            found, positions = pairs.locate()
            values = weight * self._occurrence_values(pairs, theirs, coefficients)
            starts = positions + np.repeat(first, np.diff(found.start))
            number = (found.codes[0] // np.uint64(pairs.kmer_space**2)).astype(np.int64)
            for t in np.unique(number):
                here, distance = number == t, self._distances(k)[int(t)]
                offsets = np.concatenate((np.arange(k), distance + np.arange(k)))
                _product.spread(values[here], starts[here], offsets, total)
        return total

    def _kmer_weights(self, X: SequenceSet, support: SequenceSet, coefficients: Floats) -> KmerWeights:
        """Return the pairs and their weights; with distance weights, the mean over the occurrences in `X` and
        `support`.
        """
        notes, parts = self._common_notes(X, support), []
        for k, weight in zip(self._lengths(), self._weights(), strict=True):
            pairs, theirs = self._pairs(X, k, notes), self._pairs(support, k, notes)
            if self.distance_weight is None:
                distinct = np.union1d(pairs.find().codes[0], theirs.find().codes[0])
                means = self._code_weights(distinct, theirs, coefficients)
            else:
                found = pairs.locate(), theirs.locate()
                distinct, means = mean_shares(*found, self._weigh, coefficients)
            names = self._names(distinct, k, X.alphabet, notes)
            parts.append((names, weight * means, self._patterns(distinct, k, X.alphabet)))
        return merge(parts)

    def _patterns(self, codes: Array, k: int, alphabet: Alphabet) -> list[Pattern | None]:
        """Return the Patterns of pairs with these codes; None for annotated pairs."""
        if self.annotation is not None:
            return [None] * len(codes)
        number, pair = np.divmod(codes.astype(np.uint64), np.uint64(alphabet.size ** (2 * k)))
        offsets = [(*range(k), *range(distance, distance + k)) for distance in self._distances(k)]
        letters = spell(pair, 2 * k, alphabet)
        return [Pattern(text, offsets[t]) for text, t in zip(letters, number.tolist(), strict=True)]

    def _common_notes(self, X: SequenceSet, support: SequenceSet) -> "Notes | None":
        """Return the annotation letters of two sets, or None without annotation."""
        if self.annotation is None:
            return None
        mine, theirs = cast("Notes", self._notes(X)), cast("Notes", self._notes(support))
        return np.union1d(mine, theirs)

    def _code_weights(self, codes: Array, theirs: "Pairs", coefficients: Floats) -> Floats:
        """Return Σ_j coefficients[j]·Φ_f(z_j) for the features f with these ascending distinct codes."""
        counted = self._counted(theirs)
        known = np.arange(counted.n_features) if counted.vocabulary is None else counted.vocabulary
        sums = np.zeros(len(known) + 1)
        _product.gather_sparse(counted.start, counted.feature, counted.count, 0, coefficients, sums)
        place = np.minimum(np.searchsorted(known, codes), max(0, len(known) - 1))
        return np.where(known[place] == codes, sums[place], 0.0) if len(known) else np.zeros(len(codes))

    def _occurrence_values(self, pairs: "Pairs", theirs: "Pairs", coefficients: Floats) -> Floats:
        """Return the contribution of each occurrence of `pairs` to Σ_j c_j·K(x, z_j)."""
        if self.distance_weight is not None:
            return occurrence_shares(pairs.locate(), theirs.locate(), self._weigh, coefficients)[0]
        found = pairs.find()
        distinct, number = np.unique(found.codes[0], return_inverse=True)
        values = self._code_weights(distinct, theirs, coefficients)[number]
        if self.presence:
            record = np.repeat(np.arange(len(found)), np.diff(found.start))
            _, which, often = np.unique(
                record * max(1, len(distinct)) + number, return_inverse=True, return_counts=True
            )
            values = values / often[which]
        return values


# The gappy pair kernel: pairs of k-mers with a gap (Mahrenholz et al. 2011; Palme, Hochreiter, Bodenhofer 2015).


class GappyPairKernel(PairKernel):
    r"""Gappy pair kernel: shared pairs of k-mers at most m residues apart.

    It suits motifs with a spacer, such as coiled coils. Each number of residues between the two k-mers gives a feature
    of its own. The residues in between do not matter, and may be masked. Pairs are named as in KeBABS: ``AB..CD``. With
    `annotation`, features include annotation letters; with `distance_weight`, positions count.

    Notes
    -----
    With f the pairs of k-mers with 0 to m residues in between, and Φ_f(x) the number of occurrences of f in x,

    .. math:: K(x, y) = \sum_f Φ_f(x) Φ_f(y)

    With `distance_weight`, over the positions p and q, counted from the start of each record, at which f starts in x
    and in y,

    .. math:: K(x, y) = \sum_f \sum_p \sum_q E(|p − q|)

    Weights E are rounded to multiples of 2^−59; their sums are exact.

    Complexity: O((m + 1)·|x|) per sequence to list its pairs. A pair of sequences then takes O((m + 1)·b^(2k)) with
    dense vectors over the b letters of the alphabet, or time proportional to the shared features with posting lists.

    Definiteness: positive semi-definite.

    References
    ----------
    Mahrenholz, Abfalter, Bodenhofer, Volkmer, Hochreiter: Complex networks govern coiled-coil oligomerization –
    predicting and profiling by means of a machine learning approach. Molecular & Cellular Proteomics 10, 2011.

    Bodenhofer, Schwarzbauer, Ionescu, Hochreiter: Modeling position specificity in sequence kernels by fuzzy
    equivalence relations. IFSA/EUSFLAT 2009.

    Palme, Hochreiter, Bodenhofer: KeBABS: an R package for kernel-based analysis of biological sequences.
    Bioinformatics 31, 2015.

    Examples
    --------
    ACG has the pairs AC, CG and A.G; ATG shares A.G alone:

    >>> from seqkern.kernels import GappyPairKernel
    >>> kernel = GappyPairKernel(k=1, m=1, normalize=False)
    >>> kernel(["ACG"], ["ACG", "ATG"])
    array([[3., 1.]])
    >>> names = GappyPairKernel(k=1, m=1, alphabet="dna").features.names()
    >>> names[:2], names[-2:]
    (['AA', 'AC'], ['T.G', 'T.T'])
    """

    name = "gappy_pair"
    summary = "Counts the pairs of k-mers, up to m residues apart, that two sequences share."

    m: int = integer(default=1, low=0, kw_only=False, doc="Largest number of residues between the two k-mers.")
    annotation: str | None = text(
        default=None,
        doc="Name of an annotation track (letters). The annotation letters of the two k-mers' "
        "residues, not of those in between, are part of the feature. Such a pair is named with "
        "both: ``AB..CDab..cd``. On the command line, give the file with ``--track NAME=FILE``.",
    )
    annotation_letters: str | None = text(
        default=None,
        remedy="give distinct ASCII letters",
        doc="Letters of the annotation. By default those that occur; required for `features`.",
    )
    distance_weight: str | None = choice(
        default=None,
        choices=(None, *FORMS),
        doc="E(d) for the distance d of two positions: 1 (none); [d = 0]; max(0, 1 − d/σ); exp(−d/σ); exp(−d²/σ²).",
    )
    sigma: float = real(default=1.0, low=0, open_low=True, doc="σ, in residues.")
    presence: bool = changed(
        default=False, doc="Φ_f(x) is 1 if f occurs, instead of a count. Not with `distance_weight`."
    )
    reverse_complement: bool = changed(
        default=False,
        doc="Treat a pair and its reverse complement as one feature, at the position on the given "
        "strand where either starts. DNA and RNA only.",
    )
    short: Literal["error", "zero"] = short_rule("the shortest pair, 2k residues", "no pairs")
    zero_diagonal: Literal["error", "zero"] = zero_rule("a sequence without any pair")
    algorithm: str = changed(
        default="auto",
        doc="Algorithm: products of dense vectors over all pairs, or posting lists; with "
        "`distance_weight`, the features of one sequence smoothed over all positions, or posting "
        "lists. Results are identical.",
    )

    tested_with = (
        {"k": 2, "m": 4},
        {"k": [1, 2], "m": 3, "weights": [0.5, 2], "normalize": False},
        {"k": 2, "m": 3, "reverse_complement": True},
        {"k": 1, "m": 3, "presence": True, "alphabet": "HEC"},
        {"k": 1, "m": 4, "annotation": "annotation"},
        {"k": 1, "m": 3, "distance_weight": "specific"},
        {
            "k": [1, 2],
            "m": 2,
            "weights": [0.3, 0.7],
            "distance_weight": "linear",
            "sigma": 4.5,
            "annotation": "annotation",
        },
        {"k": 1, "m": 2, "distance_weight": "exponential", "sigma": 3, "reverse_complement": True, "normalize": False},
        {"k": 2, "m": 1, "distance_weight": "gaussian", "sigma": 5},
    )

    def _distances(self, k: int) -> range:
        return range(k, k + self.m + 1)

    def _min_length(self) -> int:
        """Return twice the largest k, the minimum length of a sequence."""
        return 2 * max(self._lengths())

    @staticmethod
    def _name(first: Any, second: Any, k: int, distance: int) -> Any:
        return first + "." * (distance - k) + second


# The oligomer distance histogram kernel: pairs of k-mers at each distance (Lingner & Meinicke 2006).


class OligoDistanceKernel(PairKernel):
    r"""Oligomer distance histogram kernel: shared pairs of k-mers at each distance.

    It suits remote homologs of any length, which conserve distances between residues more than residues in a row. The
    k-mers overlap if d < k; for d = 0 they are the same k-mer. Features are named ``u(d)v``.

    Notes
    -----
    With f = (u, v, d) for d = 0, …, D, and Φ_f(x) the number of positions of x at which u starts and v starts d
    residues later,

    .. math:: K(x, y) = \sum_f Φ_f(x) Φ_f(y)

    Complexity: O((D + 1)·|x|) per sequence to list its pairs. A pair of sequences then takes O((D + 1)·b^(2k)) with
    dense vectors over the b letters of the alphabet, or time proportional to the shared features with posting lists.

    Definiteness: positive semi-definite.

    References
    ----------
    Lingner, Meinicke: Remote homology detection based on oligomer distances. Bioinformatics 22, 2006.

    Examples
    --------
    Both sequences have A at two positions, and A(2)A once:

    >>> from seqkern.kernels import OligoDistanceKernel
    >>> OligoDistanceKernel(k=1, max_distance=2, normalize=False)(["ACA"], ["ACA", "AGA"])
    array([[8., 5.]])
    >>> OligoDistanceKernel(k=1, max_distance=2, alphabet="dna").features.names()[-2:]
    ['T(2)G', 'T(2)T']
    """

    name = "oligo_distance"
    summary = "Counts the pairs of k-mers that two sequences share, for each distance between the two."

    max_distance: int = integer(
        default=50,
        low=0,
        kw_only=False,
        doc="D, the largest distance between the starts of two k-mers. The paper uses all distances "
        "that occur, up to the length of the longest sequence.",
    )
    presence: bool = changed(default=False, doc="Φ_f(x) is 1 if f occurs, instead of a count.")

    tested_with = (
        {"k": 1, "max_distance": 12},
        {"k": [1, 2], "max_distance": 5, "weights": [0.5, 2], "normalize": False},
        {"k": 2, "max_distance": 4, "reverse_complement": True},
        {"k": 1, "max_distance": 40, "presence": True, "alphabet": "HEC"},
    )

    def _distances(self, k: int) -> range:
        return range(self.max_distance + 1)

    @staticmethod
    def _name(first: Any, second: Any, k: int, distance: int) -> Any:
        return first + f"({distance})" + second
