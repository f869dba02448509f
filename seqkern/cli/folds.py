"""``seqkern folds``: write the splits of a data set, and check them for leakage."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from seqkern.cli.output import log_folds, naming_file
from seqkern.cli.requests_studies import FoldsRequest
from seqkern.core.checks import check_flag
from seqkern.core.errors import FoldError, ParameterError, check_known
from seqkern.core.exclusive_files import exclusive_folder
from seqkern.evaluation.fold_methods import fewer_folds, options_of
from seqkern.evaluation.folds import (
    FoldSet,
    chain_folds,
    chain_labels,
    composition_rows,
    make_folds,
    write_composition,
    write_folds,
)
from seqkern.evaluation.leakage import (
    find_links,
    grouping_arguments,
    grouping_place,
    groups_of,
    leakage_rows,
    similar_row,
    similarity_messages,
    write_leakage,
    write_similar,
)
from seqkern.sequences.similarity import kept_segments
from seqkern.study.dataset import Task, load_dataset

LEAKAGE: dict[str, Any] = {
    "contained": True,
    "identity": "auto",
    "reverse_complement": False,
    "keep_together": "auto",
    "allow_similar": False,
}
RESERVED = ("leakage", "composition", "similar")


def run(request: FoldsRequest) -> None:
    """Make and check the folds of every task, then write all files."""
    dataset = load_dataset(request.dataset)
    options, leakage = _settings(request, dataset.name)
    together = leakage.pop("keep_together")
    residues = dataset.residues
    unit = "samples" if residues is None else "chains"
    output = Path(request.output)
    with kept_segments(output.with_name(f".{output.name}.parts")):
        links = find_links(dataset.X if residues is None else residues.chains, **leakage, n_threads=request.threads)
    fold_sets, leaks, composition, similar = [], [], [], []
    for task in dataset.tasks.values():
        if task.name in RESERVED:
            raise FoldError(f"invalid task name {task.name!r}", file=request.dataset, remedy="rename the task")
        method, chosen = _method(options, task, residues is not None, "genome" in dataset.notes)
        if together == "auto" and method == "grouped" and task.labels.by_chromosome:
            together = False  # through repeats, nearly all chromosomes would become one group
        groups = groups_of(together, links, task.labels, residues, dataset.kind == "sequences")
        kept = grouping_arguments(together, groups, residues) | {"chains": dataset.chains}
        with naming_file(request.dataset):
            foldset = make_folds(task.labels, dataset.X, method, task=task.name, roles=task.split, **kept, **chosen)
        fold_sets.append(foldset)
        where = grouping_place(together, method, chosen)
        remarks = filter(None, (*foldset.remarks, links.remark))
        similar.append((groups, similar_row(task.name, groups, where, [*remarks])))
        if residues is None:
            leaks += leakage_rows(links, foldset, task.labels)
        else:
            labels = chain_labels(links.identical, residues)
            leaks += leakage_rows(links, chain_folds(foldset, residues), labels)
        composition += composition_rows(foldset, task.labels)
    with exclusive_folder(output):
        for foldset in fold_sets:
            write_folds(output / f"{foldset.task}.tsv", foldset)
        write_leakage(output / "leakage.tsv", leaks)
        write_composition(output / "composition.tsv", composition)
        write_similar(output / "similar.tsv", [row for _, row in similar])
    print(_summary(dataset.name, fold_sets, leaks, output, unit))
    if not options.get("method"):
        log_folds(dataset.notes)
    unit = "sequences" if residues is None and dataset.kind == "sequences" else unit
    for text in similarity_messages(similar, unit, method in ("stratified", "five_by_two")):
        print(f"seqkern: {text}", file=sys.stderr)


def _settings(request: FoldsRequest, name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return fold options and leakage settings: from the study, then the JSON, then single arguments."""
    options: dict[str, Any] = {}
    leakage, seed = dict(LEAKAGE), 1
    if request.config:
        # imported here: single options need no configuration
        from seqkern.study.study import Study

        settings = Study.load(request.config).settings_of("folds", request.name or name)
        options, leakage, seed = settings["options"], settings["leakage"], settings["seed"]
    options |= _parsed("--options", request.options)
    leakage |= _parsed("--leakage", request.leakage)
    if request.method:
        options["method"] = request.method
    if request.k is not None:
        options["k"] = request.k
    if request.seed is not None:
        seed = request.seed
    options.setdefault("seed", seed)
    if request.identity is not None:
        leakage["identity"] = request.identity
    for key, value in leakage.items():
        check_known("setting of the leakage check", [key], LEAKAGE)
        if key != "identity" and not (key == "keep_together" and value == "auto"):
            check_flag(key, value)
    if request.keep_together:
        leakage["keep_together"] = True
    if (leakage.pop("allow_similar") and not request.keep_together) or request.allow_similar:
        leakage["keep_together"] = False
    return options, leakage


def _parsed(argument: str, text: str | None) -> dict[str, Any]:
    """Return the JSON object of an argument, empty by default."""
    try:
        value = json.loads(text) if text else {}
    except (ValueError, RecursionError) as error:
        raise ParameterError(
            f"{argument} {text!r} is not JSON: {error}", remedy="quote the argument in the shell"
        ) from error
    if not isinstance(value, dict):
        raise ParameterError(f"{argument} {text!r} is not a JSON object", remedy='write it like {"k": 5}')
    return value


def _method(
    options: Mapping[str, Any], task: Task, of_residues: bool = False, of_genome: bool = False
) -> tuple[str, dict[str, Any]]:
    """Return a task's fold method and its options; only methods that draw at random get the seed.

    The default is the source's own splits. Residues of one chain are never divided: the source's folds are used if
    there
    are any, else folds of chains. Likewise, chromosomes or loci of a genome are not divided.
    """
    options = dict(options)
    given = task.split is not None or (of_residues and task.labels.folds is not None)
    usual = "predefined" if given else "grouped" if of_residues or of_genome else "stratified"
    if usual == "grouped" and not {"method", "k"} & set(options):
        options["k"] = fewer_folds(5, task.labels)
    method = options.pop("method", None) or usual
    if "seed" not in options_of(method):
        del options["seed"]
    return method, options


def _summary(name: str, fold_sets: Sequence[FoldSet], leaks: Sequence[Sequence[Any]], output: Path, unit: str) -> str:
    """Return one line for the user: the number of splits, and the leakage found."""
    splits = sum(len(foldset) for foldset in fold_sets)
    words = {
        "identical": f"test {unit} identical to a training {unit.removesuffix('s')}",
        "contained": "contained in or containing one",
        "similar": "similar to one",
        "overlapping": "overlapping one",
        "conflict": f"sets of identical {unit} with different labels",
    }
    counts = {kind: sum(row[2] == kind for row in leaks) for kind in words}
    found = ", ".join(f"{counts[kind]} {text}" for kind, text in words.items() if counts[kind])
    tasks = f"{len(fold_sets)} task{'s' * (len(fold_sets) != 1)}"
    return f"{name}: {splits} splits of {tasks} in {output}; leakage: {found or 'none found'}"
