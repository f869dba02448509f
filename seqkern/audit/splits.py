"""The audits of the splits of a study's data set."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from seqkern.audit.parts import Parts
from seqkern.audit.run import Audit
from seqkern.core.errors import SequenceError, TooLargeError
from seqkern.core.progress import progress_bar
from seqkern.core.types import PathLike
from seqkern.datasets import Dataset, load_dataset
from seqkern.datasets.dataset import Task
from seqkern.folds import Split, read_folds
from seqkern.sequences.sequence_set import SequenceSet

MOST_SPLITS = 20
"""Of more splits, only the first ones are audited; the leakage check of the folds covers all."""


@dataclass(frozen=True, eq=False)
class AuditedSplits:
    """The audits of a data set.

    Attributes
    ----------
    audits : list of ((str, str), Audit)
        Task and split, and what was found.
    remarks : list of str
        What was not audited.

    Examples
    --------
    >>> AuditedSplits([], ["a data set of vectors has no sequences to audit"]).audits
    []
    """

    audits: list[tuple[tuple[str, str], Audit]]
    remarks: list[str]


def audited_splits(dataset: PathLike, folds: PathLike, audit: Callable[[Parts], Audit]) -> AuditedSplits:
    """Audit the splits of a data set.

    Parameters
    ----------
    dataset : path-like
        The folder that ``seqkern datasets`` wrote.
    folds : path-like
        The folder that ``seqkern folds`` wrote.
    audit : callable
        Audits two parts.

    Returns
    -------
    AuditedSplits
    """
    data = load_dataset(dataset)
    leaks = [f"{data.name}: {leak}" for leak in data.notes.get("leaks", ())]
    if not isinstance(data.X, SequenceSet) or data.residues is not None:
        return AuditedSplits(
            [], [f"{data.name}: samples are not whole sequences, so there is nothing to audit", *leaks]
        )
    work = [
        (name, task, split)
        for name, task in data.tasks.items()
        for split in read_folds(Path(folds) / f"{name}.tsv", data.X.ids, task.labels, data.chains)
    ]
    remarks = leaks
    if len(work) > MOST_SPLITS:
        remarks.append(f"{data.name}: the first {MOST_SPLITS} of {len(work)} splits were audited")
    audits = []
    for name, task, split in progress_bar(work[:MOST_SPLITS], "splits"):
        try:
            audits.append(((name, split.name), audit(parts_of(data, task, split))))
        except TooLargeError as error:  # a study goes on without its audit
            remarks.append(f"{data.name}: not audited: {error}")
            break
    return AuditedSplits(audits, remarks)


def parts_of(data: Dataset, task: Task, split: Split) -> Parts:
    """Return the parts of a split.

    Parameters
    ----------
    data : Dataset
        Of sequences.
    task : Task
        Of this data set.
    split : Split
        Of its samples.

    Returns
    -------
    Parts
    """
    if not isinstance(data.X, SequenceSet):
        raise SequenceError("samples are not sequences", remedy="audit a data set of sequences")
    rows = [*split.test.tolist(), *split.train.tolist()]
    names = task.labels.names() if task.labels.kind in ("binary", "multiclass") else []
    X = data.X.take(rows).replace(tracks={}).compact()
    return Parts(X, len(split.test), tuple(names[row] for row in rows) if names else ())
