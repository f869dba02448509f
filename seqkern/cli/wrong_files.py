"""Sequences given by mistake: the same in two classes, a genome in place of sequences."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from seqkern.core.errors import LabelError, SequenceError

if TYPE_CHECKING:
    from seqkern.datasets import Dataset
    from seqkern.sequences.labels import Labels
    from seqkern.sequences.sequence_set import SequenceSet

LONG, TIMES = 100_000, 100
"""A class of one sequence of at least `LONG` letters, and `TIMES` as long as any other, looks like a genome."""

MOST_COMPARED = 100_000
"""Records that are compared with each other."""


def check_twice(files: Sequence[str]) -> None:
    """Raise an error for a file that is given twice.

    Parameters
    ----------
    files : sequence of str
        In the order of the command.

    Raises
    ------
    LabelError
        If two are the same file.
    """
    seen: list[Path] = []
    for file in map(Path, files):
        if file.is_file() and any(file.samefile(other) for other in seen):
            raise LabelError("is given twice", file=file, remedy="give each file once; classes have files of their own")
        seen += [file] if file.is_file() else []


def same_in_two_classes(X: SequenceSet, labels: Labels) -> str | None:
    """Return a sentence about sequences that occur in two classes, or None; of `MOST_COMPARED` records at most.

    Parameters
    ----------
    X : SequenceSet, n records
        The training sequences.
    labels : Labels
        Of these records.

    Returns
    -------
    str or None

    Examples
    --------
    >>> from seqkern.sequences.labels import make_labels
    >>> from seqkern.sequences.sequence_set import SequenceSet
    >>> X = SequenceSet.from_strings(["GATTACA", "ACGT", "GATTACA"], "dna", ids=["a", "b", "c"])
    >>> print(same_in_two_classes(X, make_labels(X.ids, ["yes", "yes", "no"])))
    records 'a' (class yes) and 'c' (class no) are the same sequence; 1 sequence occurs in two classes
    """
    if labels.kind not in ("binary", "multiclass") or len(X) > MOST_COMPARED:
        return None
    first: dict[bytes, int] = {}
    several: dict[bytes, tuple[int, int]] = {}
    for i, (start, stop) in enumerate(zip(X.starts.tolist(), X.stops.tolist(), strict=True)):
        code = X.codes[start:stop].tobytes()
        before = first.setdefault(code, i)
        if -1 not in (labels.y[i], labels.y[before]) and labels.y[i] != labels.y[before]:
            several.setdefault(code, (before, i))
    if not several:
        return None
    pair = next(iter(several.values()))
    shown = " and ".join(f"{X.ids[i]!r} (class {labels.classes[int(labels.y[i])]})" for i in pair)
    count = f"{len(several)} sequences occur" if len(several) > 1 else "1 sequence occurs"
    return f"records {shown} are the same sequence; {count} in two classes"


def check_genome(dataset: Dataset, files: Sequence[str] | None) -> None:
    """Raise an error for a class whose only sequence is a chromosome or contig.

    Parameters
    ----------
    dataset : Dataset
        The training set.
    files : sequence of str or None
        Of the positives and the negatives; None if classes do not have files of their own.

    Raises
    ------
    SequenceError
        If there is such a class.
    """
    # imported here to keep --help fast
    import numpy as np

    # imported here to keep --help fast
    from seqkern.sequences.sequence_set import SequenceSet

    X, labels = dataset.X, dataset.task().labels
    if not isinstance(X, SequenceSet) or labels.kind == "real" or dataset.residues is not None:
        return
    for code, name in enumerate(labels.classes):
        rows = np.flatnonzero(labels.y == code)
        if len(rows) != 1:
            continue
        row = int(rows[0])
        length, others = int(X.lengths[row]), np.delete(X.lengths, row)
        if length >= LONG and (not len(others) or length >= TIMES * others.max()):
            raise SequenceError(
                f"is the only sequence of class {name} and has {length:,} letters, as a genome would",
                file=None if files is None else files[0 if name == "positive" else 1],
                record=X.ids[row],
                remedy="give the sequences to learn from; to cut them from a genome, give BED files with --genome, or "
                "--sites TABLE with --window",
            )
