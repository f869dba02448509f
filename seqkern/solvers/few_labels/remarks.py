"""What solvers for few labels say in their reports."""

from typing import Any

ALL_LABELLED = (
    "every training record has a label, but this solver is meant to learn from records without one, too (empty labels, "
    "or --unlabelled)"
)


def remark_on(n_unlabelled: int) -> dict[str, Any]:
    """Return the remark on a training set without unlabelled records.

    Parameters
    ----------
    n_unlabelled : int
        Training records without a label.

    Returns
    -------
    dict of str to str
        ``remark``, for the report; empty if there are such records.
    """
    return {} if n_unlabelled else {"remark": ALL_LABELLED}
