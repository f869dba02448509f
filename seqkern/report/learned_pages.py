"""Pages of learned patterns: logos of motifs, and the importance of positions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from seqkern.core.archive import atomic_write
from seqkern.core.tsv import write_tsv
from seqkern.core.types import Array
from seqkern.genomics.motif_tables import LARGEST_Q, Match, resembling
from seqkern.genomics.motifs import FoundMotif
from seqkern.methods.poim import Positions
from seqkern.report.drawing import as_file, picture
from seqkern.report.logo import heat_map, information, logo_figure
from seqkern.report.markup import Markup, tag
from seqkern.report.page_frame import Column, macro, number, plural, render, table, whole_page
from seqkern.sequences.alphabets import Alphabet

# Logos of motifs: one picture of all motifs, and a page.

TITLE, WIDTH = 20.0, 980.0
LOGO_HEIGHT = 214.0


def logo(name: str, counts: Array, alphabet: Alphabet) -> Markup:
    """Return the sequence logo of a motif's counts as SVG."""
    svg = logo_figure(information(counts), None, (f"sequence logo of {name}", alphabet), names=("bits", ""))
    return Markup(svg.replace('style="', 'style="width: auto; ', 1))  # all logos of a page in one scale


def caption(motif: FoundMotif, classes: Sequence[str], match: Match | None) -> str:
    """Return the caption above a logo."""
    text = f"{motif.name} ({classes[motif.sign > 0]}): {motif.consensus}, {plural(motif.sites, 'site')}"
    text += f", {100 * motif.share:.1f}% of the contributions"
    if match is not None:
        text += f"; nearest known: {match.name} (p = {match.p:.2g}, q = {match.q:.2g})"
    return text


def logos_picture(
    motifs: Sequence[FoundMotif], classes: Sequence[str], matches: Sequence[Match] | None = None
) -> Markup:
    """Return all logos below each other as one SVG."""
    parts, y = [], 0.0
    for i, motif in enumerate(motifs):
        text = caption(motif, classes, None if matches is None else matches[i])
        parts.append(tag("text", text, x="14", y=f"{y + TITLE:g}"))
        inner = _logo(motif).replace("<svg ", f'<svg x="0" y="{y + TITLE:g}" ', 1)
        parts.append(Markup(inner))
        y += TITLE + LOGO_HEIGHT
    return picture(parts, (WIDTH, y + 4), "sequence logos of motifs", font_size=13)


HINTS = {
    "motif": "positive_1, … raise the decision value, negative_1, … lower it; largest share first",
    "class": "that the motif supports",
    "consensus": "commonest letters, as IUPAC codes for DNA and RNA",
    "sites": "seqlets (stretches that contribute most to decisions), or k-mers of greatest weight",
    "share": "of the sum of absolute contributions",
    "nearest known": "known motif that resembles it most",
    "p": "probability that a random motif resembles the known one as much",
    "q": "false discovery rate among all pairs of motif and known motif",
    "r": "correlation of the probabilities in the columns that overlap",
}
"""Meanings of the columns of the table of motifs; the last four need known motifs."""


def motif_table(motifs: Sequence[FoundMotif], classes: Sequence[str], matches: Sequence[Match] | None = None) -> Markup:
    """Return the table of motifs as HTML."""
    numeric = ("sites", "share", "p", "q", "r")
    columns = [Column(name, numeric=name in numeric, hint=hint) for name, hint in HINTS.items()]
    columns = columns if matches is not None else columns[:-4]
    rows: list[list[object]] = []
    for i, motif in enumerate(motifs):
        row: list[object] = [motif.name, classes[motif.sign > 0], tag("code", motif.consensus)]
        row += [number(motif.sites, 0), number(motif.share, 3)]
        if matches is not None:
            one = matches[i]
            row += [one.name, f"{one.p:.2g}", f"{one.q:.2g}", number(one.correlation, 2)]
        rows.append(row)
    return table("Motifs", columns, rows)


def logo_figures(
    motifs: Sequence[FoundMotif], classes: Sequence[str], matches: Sequence[Match] | None = None
) -> list[Markup]:
    """Return each logo with its caption as HTML."""
    found = [None] * len(motifs) if matches is None else matches
    texts = [caption(motif, classes, match) for motif, match in zip(motifs, found, strict=True)]
    return [macro("wide_figure", _logo(motif), text, text) for motif, text in zip(motifs, texts, strict=True)]


def _logo(motif: FoundMotif) -> Markup:
    """Return the logo of a motif."""
    return logo(f"{motif.name}, {motif.consensus}", motif.counts, motif.alphabet)


def motifs_page(
    title: str, motifs: Sequence[FoundMotif], classes: Sequence[str], matches: Sequence[Match] | None, source: str
) -> Markup:
    """Return the page of a model's motifs."""
    shown = resembling(matches, len(motifs))
    drawn = []
    for rows in (shown, [i for i in range(len(motifs)) if i not in shown]):
        some = [motifs[i] for i in rows], classes, None if matches is None else [matches[i] for i in rows]
        drawn.append((motif_table(*some), logo_figures(*some)))
    hints = dict(list(HINTS.items())[: None if matches is not None else -4])
    content = {"title": title, "source": source, "drawn": drawn, "hints": hints, "level": LARGEST_Q}
    more = plural(len(motifs) - len(shown), "further motif") if len(shown) < len(motifs) else None
    return whole_page(f"{title} · seqkern motifs", render("learned", "motifs", content | {"more": more}))


# The importance of positions on a page and as files.

# The importance of positions as part of a page: figures and their description.

NAMES = ("importance", "bits")


def pictures(positions: Positions, label: str) -> dict[str, Markup]:
    """Return the figures as SVG by file name: the section, if any, and the whole window."""
    importance = positions.importance
    options: dict[str, Any] = {"first": positions.first}
    parts: dict[str, dict[str, Any]] = {"": {}}
    if positions.section:
        parts["-section"] = {"section": positions.section}
    drawn = {}
    for part, extra in parts.items():
        texts = [f"{label}, {what}{_span(**extra)}" for what in ("importance of letters and k-mers", "sequence logos")]
        drawn[f"importance{part}.svg"] = heat_map(importance, texts[0], **options, **extra)
        drawn[f"logo{part}.svg"] = logo_figure(
            importance.matrices[1], positions.counts, (texts[1], importance.alphabet), names=NAMES, **options, **extra
        )
    return drawn


def _span(section: tuple[int, int] | None = None) -> str:
    """Return the text of a section, for a label."""
    return "" if section is None else f", positions {section[0]} to {section[1]}"


def positions_content(positions: Positions, label: str) -> Markup:
    """Return paragraphs and figures for a page: logos, heat map, and the whole window in a collapsed block."""
    content = {
        "positions": positions,
        "drawn": pictures(positions, label),
        "part": "-section" if positions.section else "",
        "map_caption": _map_caption(positions),
    }
    return render("learned", "positions", content)


def _map_caption(positions: Positions) -> str:
    """Return the caption of the heat map."""
    if len(positions.importance.matrices) == 1:
        return "The same data as a heat map; the bars are sums over the letters."
    orders = " and ".join(str(order) for order in positions.importance.matrices if order > 1)
    return (
        f"The same data as a heat map, and for k-mers of length {orders}, which may matter more than their single "
        "letters: those with the largest values, each at its start position. The bars are sums over the letters."
    )


# Files of the importance of positions: the table and the figures.

TABLE = "importance.tsv"
PICTURES = ("importance.svg", "logo.svg", "importance-section.svg", "logo-section.svg")


def write_positions(positions: Positions, out_dir: Path, label: str) -> None:
    """Write the table and the figures, and remove outdated figures of an earlier run."""
    drawn = pictures(positions, label)
    write_tsv(out_dir / TABLE, ("order", "position", "offset", "word", "value"), positions.rows())
    for name, svg in drawn.items():
        with atomic_write(out_dir / name, "w") as file:
            file.write(as_file(svg))
    for name in set(PICTURES) - set(drawn):
        (out_dir / name).unlink(missing_ok=True)


def remove_positions(out_dir: Path) -> None:
    """Remove the files of an earlier run."""
    for name in (TABLE, *PICTURES):
        (out_dir / name).unlink(missing_ok=True)
