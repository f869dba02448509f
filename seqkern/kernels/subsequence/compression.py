"""The compression kernel: the gain in compressing one sequence with another one (Li et al. 2004)."""

import bz2
import lzma
import zlib
from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from seqkern.core.parameters import changed, choice
from seqkern.core.types import Floats
from seqkern.kernels.capabilities import Traits
from seqkern.kernels.common_parameters import zero_rule
from seqkern.kernels.kernel import SequenceKernel
from seqkern.kernels.planner import Workload
from seqkern.kernels.prepared import Plan, RecordRange
from seqkern.sequences.sequence_set import SequenceSet

LZMA_FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 6, "dict_size": 1 << 20}]


def _zlib(text: bytes) -> int:
    """Return the length in bytes of a raw zlib stream, without a header."""
    compressor = zlib.compressobj(9, zlib.DEFLATED, -15)
    return len(compressor.compress(text)) + len(compressor.flush())


def _bz2(text: bytes) -> int:
    return len(bz2.compress(text))


def _lzma(text: bytes) -> int:
    """Return the length in bytes of a raw LZMA stream, without a header."""
    return len(lzma.compress(text, lzma.FORMAT_RAW, filters=LZMA_FILTERS))


COMPRESSORS: dict[str, Callable[[bytes], int]] = {"zlib": _zlib, "bz2": _bz2, "lzma": _lzma}
CALL_NS = {"zlib": 4e3, "bz2": 10e3, "lzma": 58e3}  # of one compression, however short
BYTE_NS = {"zlib": 40.0, "bz2": 88.0, "lzma": 190.0}


class Texts(RecordRange):
    """The payload of the compression kernel: sequences as bytes, or a range of them, and their compressed sizes."""

    def __init__(self, X: SequenceSet, size: Callable[[bytes], int]) -> None:
        self.texts = [text.replace("*", "").encode() for text in X.strings()]
        self.sizes = [size(text) for text in self.texts]
        self.first, self.last = 0, len(self.texts)
        self.squares = np.array(
            [similarity(size, x, x, own, own) for x, own in zip(self.texts, self.sizes, strict=True)], dtype=np.float64
        )


def similarity(size: Callable[[bytes], int], x: bytes, y: bytes, x_size: int, y_size: int) -> float:
    """Return 1 − NCD, the normalised compression distance, averaged over both orders; 0 if a sequence is empty."""
    if not x or not y:
        return 0.0
    least, most = min(x_size, y_size), max(x_size, y_size)
    both = size(x + y) + size(y + x) if x != y else 2 * size(x + y)
    return 1.0 - (both / 2 - least) / most


class CompressionKernel(SequenceKernel):
    r"""Compression: 1 less the normalised compression distance.

    It suits long sequences that share long exact repeats, such as genomes and genes of related organisms, and needs no
    choice of k. For short sequences (below about 1,000 residues) the overhead of the compressor hides most of what two
    have in common: choose a k-mer kernel such as `spectrum` or `d2`.

    Masked residues are left out. The values depend on the versions of the compressing libraries.

    Notes
    -----
    With C(x) the bytes of the compressed sequence, and NCD the mean over the orders xy and yx, which differ a little,

    .. math:: K(x, y) = 1 − (C(xy) − \min(C(x), C(y))) / \max(C(x), C(y))

    K(x, x) is below 1. A sequence without unmasked residues has the value 0 with all.

    Complexity: two compressions of |x| + |y| bytes per pair. zlib sees repeats up to 32,768 residues back, bz2 900,000,
    lzma all.

    Definiteness: not positive semi-definite: for an SVM, repair it, by the empirical kernel map for example.

    References
    ----------
    Li, Chen, Li, Ma, Vitányi: The similarity metric. IEEE Transactions on Information Theory 50, 2004.

    Cilibrasi, Vitányi: Clustering by compression. IEEE Transactions on Information Theory 51, 2005.

    Examples
    --------
    >>> from seqkern.kernels import CompressionKernel
    >>> K = CompressionKernel()(["ACGTTGCA" * 20, "ACGTTGCA" * 30, "AACCGGTA" * 20])
    >>> bool(K[0, 1] > K[0, 2])
    True
    """

    name = "compression"
    summary = "How much one sequence helps to compress another one."
    traits = Traits(definite=False)

    compressor: Literal["zlib", "bz2", "lzma"] = choice(
        default="zlib", kw_only=False, doc="zlib at level 9, bz2 at level 9, or lzma with preset 6."
    )
    normalize: bool = changed(default=False)
    zero_diagonal: Literal["error", "zero"] = zero_rule("a sequence without unmasked residues")

    tested_with = ({}, {"compressor": "bz2"}, {"compressor": "lzma", "normalize": True, "alphabet": "protein"})

    def _prepare(self, X: SequenceSet, like: Texts | None) -> Texts:
        return Texts(X, COMPRESSORS[self.compressor])

    def _block(self, rows: Texts, cols: Texts, out: Floats) -> None:
        size = COMPRESSORS[self.compressor]
        same = rows.texts is cols.texts  # then each pair is computed once
        for i in range(rows.first, rows.last):
            for j in range(cols.first, cols.last):
                at = i - rows.first, j - cols.first
                if same and i == j:
                    out[at] = rows.squares[i]
                elif same and j < i and cols.first <= i < cols.last and rows.first <= j:
                    out[at] = out[j - rows.first, i - cols.first]
                else:
                    out[at] = similarity(size, rows.texts[i], cols.texts[j], rows.sizes[i], cols.sizes[j])

    def _plan(self, X: Any, Y: Any) -> Plan:
        work = Workload.of(X, Y)
        letters = (work.row_letters * work.cols + work.col_letters * work.rows) / (2 if work.symmetric else 1)
        call, byte = CALL_NS[self.compressor], BYTE_NS[self.compressor]
        calls = 2 * work.pairs + 3 * work.records
        seconds = (call * calls + byte * (2 * letters + 5 * work.letters)) * 1e-9
        total = work.output(self.n_threads)
        reason = f"{calls:.3g} compressions, {seconds:.2g} s"
        return Plan("direct", total.seconds + seconds, total.bytes + 4 * work.letters, reason)
