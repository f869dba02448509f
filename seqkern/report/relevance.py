"""Relevances of features in a learned metric: which solvers have them, and their means over the training sets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from seqkern.figures.residues import LetterImportance
from seqkern.report.dataset_results import KEYS
from seqkern.report.files import numbers
from seqkern.report.letter_importance import POSITIONED, letter_order

if TYPE_CHECKING:
    import pandas as pd

    from seqkern.report.dataset_results import DatasetResults

SOLVERS = ("gmlvq",)
"""Solvers whose weights of features are relevances: shares of a metric, which support no class."""


def has_relevances(dataset: DatasetResults, solver: str) -> bool:
    """Tell whether the weights of a solver are relevances.

    Parameters
    ----------
    dataset : DatasetResults
        The data set.
    solver : str
        Name in the configuration.

    Returns
    -------
    bool
    """
    return dataset.solver(solver).solver_name in SOLVERS


def mean_relevances(features: pd.DataFrame) -> pd.DataFrame:
    """Return the relevance of each feature over the training sets.

    Parameters
    ----------
    features : DataFrame
        Rows of ``features.tsv`` of one method.

    Returns
    -------
    DataFrame
        ``feature``, ``mean``, ``min`` and ``max``, the most relevant first.
    """
    table = features.assign(weight=numbers(features["weight"]))
    found = table.groupby("feature", sort=False)["weight"].agg(["mean", "min", "max"]).reset_index()
    return found.sort_values(["mean", "feature"], ascending=[False, True])


def relevances_by_position(features: pd.DataFrame) -> LetterImportance | None:
    """Return the mean relevance of each letter at each place of a window; None where features have no place.

    Parameters
    ----------
    features : DataFrame
        Rows of ``features.tsv`` of one method, with names such as ``-7:A`` and ``-7:end``.

    Returns
    -------
    LetterImportance or None
    """
    parts = features["feature"].str.extract(f"^{POSITIONED.pattern}$")
    known = parts[0].notna()
    if not known.any():
        return None
    table = features.assign(place=parts[0], letter=parts[1])[known]
    splits = len(table[KEYS].drop_duplicates())
    letters, places = letter_order(table["letter"].unique()), np.unique(table["place"].astype(int))
    values = np.zeros((1, len(letters), len(places)))
    rows = np.array([letters.index(letter) for letter in table["letter"]])
    columns = np.searchsorted(places, table["place"].astype(int).to_numpy())
    np.add.at(values[0], (rows, columns), table["weight"].astype(float).to_numpy() / splits)
    return LetterImportance(values, ["relevance"], letters, places)
