"""Links to all files of a study: the report's tables, each method's results, figures."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

from seqkern.core.markup import Markup, join, tag
from seqkern.figures.html_table import Column, table
from seqkern.report.folded import folded_part
from seqkern.report.view import View, method_name, paragraph

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
"""Of the report."""


def files_section(views: Sequence[View], results: str | None) -> Markup:
    """Return links to all files.

    Parameters
    ----------
    views : sequence of View
        The data sets, in the order of the page.
    results : str or None
        Relative address of the results folder; None where there is none.

    Returns
    -------
    Markup
        The section.
    """
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
    """Return whether a table has more than its head."""
    with path.open("rb") as file:
        return bool(file.readline() and file.readline())


def address(folder: Path, start: Path) -> str | None:
    """Return the relative address of a folder, percent-encoded; None where there is none.

    Parameters
    ----------
    folder : Path
        What to link to.
    start : Path
        The folder of the page.

    Returns
    -------
    str or None

    Examples
    --------
    >>> address(Path("results/a b"), Path("results/a b/report")), address(Path("results"), Path("out"))
    ('..', '../results')
    """
    try:
        relative = os.path.relpath(folder.resolve(), start.resolve())
    except ValueError:  # another drive
        return None
    return "/".join(quote(part, safe="") for part in Path(relative).parts)
