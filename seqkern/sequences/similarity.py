"""Similar sequences: pairs, groups of linked samples, and the similarity expected by chance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from seqkern.core.checkpoint import Checkpoint, CheckpointFolder
from seqkern.core.checks import check_integer, check_real
from seqkern.core.errors import ParameterError
from seqkern.core.threads import GIVEN_THREADS, available_threads, in_threads
from seqkern.core.types import Array, Bools, Codes, Floats, Indices, PathLike
from seqkern.sequences import _search
from seqkern.sequences.joining import compared
from seqkern.sequences.sampling import connected, merge_groups
from seqkern.sequences.sequence_set import SequenceSet, code_matrix, usual_length

# Similarity explained by chance: the length of a shared stretch, and the identity of an alignment.

RARE = 1e-3
"""Expected number of equally similar pairs, by chance in a data set of this size, below which a similarity counts."""
HSSP_SHORT, HSSP_LONG = 11, 450
IDENTITY = {"protein": 0.5}
"""The smallest identity that links two records by default, by alphabet."""
OTHER_IDENTITY = 0.8


def chance_length(X: SequenceSet) -> int:
    """Return the smallest length at which a record is expected in another one less than once by chance.

    Each of n records can start at no more than T places of T residues in all: n T / |A|^length < 1.

    >>> from seqkern import SequenceSet
    >>> from seqkern.sequences.similarity import chance_length
    >>> chance_length(SequenceSet.from_strings(["ACGTACGTAC"] * 10, "dna"))
    5
    """
    places = float(len(X)) * float(X.lengths.sum())
    return max(1, int(np.ceil(np.log(places + 1.0) / np.log(X.alphabet.size))))


def match_chance(X: SequenceSet) -> float:
    """Return the probability that two residues, drawn at random from the set, are the same."""
    size, pieces = X.alphabet.size, range(0, len(X.codes), PART)
    counts = sum((np.bincount(X.codes[a : a + PART], minlength=256) for a in pieces), np.zeros(256))[:size]
    return max(1.0 / size, float(np.sum((counts / max(counts.sum(), 1.0)) ** 2)))


def exact_length(X: SequenceSet, match: float, strands: int = 1) -> int:
    """Return the least length at which a stretch shared by two records is not due to chance.

    T residues form T² / 2 pairs of places, twice as many on two strands. The length is the smallest k at which fewer
    than `RARE` of them start the same k residues by chance: strands · T² / 2 · match^k < `RARE`. If a k-mer of this
    length does not fit into 62 bits, the longest that does is used.
    """
    longest = int(62 * np.log(2) / np.log(X.alphabet.size))
    if match >= 1:
        return longest
    places = strands * float(X.lengths.sum()) ** 2 / 2
    return min(max(3, int(np.ceil(np.log(max(places, 1.0) / RARE) / -np.log(match)))), longest)


def needed_residues(
    X: SequenceSet, match: float, strands: int = 1, identity: float | None = None
) -> npt.NDArray[np.int32]:
    """Return the number of identical residues that links two records, by the length of the shorter one.

    The default is a share of at least 0.5 for proteins and 0.8 for other sequences, and more for short ones:

    - Fewer than `RARE` pairs with this share are expected by chance: L·KL(share ‖ match) ≥ ln(strands · n T / RARE),
      for a shorter record of L residues, n records and T residues in all, hence T places to align a record with
      (the Chernoff bound of a binomial tail).
    - For proteins, the share of the HSSP curve, 4.8 L^(−0.32 (1 + exp(−L / 1000))) (Rost 1999): all of 11 residues,
      half of 37.

    L + 1 means that no share is enough.
    """
    lengths = np.arange(int(X.lengths.max(initial=0)) + 1, dtype=np.float64)
    if identity is not None:
        return np.ceil(identity * lengths - 1e-9).astype(np.int32)
    protein = X.alphabet.name == "protein"
    shares = np.full(len(lengths), IDENTITY.get(X.alphabet.name, OTHER_IDENTITY))
    if protein:
        inside = np.clip(lengths, HSSP_SHORT + 1, HSSP_LONG)
        curve = 4.8 * inside ** (-0.32 * (1 + np.exp(-inside / 1000)))
        shares = np.maximum(shares, np.where(lengths <= HSSP_SHORT, 1.0, np.minimum(curve, 1.0)))
    needed = np.ceil(shares * lengths - 1e-9)
    limit = np.log(max(strands * float(len(X)) * float(X.lengths.sum()), 1.0) / RARE)
    # the divergence grows with the share above `match`
    while True:
        short = (needed <= lengths) & (lengths * _divergence(needed / np.maximum(lengths, 1), match) < limit)
        if not short.any():
            return np.maximum(needed, 1).astype(np.int32)
        needed[short] += 1


def _divergence(share: Floats, match: float) -> Floats:
    """Return the Kullback-Leibler divergence of two Bernoulli distributions in nats; 0 for a share up to `match`."""
    share = np.clip(share, match, 1.0)
    if match >= 1:
        return np.zeros_like(share)
    rest = np.maximum(1 - share, 1e-300)
    return share * np.log(share / match) + np.where(share < 1, rest * np.log(rest / (1 - match)), 0.0)


# Search for pairs of similar records: a long shared stretch, or many identical residues in an alignment.


END, BLOCK = 254, 32
"""Code after each record, and number of positions between entries of the table of records."""
PLACES = 32
"""Number of later places compared with each place of a long k-mer; this loses pairs of a group, but no group."""
HITS, MOST_HITS = 3e7, 2e9
"""Chance hits of the seeds: the target number, and the number above which no identity is sought."""
MOST_CODES = 1 << 24
"""Maximum number of different seeds."""
EDGE = 64
"""Number of places compared with each place of a seed, besides four times the number expected by chance."""
SCALE, DROP, BAND = 100.0, 5.0, 32
"""Scores per nat, nats that an extension may lose, and diagonals on each side of the aligned segment."""
ALIGNED = 50
"""Maximum number of later records aligned with each record, those with the best segments."""
PART, SHARES = 1 << 22, 32
"""K-mers sorted at once, and number of parts at most: those of very large sets are larger."""
SEEDS, SPAN, SPACED = 1 << 24, 28, 2e7
"""Spaced seeds sorted at once, or a sixteenth; their span; chance hits of others from which DNA needs them."""
RECORDS, LISTED = 1 << 14, 32
"""Records whose segments are read at once, and the number of later records that each is then compared with."""
KEPT: ContextVar[Checkpoint | None] = ContextVar("kept_segments", default=None)
"""The finished parts of a search by spaced seeds."""
STEP = 256
"""Queries that a thread takes at once."""


@dataclass(frozen=True, eq=False)
class SimilarPairs:
    """Identical and similar records of a set.

    Attributes
    ----------
    identical : ndarray of int64, shape (n,)
        Identical records share a class; classes are numbered in the order of their first records.
    pairs : ndarray of int64, shape (m, 2)
        Similar classes, sorted; each pair once, the smaller number first.
    identity : ndarray of float64, shape (m,)
        Identical residues of the alignment (for pairs with `shared` only: residues of the longest stretch) divided by
        the length of the shorter record.
    shared : ndarray of bool, shape (m,)
        Whether the pair is similar only in a stretch that it shares.
    length : int or None
        Minimum length of a shared stretch that counts; None if none was sought.
    aligned : bool
        False if the set is too large for alignments, and only shared stretches were looked for.
    remark : str
        What was not compared, if anything.

    Examples
    --------
    >>> from seqkern import SequenceSet
    >>> from seqkern.sequences import find_similar
    >>> proteins = ["MKVLAAGIVGLPNVGKSTLFNALT", "MKVLAAGIVALPNVGKSTLFNALT", "WWHCDEQRTYSFMPNEWIHHKCDY"]
    >>> found = find_similar(SequenceSet.from_strings(proteins, "protein"))
    >>> found.pairs.tolist(), found.identity.round(3).tolist()
    ([[0, 1]], [0.958])
    """

    identical: Indices
    pairs: Indices
    identity: Floats
    shared: Bools
    length: int | None
    aligned: bool
    remark: str = ""


def find_similar(
    X: SequenceSet,
    *,
    identity: float | None = None,
    both_strands: bool | None = None,
    n_threads: int | None = None,
    queries: int = 0,
) -> SimilarPairs:
    """Find similar records of a set, in a time that grows in proportion to its size unless nearly all are similar.

    Two records are similar by default in either of two ways. They share a stretch of
    `seqkern.sequences.similarity.exact_length` residues, which chance does not explain (of proteins also half of the
    shorter one, since unrelated ones share tags and motifs). Or enough residues are identical (`needed_residues` in the
    same module: half of a long protein, 0.8 of other sequences, and no fewer than chance rules out).

    Identity is the number of identical residues in the best alignment without end-gap costs (match 1, mismatch and
    gapped residue −1; of several the one with most identical residues), divided by the length of the shorter record.
    Only pairs that share a k-mer whose extension without gaps scores above chance (one such pair for each record) are
    aligned, within `BAND` diagonals of this segment, so pairs near the limit can be missed. k is the smallest with at
    most `HITS` chance hits; of DNA with a difference in every twelfth base, a k-mer of 11 is always left. Of a k-mer at
    very many places, each place is compared with the next ones only, and a record is aligned with no more than
    `ALIGNED` later ones, in an order that depends on the sequences alone: of a large group not every pair is listed.
    Masked residues never match. Stretches of low complexity (by the score of DUST) are not shared stretches. In sets so
    large that more than `MOST_HITS` chance hits are expected (70 million residues of proteins), only shared stretches
    are looked for.

    Sets of DNA above 18 million bases are searched by two spaced seeds of 16 bases, if `identity` is at least 0.75.
    They find 99 % of the pairs of 300 bases at 80 % identity. Of a capped seed, of a repeat at more than 33 places,
    each place is compared with a few next ones, in an order by a hash of the sequences, and a query with the most
    similar ones; the `remark` counts these seeds. Of each record the `LISTED` best pairs are listed, with the record of
    a pair that is first in this order. Memory is that of the sequences, and twice as much again; segments are kept in
    temporary files.

    Parameters
    ----------
    X : SequenceSet
        The records; of several sequences those that count, see `seqkern.sequences.joining.similar_by`.
    identity : float, optional
        Minimum identity; then shared stretches are not looked for, and chance is not considered.
    both_strands : bool, optional
        Whether to compare sequences also with the reverse complements of the others. Default: for DNA.
    n_threads : int, optional
        Default: all cores. The result is the same for any number.
    queries : int
        In very large sets of DNA, pairs of one of the first records and a later one do not give way to others.

    Returns
    -------
    SimilarPairs

    Raises
    ------
    ParameterError
        If `identity` is not in (0, 1], or the alphabet has no complement.

    References
    ----------
    Steinegger M, Söding J. MMseqs2 enables sensitive protein sequence searching for the analysis of massive data sets.
    Nature Biotechnology 35, 2017. — Rost B. Twilight zone of protein sequence alignments. Protein Engineering 12, 1999.
    — Morgulis A et al. A fast and symmetric DUST implementation to mask low-complexity DNA sequences. Journal of
    Computational Biology 13, 2006.

    Examples
    --------
    >>> from seqkern import SequenceSet
    >>> from seqkern.sequences import find_similar
    >>> X = SequenceSet.from_strings(["GATTACAGATTTCACCGTA", "TACGGTGAAATCTGTAATC", "CCCTCTCTTGTGTGAAACA"], "dna")
    >>> find_similar(X).pairs.tolist(), find_similar(X, both_strands=False).pairs.tolist()
    ([[0, 1]], [])
    """
    if identity is not None:
        check_real("identity", identity, 0, 1, open_low=True)
    X = compared(X).replace(tracks={}).compact()
    if both_strands is None:
        both_strands = X.alphabet.name == "dna"
    classes, order = distinct_sequences(X)
    first, strands = np.unique(classes, return_index=True)[1], 1 + both_strands
    spaced = by_spaced_seeds(X, match_chance(X), strands, identity)
    # classes in the order of their contents, unless the residues of very many need not be copied
    own = (X if len(first) == len(X) else X.take(first)) if spaced else X.take(first[order]).compact()
    match, lengths, remark = match_chance(own), X.lengths[first[order]], ""
    length, shared = None, np.zeros((0, 3), dtype=np.int64)
    if identity is None and own.lengths.max(initial=0):
        length = exact_length(own, match, strands)
        if not spaced:
            shared = _shared(own, length, both_strands, n_threads)
    k = seed_length(own, match, strands)
    similar = np.zeros((0, 3), dtype=np.int64)
    if spaced:
        order = order[np.argsort(first[order] >= queries, kind="stable")]
        lengths, queries = own.lengths[order], int((first < queries).sum())
        similar, shared, remark = spaced_pairs(own, order, match, identity, both_strands, n_threads, queries, length)
    elif k is not None and own.lengths.max(initial=0) >= k:
        similar = aligned_pairs(own, match, k, identity, both_strands, n_threads)
    return _joined(classes, order, lengths, shared, similar, length, spaced or k is not None, remark)


def digests(X: SequenceSet, size: int = 16, *, turned: bool = False) -> Array:
    """Return a digest of the residues of each record, or of its reverse complement; masked residues are one letter."""
    found = np.empty(len(X), dtype=f"S{size}")
    for begin in range(0, len(X), RECORDS):
        part = X.take(slice(begin, begin + RECORDS))
        part = part.reverse_complement() if turned else part
        for row, (start, stop) in enumerate(zip(part.starts.tolist(), part.stops.tolist(), strict=True), begin):
            found[row] = blake2b(part.codes[start:stop].data, digest_size=size).digest()
    return found


def distinct_sequences(X: SequenceSet) -> tuple[Indices, Indices]:
    """Return a number for each record, equal for identical sequences, and these numbers in the order of a hash."""
    classes = merge_groups(len(X), digests(X))
    first = np.unique(classes, return_index=True)[1]
    return classes, np.argsort(digests(X.take(first), 8), kind="stable")


def _records(
    codes: Codes, bounds: Indices, strands: int, size: int, gap: int, ends: Indices | None = None
) -> _search.Records:
    """Return records for the compiled loops, with as many codes between them as `gap` says, or from their `ends` on."""
    block = max(BLOCK, len(codes) >> 24)
    first = np.maximum(np.searchsorted(bounds, np.arange(0, len(codes), block), side="right") - 1, 0)
    ends = bounds[1:] if ends is None else ends
    return _search.Records(codes, bounds, ends, first.astype(np.int32), strands, size, block, gap)


def contiguous_records(X: SequenceSet) -> _search.Records:
    """Return the records of a set, one behind the other, for the compiled loops, without a copy of their residues."""
    return _records(X.codes, np.append(X.starts, len(X.codes)), 1, X.alphabet.size, 0, X.stops)


def records_of(X: SequenceSet, both_strands: bool) -> _search.Records:
    """Return the records for the compiled loops, each followed by END and, if both strands count, its complement."""
    parts = [X, X.reverse_complement()] if both_strands else [X]
    base = np.concatenate([[0], np.cumsum([len(part.codes) for part in parts])])[:-1]
    starts = np.stack([part.starts + b for part, b in zip(parts, base, strict=True)], axis=1).ravel()
    lengths, source = np.repeat(X.lengths, len(parts)), np.concatenate([part.codes for part in parts])
    bounds = np.concatenate(([0], np.cumsum(lengths + 1)))
    codes, inside = np.full(bounds[-1], END, dtype=np.uint8), np.ones(bounds[-1], dtype=bool)
    inside[bounds[1:] - 1] = False
    codes[inside] = SequenceSet(source, starts, starts + lengths, (), X.alphabet).compact().codes
    return _records(codes, bounds, len(parts), X.alphabet.size, 1)


def _shared(X: SequenceSet, length: int, both_strands: bool, n_threads: int | None) -> Indices:
    """Return rows (record, record, residues) for the stretches that records share."""
    records = contiguous_records(X)
    bad = _search.unusable(records, length)
    complement = X.alphabet.complement_codes[: X.alphabet.size].copy() if both_strands else None
    found = np.concatenate(_in_parts(records, bad, length, complement, 0, len(X.codes), n_threads)).astype(np.int64)
    if X.alphabet.name == "protein":
        # tags and motifs are not relatives
        shorter = np.minimum(X.lengths[found[:, 0]], X.lengths[found[:, 1]])
        found = found[2 * found[:, 2] >= shorter]
    return found


def _in_parts(
    records: _search.Records,
    bad: Array | None,
    k: int,
    complement: Codes | None,
    queries: int,
    places: int,
    n_threads: int | None,
    description: str | None = None,
) -> list[Array]:
    """Return what `_search.sharing` finds among the k-mers of each part, divided by their hashes."""
    bits = max(0, int(np.ceil(np.log2(max(places, 1) / max(PART, places // SHARES)))))
    counts = _search.count_kmers(records, bad, k, complement, bits).tolist()
    search = partial(_search.sharing, records, bad, k, complement, queries, PLACES, bits)
    return in_threads([partial(search, *part) for part in enumerate(counts)], n_threads, description)


def by_spaced_seeds(X: SequenceSet, match: float, strands: int, identity: float | None) -> bool:
    """Return whether spaced seeds are used: for DNA with too many chance hits of others, and identities of 0.75 on."""
    total = float(len(X.codes))
    if X.alphabet.name != "dna" or (identity or OTHER_IDENTITY) < 0.75 or match >= 0.5:
        return False
    return strands * total**2 / 2 * match**12 > SPACED and strands * total**2 / 2 * match**16 < 2 * MOST_HITS


def spaced_pairs(
    X: SequenceSet,
    order: Indices,
    match: float,
    identity: float | None,
    both_strands: bool,
    n_threads: int | None,
    queries: int = 0,
    stretch: int | None = None,
) -> tuple[Array, Array, str]:
    """Return rows (place in `order`, later place, residues) of similar pairs, of shared stretches, and a remark.

    Two patterns of 16 bases in a span of `SPAN` are the seeds. They are sorted in parts, each of which is kept by the
    checkpoint `KEPT`, or in a temporary folder: segments by blocks of `RECORDS` records, one of which is aligned at a
    time. The first records of the order, by a hash of the sequences, are the `queries`.
    """
    records, rank = contiguous_records(X), np.empty(len(X), dtype=np.int32)
    rank[order] = np.arange(len(X))
    bad = _search.unusable(records, SPAN)
    strands, often = 1 + both_strands, np.zeros(1 << 24, dtype=np.uint8)
    step, loss, drop, least = _scores(X, match, strands, identity)
    # gaps divide a pair into short segments, and few chance hits of the long seeds score as much
    rules = (step, loss, drop, least - drop, BAND, ALIGNED, queries)
    needed = needed_residues(X, match, strands, identity)
    lengths, longest = X.lengths[order], stretch or 1 << 30
    most = max(SEEDS, len(X.codes) // 16) // available_threads(n_threads or GIVEN_THREADS.get())
    with TemporaryDirectory() as folder:
        kept = (KEPT.get() or Checkpoint(folder, "")).within(f"{X.digest()} {rules} {stretch} {RECORDS}")
        tasks, keys = [], []
        for pattern in (0, 1):
            search = partial(_search.segments, records, bad, rank, often, pattern, strands)
            counts = _search.count_seeds(records, bad, rank, pattern, strands, True, 1 + len(X.codes) // (most << 3))
            for part, n in enumerate(counts.tolist()):
                search(None, len(counts), part, n, np.zeros(2, dtype=np.int64))
            counts = _search.count_seeds(records, bad, rank, pattern, strands, False, 1 + len(X.codes) // most)
            for part, n in enumerate(counts.tolist()):
                keys.append(f"{pattern} {part}/{len(counts)}")
                own = partial(search, rules, len(counts), part, n)
                tasks.append(partial(_kept_segments, kept, keys[-1], lengths, needed, longest, own))
        capped = np.sum(in_threads(tasks, n_threads, "seeds"), axis=0)
        del often, bad, search, tasks, own
        block = partial(_aligned_block, kept, keys, records, order, needed, partial(_listed, longest, queries))
        aligned = in_threads([partial(block, at) for at in range(0, len(X), RECORDS)], n_threads, "similar sequences")
    similar, shared = map(np.concatenate, zip(*aligned, strict=True))
    return similar, shared, CAPPED.format(*capped) if capped[0] else ""


CAPPED = (
    "{:,} seeds, of repeats, were capped: their {:,} places were each compared with a few others of the same repeat, "
    "so that not every pair within a repeat is listed"
)


def _kept_segments(
    kept: Checkpoint, key: str, lengths: Indices, needed: Array, stretch: int, search: Callable[[Array], Array]
) -> Array:
    """Keep the segments of one part that may be listed, by blocks of records; return the counts of capped seeds."""
    stored = kept.get_arrays(key)
    if stored is not None:
        return stored["capped"]
    capped = np.zeros(2, dtype=np.int64)
    found = search(capped)
    # no more residues can be identical than the band of the segment has of both records
    n_x, n_y = lengths[found[:, 0]], lengths[found[:, 1] >> 1]
    inside = np.minimum(n_x, n_y - found[:, 2] + BAND) - np.maximum(0, -found[:, 2] - BAND)
    found[inside < needed[np.minimum(n_x, n_y)], 3] = 0
    found = found[(found[:, 3] > 0) | (found[:, 4] >= stretch)]
    found = found[np.argsort(found[:, 0], kind="stable")]
    begins = range(0, len(lengths) + RECORDS, RECORDS)
    cuts = np.searchsorted(found[:, 0], begins).tolist()
    blocks = {str(at): found[low:high] for at, low, high in zip(begins, cuts, cuts[1:], strict=False)}
    kept.put_arrays(key, {"capped": capped, **blocks})
    return capped


def _listed(stretch: int, queries: int, rows: Array) -> tuple[Array, Array]:
    """Return the segments to align, and those with shared stretches of a length: the first ones of each record.

    A pair's score is the sum over its segments in the band of the best one, so that gaps do not cost its place.
    """
    pair = rows[:, 0].astype(np.int64) << 32 | rows[:, 1] >> 1
    order = np.lexsort((rows[:, 2].astype(np.int64) * 2 + (rows[:, 1] & 1), -rows[:, 3], pair))
    # a segment of several capped seeds is found several times
    rows = rows[order[np.any(np.diff(rows[order], axis=0, prepend=-1), axis=1)]]
    if not len(rows):
        return rows, rows
    first = np.flatnonzero(np.any(np.diff(rows[:, :2] >> (0, 1), axis=0, prepend=-1), axis=1))
    best = rows[np.repeat(first, np.diff(first, append=len(rows)))]
    near = (rows[:, 1] == best[:, 1]) & (np.abs(rows[:, 2] - best[:, 2]) <= BAND)
    scores, longest = np.add.reduceat(rows[:, 3] * near, first), np.maximum.reduceat(rows[:, 4], first)
    rows = rows[first]
    rows[:, 3], rows[:, 4] = scores, longest
    return _first_of_each(rows[scores > 0], 3, queries), _first_of_each(rows[longest >= stretch], 4, queries)


def _first_of_each(rows: Array, column: int, queries: int) -> Array:
    """Return the `LISTED` rows of each record that are largest in a column: of those across the border, and others."""
    key = 2 * rows[:, 0].astype(np.int64) + ((rows[:, 1] >= 2 * queries) & (rows[:, 0] < queries))
    order = np.lexsort((rows[:, 1], -rows[:, column], key))
    rank = np.arange(len(rows)) - np.searchsorted(key[order], key[order])
    return np.ascontiguousarray(rows[order[rank < LISTED]])


def _aligned_block(
    kept: Checkpoint,
    keys: Sequence[str],
    records: _search.Records,
    order: Indices,
    needed: Array,
    listed: Callable[[Array], tuple[Array, Array]],
    begin: int,
) -> tuple[Array, Array]:
    """Return the pairs of `RECORDS` records with enough identical residues, and their shared stretches."""
    parts = [(kept.get_arrays(key, str(begin).__eq__) or {})[str(begin)] for key in keys]
    found = []
    for at in range(begin, begin + RECORDS, max(1, RECORDS // 16)):  # a query has very many segments
        ends = [np.searchsorted(part[:, 0], (at, at + max(1, RECORDS // 16))) for part in parts]
        rows, shared = listed(np.concatenate([part[low:high] for part, (low, high) in zip(parts, ends, strict=True)]))
        same = _search.align(records, order, rows, BAND, needed)
        rows, shared = (np.stack((own[:, 0], own[:, 1] >> 1, own[:, 4]), axis=1) for own in (rows, shared))
        rows[:, 2] = same
        found.append((rows[same > 0], shared))
    similar, shared = map(np.concatenate, zip(*found, strict=True))
    return similar, shared


@contextmanager
def kept_segments(folder: PathLike) -> Iterator[None]:
    """Keep the finished parts of searches in a folder until the work inside this context is done."""
    kept = CheckpointFolder(folder)
    token = KEPT.set(kept.under("blocks of segments"))
    try:
        with kept:
            yield
        kept.clear()
    finally:
        KEPT.reset(token)


def _scores(X: SequenceSet, match: float, strands: int, identity: float | None) -> tuple[int, int, int, int]:
    """Return the scores of a match and a mismatch, the loss that ends an extension, and a segment's least score."""
    share = IDENTITY.get(X.alphabet.name, OTHER_IDENTITY) if identity is None else identity
    share = min(max(share, match + 0.1), 0.9)
    # log-odds of this share against chance, in nats: of one record, the best chance segment is log(mn) + const.
    match_score, mismatch_score = np.log(share / match), np.log((1 - share) / (1 - match))
    least = np.log(max(0.3 * float(X.lengths.mean()) * float(len(X.codes)) * strands, 1.0))
    one, two, three, four = (int(np.rint(SCALE * value)) for value in (match_score, mismatch_score, DROP, least))
    return one, two, three, four


def seed_length(X: SequenceSet, match: float, strands: int) -> int | None:
    """Return the length of the seeds; None if chance hits would be too frequent."""
    size, total = X.alphabet.size, float(len(X.codes))
    if match >= 0.5:
        return None
    longest = int(np.log(MOST_CODES) / np.log(size) + 1e-9)
    for k in range(2 if size > 5 else 4, longest + 1):
        if strands * total**2 / 2 * match**k <= HITS:
            return k
    return longest if strands * total**2 / 2 * match**longest <= MOST_HITS else None


def aligned_pairs(
    X: SequenceSet,
    match: float,
    k: int,
    identity: float | None,
    both_strands: bool,
    n_threads: int | None,
    queries: int | None = None,
) -> Indices:
    """Return the pairs with enough identical residues in their alignment: record, later record, identical residues."""
    records = records_of(X, both_strands)
    total = float(len(X.codes)) * (1 + both_strands)
    needed = needed_residues(X, match, 1 + both_strands, identity)
    scores = _scores(X, match, 1 + both_strands, identity)
    cap = EDGE + int(4 * total * match**k)
    bounds, places = _search.postings(records, k)
    last = len(X) if queries is None else queries
    rules = (*scores, BAND, ALIGNED, queries or 0)
    search = partial(_search.similar, records, bounds, places, k, cap, rules, needed)
    tasks = [partial(search, begin, min(begin + STEP, last), len(X)) for begin in range(0, last, STEP)]
    return np.concatenate(in_threads(tasks, n_threads, "similar sequences")).astype(np.int64)


def _joined(
    classes: Indices,
    order: Indices,
    lengths: Indices,
    shared: Indices,
    similar: Indices,
    length: int | None,
    aligned: bool,
    remark: str,
) -> SimilarPairs:
    """Return the pairs of both kinds, each once, as numbers of distinct sequences."""
    rows = np.concatenate((shared, similar))
    only = np.arange(len(rows)) < len(shared)
    identity = rows[:, 2] / np.minimum(lengths[rows[:, 0]], lengths[rows[:, 1]])
    ends = np.sort(order[rows[:, :2]], axis=1)
    # of each pair the alignment, then the longest stretch
    rank = np.lexsort((-identity, only, ends[:, 1], ends[:, 0]))
    ends, identity, only = ends[rank], identity[rank], only[rank]
    new = np.ones(len(ends), dtype=bool)
    new[1:] = np.any(ends[1:] != ends[:-1], axis=1)
    return SimilarPairs(classes, ends[new], np.minimum(identity[new], 1.0), only[new], length, aligned, remark)


# Groups of linked samples; in groups too large for balanced folds, the weakest links are cut first.


def cut_groups(members: Sequence[Counter[int]], pairs: Indices, identity: Floats, limits: Counter[int]) -> Indices:
    """Join linked nodes into groups, strongest links first, as long as no group exceeds the limits per class.

    Without limits the groups are the connected components. A component within the limits stays whole; in a larger
    one, links that would make a group too large are left out. Ties go by the order of the pairs.
    """
    component = connected(len(members), pairs)
    sizes = [Counter[int]() for _ in range(int(component.max(initial=-1)) + 1)]
    for part, counts in zip(component.tolist(), members, strict=True):
        sizes[part].update(counts)
    giant = np.array([_exceeds(counts, limits) for counts in sizes], dtype=bool)
    if not giant.any():
        return component
    whole = ~giant[component[pairs[:, 0]]]
    root = list(range(len(members)))
    held = [Counter(counts) for counts in members]
    kept = [*pairs[whole].tolist()]
    for m in np.argsort(-identity, kind="stable").tolist():
        if whole[m]:
            continue
        a, b = (_root(root, int(end)) for end in pairs[m])
        both = held[a] + held[b]
        if a == b or _exceeds(both, limits):
            continue
        root[b], held[a] = a, both
        kept.append([a, b])
    return connected(len(members), kept)


def _exceeds(counts: Counter[int], limits: Counter[int]) -> bool:
    """Return whether a class has more members than its limit."""
    return any(count > limits[name] for name, count in counts.items())


def _root(root: list[int], node: int) -> int:
    """Return the representative of a node's group, and shorten the path to it."""
    while root[node] != node:
        root[node] = root[root[node]]
        node = root[node]
    return node


# Libraries of variants of one parent: of one length, with few differences from their consensus.
#
# Folds of such a library cannot keep similar sequences together, as all are similar. Natural homologs of one length
# differ from a library in being farther from their consensus, or in differences that occur together (clades).

LIBRARY_SHARE, FARTHEST, FEW, LINKED = 0.95, 0.15, 6, 2.0
"""Share of the sequences that must be near the consensus, share and number of residues by which these differ, and
linkage."""
FEWEST, LOOKED_AT, SPACE = 20, 1000, 1e7
"""Number of distinct sequences that a library has, of evenly spaced ones that are looked at, and of combinations of
residues at few positions."""


class Library(NamedTuple):
    """Variants of one parent.

    >>> print(Library(4807, 263, 1, 1).describe())
    variant library: 4,807 sequences of 263 residues that differ from their consensus in 1 residue
    """

    n: int  # Sequences of the common length
    length: int  # Residues of each
    median: int  # Differences from the consensus, of those near it
    most: int  # The same, of the farthest
    # With insertions and deletions: number of all sequences, the least and the greatest length
    lengths: tuple[int, ...] = ()

    def describe(self) -> str:
        """Return a clause on the variants."""
        few = f"{self.median}" if self.median == self.most else f"{self.median} (median; at most {self.most})"
        each = f"{self.n:,} sequences of {self.length:,} residues that"
        if self.lengths:
            n, shortest, longest = self.lengths
            each = (
                f"{n:,} sequences of {shortest:,} to {longest:,} residues, of which the {self.n:,} of {self.length:,}"
            )
        return f"variant library: {each} differ from their consensus in {few} residue{'s' * (self.most != 1)}"


def consensus(residues: Codes, size: int) -> Codes:
    """Return the commonest residue at each position, for an alphabet of `size` residues."""
    counts = [np.count_nonzero(residues == code, axis=0) for code in range(size)]
    return np.argmax(counts, axis=0).astype(np.uint8)


def find_library(X: SequenceSet) -> Library | None:
    """Return the library of variants of one parent that a set of sequences is; None if it is none.

    Of at least `FEWEST` distinct sequences, `LIBRARY_SHARE` have one length and differ from their consensus in no more
    than `FARTHEST` of the residues, or `FEW` and half of them, and differences occur independently of each other
    (`_linkage`). Other sequences may be as near with insertions and deletions of up to `FEW` residues. Proteins of one
    length may also be combinations of residues at few positions (`_combined`).
    """
    X = compared(X)
    length = usual_length(X)
    rows, whole = np.flatnonzero(X.lengths == length), np.mean(X.lengths == length) >= LIBRARY_SHARE
    if not length or len(rows) < FEWEST:
        return None
    residues = np.unique(code_matrix(X.take(rows[_spaced(len(rows))])), axis=0)
    parent = consensus(residues, X.alphabet.size)
    differ = residues != parent
    counts = differ.sum(axis=1)
    near = counts <= max(FARTHEST * length, min(FEW, length / 2))
    if len(residues) < FEWEST:
        return None
    lengths: tuple[int, ...] | None = ()
    if near.mean() >= LIBRARY_SHARE and _linkage(differ[near]) <= LINKED:
        lengths, counts = () if whole else _lengths_of_alike(X, parent), counts[near]
    elif not whole or X.alphabet.name != "protein" or not _combined(residues):
        lengths = None
    return None if lengths is None else Library(len(rows), length, int(np.median(counts)), int(counts.max()), lengths)


def _spaced(n: int) -> Indices:
    """Return at most `LOOKED_AT` evenly spaced of n places."""
    return np.unique(np.linspace(0, n - 1, LOOKED_AT).astype(np.int64))


def _lengths_of_alike(X: SequenceSet, parent: Codes) -> tuple[int, ...] | None:
    """Return the number of sequences, the least and the greatest length of variants of a parent; None for others."""
    some = X.take(_spaced(len(X))).replace(tracks={}, views={}).compact()
    offsets = np.concatenate([[0], np.cumsum(some.lengths), [len(some.codes) + len(parent)]])
    both = SequenceSet.from_offsets(np.concatenate([some.codes, parent]), offsets, [*some.ids, ""], X.alphabet)
    known = nearest_across(both, len(some), identity=1 - FARTHEST, n_threads=1).row >= 0
    alike = known & (np.abs(some.lengths - len(parent)) <= min(FEW, len(parent) / 2))
    if alike.mean() < LIBRARY_SHARE:
        return None
    kept = X.lengths[np.abs(X.lengths - len(parent)) <= FEW]  # the others are as few
    return len(kept), int(kept.min()), int(kept.max())


def _combined(residues: Codes) -> bool:
    """Return whether distinct sequences of one length combine residues at few positions, independently of each other.

    There are at most `SPACE` combinations, and the sequences are at least twice as many as the residues to be compared.
    """
    cells = [column[:, None] == np.unique(column) for column in residues.T if np.ptp(column)]
    states = [own.shape[1] for own in cells]
    if np.sum(np.log(states)) > np.log(SPACE) or len(residues) < 2 * sum(states):
        return False
    return _linkage(np.concatenate(cells, axis=1)) <= LINKED


def _linkage(differ: Bools) -> float:
    """Return the squared covariance of different positions over that of each with itself, beyond chance.

    `differ` says where each sequence differs from the consensus. The result is near 0 for independent mutations,
    however many each sequence has (their number is taken out); in clades it is the number of positions that change
    together, less one.
    """
    n, share = len(differ), differ.mean(axis=0)
    rest = differ[:, share > 0] - differ.sum(axis=1, keepdims=True) * (share[share > 0] / max(share.sum(), 1e-300))
    own = np.mean(rest**2, axis=0)
    products = rest @ rest.T if n < rest.shape[1] else rest.T @ rest  # both have the same sum of squares
    least = float(np.sum(own**2))
    by_chance = (float(own.sum()) ** 2 - least) / n
    return (float(np.sum(products**2)) / n**2 - least - by_chance) / least if least > 1e-20 else 0.0


# Groups of similar samples, which are kept in one fold.

HARDER = (
    "folds are random: scores tend to be higher than for new positions, more mutations or higher values, which "
    "--fold-method {} tests (in a study folds: {{method: {}}})"
)
"""The clause on the folds of a library of variants."""
PARTS = 5
"""Number of parts, so that no group has more than a fifth of the samples, or of a class, and five folds can balance."""


@dataclass(frozen=True, eq=False)
class SimilarGroups:
    """The groups of similar samples of a set.

    Attributes
    ----------
    groups : ndarray of int64, shape (n,)
        Similar samples share a number, linked directly or indirectly; numbered in the order of their first samples.
    links_cut : int
        Similar pairs in different groups, because one group would have been too large for balanced folds.
    aligned : bool
        False if the set is too large for alignments, and only long shared stretches were looked for.
    library : Library, optional
        The library of variants of one parent that the samples are: then only identical ones share a group.

    Examples
    --------
    >>> from seqkern import SequenceSet
    >>> from seqkern.sequences import similar_groups
    >>> proteins = ["MKVLAAGIVGLPNVGKSTLFNALT", "MKVLAAGIVALPNVGKSTLFNALT", "WWHCDEQRTYSFMPNEWIHHKCDY"]
    >>> found = similar_groups(SequenceSet.from_strings(proteins * 5, "protein"))
    >>> found.n_groups, found.n_related, found.largest
    (3, 15, 5)
    """

    groups: Indices
    links_cut: int = 0
    aligned: bool = True
    library: Library | None = None

    @property
    def sizes(self) -> Indices:
        """int64: the number of samples in each group of several."""
        sizes = np.bincount(self.groups)
        return sizes[sizes > 1]

    @property
    def n_groups(self) -> int:
        """The number of groups of several samples."""
        return len(self.sizes)

    @property
    def n_related(self) -> int:
        """The number of samples that have a similar one in their group."""
        return int(self.sizes.sum())

    @property
    def largest(self) -> int:
        """The size of the largest group."""
        return int(self.sizes.max(initial=1))

    def __bool__(self) -> bool:
        return self.n_related > 0 or self.library is not None

    def describe(
        self, samples: str = "sequences", ending: str = "kept together in folds; --allow-similar to split them"
    ) -> str:
        """Return one line on the similar samples found; empty if there are none.

        Parameters
        ----------
        samples : str
            The noun for the samples.
        ending : str
            The treatment of the groups, as text.

        Returns
        -------
        str
        """
        if self.library is not None:
            copies = f" ({self.n_related:,} have identical ones, which stay together)" if self.n_related else ""
            tests = "value" if self.library.lengths else "position, position-blocks, mutations or value"
            return f"{self.library.describe()}{copies}; {HARDER.format(tests, tests.partition(',')[0])}"
        if not self:
            return ""
        groups = "1 group" if self.n_groups == 1 else f"{self.n_groups:,} groups"
        verb = "are" if self.n_related > 1 else "is"
        text = f"similar {samples}: {self.n_related:,} of {len(self.groups):,} {verb} in {groups}"
        notes = [] if self.n_groups == 1 else [f"largest {self.largest:,}"]
        if self.links_cut:
            weak = "1 weak link" if self.links_cut == 1 else f"{self.links_cut:,} weak links"
            notes.append(f"{weak} removed to split oversized groups")
        if not self.aligned:
            notes.append("only shared stretches were searched for in a set of this size")
        text += f" ({'; '.join(notes)})" if notes else ""
        return f"{text}, {ending}"


def similar_groups(
    X: SequenceSet,
    *,
    classes: npt.ArrayLike | None = None,
    both_strands: bool | None = None,
    n_threads: int | None = None,
) -> SimilarGroups:
    """Find similar sequences, and group them.

    Groups are connected by the pairs of `seqkern.sequences.find_similar`. Where one would hold more than a fifth of
    the samples, or of a class, its weakest links are cut. Identical sequences stay in one group. In a library of
    variants of one parent, where all are similar, only identical ones are grouped.

    Parameters
    ----------
    X : SequenceSet, n samples
        The sequences.
    classes : array_like of int, shape (n,), optional
        The class of each sample; negative without one.
    both_strands : bool, optional
        As for `find_similar`.
    n_threads : int, optional
        Default: all cores.

    Returns
    -------
    SimilarGroups

    Examples
    --------
    >>> from seqkern import SequenceSet
    >>> from seqkern.sequences import similar_groups
    >>> proteins = ["MKVLAAGIVGLPNVGKSTLFNALT", "MKVLAAGIVALPNVGKSTLFNALT", "WWHCDEQRTYSFMPNEWIHHKCDY"]
    >>> X = SequenceSet.from_strings([*proteins, *"ACDEFGH"], "protein")
    >>> print(similar_groups(X).describe())
    similar sequences: 2 of 10 are in 1 group, kept together in folds; --allow-similar to split them
    """
    library = find_library(X)
    if library is not None:
        return SimilarGroups(distinct_sequences(compared(X))[0], library=library)
    found = find_similar(X, both_strands=both_strands, n_threads=n_threads)
    return group_pairs(found.identical, found.pairs, found.identity, classes, aligned=found.aligned)


def group_pairs(
    identical: Indices,
    pairs: Indices,
    identity: Floats,
    classes: npt.ArrayLike | None = None,
    *,
    aligned: bool = True,
) -> SimilarGroups:
    """Return the groups formed by pairs of similar samples; pairs of lowest identity are cut first."""
    n, n_nodes = len(identical), int(identical.max(initial=-1)) + 1
    y = np.full(n, -1) if classes is None else np.asarray(classes, dtype=np.int64)
    # key -1 counts all samples
    totals = {-1: n, **dict(zip(*map(np.ndarray.tolist, np.unique(y[y >= 0], return_counts=True)), strict=True))}
    limits = Counter({key: max(1, -(-count // PARTS)) for key, count in totals.items()})
    part = connected(n_nodes, pairs)
    counts = [np.bincount(part[identical[(y == key) | (key < 0)]], minlength=n_nodes) > limits[key] for key in limits]
    giant = np.flatnonzero(np.any(counts, axis=0)[part]) if n_nodes else part
    if len(giant):  # links are cut in these components alone
        node = np.full(n_nodes, -1, dtype=np.int64)
        node[giant] = np.arange(len(giant))
        members = [Counter[int]() for _ in giant]
        rows = np.flatnonzero(node[identical] >= 0)
        for own, code in zip(node[identical[rows]].tolist(), y[rows].tolist(), strict=True):
            members[own][-1] += 1
            if code >= 0:
                members[own][code] += 1
        inside = node[pairs[:, 0]] >= 0
        part[giant] = n_nodes + cut_groups(members, node[pairs[inside]], identity[inside], limits)
    cut = int(np.sum(part[pairs[:, 0]] != part[pairs[:, 1]]))
    return SimilarGroups(merge_groups(n, part[identical]), cut, aligned)


# Similar records of two sets: the nearest record of the other set, and the longest shared stretch.


class Nearest(NamedTuple):
    """The nearest record of another set for each of n records: its row (−1 for none) and the identity.

    >>> Nearest(np.array([-1]), np.array([0.0]), True).row.tolist()
    [-1]
    """

    row: Indices  # shape (n,): In the other set; −1 where none is similar
    # shape (n,): Identical residues of the alignment, divided by the length of the shorter record; 0 where none is
    # similar
    identity: Floats
    aligned: bool  # False if the sets are too large for alignments


def nearest_across(
    X: SequenceSet,
    queries: int,
    *,
    identity: float | None = None,
    both_strands: bool = False,
    n_threads: int | None = None,
) -> Nearest:
    """Return the most identical of the other records for each of the first `queries` records of a set.

    The limits of identity and chance are as for `seqkern.sequences.find_similar`, but only pairs of a query and
    another record are compared: close homologs of a query among the queries do not displace those among the others.

    >>> X = SequenceSet.from_strings(["GATTACAGATTTCACCGTA", "CCCTCTCTTGTGTGAAACA", "TACGGTGAAATCTGTAATC"], "dna")
    >>> nearest_across(X, 2, both_strands=True).row.tolist()
    [0, -1]
    """
    if identity is not None:
        check_real("identity", identity, 0, 1, open_low=True)
    own = X.replace(tracks={}).compact()
    rows, best = np.full(queries, -1, dtype=np.int64), np.zeros(queries)
    match = match_chance(own)
    k = seed_length(own, match, 1 + both_strands)
    if by_spaced_seeds(own, match, 1 + both_strands, identity) and 0 < queries < len(own):
        order = np.lexsort((digests(own, 8), np.arange(len(own)) >= queries))
        pairs = spaced_pairs(own, order, match, identity, both_strands, n_threads, queries)[0].astype(np.int64)
        pairs[:, :2] = order[pairs[:, :2]]
        pairs = pairs[(pairs[:, 0] < queries) & (pairs[:, 1] >= queries)]
    elif k is None or not 0 < queries < len(own) or own.lengths.max() < k:
        return Nearest(rows, best, k is not None)
    else:
        pairs = aligned_pairs(own, match, k, identity, both_strands, n_threads, queries)
    shares = pairs[:, 2] / np.minimum(own.lengths[pairs[:, 0]], own.lengths[pairs[:, 1]])
    order = np.lexsort((pairs[:, 1], -shares, pairs[:, 0]))
    query, first = np.unique(pairs[order, 0], return_index=True)
    rows[query], best[query] = pairs[order[first], 1] - queries, np.minimum(shares[order[first]], 1.0)
    return Nearest(rows, best, True)


class Stretches(NamedTuple):
    """The longest stretch that each of n records shares with a record of another set: its length and that row.

    >>> Stretches(np.array([0]), np.array([-1])).length.tolist()
    [0]
    """

    length: Indices  # shape (n,): Residues; 0 where none of k residues is shared
    row: Indices  # shape (n,): The record of the other set; −1 where none is shared


def longest_across(
    X: SequenceSet, queries: int, k: int, *, both_strands: bool = False, n_threads: int | None = None
) -> Stretches:
    """Return the longest stretch shared with any other record, for each of the first `queries` records of a set.

    Whether a record shares a k-mer is exact. If a k-mer occurs at more than `seqkern.sequences.similarity.PLACES`
    places
    of the others, only the first ones are compared for the longest stretch. Low-complexity stretches count; stretches
    with masked residues do not.

    >>> X = SequenceSet.from_strings(["GATTACAGG", "CCCCCCC", "TTCTGTAATTT"], "dna")
    >>> longest_across(X, 2, 5, both_strands=True)
    Stretches(length=array([7, 0]), row=array([ 0, -1]))
    """
    most = longest_kmer(X)
    check_integer("k", k, 3)
    if k > most:
        raise ParameterError(f"k={k} is too large for this alphabet", remedy=f"choose at most {most}")
    if not 0 < queries < len(X) or not X.lengths.any():
        return Stretches(np.zeros(queries, dtype=np.int64), np.full(queries, -1, dtype=np.int64))
    records = contiguous_records(X.replace(tracks={}).compact())
    complement = X.alphabet.complement_codes[: X.alphabet.size].copy() if both_strands else None
    length, row = np.zeros(queries, dtype=np.int64), np.full(queries, -1, dtype=np.int64)
    total = int(X.lengths.sum())
    for found in _in_parts(records, None, k, complement, queries, total, n_threads, "shared k-mers"):
        other = found[:, 1].astype(np.int64) - queries
        better = (found[:, 0] > length) | ((found[:, 0] == length) & (length > 0) & (other < row))
        length[better], row[better] = found[better, 0], other[better]
    return Stretches(length, row)


def longest_kmer(X: SequenceSet) -> int:
    """Return the largest k whose k-mers `longest_across` compares.

    >>> longest_kmer(SequenceSet.from_strings(["GATTACA"], "dna"))
    31
    """
    return int(62 * np.log(2) / np.log(X.alphabet.size) + 1e-9)
