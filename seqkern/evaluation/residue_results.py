"""Tables about the residues of whole chains, in addition to those for all kinds of samples.

``states.txt`` has each tested chain with its true and predicted states, ``segments.tsv`` the segment lengths,
``termini.tsv`` the accuracy by distance to an end of the chain.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from seqkern.core.archive import atomic_write
from seqkern.core.errors import FileError
from seqkern.core.tsv import format_cell, read_utf8, write_tsv
from seqkern.core.types import PathLike
from seqkern.evaluation.fold_tables import FoldResult, Row
from seqkern.evaluation.metrics import codes_of
from seqkern.evaluation.states import run_starts, state_scores
from seqkern.residues import Residues
from seqkern.residues.confidence import confidence, digits
from seqkern.sequences.labels import Labels

if TYPE_CHECKING:
    from seqkern.datasets import Dataset

SEGMENT_COLUMNS = ("task", "split", "state", "length", "true", "predicted")
TERMINUS_COLUMNS = ("task", "split", "distance", "n", "right")
NOT_JUDGED = "?"
STATES_HEAD = (
    "# A chain has five lines: >chain, task and split; residues; true states; predicted states; confidence 0 to 9: "
    "{confidence}. " + NOT_JUDGED + " marks a residue that was not tested.\n"
)
CONFIDENCE = {
    True: "ten times the difference between the two highest state probabilities",
    False: "decile of the margin of the decision among the residues of the test set",
}
JUDGED_KINDS = ("binary", "multiclass")


class ChainStates(NamedTuple):
    """A chain of ``states.txt``: lines of one letter for each residue, `NOT_JUDGED` if it was not tested.

    Examples
    --------
    >>> chain = ChainStates("states", "1", "1abc", "MKVLA", true="CHHHC", predicted="CHHCC", confidence="97658")
    >>> sum(a == b for a, b in zip(chain.true, chain.predicted))
    4
    """

    task: str
    split: str
    name: str
    letters: str
    true: str
    predicted: str
    confidence: str


def residue_scores(
    residues: Residues | None, rows: npt.NDArray[np.int64], labels: Labels, predicted: npt.ArrayLike
) -> dict[str, float]:
    """Return the scores of a test set whose samples are residues.

    Parameters
    ----------
    residues : Residues or None
        All residues of the data set.
    rows : ndarray of int, shape (n,)
        The samples of the test set.
    labels : Labels
        Labels of the test set.
    predicted : array_like, shape (n,)
        The solver's predictions.

    Returns
    -------
    dict of str to float
        As from `state_scores`; empty without states to predict.
    """
    if residues is None or labels.kind not in JUDGED_KINDS:
        return {}
    codes, residues = codes_of(labels.kind, predicted), residues.take(rows)
    return state_scores(labels.y, codes, residues.record, residues.place, labels.classes)


def state_letters(classes: Sequence[str]) -> list[str]:
    """Return one letter for each class: its name, or for longer names a unique letter from it.

    Parameters
    ----------
    classes : sequence of str
        Names of the states.

    Returns
    -------
    list of str

    Examples
    --------
    >>> state_letters(["H", "E", "Helix310"])
    ['H', 'E', 'e']
    """
    taken = [name for name in classes if len(name) == 1]
    letters = []
    for name in classes:
        free = [letter for letter in name + "0123456789abcdefghijklmnopqrstuvwxyz" if letter not in taken]
        letters.append(name if len(name) == 1 else free[0])
        taken.append(letters[-1])
    return letters


def write_residue_results(folder: Path, dataset: Dataset, results: Sequence[FoldResult]) -> None:
    """Write ``states.txt``, ``segments.tsv`` and ``termini.tsv``; only the header where no task has states.

    Parameters
    ----------
    folder : Path
        Gets the three files.
    dataset : Dataset
        The evaluated data set, with its residues.
    results : sequence of FoldResult
        For all folds of all tasks.

    Raises
    ------
    FileError
        If a file cannot be written.
    """
    residues = dataset.residues
    assert residues is not None  # the caller's part
    parts = []
    row_of = {name: row for row, name in enumerate(dataset.X.ids)}
    for result in results:
        labels = dataset.tasks[result.metrics["task"]].labels
        if result.decisions and labels.kind in JUDGED_KINDS:
            rows = np.array([row_of[row["id"]] for row in result.decisions])
            parts.append(_Part(residues.take(rows), labels.classes, result.decisions))
    sure = any(part.probabilities for part in parts)
    with atomic_write(folder / "states.txt", "w") as file:
        file.write(STATES_HEAD.format(confidence=CONFIDENCE[sure]))
        for part in parts:
            file.writelines("\n".join(lines) + "\n" for lines in part.chains())
    write_tsv(folder / "segments.tsv", SEGMENT_COLUMNS, (row for part in parts for row in part.segments()))
    write_tsv(folder / "termini.tsv", TERMINUS_COLUMNS, (row for part in parts for row in part.termini()))


class _Part:
    """The residues of one test set in the order of chains and places."""

    def __init__(self, residues: Residues, classes: Sequence[str], decisions: Sequence[Row]) -> None:
        order = np.lexsort((residues.place, residues.record))
        self.residues, self.classes = residues.take(order), classes
        rows = [decisions[i] for i in order]
        self.task, self.split = rows[0]["task"], rows[0]["split"]
        code = {name: i for i, name in enumerate(classes)}
        self.true = np.array([code[row["label"]] for row in rows])
        self.predicted = np.array([code[row["predicted"]] for row in rows])
        several = f"decision:{classes[0]}" in rows[0]
        names = {kind: [f"{kind}:{c}" for c in classes] if several else kind for kind in ("probability", "decision")}
        first = names["probability"][0] if several else "probability"
        self.probabilities = rows[0].get(first) is not None
        wanted = names["probability" if self.probabilities else "decision"]
        values = [[row[name] for name in wanted] if several else row[wanted] for row in rows]
        self.sure = digits(confidence(values, self.predicted, self.probabilities))

    def chains(self) -> Iterator[tuple[str, ...]]:
        """Yield the five lines of each chain."""
        chains = self.residues.chains
        names = np.array([ord(letter) for letter in state_letters(self.classes)], dtype=np.uint8)
        columns = names[self.true], names[self.predicted], self.sure + ord("0")
        for record, rows in self.residues.chain_rows():
            lines = np.full((3, chains.lengths[record]), ord(NOT_JUDGED), dtype=np.uint8)
            for line, column in zip(lines, columns, strict=True):
                line[self.residues.place[rows]] = column[rows]
            head = ">" + "\t".join(map(format_cell, (chains.ids[record], self.task, self.split)))
            yield head, chains.string(record), *(line.tobytes().decode("latin-1") for line in lines)

    def segments(self) -> Iterator[tuple[str, str, str, int, int, int]]:
        """Yield the numbers of true and predicted segments of each state and length."""
        place = self.residues.record, self.residues.place
        counts = []
        for states in (self.true, self.predicted):
            starts = run_starts(states, *place)
            lengths = np.diff(np.append(starts, len(states)))
            table = np.zeros((len(self.classes), int(lengths.max(initial=0)) + 1), dtype=np.int64)
            np.add.at(table, (states[starts], lengths), 1)
            counts.append(table)
        widest = max(table.shape[1] for table in counts)
        true, predicted = (np.pad(table, ((0, 0), (0, widest - table.shape[1]))) for table in counts)
        for state, length in zip(*np.nonzero(true + predicted), strict=True):
            there = int(true[state, length]), int(predicted[state, length])
            yield self.task, self.split, self.classes[state], int(length), *there

    def termini(self) -> Iterator[tuple[str, str, int, int, int]]:
        """Yield the numbers of residues, and of correct ones, at each distance from the nearer end of their chain."""
        distance = self.residues.to_terminus()
        n, right = np.bincount(distance), np.bincount(distance, self.true == self.predicted)
        for far in np.flatnonzero(n):
            yield self.task, self.split, int(far), int(n[far]), int(right[far])


def read_states(path: PathLike) -> list[ChainStates]:
    """Return the chains of a ``states.txt``.

    Parameters
    ----------
    path : path-like
        A file of `write_residue_results`.

    Returns
    -------
    list of ChainStates

    Raises
    ------
    FileError
        If it cannot be read, or does not contain chains.
    """
    lines = read_utf8(path, remedy="create it again").split("\n")
    chains = []
    for i in range(1, len(lines) - 1, 5):
        head, *rows = lines[i : i + 5]
        cells = head.removeprefix(">").split("\t")
        if len(cells) != 3 or len(rows) != 4 or len({len(row) for row in rows}) != 1:
            raise FileError(
                f"line {i + 1} does not start the five lines of a chain", file=path, remedy="create it again"
            )
        chains.append(ChainStates(cells[1], cells[2], cells[0], *rows))
    return chains
