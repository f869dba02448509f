"""The confidence of the predicted state of each residue."""

import numpy as np
import numpy.typing as npt


def confidence(values: npt.ArrayLike, predicted: npt.ArrayLike, probabilities: bool = False) -> npt.NDArray[np.float64]:
    """Return the margin between the predicted state and the next one.

    Parameters
    ----------
    values : array_like of float, shape (n, n_states) or (n,)
        Probabilities or decision values; for two states those of the second only.
    predicted : array_like of int, shape (n,)
        Code of the predicted state, which need not have the highest value.
    probabilities : bool
        If true, return the difference of the two probabilities, 0 if the predicted state does not have the highest.
        Other decision values have no scale: then return the share of the given residues that have a
        smaller margin.

    Returns
    -------
    ndarray of float64, shape (n,)
        From 0 to 1.

    Examples
    --------
    >>> from seqkern.residues.confidence import confidence
    >>> confidence([[0.75, 0.25, 0.0], [0.25, 0.25, 0.5]], [0, 2], probabilities=True).tolist()
    [0.5, 0.25]
    """
    scores, states = np.asarray(values, dtype=np.float64), np.asarray(predicted, dtype=np.int64)
    if scores.ndim == 1:
        scores = np.column_stack([1 - scores if probabilities else -scores, scores])
    rows = np.arange(len(scores))
    others = scores.copy()
    others[rows, states] = -np.inf
    margin = scores[rows, states] - others.max(axis=1, initial=-np.inf)
    if probabilities:
        return np.clip(margin, 0.0, 1.0)
    from scipy.stats import rankdata  # imported only for decision values, for fast start-up

    return (rankdata(margin) - 1) / max(len(margin) - 1, 1)


def digits(sure: npt.ArrayLike) -> npt.NDArray[np.uint8]:
    """Return confidence as digits.

    Parameters
    ----------
    sure : array_like of float, shape (n,)
        From 0 to 1, from `confidence`.

    Returns
    -------
    ndarray of uint8, shape (n,)
        0 to 9.

    Examples
    --------
    >>> from seqkern.residues.confidence import digits
    >>> digits([0.0, 0.55, 1.0]).tolist()
    [0, 5, 9]
    """
    return np.minimum(np.floor(10 * np.asarray(sure)), 9).astype(np.uint8)
