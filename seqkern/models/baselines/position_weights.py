"""The position weight matrix of windows of equal length (Staden 1984; Stormo et al. 1982)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from seqkern.models.baselines.labels_only import Array, Decided

if TYPE_CHECKING:
    from seqkern.sequences.labels import Labels
    from seqkern.sequences.sequence_set import SequenceSet

PSEUDOCOUNT = 1.0
"""Of each residue or base at each position."""
CHUNK = 4096
"""Windows at a time, so that large data sets need little memory."""


def position_weights(X: SequenceSet, labels: Labels, train: Array, test: Array) -> Decided:
    """Add up the log odds of the residue at each position, of each class against the other ones.

    Parameters
    ----------
    X : SequenceSet
        The n windows of equal length. Masked residues add nothing.
    labels : Labels
        Of all samples; of two or more classes.
    train, test : ndarray of int64
        Rows of the training set and of the test set.

    Returns
    -------
    tuple of ndarray
        Decisions and predictions for the test set.

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern import SequenceSet
    >>> from seqkern.sequences.labels import make_labels
    >>> X = SequenceSet.from_strings(["AC", "AG", "TC", "TG", "AA"], "dna")
    >>> labels = make_labels(X.ids, ["1", "1", "0", "0", "1"])
    >>> position_weights(X, labels, np.arange(4), np.array([4]))[0].round(3).tolist()  # ln 3 for A, 0 for the rest
    [1.099]
    """
    classes = range(len(labels.classes))
    counts = [_counts(X, train[labels.y[train] == c]) for c in classes]
    total = np.sum(counts, axis=0)
    if labels.kind == "binary":
        decisions = _add_up(X, test, _log_shares(counts[1]) - _log_shares(counts[0]))
        return decisions, decisions
    columns = [_add_up(X, test, _log_shares(own) - _log_shares(total - own)) for own in counts]
    decisions = np.column_stack(columns)
    return decisions, decisions.argmax(axis=1)


def _codes(X: SequenceSet, rows: Array) -> Array:
    """Return the codes of windows; those of masked residues are the size of the alphabet."""
    places = X.starts[rows][:, None] + np.arange(int(X.lengths[0]))
    return np.minimum(X.codes[places], X.alphabet.size)


def _counts(X: SequenceSet, rows: Array) -> npt.NDArray[np.float64]:
    """Return how often each residue occurs at each position, shape (length, size of the alphabet)."""
    length, width = int(X.lengths[0]), X.alphabet.size + 1
    found = np.zeros(length * width)
    for start in range(0, len(rows), CHUNK):
        cells = np.arange(length) * width + _codes(X, rows[start : start + CHUNK])
        found += np.bincount(cells.ravel(), minlength=length * width)
    return found.reshape(length, width)[:, :-1]


def _log_shares(counts: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the logarithm of the shares of residues at each position, with pseudocounts."""
    with_pseudocounts = counts + PSEUDOCOUNT
    return np.log(with_pseudocounts / with_pseudocounts.sum(axis=1, keepdims=True))


def _add_up(X: SequenceSet, rows: Array, weights: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the sum of the weights of each window's residues."""
    padded = np.column_stack([weights, np.zeros(len(weights))])
    positions = np.arange(len(weights))
    parts = [
        padded[positions, _codes(X, rows[start : start + CHUNK])].sum(axis=1) for start in range(0, len(rows), CHUNK)
    ]
    return np.concatenate([np.empty(0), *parts])
