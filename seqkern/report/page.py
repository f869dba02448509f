"""The page: head, findings, one chapter for each data set, how it was made."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from seqkern.core.archive import atomic_write
from seqkern.core.markup import Markup, join, tag
from seqkern.core.tsv import write_tsv
from seqkern.figures.page import whole_page
from seqkern.report.compared import COLUMNS
from seqkern.report.curve_tables import write_curves
from seqkern.report.results import StudyResults
from seqkern.report.sections.choices import choices_section
from seqkern.report.sections.cost import cost_section
from seqkern.report.sections.dataset_summary import dataset_summary_section
from seqkern.report.sections.eigenvalues import eigenvalues_section
from seqkern.report.sections.families import families_section
from seqkern.report.sections.findings import findings_section
from seqkern.report.sections.fits import fits_section
from seqkern.report.sections.gram_matrices import gram_section
from seqkern.report.sections.importance import importance_section
from seqkern.report.sections.intervals import COLUMNS as INTERVAL_COLUMNS
from seqkern.report.sections.intervals import interval_rows
from seqkern.report.sections.overview import Overview, make_overview, overview_section
from seqkern.report.sections.predictions import confusion_section, hard_section
from seqkern.report.sections.provenance import numbers_section, provenance_section
from seqkern.report.sections.reliability import reliability_section
from seqkern.report.sections.residues import residues_section
from seqkern.report.sections.roc_curves import curves_section
from seqkern.report.sections.scores import scores_section, units_section
from seqkern.report.sections.selected_features import features_section, selection_bias_section
from seqkern.report.sections.splits import folds_section, leakage_section
from seqkern.report.sections.verdicts import comparisons_section
from seqkern.report.sections.weights import weights_section
from seqkern.report.tables import families_table, metrics_table, summary_table, write_tables
from seqkern.report.view import View, paragraph
from seqkern.study.study import Study

LINKS = (
    ("scores", "scores"),
    ("residues", "residues"),
    ("families", "families"),
    ("comparisons", "tests"),
    ("roc", "curves"),
    ("probabilities", "probabilities"),
    ("predictions", "predictions"),
    ("importance", "importance"),
    ("features", "selected features"),
    ("choices", "hyperparameters"),
    ("weights", "weights of kernels"),
    ("fits", "fits"),
    ("gram", "Gram matrices"),
    ("eigenvalues", "eigenvalues"),
    ("cost", "run time"),
)
SECTIONS = (
    dataset_summary_section,
    folds_section,
    leakage_section,
    scores_section,
    residues_section,
    families_section,
    comparisons_section,
    curves_section,
    reliability_section,
    units_section,
    confusion_section,
    hard_section,
    importance_section,
    features_section,
    selection_bias_section,
    choices_section,
    weights_section,
    fits_section,
    gram_section,
    eigenvalues_section,
    cost_section,
)


def build_report(
    results_dir: str | os.PathLike[str], out_dir: str | os.PathLike[str], config: Mapping[str, Any] | None = None
) -> Path:
    """Write the report of a study.

    Parameters
    ----------
    results_dir : path-like
        ``results/<study>``, as the workflow leaves it; what is missing is shown as missing.
    out_dir : path-like
        Gets ``index.html``, ``summary.tsv``, ``families.tsv``, ``metrics.tsv``, ``comparisons.tsv``, ``intervals.tsv``,
        ``config.yaml``, and the points of all curves, fold by fold: ``roc.tsv`` (``false_positive_rate``,
        ``true_positive_rate``, ``threshold``) and ``pr.tsv`` (``recall``, ``precision``, ``threshold``).
    config : dict, optional
        The study's resolved configuration; by default ``config.yaml`` in `results_dir` or in its ``report/``.

    Returns
    -------
    Path
        Of ``index.html``.

    Raises
    ------
    FileError
        If there are no results, a file of them is damaged, or a file cannot be written.

    Examples
    --------
    The scores of one method on two folds are enough for a page; what is missing is shown as missing.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from seqkern.core.tsv import read_tsv, write_tsv
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     results = Path(folder, "demo")
    ...     method = results / "evaluate" / "splice_sites" / "spectrum" / "csvc"
    ...     for new in (method, results / "datasets" / "splice_sites"):
    ...         new.mkdir(parents=True)
    ...     columns = ["task", "split", "n_train", "n_test", "auc"]
    ...     rows = [["donor", 0, 90, 10, 0.875], ["donor", 1, 90, 10, 0.925]]
    ...     write_tsv(method / "metrics.tsv", columns, rows)
    ...     page = build_report(results, results / "report")
    ...     (row,) = read_tsv(page.parent / "summary.tsv")
    >>> page.name
    'index.html'
    >>> row["kernel"], row["solver"], row["auc_mean"]
    ('spectrum', 'csvc', '0.9')
    """
    results, out_dir = StudyResults(results_dir, config), Path(out_dir)
    study = results.study
    views = [View(dataset, f"d{i}") for i, dataset in enumerate(results.datasets, start=1)]
    overview = make_overview(views)
    page = render_page(study, views, overview)  # first of all: what is damaged is found before anything is written
    summaries = [summary_table(view.dataset, view.ranking) for view in views]
    keys = ["dataset", "tasks", "kernel", "solver", "values"]
    write_tables(summaries, keys, out_dir / "summary.tsv")
    write_tables([families_table(v.dataset) for v in views], ["dataset", "task", *keys[2:4]], out_dir / "families.tsv")
    write_tables(
        [metrics_table(v.dataset) for v in views],
        ["dataset", *keys[2:4], "task", "split"],
        out_dir / "metrics.tsv",
    )
    compared = [(v.dataset.name, one) for v in views for one in v.comparisons.values()]
    compared += [("all", overview.compared)] if overview and overview.compared else []
    write_tsv(out_dir / "comparisons.tsv", COLUMNS, [row for name, one in compared for row in one.rows(name)])
    write_tsv(out_dir / "intervals.tsv", INTERVAL_COLUMNS, [row for view in views for row in interval_rows(view)])
    write_curves(results.datasets, out_dir)
    with atomic_write(out_dir / "config.yaml", "w") as file:
        file.write(config_text(study))
    with atomic_write(out_dir / "index.html", "w") as file:
        file.write(page)
    return out_dir / "index.html"


def config_text(study: Study) -> str:
    """Return the configuration as YAML.

    Parameters
    ----------
    study : Study
        The study, as configured.

    Returns
    -------
    str
        As in ``config.yaml`` of the report.
    """
    return yaml.safe_dump(study.to_dict(), sort_keys=False, allow_unicode=True)


def render_page(study: Study, views: Sequence[View], overview: Overview | None = None) -> str:
    """Return the whole page.

    Parameters
    ----------
    study : Study
        The study, as configured.
    views : sequence of View
        The data sets, in the order of the page.
    overview : Overview, optional
        All data sets side by side, where there are several to compare.

    Returns
    -------
    str
        The page as HTML.
    """
    chapters = [_chapter(view) for view in views]
    title = tag(
        "header",
        tag("p", "seqkern report", class_="kicker"),
        tag("h1", study.name),
        paragraph(study.description, class_="lead") if study.description else None,
    )
    main = tag(
        "main",
        findings_section(views, overview),
        _contents(views, chapters, overview),
        overview_section(overview) if overview else None,
        chapters,
        numbers_section(views),
        provenance_section(study, config_text(study)),
    )
    return whole_page(f"{study.name} · seqkern report", title, main)


def _contents(views: Sequence[View], chapters: Sequence[Markup], overview: Overview | None) -> Markup:
    """Return the table of contents, with links to the main sections that there are."""
    items: list[object] = [tag("a", "Main findings", href="#findings")]
    if overview:
        items.append(tag("a", "All data sets", href="#overview"))
    for view, chapter in zip(views, chapters, strict=True):
        links = [view.link(title, name) for name, title in LINKS if f'id="{view.anchor}-{name}"' in chapter]
        chapter_link = tag("a", view.dataset.name, href=f"#{view.anchor}")
        items.append([chapter_link, tag("small", ": ", join(" · ", links))])
    items.append(tag("a", "What the numbers mean", href="#numbers"))
    items.append(tag("a", "How this was made", href="#made"))
    listed = tag("ol", [tag("li", item) for item in items])
    return tag("nav", tag("h2", "Contents"), listed, aria_label="Contents")


def _chapter(view: View) -> Markup:
    """Return all sections of one data set."""
    title = tag("h2", view.dataset.name)
    return tag("section", title, [make(view) for make in SECTIONS], id=view.anchor, class_="chapter")
