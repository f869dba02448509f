"""Positional oligomer importance matrices: the mean effect of each short k-mer at each position on the decision value.

Q_m[i, u] = E[f(X) | X_i … X_{i+m−1} = u] − E[f(X)], with independent letters X (Sonnenburg, Zien, Philips, Rätsch:
POIMs: positional oligomer importance matrices. Bioinformatics 24, 2008). Unlike the weight of the k-mer itself,
this includes all overlapping k-mers, weighted by their probability given the k-mer.

For an SVM with a weighted degree kernel, with or without shifts, or with sums and parts of such kernels, the matrices
are computed directly from the support windows, for any degree, in `_poim.h`. Other SVMs on windows of one length use
`LetterMeans`: the contributions of residues to the decision values of given windows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from seqkern.core.archive import load_archive, save_archive
from seqkern.core.checks import check_integer
from seqkern.core.errors import ParameterError
from seqkern.core.file_kinds import IMPORTANCE
from seqkern.core.types import Array, Floats, Ints, PathLike
from seqkern.kernels.algebra import SumKernel
from seqkern.kernels.decisions import over_root
from seqkern.kernels.view_kernels import PartKernel
from seqkern.methods import _poim
from seqkern.sequences.alphabets import Alphabet, alphabet_from_state
from seqkern.sequences.joining import Stretch, stretches
from seqkern.sequences.sequence_set import SequenceSet, code_matrix

if TYPE_CHECKING:
    from seqkern.kernels.kernel import Kernel
    from seqkern.methods.model import AffineForm, Model


MOST_ORDER = 3
THROUGH, LEFT, RIGHT, INSIDE = range(4)


@dataclass(frozen=True, eq=False)
class Importance:
    """The effect of residues, and k-mers of m residues, at each position on the decision value.

    For each m, a matrix has the shape (L − m + 1, letters^m), with k-mers in alphabetical order.
    """

    alphabet: Alphabet  # Alphabet of the windows
    length: int  # L, length of the windows
    # shape (L − m + 1, letters^m): By m, from 1 on; k-mers in alphabetical order
    matrices: dict[int, Floats]
    # shape (letters,): Probability of each letter in random windows; None if the matrices are means over given windows
    background: Floats | None = None

    def words(self, order: int) -> list[str]:
        """Return all k-mers of length `order`, in the order of the columns."""
        words = [""]
        for _ in range(order):
            words = [word + letter for word in words for letter in self.alphabet.letters]
        return words

    def position_weights(self) -> Floats:
        """Return the sum of the absolute importance of residues at each position, float64 (L,)."""
        return np.abs(self.matrices[1]).sum(axis=1)


def has_poim(kernel: Kernel) -> bool:
    """Return whether a kernel has importance matrices: a weighted degree kernel, or sums and parts of such."""
    if isinstance(kernel, (PartKernel, SumKernel)):
        return all(has_poim(base) for base in kernel.bases)
    return all(hasattr(kernel, name) for name in ("length_weights", "start_weights", "shifts"))


def poim(form: AffineForm, order: int = 3, background: npt.ArrayLike | None = None) -> Importance:
    """Return an SVM's positional oligomer importance matrices for k-mers of up to `order` residues.

    Time grows with support windows × residues × degree × (2·largest shift + 1), memory with letters^m of the
    alphabet. If the decision value has a factor 1/√K(x, x) that differs between windows, its mean over the support
    windows is used, with masked residues drawn from the background.
    """
    kernel, X = form.kernel, form.support
    if not has_poim(kernel):
        raise ParameterError(
            f"kernel {kernel.name!r} has no importance matrices of k-mers",
            remedy="choose weighted_degree or shifted_weighted_degree, or a sum of them",
        )
    assert isinstance(X, SequenceSet)
    check_integer("order", order, 1)
    if order > MOST_ORDER:
        raise ParameterError(f"order={order} is not possible", remedy=f"give 1 to {MOST_ORDER}")
    length, size = int(X.lengths[0]), X.alphabet.size
    order, chance = min(order, length), letter_chances(X, background)
    whole = _unmasked(X, chance)
    factor = np.mean(form.divided(np.ones(len(X)), kernel.prepare(whole).diagonal)) if form.dividing else 1.0
    tables = _tables(kernel, X, whole, form.coefficients, order, chance)
    matrices = {m: factor * _matrix(m, length, size, chance, tables) for m in range(1, order + 1)}
    return Importance(X.alphabet, length, matrices, chance)


def _unmasked(X: SequenceSet, chance: Floats) -> SequenceSet:
    """Return windows with masked residues drawn at random, so that K(x, x) is as for random windows."""
    codes = X.codes[X.positions()]
    masked = np.flatnonzero(codes >= len(chance))
    codes[masked] = np.random.default_rng(0).choice(len(chance), size=len(masked), p=chance)
    return SequenceSet.from_offsets(codes, np.append(0, np.cumsum(X.lengths)), X.ids, X.alphabet)


def _tables(
    kernel: Any,
    X: SequenceSet,
    whole: SequenceSet,
    coefficients: Floats,
    order: int,
    chance: Floats,
) -> list[Floats]:
    """Return, for n = 1, …, order, the sums of runs around each interval, float64 (4, L, letters^n).

    The first axis is as in ``_poim.h``: through, left, right, inside. `whole` is `X` without masked residues.
    """
    length, size, factor = int(X.lengths[0]), len(chance), 1.0
    coefficients = np.ascontiguousarray(coefficients, dtype=np.float64)
    if kernel.normalize:
        coefficients = over_root(coefficients, kernel.prepare(X).raw_diagonal)
        factor = over_root(np.ones(len(X)), kernel.prepare(whole).raw_diagonal).mean()
    if isinstance(kernel, SumKernel):
        parts = [
            _tables(base, X, whole, weight * coefficients, order, chance)
            for base, weight in zip(kernel.bases, kernel._weights(), strict=True)
        ]
        return [factor * sum(one) for one in zip(*parts, strict=True)]
    if isinstance(kernel, PartKernel):
        seen = X.part(kernel.start, kernel.stop)
        before = int(seen.starts[0] - X.starts[0])
        room = ((0, 0), (before, length - before - int(seen.lengths[0])), (0, 0))
        seen_whole = whole.part(kernel.start, kernel.stop)
        return [np.pad(one, room) for one in _tables(kernel.bases[0], seen, seen_whole, coefficients, order, chance)]
    beta, place = _run_weights(kernel, length)
    cells = [length * size**n for n in range(1, order + 1)]
    tables = np.zeros((4, sum(cells)))
    work = np.empty((len(place) + 3, max(len(beta), order) + 2))
    _poim.add_windows(X.codes, X.starts, coefficients, beta, place, chance, order, tables, work)
    blocks = np.split(factor * tables, np.cumsum(cells)[:-1], axis=1)
    return [block.reshape(4, length, -1) for block in blocks]


def _matrix(
    m: int,
    length: int,
    size: int,
    chance: Floats,
    tables: Sequence[Floats],
) -> Floats:
    """Return the matrix Q_m, float64 (L − m + 1, letters^m)."""
    n = length - m + 1
    total = tables[m - 1][THROUGH, :n].reshape(n, *[size] * m).copy()
    for a in range(m):
        for b in range(a + 1, m + 1):
            if (a, b) == (0, m):
                continue
            kind = LEFT if a == 0 else RIGHT if b == m else INSIDE
            shape = [size if a <= axis < b else 1 for axis in range(m)]
            total += tables[b - a - 1][kind, a : a + n].reshape(n, *shape)
    mean = total
    for _ in range(m):
        mean = mean @ chance
    return (total - mean.reshape(n, *[1] * m)).reshape(n, -1)


def letter_chances(X: SequenceSet, background: npt.ArrayLike | None = None) -> Floats:
    """Return the probability of each letter (default: the counts in `X`, with one added to each)."""
    size = X.alphabet.size
    if background is None:
        letters = X.codes[X.positions()]
        counts = np.bincount(letters[letters < size], minlength=size)
        return (counts + 1.0) / (counts.sum() + size)  # pseudocount 1: no letter is impossible
    if isinstance(background, str) and background == "uniform":
        return np.full(size, 1.0 / size)
    try:
        chance = np.array(background, dtype=np.float64)
    except (TypeError, ValueError):
        chance = np.zeros(0)
    if chance.shape != (size,) or not np.all(chance > 0) or not np.isfinite(chance).all():
        raise ParameterError(
            f"background={background!r} is not possible", remedy=f"give 'uniform' or {size} positive numbers"
        )
    return chance / chance.sum()


def _run_weights(kernel: Any, length: int) -> tuple[Floats, Floats]:
    """Return the weights of runs of residues by length, float64 (degree,), and by start, (2·shift + 1, length).

    The run that starts at residue p of x and q of z has its second weight in row ``q − p + shift``, column p.
    """
    beta = np.ascontiguousarray(kernel.length_weights(), dtype=np.float64)[:length]
    gamma, shifts = kernel.start_weights(length), np.minimum(kernel.shifts(length), length - 1)
    most = int(shifts.max())
    place = np.zeros((2 * most + 1, length))
    start = np.arange(length)
    for distance in range(most + 1):
        delta = 1.0 if distance == 0 else 1.0 / (2 * (distance + 1))
        weights = np.where(shifts >= distance, delta * gamma, 0.0)[: length - distance]
        place[most + distance, start[: length - distance]] = weights  # p is the first of the two starts
        place[most - distance, start[distance:]] = weights
    return beta, place


class LetterMeans:
    """Mean contributions of each letter at each position, over windows of one length."""

    def __init__(self, alphabet: Alphabet) -> None:
        self.alphabet = alphabet
        self.counts: Ints | None = None
        self._sums: Floats = np.zeros(0)

    def add(self, X: SequenceSet, shares: Floats) -> None:
        """Add windows of equal length with the contribution of each residue, window by window."""
        size = self.alphabet.size
        letters, shares = code_matrix(X), shares.reshape(len(X), -1)
        here = [letters == code for code in range(size)]
        counts = np.stack([one.sum(axis=0) for one in here], axis=1)
        sums = np.stack([np.where(one, shares, 0.0).sum(axis=0) for one in here], axis=1)
        self._sums = sums if self.counts is None else self._sums + sums
        self.counts = counts if self.counts is None else self.counts + counts

    def importance(self) -> Importance:
        """Return the Importance of order 1: a residue's mean contribution minus the mean of all at its position.

        Letters that no window has at a position get 0.
        """
        assert self.counts is not None
        means = np.divide(self._sums, self.counts, out=np.zeros_like(self._sums), where=self.counts > 0)
        overall = self._sums.sum(axis=1) / np.maximum(self.counts.sum(axis=1), 1)
        matrix = np.where(self.counts > 0, means - overall[:, None], 0.0)
        return Importance(self.alphabet, len(matrix), {1: matrix})


class WindowMeans:
    """Sums of contributions by position and letter, for each prediction, while windows have one length and layout.

    `groups` holds, for each prediction, the sums by position, the counts of letters by position, and the number of
    windows; it is empty once a window differs from the first, or is longer than `longest`.
    """

    def __init__(self, alphabet: Alphabet, longest: int) -> None:
        self.letters, self.longest = LetterMeans(alphabet), longest
        self.layout: tuple[int, list[Stretch]] | None = None
        self.groups: dict[Any, tuple[Any, Any, int]] = {}

    def add(self, X: SequenceSet, shares: Floats, names: Sequence[Any]) -> None:
        """Add windows with the contributions of their residues and their predictions."""
        if not len(X):
            return
        first = self.layout = self.layout or (int(X.lengths[0]), stretches(X, 0))
        several = any(length != first[0] for length in X.lengths.tolist())
        if several or any(stretches(X, i) != first[1] for i in range(len(X) if first[1] else 0)):
            self.longest = 0
        if not 0 < first[0] <= self.longest:
            self.groups = {}
            return
        self.letters.add(X, shares)
        letters, shares = code_matrix(X), shares.reshape(len(X), -1)
        codes = np.arange(X.alphabet.size)[:, None, None]
        for name in set(names):
            sums, counts, n = self.groups.get(name, (0.0, 0, 0))
            here = np.array([one == name for one in names])
            counts = counts + (letters[here] == codes).sum(axis=1)
            self.groups[name] = sums + shares[here].sum(axis=0), counts, n + int(here.sum())

    @property
    def n(self) -> int:
        """Number of windows."""
        return sum(n for *_, n in self.groups.values())


# The importance of positions in windows, with the windows' letters and the names of the positions, as files.

SECTION, WHOLE = 71, 90
MANY_LETTERS = 5


@dataclass(frozen=True, eq=False)
class Positions:
    """The importance of L positions, and the data drawn with it.

    Positions are named by their offset from the site, which is 0, or from 1 on if no site is known.
    """

    importance: Importance  # Importance of L positions
    # shape (L, letters): Number of windows with each letter at each position, for windows shown beside it
    counts: Ints | None
    windows: str  # Description of these windows: ``"200 windows of class donor"``
    classes: tuple[str, ...] = ()  # (negative, positive), or empty
    first: int = 1  # Name of the first position: its offset from the site, which is 0, or 1 if no site is known
    # First and last position, by name, of a section to enlarge; None if the whole is small enough
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
        """Write the importance and its data to one file for `load_positions`."""
        arrays: dict[str, Array] = {f"matrix{order}": matrix for order, matrix in self.importance.matrices.items()}
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
    """Return the Positions written by `Positions.save`."""
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
    counts: Ints | None,
    windows: str,
    *,
    order: int | None = None,
    background: npt.ArrayLike | None = None,
    first: int | None = None,
    section: tuple[int, int] | None = None,
) -> Positions | None:
    """Return the importance of positions for an SVM, or None if its windows differ in length."""
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
    """Return a section clipped to the windows; raise ParameterError if nothing is left."""
    low, high = max(section[0], first), min(section[1], last)
    if low > high:
        raise ParameterError(
            f"the section {section[0]} to {section[1]} is outside the windows",
            remedy=f"choose positions from {first} to {last}",
        )
    return low, high


def _largest_section(weights: Floats, first: int) -> tuple[int, int]:
    """Return the first and last position of the section with the largest weight sum that includes the site."""
    sums = np.convolve(weights, np.ones(SECTION), mode="valid")
    if first <= 0:  # position 0 is at -first
        allowed = np.arange(len(sums))
        sums[(allowed > -first) | (allowed + SECTION <= -first)] = -np.inf
    start = int(np.argmax(np.round(sums, 12))) if len(sums) else 0
    return first + start, first + start + SECTION - 1
