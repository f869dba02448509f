"""Labels: what a solver learns for each unit (a record), with groups, folds and places on a genome."""

import hashlib
import re
from dataclasses import dataclass, fields

import numpy as np

from seqkern.core.archive import canonical_json
from seqkern.core.errors import LabelError

KINDS = ("binary", "multiclass", "real", "none")
POSITIVE_NAMES = ("1", "+1", "1.0", "+", "positive", "pos", "true", "yes")
UNLABELLED = -1
ONE_CLASS = ("out", "in")


@dataclass(frozen=True, eq=False)
class Labels:
    """The labels of n units and what else is known of them.

    Attributes
    ----------
    ids : list of str, length n
    y : ndarray, shape (n,)
        int64 codes into `classes`, `UNLABELLED` (-1) where a task does not use the unit; or float64 for
        real labels, NaN where unused.
    kind : {"binary", "multiclass", "real", "none"}
        ``"none"``: members of one class that have no labels, for a solver that learns where that class ends.
    classes : tuple of str
        Names of the classes; (negative, positive) if binary, `ONE_CLASS` if none, empty if real.
    groups : ndarray of str, shape (n,), optional
        Units of one group stay in one fold.
    folds : ndarray of str, shape (n,), optional
        Predefined folds.
    chromosome, strand : ndarray of str, shape (n,), optional
    position : ndarray of int64, shape (n,), optional
        Where each unit lies on its chromosome.
    """

    ids: list
    y: np.ndarray
    kind: str
    classes: tuple = ()
    groups: np.ndarray | None = None
    folds: np.ndarray | None = None
    chromosome: np.ndarray | None = None
    strand: np.ndarray | None = None
    position: np.ndarray | None = None

    def __post_init__(self):
        if self.kind not in KINDS:
            raise LabelError(f"unknown kind of labels {self.kind!r}", remedy=f"choose {', '.join(KINDS)}")
        object.__setattr__(self, "classes", tuple(self.classes))
        dtypes = {"y": np.float64 if self.kind == "real" else np.int64, "position": np.int64}
        for name in ("y", *UNIT_COLUMNS):
            values = getattr(self, name)
            if values is None:
                continue
            array = np.asarray(values, dtype=dtypes.get(name, np.str_)).view()
            array.flags.writeable = False
            object.__setattr__(self, name, array)
            if len(array) != len(self.ids):
                raise LabelError(
                    f"{len(array)} values of {name!r} for {len(self.ids)} units",
                    remedy="give one for each unit",
                )

    def __len__(self):
        return len(self.ids)

    def take(self, rows):
        """Return the labels of the units `rows` (integer array, boolean mask or slice)."""
        rows = np.arange(len(self))[rows]
        columns = {name: getattr(self, name) for name in ("y", *UNIT_COLUMNS)}
        taken = {name: None if column is None else column[rows] for name, column in columns.items()}
        return Labels([self.ids[i] for i in rows], kind=self.kind, classes=self.classes, **taken)

    def digest(self):
        """Return a hexadecimal digest of labels, kind, classes and groups: of what learning depends on."""
        groups = None if self.groups is None else self.groups.tolist()
        digest = hashlib.blake2b(canonical_json([self.kind, self.classes, groups]).encode(), digest_size=16)
        digest.update(self.y.tobytes())
        return digest.hexdigest()

    def used(self):
        """Return bool (n,): which units have a label."""
        return ~np.isnan(self.y) if self.kind == "real" else self.y != UNLABELLED

    def signs(self):
        """Return the binary labels as float64 (n,): -1, +1, and NaN where a unit is not used.

        Raises
        ------
        LabelError
            If the labels are not binary.
        """
        if self.kind != "binary":
            raise LabelError(f"{self.kind} labels have no signs", remedy="use binary labels")
        return np.where(self.y == UNLABELLED, np.nan, 2.0 * self.y - 1.0)

    def class_counts(self):
        """Return a dict of class name to number of units; empty for real labels."""
        return {name: int(np.count_nonzero(self.y == code)) for code, name in enumerate(self.classes)}

    def names(self):
        """Return the label of each unit as text: class name or number, empty where a unit is not used."""
        if self.kind == "real":
            return ["" if np.isnan(value) else f"{value:.10g}" for value in self.y]
        return ["" if code == UNLABELLED else self.classes[code] for code in self.y]


UNIT_COLUMNS = tuple(field.name for field in fields(Labels))[4:]


def make_labels(ids, values, *, kind=None, positive=None, classes=None, file=None, **columns):
    """Return Labels from one text for each unit.

    Parameters
    ----------
    ids : list of str, length n
    values : sequence of str, length n
        Class names, or numbers if `kind` is ``"real"``; an empty text leaves the unit out of the task.
    kind : {"binary", "multiclass", "real", "none"}, optional
        By default binary for two classes, multi-class for more. ``"none"``: the values are not looked at.
    positive : str, optional
        The positive class. With more than two classes it is set against all the others. By default, of two
        classes, the one called ``1``, ``+1``, ``+``, ``positive``, ``true`` or ``yes``, else the last.
    classes : sequence of str, optional
        The classes in order; by default sorted, numbers by value.
    file : path-like, optional
        Named in messages.
    **columns
        `groups`, `folds`, `chromosome`, `strand`, `position` of `Labels`.

    Raises
    ------
    LabelError
        If there is one class only, a real label is no number, or a name is not one of the classes.
    """
    values = [str(value).strip() for value in values]
    if kind == "real":
        return Labels(ids, _real(ids, values, file), "real", (), **columns)
    if kind == "none":
        return Labels(ids, np.ones(len(ids)), "none", ONE_CLASS, **columns)
    found = set(values) - {""}
    classes = sorted(found, key=_natural) if classes is None else [str(name) for name in classes]
    _check_known(ids, values, found - set(classes), "is none of the classes", classes, file)
    if len(found) < 2:
        raise LabelError(
            f"one class only: {', '.join(found) or 'no label at all'}",
            file=file,
            remedy="labels need at least two classes; check the label's column or field",
        )
    if positive is not None:
        return Labels(ids, *_against_rest(values, str(positive), classes, file), **columns)
    if kind == "binary" and len(classes) != 2:
        raise LabelError(
            f"{len(classes)} classes, a binary task has two",
            file=file,
            remedy="name the positive class: positive=…",
        )
    kind = kind or ("binary" if len(classes) == 2 else "multiclass")
    if kind == "binary" and classes[0].lower() in POSITIVE_NAMES and classes[1].lower() not in POSITIVE_NAMES:
        classes.reverse()
    codes = {name: code for code, name in enumerate(classes)} | {"": UNLABELLED}
    return Labels(ids, [codes[value] for value in values], kind, tuple(classes), **columns)


def _natural(name):
    """Return a sorting key: numbers by value, before words."""
    try:
        return (0, float(name), name)
    except ValueError:
        return (1, 0.0, name)


def _check_known(ids, values, strangers, problem, classes, file):
    """Raise LabelError for the first unit whose label is one of `strangers`."""
    for name, value in zip(ids, values, strict=True):
        if value in strangers:
            raise LabelError(
                f"label {value!r} {problem}",
                file=file,
                record=name,
                remedy=f"classes are: {', '.join(classes)}",
            )


def _against_rest(values, positive, classes, file):
    """Return (y, kind, classes) of one class against all the others."""
    if positive not in classes:
        raise LabelError(
            f"no unit of the positive class {positive!r}",
            file=file,
            remedy=f"classes are: {', '.join(classes)}",
        )
    rest = [name for name in classes if name != positive]
    y = [UNLABELLED if value == "" else int(value == positive) for value in values]
    return y, "binary", (rest[0] if len(rest) == 1 else f"not {positive}", positive)


def _real(ids, values, file):
    """Return numbers of texts, NaN for an empty one; raise LabelError for what is no finite number."""
    y = np.full(len(values), np.nan)
    for i, value in enumerate(values):
        if value == "":
            continue
        try:
            y[i] = float(value)
        except ValueError:
            y[i] = np.inf
        if not np.isfinite(y[i]):
            raise LabelError(
                f"label {value!r} is not a finite number",
                file=file,
                record=ids[i],
                remedy="real labels are numbers; leave out kind=real for classes",
            )
    if np.isnan(y).all():
        raise LabelError("no label at all", file=file, remedy="check the label's column or field")
    return y


def natural_key(text):
    """Return a sort key that puts ``a.4.1`` before ``a.26.1``."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", str(text))]
