"""Trivial baselines on a study's folds: what any method should beat.

``majority`` predicts the most frequent class of the training set, ``mean`` its mean label. ``composition`` is a linear
model of the sequence's length and residue frequencies; for residues of chains, ``residue`` predicts the most frequent
state of the residue at hand. All are fitted on the training set alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from seqkern.evaluation.fold_tables import FoldResult, decision_rows
from seqkern.evaluation.metrics import codes_of, scores
from seqkern.evaluation.residue_results import residue_scores
from seqkern.sequences.sequence_set import SequenceSet

if TYPE_CHECKING:
    from seqkern.datasets import Dataset
    from seqkern.folds import FoldSet
    from seqkern.residues import Residues
    from seqkern.sequences.labels import Labels

Array: TypeAlias = "npt.NDArray[Any]"
Decided: TypeAlias = "tuple[Array, Array]"
"""Decisions and predictions for the test set, as a solver gives them."""
Rule: TypeAlias = "Callable[[Labels, Array, Array], Decided]"
"""Takes all labels, the rows of the training set and those of the test set."""


def run_baselines(dataset: Dataset, fold_sets: dict[str, FoldSet]) -> Iterator[tuple[str, FoldResult]]:
    """Fit and test every baseline on every fold.

    Parameters
    ----------
    dataset : Dataset
        Of any kind; only sequences have a composition.
    fold_sets : dict of str to FoldSet
        Of each task.

    Yields
    ------
    name : str
        ``majority``, ``mean``, ``composition`` or ``residue``.
    result : FoldResult
        With decisions and metrics, without choices. Unlabelled tasks have none.

    Examples
    --------
    >>> from seqkern.datasets import make_dataset
    >>> from seqkern.folds import make_folds
    >>> donors = make_dataset("donors", {"simulate": {"kind": "donor", "n_positive": 20, "n_decoy": 40}})
    >>> folds = {"all": make_folds(donors.task().labels, k=2, seed=1)}
    >>> [(name, result.metrics["split"]) for name, result in run_baselines(donors, folds)]
    [('majority', '1'), ('majority', '2'), ('composition', '1'), ('composition', '2')]
    """
    features = None
    if dataset.residues is None and isinstance(dataset.X, SequenceSet):
        features = composition_features(dataset.X)
    for name in ("majority", "composition", "residue"):
        for task, fold_set in fold_sets.items():
            labels = dataset.tasks[task].labels
            rule = _rule(name, labels.kind, features, dataset.residues)
            if rule is None:
                continue
            shown = "mean" if name == "majority" and labels.kind == "real" else name
            for split in fold_set.splits:
                decisions, predicted = rule(labels, split.train, split.test)
                own = labels.take(split.test)
                place = {"task": task, "split": split.name}
                found = scores(labels.kind, own.y, decisions, codes_of(labels.kind, predicted))
                found |= residue_scores(dataset.residues, split.test, own, predicted)
                sizes = {"n_train": len(split.train), "n_test": len(split.test)}
                rows = [place | row for row in decision_rows(own, decisions, predicted, None)]
                yield shown, FoldResult(rows, place | sizes | found, choices=[], fit=dict(place))


def composition_features(X: SequenceSet) -> npt.NDArray[np.float64]:
    """Return the length and the residue frequencies of each sequence.

    Parameters
    ----------
    X : SequenceSet
        The n sequences; masked letters count in the length only.

    Returns
    -------
    ndarray of float64, shape (n, 1 + size of the alphabet)

    Examples
    --------
    >>> from seqkern import SequenceSet
    >>> composition_features(SequenceSet.from_strings(["AAAC", "GT"], "dna")).tolist()
    [[4.0, 0.75, 0.25, 0.0, 0.0], [2.0, 0.0, 0.0, 0.5, 0.5]]
    """
    size = X.alphabet.size
    table = np.zeros((len(X), 1 + size))
    table[:, 0] = X.lengths
    for row, start, stop in zip(table, X.starts, X.stops, strict=True):
        counts = np.bincount(X.codes[start:stop], minlength=size)[:size]
        row[1:] = counts / max(counts.sum(), 1)
    return table


def _rule(name: str, kind: str, features: Array | None, residues: Residues | None) -> Rule | None:
    """Return the baseline of a name for a kind of labels; None where it is not defined."""
    if kind not in ("binary", "multiclass", "real"):
        return None
    if name == "majority":
        return _majority
    if name == "composition" and features is not None:
        table = features
        return lambda labels, train, test: _composition(table, labels, train, test)
    if name == "residue" and residues is not None and kind != "real":
        own = _own_residues(residues)
        return lambda labels, train, test: _residue(own, labels, train, test)
    return None


def _majority(labels: Labels, train: Array, test: Array) -> Decided:
    """Predict the most frequent class, or the mean."""
    y = labels.y[train]
    if labels.kind == "real":
        constant = np.full(len(test), float(y.mean()))
        return constant, constant
    shares = np.bincount(y.astype(np.int64), minlength=len(labels.classes)) / len(y)
    if labels.kind == "binary":
        constant = np.full(len(test), shares[1] - shares[0])
        return constant, constant
    return np.tile(shares, (len(test), 1)), np.full(len(test), int(shares.argmax()))


def _composition(features: Array, labels: Labels, train: Array, test: Array) -> Decided:
    """Fit a standardised linear model of length and residue frequencies."""
    # loaded when a model is fitted: importing scikit-learn takes longer than anything else here
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    if labels.kind == "real":
        regression = make_pipeline(StandardScaler(), Ridge(alpha=1.0)).fit(features[train], labels.y[train])
        values = regression.predict(features[test])
        return values, values
    linear = LogisticRegression(C=1.0, class_weight="balanced", max_iter=1000)
    model = make_pipeline(StandardScaler(), linear).fit(features[train], labels.y[train])
    if labels.kind == "binary":
        values = model.decision_function(features[test])
        return values, values
    found = model.predict_proba(features[test])
    decisions = np.zeros((len(test), len(labels.classes)))
    decisions[:, model.classes_] = found  # a class may be missing from the training set
    return decisions, decisions.argmax(axis=1)


def _own_residues(residues: Residues) -> Array:
    """Return the code of the residue that each sample is."""
    chains = residues.chains
    return chains.codes[chains.starts[residues.record] + residues.place]


def _residue(own: Array, labels: Labels, train: Array, test: Array) -> Decided:
    """Predict the most frequent state of each residue; of residues not seen in training, that of all."""
    n = len(labels.classes)
    counts = np.zeros((256, n))
    np.add.at(counts, (own[train], labels.y[train].astype(np.int64)), 1)
    every = counts.sum(axis=0)
    counts[counts.sum(axis=1) == 0] = every
    shares = (counts / counts.sum(axis=1, keepdims=True))[own[test]]
    if n == 2:
        return shares[:, 1] - shares[:, 0], shares[:, 1] - shares[:, 0]
    return shares, shares.argmax(axis=1)
