"""Argument types shared by many modules."""

import os
from collections.abc import Sequence
from typing import IO, Any

import numpy as np
import numpy.typing as npt

PathLike = str | os.PathLike[str]
Source = PathLike | IO[str] | IO[bytes]
"""A path, ``"-"`` for standard input, or an open file, as `seqkern.core.text_files.open_lines` reads it."""
Ids = Sequence[str]
"""The ids of samples: a list, or numbers that need no memory (`seqkern.sequences.fasta.RecordNumbers`)."""
Rows = slice | Sequence[int] | npt.NDArray[np.integer[Any]] | npt.NDArray[np.bool_]
"""Selection of samples: an integer array, a boolean mask or a slice."""
Targets = npt.NDArray[Any] | None
"""What a solver or a kernel learns: class codes, signs or numbers; None without labels."""
Header = dict[str, Any]
"""The JSON part of a stored object."""
Array = npt.NDArray[Any]
Codes = npt.NDArray[np.uint8]
"""Residues by their numbers in an alphabet, or other bytes."""
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Indices = Ints
"""Row numbers, counted from 0."""
Bools = npt.NDArray[np.bool_]
Arrays = dict[str, npt.NDArray[Any]]
"""The arrays of a stored object, by name."""
