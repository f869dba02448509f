"""``seqkern predict`` with a residue model: the state of every residue, as a table or as figures."""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from seqkern.cli.common import naming_file, tell_counts, unrecognised
from seqkern.cli.new_sequences import read_chunks
from seqkern.cli.output import output_writer
from seqkern.cli.parts import refuse_part
from seqkern.cli.scan import check_no_scan
from seqkern.core.errors import ModelError, ParameterError
from seqkern.core.markup import Markup, tag
from seqkern.figures.page import STYLE
from seqkern.figures.track_picture import UNKNOWN, Track, track_svg, track_text

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from seqkern.layers.chain import Decided
    from seqkern.models.residue_model import ResidueModel
    from seqkern.residues import Residues
    from seqkern.sequences.sequence_set import SequenceSet

PICTURES = (".svg", ".html")
OTHER_PICTURES = (".png", ".pdf", ".jpg", ".jpeg", ".gif", ".eps", ".ps", ".tif", ".tiff", ".webp")
DRAWN = (
    "draw residues, states and confidence instead of a table: as text, or as a figure if -o FILE ends in .svg or .html"
)
CONFIDENCE = "the difference between the two highest state probabilities"


def add_states(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of residue models.

    Parameters
    ----------
    parser : ArgumentParser
        The parser of the verb.
    """
    group = parser.add_argument_group(
        "states of residues, for models of seqkern train --states",
        f"For models with probabilities, confidence is {CONFIDENCE}:\n"
        "from 0 to 1 in the table, as a digit from 0 to 9 in tracks.",
    )
    group.add_argument("--chain", metavar="ID", help="draw only this chain, as with --track")
    group.add_argument(
        "--states",
        metavar="FILE",
        help="true states, in a format of seqkern train --states: shown beside the predicted ones, and scored on "
        "standard "
        "error; eight states are reduced as in training, H, E and C are kept. If the file of sequences also holds the "
        "states, give it here too",
    )


def split_tracks(args: argparse.Namespace) -> None:
    """Set `draw`, whether to draw tracks; `track` keeps the files that kernels read.

    Parameters
    ----------
    args : Namespace
        With ``track`` and ``chain``; changed.
    """
    args.draw = args.chain is not None or None in args.track
    args.track = [track for track in args.track if track is not None]


def check_no_states(args: argparse.Namespace) -> None:
    """Raise an error for an option of residue models if the model classifies whole sequences.

    Parameters
    ----------
    args : Namespace
        With ``draw``, ``states`` and ``model``.

    Raises
    ------
    ParameterError
        If such an option is given.
    """
    for name, given in (("--track", args.draw), ("--states", args.states is not None)):
        if given:
            raise ParameterError(
                f"{name} needs a residue model, but this model classifies whole sequences",
                file=args.model,
                remedy=f"remove {name}, or train a residue model with seqkern train --states",
            )


def check_residues(args: argparse.Namespace) -> None:
    """Raise an error for options that do not work with a residue model.

    Parameters
    ----------
    args : Namespace
        The parsed arguments of ``seqkern predict``.

    Raises
    ------
    ModelError, ParameterError
        If such an option is given.
    """
    if args.scan is not None or args.sites is not None:
        raise ModelError("classifies every residue", file=args.model, remedy="remove --scan and --sites")
    check_no_scan(args)
    if args.draw or args.states is not None:
        refuse_part(args, "figures, and tables with the true states", "remove --track, --chain and --states")


def run_residues(args: argparse.Namespace, model: ResidueModel, notes: dict[str, Any]) -> None:
    """Predict, and write a table or figures.

    Parameters
    ----------
    args : Namespace
        The parsed arguments of ``seqkern predict``.
    model : ResidueModel
        The model in the file ``args.model``.
    notes : dict
        Gets the counts.
    """
    # imported here to keep --help fast
    from seqkern.cli.looks_like_states import LooksLikeStates
    from seqkern.cli.true_states import TrueStates, is_one_file, tell_scores
    from seqkern.core.progress import progress_counter
    from seqkern.core.text_files import source_name
    from seqkern.core.tsv import table_text

    name, done = source_name(args.fasta), 0
    counts: dict[str, int] = {}
    form = _form(args)
    with contextlib.ExitStack() as stack:
        show = stack.enter_context(progress_counter("predict", " residues"))
        stack.enter_context(naming_file(name))
        write: Callable[[str], object] | None = None
        writer, looks = _writer(form, model, args), LooksLikeStates(name, model)
        scored: list[tuple[Residues, npt.NDArray[np.int64]]] = []
        together = is_one_file(args.fasta, args.states)
        true = None if args.states is None else TrueStates(args.states, model, together)
        for chains in cast("Iterator[SequenceSet]", read_chunks(model.windows, args, together=together)):
            chains = chains if true is None else true.of(chains)
            looks.see(chains)
            residues, decided = model.decide(chains, n_threads=args.threads)
            if write is None:  # an error in the first record leaves no file
                write = stack.enter_context(output_writer(args.output))
            for text in writer.of(chains, residues, decided):
                write(table_text(text) if form == "table" else text)
            scored.append((residues, decided.predicted))
            for what, count in chains.counts.items():
                counts[what] = counts.get(what, 0) + count
            done += len(residues)
            if show is not None:
                show(done)
        if write is None and args.part is not None:  # without records
            write = stack.enter_context(output_writer(args.output))
        if write is not None:
            write(writer.end())
    if args.chain is not None and not writer.drawn:
        raise ParameterError(f"there is no chain {args.chain!r}", file=name, remedy="give the first word of its header")
    notes["counts"] = counts
    tell_counts(counts, name)
    looks.end()
    for text in unrecognised(model.windows):
        print(f"seqkern: warning: {args.model}: {text}", file=sys.stderr)
    if true is not None:
        tell_counts(true.counts(), args.states)
        tell_scores(scored, model)


def _form(args: argparse.Namespace) -> str:
    """Return ``"table"``, ``"text"``, ``".svg"`` or ``".html"``."""
    suffix = Path(args.output or "").suffix.lower()
    if suffix in OTHER_PICTURES:
        raise ParameterError(
            f"tracks cannot be written as {suffix}", file=args.output, remedy="write .svg, .html or .txt"
        )
    ending = suffix if suffix in PICTURES else None
    if not args.draw:
        if ending is not None:
            raise ParameterError(
                f"a table cannot be written as {ending[1:]}", file=args.output, remedy="add --track for figures"
            )
        return "table"
    if ending == ".svg" and args.chain is None:
        raise ParameterError("an .svg file holds one chain", file=args.output, remedy="add --chain ID, or write .html")
    return ending or "text"


def _writer(form: str, model: ResidueModel, args: argparse.Namespace) -> StateTable | Tracks:
    """Return the formatter of the predictions."""
    if form == "table":
        return StateTable(model, args.states is not None, with_header=args.part is None or args.part.number == 1)
    return Tracks(model, form, args, colour=form == "text" and not args.output and sys.stdout.isatty())


class StateTable:
    """One line for each residue: chain, position, letter, state, decisions, probabilities.

    Parameters
    ----------
    model : ResidueModel
        The model.
    with_true : bool
        Whether to write the true states beside the predicted ones.
    with_header : bool
        Whether to write the header line.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> import numpy as np
    >>> from seqkern import SequenceSet
    >>> from seqkern.layers.chain import Decided
    >>> from seqkern.residues import Residues
    >>> chains = SequenceSet.from_strings(["MK"], "protein", ids=["1abc"])
    >>> decided = Decided(scores=np.array([[0.5, 0], [0, 0.25]]), predicted=np.array([0, 1]), probabilities=None)
    >>> table = StateTable(SimpleNamespace(classes=("C", "H"), kind="binary"), with_true=False)
    >>> print("".join(table.of(chains, Residues.of_chains(chains, window=3), decided)).expandtabs(12).strip())
    id          position    letter      predicted   decision
    1abc        1           M           C           -0.5
    1abc        2           K           H           0.25
    """

    drawn = True

    def __init__(self, model: ResidueModel, with_true: bool, with_header: bool = True) -> None:
        self.model, self.with_true, self._begun = model, with_true, not with_header

    def of(self, chains: SequenceSet, residues: Residues, decided: Decided) -> Iterator[str]:
        """Write some chains.

        Parameters
        ----------
        chains : SequenceSet
            The sequences.
        residues : Residues
            All n residues of these sequences, chain by chain.
        decided : Decided
            Scores, predicted states and probabilities of the n residues.

        Yields
        ------
        str
            The header line, then the lines of a chain at a time.
        """
        # imported here to keep --help fast
        import numpy as np

        # imported here to keep --help fast
        from seqkern.layers.chain import as_decisions
        from seqkern.sequences._lines import lines

        classes = self.model.classes
        columns = ["id", "position", "letter", *["true"] * self.with_true, "predicted"]
        values = as_decisions(decided.scores, self.model.kind).reshape(len(residues), -1)
        columns += ["decision"] if self.model.kind == "binary" else [f"decision:{name}" for name in classes]
        if decided.probabilities is not None:
            sure = cast("npt.NDArray[np.float64]", self.model.confidence(decided))
            values = np.column_stack([values, decided.probabilities, sure])
            columns += [*(f"probability:{name}" for name in classes), "confidence"]
        if not self._begun:
            yield "\t".join(columns) + "\n"
            self._begun = True
        letters = np.frombuffer("".join(chains.strings()).encode(), dtype=np.uint8)
        known = residues.states() if self.with_true else np.zeros(len(residues), dtype=np.uint8)
        of_cells = np.stack([letters, known, decided.predicted], axis=1).astype(np.int64)
        kinds, inverse = np.unique(of_cells, axis=0, return_inverse=True)
        texts = [self._cells(*kind) for kind in kinds.tolist()]
        which, values, places = inverse.reshape(-1).astype(np.int32), np.ascontiguousarray(values), residues.place + 1
        stops = np.cumsum(chains.lengths)
        for name, first, last in zip(chains.ids, (stops - chains.lengths).tolist(), stops.tolist(), strict=True):
            rows, before = slice(first, last), f"{name}\t".encode()
            yield lines(before, places[rows, None], texts, which[rows], values[rows]).decode()

    def _cells(self, letter: int, true: int, predicted: int) -> bytes:
        """Return the columns between the position and the numbers."""
        cells = [chr(letter), *[chr(true) if true else ""] * self.with_true, self.model.classes[predicted]]
        return ("\t".join(cells) + "\t").encode()

    def end(self) -> str:
        """Return the end of the output."""
        return ""


class Tracks:
    """Figures of chains, as text, SVG or a page.

    Parameters
    ----------
    model : ResidueModel
        The model.
    form : {"text", ".svg", ".html"}
        Format of the figures.
    args : Namespace
        With ``chain``, the only one to draw, or None; and ``model``, named on the page.
    colour : bool
        Whether to colour the text.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> import numpy as np
    >>> from seqkern import SequenceSet
    >>> from seqkern.layers.chain import Decided
    >>> from seqkern.residues import Residues
    >>> chains = SequenceSet.from_strings(["MKVLA"], "protein", ids=["1abc"])
    >>> decided = Decided(scores=np.zeros((5, 2)), predicted=np.array([0, 1, 1, 1, 0]), probabilities=None)
    >>> model = SimpleNamespace(classes=("C", "H"), kind="binary", confidence=lambda decided: None)
    >>> tracks = Tracks(model, "text", SimpleNamespace(chain=None, model="states.seqkern"), colour=False)
    >>> print("".join(tracks.of(chains, Residues.of_chains(chains, window=3), decided)).strip())
    1abc: 5 residues
    <BLANKLINE>
    residue    MKVLA
    predicted  CHHHC
    """

    def __init__(self, model: ResidueModel, form: str, args: argparse.Namespace, colour: bool) -> None:
        self.model, self.form, self.colour, self.drawn = model, form, colour, 0
        self.chain, self.file = args.chain, args.model

    def of(self, chains: SequenceSet, residues: Residues, decided: Decided) -> Iterator[str]:
        """Draw some chains.

        Parameters
        ----------
        chains : SequenceSet
            The sequences.
        residues : Residues
            All n residues of these sequences, chain by chain.
        decided : Decided
            Scores, predicted states and probabilities of the n residues.

        Yields
        ------
        str
            The figure of a chain; the first is preceded by the head of the page.
        """
        # imported here to keep --help fast
        from seqkern.core.tsv import format_cell
        from seqkern.evaluation.residue_results import state_letters

        sure, true, names = self.model.confidence(decided), residues.states(), state_letters(self.model.classes)
        for i, rows in residues.chain_rows():
            if self.chain is not None and chains.ids[i] != self.chain:
                continue
            states = true[rows].tolist()
            track = Track(
                format_cell(chains.ids[i]),
                chains.string(i),
                "".join(names[code] for code in decided.predicted[rows].tolist()),
                "".join(chr(code) if code else UNKNOWN for code in states) if any(states) else None,
                None if sure is None else sure[rows].tolist(),
            )
            if self.form == "text":
                yield track_text(track, colour=self.colour) + "\n"
            elif self.form == ".svg":
                yield str(track_svg(track))
            else:
                yield self._section(track, track_svg(track))
            self.drawn += 1

    def _section(self, track: Track, picture: Markup) -> str:
        """Return a chain's part of the page, the first one with the page's head."""
        head = "" if self.drawn else _page_head(self.file, with_confidence=track.sure is not None)
        return head + str(tag("section", tag("h2", track.head()), picture)) + "\n"

    def end(self) -> str:
        """Return the end of the output."""
        return "</main></body></html>\n" if self.form == ".html" and self.drawn else ""


def _page_head(file: str, with_confidence: bool) -> str:
    """Return the beginning of a page of tracks, predicted by the model in `file`."""
    style, name = STYLE.read_text(encoding="utf-8"), f"States predicted by {Path(file).name}"
    meta, title = tag("meta", charset="utf-8"), tag("title", name)
    note = str(tag("p", f"Confidence is {CONFIDENCE}.")) if with_confidence else ""
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head>{meta}{title}<style>\n{style}</style></head><body><main>\n'
        f"{tag('h1', name)}\n{note}\n"
    )
