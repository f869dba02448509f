"""Logos of motifs: one picture of all motifs, and a page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy.typing as npt

from seqkern.genomics.motif_similarity import Match
from seqkern.genomics.motifs import FoundMotif
from seqkern.report.logo import information, logo_figure
from seqkern.report.markup import Markup, tag
from seqkern.report.page_frame import Column, number, plural, table, whole_page
from seqkern.report.svg import picture
from seqkern.sequences.alphabets import Alphabet

TITLE, WIDTH = 20.0, 980.0
LOGO_HEIGHT = 214.0


def logo(name: str, counts: npt.NDArray[Any], alphabet: Alphabet) -> Markup:
    """Return the sequence logo of a motif's counts as SVG."""
    svg = logo_figure(information(counts), None, (f"sequence logo of {name}", alphabet), names=("bits", ""))
    return Markup(svg.replace('style="', 'style="width: auto; ', 1))  # all logos of a page in one scale


def scrolling(text: str, svg: Markup) -> Markup:
    """Return a logo with its caption, in a box that scrolls sideways."""
    box = tag("div", svg, class_="scroll", tabindex="0", role="region", aria_label=text)
    return tag("figure", tag("figcaption", text), box)


def caption(motif: FoundMotif, classes: Sequence[str], match: Match | None) -> str:
    """Return the caption above a logo."""
    text = f"{motif.name} ({classes[motif.sign > 0]}): {motif.consensus}, {plural(motif.sites, 'site')}"
    text += f", {100 * motif.share:.1f} % of the contributions"
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


def motif_table(motifs: Sequence[FoundMotif], classes: Sequence[str], matches: Sequence[Match] | None = None) -> Markup:
    """Return the table of motifs as HTML."""
    columns = [
        Column("motif", numeric=False),
        Column("class", numeric=False),
        Column("consensus", numeric=False),
        Column("sites", hint="seqlets, or k-mers of greatest weight"),
        Column("share", hint="of the sum of absolute contributions"),
    ]
    if matches is not None:
        columns += [
            Column("nearest known", numeric=False),
            Column("p"),
            Column("q", hint="false discovery rate among all pairs of motif and known motif"),
            Column("r", hint="correlation of the probabilities in the columns that overlap"),
        ]
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
    figures = []
    for i, motif in enumerate(motifs):
        text = caption(motif, classes, None if matches is None else matches[i])
        figures.append(scrolling(text, _logo(motif)))
    return figures


def _logo(motif: FoundMotif) -> Markup:
    """Return the logo of a motif."""
    return logo(f"{motif.name}, {motif.consensus}", motif.counts, motif.alphabet)


def motifs_page(
    title: str, motifs: Sequence[FoundMotif], classes: Sequence[str], matches: Sequence[Match] | None, source: str
) -> Markup:
    """Return the page of a model's motifs."""
    head = tag(
        "header",
        tag("p", "seqkern motifs", class_="kicker"),
        tag("h1", "What the model has learned"),
        tag("p", f"{title}, {source}", class_="lead"),
    )
    found = tag("section", tag("h2", "Motifs"), motif_table(motifs, classes, matches))
    drawn = tag("section", tag("h2", "Logos"), logo_figures(motifs, classes, matches))
    return whole_page(f"{title} · seqkern motifs", head, tag("main", found, drawn))
