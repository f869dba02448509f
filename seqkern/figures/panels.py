"""Figures with captions, side by side."""

from seqkern.core.markup import Markup, details, tag

MOST_OPEN = 8


def panel(svg: Markup, *caption: object) -> Markup:
    """Return a figure with its caption.

    Parameters
    ----------
    svg : Markup
        The figure.
    *caption : object
        What `tag` takes.

    Returns
    -------
    Markup
    """
    return tag("figure", svg, tag("figcaption", caption), class_="panel")


def small_multiples(panels: list[Markup], rest: str, class_: str = "panels") -> Markup:
    """Return figures side by side, those after the first few folded.

    Parameters
    ----------
    panels : list of Markup
        The figures.
    rest : str
        What the folded ones are called, such as ``"families"``.
    class_ : str, default "panels"
        Of the box around them, for its style.

    Returns
    -------
    Markup
    """
    first = tag("div", panels[:MOST_OPEN], class_=class_)
    folded = panels[MOST_OPEN:]
    if not folded:
        return first
    return Markup(first + details(f"{len(folded)} more {rest}", tag("div", folded, class_=class_)))
