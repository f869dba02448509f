"""The importance of positions in windows, letters of the windows, and names of the positions; as files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from seqkern.core.archive import load_archive, save_archive
from seqkern.core.errors import ParameterError
from seqkern.core.file_kinds import IMPORTANCE
from seqkern.core.types import PathLike
from seqkern.explain.poim import MOST_ORDER, Importance, LetterMeans, has_poim, poim
from seqkern.sequences.alphabets import alphabet_from_state

if TYPE_CHECKING:
    from seqkern.models.affine import AffineForm
    from seqkern.models.model import Model

SECTION, WHOLE = 71, 90
MANY_LETTERS = 5


@dataclass(frozen=True, eq=False)
class Positions:
    """The importance of positions, and the data drawn with it.

    Attributes
    ----------
    importance : Importance
        Importance of L positions.
    counts : ndarray of int64, shape (L, letters), or None
        Number of windows with each letter at each position, for windows shown beside it.
    windows : str
        Description of these windows: ``"200 windows of class donor"``.
    classes : tuple of str
        (negative, positive), or empty.
    first : int
        Name of the first position: its offset from the site, which is 0, or 1 if no site is known.
    section : (int, int) or None
        First and last position, by name, of a section to enlarge; None if the whole is small enough.

    Examples
    --------
    >>> from seqkern.sequences.alphabets import DNA
    >>> importance = Importance(DNA, 2, {1: np.array([[0.5, 0.0, -0.5, 0.0], [0.0, 0.1, 0.0, -0.1]])})
    >>> positions = Positions(importance, None, "", classes=("decoy", "donor"), first=-1)
    >>> positions.has_site, list(positions.rows())[4:6]
    (True, [(1, 2, 0, 'A', 0.0), (1, 2, 0, 'C', 0.1)])
    """

    importance: Importance
    counts: npt.NDArray[np.int64] | None
    windows: str
    classes: tuple[str, ...] = ()
    first: int = 1
    section: tuple[int, int] | None = None

    @property
    def has_site(self) -> bool:
        """Whether the names of the positions are offsets from a site."""
        return self.first <= 0

    def rows(self) -> Iterator[tuple[int, int, int | None, str, float]]:
        """Yield the rows of the table: order, position from 1, offset or None, k-mer, value."""
        for order, matrix in self.importance.matrices.items():
            words = self.importance.words(order)
            for place, values in enumerate(matrix.tolist()):
                offset = place + self.first if self.has_site else None
                for word, value in zip(words, values, strict=True):
                    yield order, place + 1, offset, word, value

    def save(self, path: PathLike) -> None:
        """Write everything to one file for `load_positions`.

        Parameters
        ----------
        path : path-like
            The file.

        Raises
        ------
        FileError
            If it cannot be written.
        """
        arrays: dict[str, npt.NDArray[Any]] = {
            f"matrix{order}": matrix for order, matrix in self.importance.matrices.items()
        }
        for name, array in (("background", self.importance.background), ("counts", self.counts)):
            if array is not None:
                arrays[name] = array
        header = {
            **IMPORTANCE.stamp(),
            "alphabet": asdict(self.importance.alphabet),
            "windows": self.windows,
            "classes": list(self.classes),
            "first": self.first,
            "section": self.section,
        }
        save_archive(path, header, arrays)


def load_positions(path: PathLike) -> Positions:
    """Return the Positions written by `Positions.save`.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    Positions

    Raises
    ------
    FileError
        If there is no such file, or it is corrupted.
    """
    header, arrays = load_archive(path, IMPORTANCE)
    with IMPORTANCE.damaged(path):
        orders = [order for order in range(1, MOST_ORDER + 1) if f"matrix{order}" in arrays]
        matrices = {order: arrays[f"matrix{order}"] for order in orders}
        alphabet, length = alphabet_from_state(header["alphabet"]), len(matrices[1])
        for order, matrix in matrices.items():
            if matrix.shape != (length - order + 1, alphabet.size**order):
                raise ValueError("matrices that do not fit")
        section = header["section"]
        return Positions(
            Importance(alphabet, length, matrices, arrays.get("background")),
            arrays.get("counts"),
            str(header["windows"]),
            tuple(header["classes"]),
            int(header["first"]),
            None if section is None else (int(section[0]), int(section[1])),
        )


def positions_of(
    form: AffineForm,
    model: Model,
    means: LetterMeans | None,
    counts: npt.NDArray[np.int64] | None,
    windows: str,
    *,
    order: int | None = None,
    background: npt.ArrayLike | None = None,
    first: int | None = None,
    section: tuple[int, int] | None = None,
) -> Positions | None:
    """Return the Positions of an SVM, or None if its windows differ in length.

    Parameters
    ----------
    form : AffineForm
        The decision value as a weighted sum.
    model : Model
        Kind of model: two classes, or numbers.
    means : LetterMeans or None
        Over explained windows: used if the kernel has no importance matrices.
    counts : ndarray of int64, shape (L, letters), or None
        As in `Positions`.
    windows : str
        As in `Positions`.
    order : int, optional
        Length of the longest k-mers: by default 3, or 2 for more than 5 letters.
    background : {"uniform"} or array_like of float, shape (letters,), optional
        As in `poim`.
    first : int, optional
        Name of the first position: default: from the model's window, else 1.
    section : (int, int), optional
        The section to enlarge; default, for many positions: the most important ones.

    Returns
    -------
    Positions or None

    Raises
    ------
    ParameterError
        If the order or the background is invalid, or the section contains no position of the windows.
    """
    if has_poim(model.kernel):
        assert model.alphabet is not None
        order = order or (MOST_ORDER if model.alphabet.size <= MANY_LETTERS else 2)
        importance = poim(form, order, background)
    elif means is not None and means.counts is not None:
        importance = means.importance()
    else:
        return None
    if first is None:
        first = 1 if model.window is None else -model.window.left
    last = first + importance.length - 1
    if section is not None:
        section = _checked_section(section, first, last)
    elif importance.length > WHOLE:
        section = _largest_section(importance.position_weights(), first)
    return Positions(importance, counts, windows, tuple(model.classes), first, section)


def _checked_section(section: tuple[int, int], first: int, last: int) -> tuple[int, int]:
    """Return a section clipped to the windows; ParameterError if nothing is left."""
    low, high = max(section[0], first), min(section[1], last)
    if low > high:
        raise ParameterError(
            f"the section {section[0]} to {section[1]} is outside the windows",
            remedy=f"choose positions from {first} to {last}",
        )
    return low, high


def _largest_section(weights: npt.NDArray[np.float64], first: int) -> tuple[int, int]:
    """Return the first and last position of the section with the largest sum of weights; it includes the site."""
    sums = np.convolve(weights, np.ones(SECTION), mode="valid")
    if first <= 0:  # position 0 is at -first
        allowed = np.arange(len(sums))
        sums[(allowed > -first) | (allowed + SECTION <= -first)] = -np.inf
    start = int(np.argmax(np.round(sums, 12))) if len(sums) else 0
    return first + start, first + start + SECTION - 1
