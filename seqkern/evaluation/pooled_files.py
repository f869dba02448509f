"""Inner loops as a file: what `seqkern evaluate --inner-only` computes for a data set, the input of pooled choices.

A file holds the scores of each training set's inner loop, and the samples by which it is decided which tasks may be
pooled (tasks with other labels than two classes are not pooled). Sequences are held as text, so that identical
ones, and sequences that contain one another, are found in all data sets.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.core.archive import canonical_json, save_json
from seqkern.core.errors import FileError
from seqkern.core.file_kinds import INNER
from seqkern.core.types import PathLike
from seqkern.evaluation.candidates import Candidate
from seqkern.evaluation.pooled import InnerLoop
from seqkern.evaluation.selection import Choice
from seqkern.folds.leakage import find_links
from seqkern.folds.split import Split
from seqkern.sequences.labels import Labels
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.sequences.tables import Data, FeatureTable

SHOWN = ("training", "test", "negative")
"""The lists of samples of a `StoredLoop`."""


@dataclass(frozen=True, eq=False)
class StoredLoop:
    """The inner loop of one training set, as stored.

    Attributes
    ----------
    task, split : str
        The training set.
    key : str
        A digest of everything the scores depend on.
    labels : str
        The kind of labels.
    scores : list of list of float
        For each candidate the score on each inner fold.
    counts : list
        Fits that did not converge, number of fits, the worst gap.
    training, test : list of int
        The positive samples of both sets: rows of the data set, or places in a file's list of samples.
    negative : list of int
        The negative samples of the test set, likewise.

    Examples
    --------
    >>> loop = StoredLoop("all", "1", "5f", "binary", [[0.8], [0.9]], [0, 2, None], [0], [1], [2])
    >>> loop.choice([("spectrum", {"solver": "csvc", "C": C}) for C in (1, 10)]).spec["C"]
    10
    """

    task: str
    split: str
    key: str
    labels: str
    scores: list[list[float]]
    counts: list[Any]
    training: list[int]
    test: list[int]
    negative: list[int]

    def choice(self, candidates: list[Candidate]) -> Choice:
        """Return the inner loop's Choice: of the candidate with the best mean score, or the first of these.

        Parameters
        ----------
        candidates : list of (str, dict)
            In the order of the scores.

        Returns
        -------
        Choice
        """
        scores = np.array(self.scores, dtype=np.float64)
        best = int(scores.mean(axis=1).argmax())
        return Choice(*candidates[best], float(scores[best].mean()), candidates, scores, *self.counts)


def stored_loop(task: str, split: Split, key: str, labels: Labels, choice: Choice) -> StoredLoop:
    """Return the inner loop of a training set in the form to be stored.

    Parameters
    ----------
    task : str
        Name of the task.
    split : Split
        The rows of training and test set.
    key : str
        What the scores depend on, as text of any length.
    labels : Labels
        Of all samples.
    choice : Choice
        Of the inner loop.

    Returns
    -------
    StoredLoop
    """
    counts = [choice.not_converged, choice.n_fits, choice.worst_gap]
    known: list[list[int]] = [[], [], []]
    if labels.kind == "binary":
        positive = labels.y > 0
        shown = split.train[positive[split.train]], split.test[positive[split.test]], split.test[~positive[split.test]]
        known = [rows.tolist() for rows in shown]
    return StoredLoop(task, split.name, digest(key), labels.kind, choice.scores.tolist(), counts, *known)


def digest(key: str) -> str:
    """Return a digest of what an inner loop's scores depend on.

    Parameters
    ----------
    key : str
        Text of any length.

    Returns
    -------
    str
        Hexadecimal.
    """
    return blake2b(key.encode(), digest_size=16).hexdigest()


def write_inner_loops(
    path: PathLike, dataset: str, X: Data, candidates: Sequence[Candidate], loops: Sequence[StoredLoop]
) -> None:
    """Write the inner loops of all training sets of a data set.

    Parameters
    ----------
    path : path-like
        The file.
    dataset : str
        Name of the data set.
    X : SequenceSet or table
        All samples.
    candidates : sequence of (str, dict)
        Of every loop.
    loops : sequence of StoredLoop
        With rows of `X`.

    Raises
    ------
    FileError
        If the file cannot be written.
    """
    rows = sorted({row for loop in loops for name in SHOWN for row in getattr(loop, name)})
    place = {row: i for i, row in enumerate(rows)}
    moved = [asdict(loop) | {name: [place[row] for row in getattr(loop, name)] for name in SHOWN} for loop in loops]
    content = {
        "dataset": dataset,
        "data": _kind(X),
        "candidates": canonical_json(candidates),
        "samples": _texts(X, rows),
        "loops": moved,
    }
    save_json(path, INNER, content, indent=None)


def _kind(X: Data) -> list[str]:
    """Return the kind of data; of sequences with the letters of the alphabet."""
    return ["sequences", X.alphabet.name] if isinstance(X, SequenceSet) else [type(X).__name__]


def _texts(X: Data, rows: list[int]) -> list[str]:
    """Return what identifies each sample in any data set: residues, or the digest of its features, or its id."""
    if isinstance(X, SequenceSet):
        return X.take(np.array(rows, dtype=np.int64)).strings()
    if isinstance(X, FeatureTable):
        return [blake2b((X.values[row] + 0.0).tobytes(), digest_size=16).hexdigest() for row in rows]
    return [X.ids[row] for row in rows]


@dataclass(frozen=True, eq=False)
class InnerFile:
    """A file of inner loops.

    Attributes
    ----------
    path : path-like
        For messages.
    dataset : str
        Name of the data set.
    data : list of str
        The kind of data, and the alphabet of sequences.
    candidates : str
        All candidates, as JSON.
    samples : list of str
        See `write_inner_loops`.
    loops : list of StoredLoop
        One for each training set.

    Examples
    --------
    >>> InnerFile("inner.json", "scop", ["sequences", "ACGT"], "[]", ["GATTACA"], []).dataset
    'scop'
    """

    path: PathLike
    dataset: str
    data: list[str]
    candidates: str
    samples: list[str]
    loops: list[StoredLoop]

    @classmethod
    def read(cls, path: PathLike) -> InnerFile:
        """Read a file of `write_inner_loops`.

        Parameters
        ----------
        path : path-like
            The file.

        Returns
        -------
        InnerFile

        Raises
        ------
        FileError
            If it is missing, corrupted, or of a newer version.
        """
        content = INNER.load_json(path)
        with INNER.damaged(path):
            loops = [StoredLoop(**loop) for loop in content["loops"]]
            told = {name: content[name] for name in ("dataset", "data", "candidates", "samples")}
            return cls(path, loops=loops, **told)


def read_inner_loops(
    paths: Iterable[PathLike], dataset: str, candidates: Sequence[Candidate]
) -> tuple[list[InnerLoop], dict[str, InnerLoop]]:
    """Return the inner loops that the choices for a data set can be pooled over.

    Files of another kind of data, or another alphabet, are left out, and so are tasks with labels that are not binary.

    Parameters
    ----------
    paths : iterable of path-like
        Files of `write_inner_loops`, one of each data set.
    dataset : str
        Name of the data set to choose for; one of the files must be its own.
    candidates : sequence of (str, dict)
        The candidates to choose from.

    Returns
    -------
    loops : list of InnerLoop
        Of all data sets that remain.
    own : dict of str to InnerLoop
        Those of the data set itself, by the digest of what their scores depend on; also with other labels.

    Raises
    ------
    FileError
        If a file cannot be read, two are of one data set, none is of this one, or the candidates differ.
    """
    files: dict[str, InnerFile] = {}
    for path in paths:
        file = InnerFile.read(path)
        if file.dataset in files:
            problem = f"holds inner loops of {file.dataset!r}, and so does {files[file.dataset].path}"
            raise FileError(problem, file=path, remedy="give one file for each data set")
        files[file.dataset] = file
    if dataset not in files:
        first = next(iter(files.values())).path
        raise FileError(f"is not of data set {dataset!r}", file=first, remedy="give the data set's own file, too")
    files = {name: file for name, file in files.items() if file.data == files[dataset].data}
    wanted = canonical_json(candidates)
    for file in files.values():
        if file.candidates != wanted:
            raise FileError("was made for other kernels or solvers", file=file.path, remedy=INNER.again)
    numbers = _numbers(list(files.values()))
    loops, own = [], {}
    for name, file in files.items():
        for loop in file.loops:
            known = (frozenset(numbers[name][getattr(loop, shown)].tolist()) for shown in SHOWN)
            found = InnerLoop((name, loop.task), loop.split, loop.choice(list(candidates)), *known)
            if loop.labels == "binary":
                loops.append(found)
            if name == dataset:
                own[loop.key] = found
    return loops, own


def _numbers(files: Sequence[InnerFile]) -> dict[str, npt.NDArray[np.int64]]:
    """Return a number for each sample of each file; samples that are identical or contain one another share it."""
    texts = list(dict.fromkeys(text for file in files for text in file.samples))
    place = {text: i for i, text in enumerate(texts)}
    numbers = np.arange(len(texts), dtype=np.int64)
    if files[0].data[0] == "sequences" and texts:
        X = SequenceSet.from_strings(texts, files[0].data[1], unknown="mask")
        numbers = find_links(X, reverse_complement=X.alphabet.complement is not None).groups()
    return {file.dataset: numbers[[place[text] for text in file.samples]] for file in files}
