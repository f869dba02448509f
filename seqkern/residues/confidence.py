"""How sure a prediction is of the state of each residue."""

import numpy as np


def confidence(values, predicted, probabilities=False):
    """Return how far the predicted state lies above the next one.

    Parameters
    ----------
    values : array_like of float, shape (n, n_states) or (n,)
        Probabilities or decision values; of two states those of the second alone.
    predicted : array_like of int, shape (n,)
        Code of the state that was predicted, which need not be the one of the highest value.
    probabilities : bool
        Then it is the difference of the two probabilities, 0 where the predicted state has not the highest. Other
        decision values have no scale of their own: then it is the share of the residues, among those given, that are
        decided by a smaller margin.

    Returns
    -------
    ndarray of float64, shape (n,)
        From 0 to 1.
    """
    values, predicted = np.asarray(values, dtype=np.float64), np.asarray(predicted, dtype=np.int64)
    if values.ndim == 1:
        values = np.column_stack([1 - values if probabilities else -values, values])
    rows = np.arange(len(values))
    others = values.copy()
    others[rows, predicted] = -np.inf
    margin = values[rows, predicted] - others.max(axis=1, initial=-np.inf)
    if probabilities:
        return np.clip(margin, 0.0, 1.0)
    from scipy.stats import rankdata

    return (rankdata(margin) - 1) / max(len(margin) - 1, 1)


def digits(sure):
    """Return confidence as uint8 digits 0 to 9.

    Parameters
    ----------
    sure : array_like of float, shape (n,)
        From 0 to 1.
    """
    return np.minimum(np.floor(10 * np.asarray(sure)), 9).astype(np.uint8)
