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
from seqkern.report.markup import Markup, escape, join
from seqkern.report.methods_text import MethodsText, own_bibtex, references
from seqkern.report.page_frame import Column, listing, method_name, render, table
from seqkern.report.sentences import class_sentence, metric, spec_text
from seqkern.report.view import View
from seqkern.solvers.solver_specs import SOLVERS
from seqkern.study.study import Study

COMMAND = "snakemake --cores all --configfile config.yaml"
PACKAGES = ("numpy", "scipy", "scikit-learn", "snakemake", "pandas", "biopython", "matplotlib")


def numbers_section(views: Sequence[View]) -> Markup:
    """Return the meaning of each metric used."""
    names = dict.fromkeys(name for view in views for name in view.ranking.scores)
    # of metrics of single states one stands for all: "Q of a state"
    metrics = [metric(name) for name in dict.fromkeys(re.sub(":.*", ":a state", name) for name in names)]
    multiclass = any(view.dataset.kind == "multiclass" for view in views)
    return render("provenance", "numbers", {"metrics": metrics, "multiclass": multiclass})


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
    methods = (
        table("Kernels and solvers; values in braces were searched", columns, rows, class_="text") if rows else None
    )
    content = {"command": COMMAND, "methods": methods, "versions": versions(), "config": config}
    return render("provenance", "made", content)


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
    cited = [references()[key].text for key in text.keys]
    content = {"paragraphs": text.paragraphs, "cited": cited, "bibtex": bibliography(text.keys)}
    return render("provenance", "methods", content)


def bibliography(keys: Sequence[str]) -> str:
    """Return the BibTeX entries of seqkern and of the cited references."""
    return "\n\n".join([own_bibtex(), *(references()[key].bibtex for key in keys)]) + "\n"


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
    tables = [] if results is None else [_dataset_files(view, results) for view in views]
    return render("provenance", "files", {"listed": TABLES, "tables": tables})


def _dataset_files(view: View, results: str) -> Markup | None:
    """Return the tables of each method on a data set."""
    name, other = Column("Method", False), Column("Files", False)
    rows: list[dict[Column, object]] = []
    for method in view.dataset.done:
        folder = view.dataset.folder("evaluate") / method.kernel / method.solver
        links = [_link(path, view.dataset.home, results) for path in sorted(folder.glob("*.tsv")) if _has_rows(path)]
        rows.append({name: method_name(method), other: join(" · ", links)})
    others = [
        _link(path, view.dataset.home, results)
        for stage in ("datasets", "folds", "importance", "motifs", "effects")
        for path in sorted(view.dataset.folder(stage).glob("*"))
        if path.suffix in (".tsv", ".svg", ".meme")
    ]
    if others:
        rows.append({name: "data, folds, models", other: join(" · ", others)})
    return listing(f"Results on {view.dataset.name}", rows, "text fixed")


def _link(path: Path, home: Path, results: str) -> Markup:
    """Return a link to a file of the results folder."""
    place = "/".join([results, *(quote(part, safe="") for part in path.relative_to(home).parts)])
    return Markup(f'<a href="{escape(place)}">{escape(path.name)}</a>')


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
