"""The table and the figures of the importance of positions, as files."""

from __future__ import annotations

from pathlib import Path

from seqkern.core.archive import atomic_write
from seqkern.core.tsv import write_tsv
from seqkern.explain.positions import Positions
from seqkern.explain.positions_page import pictures
from seqkern.figures.svg import as_file

TABLE = "importance.tsv"
PICTURES = ("importance.svg", "logo.svg", "importance-section.svg", "logo-section.svg")


def write_positions(positions: Positions, out_dir: Path, label: str) -> None:
    """Write the table and the figures; outdated figures of an earlier run are removed.

    Parameters
    ----------
    positions : Positions
        The content.
    out_dir : Path
        The folder.
    label : str
        Name of the model, for text alternatives of the figures.

    Raises
    ------
    FileError
        If a file cannot be written.
    """
    drawn = pictures(positions, label)
    write_tsv(out_dir / TABLE, ("order", "position", "offset", "word", "value"), positions.rows())
    for name, svg in drawn.items():
        with atomic_write(out_dir / name, "w") as file:
            file.write(as_file(svg))
    for name in set(PICTURES) - set(drawn):
        (out_dir / name).unlink(missing_ok=True)


def remove_positions(out_dir: Path) -> None:
    """Remove the files of an earlier run.

    Parameters
    ----------
    out_dir : Path
        The folder that `write_positions` wrote to.
    """
    for name in (TABLE, *PICTURES):
        (out_dir / name).unlink(missing_ok=True)
