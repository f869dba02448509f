"""Public sets that are one table for each part: train, dev and test."""

import lzma

import numpy as np
import pytest

from seqkern.core.errors import SequenceError
from seqkern.evaluation import make_folds
from seqkern.sequences.labels import make_labels
from seqkern.study import Task
from seqkern.study.adapters import tables_of_parts

ROWS = {
    "train": [("ACGTACGT", 1), ("TTGACCNA", 0), ("ACGTTTTT", 1), ("GGGGACCA", 0)],
    "dev": [("ACGTAAAA", 1), ("CCCCACCA", 0)],
    "test": [("ACGTCCCC", 1), ("TTTTACCA", 0)],
}


@pytest.fixture
def paths(tmp_path):
    found = {}
    for part, rows in ROWS.items():
        found[part] = tmp_path / f"{part}.csv.xz"
        text = "sequence,label\n" + "".join(f"{sequence},{label}\n" for sequence, label in rows)
        found[part].write_bytes(lzma.compress(text.encode()))
    return found


def test_parts_become_folds_with_a_development_part(paths):
    parts = tables_of_parts(paths, {"alphabet": "dna", "unknown": "skip"})
    left = [(part, row) for part, rows in ROWS.items() for row in rows if "N" not in row[0]]
    assert parts.X.strings() == [sequence for _, (sequence, _) in left]
    assert parts.columns == {
        "label": [str(label) for _, (_, label) in left],
        "split": [part for part, _ in left],
    }
    assert parts.X.ids[:3] == ["train-1", "train-3", "train-4"]
    task = Task("all", make_labels(parts.X.ids, parts.columns["label"]), np.array(parts.columns["split"]))
    foldset = make_folds(task.labels, method="predefined", roles=task.split)
    assert [parts.X.ids[row] for row in np.flatnonzero(foldset.dev)] == ["dev-1", "dev-2"]
    assert [parts.X.ids[row] for row in foldset.splits[0].test] == ["test-1", "test-2"]


def test_bad_tables_are_named(paths):
    paths["dev"].write_bytes(lzma.compress(b"label,sequence\n1,ACGT\n"))
    with pytest.raises(SequenceError, match="has the columns label, sequence") as caught:
        tables_of_parts(paths, {"alphabet": "dna"})
    assert caught.value.file == paths["dev"]
    paths["dev"].write_bytes(lzma.compress(b"sequence,label\nAC?T,1\n"))
    with pytest.raises(SequenceError, match="letter '\\?'") as caught:
        tables_of_parts(paths, {"alphabet": "dna"})
    assert (str(caught.value.file), caught.value.record) == (str(paths["dev"]), "dev-1")
