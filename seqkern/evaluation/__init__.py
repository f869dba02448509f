"""How good a method is: scores, their uncertainty, and the loop that chooses hyperparameters.

`ranking.py` holds ROC curves and what is read off them, `metrics.py` the other scores, `states.py` those of states of
residues (segment overlap). Intervals and tests on one task are in `significance.py` (DeLong), `bootstrap.py` and
`paired.py` (McNemar, 5×2cv), tests over many tasks in `comparison.py` (Wilcoxon with Holm) and `friedman.py`;
`contests.py` chooses the test that the folds allow, `trial.py` says where they allow none, and `chain_shares.py` counts
chains where units are residues.
`selection.py` is the inner loop, `held_out.py` what is fitted to decisions about held-out units: probabilities,
thresholds, and layers after the solver. `fold_tables.py` writes what `seqkern report` reads; the outer folds are run by
`seqkern.models.crossval`.
"""

from seqkern.core.multiple_testing import holm
from seqkern.evaluation.bootstrap import bootstrap_interval, bootstrap_test
from seqkern.evaluation.comparison import compare_all, signed_rank_test
from seqkern.evaluation.friedman import compare_to_control, critical_difference, friedman
from seqkern.evaluation.metrics import (
    accuracy,
    balanced_accuracy,
    brier,
    confusion_matrix,
    macro_auc,
    matthews_correlation,
    pearson,
    r2,
    rmse,
    scores,
    spearman,
    summarise,
)
from seqkern.evaluation.paired import five_by_two_f, five_by_two_t, mcnemar
from seqkern.evaluation.ranking import (
    average_precision,
    mean_roc_curve,
    median_rfp,
    roc_auc,
    roc_curve,
    roc_n,
    sensitivity,
    specificity,
    specificity_at_sensitivity,
)
from seqkern.evaluation.significance import delong_interval, delong_test
from seqkern.evaluation.states import sov, state_scores

__all__ = [
    "accuracy",
    "average_precision",
    "balanced_accuracy",
    "bootstrap_interval",
    "bootstrap_test",
    "brier",
    "compare_all",
    "compare_to_control",
    "confusion_matrix",
    "critical_difference",
    "delong_interval",
    "delong_test",
    "five_by_two_f",
    "five_by_two_t",
    "friedman",
    "holm",
    "macro_auc",
    "matthews_correlation",
    "mcnemar",
    "mean_roc_curve",
    "median_rfp",
    "pearson",
    "r2",
    "rmse",
    "roc_auc",
    "roc_curve",
    "roc_n",
    "scores",
    "sensitivity",
    "signed_rank_test",
    "sov",
    "spearman",
    "specificity",
    "specificity_at_sensitivity",
    "state_scores",
    "summarise",
]
