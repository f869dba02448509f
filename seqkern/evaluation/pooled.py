"""One choice for all tasks of a study: the candidate with the best mean rank over their inner loops.

An inner loop with few positives, or with close homologs on both sides of its folds, is noisy: many candidates reach
the best score. Over many tasks the noise averages out. The choice for a task uses its own training set, and the sets of
tasks that reveal almost nothing about its test labels: none of their positive training samples is a positive sample
of this task, in training or in test, and few of them are negative test samples of this task.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.core.archive import canonical_json, save_json
from seqkern.core.checks import check_integer
from seqkern.core.errors import FileError
from seqkern.core.file_kinds import INNER
from seqkern.core.types import Array, Bools, Floats, Ints, PathLike
from seqkern.evaluation.folds import Split
from seqkern.evaluation.leakage import find_links
from seqkern.evaluation.selection import DIGITS, Candidate, Choice, PooledChoice
from seqkern.sequences.labels import Labels
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.sequences.tables import Data, FeatureTable

MOST = 0.05
"""Largest share of a test set that another task may train on as positives, though negative in this test set."""


@dataclass(frozen=True, eq=False)
class InnerLoop:
    """The inner loop of one training set, and the samples that decide which other choices may use it."""

    task: tuple[str, str]  # The data set and the task within it
    split: str  # The split whose training set it is
    choice: Choice  # The candidates with their scores
    training: frozenset[int]  # The positive samples of both sets, by numbers that identical samples share
    test: frozenset[int]  # The positive samples of both sets, by numbers that identical samples share
    negative: frozenset[int] = frozenset()  # The negative samples of the test set

    def may_use(self, other: InnerLoop) -> bool:
        """Return whether the choice for this training set may use another inner loop.

        The other loop must belong to another task. None of its positive training samples may be a positive sample of
        this task: in test, it would reveal the test label; in training, the same class would be learned from
        negatives that may be in this test set. At most a share `MOST` of this test set may be among them, since they
        are learned as another class and so are known to be negative here. In a data set of many classes this cannot
        be avoided altogether, since each class has members in the test sets of all others.
        """
        if self.task == other.task or not other.training.isdisjoint(self.training | self.test):
            return False
        return len(other.training & self.negative) <= MOST * len(self.test | self.negative)


def candidate_ranks(scores: Floats) -> Floats:
    """Return the ranks of candidates by their mean scores, 1 for the best; ties share their mean rank.

    >>> candidate_ranks(np.array([[0.8, 0.9], [0.9, 1.0], [0.9, 0.8]])).tolist()
    [2.5, 1.0, 2.5]
    """
    # scores that differ only by rounding errors are equal
    means = np.asarray(scores, dtype=np.float64).mean(axis=1).round(DIGITS)
    better, equal = means[None, :] > means[:, None], means[None, :] == means[:, None]
    return better.sum(axis=1) + (equal.sum(axis=1) + 1) / 2


def pooled_ranks(own: InnerLoop, others: Iterable[InnerLoop]) -> Floats:
    """Return the candidates' ranks in a task and in each other task that its choice may use.

    The shape is (tasks, candidates), with the task itself first. A task with several splits has the mean over its
    usable ones.
    """
    found: dict[tuple[str, str], list[Floats]] = defaultdict(list)
    for other in others:
        if own.may_use(other):
            found[other.task].append(candidate_ranks(other.choice.scores))
    return np.array([candidate_ranks(own.choice.scores), *(np.mean(found[task], axis=0) for task in sorted(found))])


def pooled_choice(own: InnerLoop, others: Iterable[InnerLoop], sizes: Sequence[Any]) -> PooledChoice:
    """Choose the candidate with the best mean rank over a task and all others that its choice may use.

    Each task has the same weight. Ties are broken by simplicity, then the first candidate wins.
    """
    ranks = pooled_ranks(own, others)
    means = ranks.mean(axis=0).round(DIGITS)
    best = min(range(len(means)), key=lambda c: (means[c], sizes[c], c))
    choice = own.choice
    return PooledChoice(
        *choice.candidates[best],
        score=float(choice.scores[best].mean()),
        candidates=choice.candidates,
        scores=choice.scores,
        not_converged=choice.not_converged,
        n_fits=choice.n_fits,
        worst_gap=choice.worst_gap,
        tasks=len(ranks),
        mean_rank=float(means[best]),
    )


# Files of inner loops: what `seqkern evaluate --inner-only` computes for a data set, the input of pooled choices.
#
# A file holds the scores of each training set's inner loop, and the samples that decide which tasks may be pooled
# (only tasks with two classes are pooled). Sequences are stored as text, so that identical sequences, and sequences
# that contain one another, are found across data sets.

SHOWN = ("training", "test", "negative")
"""The lists of samples of a `StoredLoop`."""


@dataclass(frozen=True, eq=False)
class StoredLoop:
    """The inner loop of one training set, as stored.

    >>> loop = StoredLoop("all", "1", "5f", "binary", [[0.8], [0.9]], [0, 2, None], [0], [1], [2])
    >>> loop.choice([("spectrum", {"solver": "csvc", "C": C}) for C in (1, 10)]).spec["C"]
    10
    """

    task: str  # The training set
    split: str  # The training set
    key: str  # A digest of everything the scores depend on
    labels: str  # The kind of labels
    scores: list[list[float]]  # For each candidate the score on each inner fold
    counts: list[Any]  # Fits that did not converge, number of fits, the worst gap
    # The positive samples of both sets: rows of the data set, or places in a file's list of samples
    training: list[int]
    test: list[int]  # The positive samples of both sets: rows of the data set, or places in a file's list of samples
    negative: list[int]  # The negative samples of the test set, likewise

    def choice(self, candidates: list[Candidate]) -> Choice:
        """Return the inner loop's Choice: the candidate with the best mean score, the first one if several tie."""
        scores = np.array(self.scores, dtype=np.float64)
        best = int(scores.mean(axis=1).argmax())
        return Choice(*candidates[best], float(scores[best].mean()), candidates, scores, *self.counts)


def stored_loop(task: str, split: Split, key: str, labels: Labels, choice: Choice) -> StoredLoop:
    """Return the inner loop of a training set in the form to be stored."""
    counts = [choice.not_converged, choice.n_fits, choice.worst_gap]
    known: list[list[int]] = [[], [], []]
    if labels.kind == "binary":
        positive = labels.y > 0
        shown = split.train[positive[split.train]], split.test[positive[split.test]], split.test[~positive[split.test]]
        known = [rows.tolist() for rows in shown]
    return StoredLoop(task, split.name, digest(key), labels.kind, choice.scores.tolist(), counts, *known)


def digest(key: str) -> str:
    """Return a hexadecimal digest of everything that determines an inner loop's scores."""
    return blake2b(key.encode(), digest_size=16).hexdigest()


def write_inner_loops(
    path: PathLike, dataset: str, X: Data, candidates: Sequence[Candidate], loops: Sequence[StoredLoop]
) -> None:
    """Write the inner loops of all training sets of a data set."""
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
    """Return the kind of data, followed for sequences by the letters of the alphabet."""
    return ["sequences", X.alphabet.name] if isinstance(X, SequenceSet) else [type(X).__name__]


def _texts(X: Data, rows: list[int]) -> list[str]:
    """Return a text that identifies each sample across data sets: its residues, feature digest, or id."""
    if isinstance(X, SequenceSet):
        return X.take(np.array(rows, dtype=np.int64)).strings()
    if isinstance(X, FeatureTable):
        return [blake2b((X.values[row] + 0.0).tobytes(), digest_size=16).hexdigest() for row in rows]
    return [X.ids[row] for row in rows]


@dataclass(frozen=True, eq=False)
class InnerFile:
    """A file of inner loops.

    >>> InnerFile("inner.json", "scop", ["sequences", "ACGT"], "[]", ["GATTACA"], []).dataset
    'scop'
    """

    path: PathLike  # For messages
    dataset: str  # Name of the data set
    data: list[str]  # The kind of data, and the alphabet of sequences
    candidates: str  # All candidates, as JSON
    samples: list[str]  # See `write_inner_loops`
    loops: list[StoredLoop]  # One for each training set

    @classmethod
    def read(cls, path: PathLike) -> InnerFile:
        """Read a file written by `write_inner_loops`."""
        content = INNER.load_json(path)
        with INNER.damaged(path):
            loops = [StoredLoop(**loop) for loop in content["loops"]]
            told = {name: content[name] for name in ("dataset", "data", "candidates", "samples")}
            return cls(path, loops=loops, **told)


def read_inner_loops(
    paths: Iterable[PathLike], dataset: str, candidates: Sequence[Candidate]
) -> tuple[list[InnerLoop], dict[str, InnerLoop]]:
    """Return the inner loops to pool for a data set, and its own, each by a digest of its scores' inputs.

    Files with another kind of data or another alphabet, and tasks whose labels are not binary, are left out.
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


def _numbers(files: Sequence[InnerFile]) -> dict[str, Ints]:
    """Return a number for each sample of each file, shared by samples that are identical or contain one another."""
    texts = list(dict.fromkeys(text for file in files for text in file.samples))
    place = {text: i for i, text in enumerate(texts)}
    numbers = np.arange(len(texts), dtype=np.int64)
    if files[0].data[0] == "sequences" and texts:
        X = SequenceSet.from_strings(texts, files[0].data[1], unknown="mask")
        numbers = find_links(X, reverse_complement=X.alphabet.complement is not None).groups()
    return {file.dataset: numbers[[place[text] for text in file.samples]] for file in files}


# Inner folds for remote homology: clusters of similar positive samples are held out whole.
#
# Close homologs on both sides of an inner fold make every candidate look perfect, and the best candidate for close
# homologs says little about remote homologs. With whole clusters held out, an inner fold asks the same question as the
# test set: are members of a new family recognised?

AUTO = 10
"""The number of clusters, and of inner folds, for ``auto``."""


def kernel_distances(K: Floats) -> Floats:
    """Return the pairwise distances of samples in the feature space of the normalised kernel, shape (n, n).

    d(x, y)² = 2 − 2 K(x, y) / √(K(x, x) K(y, y)), from 0 to 2, or up to 4 with negative values.

    >>> kernel_distances(np.array([[4.0, 2.0], [2.0, 1.0]])).tolist()
    [[0.0, 0.0], [0.0, 0.0]]
    """
    scale = np.sqrt(np.maximum(np.diag(K), 0.0))
    scale[scale == 0] = np.inf
    cosines = K / scale[:, None] / scale[None, :]
    distances = np.sqrt(np.maximum(0.0, 2.0 - cosines - cosines.T))
    np.fill_diagonal(distances, 0.0)
    return distances


def cluster(distances: Floats, n: int, groups: npt.ArrayLike | None = None) -> Ints:
    """Divide samples into `n` clusters by average linkage; samples of one group stay together.

    >>> points = np.array([0.0, 0.1, 5.0, 5.2, 9.0])
    >>> distances = abs(points[:, None] - points[None, :])
    >>> cluster(distances, 3).tolist(), cluster(distances, 2, groups=[0, 1, 2, 3, 0]).tolist()
    ([0, 0, 1, 1, 2], [0, 0, 1, 1, 0])
    """
    # imported here for fast start-up
    from scipy.cluster.hierarchy import cut_tree, linkage
    from scipy.spatial.distance import squareform

    check_integer("clusters", n, 2)
    members: Array = np.arange(len(distances))
    if groups is not None:
        members = np.unique(groups, return_inverse=True)[1]
        inside = (members[None, :] == np.arange(members.max() + 1)[:, None]) / np.bincount(members)[:, None]
        distances = inside @ distances @ inside.T
        distances = (distances + distances.T) / 2
        np.fill_diagonal(distances, 0.0)
    if len(distances) <= n:
        found = np.arange(len(distances))
    else:
        tree = linkage(squareform(distances, checks=False), "average")
        found = cut_tree(tree, n_clusters=[n])[:, 0]
    _, first, numbers = np.unique(found[members], return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[numbers].astype(np.int64)


def cluster_groups(K: Floats, positive: Bools, n: int, groups: npt.ArrayLike | None = None) -> Ints:
    """Return groups for the inner folds: clusters of the positive samples, and a group for each negative sample.

    K (m, m) holds the kernel values of the m positive samples only.

    >>> K = np.array([[1.0, 0.9, 0.1], [0.9, 1.0, 0.1], [0.1, 0.1, 1.0]])
    >>> cluster_groups(K, np.array([True, False, True, True, False]), 2).tolist()
    [0, 2, 0, 1, 3]
    """
    rows = np.flatnonzero(positive)
    own = None if groups is None else np.asarray(groups)[rows]
    found = np.empty(len(positive), dtype=np.int64)
    found[rows] = cluster(kernel_distances(K), n, own)
    rest = np.flatnonzero(~positive)
    others = np.arange(len(rest)) if groups is None else np.unique(np.asarray(groups)[rest], return_inverse=True)[1]
    found[rest] = found[rows].max() + 1 + others
    # a negative sample of a positive one's group goes where that goes
    place = {} if own is None else dict(zip(own.tolist(), found[rows].tolist(), strict=True))
    for row in rest if place else ():
        found[row] = place.get(np.asarray(groups)[row].item(), found[row])
    return found
