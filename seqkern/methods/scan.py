"""Scan of sequences of any length for candidate sites, the occurrences of some bases, and their classification.

If the kernel has position weights (`seqkern.kernels.decisions`), they score a candidate without the support
sequences; otherwise its window is cut out and the model applied to it. The calls::

    Scanner.scan(source) ─▶ iter_pieces ─▶ ScanBuffer.add, decide ─▶ Scanner.values

Positions and strands follow the convention of `seqkern.sequences.windows`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from seqkern.core.checks import check_choice, check_integer
from seqkern.core.errors import ModelError, ParameterError, SequenceError, naming
from seqkern.core.parts import Part
from seqkern.core.types import Floats, Ints, Source
from seqkern.formats.reference import Genome
from seqkern.kernels.decisions import WindowValues
from seqkern.methods.model import Model, check_finite
from seqkern.sequences._lines import lines as make_lines
from seqkern.sequences.alphabets import Alphabet
from seqkern.sequences.labels import Labels
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.sequences.streaming import (
    BLOCK,
    FORWARD,
    REVERSE,
    Candidates,
    ScanBuffer,
    Segment,
    iter_pieces,
    letter_table,
    make_piece,
)
from seqkern.sequences.windows import Window, as_window, site_codes

AT_ONCE = 1 << 14

Codes = npt.NDArray[np.uint8]
Starts = Ints


class Scanner:
    """A model that slides along sequences."""

    def __init__(
        self,
        model: Model,
        site: str,
        window: Window | str | Mapping[str, Any] | None = None,
        *,
        strand: str = "both",
        masked: str = "skip",
        lower: str = "letters",
        n_threads: int | None = None,
    ) -> None:
        check_choice("strand", strand, ("both", "+", "-"))
        check_choice("masked", masked, ("skip", "score"))
        check_choice("lower", lower, ("letters", "skip"))
        if model.alphabet is None:
            raise ModelError("was trained on a feature table", remedy="use a model of sequences")
        if model.projects:
            raise ModelError("projects on components and cannot classify sites", remedy="use a classifier")
        if model.kernel.traits.tracks:
            raise ModelError(
                f"kernel {model.kernel.name!r} needs the track {model.kernel.traits.tracks[0]!r}",
                remedy="use a model without tracks",
            )
        if model.sequence_views:
            raise ModelError(
                f"compares samples of several sequences ({', '.join(model.sequence_views)}), which windows are not",
                remedy="use a model of single sequences",
            )
        if model.kernel.traits.views:
            raise ModelError(
                f"kernel {model.kernel.name!r} needs the view {model.kernel.traits.views[0]!r}, which new windows lack",
                remedy="use a model without views, or give the windows to seqkern predict with --view",
            )
        self.model, self.masked, self.lower = model, masked, lower
        self.window = model_window(model, window, site)
        self.site = site_codes(self.window.site, model.alphabet)
        self.strands = {"both": (FORWARD, REVERSE), "+": (FORWARD,), "-": (REVERSE,)}[strand]
        if REVERSE in self.strands and model.alphabet.complement is None:
            if strand == "-":
                model.alphabet.complement_codes  # noqa: B018 - raises the error that says so
            self.strands = (FORWARD,)
        self.n_threads = n_threads
        self._weights = position_scorer(model)
        self.fast = self._weights is not None
        self._skips = False
        self.counts: Counter[str] = Counter()
        self.bare: list[str] = []
        self.lengths: dict[str, int] = {}

    @property
    def alphabet(self) -> Alphabet:
        """Return the alphabet of the model's sequences."""
        return cast(Alphabet, self.model.alphabet)  # models without one were rejected

    def scan(
        self,
        source: Source,
        *,
        ids: str = "header",
        block: int = BLOCK,
        progress: Callable[[int], None] | None = None,
        skip: int = 0,
        end_block: Callable[[], None] | None = None,
    ) -> Iterator[Candidates]:
        """Yield every classified candidate, record by record, sorted by position; see `scan_all`."""
        how: dict[str, Any] = {"skip": skip, "end_block": end_block}
        for found in scan_all([self], source, ids=ids, block=block, progress=progress, **how):
            yield from (own for _, own in found)

    def values(self, codes: Codes, starts: Starts, names: npt.NDArray[np.object_]) -> Floats:
        """Return the decision values, (n,) or (n, classes), of windows without masked residues at ascending starts."""
        if self.fast and not self._skips:
            assert self._weights is not None
            found = self._weights(codes, starts, self.n_threads)
            check_finite(found, names)
            return found
        return self.by_model(codes, starts, names)

    def by_model(self, codes: Codes, starts: Starts, names: npt.NDArray[np.object_]) -> Floats:
        """Return the decision values of any windows, from `Model.decision`."""
        shape = (len(self.model.classes),) if self.model.kind == "multiclass" else ()
        out = np.zeros((len(starts), *shape))
        for first in range(0, 0 if self._skips else len(starts), AT_ONCE):
            some = starts[first : first + AT_ONCE]
            ids = names[first : first + AT_ONCE].tolist()
            windows = SequenceSet(codes, some, some + self.window.length, ids, self.alphabet)
            out[first : first + AT_ONCE] = self.model.decision(windows, n_threads=self.n_threads)
        return out


def scan_all(
    scanners: Sequence[Scanner],
    source: Source,
    *,
    ids: str = "header",
    block: int = BLOCK,
    progress: Callable[[int], None] | None = None,
    skip: int = 0,
    end_block: Callable[[], None] | None = None,
) -> Iterator[list[tuple[int, Candidates]]]:
    """Yield the candidates of each block with the number of their scanner; all have one alphabet and one window.

    The first `skip` blocks are counted, but neither scored nor returned: an earlier scan has done them.
    """
    buffers, done, number = [ScanBuffer(scanner) for scanner in scanners], 0, 0
    for scanner in scanners:
        scanner.counts, scanner.bare, scanner.lengths = Counter(), [], {}
    lengths = scanners[0].lengths

    def decide() -> Iterator[list[tuple[int, Candidates]]]:
        """Yield the candidates of a block, unless it is skipped."""
        found: list[tuple[int, Candidates]] = []
        for i, (scanner, buffer) in enumerate(zip(scanners, buffers, strict=True)):
            scanner._skips = number < skip
            found += [(i, one) for one in buffer.decide()]
            scanner._skips = False
        if number >= skip:
            yield found
            if end_block is not None:
                end_block()

    for piece in iter_pieces(source, scanners[0].alphabet, ids=ids, block=block):
        for buffer in buffers:
            buffer.add(piece)
        if buffers[0].fresh >= block:
            yield from decide()
            number += 1
        done += len(piece.codes)
        lengths[piece.record] = lengths.get(piece.record, 0) + len(piece.codes)
        if progress is not None:
            progress(done)
    yield from decide()


def model_window(model: Model, window: Window | str | Mapping[str, Any] | None, site: str) -> Window:
    """Return the window around candidates: the given one, checked against the model, or the window used in training."""
    assert isinstance(model.support, SequenceSet)
    known = model.window
    site = str(site).upper()
    if not site:
        raise ParameterError("no letters of candidates given", remedy="give letters such as AG")
    if window is None and known is None:
        raise ModelError(
            "the model does not contain its window",
            remedy="add the window, such as --window -60:+80",
        )
    given = as_window(window) if window is not None else known
    assert given is not None
    if known is not None and (given.left, given.right) != (known.left, known.right):
        raise ParameterError(f"the model was trained on windows {known}, not {given}", remedy="remove the window")
    if known is not None and known.site not in ("", site):
        raise ParameterError(
            f"the model was trained on sites {known.site!r}, not {site!r}", remedy=f"scan for {known.site}"
        )
    lengths = set(model.support.lengths.tolist())
    if len(lengths) == 1 and lengths != {given.length}:
        raise ParameterError(
            f"the window {given} has length {given.length}, but the model's sequences have length {lengths.pop()}",
            remedy="give the window used to cut them",
        )
    return Window(given.left, given.right, site)


def position_scorer(model: Model) -> Callable[[Codes, Starts, int | None], Floats] | None:
    """Return a scorer of windows without masked residues by position weights, or None.

    Weighted degree kernels, also on a part of the windows, and sums of such kernels have weights. A multiclass model
    has none: it votes with a decision for each pair of classes.
    """
    if model.stages is not None:
        return _staged(model)
    kernel, support = model.kernel, model.support
    if kernel.tables.at_positions is None or not isinstance(support, SequenceSet):
        return None
    if len(np.unique(support.lengths)) != 1:
        return None
    try:
        form = model.form()
        values = WindowValues(kernel, support, form.coefficients, model.columns)
    except ParameterError:
        return None

    def decide(codes: Codes, starts: Starts, n_threads: int | None) -> Floats:
        found = values.scan(codes, starts, n_threads)
        if form.dividing:
            found = form.divided(found, values.diagonal(codes, starts))
        return found + form.constant

    return decide


def _staged(model: Model) -> Callable[[Codes, Starts, int | None], Floats] | None:
    """Return the scorer of a two-stage model, or None; the second stage sees the windows that pass the first."""
    assert model.stages is not None
    scorers = [position_scorer(stage) for stage in model.stages]
    first_scorer, second_scorer = scorers
    if first_scorer is None or second_scorer is None:
        return None

    def decide(codes: Codes, starts: Starts, n_threads: int | None) -> Floats:
        first = first_scorer(codes, starts, n_threads)
        return model.solver.joined(first, second_scorer(codes, starts[first >= 0], n_threads))

    return decide


# Write candidates as text: BED, bedGraph and TSV, with 10 significant digits.
#
# For bigWig see `genome.tracks`.

ROWS_AT_ONCE = 1 << 15
STRANDS = "+-"
TOP = 1000
"""Largest score in BED."""

POSITIVE, NEGATIVE = b"178,24,43\t", b"33,102,172\t"
"""Colours of candidates predicted positive, red, and others, blue."""

Integers = Ints
Which = npt.NDArray[np.int32]
Columns = (
    tuple[Integers, list[bytes], Which, Floats]
    | tuple[Integers, list[bytes], Which, Floats, Integers, list[bytes], Which]
)
"""Integers, texts, index of each line's text, trailing numbers; perhaps more integers and texts before the numbers."""


def header(form: str, model: Model) -> str:
    """Return the header line of a file; empty except for TSV."""
    if form != "tsv":
        return ""
    return "\t".join(["record", "position", "strand", *decision_columns(model)]) + "\n"


def decision_columns(model: Model) -> list[str]:
    """Return the names of the decision columns, and of the probability column if the model is calibrated."""
    if model.projects:
        return [f"component:{name}" for name in model.classes]
    if model.kind == "multiclass":
        return [f"decision:{name}" for name in model.classes]
    return ["decision"] + ["probability"] * (model.calibration is not None)


def lines(form: str, found: Candidates, model: Model, site: str) -> Iterator[str]:
    """Yield the lines of the candidates on one record, many lines at a time."""
    record = f"{found.record}\t".encode()
    for first in range(0, len(found), ROWS_AT_ONCE):
        columns = FORMS[form](found.take(slice(first, first + ROWS_AT_ONCE)), model, site)
        yield make_lines(record, *columns).decode()


def _bed(found: Candidates, model: Model, site: str) -> Columns:
    """Return the columns of BED9 with the decision, and the probability if there is one."""
    places, values = np.column_stack([found.starts, found.starts + found.width]), _values(found, model)
    scores = browser_scores(found.decisions, None if model.calibration is None else values[:, -1])
    texts = [f"{site}\t{score}\t{strand}\t".encode() for strand in STRANDS for score in range(TOP + 1)]
    which = found.reverse * np.int32(TOP + 1) + scores
    colours = (1 - model.cut.codes(found.decisions)).astype(np.int32)
    return places, texts, which, values, places, [POSITIVE, NEGATIVE], colours


def browser_scores(decisions: Floats, probabilities: Floats | None) -> npt.NDArray[np.int32]:
    """Return scores from 0 to 1000, which genome browsers shade by.

    They are 1000 × probability, or without probabilities 500 + 500 × decision value, clipped to 0 and 1000.

    >>> browser_scores(np.array([-3.0, 0.0, 0.5]), None).tolist()
    [0, 500, 750]
    """
    shares = (1 + decisions) / 2 if probabilities is None else probabilities
    return np.rint(TOP * np.clip(shares, 0, 1)).astype(np.int32)


def _bedgraph(found: Candidates, model: Model, site: str) -> Columns:
    """Return the bedGraph columns for each candidate's first letter: unlike whole candidates, these do not overlap."""
    places = np.column_stack([found.positions - 1, found.positions])
    return places, [b""], np.zeros(len(found), dtype=np.int32), np.ascontiguousarray(found.decisions[:, None])


def _table(found: Candidates, model: Model, site: str) -> Columns:
    """Return the columns of the TSV table."""
    texts = [f"{strand}\t".encode() for strand in STRANDS]
    return found.positions[:, None], texts, found.reverse.astype(np.int32), _values(found, model)


def _values(found: Candidates, model: Model) -> Floats:
    """Return decision values, followed by the probability if there is one, float64 (n, columns)."""
    values = found.decisions if found.decisions.ndim == 2 else found.decisions[:, None]
    if model.calibration is not None:
        values = np.column_stack([values, model.calibration.probabilities(found.decisions)])
    return np.ascontiguousarray(values)


FORMS = {"bed": _bed, "bedgraph": _bedgraph, "tsv": _table}


# Scan one part of a genome: the candidates that begin in a range of its bases, with the windows around them.


def scan_part(
    scanners: Sequence[Scanner],
    genome: Genome,
    part: Part,
    *,
    ids: str = "header",
    block: int = BLOCK,
    progress: Callable[[int], None] | None = None,
) -> Iterator[list[tuple[int, Candidates]]]:
    """Yield the classified candidates of one part; all parts together equal `scan_all`, to the last bit.

    The bases of all records, one after another, are divided evenly among the parts.
    """
    for scanner in scanners:
        scanner.counts, scanner.bare = Counter(), []
    scanner = scanners[0]
    names = list(map(str, range(1, len(genome.lengths) + 1))) if ids == "number" else list(genome.lengths)
    scanner.lengths = dict(zip(names, genome.lengths.values(), strict=True))
    _check_lengths(genome)
    table, window, width = letter_table(scanner.alphabet), scanner.window, len(scanner.site)
    # a candidate on strand - has the positions before it on its right
    ahead = max(window.left, window.right + 1 - width)
    behind = max(window.right + 1, window.left + width)
    done = 0
    for name, (own, length), start, stop in _ranges(genome.lengths, names, part, block):
        low, high = max(start - ahead, 0), min(stop + behind, length)
        letters = genome.fetch(own, low, high).encode("utf-8", "backslashreplace")
        with naming(genome.path):
            piece = make_piece(letters, table, scanner.alphabet, record=name, before=low)
        places = np.zeros(1, dtype=np.int64)
        bounds = places, places - low, places + high - low
        found: list[tuple[int, Candidates]] = []
        for i, one in enumerate(scanners):
            segment = Segment(one, piece.codes, piece.lower, np.array([name], dtype=object), *bounds)
            found += [(i, candidates) for candidates in segment.decide(start - low, stop - low)]
        yield found
        done += stop - start
        if progress is not None:
            progress(done)


def _check_lengths(genome: Genome) -> None:
    """Raise SequenceError for a record without a sequence."""
    for name, length in genome.lengths.items():
        if not length:
            raise SequenceError("has no sequence", file=genome.path, record=name, remedy="remove the record")


def _ranges(
    lengths: dict[str, int], names: list[str], part: Part, block: int
) -> Iterator[tuple[str, tuple[str, int], int, int]]:
    """Yield the ranges of a part: (record id, (name, length) in the genome, start, stop)."""
    first, last = part.span(sum(lengths.values()))
    before = 0
    for name, (own, length) in zip(names, lengths.items(), strict=True):
        start, stop = max(first - before, 0), min(last - before, length)
        for begin in range(start, stop, block):
            yield name, (own, length), begin, min(begin + block, stop)
        before += length


# Hard negatives: windows of negative or unlabelled sequences that a model classifies as positive, for retraining it.
#
# With a window around a site, every occurrence of the site is a candidate, as in a scan. Otherwise the
# sequences are cut into windows of the training samples' median length, with half of each overlapping the
# next. Memory is bounded: only the best few of any number of candidates are kept.

SHARED = 16
"""Minimum number of consecutive bases shared with a positive that suggest the same locus."""

WINDOWS_AT_ONCE = 1 << 13
"""Windows decided at a time."""

SPARE = 4
"""Multiple of the wanted number of windows that are kept before the worst are dropped."""


class Hardest:
    """The windows with the highest decisions, each sequence once.

    Known windows, the training samples, are excluded; `seed` breaks ties.
    """

    def __init__(self, number: int, known: set[bytes], seed: int) -> None:
        self.number, self.known, self.seed = number, known, seed
        self._found: dict[bytes, float] = {}
        self._least = -np.inf

    def add(self, windows: Codes, decisions: Floats) -> None:
        """Keep those windows that are among the best so far."""
        for i in np.flatnonzero(decisions >= self._least):
            window = windows[i].tobytes()
            if window not in self.known:
                self._found[window] = float(decisions[i])
            if len(self._found) > SPARE * self.number:
                self._drop()

    def _drop(self) -> None:
        """Drop all windows except the best."""
        self._found = dict(self.ranked())
        self._least = min(self._found.values())

    def ranked(self) -> list[tuple[bytes, float]]:
        """Return the best windows with their decisions, best first."""

        def rank(item: tuple[bytes, float]) -> tuple[float, bytes]:
            return -item[1], blake2b(item[0], digest_size=8, key=str(self.seed).encode()).digest()

        return sorted(self._found.items(), key=rank)[: self.number]


class _Collector(Scanner):
    """A scanner that hands the windows of all candidates to `Hardest`."""

    hardest: Hardest

    def values(self, codes: Codes, starts: Ints, names: npt.NDArray[np.object_]) -> Floats:
        """Return the decisions about the windows, and keep the hardest."""
        found = super().values(codes, starts, names)
        some = np.flatnonzero(found >= self.hardest._least)
        for first in range(0, len(some), WINDOWS_AT_ONCE):
            rows = some[first : first + WINDOWS_AT_ONCE]
            windows = codes[starts[rows, None] + np.arange(self.window.length)]
            self.hardest.add(windows, found[rows])
        return found


def find_hard_negatives(
    model: Model,
    source: Source,
    X: SequenceSet,
    labels: Labels,
    *,
    number: int,
    seed: int = 1,
    n_threads: int | None = None,
) -> tuple[SequenceSet, Floats]:
    """Return the windows of sequences with a model's highest decisions, hardest first, and the decisions.

    A window that equals a training sample is never taken; without a site, neither is one that shares 16
    consecutive residues with a positive, on either strand: it is the positive's own locus, or a copy.
    """
    check_integer("number of hard negatives", number, 1)
    alphabet = model.alphabet
    if labels.kind != "binary" or alphabet is None:
        raise ModelError("hard negatives need sequences of two classes", remedy="name the positive class")
    if model.kernel.traits.tracks or model.kernel.traits.views or model.sequence_views:
        raise ModelError(
            f"kernel {model.kernel.name!r} needs tracks, views or several sequences, which new windows lack",
            remedy="choose another kernel for hard negatives",
        )
    hardest = Hardest(number, {bytes(codes) for codes in _records(X)}, seed)
    if model.window is not None and model.window.site:
        collector = _Collector(model, model.window.site, n_threads=n_threads)
        collector.hardest = hardest
        for _ in collector.scan(source):
            pass
    else:
        _search(model, alphabet, source, X.take(np.flatnonzero(labels.y == 1)), X, hardest, n_threads)
    ranked = hardest.ranked()
    if not ranked:
        raise SequenceError(
            "there is no window to add as a negative", remedy="give longer sequences, or ones that are not masked"
        )
    codes = np.frombuffer(b"".join(window for window, _ in ranked), dtype=np.uint8)
    length = len(ranked[0][0])
    ids = [f"hard{i}" for i in range(1, len(ranked) + 1)]
    found = SequenceSet.from_offsets(codes, np.arange(len(ids) + 1) * length, ids, alphabet)
    return found, np.array([decision for _, decision in ranked])


def _records(X: SequenceSet) -> Iterator[Codes]:
    """Yield the residues of each record."""
    for start, stop in zip(X.starts.tolist(), X.stops.tolist(), strict=True):
        yield X.codes[start:stop]


def _search(
    model: Model,
    alphabet: Alphabet,
    source: Source,
    positives: SequenceSet,
    X: SequenceSet,
    hardest: Hardest,
    n_threads: int | None,
) -> None:
    """Apply the model to windows of the samples' median length, with half of each overlapping the next."""
    length = max(2, int(np.median(X.lengths)))
    shared = _shared(positives, alphabet, min(SHARED, length))
    before = np.empty(0, dtype=np.uint8)
    for piece in iter_pieces(source, alphabet):
        codes = np.concatenate((before, piece.codes))
        starts = np.arange(0, len(codes) - length + 1, length // 2)
        before = np.empty(0, dtype=np.uint8) if piece.last else codes[(len(starts) * (length // 2)) :].copy()
        masked = np.concatenate(([0], np.cumsum(codes >= alphabet.size)))
        starts = starts[masked[starts + length] == masked[starts]] if len(starts) else starts
        for first in range(0, len(starts), WINDOWS_AT_ONCE):
            some = starts[first : first + WINDOWS_AT_ONCE]
            windows = codes[some[:, None] + np.arange(length)]
            windows = windows[~np.isin(_kmer_hashes(windows, alphabet.size, min(SHARED, length)), shared).any(axis=1)]
            if len(windows):
                offsets, ids = np.arange(len(windows) + 1) * length, [str(i) for i in range(len(windows))]
                rows = SequenceSet.from_offsets(windows.ravel(), offsets, ids, alphabet)
                hardest.add(windows, model.decision(rows, n_threads=n_threads))


def _kmer_hashes(codes: Codes, size: int, k: int) -> npt.NDArray[np.uint64]:
    """Return a hash for each k-mer along the last axis; equal k-mers have equal hashes."""
    count = codes.shape[-1] - k + 1
    found = np.zeros((*codes.shape[:-1], max(count, 0)), dtype=np.uint64)
    for i in range(k if count > 0 else 0):  # modulo 2⁶⁴, in an odd base above the alphabet's size
        found = found * np.uint64(2 * size + 1) + codes[..., i : i + count]
    return found


def _shared(positives: SequenceSet, alphabet: Alphabet, k: int) -> npt.NDArray[np.uint64]:
    """Return the hashes of the positives' k-mers, sorted; on both strands if the alphabet has complements."""
    sets = [positives] if alphabet.complement is None else [positives, positives.reverse_complement()]
    words = [_kmer_hashes(codes, alphabet.size, k) for one in sets for codes in _records(one)]
    return np.unique(np.concatenate(words)) if words else np.empty(0, dtype=np.uint64)


def with_negatives(X: SequenceSet, labels: Labels, windows: SequenceSet, name: str) -> tuple[SequenceSet, Labels]:
    """Return the training samples with further negatives, each in a group of its own and without a genomic place."""
    taken = set(X.ids)
    ids = [f"{name}{i}" for i in range(1, len(windows) + 1)]
    while not taken.isdisjoint(ids):
        ids = [f"{one}'" for one in ids]
    codes = np.concatenate([*_records(X), *_records(windows)])
    lengths = np.concatenate((X.lengths, windows.lengths))
    both = SequenceSet.from_offsets(codes, np.concatenate(([0], np.cumsum(lengths))), [*X.ids, *ids], X.alphabet)
    y = np.concatenate((labels.y.astype(np.int64), np.zeros(len(ids), dtype=np.int64)))
    groups = None
    if labels.groups is not None:
        groups = np.concatenate((np.asarray(labels.groups).astype(str), np.array(ids)))
    return both, replace(
        labels, ids=[*X.ids, *ids], y=y, groups=groups, folds=None, chromosome=None, strand=None, position=None
    )
