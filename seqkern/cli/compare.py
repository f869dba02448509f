"""``seqkern compare``: tests for significant differences between methods."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from seqkern.methods.compared import Compared, SingleTaskTests
    from seqkern.methods.study_results import DatasetResults, Method, Ranking

    Found = Mapping[str, Compared | SingleTaskTests]

EXAMPLE = "seqkern compare results/demo"
MORE_EXAMPLES = (
    "seqkern compare results/demo --dataset donors --metric roc50 --control spectrum3/csvc",
    "seqkern compare results/demo/evaluate/donors/*/csvc --format tsv",
)

WITHIN = [
    "Methods are compared within each data set of each study. To compare methods of two studies that share folds, give",
    "their folders: results/STUDY/evaluate/DATASET/KERNEL/SOLVER of both.",
]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.add_argument(
        "results",
        nargs="+",
        help="one or more study folders, such as results/demo; or folders written by seqkern evaluate, one for each "
        "method on the same folds",
    )
    parser.add_argument("--dataset", help="compare on this data set only")
    parser.add_argument("--task", help="compare on this task only (such as a family), sample by sample")
    parser.add_argument(
        "--metric",
        help="metric to compare (default: AUC, on one task also accuracy; several classes on one task: accuracy, since "
        "macro AUC has no test; regression: RMSE over tasks and in the 5x2cv test, else absolute error; residues: each "
        "chain's accuracy, the only metric on one task)",
    )
    parser.add_argument(
        "--control",
        metavar="KERNEL[/SOLVER]",
        help="compare each method with this one only: fewer tests to correct for",
    )
    parser.add_argument(
        "--format",
        choices=("text", "tsv"),
        default="text",
        help="tsv lists every pair, with a column study if there are several (default: text)",
    )


def run(args: argparse.Namespace) -> None:
    """Print the comparisons of each data set in turn."""
    # imported here to keep --help fast
    from seqkern.core.errors import FileError, unknown_name
    from seqkern.core.tsv import format_cell
    from seqkern.methods.compared import COLUMNS
    from seqkern.report.terminal import comparison_lines, read_input

    datasets = read_input(args.results)
    several = any(study is not None for study, _ in datasets)
    if args.dataset is not None:
        known = [dataset.name for _, dataset in datasets]
        datasets = [(study, dataset) for study, dataset in datasets if dataset.name == args.dataset]
        if not datasets:
            raise unknown_name("data set", args.dataset, known)
    compared = [(study, dataset.name, *_compared(dataset, args, len(datasets))) for study, dataset in datasets]
    compared += _over_all(datasets, args)
    if not any(found for _, _, found, _ in compared):
        reasons = "; ".join(f"{_title(study, name)}: {why}" for study, name, _, why in compared)
        raise FileError(f"nothing to compare ({reasons})", file=args.results[0], remedy="evaluate at least two methods")
    if args.format == "tsv":
        columns = ["study", *COLUMNS] if several else COLUMNS
        print("\t".join(columns))
        for study, name, found, _ in compared:
            for one in found.values():
                for row in one.rows(name):
                    row["study"] = study
                    print("\t".join(format_cell(row.get(column)) for column in columns))
        return
    blocks = [WITHIN] if several else []
    for study, name, found, why in compared:
        title = _title(study, name)
        blocks.append(comparison_lines(found, title) if found else [f"{title}: {why}"])
    print("\n\n".join("\n".join(block) for block in blocks))


def _title(study: str | None, name: str) -> str:
    """Return the title of a data set: with the study's name if there are several studies."""
    return name if study is None else f"{study}: {name}"


def _compared(dataset: DatasetResults, args: argparse.Namespace, several: int) -> tuple[Found, str]:
    """Return the comparisons of a data set by metric, and the reason if there are none."""
    # imported here to keep --help fast
    from seqkern.core.errors import LabelError, ParameterError

    try:
        return _found(dataset, args)
    except (LabelError, ParameterError) as error:  # another of several data sets may have the method, metric or test
        if several > 1:
            return {}, str(error)
        raise


def _found(dataset: DatasetResults, args: argparse.Namespace) -> tuple[Found, str]:
    """Return the comparisons of a data set by metric, and the reason if there are none; errors are raised."""
    # imported here to keep --help fast
    from seqkern.methods.compared import compare_on_task, compare_tasks, read_paired_decisions, why_untested
    from seqkern.methods.study_results import Ranking
    from seqkern.report.sentences import averaged_over
    from seqkern.report.terminal import Evaluated

    ranking = Ranking(dataset)
    if isinstance(dataset, Evaluated):  # the methods of a study share their folds
        for task in dict.fromkeys(dataset.metrics["task"]):
            read_paired_decisions(dataset, task)
    if len(ranking.order) < 2:
        return {}, _too_few(ranking, dataset)
    control = _control(ranking.order, args.control)
    keys = None if args.metric is None else [args.metric]
    if args.task is not None:
        _check_known("task", args.task, list(dict.fromkeys(dataset.metrics["task"])))
    if dataset.several and args.task is None:
        keys = keys or [ranking.metric]
        _check_known("metric", keys[0], list(ranking.scores))
        return compare_tasks(dataset, ranking, *averaged_over(dataset), keys=keys, control=control), "no scores"
    found = compare_on_task(dataset, ranking, keys, control, args.task)
    if not found and (error := why_untested(dataset, ranking, args.task)):
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
    datasets: Sequence[tuple[str | None, DatasetResults]], args: argparse.Namespace
) -> list[tuple[str | None, str, Found, str]]:
    """Return the comparisons over all data sets, in the form that `run` lists; empty if there are too few data sets."""
    # imported here to keep --help fast
    from seqkern.core.errors import ParameterError
    from seqkern.methods.compared import compare_datasets
    from seqkern.methods.study_results import Ranking

    if len(datasets) < 2 or args.task is not None:
        return []
    methods = dict.fromkeys(method for _, dataset in datasets for method in Ranking(dataset).order)
    try:
        control = _control(list(methods), args.control)
    except ParameterError:
        return []
    found = compare_datasets([dataset for _, dataset in datasets], args.metric, control)
    return [(None, "all data sets", found, "")] if found else []


def _check_known(kind: str, name: str, known: Iterable[str]) -> None:
    """Raise ParameterError for an unknown name."""
    # imported here to keep --help fast
    from seqkern.core.errors import unknown_name

    if name not in known:
        raise unknown_name(kind, name, known)


def _control(methods: Iterable[Method], text: str | None) -> Method | None:
    """Return the control method, given as ``kernel/solver`` or as ``kernel`` if it has one solver; None if not
    given.
    """
    # imported here to keep --help fast
    from seqkern.core.errors import ParameterError, unknown_name

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
