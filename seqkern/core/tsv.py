"""Tables as tab-separated text: one header line, numbers in a fixed form, so that equal tables are equal bytes."""

import math
from collections.abc import Iterable, Sequence
from os import PathLike

from seqkern.core.archive import atomic_write
from seqkern.core.errors import FileError


def format_cell(value: object) -> str:
    """Return a cell's text: floats to 10 significant digits, empty for None and NaN; never a tab or a line end."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, float):
        return f"{value:.10g}"
    return " ".join(str(value).split("\t")).replace("\n", " ").replace("\r", " ")


def write_tsv(path: str | PathLike, columns: Sequence[str], rows: Iterable[Iterable[object]]) -> None:
    """Write a table atomically.

    Parameters
    ----------
    path : path-like
    columns : sequence of str
    rows : iterable of dict or sequence
        Dicts by column name (a missing key is an empty cell), or values in the order of `columns`.

    Raises
    ------
    FileError
        If the file cannot be written.
    """
    with atomic_write(path, "w") as file:
        file.write("\t".join(columns) + "\n")
        for row in rows:
            cells = [row.get(name) for name in columns] if isinstance(row, dict) else row
            file.write("\t".join(map(format_cell, cells)) + "\n")


def read_utf8(path: str | PathLike, *, remedy: str) -> str:
    """Return the text of a file with its ends of lines as they are.

    Raises
    ------
    FileError
        If the file cannot be read, with this remedy, or is no text.
    """
    try:
        with open(path, encoding="utf-8", newline="") as file:
            return file.read()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not UTF-8 text"
        raise FileError(f"cannot be read: {reason}", file=path, remedy=remedy) from error


def read_tsv(path: str | PathLike) -> list[dict[str, str]]:
    """Read a table as a list of dicts of str.

    Raises
    ------
    FileError
        If the file is missing, no text, or has a line with another number of cells than its header.
    """
    lines = [line.removesuffix("\r") for line in read_utf8(path, remedy="check the path").split("\n")]
    columns = lines[0].split("\t")
    rows = []
    for number, line in enumerate(lines[1:], start=2):
        if not line:
            continue
        cells = line.split("\t")
        if len(cells) != len(columns):
            raise FileError(
                f"line {number} has {len(cells)} cells, the header {len(columns)}", file=path, remedy="mend the line"
            )
        rows.append(dict(zip(columns, cells, strict=True)))
    return rows
