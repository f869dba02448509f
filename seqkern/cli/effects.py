"""``seqkern effects``: predicted effects of variants on held-out chromosomes, compared with known effects."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np

from seqkern.cli.dataset_model import ModelJob, train_on_dataset, training_summary, two_classes
from seqkern.cli.output import naming_file
from seqkern.cli.requests_studies import EffectsRequest
from seqkern.core.archive import check_writable, save_json
from seqkern.core.errors import ParameterError, SequenceError
from seqkern.core.exclusive_files import exclusive_folder
from seqkern.core.file_kinds import RESULT
from seqkern.evaluation.folds import Split, read_folds
from seqkern.formats.reference import Genome
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
from seqkern.genomics.variants import Scorer, model_scorer
from seqkern.sequences.labels import Labels
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.study.dataset import Dataset, load_dataset
from seqkern.study.dataset_entries import VariantEffects


def run(request: EffectsRequest) -> None:
    """Run ``seqkern effects``."""
    job = ModelJob.of(request, VariantEffects)
    wanted = job.purpose
    dataset, out_dir = load_dataset(request.dataset), Path(request.output)
    check_writable(out_dir / "effects.tsv")
    with naming_file(request.dataset):
        X, labels, splits = _samples(dataset, request.folds)
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
    _tell(effects, scores)


def _samples(dataset: Dataset, folds_dir: str) -> tuple[SequenceSet, Labels, list[Split]]:
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


def _tell(effects: HeldOutEffects, scores: dict[str, Any] | None) -> None:
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
