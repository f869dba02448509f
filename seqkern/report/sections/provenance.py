"""Foot of the page: the meaning of the numbers, kernels and solvers, versions, how to reproduce the study."""

import importlib.metadata
import os
import platform
import re
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

from seqkern import __version__
from seqkern.kernels.kernel_table import KERNELS
from seqkern.report.markup import Markup, join, tag
from seqkern.report.methods_text import MethodsText, own_bibtex, references
from seqkern.report.page_frame import Column, folded_part, table
from seqkern.report.sentences import class_sentence, metric, spec_text
from seqkern.report.view import View, method_name, paragraph
from seqkern.solvers.solver_specs import SOLVERS
from seqkern.study.study import Study

COMMAND = "snakemake --cores all --configfile config.yaml"
PACKAGES = ("numpy", "scipy", "scikit-learn", "snakemake", "pandas", "biopython", "matplotlib")


def numbers_section(views: Sequence[View]) -> Markup:
    """Return the meaning of each metric used."""
    names = dict.fromkeys(name for view in views for name in view.ranking.scores)
    multiclass = any(view.dataset.kind == "multiclass" for view in views)
    # of metrics of single states one stands for all: "Q of a state"
    known = [metric(name) for name in dict.fromkeys(re.sub(":.*", ":a state", name) for name in names)]
    items = [part for one in known for part in (tag("dt", one.name), tag("dd", one.explained(multiclass) or "–"))]
    spread = (
        tag("dt", "mean ± standard deviation"),
        tag(
            "dd",
            "The average over folds (or families, or tasks), and the standard deviation of the single values.",
        ),
    )
    return tag(
        "section",
        folded_part(
            tag("h2", "What the numbers mean"),
            "each metric in a sentence",
            tag("dl", items, spread, class_="glossary"),
        ),
        id="numbers",
    )


def provenance_section(study: Study, config: str) -> Markup:
    """Return the section with kernels and solvers, versions, command and configuration."""
    rows = []
    for kind, key, registry in (("kernels", "kernel", KERNELS), ("solvers", "solver", SOLVERS)):
        for name, entry in getattr(study, kind).items():
            spec = entry.given
            text, sentence = spec_text(spec, key), class_sentence(registry, str(spec.get(key)))
            if "choose" in spec:
                text = f"one of {{{', '.join(map(str, spec['choose']))}}}"
                sentence = "Several kernels; the inner cross-validation chooses one for each training set."
            rows.append([name, key, text, sentence])
    columns = [Column(title, False) for title in ("Name", "Is a", "As configured", "What it is")]
    methods = table("Kernels and solvers; values in braces were searched", columns, rows, class_="text")
    packages = [part for name, version in versions() for part in (tag("dt", name), tag("dd", version))]
    return tag(
        "section",
        tag("h2", "Reproduce this study"),
        paragraph(
            "In a folder made by seqkern init, or in a copy of the repository, with the file ",
            tag("a", "config.yaml", href="config.yaml"),
            " from the folder of this page:",
        ),
        tag("pre", tag("code", COMMAND), tabindex="0", role="region", aria_label="command"),
        _part("Kernels and solvers", "as configured", methods)
        if rows
        else paragraph("The study's configuration was not found.", class_="missing"),
        _part("Versions", "of seqkern, Python and libraries", tag("dl", packages, class_="facts")),
        _part(
            "Configuration",
            "all of config.yaml",
            tag("pre", tag("code", config), tabindex="0", role="region", aria_label="configuration"),
        ),
        id="made",
    )


def _part(title: str, inside: str, content: Markup) -> Markup:
    """Return a folded part with its heading."""
    return folded_part(tag("h3", title), inside, content)


def versions() -> list[tuple[str, str]]:
    """Return the (name, version) of seqkern, Python and the packages that the numbers depend on."""
    found = [("seqkern", __version__), ("Python", platform.python_version())]
    for name in PACKAGES:
        try:
            found.append((name, importlib.metadata.version(name)))
        except importlib.metadata.PackageNotFoundError:
            found.append((name, "not installed"))
    return found


# Methods section for a paper, ready to copy, with its references.


def methods_section(text: MethodsText) -> Markup:
    """Return the paragraphs, the references, and their BibTeX entries."""
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
    """Return the BibTeX entries of seqkern and of the cited references."""
    return "\n\n".join([own_bibtex(), *(references()[key].bibtex for key in keys)]) + "\n"


def _copying(source: str, label: str) -> Markup:
    """Return a button that copies the text of an element, and a place for its confirmation."""
    button = tag("button", label, type="button", data_copy=source, hidden=True)
    return tag("p", button, " ", tag("output"), class_="copying")


def _file(name: str) -> Markup:
    """Return a link to a file next to the page."""
    return tag("a", name, href=name)


# Links to all files of a study: the report's tables, each method's results, figures.

TABLES = {
    "summary.tsv": "mean and standard deviation of each metric, for each method",
    "families.tsv": "every metric for each task",
    "metrics.tsv": "every metric for each test set",
    "comparisons.tsv": "tests between methods",
    "intervals.tsv": "confidence intervals of scores",
    "roc.tsv": "points of every ROC curve",
    "pr.tsv": "points of every precision-recall curve",
    "costs.html": "run time and memory, which vary between runs",
    "costs.tsv": "the same as a table",
    "config.yaml": "the configuration",
    "methods.txt": "the methods section of this page",
    "references.bib": "its references",
}
"""Files of the report, each with a description."""


def files_section(views: Sequence[View], results: str | None) -> Markup:
    """Return links to all files."""
    listed = [tag("li", tag("a", name, href=quote(name)), f": {what}") for name, what in TABLES.items()]
    return tag(
        "section",
        folded_part(
            tag("h2", "Files"),
            "every table of the report and of each method, as TSV",
            tag("h3", "The report"),
            tag("ul", listed),
            paragraph(
                "Each figure has links to its files (SVG, PDF); they are in the folder ", tag("code", "figures"), "."
            ),
            [_dataset_files(view, results) for view in views] if results is not None else None,
        ),
        id="files",
    )


def _dataset_files(view: View, results: str) -> Markup | None:
    """Return the tables of each method on a data set."""
    home = view.dataset.home
    rows: list[list[object]] = []
    for method in view.dataset.done:
        folder = view.dataset.folder("evaluate") / method.kernel / method.solver
        links = [_link(path, home, results) for path in sorted(folder.glob("*.tsv")) if _has_rows(path)]
        rows.append([method_name(method), join(" · ", links)])
    others = [
        _link(path, home, results)
        for stage in ("datasets", "folds", "importance", "motifs", "effects")
        for path in sorted(view.dataset.folder(stage).glob("*"))
        if path.suffix in (".tsv", ".svg", ".meme")
    ]
    if others:
        rows.append(["data, folds, models", join(" · ", others)])
    columns = [Column("Method", False), Column("Files", False)]
    return table(f"Results on {view.dataset.name}", columns, rows, class_="text fixed") if rows else None


def _link(path: Path, home: Path, results: str) -> Markup:
    """Return a link to a file of the results folder."""
    parts = path.relative_to(home).parts
    return tag("a", path.name, href="/".join([results, *(quote(part, safe="") for part in parts)]))


def _has_rows(path: Path) -> bool:
    """Return whether a table has more than its header."""
    with path.open("rb") as file:
        return bool(file.readline() and file.readline())


def address(folder: Path, start: Path) -> str | None:
    """Return the relative address of a folder from the page's folder, percent-encoded; None if there is none.

    >>> address(Path("results/a b"), Path("results/a b/report")), address(Path("results"), Path("out"))
    ('..', '../results')
    """
    try:
        relative = os.path.relpath(folder.resolve(), start.resolve())
    except ValueError:  # another drive
        return None
    return "/".join(quote(part, safe="") for part in Path(relative).parts)
