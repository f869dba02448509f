"""Damaged data sets: refused with one line, or used without a traceback."""

import os

import numpy as np
import pytest
from damage import damage

from seqkern.core.errors import FileError, SeqkernError
from seqkern.evaluation import make_folds
from seqkern.study import load_dataset, make_dataset, save_dataset
from seqkern.study.dataset import summary

TRIES = int(os.environ.get("SEQKERN_DAMAGED", "30"))
"""Damaged copies of each data set; thousands by hand."""
SEED = int(os.environ.get("SEQKERN_DAMAGED_SEED", "7"))
FAMILIES = {"kind": "superfamilies", "n_superfamilies": 2, "n_families": 4, "n_members": 4, "length": 30}
ENTRIES = {
    "sequences": {"simulate": {"kind": "donor", "n_positive": 8, "n_decoy": 12}},
    "families": {"simulate": FAMILIES, "tasks": "families"},
    "residues": {
        "simulate": {"kind": "secondary_structure", "n_chains": 4, "mean_length": 20},
        "residues": {"window": 7},
    },
    "features": {"features": "table.csv", "labels": {"label": "class"}},
    "dissimilarities": {"dissimilarities": "square.csv"},
}


@pytest.fixture(scope="module")
def intact(tmp_path_factory):
    """Folders of saved data sets, by kind."""
    folder = tmp_path_factory.mktemp("intact")
    rows = [f"s{i},{i},{i % 3},{'01'[i % 2]}" for i in range(12)]
    (folder / "table.csv").write_text("\n".join(["id,x,y,class", *rows]))
    square = [",".join(str(abs(i - j)) for j in range(6)) for i in range(6)]
    (folder / "square.csv").write_text("".join(f"{'01'[i % 2]},{square[i]}\n" for i in range(6)))
    for name, entry in ENTRIES.items():
        save_dataset(make_dataset(name, entry, folder), folder / name)
    return folder


def use(folder):
    """Load a data set, and do with it what commands do."""
    dataset = load_dataset(folder)
    summary(dataset)
    repr(dataset.X), dataset.X.take([0]), dataset.X.ids[0].encode(errors="backslashreplace")
    if dataset.residues is not None:
        dataset.residues.states()
    for task in dataset.tasks.values():
        labels = task.labels.take(task.used())
        labels.names(), labels.digest(), labels.by_chromosome
        make_folds(labels, k=2, seed=1)


@pytest.mark.parametrize("kind", ENTRIES)
def test_a_damaged_data_set_is_refused_with_one_line(intact, tmp_path, kind):
    rng, refused = np.random.default_rng(SEED), 0
    for _ in range(TRIES):
        damage(intact / kind / "data.npz", tmp_path / "data.npz", rng)
        try:
            use(tmp_path)
        except SeqkernError as error:
            assert "\n" not in str(error)  # noqa: PT017 - most are used, or fail later
            refused += isinstance(error, FileError) and str(error).startswith(f"{tmp_path / 'data.npz'}: is ")
    assert refused > TRIES // 2
