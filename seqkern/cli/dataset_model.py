"""Verbs that train one method on a data set of a study: their arguments, the training, and its record."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from seqkern.cli.requests_studies import DatasetModel

if TYPE_CHECKING:
    from seqkern.methods.model import Model
    from seqkern.sequences.labels import Labels
    from seqkern.sequences.sequence_set import SequenceSet


def train_on_dataset(
    X: SequenceSet, labels: Labels, notes: dict[str, Any], args: DatasetModel, *, explained: bool = True
) -> Model:
    """Return the model of the method named on the command line, trained on labelled sequences."""
    # imported here to keep --help fast
    from seqkern.kernels.kernel_specs import check_kind
    from seqkern.methods.training import train_model
    from seqkern.solvers.solver_specs import check_solver
    from seqkern.study.kernel_entries import KernelEntry
    from seqkern.study.solver_entries import SolverEntry

    kernel = KernelEntry.parse(args.kernel)
    check_kind(kernel.kernel, "sequences", file=args.dataset)
    solver = SolverEntry.parse(args.solver, ranges=args.inner_draws is not None)
    for one in solver.grid if explained else ():
        check_solver(one)
    model = train_model(
        X,
        labels,
        kernel.kernel,
        [spec for _, spec in solver.candidates([None], args.inner_draws, args.seed)],
        transforms=kernel.transforms,
        folds=args.inner_folds,
        metric=args.inner_metric,
        rule=args.inner_rule,
        seed=args.seed,
        notes=notes,
        memory_limit=args.memory,
        n_threads=args.threads,
    )
    return cast("Model", model)  # of windows


def training_summary(model: Model) -> dict[str, Any]:
    """Return the part of a report about the training of a model: sample count, classes, solver and search."""
    record = model.record
    search = None if record["search"] is None else {key: record["search"][key] for key in ("metric", "folds")}
    return {"n": record["n"], "classes": record["classes"], "solver": record["solver"], "search": search}
