"""Motifs of a model of a data set, as `seqkern motifs` wrote them."""

from collections.abc import Mapping

from seqkern.core.markup import Markup, tag
from seqkern.core.tsv import read_tsv
from seqkern.figures.html_table import Column, table
from seqkern.figures.numbers import number
from seqkern.kernels.motifs.sets import MotifSet
from seqkern.motifs.page import logo, scrolling
from seqkern.report.view import View, paragraph
from seqkern.sequences.alphabets import as_alphabet

MOST_LOGOS = 12
EXPLANATION = (
    "Stretches of sequence that contribute much to the decisions were aligned and merged. The share is that of their "
    "contributions in the sum of all absolute contributions. Motifs named positive raise the decision value, those "
    "named negative lower it."
)


def motifs_section(view: View) -> Markup | None:
    """Return the table and the logos of motifs; None where there are none.

    Parameters
    ----------
    view : View
        The data set, as the page shows it.

    Returns
    -------
    Markup or None
        None without ``motifs.tsv`` and ``motifs.meme`` in the folder ``motifs`` of the data set.
    """
    folder = view.dataset.folder("motifs")
    if not (folder / "motifs.tsv").is_file() or not (folder / "motifs.meme").is_file():
        return None
    rows = read_tsv(folder / "motifs.tsv")
    matrices = MotifSet.from_file(str(folder / "motifs.meme")).matrices
    figures = [
        scrolling(_caption(row), logo(matrix.name, matrix.counts, as_alphabet(matrix.letters)))
        for row, matrix in zip(rows, matrices[:MOST_LOGOS], strict=False)
    ]
    return view.section("motifs", "Motifs", paragraph(EXPLANATION), _table(rows), *figures)


def _caption(row: Mapping[str, str]) -> str:
    """Return what is written above a logo."""
    nearest = f"; nearest known motif: {row['known']}" if row.get("known") else ""
    return f"{row['motif']} ({row['class']}): {row['consensus']}, {row['sites']} sites{nearest}"


def _table(rows: list[dict[str, str]]) -> Markup:
    """Return the table of motifs."""
    columns = [
        Column("motif", numeric=False),
        Column("class", numeric=False),
        Column("consensus", numeric=False),
        Column("sites", hint="seqlets, or k-mers of greatest weight"),
        Column("share", hint="of the sum of absolute contributions"),
    ]
    known = any(row.get("known") for row in rows)
    if known:
        columns += [Column("nearest known", numeric=False), Column("p"), Column("q"), Column("r", hint="correlation")]
    body: list[list[object]] = []
    for row in rows:
        cells: list[object] = [row["motif"], row["class"], tag("code", row["consensus"])]
        cells += [number(int(row["sites"]), 0), number(float(row["share"]), 3)]
        if known:
            values = (f"{float(row[name]):.2g}" for name in ("p", "q"))
            cells += [row["known"], *values, number(float(row["correlation"]), 2)]
        body.append(cells)
    return table("Motifs", columns, body)
