"""Samples without a label: how many a data set has, and which methods learn from them."""

from seqkern.report.dataset_results import DatasetResults
from seqkern.report.sentences import enumerate_names


def count_unlabelled(dataset: DatasetResults) -> int:
    """Return how many samples of a data set have no label in its only task.

    Parameters
    ----------
    dataset : DatasetResults
        Results of the data set.

    Returns
    -------
    int
        0 if there are several tasks, each of which has its own samples.
    """
    tasks = list(dataset.tasks.values())
    return int(tasks[0].get("unlabelled", 0)) if len(tasks) == 1 else 0


def unlabelled_use(dataset: DatasetResults) -> str:
    """Return what becomes of samples without a label: in which training sets they are.

    Parameters
    ----------
    dataset : DatasetResults
        Results of the data set.

    Returns
    -------
    str
        Such as ``in every training set of label_propagation``, with the names of the study.
    """
    learning = [method for method in dataset.methods if _learns(dataset, *method)]
    if not learning:
        return "left out"
    names: dict[str, None] = {}
    for kernel, solver in learning:
        every = all(method in learning for method in dataset.methods if method.solver == solver)
        names[solver if every else f"{solver} with {kernel}"] = None
    return f"in every training set of {enumerate_names(names)}"


def _learns(dataset: DatasetResults, kernel: str, solver: str) -> bool:
    """Return whether a method learns from samples without a label, as `Method.accepts_unlabelled` says."""
    entry = dataset.solver(solver)
    if entry.layer_specs or not entry.grid or not all(one.accepts_unlabelled for one in entry.grid):
        return False
    built = [one.built for one in dataset.kernel(kernel).candidates]
    return not any(one is None or one.data_dependent for one in built)
