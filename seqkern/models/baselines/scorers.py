"""Which baselines suit some data, and the decisions of each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from seqkern.core.errors import ParameterError, unknown_name
from seqkern.models.baselines.alignment import MOST_PAIRS, SCORINGS, AlignmentScores, search
from seqkern.models.baselines.labels_only import (
    Array,
    Decided,
    majority,
    mean_label,
    residue_codes,
    residue_frequencies,
)
from seqkern.models.baselines.linear_models import K, composition_features, kmer_features, linear_model
from seqkern.models.baselines.names import BASELINES
from seqkern.models.baselines.position_weights import position_weights
from seqkern.sequences.sequence_set import SequenceSet

if TYPE_CHECKING:
    from collections.abc import Callable

    from seqkern.datasets import Dataset
    from seqkern.residues import Residues
    from seqkern.sequences.labels import Labels

LEAST_WINDOW = 2
"""Residues of a window with a position weight matrix."""


class BaselineData:
    """Samples as the baselines see them; what does not depend on labels is computed once.

    Parameters
    ----------
    X : SequenceSet, FeatureTable or SimilarityTable
        The n samples.
    residues : Residues, optional
        The residue of each sample, if samples are windows around residues.
    """

    def __init__(self, X: Any, residues: Residues | None = None) -> None:
        self.X, self.residues = X, residues
        self.sequences = X if residues is None and isinstance(X, SequenceSet) and len(X) else None

    @classmethod
    def of(cls, data: Any) -> BaselineData:
        """Return the samples of a data set.

        Parameters
        ----------
        data : Dataset, BaselineData, SequenceSet, FeatureTable or SimilarityTable
            The samples.

        Returns
        -------
        BaselineData
        """
        if isinstance(data, cls):
            return data
        return cls(data.X, data.residues) if hasattr(data, "residues") else cls(data)

    @cached_property
    def composition(self) -> Array:
        """Length and residue frequencies, shape (n, 1 + size of the alphabet)."""
        return composition_features(self.X)

    @cached_property
    def kmers(self) -> Any:
        """Scaled counts of 6-mers, sparse."""
        return kmer_features(self.X)

    @cached_property
    def alignment(self) -> AlignmentScores:
        """Smith-Waterman scores."""
        return AlignmentScores(self.X)

    @cached_property
    def codes(self) -> Array:
        """The residue that each sample is, shape (n,)."""
        assert self.residues is not None
        return residue_codes(self.residues)

    @property
    def aligned(self) -> bool:
        """Whether the samples are sequences of an alphabet with substitution scores."""
        return self.sequences is not None and self.sequences.alphabet.name in SCORINGS

    @property
    def bases(self) -> bool:
        """Whether the samples are sequences of DNA or RNA, long enough for 6-mers."""
        X = self.sequences
        return X is not None and X.alphabet.name in ("dna", "rna") and int(X.lengths.max()) >= K

    @property
    def equally_long(self) -> bool:
        """Whether the samples are windows of equal length."""
        if self.sequences is None:
            return False
        lengths = self.sequences.lengths
        return bool(lengths.min() == lengths.max() >= LEAST_WINDOW)


def applicable(data: Any, labels: Labels | None = None) -> list[str]:
    """Return the baselines that suit some data, without those whose alignments would take too long.

    Parameters
    ----------
    data : Dataset, BaselineData, SequenceSet, FeatureTable or SimilarityTable
        The samples.
    labels : Labels, optional
        Of all samples; by default those of the data set's first task.

    Returns
    -------
    list of str
        Keys of `BASELINES`, in their order; none for unlabelled samples.

    Examples
    --------
    >>> from seqkern.datasets import make_dataset
    >>> applicable(make_dataset("donors", {"simulate": {"kind": "donor", "n_positive": 20, "n_decoy": 40}}))
    ['majority', 'composition', 'nearest', 'alignment', 'kmers', 'pwm']
    """
    labels = _labels(data) if labels is None else labels
    own = BaselineData.of(data)
    found = suitable(own, labels.kind)
    return without_costly(found, too_costly(own, [(labels, np.flatnonzero(labels.used()))]))


def suitable(data: BaselineData, kind: str) -> list[str]:
    """Return the baselines that suit some data, whatever they cost.

    Parameters
    ----------
    data : BaselineData
        The samples.
    kind : {"binary", "multiclass", "real", "none"}
        Of the labels.

    Returns
    -------
    list of str
    """
    if kind not in ("binary", "multiclass", "real"):
        return []
    real = kind == "real"
    suits = {
        "majority": not real,
        "mean": real,
        "composition": data.sequences is not None,
        "nearest": data.aligned,
        "alignment": data.aligned and not real,
        "kmers": data.bases,
        "pwm": data.equally_long and not real,
        "residue": data.residues is not None and not real,
    }
    return [name for name in BASELINES if suits[name]]


def too_costly(data: BaselineData, parts: Iterable[tuple[Labels, Array]]) -> str | None:
    """Return why the training sets cannot be searched by alignment; None where they can.

    Parameters
    ----------
    data : BaselineData
        The samples.
    parts : iterable of (Labels, ndarray of int64)
        Labels of all samples, and the rows of a training set.

    Returns
    -------
    str or None
        Such as ``"7e+12 pairs of residues to align, more than 1e+12"``.
    """
    if not data.aligned:
        return None
    pairs = data.alignment.pairs(searched(data, parts))
    return f"{pairs:.0e} pairs of residues to align, more than {MOST_PAIRS:.0e}" if pairs > MOST_PAIRS else None


def without_costly(names: Sequence[str], reason: str | None) -> list[str]:
    """Return the names without those of alignments, if there is a reason.

    Parameters
    ----------
    names : sequence of str
        Of baselines.
    reason : str or None
        Result of `too_costly`.

    Returns
    -------
    list of str
    """
    return [name for name in names if reason is None or name not in ("nearest", "alignment")]


def searched(data: BaselineData, parts: Iterable[tuple[Labels, Array]]) -> Array:
    """Return the sequences that are searched by alignment in any of several training sets.

    Parameters
    ----------
    data : BaselineData
        The samples.
    parts : iterable of (Labels, ndarray of int64)
        Labels of all samples, and the rows of a training set.

    Returns
    -------
    ndarray of int64
        Sorted.
    """
    chosen = [one for labels, train in parts for one in data.alignment.searched(labels, train)]
    return np.unique(np.concatenate([np.empty(0, dtype=np.int64), *chosen]))


def decide(name: str, data: Any, labels: Labels, train: Array, test: Array) -> Decided:
    """Fit a baseline on the training set, and decide about the test set.

    Parameters
    ----------
    name : str
        One of `applicable`.
    data : Dataset, BaselineData, SequenceSet, FeatureTable or SimilarityTable
        The samples. For many folds make one `BaselineData`, so that features and alignments are computed once.
    labels : Labels
        Of all samples; only those of the training set are used.
    train, test : ndarray of int64
        Rows of the training set and of the test set.

    Returns
    -------
    decisions : ndarray of float64, shape (n_test,), for several classes (n_test, classes)
        Above zero for the positive class; or predicted numbers.
    predicted : ndarray, shape (n_test,)
        As solvers give them: above zero for the positive class, codes of classes, or numbers.

    Raises
    ------
    ParameterError
        If the baseline is unknown, or does not suit the data.

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern import SequenceSet
    >>> from seqkern.sequences.labels import make_labels
    >>> X = SequenceSet.from_strings(["MKVLAW", "MKVIAW", "GGPSGG", "GPPSG", "KVLAW"], "protein")
    >>> labels = make_labels(X.ids, ["1", "1", "0", "0", "1"])
    >>> bool(decide("nearest", X, labels, np.arange(4), np.array([4]))[0] > 0)
    True
    """
    own = BaselineData.of(data)
    if name not in BASELINES:
        raise unknown_name("baseline", name, BASELINES)
    if name not in suitable(own, labels.kind):
        raise ParameterError(f"the baseline {name} does not suit these data", remedy=f"see {__name__}.applicable")
    train, test = np.asarray(train, dtype=np.int64), np.asarray(test, dtype=np.int64)
    rule: Callable[[Labels, Array, Array], Decided]
    if name == "majority":
        rule = majority
    elif name == "mean":
        rule = mean_label
    elif name == "residue":
        rule = partial(residue_frequencies, own.codes)
    elif name == "composition":
        rule = partial(linear_model, own.composition, standardise=True)
    elif name == "kmers":
        rule = partial(linear_model, own.kmers, standardise=False)
    elif name == "pwm":
        rule = partial(position_weights, own.X)
    else:
        rule = partial(search, own.alignment, mean=name == "alignment")
    return rule(labels, train, test)


def _labels(data: Dataset) -> Labels:
    """Return the labels of the first task."""
    return next(iter(data.tasks.values())).labels
