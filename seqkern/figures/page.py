"""The frame of a page: its head with the style that all pages share."""

import json
from pathlib import Path

from seqkern.core.markup import Markup, tag

STYLE = Path(__file__).with_name("style.css")
FIRST_SCREEN = Path(__file__).with_name("first_screen.css")


def whole_page(title: str, *body: object, styles: tuple[Path, ...] = (), scripts: tuple[Path, ...] = ()) -> Markup:
    """Return a page of HTML, with no file beside it.

    Parameters
    ----------
    title : str
        Of the window.
    *body : object
        What `escape` takes.
    styles : tuple of Path
        Style sheets that come after the one that all pages share.
    scripts : tuple of Path
        JavaScript modules, which run when the page is read.

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
    code = [Markup(f'<script type="module">\n{path.read_text(encoding="utf-8")}</script>') for path in scripts]
    return Markup(f"<!DOCTYPE html>\n{tag('html', head, tag('body', *body, code), lang='en')}\n")


def json_script(data: object) -> Markup:
    r"""Return data for the scripts of a page; no text in it can end the element.

    Parameters
    ----------
    data : object
        What JSON holds.

    Returns
    -------
    Markup

    Examples
    --------
    >>> json_script(["</script>"])
    '<script type="application/json">["\\u003c/script\\u003e"]</script>'
    """
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=True)
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return Markup(f'<script type="application/json">{text}</script>')
