"""Which samples of a training set no fold divides: groups, loci, chains and similar sequences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from seqkern.folds.methods import rows_together
from seqkern.folds.relaxed import relaxed_groups
from seqkern.folds.similar import codes_of
from seqkern.folds.splitters import merge_groups
from seqkern.models.sources import Units
from seqkern.residues import Residues
from seqkern.sequences.labels import Labels
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.sequences.windows import Window
from seqkern.similarity import SimilarGroups, similar_groups


@dataclass(frozen=True, eq=False)
class Together:
    """The samples that no fold within a training set divides.

    Attributes
    ----------
    groups : ndarray, shape (n,), or None
        Samples of one group stay together; None if none do.
    similar : SimilarGroups or None
        The similar sequences, or chains of residues; None if none were looked for.
    reasons : tuple of str
        A sentence for each class whose similar samples are split.
    unit : str
        What `similar` groups.

    Examples
    --------
    >>> from seqkern.models.together import Together
    >>> Together(None).sentences
    ()
    """

    groups: npt.NDArray[Any] | None
    similar: SimilarGroups | None = None
    reasons: tuple[str, ...] = ()
    unit: str = "sequences"

    @property
    def sentences(self) -> tuple[str, ...]:
        """What was found, for the user; empty where nothing was."""
        return (self.similar.describe(self.unit), *self.reasons) if self.similar else ()


def together(
    labels: Labels,
    X: Units,
    window: Window | None = None,
    residues: Residues | None = None,
    *,
    allow_similar: bool = False,
    n_threads: int | None = None,
) -> Together:
    """Join given groups, loci (`rows_together`), chains of residues and groups of similar sequences.

    Where the groups are whole chromosomes, similar sequences are not looked for: through repeats, nearly all
    chromosomes would become one group.

    Parameters
    ----------
    labels : Labels
        Labels of the n samples.
    X : SequenceSet, FeatureTable or SimilarityTable
        The samples; rows of tables are not compared.
    window : Window, optional
        As for `rows_together`.
    residues : Residues, optional
        The residue of each sample, if samples are windows around residues: then whole chains are compared.
    allow_similar : bool
        Whether similar sequences may be in different folds.
    n_threads : int, optional
        Default: all cores.

    Returns
    -------
    Together

    Examples
    --------
    >>> from seqkern import SequenceSet
    >>> from seqkern.models.together import together
    >>> from seqkern.sequences.labels import make_labels
    >>> proteins = ["MKVLAAGIVGLPNVGKSTLFNALT", "MKVLAAGIVALPNVGKSTLFNALT", *"ACDEFGHI"]
    >>> X = SequenceSet.from_strings(proteins, "protein")
    >>> together(make_labels(X.ids, ["a", "b"] * 5), X).groups.tolist()
    [0, 0, 1, 2, 3, 4, 5, 6, 7, 8]
    """
    if labels.by_chromosome:
        return Together(labels.groups)
    if residues is not None and labels.groups is None:
        others: npt.NDArray[Any] | None = residues.record.astype(str)
    else:
        others = rows_together(labels, X, window)
    sequences = X if residues is None else residues.chains
    if allow_similar or not isinstance(sequences, SequenceSet):
        return Together(others)
    similar = similar_groups(sequences, classes=codes_of(labels) if residues is None else None, n_threads=n_threads)
    numbers = similar.groups if residues is None else similar.groups[residues.record]
    kept, reasons = relaxed_groups(numbers, others, labels)
    unit = "sequences" if residues is None else "chains"
    if kept is None:
        return Together(others, similar, reasons, unit)
    return Together(merge_groups(len(labels), kept, others), similar, reasons, unit)
