"""Tables as text."""

import json
import math
import zipfile

import pytest

from seqkern.core.errors import FileError
from seqkern.core.tsv import check_ending, read_cells, read_tsv, write_tsv


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


ROWS = [["007", 1, 0.25, "=1+1"], ["b, c", None, -3.0, '"x"']]


@pytest.mark.parametrize("ending", ["tsv", "csv", "json", "xlsx", "parquet"])
def test_a_table_is_written_as_its_ending_says(tmp_path, ending):
    path = tmp_path / f"t.{ending}"
    write_tsv(path, ["id", "n", "x", "text"], ROWS)
    if ending == "json":
        found = [list(row.values()) for row in json.loads(path.read_text())]
    elif ending == "parquet":
        table = pytest.importorskip("pyarrow.parquet").read_table(path)
        found = [list(row.values()) for row in table.to_pylist()]
    else:
        found = read_cells(path)[1:]
    typed = [["007", 1, 0.25, "=1+1"], ["b, c", None, -3.0, '"x"']]
    assert found == (
        typed if ending in ("json", "parquet") else [["007", "1", "0.25", "=1+1"], ["b, c", "", "-3", '"x"']]
    )
    if ending == "xlsx":
        cell = pytest.importorskip("openpyxl").load_workbook(path).active["D2"]
        assert (cell.value, cell.data_type) == ("=1+1", "s")
        with zipfile.ZipFile(path) as parts:  # equal tables are equal files
            assert {part.date_time[0] for part in parts.infolist()} == {1980}
            assert parts.read("docProps/core.xml").count(b">1980-01-01T00:00:00Z<") == 2


def test_a_table_without_rows(tmp_path):
    for ending in ("csv", "json", "xlsx", "parquet"):
        write_tsv(tmp_path / f"t.{ending}", ["id", "n"], [])
    assert (tmp_path / "t.csv").read_text() == "id,n\n"
    assert json.loads((tmp_path / "t.json").read_text()) == []


@pytest.mark.parametrize("name", ["t.xls", "t.tsv.zip", "t.json.gz", "t.doc.gz"])
def test_an_ending_of_no_format_is_refused(name):
    with pytest.raises(FileError, match=r"is not an ending of this output; end it in \.tsv, \.json or \.gz$"):
        check_ending(name, (".tsv", ".json", ".gz"))
    for good in ("t", "t.tsv", "t.tsv.gz", "t.gz", "T.JSON"):
        check_ending(good, (".tsv", ".json", ".gz"))
