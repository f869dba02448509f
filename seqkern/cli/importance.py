"""``seqkern importance``: train one method on windows, and show the importance of each position."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import cast

import numpy as np
import numpy.typing as npt

from seqkern.cli.dataset_model import ModelJob, train_on_dataset, training_summary
from seqkern.cli.output import naming_file
from seqkern.cli.requests_studies import ImportanceRequest
from seqkern.core.archive import check_writable, save_json
from seqkern.core.errors import ParameterError
from seqkern.core.exclusive_files import exclusive_folder
from seqkern.core.file_kinds import RESULT
from seqkern.evaluation.folds import read_folds
from seqkern.methods.explanation import Explainer
from seqkern.methods.model import Model
from seqkern.methods.poim import LetterMeans, has_poim, positions_of
from seqkern.report.learned_pages import write_positions
from seqkern.sequences.labels import Labels
from seqkern.sequences.sequence_set import SequenceSet, code_matrix
from seqkern.study.dataset import Dataset, load_dataset
from seqkern.study.dataset_entries import Importance


def run(request: ImportanceRequest) -> None:
    """Run ``seqkern importance``."""
    job = ModelJob.of(request, Importance)
    wanted = job.purpose
    dataset, out_dir = load_dataset(request.dataset), Path(request.output)
    check_writable(out_dir / "importance.npz")
    with naming_file(request.dataset):
        X, labels, part = _training_part(dataset, request.folds)
        model = train_on_dataset(X, labels, dataset.notes, job)
        explainer = Explainer(model, wanted.pair)
        counts, windows = _letters(X, labels, explainer.model)
        positions = positions_of(
            explainer.form,
            explainer.model,
            _means(explainer, X, request.threads),
            counts,
            windows,
            order=wanted.order,
            background=None if wanted.background == "frequencies" else wanted.background,
            first=_first(wanted.site, dataset, X),
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


def _letters(X: SequenceSet, labels: Labels, model: Model) -> tuple[npt.NDArray[np.int64], str]:
    """Return the counts of residues at each position of the positive windows, int64 (L, letters), and their name."""
    if model.kind == "binary":
        X = X.take(labels.y == labels.classes.index(model.classes[1]))
    codes = code_matrix(X)
    counts = np.stack([(codes == code).sum(axis=0) for code in range(X.alphabet.size)], axis=1)
    return counts, f"{len(X)} windows" + (f" of class {model.classes[1]}" if model.kind == "binary" else "")


def _means(explainer: Explainer, X: SequenceSet, n_threads: int | None) -> LetterMeans | None:
    """Return the LetterMeans over the training windows, for kernels without importance matrices."""
    if has_poim(explainer.model.kernel):
        return None
    means = LetterMeans(X.alphabet)
    for piece in explainer.pieces(X):
        means.add(piece, explainer.letters(piece, n_threads=n_threads)[1])
    return means


def _first(site: int | None, dataset: Dataset, X: SequenceSet) -> int | None:
    """Return the label of the first position; for windows around residues, its offset from the middle."""
    if site is None:
        return None if dataset.residues is None else -(dataset.residues.window // 2)
    return 1 - _site(site, X)


def _site(site: int, X: SequenceSet) -> int:
    """Return a position inside the windows, after a check of its range."""
    if not 1 <= site <= X.lengths[0]:
        raise ParameterError(f"site={site} is outside the windows", remedy=f"give 1 to {X.lengths[0]}")
    return site
