"""``seqkern compare`` and ``seqkern report``: tests for differences between methods, and the report of a study."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from seqkern.cli.output import log
from seqkern.cli.requests_studies import CompareRequest, ReportRequest
from seqkern.core.errors import ConfigError, FileError, LabelError, ParameterError, check_known, unknown_name
from seqkern.core.tsv import format_cell
from seqkern.methods.compared import (
    COLUMNS,
    Compared,
    SingleTaskTests,
    compare_datasets,
    compare_on_task,
    compare_tasks,
    read_paired_decisions,
    why_untested,
)
from seqkern.methods.study_results import DatasetResults, Method, Ranking
from seqkern.report.sentences import averaged_over
from seqkern.report.terminal import Evaluated, comparison_lines, read_input
from seqkern.study.study import Study

Found = Mapping[str, Compared | SingleTaskTests]


WITHIN = [
    "Methods are compared within each data set of each study. To compare methods of two studies that share folds, give",
    "their folders: results/STUDY/evaluate/DATASET/KERNEL/SOLVER of both.",
]


def run_compare(request: CompareRequest) -> None:
    """Print the comparisons of each data set in turn."""
    datasets = read_input(request.results)
    several = any(study is not None for study, _ in datasets)
    if request.dataset is not None:
        known = [dataset.name for _, dataset in datasets]
        datasets = [(study, dataset) for study, dataset in datasets if dataset.name == request.dataset]
        if not datasets:
            raise unknown_name("data set", request.dataset, known)
    compared = [(study, dataset.name, *_compared(dataset, request, len(datasets))) for study, dataset in datasets]
    compared += _over_all(datasets, request)
    if not any(found for _, _, found, _ in compared):
        reasons = "; ".join(f"{_title(study, name)}: {why}" for study, name, _, why in compared)
        raise FileError(
            f"nothing to compare ({reasons})", file=request.results[0], remedy="evaluate at least two methods"
        )
    if request.format == "tsv":
        columns = ["study", *COLUMNS] if several else COLUMNS
        print("\t".join(columns))
        for study, name, found, _ in compared:
            for one in found.values():
                for row in one.rows(name):
                    row["study"] = study
                    print("\t".join(format_cell(row.get(column)) for column in columns))
        return
    blocks = [WITHIN] if several else []
    positive = {(study, dataset.name): _positive(dataset) for study, dataset in datasets}
    for study, name, found, why in compared:
        title, more = _title(study, name), positive.get((study, name), "")
        blocks.append(comparison_lines(found, title, more) if found else [f"{title}: {why}"])
    print("\n\n".join("\n".join(block) for block in blocks))


def _title(study: str | None, name: str) -> str:
    """Return the title of a data set: with the study's name if there are several studies."""
    return name if study is None else f"{study}: {name}"


def _positive(dataset: DatasetResults) -> str:
    """Return a clause about the positive class of a data set of one binary task; empty for others."""
    binary = dataset.kind == "binary" and not dataset.several
    return "".join(f"; positive class: {names[1]}" for names in map(dataset.classes, dataset.tasks) if binary and names)


def _compared(dataset: DatasetResults, request: CompareRequest, several: int) -> tuple[Found, str]:
    """Return the comparisons of a data set by metric, and the reason if there are none."""
    try:
        return _found(dataset, request)
    except (LabelError, ParameterError) as error:  # another of several data sets may have the method, metric or test
        if several > 1:
            return {}, str(error)
        raise


def _found(dataset: DatasetResults, request: CompareRequest) -> tuple[Found, str]:
    """Return the comparisons of a data set by metric, and the reason if there are none; errors are raised."""
    ranking = Ranking(dataset)
    if isinstance(dataset, Evaluated):  # the methods of a study share their folds
        for task in dict.fromkeys(dataset.metrics["task"]):
            read_paired_decisions(dataset, task)
    if len(ranking.order) < 2:
        return {}, _too_few(ranking, dataset)
    control = _control(ranking.order, request.control)
    keys: list[Any] | None = None if request.metric is None else [request.metric]
    if request.task is not None:
        check_known("task", [request.task], list(dict.fromkeys(dataset.metrics["task"])))
    if dataset.several and request.task is None:
        keys = keys or [ranking.metric]
        check_known("metric", [keys[0]], list(ranking.scores))
        return compare_tasks(dataset, ranking, *averaged_over(dataset), keys=keys, control=control), "no scores"
    found = compare_on_task(dataset, ranking, keys, control, request.task)
    if not found and (error := why_untested(dataset, ranking, request.task)):
        raise error
    return found, "fewer than two methods have decision values"


def _too_few(ranking: Ranking, dataset: DatasetResults) -> str:
    """Return a sentence on the methods that lack the score used for ranking."""
    count = len(ranking.order)
    lacking = [f"{method.kernel} with {method.solver}" for method in dataset.done if method not in ranking.order]
    found = f"{count or 'no'} method{'s' * (count != 1)} with a score"
    if ranking.metric is None or not lacking:
        return found
    return f"{found}: no {ranking.metric} for {', '.join(lacking)}"


def _over_all(
    datasets: Sequence[tuple[str | None, DatasetResults]], request: CompareRequest
) -> list[tuple[str | None, str, Found, str]]:
    """Return the comparisons over all data sets, in the form that `run` lists; empty if there are too few data sets."""
    if len(datasets) < 2 or request.task is not None:
        return []
    methods = dict.fromkeys(method for _, dataset in datasets for method in Ranking(dataset).order)
    try:
        control = _control(list(methods), request.control)
    except ParameterError:
        return []
    found = compare_datasets([dataset for _, dataset in datasets], request.metric, control)
    return [(None, "all data sets", found, "")] if found else []


def _control(methods: Iterable[Method], text: str | None) -> Method | None:
    """Return the control method, given as ``kernel/solver`` or as ``kernel`` if it has one solver; None if not
    given.
    """
    if text is None:
        return None
    names = {f"{method.kernel}/{method.solver}": method for method in methods}
    if text in names:
        return names[text]
    own = [method for method in methods if method.kernel == text]
    if len(own) > 1:
        solvers = " or ".join(f"{text}/{method.solver}" for method in own)
        raise ParameterError(f"the kernel {text!r} was run with several solvers", remedy=f"give {solvers}")
    if not own:
        raise unknown_name("control", text, names)
    return own[0]


def run_report(request: ReportRequest) -> None:
    """Run ``seqkern report``."""
    # imported here: a comparison draws nothing
    from seqkern.report.page import build_report

    config = None
    if request.study is not None and os.path.isfile(request.study):
        config = Study.load(request.study).settings_of("report")
    elif request.study is not None:
        try:
            config = json.loads(request.study)
        except (ValueError, RecursionError) as error:
            raise ConfigError(
                f"--study is not JSON: {error}", remedy="quote the argument in the shell, or remove it"
            ) from error
    print(build_report(request.results, request.output or Path(request.results) / "report", config, log=log))
