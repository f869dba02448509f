"""How much work alignments in vector lanes are: a group of records beside each other takes as long as a full one."""

import numpy as np
import numpy.typing as npt

from seqkern.sequences.sequence_set import SequenceSet

Lengths = npt.NDArray[np.int64]


def lane_cells(
    rows: SequenceSet,
    cols: SequenceSet | None,
    lanes: int,
    least: float = 0,
    most: float = np.inf,
    *,
    with_own: bool = True,
) -> float:
    """Return the pairs of residues of alignments in lanes, those of idle lanes included.

    Of each pair the longer record is the row, and the shorter one in a lane.

    Parameters
    ----------
    rows : SequenceSet
        The rows of the matrix.
    cols : SequenceSet or None
        Its columns; None for a symmetric matrix, half of which is computed.
    lanes : int
        Of a vector.
    least, most : float
        Only pairs of which the shorter record has more residues than `least`, and at most `most`.
    with_own : bool
        Whether a symmetric matrix has pairs of a record with itself.

    Returns
    -------
    float

    Examples
    --------
    >>> X = SequenceSet.from_strings(["ACGT"] * 3)
    >>> lane_cells(X, None, lanes=1), lane_cells(X, None, lanes=4), lane_cells(X, X, lanes=4)
    (96.0, 192.0, 192.0)
    """
    ours = np.sort(rows.lengths)
    theirs = ours if cols is None else np.sort(cols.lengths)
    span = slice(*np.searchsorted(theirs, (least, most), side="right"))
    reach = np.arange(len(ours)) + with_own if cols is None else np.searchsorted(theirs, ours, side="right")
    cells = _meetings(ours, theirs[span], reach - span.start, lanes)
    if cols is not None:
        span = slice(*np.searchsorted(ours, (least, most), side="right"))
        cells += _meetings(theirs, ours[span], np.searchsorted(ours, theirs, side="left") - span.start, lanes)
    return lanes * cells


def own_cells(X: SequenceSet, lanes: int, least: float = 0, most: float = np.inf, *, alone: bool = False) -> float:
    """Return the pairs of residues of the alignments of each record with itself, as `lane_cells`.

    Parameters
    ----------
    X : SequenceSet
        The records.
    lanes : int
        Of a vector.
    least, most : float
        Only records with more residues than `least`, and at most `most`.
    alone : bool
        Whether each record has a vector of its own.

    Returns
    -------
    float
    """
    lengths = np.sort(X.lengths[(X.lengths > least) & (X.lengths <= most)])
    longest = (lengths if alone else lengths[::-1][::lanes]).astype(np.float64)
    return float(lanes * (longest @ longest))


def _meetings(rows: Lengths, lanes: Lengths, reach: Lengths, size: int) -> float:
    """Return Σ of the length of each row times the longest of each group of the `reach` shortest lanes."""
    reach = np.clip(reach, 0, len(lanes))
    ends = np.concatenate(([0.0], np.cumsum(lanes[size - 1 :: size], dtype=np.float64)))
    rest = np.where(reach % size > 0, np.append(lanes, 0)[reach - 1], 0)
    return float(rows @ (ends[reach // size] + rest))
