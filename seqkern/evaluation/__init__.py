"""The quality of a method: scores, their uncertainty, and the loop that chooses hyperparameters.

`ranking.py` has ROC curves and the scores derived from them, `metrics.py` the other scores, `states.py` those of
residue states (segment overlap). Intervals and tests on one task are in `delong.py`, `bootstrap.py`, `mcnemar.py` and
`five_by_two.py`, tests over many tasks in `wilcoxon.py` (with Holm's correction) and `friedman.py`;
`single_task_tests.py` chooses a test suitable for the folds, `paired_decisions.py` reports folds without a valid
test, and `chain_shares.py` counts chains if samples are residues.
`selection.py` is the inner loop, `pooled.py` makes one choice for several tasks (stored by `pooled_files.py`),
`clusters.py` holds out clusters of similar positives, `held_out.py` fits to held-out decision values: probabilities,
thresholds, and layers after the solver. `fold_tables.py` writes the input of `seqkern report`; the outer folds are
run by `seqkern.models.crossval`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
