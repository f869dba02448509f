"""The importance of positions on a page and as files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from seqkern.core.archive import atomic_write
from seqkern.core.tsv import write_tsv
from seqkern.methods.poim import Positions
from seqkern.report.logo import heat_map, logo_figure
from seqkern.report.markup import Markup, details, tag
from seqkern.report.svg import as_file

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


def positions_content(positions: Positions, label: str) -> list[Markup]:
    """Return paragraphs and figures for a page: logos, heat map, and the whole window in a collapsed block."""
    drawn = pictures(positions, label)
    part = "-section" if positions.section else ""
    shown = [
        *_reading(positions),
        _figure(drawn[f"logo{part}.svg"], _logo_caption(positions)),
        _figure(drawn[f"importance{part}.svg"], _map_caption(positions)),
    ]
    if part:
        whole = [_figure(drawn["logo.svg"], "Logos."), _figure(drawn["importance.svg"], "Heat map.")]
        shown.append(details(f"The whole window, {positions.importance.length} positions", whole))
    return shown


def _figure(svg: Markup, caption: str) -> Markup:
    """Return a figure in a box that scrolls sideways."""
    box = tag("div", svg, class_="scroll", tabindex="0", role="region", aria_label="figure; scrolls sideways")
    return tag("figure", tag("figcaption", caption), box, class_="positions")


def _reading(positions: Positions) -> Iterator[Markup]:
    """Yield instructions for reading the figures."""
    if positions.classes:
        negative, positive = positions.classes
        sides = ["upward supports ", tag("b", positive), ", downward ", tag("b", negative)]
    else:
        sides = ["upward increases the predicted number, downward decreases it"]
    if positions.importance.background is not None:
        what = (
            "the mean change of the decision value if the window has this letter at this position and all its "
            "other letters are random (a positional oligomer importance matrix of order 1; Sonnenburg and others, 2008)"
        )
    else:
        what = (
            "the mean contribution of this letter at this position to the decision value, over the windows that "
            "have it there, minus the contribution of an average letter at this position"
        )
    site = " Positions are offsets from the site, at 0." if positions.has_site else ""
    yield tag("p", "The height of a letter is ", what, ": ", sides, ".", site)
    if positions.counts is not None:
        yield tag(
            "p",
            f"The second logo shows the information content, in bits, of each position of the {positions.windows}. "
            "It is not a comparison of classes: a letter that both classes have at a position is tall in the "
            "second logo and flat in the first, because it does not distinguish them.",
        )


def _logo_caption(positions: Positions) -> str:
    """Return the caption of the logos."""
    below = f"; below, the information content of the {positions.windows}" if positions.counts is not None else ""
    return f"Importance of the letters at each position{below}."


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
