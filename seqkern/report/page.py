"""Page of the report: head, findings, one chapter for each data set, and how it was made."""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml

from seqkern.core.archive import atomic_write
from seqkern.core.exclusive_files import exclusive_folder
from seqkern.core.progress import progress_bar
from seqkern.core.tsv import format_cell, table_text, write_tsv
from seqkern.evaluation.ranking import precision_recall_curve, roc_curve
from seqkern.methods import study_results
from seqkern.methods.compared import COLUMNS
from seqkern.report.figure_files import FOLDER, collected_figures
from seqkern.report.markup import text_of
from seqkern.report.methods_text import MethodsText, methods_text
from seqkern.report.page_frame import render, whole_page
from seqkern.report.sections import (
    curves_and_errors,
    data_sections,
    features,
    findings,
    fitting,
    provenance,
    residues,
    scores,
    tests,
)
from seqkern.report.sections.fitting import cost_rows
from seqkern.report.sentences import metric
from seqkern.report.view import Section, View
from seqkern.study.study import Study

# Score tables of the data sets.


def summary_table(dataset: study_results.DatasetResults, ranking: study_results.Ranking) -> pd.DataFrame:
    """Return the rows of ``summary.tsv``, one for each method; the means of methods without results are empty.

    With several tasks, the last columns hold the medians.
    """
    rows = []
    for method in dataset.methods:
        row = {"dataset": dataset.name, "tasks": max(len(dataset.tasks), 1), **method._asdict()}
        row["values"] = max((by[method].n for by in ranking.scores.values() if method in by), default=0)
        for name in ranking.scores:
            score = ranking.score(method, name)
            row |= {f"{name}_mean": score.mean, f"{name}_sd": score.sd}
        if dataset.several:
            row |= {f"{name}_median": ranking.score(method, name).median for name in ranking.scores}
        rows.append(row)
    return pd.DataFrame(rows)


def families_table(dataset: study_results.DatasetResults) -> pd.DataFrame:
    """Return the rows of ``families.tsv``: one for each task and method, means over the task's splits."""
    columns = study_results.metric_columns(dataset)
    keys = ["task", "kernel", "solver"]
    table = dataset.metrics.groupby(keys, sort=False)[columns].mean().reset_index()
    table.insert(0, "dataset", dataset.name)
    order = {name: i for i, name in enumerate(dict.fromkeys([*dataset.tasks, *table["task"]]))}
    return table.sort_values("task", key=lambda column: column.map(order), kind="stable")


def metrics_table(dataset: study_results.DatasetResults) -> pd.DataFrame:
    """Return the rows of ``metrics.tsv``: every evaluated row, as it was written."""
    table = dataset.metrics_text.copy()
    table.insert(0, "dataset", dataset.name)
    return table


def write_tables(tables: Sequence[pd.DataFrame | None], columns: Sequence[str], path: str | os.PathLike[str]) -> None:
    """Write DataFrames, one below the other, to a TSV file; columns that a table lacks stay empty."""
    tables = [table for table in tables if table is not None and len(table)]
    whole = pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=list(columns))
    write_tsv(path, list(whole.columns), whole.itertuples(index=False, name=None))


MULTIQC = """\
# id: seqkern_{study}
# section_name: "seqkern: {study}"
# description: "Mean score of each method over the test sets, and its standard deviation."
# plot_type: table
"""
"""Head of ``seqkern_mqc.tsv``, which MultiQC finds by its name."""


def multiqc_table(study: Study, views: Sequence[View]) -> str:
    """Return the headline score of each method on each data set, as a table for MultiQC."""
    keys = list(dict.fromkeys(view.headline.key for view in views))
    lines = ["\t".join(["Sample", *(text for key in keys for text in (metric(key).name, f"{metric(key).name} SD"))])]
    for view in views:
        for method in view.ranking.order:
            scores = [view.ranking.score(method, key) for key in keys]
            cells = [format_cell(value) for score in scores for value in (score.mean, score.sd)]
            lines.append("\t".join([f"{view.dataset.name}, {method.kernel} with {method.solver}", *cells]))
    name = re.sub(r"[^\w.-]+", "_", study.name)
    return table_text(MULTIQC.format(study=name) + "".join(f"{line}\n" for line in lines))


# Points of all ROC and precision-recall curves, fold by fold: ``roc.tsv`` and ``pr.tsv``.

PLACE = ("dataset", "kernel", "solver", "task", "split")
ROC_COLUMNS = (*PLACE, "false_positive_rate", "true_positive_rate", "threshold", "class")
PR_COLUMNS = (*PLACE, "recall", "precision", "threshold", "class")


def write_curves(datasets: Sequence[study_results.DatasetResults], folder: Path) -> None:
    """Write ``roc.tsv`` and ``pr.tsv``, with headers only where no curve is defined.

    A sample is predicted positive if its decision is at least ``threshold``. With several classes, each has a curve
    against all others; ``class`` is the positive class. Points on a straight line between two others are left out of
    ROC curves, and points between two others of the same recall out of precision-recall curves. Test sets with a single
    class have no curve.
    """
    roc_rows: list[tuple[object, ...]] = []
    pr_rows: list[tuple[object, ...]] = []
    for dataset in datasets:
        for method in dataset.done if dataset.kind != "real" else ():
            table = dataset.decisions(method)
            for one in () if table is None else study_results.ranked_sets(dataset, table):
                place = (dataset.name, *method, one.task, one.split)
                if one.both:
                    points = zip(*roc_curve(one.positive, one.decision), strict=True)
                    roc_rows += [(*place, *map(float, point), one.name) for point in points]
                    curve = precision_recall_curve(one.positive, one.decision)
                    same = np.diff(curve.recall) == 0
                    kept = ~(np.append(False, same) & np.append(same, False))
                    points = zip(*(values[kept] for values in curve), strict=True)
                    pr_rows += [(*place, *map(float, point), one.name) for point in points]
    write_tsv(folder / "roc.tsv", ROC_COLUMNS, roc_rows)
    write_tsv(folder / "pr.tsv", PR_COLUMNS, pr_rows)


CHAPTER = (data_sections, scores, residues, tests, curves_and_errors, features, fitting)
"""Modules of the sections of a data set, which stand on the page in the order of their definition."""
SECTIONS = [one for module in CHAPTER for one in vars(module).values() if isinstance(one, Section)]


def build_report(
    results_dir: str | os.PathLike[str],
    out_dir: str | os.PathLike[str],
    config: Mapping[str, Any] | None = None,
    date: str | None = None,
    log: Callable[[str], None] | None = None,
) -> Path:
    """Write the report of a study.

    Parameters
    ----------
    results_dir : path-like
        ``results/<study>``, as the workflow leaves it; what is missing is shown as missing.
    out_dir : path-like
        Gets ``index.html``, ``summary.tsv``, ``families.tsv``, ``metrics.tsv``, ``comparisons.tsv``, ``intervals.tsv``,
        ``seqkern_mqc.tsv`` for MultiQC, ``config.yaml``, ``methods.txt``, ``references.bib``, each figure as SVG and
        PDF in the folder ``figures``, and the points of all curves, fold by fold: ``roc.tsv``
        (``false_positive_rate``, ``true_positive_rate``, ``threshold``) and ``pr.tsv`` (``recall``, ``precision``,
        ``threshold``). Run time and memory, which vary between runs, are in ``costs.tsv`` only.
    config : dict, optional
        The study's resolved configuration; by default ``config.yaml`` in `results_dir` or in its ``report/``.
    date : str, optional
        When the report is made, for its methods section; by default the day of ``SOURCE_DATE_EPOCH``, or none, so that
        the same results give the same bytes.
    log : callable, optional
        Gets the main finding on each data set, as text.

    Returns
    -------
    Path
        The path of ``index.html``.

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
    results, out_dir = study_results.StudyResults(results_dir, config), Path(out_dir)
    study = results.study
    colours: dict[study_results.Method, int] = {}
    views = [View(dataset, f"d{i}", colours) for i, dataset in enumerate(results.datasets, start=1)]
    overview = findings.make_overview(views)
    text = methods_text(study, views, date or _epoch_date())
    with collected_figures() as figures:  # first of all: what is damaged is found before anything is written
        page = render_page(study, views, overview, text)
    costs = [row for view in views for row in cost_rows(view)]
    summaries = [summary_table(view.dataset, view.ranking) for view in views]
    keys = ["dataset", "tasks", "kernel", "solver", "values"]
    compared = [(v.dataset.name, one) for v in views for one in v.comparisons.values()]
    compared += [("all", overview.compared)] if overview and overview.compared else []
    texts = {
        "config.yaml": config_text(study),
        "seqkern_mqc.tsv": multiqc_table(study, views),
        "methods.txt": text.text(),
        "references.bib": provenance.bibliography(text.keys),
        "index.html": page,
    }
    files = {f"{FOLDER}/{name}": picture for name, picture in figures.items()}
    files |= {name: content.encode("utf-8", "backslashreplace") for name, content in texts.items()}
    with exclusive_folder(out_dir):
        write_tables(summaries, keys, out_dir / "summary.tsv")
        families, metrics = ([make(v.dataset) for v in views] for make in (families_table, metrics_table))
        write_tables(families, ["dataset", "task", *keys[2:4]], out_dir / "families.tsv")
        write_tables(metrics, ["dataset", *keys[2:4], "task", "split"], out_dir / "metrics.tsv")
        write_tsv(out_dir / "comparisons.tsv", COLUMNS, [row for name, one in compared for row in one.rows(name)])
        intervals = [row for view in views for row in tests.interval_rows(view)]
        write_tsv(out_dir / "intervals.tsv", tests.COLUMNS, intervals)
        write_tsv(out_dir / "costs.tsv", fitting.COLUMNS, costs)
        write_curves(results.datasets, out_dir)
        for name, content in files.items():
            with atomic_write(out_dir / name) as file:
                file.write(content)
    if log is not None:
        for view in views:
            log(f"{view.dataset.name}: {text_of(findings.headline_sentence(view))}")
    return out_dir / "index.html"


def _epoch_date() -> str | None:
    """Return the day of ``SOURCE_DATE_EPOCH``, which makes builds reproducible; None where it is not set."""
    seconds = os.environ.get("SOURCE_DATE_EPOCH", "")
    return datetime.fromtimestamp(int(seconds), UTC).date().isoformat() if seconds.isdigit() else None


def config_text(study: Study) -> str:
    """Return the configuration as YAML."""
    return yaml.safe_dump(study.to_dict(), sort_keys=False, allow_unicode=True)


def render_page(
    study: Study,
    views: Sequence[View],
    overview: findings.Overview | None,
    methods: MethodsText,
) -> str:
    """Return the whole page."""
    chapters = [
        (view, [one(view) for one in progress_bar(SECTIONS, f"report, sections of {view.dataset.name}")])
        for view in views
    ]
    content = {
        "study": study,
        "findings": findings.findings_section(views, overview),
        "overview": findings.overview_section(overview) if overview else None,
        "chapters": chapters,
        "numbers": provenance.numbers_section(views),
        "methods": provenance.methods_section(methods),
        "made": provenance.provenance_section(config_text(study)),
        "files": provenance.files_section(),
    }
    page = render("page", "report", content)
    return whole_page(f"{study.name} · seqkern report", page)
