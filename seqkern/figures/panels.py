"""Figures with captions, side by side."""

from seqkern.core.markup import Markup, details, tag

MOST_OPEN = 8


def panel(svg: Markup, *caption: object) -> Markup:
    """Return a figure with its caption."""
    return tag("figure", svg, tag("figcaption", caption), class_="panel")


def small_multiples(panels: list[Markup], rest: str, class_: str = "panels") -> Markup:
    """Return figures side by side, those after the first few folded; `rest` names the folded ones."""
    first = tag("div", panels[:MOST_OPEN], class_=class_)
    folded = panels[MOST_OPEN:]
    if not folded:
        return first
    return Markup(first + details(f"{len(folded)} more {rest}", tag("div", folded, class_=class_)))
