"""Linear models of few features: length and composition, or the frequencies of 6-mers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from seqkern.core.threads import one_thread
from seqkern.models.baselines.labels_only import Array, Decided, majority

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from seqkern.sequences.labels import Labels
    from seqkern.sequences.sequence_set import SequenceSet

K = 6
MOST_ITERATIONS = 1000


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


def kmer_features(X: SequenceSet) -> csr_matrix:
    """Return the counts of 6-mers of each sequence, scaled to Euclidean length 1; of DNA on both strands together.

    Parameters
    ----------
    X : SequenceSet
        The n sequences of DNA or RNA.

    Returns
    -------
    scipy.sparse.csr_matrix of float64, shape (n, 4096)
        Zeros for sequences without a 6-mer.

    Examples
    --------
    Both strands together, a sequence and its reverse complement are the same:

    >>> from seqkern import SequenceSet
    >>> table = kmer_features(SequenceSet.from_strings(["AACCGGA", "TCCGGTT"], "dna"))
    >>> table.shape, table[0].data.round(2).tolist(), bool((table[0] != table[1]).nnz)
    ((2, 4096), [0.71, 0.71], False)
    """
    # loaded when needed: scipy.sparse slows down the start
    from scipy.sparse import diags_array

    from seqkern.kernels.kmer.spectrum import SpectrumKernel  # for the same reason

    both = X.alphabet.name == "dna"
    counts = SpectrumKernel(K, reverse_complement=both, short="zero").features(X)
    norms = np.sqrt(np.asarray(counts.multiply(counts).sum(axis=1)).ravel())
    return (diags_array(1 / np.maximum(norms, 1e-300)) @ counts).tocsr()


def linear_model(features: Any, labels: Labels, train: Array, test: Array, *, standardise: bool) -> Decided:
    """Fit ridge regression (penalty 1), or logistic regression with C = 1 and balanced classes.

    A training set of one class gives its majority.

    Parameters
    ----------
    features : ndarray or csr_matrix, shape (n, d)
        Of all samples.
    labels : Labels
        Of all samples; real, or of two or more classes.
    train, test : ndarray of int64
        Rows of the training set and of the test set.
    standardise : bool
        Whether to scale each feature by its mean and standard deviation in the training set.

    Returns
    -------
    tuple of ndarray
        Decisions and predictions for the test set.
    """
    # loaded when a model is fitted: importing scikit-learn takes longer than anything else here
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    if labels.kind != "real" and len(np.unique(labels.y[train])) < 2:  # nothing to separate
        return majority(labels, train, test)
    scale = [StandardScaler()] if standardise else []
    with one_thread():
        if labels.kind == "real":
            regression = make_pipeline(*scale, Ridge(alpha=1.0)).fit(features[train], labels.y[train])
            values = regression.predict(features[test])
            return values, values
        linear = LogisticRegression(C=1.0, class_weight="balanced", max_iter=MOST_ITERATIONS)
        model = make_pipeline(*scale, linear).fit(features[train], labels.y[train])
        if labels.kind == "binary":
            values = model.decision_function(features[test])
            return values, values
        found = model.predict_proba(features[test])
    decisions = np.zeros((len(test), len(labels.classes)))
    decisions[:, model.classes_] = found  # a class may be missing from the training set
    return decisions, decisions.argmax(axis=1)
