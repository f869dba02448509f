"""How one of several candidates is chosen."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Search:
    """How one of several candidates is chosen, by cross-validation within a training part.

    Attributes
    ----------
    folds : int
        Of the cross-validation; also of the decisions about held-out samples.
    metric : str
        What it maximises: ``"auto"`` or a name of `seqkern.evaluation.selection.METRICS`.
    seed : int
        Of the folds.
    rule : {"best", "one_standard_error"}
        How it chooses (see `seqkern.evaluation.selection.select`).

    Examples
    --------
    >>> from seqkern.kernels import SpectrumKernel
    >>> from seqkern.models.method import Method
    >>> from seqkern.sequences.labels import make_labels
    >>> from seqkern.sequences.sequence_set import as_sequences
    >>> X = as_sequences(["ACAC", "AACA", "CAAC", "GGTG", "TGGT", "GTTG"], "dna")
    >>> method = Method(SpectrumKernel(2), "csvc:C=[0.01,1]", search=Search(folds=2, metric="accuracy"))
    >>> fitted = method.fit(method.data(X, make_labels(X.ids, ["a", "a", "a", "b", "b", "b"])))
    >>> fitted.choice.spec["C"], fitted.choice.scores.tolist()
    (1, [[0.3333333333333333, 0.3333333333333333], [1.0, 1.0]])
    """

    folds: int = 3
    metric: str = "auto"
    seed: int = 1
    rule: str = "best"
