"""How good a method is: scores, their uncertainty, and the loop that chooses hyperparameters.

`ranking.py` holds ROC curves and what is read off them, `metrics.py` the other scores, `states.py` those of states of
residues (segment overlap). Intervals and tests on one task are in `delong.py`, `bootstrap.py`, `mcnemar.py` and
`five_by_two.py`, tests over many tasks in `wilcoxon.py` (with Holm's correction) and `friedman.py`;
`single_task_tests.py` chooses the test that the folds allow, `paired_decisions.py` says where they allow none, and
`chain_shares.py` counts chains where samples are residues.
`selection.py` is the inner loop, `held_out.py` what is fitted to decisions about held-out samples: probabilities,
thresholds, and layers after the solver. `fold_tables.py` writes what `seqkern report` reads; the outer folds are run by
`seqkern.models.crossval`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
