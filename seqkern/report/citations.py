"""The papers behind kernels, solvers, tests and libraries: from ``resources/references.bib``."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from seqkern import __version__
from seqkern.core.resource_files import open_resource, resource_path
from seqkern.core.tsv import read_tsv

ACCENTS = {'"': "\u0308", "`": "\u0300", "'": "\u0301", "^": "\u0302", "~": "\u0303", "v": "\u030c", "c": "\u0327"}
SIGNS = {r"\&": "&", r"{\ss}": "ß", r"$\ell_p$": "ℓp", r"$\times$": "×", "--": "–", "~": " "}


@dataclass(frozen=True)
class Reference:
    """An entry of a BibTeX file.

    Attributes
    ----------
    key : str
        That it is cited by.
    bibtex : str
        The whole entry.
    fields : dict of str to str
        Its fields as plain text.
    """

    key: str
    bibtex: str
    fields: dict[str, str]

    @property
    def authors(self) -> list[tuple[str, str]]:
        """Family and given names of the authors; of ``others`` the name alone."""
        names = [name.partition(", ") for name in self.fields["author"].split(" and ")]
        return [(family, given) for family, _, given in names]

    @property
    def short(self) -> str:
        """Authors and year as they stand in a sentence: ``Leslie et al., 2002``."""
        families = [family for family, _ in self.authors]
        named = families[0] if len(families) == 1 else f"{families[0]} et al."
        if len(families) == 2:
            named = " and ".join(families)
        return f"{named}, {self.fields['year']}"

    @property
    def text(self) -> str:
        """The reference as it stands in a list."""
        names = ["et al." if family == "others" else _with_initials(family, given) for family, given in self.authors]
        authors = ", ".join(names)
        fields = self.fields
        place = fields.get("journal") or fields.get("booktitle") or fields.get("institution") or ""
        numbers = " ".join(filter(None, (place, fields.get("volume") or fields.get("number"))))
        pages = f":{fields['pages']}" if "pages" in fields and "volume" in fields else ""
        if "pages" in fields and not pages:
            pages = f", pages {fields['pages']}"
        where = ", ".join(filter(None, (numbers + pages, fields.get("publisher"), fields["year"])))
        return f"{authors.rstrip('.')}. {fields['title']}. {where}."


def _with_initials(family: str, given: str) -> str:
    """Return a name as it stands in a list of references: ``Noble WS``."""
    return f"{family} {''.join(part[0] for part in re.split('[ -]', given) if part)}".rstrip()


@cache
def references() -> dict[str, Reference]:
    """Return all entries of ``references.bib`` by their keys."""
    with open_resource("references.bib") as file:
        entries = re.findall(r"^@\w+\{.*?^\}", file.read(), flags=re.DOTALL | re.MULTILINE)
    found = {}
    for entry in entries:
        key = entry[entry.index("{") + 1 : entry.index(",")]
        fields = re.findall(r"^  (\w+) = \{(.*)\},?$", entry, flags=re.MULTILINE)
        found[key] = Reference(key, entry, {name: plain(text) for name, text in fields})
    return found


@cache
def cited_methods() -> dict[tuple[str, str], tuple[str, tuple[str, ...]]]:
    """Return what a paper calls each kernel and solver, and the keys of its references, by (kind, name)."""
    rows = read_tsv(resource_path("citations.tsv"))
    return {(row["kind"], row["name"]): (row["title"], tuple(row["keys"].split())) for row in rows}


def cite(keys: Iterable[str]) -> str:
    """Return a citation in parentheses, with a space before it; nothing without keys.

    Parameters
    ----------
    keys : iterable of str
        Of references.

    Returns
    -------
    str

    Examples
    --------
    >>> cite(["Leslie2002", "LeslieKuang2004"])
    ' (Leslie et al., 2002; Leslie and Kuang, 2004)'
    """
    texts = [references()[key].short for key in keys]
    return f" ({'; '.join(texts)})" if texts else ""


def own_bibtex() -> str:
    """Return the BibTeX entry of seqkern itself, at the version that runs."""
    fields = {
        "author": "{The seqkern developers}",
        "title": "{seqkern}: classification of biological sequences with string kernels",
        "version": __version__,
    }
    lines = ",\n".join(f"  {name} = {{{text}}}" for name, text in fields.items())
    return f"@software{{seqkern,\n{lines}\n}}"


def plain(text: str) -> str:
    r"""Return the text of a BibTeX field without TeX's commands.

    Parameters
    ----------
    text : str
        As in the file.

    Returns
    -------
    str

    Examples
    --------
    >>> plain(r"Sch{\"o}lkopf, {SVM} 97--105")
    'Schölkopf, SVM 97–105'
    """
    text = text.replace(r"{\ss}", "ß")
    text = re.sub(
        r"""\{\\(["`'^~vc])\{?(\w)\}?\}""",
        lambda found: unicodedata.normalize("NFC", found[2] + ACCENTS[found[1]]),
        text,
    )
    for sign, plain_sign in SIGNS.items():
        text = text.replace(sign, plain_sign)
    return text.replace("{", "").replace("}", "")
