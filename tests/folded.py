"""A fold evaluated from kernel sources that were made by hand."""

from dataclasses import dataclass, replace

from seqkern.methods import crossval
from seqkern.methods.fitted import Search
from seqkern.methods.method import Method
from seqkern.methods.sources import FitData


@dataclass(frozen=True)
class InnerLoop:
    """What is done within each training set besides training."""

    folds: int = 3
    metric: str = "auto"
    seed: int = 1
    rule: str = "best"
    calibration: str | None = None
    threshold: str | None = None


def evaluate_fold(
    task, split, sources, candidates, inner, *, groups=None, selection_bias=False, residues=None, layers=()
):
    """Return the FoldResult of a task's split, of candidates with the kernels behind some sources."""
    method = Method(
        {name: source.kernel for name, source in sources.items()},
        candidates,
        layers=layers,
        calibration=inner.calibration,
        threshold=inner.threshold,
        search=Search(inner.folds, inner.metric, inner.seed, inner.rule),
    )
    labels = task.labels if groups is None else replace(task.labels, groups=groups)
    data = FitData(labels, sources, residues)
    return crossval.evaluate_fold(method, data, split, task=task.name, selection_bias=selection_bias)
