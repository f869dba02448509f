"""Which samples the folds kept together, by the tables of folds."""

from __future__ import annotations

from seqkern.report.dataset_results import KEYS, DatasetResults
from seqkern.report.files import read_table, rows_by_value

GROUP = "group"


def sample_groups(dataset: DatasetResults) -> dict[str, dict[str, str]]:
    """Return the group of each sample, by task.

    Parameters
    ----------
    dataset : DatasetResults
        Results of the data set.

    Returns
    -------
    dict of str to dict of str to str
        Without tasks whose folds have no groups, and empty without tables of folds.
    """
    if dataset.composition is None:
        return {}
    found = {}
    for task, _ in rows_by_value(dataset.composition[KEYS].drop_duplicates(), "task"):
        table = read_table(dataset.folder("folds") / f"{task}.tsv", ["id"])
        if table is not None and GROUP in table:
            found[task] = dict(zip(table["id"], table[GROUP], strict=True))
    return found
