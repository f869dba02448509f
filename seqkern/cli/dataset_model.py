"""``seqkern importance``, ``discover`` and ``effects``: train one method on a data set of a study, and use its model.

The importance of each position of windows, the motifs that the model has learned, and the effects of variants on
held-out chromosomes, compared with known effects.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Generic, TypeVar, cast

import numpy as np
import numpy.typing as npt

from seqkern.cli.common import dataset_name, method_settings, read_study
from seqkern.cli.output import naming_file
from seqkern.cli.requests_studies import DatasetModel, DiscoverRequest, EffectsRequest, ImportanceRequest
from seqkern.core.archive import check_writable, save_json
from seqkern.core.errors import ParameterError, SequenceError
from seqkern.core.exclusive_files import exclusive_folder
from seqkern.core.file_kinds import RESULT
from seqkern.core.threads import given_threads
from seqkern.evaluation.folds import Split, read_folds
from seqkern.formats.reference import Genome
from seqkern.genomics import motif_tables
from seqkern.genomics.effects import (
    RANKINGS,
    HeldOutEffects,
    composition_scorer,
    distance_to_positive,
    effect_scores,
    held_out_chromosomes,
    read_variants,
    write_effects,
)
from seqkern.genomics.motif_tables import KnownMotifs, nearest
from seqkern.genomics.motifs import find_motifs
from seqkern.genomics.variants import Scorer, model_scorer
from seqkern.kernels.kernel_specs import check_kind
from seqkern.methods.explanation import Explainer
from seqkern.methods.model import Model
from seqkern.methods.poim import LetterMeans, has_poim, positions_of
from seqkern.methods.training import train_model
from seqkern.report.learned_pages import write_positions
from seqkern.sequences.labels import Labels
from seqkern.sequences.sequence_set import SequenceSet, code_matrix
from seqkern.solvers.solver_specs import check_solver
from seqkern.study.dataset import Dataset, Task, load_dataset
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


# The importance of positions.


def run_importance(request: ImportanceRequest) -> None:
    """Run ``seqkern importance``."""
    job = ModelJob.of(request, Importance)
    wanted = job.purpose
    dataset, out_dir = load_dataset(request.dataset), Path(request.output)
    check_writable(out_dir / "importance.npz")
    with naming_file(request.dataset):
        X, labels, part = _training_part(dataset, request.folds)
        model = train_on_dataset(X, labels, dataset.notes, job)
        explainer = Explainer(model, wanted.pair)
        counts, windows = _letter_counts(X, labels, explainer.model)
        positions = positions_of(
            explainer.form,
            explainer.model,
            _letter_means(explainer, X, request.threads),
            counts,
            windows,
            order=wanted.order,
            background=None if wanted.background == "frequencies" else wanted.background,
            first=_first_label(wanted.site, dataset, X),
            section=wanted.section,
        )
    assert positions is not None  # windows of one length have means
    with exclusive_folder(out_dir):
        write_positions(positions, out_dir, dataset.name)
        model.save(out_dir / "model.seqkern")
        summary = training_summary(model) | {"part": part, "pair": wanted.pair}
        save_json(out_dir / "importance.json", RESULT, summary)
        positions.save(out_dir / "importance.npz")
    print(out_dir / "importance.svg")


def _training_part(dataset: Dataset, folds_dir: str | None) -> tuple[SequenceSet, Labels, str | None]:
    """Return the training windows, their labels, and the split of that training set or None."""
    if dataset.kind != "sequences" or len(dataset.tasks) != 1:
        raise ParameterError(
            f"{dataset.name} is not a set of sequences with a single task",
            remedy="choose a data set of windows of one length",
        )
    task = dataset.task()
    rows, part = task.used(), None
    if folds_dir:
        folds = read_folds(Path(folds_dir) / f"{task.name}.tsv", dataset.X.ids, task.labels, dataset.chains)
        if folds.groups is not None:
            task = replace(task, labels=replace(task.labels, groups=folds.groups))
        if len(folds.splits) == 1:
            rows, part = folds.splits[0].train, folds.splits[0].name
    X = cast("SequenceSet", dataset.X).take(rows)
    if X.lengths.min() != X.lengths.max():
        odd = int((X.lengths != X.lengths[0]).argmax())
        raise ParameterError(
            f"sequence {X.ids[odd]!r} has length {X.lengths[odd]}, the first {X.lengths[0]}; all must have one length",
            remedy="choose a data set of windows of one length",
        )
    return X, task.labels.take(rows), part


def _letter_counts(X: SequenceSet, labels: Labels, model: Model) -> tuple[npt.NDArray[np.int64], str]:
    """Return the counts of residues at each position of the positive windows, int64 (L, letters), and their name."""
    if model.kind == "binary":
        X = X.take(labels.y == labels.classes.index(model.classes[1]))
    codes = code_matrix(X)
    counts = np.stack([(codes == code).sum(axis=0) for code in range(X.alphabet.size)], axis=1)
    return counts, f"{len(X)} windows" + (f" of class {model.classes[1]}" if model.kind == "binary" else "")


def _letter_means(explainer: Explainer, X: SequenceSet, n_threads: int | None) -> LetterMeans | None:
    """Return the LetterMeans over the training windows, for kernels without importance matrices."""
    if has_poim(explainer.model.kernel):
        return None
    means = LetterMeans(X.alphabet)
    for piece in explainer.pieces(X):
        means.add(piece, explainer.letters(piece, n_threads=n_threads)[1])
    return means


def _first_label(site: int | None, dataset: Dataset, X: SequenceSet) -> int | None:
    """Return the label of the first position; for windows around residues, its offset from the middle."""
    if site is None:
        return None if dataset.residues is None else -(dataset.residues.window // 2)
    if not 1 <= site <= X.lengths[0]:
        raise ParameterError(f"site={site} is outside the windows", remedy=f"give 1 to {X.lengths[0]}")
    return 1 - site


# Learned motifs.


def run_discover(request: DiscoverRequest) -> None:
    """Run ``seqkern discover``."""
    job = ModelJob.of(request, MotifSearch)
    known_file = job.purpose.known
    dataset, out_dir = load_dataset(request.dataset), Path(request.output)
    check_writable(out_dir / "motifs.json")
    with naming_file(request.dataset):
        task = two_classes(dataset)
        X, labels = cast("SequenceSet", dataset.X).take(task.used()), task.labels.take(task.used())
        model = train_on_dataset(X, labels, dataset.notes, job)
        explainer = Explainer(model)
        known = None if known_file is None else KnownMotifs.from_file(known_file, X.alphabet)
        with given_threads(request.threads):
            motifs = find_motifs(explainer, X, labels.y.astype(np.int64))
    matches = None if known is None else nearest([motif.probabilities for motif in motifs], known)
    count = 0 if known is None else len(known.names)
    sequences = int((labels.y == 1).sum())
    summary = training_summary(model) | {"positive": labels.classes[1], "sequences": sequences, "known": count}
    with exclusive_folder(out_dir):
        model.save(out_dir / "model.seqkern")
        motif_tables.write_meme(out_dir / "motifs.meme", motifs, model.alphabet)
        motif_tables.write_table(out_dir / "motifs.tsv", motifs, labels.classes, matches)
        save_json(out_dir / "motifs.json", RESULT, summary)
    print(out_dir / "motifs.tsv")


# Effects of variants.


def run_effects(request: EffectsRequest) -> None:
    """Run ``seqkern effects``."""
    job = ModelJob.of(request, VariantEffects)
    wanted = job.purpose
    dataset, out_dir = load_dataset(request.dataset), Path(request.output)
    check_writable(out_dir / "effects.tsv")
    with naming_file(request.dataset):
        X, labels, splits = _chromosome_samples(dataset, request.folds)
        held_out = held_out_chromosomes(splits, labels)
    with Genome(wanted.genome) as genome:
        variants = read_variants(wanted.file, genome, wanted.truth)
        effects = HeldOutEffects(variants, held_out)
        _check_some(effects, wanted.file)
        training = _Training(dataset, X, labels, splits, job)
        with naming_file(request.dataset):
            effects.score(wanted.file, genome, training.scorers, request.threads)
    distance = distance_to_positive(variants, labels, X.lengths, 1)
    names = [split.name for split in splits]
    scores = None if wanted.truth is None else effect_scores(effects, distance, wanted.threshold)
    truth = None if wanted.truth is None else {"field": wanted.truth, "threshold": wanted.threshold}
    summary: dict[str, Any] = {"variants": len(variants), "truth": truth, "positive": labels.classes[1]}
    summary |= {"splits": _split_records(effects, names, training.records), "scores": scores}
    with exclusive_folder(out_dir):
        write_effects(out_dir / "effects.tsv", effects, distance, names, wanted.threshold if truth else None)
        save_json(out_dir / "effects.json", RESULT, summary)
    print(out_dir / "effects.tsv")
    _tell_effects(effects, scores)


def _chromosome_samples(dataset: Dataset, folds_dir: str) -> tuple[SequenceSet, Labels, list[Split]]:
    """Return the sequences, their labels, and the splits."""
    task, X = two_classes(dataset), cast("SequenceSet", dataset.X)
    if X.alphabet.name != "dna":
        raise ParameterError(f"{dataset.name} has {X.alphabet.name}, but variants are DNA", remedy="give DNA")
    folds = read_folds(Path(folds_dir) / f"{task.name}.tsv", X.ids, task.labels, dataset.chains)
    labels = task.labels if folds.groups is None else replace(task.labels, groups=folds.groups)
    return X, labels, list(folds.splits)


def _check_some(effects: HeldOutEffects, file: str) -> None:
    """Raise SequenceError if no variant lies on a held-out chromosome."""
    if not effects.splits:
        raise SequenceError(
            f"no variant lies on a chromosome that a fold holds out: {', '.join(effects.chromosomes)}",
            file=file,
            remedy="give variants on chromosomes of the data set",
        )


class _Training:
    """The models of the splits, as scorers of variants."""

    def __init__(
        self, dataset: Dataset, X: SequenceSet, labels: Labels, splits: list[Split], job: ModelJob[Any]
    ) -> None:
        self.dataset, self.X, self.labels, self.splits, self.job = dataset, X, labels, splits, job
        self.records: dict[int, dict[str, Any]] = {}

    def scorers(self, number: int) -> dict[str, Scorer]:
        """Train on a split; return the scorers of its model and of the composition baseline on the same sequences."""
        rows = self.splits[number].train
        X, labels = self.X.take(rows), self.labels.take(rows)
        model = train_on_dataset(X, labels, self.dataset.notes, self.job, explained=False)
        self.records[number] = training_summary(model)
        scorer = model_scorer(model, width=int(np.median(X.lengths)))
        return {"model": scorer, "composition": composition_scorer(X, labels.y == 1)}


def _split_records(
    effects: HeldOutEffects, names: list[str], records: dict[int, dict[str, Any]]
) -> list[dict[str, Any]]:
    """Return the chromosomes, the variants and the training of each split."""
    return [
        {
            "split": names[number],
            "chromosomes": [name for name, own in effects.chromosomes.items() if own == number],
            "variants": int(np.count_nonzero(effects.split == number)),
            **record,
        }
        for number, record in records.items()
    ]


def _tell_effects(effects: HeldOutEffects, scores: dict[str, Any] | None) -> None:
    """Print the number of scored variants, and the quality of their ranking."""
    missing = int(np.count_nonzero(np.isnan(effects.delta("model"))))
    if missing:
        print(
            f"seqkern: {missing} of {len(effects.variants)} alleles are not scored: on chromosomes that no fold holds "
            "out, without a place in the genome, or with N around them",
            file=sys.stderr,
        )
    if scores is None:
        return
    print(f"  {scores['true']} of {scores['n']} variants are true: chance is {scores['true'] / scores['n']:.3f}")
    for name, title in RANKINGS.items():
        own = scores["rankings"].get(name)
        if own is not None:
            top = ", ".join(f"{one['precision']:.3f} of the top {one['n']}" for one in own["top"])
            print(f"  {title}: average precision {own['ap']:.3f}, AUROC {own['auc']:.3f}; precision {top}")
