"""The methods section of a paper, ready to copy, and its references."""

from collections.abc import Sequence

from seqkern.core.markup import Markup, tag
from seqkern.report.citations import own_bibtex, references
from seqkern.report.folded import folded_part
from seqkern.report.methods_text import MethodsText
from seqkern.report.view import paragraph


def methods_section(text: MethodsText) -> Markup:
    """Return the paragraphs, the references, and their BibTeX entries.

    Parameters
    ----------
    text : MethodsText
        Of the study.

    Returns
    -------
    Markup
        The section.
    """
    paragraphs = [paragraph(tag("b", f"{heading}. "), body) for heading, body in text.paragraphs]
    cited = [tag("li", references()[key].text) for key in text.keys]
    bibtex = tag("pre", bibliography(text.keys), id="bibtex", tabindex="0", role="region", aria_label="BibTeX entries")
    return tag(
        "section",
        folded_part(
            tag("h2", "Methods and references"),
            "a description of this study for a paper, with citations in BibTeX",
            tag("div", paragraphs, id="methods-text"),
            _copying("methods-text", "Copy the text"),
            tag("h3", "References"),
            tag("ol", cited, class_="references"),
            tag("h3", "BibTeX"),
            bibtex,
            _copying("bibtex", "Copy BibTeX"),
            paragraph("As files: ", _file("methods.txt"), ", ", _file("references.bib"), "."),
        ),
        id="methods",
    )


def bibliography(keys: Sequence[str]) -> str:
    """Return BibTeX entries: that of seqkern, and those of what is cited.

    Parameters
    ----------
    keys : sequence of str
        Of references.

    Returns
    -------
    str
    """
    return "\n\n".join([own_bibtex(), *(references()[key].bibtex for key in keys)]) + "\n"


def _copying(source: str, label: str) -> Markup:
    """Return a button that copies the text of an element, and the place where it says so."""
    button = tag("button", label, type="button", data_copy=source, hidden=True)
    return tag("p", button, " ", tag("output"), class_="copying")


def _file(name: str) -> Markup:
    """Return a link to a file beside the page."""
    return tag("a", name, href=name)
