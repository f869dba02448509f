"""What matters at each position of windows: importance, letters of the windows, names of the positions; as files."""

from dataclasses import asdict, dataclass

import numpy as np

from seqkern.core.archive import atomic_write, load_archive, save_archive
from seqkern.core.errors import FileError, ParameterError
from seqkern.core.tsv import write_tsv
from seqkern.explain.poim import MOST_ORDER, Importance, has_poim, poim
from seqkern.figures.svg import as_file
from seqkern.sequences.alphabets import Alphabet

FORMAT = "seqkern importance 1"
SECTION, WHOLE = 71, 90
MANY_LETTERS = 5
TABLE = "importance.tsv"
PICTURES = ("importance.svg", "logo.svg", "importance-section.svg", "logo-section.svg")


@dataclass(frozen=True, eq=False)
class Positions:
    """The importance of positions, and what is drawn with it.

    Attributes
    ----------
    importance : Importance
    counts : ndarray of int64, shape (L, letters), or None
        Of windows whose letters are shown beside it: how many carry each letter at each position.
    windows : str
        What these windows are: ``"200 windows of class donor"``.
    classes : tuple of str
        (negative, positive), or empty.
    first : int
        What the first position is called: its offset from the site, which is 0, or 1 if no site is known.
    section : (int, int) or None
        First and last position, by their names, of a part to be drawn larger; None: the whole is small enough.
    """

    importance: Importance
    counts: np.ndarray | None
    windows: str
    classes: tuple = ()
    first: int = 1
    section: tuple | None = None

    @property
    def has_site(self):
        """Whether the names of the positions are offsets from a site."""
        return self.first <= 0

    def rows(self):
        """Yield the rows of the table: order, position from 1, offset or None, word, value."""
        for order, matrix in self.importance.matrices.items():
            words = self.importance.words(order)
            for place, values in enumerate(matrix.tolist()):
                offset = place + self.first if self.has_site else None
                for word, value in zip(words, values, strict=True):
                    yield order, place + 1, offset, word, value

    def save(self, path):
        """Write everything to one file, which `load_positions` reads; FileError if it cannot be written."""
        arrays = {f"matrix{order}": matrix for order, matrix in self.importance.matrices.items()}
        for name, array in (("background", self.importance.background), ("counts", self.counts)):
            if array is not None:
                arrays[name] = array
        header = {
            "format": FORMAT,
            "alphabet": asdict(self.importance.alphabet),
            "windows": self.windows,
            "classes": list(self.classes),
            "first": self.first,
            "section": self.section,
        }
        save_archive(path, header, arrays)


def load_positions(path):
    """Return the Positions that `Positions.save` wrote; FileError if there is no such file, or it is damaged."""
    header, arrays = load_archive(path)
    try:
        if header["format"] != FORMAT:
            raise ValueError("another format")
        orders = [order for order in range(1, MOST_ORDER + 1) if f"matrix{order}" in arrays]
        matrices = {order: arrays[f"matrix{order}"] for order in orders}
        alphabet, length = Alphabet(**header["alphabet"]), len(matrices[1])
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
    except (KeyError, TypeError, ValueError) as error:
        raise FileError("holds no importance of positions", file=path, remedy="make it again") from error


def positions_of(form, model, means, counts, windows, *, order=None, background=None, first=None, section=None):
    """Return the Positions of a machine, or None where its windows have no one length.

    Parameters
    ----------
    form : AffineForm
    model : Model
        Of one machine.
    means : LetterMeans or None
        Over explained windows: they are taken where the kernel has no importance matrices.
    counts : ndarray of int64, shape (L, letters), or None
    windows : str
        As in `Positions`.
    order : int, optional
        By default 3; with more than 5 letters 2.
    background : optional
        As in `poim`.
    first : int, optional
        By default as the window says that the model was trained on, else 1.
    section : (int, int), optional
        By default, of many positions, those that matter most.
    """
    if has_poim(model.kernel):
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


def _checked_section(section, first, last):
    """Return a section that lies inside the windows; ParameterError if it has no position of them."""
    low, high = max(section[0], first), min(section[1], last)
    if low > high:
        raise ParameterError(
            f"the section {section[0]} to {section[1]} has no position of the windows",
            remedy=f"their positions are {first} to {last}",
        )
    return low, high


def _largest_section(weights, first):
    """Return the first and last position of the section whose weights have the largest sum; it holds the site."""
    sums = np.convolve(weights, np.ones(SECTION), mode="valid")
    if first <= 0:  # position 0 is at -first
        allowed = np.arange(len(sums))
        sums[(allowed > -first) | (allowed + SECTION <= -first)] = -np.inf
    start = int(np.argmax(np.round(sums, 12))) if len(sums) else 0
    return first + start, first + start + SECTION - 1


def write_positions(positions, out_dir, label):
    """Write the table and the pictures; pictures of an earlier run that there are no more are removed."""
    # only where pictures are drawn: loads matplotlib
    from seqkern.explain.positions_page import pictures

    drawn = pictures(positions, label)
    write_tsv(out_dir / TABLE, ("order", "position", "offset", "word", "value"), positions.rows())
    for name, svg in drawn.items():
        with atomic_write(out_dir / name, "w") as file:
            file.write(as_file(svg))
    for name in set(PICTURES) - set(drawn):
        (out_dir / name).unlink(missing_ok=True)


def remove_positions(out_dir):
    """Remove the files of an earlier run."""
    for name in (TABLE, *PICTURES):
        (out_dir / name).unlink(missing_ok=True)
