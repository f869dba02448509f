"""Scan sequences of any length for candidate sites, the occurrences of some letters, and classify each.

If the kernel has position weights (`seqkern.kernels.window_values`) these score a candidate, without
the support sequences; else its window is cut out and the model applied to it. The calls::

    Scanner.scan(source) ─▶ iter_pieces ─▶ ScanBuffer.add, decide ─▶ Scanner.values

Positions and strands follow the convention of `seqkern.sequences.windows`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from seqkern.core.checks import check_choice
from seqkern.core.errors import ModelError, ParameterError
from seqkern.core.types import Source
from seqkern.kernels.window_values import WindowValues
from seqkern.models.decisions import check_finite
from seqkern.sequences.alphabets import Alphabet
from seqkern.sequences.candidates import FORWARD, REVERSE, Candidates, ScanBuffer
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.sequences.streaming import BLOCK, iter_pieces
from seqkern.sequences.windows import Window, as_window, site_codes

if TYPE_CHECKING:
    from seqkern.models.model import Model

AT_ONCE = 1 << 14

Codes = npt.NDArray[np.uint8]
Starts = npt.NDArray[np.int64]


class Scanner:
    r"""A model that slides along sequences.

    Parameters
    ----------
    model : Model
        For sequences with an alphabet.
    site : str
        The letters of a candidate.
    window : Window, str or dict, optional
        The window around a candidate; default: the window used in training.
    strand : {"both", "+", "-"}
        Strands of the candidates.
    masked : {"skip", "score"}
        Treatment of windows with masked letters: leave them out, or score the other letters.
    lower : {"letters", "skip"}
        Lower-case letters: treat them like any others, or skip candidates that contain them.
    n_threads : int, optional
        Default: the number of cores.

    Attributes
    ----------
    window : Window
        The window around a candidate.
    fast : bool
        Whether position weights score candidates (see `position_scorer`); else, and always with several
        classes, the support sequences do.
    counts : Counter of str to int
        Candidates left out in the last scan, by reason.
    bare : list of str
        The ids of the records of the last scan with masked letters only.
    lengths : dict of str to int
        Bases of each record of the last scan.

    Raises
    ------
    ModelError
        If the model cannot classify windows, or its window is unknown.
    ParameterError
        If the site or the window does not match the model.

    Examples
    --------
    Splice donor sites, from two bases before GT to two after it:

    >>> import io
    >>> from seqkern.kernels import WeightedDegreeKernel
    >>> from seqkern.models.training import train_model
    >>> from seqkern.sequences.labels import make_labels
    >>> from seqkern.sequences.sequence_set import as_sequences
    >>> X = as_sequences(["AGGTAA", "CGGTAA", "TTGTCC", "ACGTTC"], "dna")
    >>> labels = make_labels(X.ids, ["donor", "donor", "decoy", "decoy"], positive="donor")
    >>> scanner = Scanner(train_model(X, labels, WeightedDegreeKernel(3), "csvc:C=10"), "GT", "-2:+3", strand="+")
    >>> for found in scanner.scan(io.StringIO(">chr1\nCCTAGGTAACCTTGTCCAG\n")):
    ...     print(found.record, found.positions, found.decisions.round(2))
    chr1 [ 6 14] [ 1. -1.]
    """

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
        if model.kernel.tracks:
            raise ModelError(
                f"kernel {model.kernel.name!r} needs the track {model.kernel.tracks[0]!r}",
                remedy="use a model without tracks",
            )
        if model.sequence_views:
            raise ModelError(
                f"compares samples of several sequences ({', '.join(model.sequence_views)}), which windows are not",
                remedy="use a model of single sequences",
            )
        if model.kernel.views:
            raise ModelError(
                f"kernel {model.kernel.name!r} needs the view {model.kernel.views[0]!r}, which new windows lack",
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
        """Classify every candidate.

        Parameters
        ----------
        source : path-like, ``"-"`` or file object
            FASTA, plain or compressed.
        ids : {"header", "number"}
            The first word of the header, or the number of the record.
        block : int, optional
            Number of bases read at a time; does not affect decisions.
        progress : callable, optional
            Called with the number of bases read.
        skip : int
            Number of blocks whose candidates are counted, but neither scored nor returned: a former scan did.
        end_block : callable, optional
            Called after the last candidates of each block that is not skipped.

        Yields
        ------
        Candidates
            Record by record, sorted by place; never empty.

        Raises
        ------
        FileError, SequenceError
            As for `seqkern.sequences.streaming.iter_pieces`.
        """
        self.counts, self.bare, self.lengths = Counter(), [], {}
        buffer, done, number = ScanBuffer(self), 0, 0
        for piece in iter_pieces(source, self.alphabet, ids=ids, block=block):
            buffer.add(piece)
            if buffer.fresh >= block:
                yield from self._decide(buffer, number < skip, end_block)
                number += 1
            done += len(piece.codes)
            self.lengths[piece.record] = self.lengths.get(piece.record, 0) + len(piece.codes)
            if progress is not None:
                progress(done)
        yield from self._decide(buffer, number < skip, end_block)

    def _decide(self, buffer: ScanBuffer, skipped: bool, end_block: Callable[[], None] | None) -> Iterator[Candidates]:
        """Yield the candidates of a block, unless it is skipped."""
        self._skips = skipped
        for found in buffer.decide():
            if not skipped:
                yield found
        self._skips = False
        if end_block is not None and not skipped:
            end_block()

    def values(self, codes: Codes, starts: Starts, names: npt.NDArray[np.object_]) -> npt.NDArray[np.float64]:
        """Return the decision values of windows without masked letters.

        Parameters
        ----------
        codes : ndarray of uint8, shape (letters,)
            One long sequence.
        starts : ndarray of int64, shape (n,)
            Start of each window, ascending.
        names : ndarray of str, shape (n,)
            The ids of their records.

        Returns
        -------
        ndarray of float64, shape (n,) or (n, classes)
        """
        if self.fast and not self._skips:
            assert self._weights is not None
            found = self._weights(codes, starts, self.n_threads)
            check_finite(found, names)
            return found
        return self.by_model(codes, starts, names)

    def by_model(self, codes: Codes, starts: Starts, names: npt.NDArray[np.object_]) -> npt.NDArray[np.float64]:
        """Return the decision values of any windows, from `Model.decision`.

        Parameters
        ----------
        codes, starts, names : ndarray
            As for `values`.

        Returns
        -------
        ndarray of float64, shape (n,) or (n, classes)
        """
        shape = (len(self.model.classes),) if self.model.kind == "multiclass" else ()
        out = np.zeros((len(starts), *shape))
        for first in range(0, 0 if self._skips else len(starts), AT_ONCE):
            some = starts[first : first + AT_ONCE]
            ids = names[first : first + AT_ONCE].tolist()
            windows = SequenceSet(codes, some, some + self.window.length, ids, self.alphabet)
            out[first : first + AT_ONCE] = self.model.decision(windows, n_threads=self.n_threads)
        return out


def model_window(model: Model, window: Window | str | Mapping[str, Any] | None, site: str) -> Window:
    """Return the Window around candidates.

    Parameters
    ----------
    model : Model
        A model of sequences.
    window : Window, str or dict, or None
        None: the window used in training.
    site : str
        The letters of a candidate.

    Returns
    -------
    Window

    Raises
    ------
    ModelError
        If `window` is None and the model has none.
    ParameterError
        If the window or the site differs from the model's.
    """
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


def position_scorer(model: Model) -> Callable[[Codes, Starts, int | None], npt.NDArray[np.float64]] | None:
    """Return a scorer of windows without masked letters by position weights, or None.

    There are weights for weighted degree kernels, also on a part of the windows, and for sums of such kernels. A model
    of several classes has none: it votes with a decision for each pair of classes.

    Parameters
    ----------
    model : Model
        A model of windows.

    Returns
    -------
    callable or None
        ``decide(codes, starts, n_threads)`` returns float64 (n,), equal to `Model.decision` of the windows.
    """
    if model.stages is not None:
        return _staged(model)
    kernel, support = model.kernel, model.support
    if not kernel.has_weights_at_positions or not isinstance(support, SequenceSet):
        return None
    if len(np.unique(support.lengths)) != 1:
        return None
    try:
        form = model.form()
    except ParameterError:
        return None
    values = WindowValues(kernel, support, form.coefficients, model.columns)

    def decide(codes: Codes, starts: Starts, n_threads: int | None) -> npt.NDArray[np.float64]:
        found = values.scan(codes, starts, n_threads)
        if form.dividing:
            found = form.divided(found, values.diagonal(codes, starts))
        return found + form.constant

    return decide


def _staged(model: Model) -> Callable[[Codes, Starts, int | None], npt.NDArray[np.float64]] | None:
    """Return the scorer of a model of two stages, the second of which sees what passes the first, or None."""
    assert model.stages is not None
    scorers = [position_scorer(stage) for stage in model.stages]
    first_scorer, second_scorer = scorers
    if first_scorer is None or second_scorer is None:
        return None

    def decide(codes: Codes, starts: Starts, n_threads: int | None) -> npt.NDArray[np.float64]:
        first = first_scorer(codes, starts, n_threads)
        return model.solver.joined(first, second_scorer(codes, starts[first >= 0], n_threads))

    return decide
