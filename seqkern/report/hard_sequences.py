"""The sequences of single samples, from the stored data set, cut to what a table can show."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from seqkern.core.markup import Markup, tag
from seqkern.datasets.dataset import load_dataset
from seqkern.report.dataset_results import DatasetResults
from seqkern.sequences.sequence_set import SequenceSet

MOST_RESIDUES = 60
"""Of a sequence, in a cell of a table."""

SHADES = 0.55
"""Of the strongest weight; text on it still has enough contrast."""


def stored_sequences(dataset: DatasetResults, ids: Iterable[str]) -> dict[str, str]:
    """Return the sequences of samples by their ids; empty where the data set is not stored, or holds no sequences.

    Parameters
    ----------
    dataset : DatasetResults
        Results of the data set.
    ids : iterable of str
        Of the samples.

    Returns
    -------
    dict of str to str
        Upper case, ``*`` for masked letters.

    Raises
    ------
    FileError
        If the stored data set is damaged.
    """
    folder = dataset.folder("datasets")
    if not (folder / "data.npz").exists():
        return {}
    X = load_dataset(folder).X
    if not isinstance(X, SequenceSet):
        return {}
    row = {name: i for i, name in enumerate(map(str, X.ids))}
    return {name: X.string(row[name]) for name in ids if name in row}


def shown_part(length: int, centre: int | None = None) -> tuple[int, int]:
    """Return which part of a sequence is shown: all of a short one, of a long one a window.

    Parameters
    ----------
    length : int
        Of the sequence.
    centre : int, optional
        The residue to be shown in the middle; by default the window is at the start.

    Returns
    -------
    start, stop : int

    Examples
    --------
    >>> shown_part(40), shown_part(500), shown_part(500, 250), shown_part(500, 495)
    ((0, 40), (0, 60), (220, 280), (440, 500))
    """
    if length <= MOST_RESIDUES:
        return 0, length
    start = 0 if centre is None else min(max(0, centre - MOST_RESIDUES // 2), length - MOST_RESIDUES)
    return start, start + MOST_RESIDUES


def sequence_cell(
    sequence: str,
    weights: Sequence[float] | npt.NDArray[np.float64] | None = None,
    largest: float = 1.0,
    centre: int | None = None,
) -> Markup:
    """Return a sequence in fixed width, its residues shaded by weights where there are any.

    Parameters
    ----------
    sequence : str
        Of any length; of a long one a part is shown, with its length.
    weights : sequence of float, optional
        One for each residue: positive ones are shaded blue, negative ones orange.
    largest : float, default 1.0
        The weight of the darkest shade.
    centre : int, optional
        As for `shown_part`.

    Returns
    -------
    Markup

    Examples
    --------
    >>> sequence_cell("ACGT")
    '<code class="sequence">ACGT</code>'
    """
    start, stop = shown_part(len(sequence), centre)
    shown = sequence[start:stop]
    letters: list[object] = [shown]
    if weights is not None and largest > 0:
        letters = [_letter(letter, weight / largest) for letter, weight in zip(shown, weights[start:stop], strict=True)]
    ends = ["…" if start else None, "…" if stop < len(sequence) else None]
    code = tag("code", ends[0], letters, ends[1], class_="sequence")
    return code if len(shown) == len(sequence) else Markup(code + tag("small", f" {len(sequence)} residues"))


def _letter(letter: str, weight: float) -> Markup:
    """Return one residue with its shade."""
    share = SHADES * min(1.0, abs(weight))
    if share < 0.03:
        return tag("i", letter)
    return tag("i", letter, class_="for" if weight > 0 else "against", style=f"--w:{share:.2f}")
