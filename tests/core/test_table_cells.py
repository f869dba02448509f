"""Tables of any kind as cells: TSV, CSV, semicolons and Excel."""

import gzip
import io
import sys
import time
import zipfile

import pytest

from seqkern.core import tsv
from seqkern.core.errors import FileError, SequenceError
from seqkern.core.tsv import is_excel, read_cells

ROWS = [["id", "label", "note"], ["a1", "1", "x, y"], ["007", "NA", ""], ["b", "0.5", "z; w"]]


def excel(path, rows, sheets=1):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    for _ in range(sheets - 1):
        book.create_sheet().append(["other"])
    book.save(path)
    return path


@pytest.mark.parametrize("mark", ["\t", ";", ","])
def test_the_first_line_says_what_separates_the_cells(tmp_path, mark):
    quoted = [[f'"{cell}"' if mark in cell else cell for cell in row] for row in ROWS]
    text = "\ufeff" * (mark == ";") + "\r\n".join(mark.join(row) for row in quoted) + "\r\n\r\n"
    path = tmp_path / "t.txt"
    path.write_bytes(gzip.compress(text.encode()))
    assert read_cells(path) == ROWS


def test_excel_has_the_same_cells_as_text(tmp_path):
    rows = [
        ["id", "label", None, "note"],
        ["a1", 1, None, "x, y"],
        [],
        ["007", "NA", None, ""],
        ["b", 0.5, None, "z; w"],
    ]
    path = excel(tmp_path / "labels.txt", rows, sheets=2)  # the content decides, not the name
    assert is_excel(path)
    assert read_cells(path) == ROWS


def test_an_empty_sheet(tmp_path):
    with pytest.raises(SequenceError, match="has an empty first sheet; put the table on"):
        read_cells(excel(tmp_path / "e.xlsx", []))


def test_excel_without_its_package_is_one_line(tmp_path, monkeypatch):
    path = excel(tmp_path / "t.xlsx", ROWS)
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(FileError, match=r'needs the package openpyxl; install it: pip install "seqkern\[excel\]"'):
        read_cells(path)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("id,label\na,1,2\n", "line 2 has 3 cells, the first line has 2; use commas"),
        ("id;label\na\n", "line 2 has 1 cells, .*use semicolons"),
        ('id,label\n"a,1\n', "is not CSV: .*check the quotes"),
    ],
)
def test_lines_that_do_not_fit(text, words):
    with pytest.raises(SequenceError, match=words):
        read_cells(io.StringIO(text))


def test_a_word_document_is_not_a_table(tmp_path):
    import zipfile

    with zipfile.ZipFile(tmp_path / "t.docx", "w") as archive:
        archive.writestr("word/document.xml", "<w/>")
    assert not is_excel(tmp_path / "t.docx")
    with pytest.raises(FileError, match=r"is a Word file, not text; save it as plain text"):
        read_cells(tmp_path / "t.docx")


@pytest.mark.parametrize("most", [50_000, tsv.MOST_EMPTY])
@pytest.mark.parametrize(
    "rows",
    [
        lambda most: b"".join(b'<row r="%d"/>' % i for i in range(10, 2 * most)),
        lambda _: b"".join(b'<row r="%d"><c r="XFD%d"><v>1</v></c></row>' % (i, i) for i in range(10, 9000)),
        lambda _: b'<row r="1000000"><c r="A1000000"><v>1</v></c></row>',
    ],
    ids=["empty rows", "last column", "last row"],
)
def test_empty_cells_without_end_are_refused_soon(tmp_path, monkeypatch, rows, most):
    monkeypatch.setattr(tsv, "MOST_EMPTY", most)
    path, hostile = tmp_path / "a.xlsx", tmp_path / "hostile.xlsx"
    excel(path, [["id", "label"], ["d1", "x"]])
    with zipfile.ZipFile(path) as archive, zipfile.ZipFile(hostile, "w") as copy:
        for name in archive.namelist():
            part = archive.read(name)
            copy.writestr(
                name, part.replace(b"</sheetData>", rows(most) + b"</sheetData>") if "sheet1" in name else part
            )
    start = time.process_time()
    with pytest.raises(FileError, match=r"hostile\.xlsx: .*empty cells; delete the empty rows and columns"):
        read_cells(hostile)
    assert time.process_time() - start < 5


def test_some_empty_cells_are_left_out(tmp_path):
    path = tmp_path / "a.xlsx"
    excel(path, [["id", "label"], *[[]] * 5000, ["d1", *[""] * 300, "x"]])
    assert read_cells(path) == [["id", "label", ""], ["d1", "", "x"]]
