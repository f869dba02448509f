"""The importance of positions on a page: pictures, and in words what they show."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from seqkern.core.markup import Markup, details, tag
from seqkern.figures.heatmap import heat_map
from seqkern.figures.logo import logo_figure

if TYPE_CHECKING:
    from seqkern.explain.positions import Positions

NAMES = ("importance", "bits")


def pictures(positions: Positions, label: str) -> dict[str, Markup]:
    """Return the pictures: of the section, where there is one, and of the whole.

    Parameters
    ----------
    positions : Positions
        What is drawn.
    label : str
        Whose importance it is, for readers who do not see it.

    Returns
    -------
    dict of str to Markup
        SVG by the name of its file.
    """
    importance = positions.importance
    options: dict[str, Any] = {"first": positions.first}
    parts: dict[str, dict[str, Any]] = {"": {}}
    if positions.section:
        parts["-section"] = {"section": positions.section}
    drawn = {}
    for part, extra in parts.items():
        texts = [f"{label}, {what}{_span(**extra)}" for what in ("importance of letters and words", "sequence logos")]
        drawn[f"importance{part}.svg"] = _standing_alone(heat_map(importance, texts[0], **options, **extra))
        drawn[f"logo{part}.svg"] = logo_figure(
            importance.matrices[1], positions.counts, (texts[1], importance.alphabet), names=NAMES, **options, **extra
        )
    return drawn


def _span(section: tuple[int, int] | None = None) -> str:
    """Return which part it is, for a label."""
    return "" if section is None else f", positions {section[0]} to {section[1]}"


def _standing_alone(svg: Markup) -> Markup:
    """Return an inline SVG that may also be a file."""
    return type(svg)(svg.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" font-family="sans-serif" ', 1))


def positions_content(positions: Positions, label: str) -> list[Markup]:
    """Return paragraphs and figures for a page: the logos, the heat map, and the whole window folded away.

    Parameters
    ----------
    positions : Positions
        What is shown.
    label : str
        Whose importance it is, for readers who do not see the pictures.

    Returns
    -------
    list of Markup
    """
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
    """Return a picture in a box of its own that scrolls sideways."""
    box = tag("div", svg, class_="scroll", tabindex="0", role="region", aria_label="picture; scrolls sideways")
    return tag("figure", tag("figcaption", caption), box, class_="positions")


def _reading(positions: Positions) -> Iterator[Markup]:
    """Return how to read the pictures, in plain words."""
    if positions.classes:
        negative, positive = positions.classes
        sides = ["up speaks for ", tag("b", positive), ", down for ", tag("b", negative)]
    else:
        sides = ["up makes the predicted number larger, down smaller"]
    if positions.importance.background is not None:
        what = (
            "how much the decision changes on average if the window has this letter at this position, and all its "
            "other letters are random (a positional oligomer importance matrix of order 1; Sonnenburg and others, 2008)"
        )
    else:
        what = (
            "how much this letter at this position adds to the decision, as a mean over the windows that have it "
            "there, less what an average letter adds at this position"
        )
    site = " Positions are offsets from the site, which is 0." if positions.has_site else ""
    yield tag("p", "The height of a letter is ", what, ": ", sides, ".", site)
    if positions.counts is not None:
        yield tag(
            "p",
            f"The second logo shows what the {positions.windows} have in common: the information of each position in "
            "bits. It does not compare: a letter that the windows of either class carry at a position is tall in the "
            "second logo, and flat in the first, because it does not tell the classes apart.",
        )


def _logo_caption(positions: Positions) -> str:
    """Return the caption of the logos."""
    below = f"; below, the information content of the {positions.windows}" if positions.counts is not None else ""
    return f"Importance of the letters at each position{below}."


def _map_caption(positions: Positions) -> str:
    """Return the caption of the heat map."""
    if len(positions.importance.matrices) == 1:
        return "The same as a heat map; the bars are sums over the letters."
    orders = " and ".join(str(order) for order in positions.importance.matrices if order > 1)
    return (
        f"The same as a heat map, and for words of {orders} letters, which may matter more than their letters one by "
        "one: those with the largest values, each at the position where it starts. The bars are sums over the letters."
    )
