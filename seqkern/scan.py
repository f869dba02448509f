"""Scan sequences of any length for candidate sites, and decide about each: every place where some letters stand.

The sequences are read in pieces, and no more of a record is held than a piece and the letters of a window. Where the
kernel has weights at positions (`seqkern.kernels.position_weights`) a candidate is decided by those, without the
support sequences; else its window is cut out and the model applied to it. Who calls whom::

    Scanner.scan(source) ─▶ iter_pieces ─▶ _Record (what is at hand of one record) ─▶ scorer.values

The convention of positions and strands is that of `seqkern.windows`.
"""

from collections import Counter
from dataclasses import dataclass

import numpy as np

from .affine import affine_form
from .alphabets import MASK
from .errors import ModelError, ParameterError
from .kernels.additive import over_root
from .parameters import check_choice
from .sequences import SequenceSet
from .streaming import BLOCK, iter_pieces
from .windows import Window, as_window, site_codes

AT_ONCE = 1 << 14
FORWARD, REVERSE = 0, 1


@dataclass(frozen=True, eq=False)
class Candidates:
    """Candidates on one record, by place; of two at one place that on strand + first.

    Attributes
    ----------
    record : str
    starts : ndarray of int64, shape (n,)
        Where the letters of each candidate begin in the record as it is written, from 0.
    reverse : ndarray of bool, shape (n,)
        True on strand −.
    decisions : ndarray of float64, shape (n,) or (n, classes)
    width : int
        The number of those letters.
    """

    record: str
    starts: np.ndarray
    reverse: np.ndarray
    decisions: np.ndarray
    width: int

    def __len__(self):
        return len(self.starts)

    @property
    def positions(self):
        """int64 (n,): the position, from 1, of each candidate's own first letter."""
        return self.starts + np.where(self.reverse, self.width, 1)

    def take(self, rows):
        """Return the candidates `rows`."""
        return Candidates(self.record, self.starts[rows], self.reverse[rows], self.decisions[rows], self.width)


class Scanner:
    """A model that is slid along sequences.

    Parameters
    ----------
    model : Model
        Of sequences of one alphabet.
    site : str
        The letters of a candidate.
    window : Window, str or dict, optional
        What a candidate is decided by; by default the window that the model was trained on.
    strand : {"both", "+", "-"}
    masked : {"skip", "score"}
        What to do about windows with masked letters: leave them out, or decide by the others.
    lower : {"letters", "skip"}
        Lower case: letters like others, or candidates with such a letter are left out.
    n_threads : int, optional

    Attributes
    ----------
    window : Window
    fast : bool
        Whether candidates are decided by weights at positions.
    counts : Counter of str to int
        What was met in the last scan: candidates left out, by the reason.
    bare : list of str
        The ids of the records of the last scan that hold masked letters only.

    Raises
    ------
    ModelError
        If the model cannot decide about windows, or its window is not known.
    ParameterError
        If the site or the window does not fit the model.
    """

    def __init__(self, model, site, window=None, *, strand="both", masked="skip", lower="letters", n_threads=None):
        check_choice("strand", strand, ("both", "+", "-"))
        check_choice("masked", masked, ("skip", "score"))
        check_choice("lower", lower, ("letters", "skip"))
        if model.alphabet is None:
            raise ModelError("was trained on a table of features", remedy="scan with a model of sequences")
        if model.kernel.tracks:
            raise ModelError(
                f"kernel {model.kernel.name!r} needs the track {model.kernel.tracks[0]!r}",
                remedy="scan with a model of sequences alone",
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
        self.counts, self.bare = Counter(), []

    def scan(self, source, *, ids="header", block=BLOCK, progress=None):
        """Decide about every candidate.

        Parameters
        ----------
        source : path-like, ``"-"`` or file object
            FASTA, plain or compressed.
        ids, block
            As in `seqkern.streaming.iter_pieces`. The block changes no decision.
        progress : callable, optional
            Called with the number of letters read.

        Yields
        ------
        Candidates
            Of one record after the other, along each; never none.

        Raises
        ------
        FileError, SequenceError
            As `seqkern.streaming.iter_pieces`.
        """
        self.counts, self.bare = Counter(), []
        record, done = None, 0
        for piece in iter_pieces(source, self.model.alphabet, ids=ids, block=block):
            if record is None:
                record = _Record(piece.record, self)
            found = record.add(piece)
            if len(found):
                yield found
            if piece.last:
                self.bare += [] if record.letters else [record.name]
                record = None
            done += len(piece.codes)
            if progress is not None:
                progress(done)

    def values(self, codes, starts, name):
        """Return the decisions about windows without masked letters, ``codes[start:start + length]``."""
        if self.fast:
            return self._weights(codes, starts, self.n_threads)
        return self.by_model(codes, starts, name)

    def by_model(self, codes, starts, name):
        """Return the decisions about any windows, through `Model.decision`; `name` is their record's id."""
        shape = (len(self.model.classes),) if self.model.kind == "multiclass" else ()
        out = np.empty((len(starts), *shape))
        for first in range(0, len(starts), AT_ONCE):
            some = starts[first : first + AT_ONCE]
            windows = SequenceSet(codes, some, some + self.window.length, [name] * len(some), self.model.alphabet)
            out[first : first + AT_ONCE] = self.model.decision(windows, n_threads=self.n_threads)
        return out


class _Record:
    """What is at hand of one record: the letters not yet decided about, and those before them in a window."""

    def __init__(self, name, scanner):
        self.name, self.scanner = name, scanner
        self.codes, self.lower = np.zeros(0, dtype=np.uint8), np.zeros(0, dtype=bool)
        self.base = 0  # letters of the record before those at hand
        self.next = 0  # where in the record the next candidate may begin
        self.letters = 0

    def add(self, piece):
        """Take the next piece in; return the Candidates that can be decided now."""
        window, width = self.scanner.window, len(self.scanner.site)
        self.codes = np.concatenate([self.codes, piece.codes])
        self.lower = np.concatenate([self.lower, piece.lower])
        self.letters += int(np.count_nonzero(piece.codes != MASK))
        room = width - 1 if piece.last else max(window.right, window.left + width - 1)
        first, stop = self.next - self.base, max(len(self.codes) - room, self.next - self.base)
        found = self._decide(first, stop)
        self.next = self.base + stop
        cut = max(0, stop - max(window.left, window.right + 1 - width))
        self.codes, self.lower, self.base = self.codes[cut:], self.lower[cut:], self.base + cut
        return found

    def _decide(self, first, stop):
        """Return the Candidates that begin from `first` to before `stop`, places among the letters at hand."""
        scanner, codes = self.scanner, self.codes
        masked = codes == MASK
        masked = np.concatenate(([0], np.cumsum(masked, dtype=np.int32))) if masked.any() else None
        places, decisions = [], []
        for strand in scanner.strands:
            site = scanner.site if strand == FORWARD else _turned(scanner.site, scanner.model.alphabet)
            here = self._whole(_occurrences(codes, site, first, stop), strand)
            begin = here - scanner.window.left if strand == FORWARD else here + len(site) - 1 - scanner.window.right
            hidden = np.zeros(len(here), dtype=bool)
            if masked is not None:
                hidden = masked[begin + scanner.window.length] > masked[begin]
            if scanner.masked == "skip" and hidden.any():
                scanner.counts["candidates with masked letters left out"] += int(np.count_nonzero(hidden))
                here, begin, hidden = here[~hidden], begin[~hidden], hidden[~hidden]
            places.append(here)
            decisions.append(self._score(begin, hidden, strand))
        reverse = np.repeat(np.array(scanner.strands, dtype=bool), [len(here) for here in places])
        places, decisions = np.concatenate(places), np.concatenate(decisions)
        order = np.argsort(2 * places + reverse, kind="stable")
        return Candidates(self.name, places[order] + self.base, reverse[order], decisions[order], len(scanner.site))

    def _whole(self, here, strand):
        """Return those of the occurrences `here` whose window lies in the record, and that the policies allow."""
        scanner, width = self.scanner, len(self.scanner.site)
        window = scanner.window
        if strand == FORWARD:
            inside = (here + self.base >= window.left) & (here + window.right < len(self.codes))
        else:
            inside = (here + width - 1 + self.base >= window.right) & (here + width - 1 + window.left < len(self.codes))
        if not inside.all():
            scanner.counts["candidates too near an end left out"] += int(np.count_nonzero(~inside))
            here = here[inside]
        if scanner.lower == "skip":
            lower = np.zeros(len(here), dtype=bool)
            for offset in range(width):
                lower |= self.lower[here + offset]
            scanner.counts["candidates in lower case left out"] += int(np.count_nonzero(lower))
            here = here[~lower]
        return here

    def _score(self, begin, hidden, strand):
        """Return the decisions about the windows that begin at `begin`; `hidden` are those with masked letters."""
        scanner, codes = self.scanner, self.codes
        if strand == REVERSE:
            codes = _turned(codes, scanner.model.alphabet) if len(begin) else codes
            begin, hidden = (len(codes) - scanner.window.length - begin)[::-1], hidden[::-1]
        if not hidden.any():
            values = scanner.values(codes, begin, self.name)
        else:
            values = scanner.by_model(codes, begin[hidden], self.name)
            whole = np.empty((len(begin), *values.shape[1:]))
            whole[hidden], whole[~hidden] = values, scanner.values(codes, begin[~hidden], self.name)
            values = whole
        return values[::-1] if strand == REVERSE else values


def _occurrences(codes, site, first, stop):
    """Return the places from `first` to before `stop` where the codes `site` stand, int64."""
    if stop <= first:
        return np.zeros(0, dtype=np.int64)
    hits = codes[first:stop] == site[0]
    for offset, code in enumerate(site[1:], start=1):
        hits &= codes[first + offset : stop + offset] == code
    return np.flatnonzero(hits) + first


def _turned(codes, alphabet):
    """Return the codes of the reverse complement."""
    return np.frombuffer(codes[::-1].tobytes().translate(alphabet.complement_codes.tobytes()), dtype=np.uint8)


def model_window(model, window, site):
    """Return the Window by which candidates are decided.

    Parameters
    ----------
    model : Model
    window : Window, str or dict, or None
        By default the one that the model was trained on.
    site : str
        The letters of a candidate.

    Raises
    ------
    ModelError
        If `window` is None and the model knows none.
    ParameterError
        If the window or the site is another than the model's.
    """
    known = model.record.get("window")
    known = None if known is None else as_window(known)
    site = str(site).upper()
    if not site:
        raise ParameterError("a candidate needs letters", remedy="write them like AG")
    if window is None and known is None:
        raise ModelError(
            "the model does not say which windows it was trained on",
            remedy="give letters before and after a site's first letter, such as --window -60:+80",
        )
    given = known if window is None else as_window(window)
    if known is not None and (given.left, given.right) != (known.left, known.right):
        raise ParameterError(f"the model was trained on windows {known}, not {given}", remedy="leave out the window")
    if known is not None and known.site not in ("", site):
        raise ParameterError(
            f"the model was trained on sites {known.site!r}, not {site!r}", remedy=f"scan for {known.site}"
        )
    lengths = set(model.support.lengths.tolist())
    if len(lengths) == 1 and lengths != {given.length}:
        raise ParameterError(
            f"the window {given} has {given.length} letters, the model's sequences {lengths.pop()}",
            remedy="give the window that they were cut by",
        )
    return Window(given.left, given.right, site)


def position_scorer(model):
    """Return what decides about windows without masked letters by weights at positions, or None.

    Parameters
    ----------
    model : Model

    Returns
    -------
    callable or None
        ``decide(codes, starts, n_threads)`` returns float64 (n,), as `Model.decision` of the windows.
    """
    try:
        form = affine_form(model.kernel, model.support, model.solver, model.transforms)
    except ParameterError:
        return None
    kernel, coefficients = model.kernel, form.coefficients
    if kernel.normalize:
        coefficients = over_root(coefficients, model.columns.raw_diagonal)
    if not hasattr(kernel, "weights_at_positions"):
        return None
    weights = kernel.weights_at_positions(kernel.coerce(model.support), coefficients)
    if weights is None:
        return None
    same = kernel.constant_diagonal(weights.length)

    def raw_diagonal(codes, starts):
        out = np.empty(len(starts))
        for first in range(0, len(starts), AT_ONCE):
            some = starts[first : first + AT_ONCE]
            windows = SequenceSet(codes, some, some + weights.length, [""] * len(some), model.alphabet)
            out[first : first + AT_ONCE] = kernel.prepare(windows, like=model.columns).raw_diagonal
        return out

    def decide(codes, starts, n_threads):
        values = weights.scan(codes, starts, n_threads)
        if kernel.normalize or form.dividing:
            diagonal = raw_diagonal(codes, starts[:1] if same else starts)
            if kernel.normalize:
                values, diagonal = over_root(values, diagonal), (diagonal > 0).astype(np.float64)
            values = form.divided(values, diagonal)
        return values + form.constant

    return decide
