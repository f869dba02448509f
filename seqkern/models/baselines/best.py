"""The best trivial baseline on some folds: the line below which a method has learned nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from seqkern.core.errors import SeqkernError
from seqkern.core.progress import progress_bar
from seqkern.evaluation.metrics import codes_of, scores
from seqkern.models.baselines.scorers import BaselineData, applicable, decide

if TYPE_CHECKING:
    from seqkern.folds import Split
    from seqkern.sequences.labels import Labels


def best_baseline(data: Any, labels: Labels, splits: Sequence[Split], metric: str) -> tuple[str, float] | None:
    """Return the trivial baseline with the best mean score over some folds.

    Parameters
    ----------
    data : SequenceSet, FeatureTable or BaselineData
        The samples.
    labels : Labels
        Their labels.
    splits : sequence of Split
        The folds.
    metric : str
        The score, by its name in `seqkern.evaluation.metrics.scores`; larger is better.

    Returns
    -------
    name : str
        One of `BASELINES`; the first of equal ones.
    score : float
        Its mean over the folds. None instead of both if no baseline suits, or has the score.

    Examples
    --------
    >>> from seqkern import SequenceSet
    >>> from seqkern.folds import make_folds
    >>> from seqkern.sequences.labels import make_labels
    >>> X = SequenceSet.from_strings(["AAC", "AAA", "CAA", "AAG", "GGT", "GGG", "GGC", "TGG"], "dna")
    >>> labels = make_labels(X.ids, ["a"] * 4 + ["g"] * 4)
    >>> best_baseline(X, labels, make_folds(labels, k=2, seed=1).splits, "auc")
    ('composition', 1.0)
    """
    own = BaselineData.of(data)
    best: tuple[str, float] | None = None
    for name in progress_bar(applicable(own, labels), "baselines"):
        found = []
        for split in splits:
            try:
                decisions, predicted = decide(name, own, labels, split.train, split.test)
            except SeqkernError:
                break
            y = labels.y[split.test]
            found.append(scores(labels.kind, y, decisions, codes_of(labels.kind, predicted)).get(metric, np.nan))
        known = [one for one in found if not np.isnan(one)]  # as for methods: the folds where the score is defined
        value = float(np.mean(known)) if known and len(found) == len(splits) else float("nan")
        if not np.isnan(value) and (best is None or value > best[1]):
            best = name, value
    return best
