"""``seqkern predict`` with a residue model: the state of every residue, as a table or as figures."""

from __future__ import annotations

import contextlib
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from seqkern.cli.common import unrecognised
from seqkern.cli.new_sequences import read_chunks
from seqkern.cli.output import log, log_counts, naming_file, output_writer, refuse_part, warn
from seqkern.cli.requests_models import CONFIDENCE, PredictRequest
from seqkern.core.errors import ModelError, ParameterError
from seqkern.core.progress import progress_counter
from seqkern.core.text_files import is_one_file, source_name
from seqkern.core.tsv import format_cell, table_text
from seqkern.evaluation.residue_results import state_letters, state_scores
from seqkern.formats.residues import STATES, Residues
from seqkern.formats.states import DSSP, LEFT_OUT, OF_PROTEINS, match_states, read_state_records, reduce_states
from seqkern.methods.residue_model import ResidueModel
from seqkern.report.markup import Markup, tag
from seqkern.report.page_frame import ASSETS
from seqkern.report.profile_pictures import UNKNOWN, Track, track_svg, track_text
from seqkern.report.sentences import metric
from seqkern.sequences._lines import lines
from seqkern.sequences.alphabets import MASK, Alphabet
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.solvers.layers.chain import Decided, as_decisions


def run_residues(request: PredictRequest, model: ResidueModel, notes: dict[str, Any]) -> None:
    """Predict the states, and write a table or figures; `notes` gets the counts."""
    if request.scan is not None or request.sites is not None:
        raise ModelError("classifies every residue", file=request.model, remedy="remove --scan and --sites")
    if request.draws or request.states is not None:
        refuse_part(request, "figures, and tables with the true states", "remove --track, --chain and --states")
    name, done = source_name(request.fasta), 0
    counts = Counter[str]()
    form = _form(request)
    with contextlib.ExitStack() as stack:
        show = stack.enter_context(progress_counter("predict", " residues"))
        stack.enter_context(naming_file(name))
        write: Callable[[str], object] | None = None
        writer, looks = _writer(form, model, request), LooksLikeStates(name, model)
        scored: list[tuple[Residues, npt.NDArray[np.int64]]] = []
        together = is_one_file(request.fasta, request.states)
        true = None if request.states is None else TrueStates(request.states, model, together)
        for chains in cast("Iterator[SequenceSet]", read_chunks(model.windows, request, together=together)):
            chains = chains if true is None else true.of(chains)
            looks.see(chains)
            residues, decided = model.decide(chains, n_threads=request.threads)
            if write is None:  # an error in the first record leaves no file
                write = stack.enter_context(output_writer(request.output))
            for text in writer.of(chains, residues, decided):
                write(table_text(text) if form == "table" else text)
            scored.append((residues, decided.predicted))
            counts.update(chains.counts)
            done += len(residues)
            if show is not None:
                show(done)
        if write is None and request.part is not None:  # without records
            write = stack.enter_context(output_writer(request.output))
        if write is not None:
            write(writer.end())
    if request.chain is not None and not writer.drawn:
        raise ParameterError(
            f"there is no chain {request.chain!r}", file=name, remedy="give the first word of its header"
        )
    notes["counts"] = counts
    log_counts(counts, name)
    looks.end()
    for text in unrecognised(model.windows):
        warn(f"{request.model}: {text}")
    if true is not None:
        log_counts(true.counts(), request.states)
        log_scores(scored, model)


def _form(request: PredictRequest) -> str:
    """Return ``"table"``, ``"text"``, ``".svg"`` or ``".html"``."""
    suffix = Path(request.output or "").suffix.lower()
    ending = suffix if suffix in (".svg", ".html") else None
    if not request.draws:
        if ending is not None:
            raise ParameterError(
                f"a table cannot be written as {ending[1:]}", file=request.output, remedy="add --track for figures"
            )
        return "table"
    if ending == ".svg" and request.chain is None:
        raise ParameterError(
            "an .svg file holds one chain", file=request.output, remedy="add --chain ID, or write .html"
        )
    return ending or "text"


def _writer(form: str, model: ResidueModel, request: PredictRequest) -> StateTable | Tracks:
    """Return the formatter of the predictions."""
    if form == "table":
        return StateTable(
            model, request.states is not None, with_header=request.part is None or request.part.number == 1
        )
    return Tracks(model, form, request, colour=form == "text" and not request.output and sys.stdout.isatty())


class StateTable:
    """A table with one line for each residue: chain, position, letter, state, decisions, probabilities."""

    drawn = True

    def __init__(self, model: ResidueModel, with_true: bool, with_header: bool = True) -> None:
        self.model, self.with_true, self._begun = model, with_true, not with_header

    def of(self, chains: SequenceSet, residues: Residues, decided: Decided) -> Iterator[str]:
        """Yield the header line, then the lines of one chain at a time."""
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
        """Return the columns between the position and the numeric columns."""
        cells = [chr(letter), *[chr(true) if true else ""] * self.with_true, self.model.classes[predicted]]
        return ("\t".join(cells) + "\t").encode()

    def end(self) -> str:
        """Return the end of the output."""
        return ""


class Tracks:
    """Figures of chains as text, SVG or an HTML page; ``request.chain`` is the only one to draw, or None."""

    def __init__(self, model: ResidueModel, form: str, request: PredictRequest, colour: bool) -> None:
        self.model, self.form, self.colour, self.drawn = model, form, colour, 0
        self.chain, self.file = request.chain, request.model

    def of(self, chains: SequenceSet, residues: Residues, decided: Decided) -> Iterator[str]:
        """Yield the figure of each chain, preceded by the head of the page for the first one."""
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
        """Return a chain's section of the page, with the page's head for the first chain."""
        head = "" if self.drawn else _page_head(self.file, with_confidence=track.sure is not None)
        return head + str(tag("section", tag("h2", track.head()), picture)) + "\n"

    def end(self) -> str:
        """Return the end of the output."""
        return "</main></body></html>\n" if self.form == ".html" and self.drawn else ""


def _page_head(file: str, with_confidence: bool) -> str:
    """Return the beginning of a page of tracks, predicted by the model in `file`."""
    style, name = (ASSETS / "style.css").read_text(encoding="utf-8"), f"States predicted by {Path(file).name}"
    meta, title = tag("meta", charset="utf-8"), tag("title", name)
    note = str(tag("p", f"Confidence is {CONFIDENCE}.")) if with_confidence else ""
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head>{meta}{title}<style>\n{style}</style></head><body><main>\n'
        f"{tag('h1', name)}\n{note}\n"
    )


# Detection of residue-state files given as sequences: H, E and C are amino acids as well.

SHORTEST = 20
"""Minimum number of residues: a shorter peptide may happen to consist of letters of states."""


class LooksLikeStates:
    """A monitor of the chains that a residue model is applied to; it checks proteins only."""

    def __init__(self, file: str, model: ResidueModel) -> None:
        self.file, letters = file, cast("Alphabet", model.alphabet).letters
        self.watches = set(letters) >= OF_PROTEINS
        self._states = [code for code, letter in enumerate(letters) if letter in DSSP]
        self._total, self._others, self._told = 0, 0, False
        self._first: str | None = None

    def see(self, chains: SequenceSet) -> None:
        """Warn about the first chain whose second half looks like the states of its first half."""
        if not self.watches:
            return
        for i, name in enumerate(chains.ids):
            codes = chains.codes[chains.starts[i] : chains.stops[i]]
            other = ~np.isin(codes, [*self._states, MASK])
            half, odd = divmod(len(codes), 2)
            if not (odd or self._told) and half >= SHORTEST and other[:half].any() and not other[half:].any():
                self._told = True
                warn(
                    f"{self.file}: the second half of record {name!r} looks like the states of its first half; if "
                    "the file holds residues and states, also give it as --states, or remove the states"
                )
            self._first = name if self._first is None else self._first
            self._total += len(codes)
            self._others += int(other.sum())

    def end(self) -> None:
        """Warn if all chains consist of state letters only."""
        if self.watches and not self._others and self._total >= SHORTEST:
            warn(
                f"{self.file}: all records, from {self._first!r} on, consist of letters of states (H, E, C, …) and "
                "were read as amino acids; give the sequences, not a file of states"
            )


# The true states given to ``seqkern predict``: read once, matched with the chains, and scored.


class TrueStates:
    """The true states of a file, reduced as in training; `together` if one file holds residues and states."""

    def __init__(self, file: str, model: ResidueModel, together: bool) -> None:
        self.file, self.together, self.classes = file, together, model.classes
        self.reduction = model.record.get("residues", {}).get("reduction")
        self._records = () if together else read_state_records(file)[0]
        self._left = {record.id for record in self._records}

    def of(self, chains: SequenceSet) -> SequenceSet:
        """Return the chains with the track of true states, reduced as in training if necessary."""
        chains = chains.compact()
        if not self.together:
            others = [record.id for record in self._records]  # of chains in other chunks, or absent
            chains = match_states(chains, self._records, self.file, left_out=others, classes=self.classes)
            self._left.difference_update(chains.ids)
        if self.reduction is None:
            return chains
        states = reduce_states(chains.tracks[STATES], chains.stops, self.reduction, self.file, needed=False)
        return chains.replace(tracks={**chains.tracks, STATES: states})

    def counts(self) -> dict[str, int]:
        """Return the number of chains in the file that match no sequence."""
        return {LEFT_OUT: len(self._left)}


def log_scores(scored: Sequence[tuple[Residues, npt.NDArray[np.int64]]], model: ResidueModel) -> None:
    """Print the scores of the predictions on standard error, one a line."""
    # in a one-against-rest model the other states have no letter of their own
    code = np.full(256, -1 if model.kind == "multiclass" else 0, dtype=np.int64)
    code[0] = -1
    for number, name in enumerate(model.classes):
        if len(name) == 1:
            code[ord(name)] = number
    true, predicted, chain, place, first, others = [], [], [], [], 0, np.zeros(256, dtype=np.int64)
    for residues, codes in scored:
        states = code[residues.states()]
        known = states >= 0
        others += np.bincount(residues.states()[~known], minlength=256)
        true.append(states[known])
        predicted.append(codes[known])
        chain.append(first + residues.record[known])
        place.append(residues.place[known])
        first += len(residues.chains)
    others[0] = 0  # not known
    if others.any():
        names = ", ".join(map(chr, np.flatnonzero(others)))
        log(f"{others.sum()} residues have states unknown to the model and are not scored: {names}")
    parts = [np.concatenate(part) for part in (true, predicted, chain, place)]
    if not len(parts[0]):
        log("no residue has a known state")
        return
    n_chains = len(np.unique(parts[2]))
    log(f"{len(parts[0])} residues of {n_chains} chains have a known state; scores:")
    found = state_scores(parts[0], parts[1], parts[2], parts[3], model.classes)
    scores = {metric(key): value for key, value in found.items()}
    wide = max(len(words.name) for words in scores)
    for words, value in scores.items():
        text = words.sentence.removesuffix(".").partition(". ")[0]
        print(f"  {words.name:<{wide}} {value:7.4f}  {text}", file=sys.stderr)
