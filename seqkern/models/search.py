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
    >>> Search(folds=5).metric
    'auto'
    """

    folds: int = 3
    metric: str = "auto"
    seed: int = 1
    rule: str = "best"
