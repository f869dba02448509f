"""Tables as text."""

import math

import pytest

from seqkern.core.errors import FileError
from seqkern.core.tsv import read_tsv, write_tsv


def test_round_trip_with_a_fixed_form_of_numbers(tmp_path):
    path = tmp_path / "table.tsv"
    rows = [{"id": "a", "x": 0.1 + 0.2, "n": 3}, {"id": "b\tc\nd", "x": math.nan}]
    write_tsv(path, ["id", "x", "n"], rows)
    assert path.read_bytes() == b"id\tx\tn\na\t0.3\t3\nb c d\t\t\n"
    assert read_tsv(path) == [{"id": "a", "x": "0.3", "n": "3"}, {"id": "b c d", "x": "", "n": ""}]


def test_a_ragged_table_is_an_error_with_its_line(tmp_path):
    path = tmp_path / "table.tsv"
    path.write_text("a\tb\n1\t2\n3\n")
    with pytest.raises(FileError, match="line 3"):
        read_tsv(path)


def test_a_missing_table_is_one_line(tmp_path):
    with pytest.raises(FileError, match=r"none\.tsv: no such file; check the path"):
        read_tsv(tmp_path / "none.tsv")
