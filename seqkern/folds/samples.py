"""The samples that a fold method divides: their labels, and which of them belong together."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import LabelError
from seqkern.folds.splitters import Indices, merge_groups
from seqkern.sequences.labels import Labels
from seqkern.sequences.tables import Data

NamedSplit = tuple[str, Indices, Indices]
"""The name of a split, the rows to train on and the rows to test on."""

PARTS = ("train", "test")
RARE_STATE = "reduce the states (residues: {reduction: …}), or give more chains with it"
"""The remedy where too few chains have a state."""


@dataclass(frozen=True)
class Samples:
    """The n labelled samples of a task: what a splitter may look at.

    Attributes
    ----------
    labels : Labels
        Of these samples.
    X : SequenceSet, FeatureTable or SimilarityTable, optional
        The data set.
    task : str
        The name of the task.
    roles : ndarray of str, shape (n,), optional
        The parts that the task brings with it.
    links : ndarray, shape (n,), optional
        Samples found alike share a value.
    chains : ndarray, shape (n,), optional
        Residues of one chain share a value.

    Examples
    --------
    >>> from seqkern.folds.samples import Samples
    >>> from seqkern.sequences.labels import make_labels
    >>> labels = make_labels(["a", "b", "c"], ["yes", "no", "yes"], groups=["g1", "g2", "g1"])
    >>> samples = Samples(labels, X=None, task="globins", roles=None)
    >>> samples.groups(samples.column("groups", "grouped")).tolist()
    [0, 1, 0]
    """

    labels: Labels
    X: Data | None
    task: str
    roles: npt.NDArray[np.str_] | None
    links: npt.NDArray[Any] | None = None
    chains: npt.NDArray[Any] | None = None

    def __len__(self) -> int:
        return len(self.labels)

    def classes(self) -> npt.NDArray[np.int64]:
        """Return int64 (n,): the class codes, zeros for real labels."""
        return (
            np.zeros(len(self), np.int64) if self.labels.kind == "real" else self.labels.y.astype(np.int64, copy=False)
        )

    def groups(self, *partitions: npt.ArrayLike | None) -> Indices | None:
        """Merge partitions with links and chains.

        Parameters
        ----------
        *partitions : array_like, shape (n,), or None
            The group of each sample; None is ignored.

        Returns
        -------
        ndarray of int64, shape (n,), or None
            The merged groups; None if there are no partitions, links or chains.
        """
        given = [part for part in (*partitions, self.links, self.chains) if part is not None]
        return merge_groups(len(self), *given) if given else None

    def undivided(self, method: str) -> Indices | None:
        """Return the groups that no method divides: linked samples; of residues, chains and given groups.

        Parameters
        ----------
        method : str
            The fold method, named in messages.

        Returns
        -------
        ndarray of int64, shape (n,), or None

        Raises
        ------
        LabelError
            If residues have groups, and one of them is empty.
        """
        of_residues = self.chains is not None and self.labels.groups is not None
        return self.groups(self.column("groups", method) if of_residues else None)

    def members(self, count: int, groups: npt.NDArray[Any] | None) -> str:
        """Return a number of groups, or of samples where there are no groups, in words.

        Parameters
        ----------
        count : int
            The number.
        groups : ndarray, shape (n,), optional
            The group of each sample.

        Returns
        -------
        str
            Such as ``3 chains``.
        """
        one, many = "unit", "units"
        if groups is not None:
            one, many = "group", "groups"
            if self.chains is not None and len(np.unique(groups)) == len(np.unique(self.chains)):
                one, many = "chain", "chains"
        return f"{count} {one if count == 1 else many}"

    def column(self, field: str, method: str) -> npt.NDArray[Any]:
        """Return a column of the labels.

        Parameters
        ----------
        field : {"groups", "folds", "chromosome", "position"}
            The column.
        method : str
            The fold method that needs it, named in messages.

        Returns
        -------
        ndarray, shape (n,)
            Strings, or int64 positions.

        Raises
        ------
        LabelError
            If the column is missing, or a cell of it is empty; folds may be.
        """
        values = getattr(self.labels, field)
        remedy = f"give every unit a {field.removesuffix('s')}, or choose another fold method"
        if values is None:
            raise LabelError(
                f"task {self.task!r} has no column {field!r}, which the fold method {method!r} needs",
                remedy=remedy,
            )
        empty = np.flatnonzero(values == "") if values.dtype.kind == "U" else np.zeros(0, np.int64)
        if len(empty) and field != "folds":
            record = self.labels.ids[empty[0]]
            raise LabelError(f"its {field.removesuffix('s')} is empty", record=record, remedy=remedy)
        return values
