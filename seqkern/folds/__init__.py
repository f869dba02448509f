"""Splits into training and test parts, and what leaks across them.

`foldset` makes splits and keeps them as files, `methods` names the ways to divide (pure functions in
`splitters`), `leakage` reports sequences that are alike in both parts (found by `overlaps`).
"""

from seqkern.folds.foldset import (
    FoldSet,
    Split,
    composition_rows,
    make_folds,
    read_folds,
    write_composition,
    write_folds,
)
from seqkern.folds.methods import METHODS

__all__ = [
    "METHODS",
    "FoldSet",
    "Split",
    "composition_rows",
    "make_folds",
    "read_folds",
    "write_composition",
    "write_folds",
]
