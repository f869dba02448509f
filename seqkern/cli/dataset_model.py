"""Verbs that train one method on a data set of a study: their arguments, the training, and its record."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Generic, TypeVar, cast

from seqkern.cli.common import dataset_name, method_settings, read_study
from seqkern.cli.requests_studies import DatasetModel
from seqkern.core.errors import ParameterError
from seqkern.kernels.kernel_specs import check_kind
from seqkern.methods.model import Model
from seqkern.methods.training import train_model
from seqkern.sequences.labels import Labels
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.solvers.solver_specs import check_solver
from seqkern.study.dataset import Dataset, Task
from seqkern.study.dataset_entries import Importance, MotifSearch, VariantEffects
from seqkern.study.kernel_entries import KernelEntry
from seqkern.study.solver_entries import MethodEntry

Purpose = TypeVar("Purpose", "Importance", "MotifSearch", "VariantEffects")


@dataclass(frozen=True)
class ModelJob(Generic[Purpose]):
    """A request with the method to train on its data set, and the purpose of the model, as texts or from a study."""

    request: DatasetModel
    method: MethodEntry
    purpose: Purpose
    memory: str | None

    @classmethod
    def of(cls, request: DatasetModel, kind: type[Purpose]) -> ModelJob[Purpose]:
        """Return the job of the arguments, or of the study that they name."""
        settings, memory = method_settings(request), request.memory
        if request.study is None:
            purpose = kind(**{field.name: getattr(request, field.name) for field in fields(kind)})
        else:
            study = read_study(request)
            found = study.settings_of(kind.key, dataset_name(request.dataset))
            settings, purpose, memory = found["method"], kind(**found[kind.key]), study.memory_limit
        return cls(request, MethodEntry.parse(settings, KernelEntry.parse), purpose, memory)


def train_on_dataset(
    X: SequenceSet, labels: Labels, notes: dict[str, Any], job: ModelJob[Any], *, explained: bool = True
) -> Model:
    """Return the model of a method, trained on labelled sequences."""
    method = job.method
    (kernel,), inner = method.kernel.candidates, method.search
    check_kind(kernel.kernel, "sequences", file=job.request.dataset)
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
        memory_limit=job.memory,
        n_threads=job.request.threads,
    )
    return cast("Model", model)  # of windows


def training_summary(model: Model) -> dict[str, Any]:
    """Return the part of a report about the training of a model: sample count, classes, solver and search."""
    record = model.record
    search = None if record["search"] is None else {key: record["search"][key] for key in ("metric", "folds")}
    return {"n": record["n"], "classes": record["classes"], "solver": record["solver"], "search": search}


def two_classes(dataset: Dataset) -> Task:
    """Return the task of a data set of sequences of two classes."""
    if dataset.kind != "sequences" or len(dataset.tasks) != 1 or dataset.task().labels.kind != "binary":
        raise ParameterError(
            f"{dataset.name} is not a set of sequences of two classes", remedy="choose a data set of peaks"
        )
    return dataset.task()
