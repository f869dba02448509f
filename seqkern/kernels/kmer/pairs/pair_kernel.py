"""Shared by the kernels on pairs of k-mers: distances, annotation, positions."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import repeat
from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import ParameterError, SequenceError, ShortError
from seqkern.core.parameters import changed, choice, fixed, integer
from seqkern.core.threads import GIVEN_THREADS, in_threads
from seqkern.kernels.kmer.kmer_kernel import LARGEST_K, KmerKernel
from seqkern.kernels.kmer.kmers import MOST_CODES, Counted, count_letters
from seqkern.kernels.kmer.pairs.kmer_pairs import (
    Notes,
    Pairs,
    annotation_letters,
    check_pair_space,
    find_symbols,
    pairs_fit,
)
from seqkern.kernels.kmer.pairs.pair_explanations import PairExplanations
from seqkern.kernels.kmer.pairs.pair_names import name_pairs, note_name
from seqkern.kernels.kmer.positions import PositionBlock, distance_weights, position_costs
from seqkern.kernels.planner import SAMPLE_RECORDS, Cost, Workload
from seqkern.kernels.products.dense import WIDEST, dense_block
from seqkern.kernels.products.product import Block
from seqkern.kernels.products.sparse import SparseBlock
from seqkern.sequences.alphabets import Alphabet
from seqkern.sequences.sequence_set import SequenceSet


@dataclass(frozen=True)
class PairWorkload(Workload):
    """A Workload of annotated residues.

    Attributes
    ----------
    notes : int
        How many annotation letters there are.
    """

    notes: int = 1


class PairKernel(PairExplanations, KmerKernel):
    """Base of the kernels on pairs of k-mers. A family writes `_distances`, `min_length` and `_name`."""

    annotation: str | None = fixed(None)
    annotation_letters: str | None = fixed(None)
    distance_weight: str | None = fixed(None)
    sigma: float = fixed(1.0)

    k: int | list[int] = integer(
        default=1,
        low=1,
        high=LARGEST_K,
        several=True,
        kw_only=False,
        doc="Length of each of the two k-mers. With a list, K is the weighted sum of the kernels of each k.",
    )
    reverse_complement: bool = changed(
        default=False, doc="Treat a pair and its reverse complement as one feature. DNA and RNA only."
    )
    algorithm: str = choice(
        default="auto",
        choices=("auto", "dense", "index"),
        execution=True,
        doc="Algorithm: products of dense vectors over all pairs, or posting lists. Results are identical.",
    )

    @property
    def kmers_vary(self) -> bool:  # type: ignore[override]  # an attribute of the class in other kernels
        """Whether the contribution of a pair depends on its position."""
        return self.distance_weight is not None

    @property
    def tracks(self) -> tuple[str, ...]:  # type: ignore[override]  # likewise
        """Names of the tracks that the sequences must carry."""
        return () if self.annotation is None else (self.annotation,)

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
        short = np.flatnonzero(X.lengths < self.min_length())
        if len(short):
            raise ShortError(
                f"{count_letters(X.lengths[short[0]])} too few: a pair of k-mers needs {self.min_length()}",
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
        """Return the blocks for one k, of features with the annotation letters `notes`.

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
        """Return the features of Pairs, to be compared with `other`."""
        return SparseBlock(self._counted(pairs), other)

    def _weigh(self, length: int) -> npt.NDArray[np.float64]:
        """Return the weights of distances less than `length`."""
        return distance_weights(self.distance_weight, length, self.sigma)

    def _counted(self, pairs: Pairs) -> Counted:
        """Return Pairs as Counted."""
        counted = pairs.find().count()
        if self.presence:
            counted.count[:] = 1
        return counted

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

    def _names(self, codes: npt.NDArray[Any], k: int, alphabet: Alphabet, notes: Notes | None) -> list[str]:
        """Return the names of pairs with these codes, a list of str."""
        return name_pairs(codes, k, self._distances(k), alphabet.letters, notes, self._name)
