"""Trivial baselines on a study's folds: what any method should beat.

`names.py` lists them, with a sentence on each. `applicable` tells which ones suit some data, `decide` fits one on a
training set and decides about a test set, `run_baselines` does so on all folds of a data set. All are fitted on the
training set alone.
"""

from seqkern.models.baselines.best import best_baseline as best_baseline
from seqkern.models.baselines.names import BASELINES as BASELINES
from seqkern.models.baselines.names import Baseline as Baseline
from seqkern.models.baselines.run import run_baselines as run_baselines
from seqkern.models.baselines.scorers import BaselineData as BaselineData
from seqkern.models.baselines.scorers import applicable as applicable
from seqkern.models.baselines.scorers import decide as decide
from seqkern.models.baselines.scorers import too_costly as too_costly
