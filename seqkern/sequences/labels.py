"""Labels: the target of each sample (a record), with groups, folds and places on a genome."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any
from unicodedata import decimal

import numpy as np
import numpy.typing as npt

from seqkern.core.archive import canonical_json
from seqkern.core.errors import LabelError
from seqkern.core.types import Ids, PathLike, Rows
from seqkern.sequences.unknown_labels import refuse_unknown
from seqkern.sequences.written_numbers import by_value, one_spelling, real_labels, refuse_written_numbers

KINDS = ("binary", "multiclass", "real", "none")
POSITIVE_NAMES = ("1", "+1", "1.0", "+", "positive", "pos", "true", "yes")
DECOY = "decoy"
UNLABELLED = -1
ONE_CLASS = ("out", "in")


@dataclass(frozen=True, eq=False)
class Labels:
    """The labels of n samples and other data on them.

    Attributes
    ----------
    ids : list of str, length n
        The ids of the samples.
    y : ndarray, shape (n,)
        int64 codes into `classes`, `UNLABELLED` (-1) for samples outside the task; or float64 for
        real labels, NaN for samples outside the task.
    kind : {"binary", "multiclass", "real", "none"}
        ``"none"``: unlabelled members of one class, for one-class and unsupervised solvers.
    classes : tuple of str
        Names of the classes; (negative, positive) if binary, `ONE_CLASS` if none, empty if real.
    groups : ndarray of str or int64, shape (n,), optional
        Samples of one group stay in one fold.
    folds : ndarray of str, shape (n,), optional
        Predefined folds.
    dev : ndarray of bool, shape (n,), optional
        Samples of a development part: a training set that has some is validated on them alone.
    chromosome, strand : ndarray of str, shape (n,), optional
        The chromosome of each sample, and its strand there.
    position : ndarray of int64, shape (n,), optional
        Position of each sample on its chromosome.

    Raises
    ------
    LabelError
        If the kind is unknown, or a column has another length than `ids`.

    Examples
    --------
    >>> from seqkern.sequences.labels import make_labels
    >>> labels = make_labels(["d1", "d2", "d3"], ["donor", "decoy", "donor"], positive="donor")
    >>> labels.classes, labels.y.tolist(), labels.signs().tolist()
    (('decoy', 'donor'), [1, 0, 1], [1.0, -1.0, 1.0])
    """

    ids: Ids
    y: npt.NDArray[np.int64] | npt.NDArray[np.float64]
    kind: str
    classes: tuple[str, ...] = ()
    groups: npt.NDArray[np.str_ | np.int64] | None = None
    folds: npt.NDArray[np.str_] | None = None
    dev: npt.NDArray[np.bool_] | None = None
    chromosome: npt.NDArray[np.str_] | None = None
    strand: npt.NDArray[np.str_] | None = None
    position: npt.NDArray[np.int64] | None = None

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise LabelError(f"unknown kind of labels {self.kind!r}", remedy=f"choose {', '.join(KINDS)}")
        object.__setattr__(self, "classes", tuple(self.classes))
        dtypes: dict[str, npt.DTypeLike] = {
            "y": np.float64 if self.kind == "real" else np.int64,
            "position": np.int64,
            "dev": np.bool_,
        }
        for name in ("y", *SAMPLE_COLUMNS):
            values = getattr(self, name)
            if values is None:
                continue
            array = np.asarray(values, dtype=dtypes.get(name, np.str_)).view()
            array.flags.writeable = False
            object.__setattr__(self, name, array)
            if len(array) != len(self.ids):
                raise LabelError(
                    f"{len(array)} values of {name!r} for {len(self.ids)} samples",
                    remedy="give one for each sample",
                )

    def __len__(self) -> int:
        return len(self.ids)

    def take(self, rows: Rows) -> Labels:
        """Return the labels of some of the samples.

        Parameters
        ----------
        rows : array of int, boolean mask or slice
            Which of the n samples.

        Returns
        -------
        Labels
        """
        chosen = np.arange(len(self))[rows]
        columns: dict[str, Any] = {name: getattr(self, name) for name in ("y", *SAMPLE_COLUMNS)}
        taken: dict[str, Any] = {name: None if column is None else column[chosen] for name, column in columns.items()}
        return Labels([self.ids[i] for i in chosen], kind=self.kind, classes=self.classes, **taken)

    def digest(self) -> str:
        """Return a hexadecimal digest of what determines learning: labels, classes, groups and development part."""
        groups = None if self.groups is None else self.groups.tolist()
        digest = hashlib.blake2b(canonical_json([self.kind, self.classes, groups]).encode(), digest_size=16)
        digest.update(self.y.tobytes())
        if self.dev is not None:
            digest.update(self.dev.tobytes())
        return digest.hexdigest()

    def used(self) -> npt.NDArray[np.bool_]:
        """Return bool (n,): which samples have a label."""
        return ~np.isnan(self.y) if self.kind == "real" else self.y != UNLABELLED

    @property
    def by_chromosome(self) -> bool:
        """Whether the groups are whole chromosomes."""
        if self.groups is None or self.chromosome is None:
            return False
        return self.groups.dtype.kind == "U" and np.array_equal(self.groups, self.chromosome)

    def signs(self) -> npt.NDArray[np.float64]:
        """Return the binary labels as signs.

        Returns
        -------
        ndarray of float64, shape (n,)
            -1, +1, and NaN for unused samples.

        Raises
        ------
        LabelError
            If the labels are not binary.
        """
        if self.kind != "binary":
            raise LabelError(f"{self.kind} labels have no signs", remedy="use binary labels")
        return np.where(self.y == UNLABELLED, np.nan, 2.0 * self.y - 1.0)

    def targets(self) -> npt.NDArray[np.int64] | npt.NDArray[np.float64] | None:
        """Return the labels for solvers: signs, class codes, numbers, NaN for unlabelled samples; or None without."""
        if self.kind == "none":
            return None
        if self.kind == "multiclass" and not self.used().all():
            return np.where(self.used(), self.y, np.nan)
        return self.signs() if self.kind == "binary" else self.y

    def class_counts(self) -> dict[str, int]:
        """Return a dict of class name to number of samples; empty for real labels."""
        return {name: int(np.count_nonzero(self.y == code)) for code, name in enumerate(self.classes)}

    def names(self) -> list[str]:
        """Return the label of each sample as text: class name or number, empty for unused samples."""
        if self.kind == "real":
            return ["" if np.isnan(value) else f"{value:.10g}" for value in self.y]
        return ["" if code == UNLABELLED else self.classes[code] for code in self.y]


SAMPLE_COLUMNS = tuple(field.name for field in fields(Labels))[4:]


def check_labels(labels: Labels) -> None:
    """Check labels that were read from a file: codes of classes, and columns with one value for each sample.

    Parameters
    ----------
    labels : Labels
        Of any kind.

    Raises
    ------
    LabelError
        If they are corrupted.

    Examples
    --------
    >>> check_labels(Labels(["d1", "d2"], [0, 2], "binary", ("decoy", "donor")))
    Traceback (most recent call last):
        ...
    seqkern.core.errors.LabelError: labels outside their classes
    """
    columns = [getattr(labels, name) for name in ("y", *SAMPLE_COLUMNS) if getattr(labels, name) is not None]
    if any(column.shape != (len(labels),) for column in columns):
        raise LabelError("columns that are not lists")
    y, n = labels.y, len(labels.classes)
    wanted = {"binary": n == 2, "multiclass": n >= 2, "real": n == 0, "none": n == 2}
    if not wanted[labels.kind] or len(set(labels.classes)) != n:
        raise LabelError(f"{n} classes for {labels.kind} labels")
    if np.isinf(y).any() if labels.kind == "real" else np.any((y < UNLABELLED) | (y >= n)):
        raise LabelError("labels outside their classes")


def make_labels(
    ids: Ids,
    values: Iterable[object],
    *,
    kind: str | None = None,
    positive: object = None,
    classes: Iterable[object] | None = None,
    file: PathLike | None = None,
    **columns: Any,
) -> Labels:
    """Return Labels from one text for each sample.

    Parameters
    ----------
    ids : list of str, length n
        The ids of the samples.
    values : sequence of str, length n
        Class names, or numbers if `kind` is ``"real"``; empty text, or None, excludes the sample from the task.
    kind : {"binary", "multiclass", "real", "none"}, optional
        Default: binary for two classes, multi-class for more. ``"none"``: `values` is ignored.
    positive : str, optional
        The positive class. With more than two classes all others form the negative class. Default, of two
        classes: the one called ``1``, ``+1``, ``+``, ``positive``, ``true`` or ``yes``, else the last that is not
        called ``decoy``.
    classes : sequence of str, optional
        The classes in order; by default sorted, numbers by value.
    file : path-like, optional
        Used in messages.
    **columns : array_like, shape (n,)
        `groups`, `folds`, `chromosome`, `strand`, `position` of `Labels`.

    Returns
    -------
    Labels

    Raises
    ------
    LabelError
        If there is only one class, a real label is not a number, a label is not one of the classes, or a word such as
        ``NA`` stands for an unknown label (see `seqkern.sequences.unknown_labels`).

    Examples
    --------
    >>> from seqkern.sequences.labels import make_labels
    >>> make_labels(["a", "b", "c"], ["yes", "no", ""]).names()
    ['yes', 'no', '']
    >>> make_labels(["a", "b", "c"], ["helix", "strand", "coil"], positive="helix").classes
    ('not helix', 'helix')
    """
    texts = ["" if value is None else str(value).strip() for value in values]
    if kind == "real":
        return Labels(ids, real_labels(ids, texts, file), "real", (), **columns)
    if kind == "none":
        return Labels(ids, np.ones(len(ids)), "none", ONE_CLASS, **columns)
    wanted = None if classes is None else [str(name) for name in classes]
    texts = one_spelling(texts, [*(wanted or ()), *([] if positive is None else [str(positive)])])
    found = set(texts) - {""}
    if classes is None:
        refuse_unknown(texts, None if positive is None else str(positive), POSITIVE_NAMES, file)
    names = sorted(found, key=by_value) if wanted is None else wanted
    _check_known(ids, texts, found - set(names), "is not one of the classes", names, file)
    if kind is None and classes is None:
        refuse_written_numbers(ids, texts, found, file)
    if len(found) < 2:
        raise LabelError(
            f"only one class: {', '.join(found) or 'no labels'}",
            file=file,
            remedy="give at least two classes; check the column or field of the labels",
        )
    if positive is not None:
        return Labels(ids, *_against_rest(texts, str(positive), names, file), **columns)
    if kind == "binary" and len(names) != 2:
        raise LabelError(
            f"{len(names)} classes, but a binary task has two",
            file=file,
            remedy="choose the positive class with positive (--positive)",
        )
    kind = kind or ("binary" if len(names) == 2 else "multiclass")
    first_is_positive = names[0].lower() in POSITIVE_NAMES and names[1].lower() not in POSITIVE_NAMES
    if kind == "binary" and (first_is_positive or (classes is None and names[1].lower() == DECOY)):
        names.reverse()
    codes = {name: code for code, name in enumerate(names)} | {"": UNLABELLED}
    return Labels(ids, np.array([codes[text] for text in texts], dtype=np.int64), kind, tuple(names), **columns)


def _check_known(
    ids: Ids,
    values: list[str],
    strangers: set[str],
    problem: str,
    classes: list[str],
    file: PathLike | None,
) -> None:
    """Raise LabelError for the first sample whose label is one of `strangers`."""
    for name, value in zip(ids, values, strict=True):
        if value in strangers:
            raise LabelError(
                f"label {value!r} {problem}",
                file=file,
                record=name,
                remedy=f"the classes are: {', '.join(classes)}",
            )


def _against_rest(
    values: list[str], positive: str, classes: list[str], file: PathLike | None
) -> tuple[npt.NDArray[np.int64], str, tuple[str, str]]:
    """Return (y, kind, classes) of one class against the rest."""
    if positive not in classes:
        raise LabelError(
            f"no sample of the positive class {positive!r}",
            file=file,
            remedy=f"the classes are: {', '.join(classes)}",
        )
    rest = [name for name in classes if name != positive]
    alike = next((name for name in rest if name.casefold() == positive.casefold()), None)
    if alike is not None:  # its samples would silently become negatives
        raise LabelError(
            f"the classes {alike!r} and {positive!r} differ only in case, and {positive!r} is the positive class",
            file=file,
            remedy="write them alike if they are one class, else rename one",
        )
    y = np.array([UNLABELLED if value == "" else int(value == positive) for value in values], dtype=np.int64)
    return y, "binary", (rest[0] if len(rest) == 1 else f"not {positive}", positive)


def natural_key(text: object) -> list[tuple[int, str] | str]:
    """Return a sort key that puts ``a.4.1`` before ``a.26.1``.

    Parameters
    ----------
    text : str
        Value to sort; other types are sorted by their text.

    Returns
    -------
    list of str and (int, str)
        Digits in the order of their numbers, of any size, with the text between them.

    Examples
    --------
    >>> from seqkern.sequences.labels import natural_key
    >>> sorted(["a.26.1", "a.4.1"], key=natural_key)
    ['a.4.1', 'a.26.1']
    """
    parts: list[tuple[int, str] | str] = []
    for place, part in enumerate(re.split(r"(\d+)", str(text))):
        if place % 2:
            digits = part if part.isascii() else "".join(str(decimal(digit)) for digit in part)
            parts.append((len(digits.lstrip("0")), digits.lstrip("0")))  # int() refuses more than 4300 digits
        else:
            parts.append(part)
    return parts
