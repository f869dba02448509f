"""The choice of one of several candidates."""

from dataclasses import dataclass, field

from seqkern.solvers.free_parameters import Free


@dataclass(frozen=True)
class Search:
    """Settings for choosing one of several candidates, by cross-validation within a training set.

    Attributes
    ----------
    folds : int
        Folds of the cross-validation; also for held-out decision values.
    metric : str
        The metric to maximise: ``"auto"``, a name of `seqkern.evaluation.selection.METRICS`, or a bound of the
        leave-one-out error: no fold is made then.
    seed : int
        Of the folds.
    rule : {"best", "one_standard_error"}
        The rule of choice (see `seqkern.evaluation.selection.select`).
    free : Free
        What is searched beyond the candidates: refined values of parameters, and balanced class weights.
    budget : float, optional
        Predicted CPU seconds for choosing one of several kernels by successive halving
        (`seqkern.evaluation.halving`); default: all candidates are tried on the whole training set.
    clusters : int, optional
        Hold out clusters of similar positive samples, this many, in place of folds; see
        `seqkern.evaluation.clusters`.

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
    free: Free = field(default_factory=Free)
    budget: float | None = None
    clusters: int | None = None
