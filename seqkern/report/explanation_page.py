"""The folder and page of an explanation."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from seqkern.core.archive import atomic_write, check_writable
from seqkern.core.errors import SequenceError
from seqkern.core.tsv import format_cell, table_text, write_tsv
from seqkern.core.types import Floats, PathLike
from seqkern.formats.regions import Place, place_of
from seqkern.kernels.kernel_specs import kernel_text
from seqkern.methods.explanation import WORDS_LETTERS, Explainer, KmerTable
from seqkern.methods.poim import Positions, WindowMeans, has_poim, positions_of
from seqkern.report.drawing import as_file
from seqkern.report.learned_pages import positions_content, remove_positions, write_positions
from seqkern.report.markup import Markup, tag
from seqkern.report.page_frame import Column, fixed, number, plural, render, short, table, whole_page
from seqkern.report.profile_pictures import MOST_LETTERS, bin_width, profile
from seqkern.sequences.joining import Stretch, stretches
from seqkern.sequences.sequence_set import SequenceSet, sequence_views
from seqkern.solvers.solver_specs import spec_text

if TYPE_CHECKING:
    from seqkern.formats.signals import Track
    from seqkern.solvers.thresholds import Threshold


# The page that explains a model's decisions.

Words = Sequence[tuple[str, float, int | None]]
"""K-mers, their weights and occurrences, as from `KmerTable.sorted`."""
MOST_BARS = 15


def render_page(
    summary: Summary,
    profiles: Sequence[Shown],
    means: Sequence[Shown],
    words: Words,
    positions: Positions | None = None,
    *,
    alone: bool = False,
) -> Markup:
    """Return the whole page as HTML, without the names of files beside it if it stands alone."""
    model = summary.explainer.model
    content = {
        "summary": summary,
        "model": model,
        "kernel": kernel_text(model.kernel),
        "solver": spec_text(model.record["solver"]) if "solver" in model.record else model.solver.name,
        "threshold": f"{model.threshold.value:.4g}".replace("-", "\N{MINUS SIGN}") if model.threshold else None,
        "positions": positions_content(positions, summary.name) if positions else None,
        "profiles": profiles,
        "means": means,
        "alone": alone,
        "words": list(_word_tables(summary, words)) if words else None,
    }
    return whole_page(f"{summary.name} · seqkern explain", render("explanation", "page", content))


def _word_tables(summary: Summary, words: Words) -> Iterator[Markup]:
    """Yield a table of k-mers for each side, with a bar for each weight."""
    negative, positive = summary.classes or ("smaller numbers", "larger numbers")
    largest = max(abs(weight) for _, weight, _ in words) or 1.0
    columns = [
        Column("K-mer", False),
        Column("Weight"),
        Column("", False),
        Column("Count", True, "occurrences in the new sequences"),
    ]
    for side, name, sign in (("positive", positive, 1), ("negative", negative, -1)):
        cells = []
        for word, weight, count in [row for row in words if sign * row[1] > 0][:MOST_BARS]:
            bar = f'<span class="bar {side}" style="width: {100 * abs(weight) / largest:.1f}%"></span>'
            occurs = "–" if count is None else number(count, 0)
            cells.append([word, number(weight, 3), Markup(f'<td class="wide">{bar}</td>'), occurs])
        yield table(f"For {name}", columns, cells)


# The content of an explanation page: records with their profiles, and the summary.


@dataclass(frozen=True)
class Shown:
    """A profile to draw: the contribution of each residue to the decision value, with letters, bias and caption.

    >>> shown = Shown(np.array([0.1, 0.4, -0.2]), "GTA", bias=-0.1, caption="site 1", label="Profile of site 1")
    >>> "Profile of site 1" in shown.drawn
    True
    """

    contributions: Floats  # shape (L,): Contribution of each residue to the decision value
    letters: str  # length L: The sequence
    bias: float  # Bias of the model
    caption: object  # As for `escape`
    label: str  # The caption as plain text
    ends: tuple[float, ...] = ()  # Minimum range of the axis
    views: Sequence[Stretch] = ()  # The sequences that are joined, if there are several

    @cached_property
    def drawn(self) -> Markup:
        """SVG of the profile, drawn once for the page and for its file."""
        return profile(self.contributions, self.letters, self.bias, self.label, self.ends, self.views)


@dataclass
class Summary:
    """The facts on the page about the model and the new sequences."""

    explainer: Explainer
    name: str  # Of the model
    fasta: str  # Name of the file of sequences
    n: int = 0  # Number of new sequences
    n_words: int = 0  # Number of k-mers
    dropped: int = 0  # Number of k-mers left out, as in `KmerTable`
    counts: Counter[str] = field(default_factory=Counter)  # Number of sequences of each predicted class

    @property
    def classes(self) -> tuple[str, ...]:
        """(negative, positive); empty for a model of numbers."""
        return self.explainer.model.classes if self.explainer.model.kind == "binary" else ()

    def add(self, predicted: Sequence[Any]) -> None:
        """Count the predictions for some more sequences."""
        self.n += len(predicted)
        self.counts.update(predicted if self.classes else ())

    def predicted(self) -> list[object]:
        """Return the total number of sequences, and the number in each predicted class, for `escape`."""
        each = ", ".join(f"{self.counts[name]} {name}" for name in reversed(self.classes))
        return [number(self.n, 0), f": {each}" if each else None]


# The folder of an explanation: tables, figures, a page.

MOST_NAME = 60
LEAST_WINDOWS = 20
PLACE = ("chromosome", "start", "end", "strand")
"""Columns for sequences from a genome; positions count from 1, the end is included."""
PICTURE = re.compile(r"profile-\d{4,}\.svg")


@dataclass(frozen=True)
class _Record:
    """A sequence with its residues' contributions, its decision value and its prediction."""

    name: str
    letters: str
    contributions: Floats
    decision: float
    predicted: Any
    place: Place | None
    views: list[Stretch]

    def letter_lines(self, placed: bool, several: bool) -> Iterator[str]:
        """Yield the record's lines of ``letters.tsv``, with all digits so that they sum to the decision value."""
        name = format_cell(self.name)
        values, ends = self.contributions.tolist(), ["\t\t" if several else ""] * len(self.letters)
        for view in self.views:
            ends[view.start : view.stop] = [f"\t{view.name}\t{n}" for n in range(1, view.stop - view.start + 1)]
        if placed:
            chromosome = "" if self.place is None else format_cell(self.place.chromosome)
            bases = [""] * len(self.letters) if self.place is None else (self.place.bases() + 1).tolist()
            ends = [f"\t{chromosome}\t{base}{end}" for base, end in zip(bases, ends, strict=True)]
        for position, (letter, value, end) in enumerate(zip(self.letters, values, ends, strict=True), start=1):
            yield f"{name}\t{position}\t{letter}\t{value!r}{end}\n"

    def decision_line(self, bias: float, threshold: Threshold | None, placed: bool) -> str:
        """Return the record's line of ``decisions.tsv``, with the model's threshold and the genome position, if any."""
        cells = [format_cell(self.name), len(self.letters), repr(self.decision), repr(bias)]
        cells += [] if threshold is None else [repr(threshold.value)]
        place, where = self.place, [""] * len(PLACE) if placed else []
        if placed and place is not None:
            where = [format_cell(place.chromosome), str(place.start + 1), str(place.stop), place.strand]
        return "\t".join(map(str, (*cells, format_cell(self.predicted), *where))) + "\n"

    def shown(self, explainer: Explainer) -> Shown:
        """Return the record's profile as a Shown."""
        outcome = f": {self.predicted}, decision " if explainer.model.kind == "binary" else ": predicted "
        bins = bin_width(len(self.letters))
        how = f"; each step is the mean of {bins} positions" if bins > 1 else None
        caption = [tag("b", short(self.name, MOST_NAME)), outcome, number(self.decision, 3), how]
        label = f"Prediction profile of {short(self.name, MOST_NAME)}{outcome}{fixed(self.decision)}"
        return Shown(self.contributions, self.letters, explainer.bias, caption, label, views=self.views)


def _mean_profiles(means: WindowMeans, explainer: Explainer) -> list[Shown]:
    """Return the mean profile of the sequences of each prediction, the positive class first; none for one sequence."""
    if means.layout is None or means.n < 2:
        return []
    profiles = {name: sums / n for name, (sums, _, n) in means.groups.items()}
    ends = float(np.min(list(profiles.values()))), float(np.max(list(profiles.values())))  # one scale for all
    shown = []
    for name in [name for name in reversed(explainer.model.classes) if name in profiles] or list(profiles):
        _, tallies, n = means.groups[name]
        letters = [means.letters.alphabet.letters[code] for code in tallies.argmax(axis=0)]
        often = 2 * tallies.max(axis=0) >= n
        text = "".join(letter if yes else "·" for letter, yes in zip(letters, often, strict=True))
        who = _sequences(n, name, explainer)
        caption, label = [tag("b", who), ": mean contribution of each position"], f"Mean prediction profile of {who}"
        shown.append(Shown(profiles[name], text, explainer.bias, caption, label, ends, means.layout[1]))
    return shown


def _positions(means: WindowMeans, explainer: Explainer) -> Positions | None:
    """Return the importance of positions for the sequences; None if they are few or differ in length."""
    model = explainer.model
    if means.n < LEAST_WINDOWS and not has_poim(model.kernel):
        return None
    name = model.classes[1] if model.kind == "binary" else None
    _, tallies, n = means.groups.get(name, (None, None, 0))
    counts = tallies.T if n >= LEAST_WINDOWS else None
    return positions_of(explainer.form, model, means.letters, counts, _sequences(n, name, explainer))


def _sequences(n: int, name: Any, explainer: Explainer) -> str:
    """Return the number of sequences, and what they are predicted as, in words."""
    return plural(n, "sequence") + (f" predicted as {name}" if explainer.model.kind == "binary" else "")


def write_explanation(
    explainer: Explainer,
    chunks: Iterable[SequenceSet],
    out_dir: PathLike,
    *,
    model: str,
    fasta: str,
    plots: int = 12,
    show: Callable[[int], None] | None = None,
    n_threads: int | None = None,
    track: Track | None = None,
    page_path: PathLike | None = None,
) -> KmerTable:
    """Explain the decisions on any number of sequences in bounded memory, and return the k-mers of all of them.

    The page is in the folder unless `page_path` names another file.
    """
    out_dir = Path(out_dir)
    path = Path(page_path or out_dir / "index.html")
    check_writable(path)
    assert explainer.model.alphabet is not None
    summary, table = Summary(explainer, model, fasta), KmerTable(explainer.both_strands)
    means = WindowMeans(explainer.model.alphabet, MOST_LETTERS)
    shown: list[Shown] = []
    with (
        atomic_write(out_dir / "letters.tsv", "w") as letters,
        atomic_write(out_dir / "decisions.tsv", "w") as decisions,
    ):
        chunks, placed = _placed(chunks, explainer)
        several = bool(sequence_views(cast("SequenceSet", explainer.model.support)))
        more = "\tchromosome\tgenome_position" * placed + "\tview\tview_position" * several
        letters.write(f"id\tposition\tletter\tcontribution{more}\n")
        threshold = explainer.model.threshold
        columns = ["id", "letters", "decision", "bias", *["threshold"] * (threshold is not None), "predicted"]
        decisions.write("\t".join([*columns, *(PLACE if placed else ())]) + "\n")
        for X in _pieces(explainer, chunks, table, n_threads):
            decision, shares = explainer.letters(X, n_threads=n_threads)
            predicted = explainer.model.classify(decision).tolist()
            for i, part in enumerate(np.split(shares, np.cumsum(X.lengths)[:-1])):
                place = place_of(X.ids[i], len(part), explainer.model.window)
                views = stretches(X, i)
                record = _Record(X.ids[i], X.string(i), part, float(decision[i]), predicted[i], place, views)
                letters.writelines(map(table_text, record.letter_lines(placed, several)))
                decisions.write(table_text(record.decision_line(explainer.bias, threshold, placed)))
                if track is not None:
                    _add_to_track(track, record)
                if len(shown) < plots:
                    shown.append(record.shown(explainer))
            means.add(X, shares, predicted if summary.classes else [None] * len(X))
            summary.add(predicted)
            if show is not None:
                show(summary.n)
        words = table.sorted()
        found = [row for row in words if row[2] != 0]
        summary.n_words, summary.dropped = len(words), table.dropped
        positions = _positions(means, explainer)
        page = render_page(
            summary, shown, _mean_profiles(means, explainer), found, positions, alone=page_path is not None
        )
    rows = ((word, repr(weight), count) for word, weight, count in words)
    write_tsv(out_dir / "words.tsv", ("word", "weight", "occurrences"), rows)
    pictures = [f"profile-{number_:04d}.svg" for number_ in range(1, len(shown) + 1)]
    for name, item in zip(pictures, shown, strict=True):
        with atomic_write(out_dir / name, "w") as file:
            file.write(as_file(item.drawn))
    if positions is None:
        remove_positions(out_dir)
    else:
        write_positions(positions, out_dir, model)
    with atomic_write(path, "w") as file:
        file.write(page)
    for path in out_dir.iterdir():  # remove those of an earlier run with more
        if PICTURE.fullmatch(path.name) and path.name not in pictures:
            path.unlink()
    return table


def _placed(chunks: Iterable[SequenceSet], explainer: Explainer) -> tuple[Iterator[SequenceSet], bool]:
    """Return the chunks, and whether the first sequence has a position on a genome."""
    rest = iter(chunks)
    some = list(itertools.islice(rest, 1))
    placed = any(len(X) and place_of(X.ids[0], int(X.lengths[0]), explainer.model.window) is not None for X in some)
    return itertools.chain(some, rest), placed


def _add_to_track(track: Track, record: _Record) -> None:
    """Add the contributions of a record's bases to a track; raise SequenceError if their position is unknown."""
    if record.place is None:
        raise SequenceError(
            "has no place on a genome in its id",
            record=record.name,
            remedy="write ids such as chr1:1001-1300 (the length must agree), use --sites, or remove --contributions",
        )
    step = -1 if record.place.reverse else 1
    track.add(record.place.chromosome, record.place.bases()[::step], record.contributions[::step])


def _pieces(
    explainer: Explainer, chunks: Iterable[SequenceSet], table: KmerTable, n_threads: int | None
) -> Iterator[SequenceSet]:
    """Yield the sequences in pieces, after adding their k-mers to the table."""
    for chunk in chunks:
        for part in explainer.pieces(chunk, WORDS_LETTERS):
            explainer.collect_words(part, table, n_threads)
            yield from explainer.pieces(part)
