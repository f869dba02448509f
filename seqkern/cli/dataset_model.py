"""Verbs that train one method on a data set of a study: their arguments, the training, and its record."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from seqkern.cli.common import (
    INNER_DEFAULTS,
    add_inner_loop,
    add_study,
    add_threads,
    dataset_name,
    method_settings,
    read_study,
)

if TYPE_CHECKING:
    from seqkern.methods.model import Model
    from seqkern.sequences.labels import Labels
    from seqkern.sequences.sequence_set import SequenceSet
    from seqkern.study.dataset_entries import Importance, MotifSearch, VariantEffects
    from seqkern.study.solver_entries import MethodEntry


def add_dataset_model(parser: argparse.ArgumentParser, own: Mapping[str, object]) -> None:
    """Add the arguments for the data set, the method, and its training; `own` are the verb's, with their defaults."""
    parser.add_argument("dataset", help="folder that seqkern datasets wrote")
    add_study(parser, {**INNER_DEFAULTS, "kernel": None, "solver": None, **own})
    parser.add_argument("--kernel", required=True, help="kernel, such as weighted_degree:degree=6, or as JSON")
    parser.add_argument("--solver", required=True, help="solver, as text or JSON; a list of values is a grid")
    add_inner_loop(parser)
    parser.add_argument("--seed", type=int, default=1, help="seed of the inner folds (default: 1)")
    parser.add_argument("--memory", metavar="SIZE", help="memory limit, such as 2GB (default: half of what is left)")
    add_threads(parser)


Purpose = TypeVar("Purpose", "Importance", "MotifSearch", "VariantEffects")


@dataclass(frozen=True)
class ModelRequest(Generic[Purpose]):
    """A method to train on a data set, the purpose of the model, and the limits of the training."""

    dataset: str
    method: MethodEntry
    purpose: Purpose
    memory: str | None
    threads: int | None

    @classmethod
    def of(cls, args: argparse.Namespace, kind: type[Purpose]) -> ModelRequest[Purpose]:
        """Return the request of the arguments, or of the study that they name."""
        # imported here to keep --help fast
        from seqkern.study.kernel_entries import KernelEntry
        from seqkern.study.solver_entries import MethodEntry

        settings, memory = method_settings(args), args.memory
        if args.study is None:
            purpose = kind(**{field.name: getattr(args, field.name) for field in fields(kind)})
        else:
            study = read_study(args)
            found = study.settings_of(kind.key, dataset_name(args.dataset))
            settings, purpose, memory = found["method"], kind(**found[kind.key]), study.memory_limit
        return cls(args.dataset, MethodEntry.parse(settings, KernelEntry.parse), purpose, memory, args.threads)


def train_on_dataset(
    X: SequenceSet, labels: Labels, notes: dict[str, Any], request: ModelRequest[Any], *, explained: bool = True
) -> Model:
    """Return the model of a method, trained on labelled sequences."""
    # imported here to keep --help fast
    from seqkern.kernels.kernel_specs import check_kind
    from seqkern.methods.training import train_model
    from seqkern.solvers.solver_specs import check_solver

    method = request.method
    (kernel,), inner = method.kernel.candidates, method.search
    check_kind(kernel.kernel, "sequences", file=request.dataset)
    for one in method.solver.grid if explained else ():
        check_solver(one)
    model = train_model(
        X,
        labels,
        kernel.kernel,
        [spec for _, spec in method.solver.candidates([None], inner.drawn, method.seed)],
        transforms=kernel.transforms,
        folds=inner.folds,
        metric=inner.metric,
        rule=inner.rule,
        seed=method.seed,
        notes=notes,
        memory_limit=request.memory,
        n_threads=request.threads,
    )
    return cast("Model", model)  # of windows


def training_summary(model: Model) -> dict[str, Any]:
    """Return the part of a report about the training of a model: sample count, classes, solver and search."""
    record = model.record
    search = None if record["search"] is None else {key: record["search"][key] for key in ("metric", "folds")}
    return {"n": record["n"], "classes": record["classes"], "solver": record["solver"], "search": search}
