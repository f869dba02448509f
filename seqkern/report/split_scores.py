"""What one method's decisions say, split by split: its score against permuted labels, its variance, its errors."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from seqkern.evaluation.chance import Permuted, permuted_accuracy, permuted_auc, permuted_error
from seqkern.evaluation.simultaneous import auc_variance
from seqkern.report.dataset_results import DatasetResults
from seqkern.report.files import numbers, rows_by
from seqkern.report.positive import positive_class

if TYPE_CHECKING:
    import pandas as pd


@dataclass
class SplitScores:
    """Of one method.

    Attributes
    ----------
    permuted : list of Permuted
        The headline score of each split against all permutations of its labels.
    variances : list of float
        Of the AUC of each split; empty for other metrics.
    errors : list of ndarray of float64
        Of each split, for real labels.
    excess : list of float
        Of each split, by which factor groups of related samples enlarge the variance; empty for real labels.
    splits, single : int
        How many splits there are, and in how many only one class is predicted.
    ids : list of str
        Of the tested samples, once for each split that tests them.
    """

    permuted: list[Permuted] = field(default_factory=list)
    variances: list[float] = field(default_factory=list)
    errors: list[npt.NDArray[np.float64]] = field(default_factory=list)
    excess: list[float] = field(default_factory=list)
    splits: int = 0
    single: int = 0
    ids: list[str] = field(default_factory=list)

    @property
    def samples(self) -> int:
        """Tested samples, each counted once."""
        return len(set(self.ids))

    @property
    def independent(self) -> float:
        """As many independent samples as tell as much as those tested."""
        known = [factor for factor in self.excess if not math.isnan(factor)]
        return self.samples / float(np.mean(known)) if known else self.samples

    @property
    def tested_once(self) -> bool:
        """Whether each sample is in one test set only."""
        return self.samples == len(self.ids)

    @property
    def predicts_one_class(self) -> bool:
        """Whether only one class is predicted in most splits."""
        return 2 * self.single > self.splits

    def add(self, alone: Permuted, grouped: Permuted) -> None:
        """Add the score of a split, with its variance for samples that stand alone and for those in groups.

        Parameters
        ----------
        alone, grouped : Permuted
            The same score.
        """
        self.permuted.append(grouped)
        self.excess.append(grouped.variance / alone.variance if alone.variance else 1.0)


def split_scores(
    dataset: DatasetResults, table: pd.DataFrame, key: str, groups: Mapping[str, Mapping[str, str]] | None = None
) -> SplitScores:
    """Return the SplitScores of a method by the headline metric.

    Parameters
    ----------
    dataset : DatasetResults
        Results of the data set.
    table : DataFrame
        The method's decisions.
    key : str
        ``auc``, ``accuracy``, or ``rmse``; no score is computed for others.
    groups : mapping of str to mapping of str to str, optional
        Of the samples of each task, as `sample_groups` returns them.

    Returns
    -------
    SplitScores
    """
    found = SplitScores(ids=table["id"].tolist())
    for (task, _), rows in rows_by(table, ["task", "split"]):
        found.splits += 1
        found.single += dataset.kind != "real" and len(rows) > 1 and rows["predicted"].nunique() == 1
        if key == "rmse":
            labels, predicted = numbers(rows["label"]).to_numpy(), rows["decision"].to_numpy(float)
            found.permuted.append(permuted_error(labels, predicted))
            found.errors.append(labels - predicted)
        elif key == "accuracy":
            both = rows[["label", "predicted"]].to_numpy(str)
            codes = np.unique(both, return_inverse=True)[1].reshape(both.shape)
            found.add(
                *(permuted_accuracy(codes[:, 0], codes[:, 1], own) for own in (None, _groups(rows, groups, task)))
            )
        elif key == "auc":
            rows, labels, decisions = _ranked(dataset, task, rows)
            if decisions is not None:
                found.add(*(permuted_auc(labels, decisions, own) for own in (None, _groups(rows, groups, task))))
                found.variances.append(auc_variance(labels, decisions)[1] * found.excess[-1])
    return found


def _groups(
    rows: pd.DataFrame, groups: Mapping[str, Mapping[str, str]] | None, task: str
) -> npt.NDArray[np.int64] | None:
    """Return a code for the group of each row; None where the folds have no groups."""
    known = (groups or {}).get(task)
    if known is None:
        return None
    # a sample without a group stands alone
    return np.unique([known.get(name) or f"\t{name}" for name in rows["id"]], return_inverse=True)[1]


def _ranked(dataset: DatasetResults, task: str, rows: pd.DataFrame) -> tuple[pd.DataFrame, Any, Any]:
    """Return the rows that have decision values, their codes and values; None for values that are not all known."""
    if dataset.kind == "binary":
        rows = rows[rows["decision"].notna()]
        positive = (rows["label"] == positive_class(dataset, rows)).to_numpy().astype(int)
        return rows, positive, rows["decision"].to_numpy(float)
    classes = dataset.classes(task) or sorted(set(rows["label"]))
    columns = [f"decision:{name}" for name in classes]
    known = rows["label"].isin(classes)
    if not known.all() or not all(column in rows for column in columns) or rows[columns].isna().any(axis=None):
        return rows, None, None
    code = {name: i for i, name in enumerate(classes)}
    return rows, rows["label"].map(code).to_numpy(), rows[columns].to_numpy(float)
