"""The frame of a page: its head with the style that all pages share."""

from pathlib import Path

from seqkern.core.markup import Markup, tag

STYLE = Path(__file__).with_name("style.css")
FIRST_SCREEN = Path(__file__).with_name("first_screen.css")


def whole_page(title: str, *body: object, styles: tuple[Path, ...] = ()) -> Markup:
    """Return a page of HTML, with no file beside it.

    Parameters
    ----------
    title : str
        Of the window.
    *body : object
        What `escape` takes.
    styles : tuple of Path
        Style sheets that come after the one that all pages share.

    Returns
    -------
    Markup
    """
    style = "\n".join(path.read_text(encoding="utf-8") for path in (STYLE, FIRST_SCREEN, *styles))
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("title", title),
        Markup(f"<style>\n{style}</style>"),
    )
    return Markup(f"<!DOCTYPE html>\n{tag('html', head, tag('body', *body), lang='en')}\n")
