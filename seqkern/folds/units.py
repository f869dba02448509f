"""The units that a fold method divides: their labels, and which of them belong together."""

from dataclasses import dataclass

import numpy as np

from seqkern.core.errors import LabelError
from seqkern.folds.splitters import merge_groups

PARTS = ("train", "test")
RARE_STATE = "reduce the states (residues: {reduction: …}), or give more chains with it"
"""The remedy where too few chains have a state."""


@dataclass(frozen=True)
class Units:
    """The labelled units of a task: what a splitter may look at.

    `links` and `chains` number units that belong together, or are None: those found alike, and residues of one chain.
    """

    labels: object
    X: object
    task: str
    roles: object
    links: object = None
    chains: object = None

    def __len__(self):
        return len(self.labels)

    def classes(self):
        """Return the class codes, zeros for real labels."""
        return np.zeros(len(self), np.int64) if self.labels.kind == "real" else self.labels.y

    def groups(self, *partitions):
        """Return the given partitions merged with links and chains, or None if there are none at all."""
        partitions = [part for part in (*partitions, self.links, self.chains) if part is not None]
        return merge_groups(len(self), *partitions) if partitions else None

    def whole(self, method):
        """Return the groups that no method divides, or None: linked units; of residues, chains and given groups."""
        of_residues = self.chains is not None and self.labels.groups is not None
        return self.groups(self.column("groups", method) if of_residues else None)

    def members(self, count, groups):
        """Return a number of `groups`, or of units where there are none, in words."""
        one, many = "unit", "units"
        if groups is not None:
            one, many = "group", "groups"
            if self.chains is not None and len(np.unique(groups)) == len(np.unique(self.chains)):
                one, many = "chain", "chains"
        return f"{count} {one if count == 1 else many}"

    def column(self, field, method):
        """Return a column of the labels; LabelError if it is missing, or a cell of it is empty."""
        values = getattr(self.labels, field)
        remedy = f"give every unit a {field.removesuffix('s')}, or choose another fold method"
        if values is None:
            raise LabelError(
                f"task {self.task!r} has no column {field!r}, which the fold method {method!r} needs",
                remedy=remedy,
            )
        empty = np.flatnonzero(values == "") if values.dtype.kind == "U" else ()
        if len(empty) and field != "folds":
            record = self.labels.ids[empty[0]]
            raise LabelError(f"its {field.removesuffix('s')} is empty", record=record, remedy=remedy)
        return values
