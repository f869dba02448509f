"""Motifs as tables for the compiled scanners: patterns as bits of machine words, matrices as lanes of vectors."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import ParameterError
from seqkern.core.memory import available_memory, format_bytes
from seqkern.kernels.motifs._scan import LANES, MATRIX_LANES, MatrixBanks, PatternBanks
from seqkern.kernels.motifs.matrices import LANE_LIMIT
from seqkern.kernels.motifs.patterns import Pattern

WORD = 64
MASKS = ("first", "at_end", "last", "at_start", "optional", "block_start", "block_end")
MEMORY_SHARE = 1 / 3  # of the free memory


def pack_patterns(
    patterns: Sequence[Pattern], classes: Sequence[tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]]
) -> PatternBanks:
    """Return patterns as bits of machine words; motif numbers are places in the list.

    Parameters
    ----------
    patterns : list of Pattern
        The motifs.
    classes : list of (ndarray of bool, ndarray of bool)
        What ``Pattern.classes`` returns for each.

    Returns
    -------
    PatternBanks
    """
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
    """The positions of one pattern in reading order: from last to first.

    Attributes
    ----------
    number : int
        Of the motif.
    size : int
        How many places there are.
    gaps : bool
        Whether there are optional places.
    accepts : ndarray of bool, shape (size, letters + 1)
        Letters accepted at each position.
    masks : dict of str to ndarray of bool, shape (size,)
        By the names in `MASKS`.
    """

    def __init__(
        self, number: int, pattern: Pattern, accepts: npt.NDArray[np.bool_], optional: npt.NDArray[np.bool_]
    ) -> None:
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
    """Return a list of machine words, each a list of (item, offset): large items first, best fit."""
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
    """Return a bank's arrays as `PatternBanks` takes them; an item may continue in the next words."""
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


def pack_matrices(scores: Sequence[npt.NDArray[np.int64]], thresholds: Sequence[int]) -> MatrixBanks:
    """Return scored matrices as lanes of vectors; motif numbers are places in the lists.

    Parameters
    ----------
    scores : list of ndarray of int, shape (width, letters)
        In hundredths of a bit.
    thresholds : list of int
        A window matches if the sum of its scores is at least this.

    Returns
    -------
    MatrixBanks
    """
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
    """Check that the tables of some motifs fit into memory.

    Parameters
    ----------
    count : int
        How many motifs there are.
    size : int
        Bytes of their tables.

    Raises
    ------
    ParameterError
        If they take more than a third of the free memory.
    """
    if size > MEMORY_SHARE * available_memory():
        raise ParameterError(
            f"{count} motifs take about {format_bytes(size)} of memory",
            remedy="give fewer or shorter motifs, or free some memory",
        )
