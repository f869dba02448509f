"""Motifs as tables for the compiled scanners: patterns as bits of words, matrices as lanes of vectors."""

import numpy as np

from seqkern.core.errors import ParameterError
from seqkern.core.memory import available_memory, format_bytes
from seqkern.kernels.motifs._scan import LANES, MATRIX_LANES, MatrixBanks, PatternBanks
from seqkern.kernels.motifs.matrices import LANE_LIMIT

WORD = 64
MASKS = ("first", "at_end", "last", "at_start", "optional", "block_start", "block_end")
MEMORY_SHARE = 1 / 3  # of the free memory


def pack_patterns(patterns, classes):
    """Return the PatternBanks of Patterns; motif numbers are places in the list.

    Parameters
    ----------
    patterns : list of Pattern
    classes : list of (ndarray of bool, ndarray of bool)
        What ``Pattern.classes`` returns for each.
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
    """The places of one pattern in the order of reading: from its last to its first.

    Attributes
    ----------
    number : int
    size : int
    gaps : bool
        Whether there are optional places.
    accepts : ndarray of bool, shape (size, letters + 1)
    masks : dict of str to ndarray of bool, shape (size,)
    """

    def __init__(self, number, pattern, accepts, optional):
        anchored = pattern.at_end
        if not anchored:  # that a match could go on does not matter
            trimmed = int(np.argmin(optional))
            accepts, optional = accepts[trimmed:], optional[trimmed:]
        else:  # a place that no letter takes: nothing gets here from the word's pattern before
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


def _fill_words(items):
    """Return a list of words, each a list of (item, offset): large items first, each where it just fits."""
    words, room = [], {size: [] for size in range(WORD + 1)}
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


def _bank(words, n_words, size, gaps):
    """Return a bank's arrays as `PatternBanks` takes them; an item may go on in the next words."""
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


def pack_matrices(scores, thresholds):
    """Return the MatrixBanks of scored matrices; motif numbers are places in the lists.

    Parameters
    ----------
    scores : list of ndarray of int, shape (width, letters)
    thresholds : list of int
        A window matches if the sum of its scores is at least this.
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


def check_memory(count, size):
    """Raise ParameterError if the tables of some motifs, of `size` bytes, are too large."""
    if size > MEMORY_SHARE * available_memory():
        raise ParameterError(
            f"{count} motifs take about {format_bytes(size)} of memory",
            remedy="give fewer or shorter ones, or free some memory",
        )
