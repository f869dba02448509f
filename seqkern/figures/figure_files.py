"""Figures of a page as files beside it: each as SVG and as PDF, with links at the figure."""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from matplotlib.figure import Figure

from seqkern.core.markup import Markup, tag
from seqkern.figures.svg import as_file

FOLDER = "figures"
"""Beside the page."""

_FILES: ContextVar[dict[str, bytes] | None] = ContextVar("figure files", default=None)


@contextmanager
def collected_figures() -> Iterator[dict[str, bytes]]:
    """Collect every figure that is drawn meanwhile, and let it carry links to its files.

    Yields
    ------
    dict of str to bytes
        Contents by file name, in the order of the page.
    """
    files: dict[str, bytes] = {}
    token = _FILES.set(files)
    try:
        yield files
    finally:
        _FILES.reset(token)


def collecting() -> bool:
    """Return whether figures are being collected."""
    return _FILES.get() is not None


def file_links(figure: Figure, svg: Markup, label: str) -> Markup:
    """Keep a drawn figure as files, and return links to them; nothing where no figures are collected.

    Parameters
    ----------
    figure : Figure
        As drawn, with matplotlib's settings of the page in force.
    svg : Markup
        The same as an element of a page.
    label : str
        What the figure shows; gives the files their name.

    Returns
    -------
    Markup
    """
    files = _FILES.get()
    if files is None:
        return Markup("")
    name = file_name(label)
    pdf = io.BytesIO()
    # without a date and without names of versions the same figure gives the same bytes
    figure.savefig(pdf, format="pdf", metadata=dict.fromkeys(("CreationDate", "Creator", "Producer")))
    width, height = (f"{72 * inches:g}pt" for inches in figure.get_size_inches())
    opening = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
    files[f"{name}.svg"] = as_file(Markup(svg.replace("<svg ", opening, 1))).encode()
    files[f"{name}.pdf"] = pdf.getvalue()
    links = [
        tag("a", form, href=f"{FOLDER}/{name}.{form.lower()}", aria_label=f"{form} file: {label}")
        for form in ("SVG", "PDF")
    ]
    return tag("span", links[0], " ", links[1], class_="files")


def file_name(label: str) -> str:
    """Return the name of a figure's files: letters, digits and hyphens only, unique for each label.

    Parameters
    ----------
    label : str
        What the figure shows.

    Returns
    -------
    str

    Examples
    --------
    >>> file_name("donors: ROC curves")
    'donors-roc-curves-1e4d9d'
    """
    plain = re.sub("[^a-z0-9]+", "-", label.lower()).strip("-")[:70].rstrip("-")
    return f"{plain}-{hashlib.blake2b(label.encode(), digest_size=3).hexdigest()}".lstrip("-")
