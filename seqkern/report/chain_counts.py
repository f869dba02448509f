"""How many chains the parts of the folds of residues have."""

import numpy as np

from seqkern.report.dataset_results import KEYS, DatasetResults
from seqkern.report.files import read_table, rows_by_value

PARTS = {"train": "training", "test": "test"}


def chain_counts(dataset: DatasetResults) -> dict[tuple[str, str], dict[str, int]]:
    """Return {(task, split): {"train": chains, "test": chains}} by the tables of folds; empty where there are none.

    Parameters
    ----------
    dataset : DatasetResults
        Results of the data set.

    Returns
    -------
    dict
        Empty unless the samples are residues with tables of folds.
    """
    if not dataset.residues or dataset.composition is None:
        return {}
    found = {}
    for task, rows in rows_by_value(dataset.composition[KEYS].drop_duplicates(), "task"):
        table = read_table(dataset.folder("folds") / f"{task}.tsv", ["id"])
        if table is None:
            continue
        chains = np.array([name.rpartition(":")[0] for name in table["id"]])
        for split in rows["split"]:
            if split in table:
                part = table[split].to_numpy()
                found[task, split] = {name: len(np.unique(chains[part == name])) for name in PARTS}
    return found
