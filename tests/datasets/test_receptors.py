"""Public receptors: one sample for each receptor, a task for each epitope, a sequence view for each loop."""

import numpy as np
import pytest

from seqkern.core.errors import SequenceError
from seqkern.kernels import build_kernel
from seqkern.study import DataEntry
from seqkern.study.adapters import LOOPS, receptors

HEADER = "\t".join(["epitope", "part", "label", *LOOPS])
ROWS = [
    ("NLV", "train", "1", "CAVF"),
    ("NLV", "train", "-1", "CAGF"),
    ("NLV", "test", "1", "CAGF"),  # the same receptor in both parts: two samples
    ("NLV", "test", "-1", "CAYF"),
    ("GLC", "train", "1", "CAGF"),
    ("GLC", "train", "-1", "CAVF"),
    ("GLC", "test", "1", "CASF"),
    ("GLC", "test", "-1", "CAYF"),
    ("GIL", "test", "1", "CAVF"),  # an epitope without a training part is no task
]


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "tcr.tsv"
    lines = ["\t".join([*row[:3], "NSA", "VYS", row[3], "SGH", "YFN", "CASSF"]) for row in ROWS]
    path.write_text("\n".join([HEADER, *lines]) + "\n")
    return path


def test_every_row_of_a_task_is_a_sample_with_its_role(table):
    parts = receptors({"table": table}, {})
    assert list(parts.roles) == ["GLC", "NLV"]
    assert len(parts.X) == 5  # CAVF, CAGF twice, CAYF, CASF
    loops = parts.X.view("a3").strings()
    for task, own in parts.roles.items():
        found = sorted((role, loop) for role, loop in zip(own, loops, strict=True) if role)
        sign = {"1": "positive", "-1": "negative"}
        assert found == sorted((f"{sign[row[2]]}-{row[1]}", row[3]) for row in ROWS if row[0] == task)


def test_loops_are_views_that_kernels_name(table):
    X = receptors({"table": table}, {}).X
    assert tuple(X.views) == LOOPS == DataEntry.parse({"public": "immrep22"}).sequence_views
    own = build_kernel({"kernel": "spectrum", "k": 2, "view": "a3"})(X)
    assert np.allclose(own, build_kernel({"kernel": "spectrum", "k": 2})(X.view("a3")))


def test_a_table_without_epitopes(table):
    table.write_text(table.read_text().replace("epitope", "peptide", 1))
    with pytest.raises(SequenceError, match="has no column 'epitope'"):
        receptors({"table": table}, {})
