"""Labels: the target of each sample (a record), with groups, folds and genomic positions."""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from shlex import quote
from typing import Any
from unicodedata import decimal

import numpy as np
import numpy.typing as npt

from seqkern.core.archive import canonical_json
from seqkern.core.checks import read_number
from seqkern.core.errors import LabelError, naming
from seqkern.core.progress import tell
from seqkern.core.types import Bools, Floats, Ids, Ints, PathLike, Rows

# Words for an unknown label, such as people write: read as a class name, they would silently be learned.

UNKNOWN = frozenset(["na", "n/a", "#n/a", "<na>", "nan", "nil", "?", "??", ".", "--", "unk", "undetermined", "missing"])
"""Texts that are never classes, in any case; but `SODIUM` is one."""
SODIUM = "Na"
UNKNOWN_LABELS_UNLABELLED = frozenset(["unknown", "unlabelled", "unlabeled", "unannotated"])
"""Names of unlabelled samples beside one class (solver positive_unlabelled); unknown labels beside two or more."""
NEITHER = frozenset(["none", "null"])
"""Names of classes in many data sets (no site or signal, null alleles), unless they join others under another name."""
MINUS = "-"
"""Name of a class beside one such as ``+``."""


def is_unknown(text: str) -> bool:
    """Return whether a label is a word for "unknown", regardless of the other labels.

    >>> [text for text in ("NA", "nan", "?", "Na", "none", "donor") if is_unknown(text)]
    ['NA', 'nan', '?']
    """
    return text != SODIUM and text.lower() in UNKNOWN


def refuse_unknown(values: list[str], positive: str | None, plus: Collection[str]) -> None:
    """Raise LabelError for labels that mean "unknown" but would become a class."""
    counts = Counter(value for value in values if value)
    several, paired = len(counts) > 2, any(name.lower() in plus for name in counts)

    def refused(name: str) -> bool:
        if name == MINUS:
            return not paired
        word = name.lower()
        return is_unknown(name) or (
            several and (word in UNKNOWN_LABELS_UNLABELLED or (word in NEITHER and positive is not None))
        )

    found = [(count, name) for name, count in counts.items() if name != positive and refused(name)]
    if found:
        count, name = max(found)
        what, it = ("label is", "it") if count == 1 else ("labels are", "them")
        remedy = f"leave {it} empty if the label is unknown, or rename the class"
        raise LabelError(f"{count} {what} {name!r}", remedy=remedy)


# Numeric labels: reading them, and recognising numbers in unusual notation.

WRITTEN_NUMBER = re.compile(r"([+-]?[\d_]+(?:[.,]\d+)?)(?:\s*(?:%|[^\W\d_]{1,3}(?:/[^\W\d_]{1,3})?))?")
"""Pattern of a number, perhaps with a decimal comma, a percent sign or a unit."""
BOUND = re.compile(r"(?:[<>≤≥]|[<>]=)\s*[-+]?\.?\d.*")
"""Pattern of a censored measurement, such as ``<5`` or ``>= 1e4``."""
WHOLE_NUMBER = re.compile(r"([-+]?[0-9]{1,18})(?:\.0*)?")
"""Pattern of an integer, perhaps with a fraction of zeros."""
MOST_CLASSES = 10
"""Number of classes above which they may be numbers, if most samples have their own class."""


def refuse_written_numbers(ids: Ids, values: list[str], found: set[str]) -> None:
    """Raise LabelError for measurements not written as plain numbers: each would become its own class."""
    if not _are_many(found, len(values)) or not all(map(WRITTEN_NUMBER.fullmatch, found)):
        return
    for name, value in zip(ids, values, strict=True):
        if value and math.isnan(read_number(value)):
            problem = f"label {value!r} would be a class of its own, one of {len(found)}"
            raise LabelError(problem, record=name, remedy=f"to learn numbers, write {_plain_number(value)}")


def refuse_bounds(ids: Ids, values: list[str]) -> None:
    """Raise LabelError for a bound such as ``<5`` among measurements: it is no value, nor a class of its own."""
    first = next((i for i, value in enumerate(values) if value and value[0] in "<>≤≥" and BOUND.fullmatch(value)), None)
    numbers = 0 if first is None else sum(not math.isnan(read_number(value)) for value in values)
    if first is not None and 2 * numbers > len(values) - values.count(""):
        raise LabelError(
            f"label {values[first]!r} is a bound of a measurement, not its value",
            record=ids[first],
            remedy="leave it empty, write the value that you would use for it, or divide all samples into classes",
        )


def _are_many(classes: Collection[object], samples: int) -> bool:
    """Return whether most samples have their own class, which no classifier can learn."""
    return len(classes) > max(MOST_CLASSES, samples // 2)


def are_numbers(labels: Labels) -> bool:
    """Return whether the classes are numbers, and most samples, or most classes if some are fractions, are alone."""
    if labels.kind != "multiclass":
        return False
    counts = Counter(name for name in labels.names() if name)
    numbers = [read_number(name) for name in counts]
    # the others may be at a detection limit
    alone = 2 * list(counts.values()).count(1) > len(counts) > MOST_CLASSES and not all(map(float.is_integer, numbers))
    return (alone or _are_many(counts, counts.total())) and not any(map(math.isnan, numbers))


def refuse_numbers_as_classes(labels: Labels, file: PathLike | None = None) -> None:
    """Raise LabelError if a classifier's labels are measurements: each would become its own class.

    Integers may be class codes, so at least one label must have a fraction.
    """
    names = [name for name in labels.names() if name] if are_numbers(labels) else []
    first = next((name for name in names if not read_number(name).is_integer()), None)
    if first is not None:
        raise LabelError(
            f"the labels are {len(set(names))} different numbers such as {first}, each a class for this solver",
            file=file,
            remedy="to learn numbers, choose solver svr (in a study with kind: real); if they are classes, name them "
            "by words",
        )


def one_spelling(values: list[str], given: Iterable[str]) -> list[str]:
    """Return labels with a single spelling of each whole number, and report the spellings joined.

    ``0``, ``0.0`` and ``+0`` are one class; ``1.1`` and ``1.10`` may be two, as EC numbers are.
    """
    spellings: dict[int, list[str]] = {}
    for name in sorted(set(values), key=lambda name: (len(name), name)):
        if found := WHOLE_NUMBER.fullmatch(name):
            spellings.setdefault(int(found[1]), []).append(name)
    chosen = {key: names[0] for key, names in spellings.items()}
    chosen |= {int(found[1]): name for name in given if (found := WHOLE_NUMBER.fullmatch(name))}
    renamed = {name: chosen[key] for key, names in spellings.items() for name in names if name != chosen[key]}
    for name, spelling in renamed.items():
        tell(f"the labels {spelling!r} and {name!r} are one number, so one class: {spelling}")
    return [renamed.get(value, value) for value in values]


def _plain_number(text: str) -> str:
    """Return the plain spelling of a number with a decimal comma, a percent sign or a unit; else an example."""
    found = WRITTEN_NUMBER.fullmatch(text)
    return "plain numbers such as 0.5" if found is None else f"{found[1].replace(',', '.')} in place of {text!r}"


def by_value(name: str) -> tuple[int, float, str]:
    """Return a sorting key that puts numbers by value before text.

    >>> sorted(["b", "10", "9"], key=by_value)
    ['9', '10', 'b']
    """
    value = read_number(name)
    return (1, 0.0, name) if math.isnan(value) else (0, value, name)


def real_labels(ids: Ids, values: list[str]) -> Floats:
    """Return the labels as numbers, float64 (n,); NaN for an empty label."""
    refuse_bounds(ids, values)
    y = np.full(len(values), np.nan)
    for i, value in enumerate(values):
        if value == "":
            continue
        y[i] = read_number(value)
        if np.isnan(y[i]):
            unknown = is_unknown(value) or value == MINUS or value.lower() in UNKNOWN_LABELS_UNLABELLED | NEITHER
            write = "leave it empty if it is unknown" if unknown else f"write {_plain_number(value)}"
            remedy = f"{write}, or give a solver for classes (in a study remove kind: real)"
            raise LabelError(f"label {value!r} is not a finite number", record=ids[i], remedy=remedy)
    if np.isnan(y).all():
        raise LabelError("no labels", remedy="check the column or field of the labels")
    return y


# The positive class of two: by a recognised name, else by the order of files.

POSITIVE_NAMES = ("1", "+1", "1.0", "+", "positive", "pos", "true", "yes")
POSITIVE = re.compile(r"\+|positive|pos|yes|true|active|binder|binding|bound|case|hit|peak|signal|functional")
NEGATIVE = re.compile(
    r"[-\u2212]1?|negative|neg|no|false|none|null|neither|other|inactive|unbound|control|ctrl|background|bg|decoy|random|"
    r"shuffled|scrambled|unlabell?ed"
)
"""Names, and words in names, of the two classes of a binary task."""
NEGATION = re.compile(r"(?:non|not|no)[-_. ]+.+|(?:non|not|un|in)[-_. ]?(.+)")
"""Pattern of a negation: of any word after a separator, or of the other class or a positive word."""


def positive_of_two(first: str, second: str) -> str | None:
    """Return the positive class of two by their names: the larger number, or by a recognised word; None without one.

    >>> positive_of_two("binder", "nonbinder"), positive_of_two("CTCF", "CTCF controls"), positive_of_two("a", "b")
    ('binder', 'CTCF', None)
    """
    numbers = read_number(first), read_number(second)
    if not any(map(math.isnan, numbers)):
        return first if numbers[0] > numbers[1] else second
    difference = _side(first, second) - _side(second, first)
    return None if difference == 0 else first if difference > 0 else second


def _side(name: str, other: str) -> int:
    """Return 1 for a name of a positive class, -1 of a negative one, 0 if its words do not say or contradict."""
    if not math.isnan(number := read_number(name)):
        return 1 if number == 1 else -int(number in (0, -1))
    others = _words(other)
    words = _words(name) - others | {name.strip().casefold()}
    negated = [found[1] for word in words if (found := NEGATION.fullmatch(word))]
    negative = any(word is None or word in others or POSITIVE.fullmatch(word) for word in negated)
    return any(map(POSITIVE.fullmatch, words)) - (negative or any(map(NEGATIVE.fullmatch, words)))


def _words(name: str) -> set[str]:
    """Return a name and its words, in lower case, also without a final s."""
    words = [name.strip().casefold(), *re.split(r"[\W\d_]+", name.casefold())]
    return {form for word in words for form in (word, word.removesuffix("s"))}


def _negative_first(names: list[str], order: Sequence[str] | None) -> list[str]:
    """Return two classes, the negative one first; `order` is that of their files, empty for labels of a table."""
    given = [name for name in order or () if name in names]
    named, text = positive_of_two(*names), [quote(name) for name in names]
    if named is None and order is not None and not given:
        raise LabelError(
            f"the names {names[0]} and {names[1]} do not say which class is positive",
            remedy=f"choose it: --positive {text[0]} or --positive {text[1]} of train and cv; in a study labels: "
            f"{{positive: {names[0]}}}",
        )
    positive = named or (given or names[1:])[0]
    negative = names[names[0] == positive]
    if given and positive != given[0]:
        other = f"--positive {quote(negative)} chooses the other (in a study labels: {{positive: {negative}}})"
        tell(f"the positive class is {positive}, by its name, although {negative} comes first; {other}")
    return [negative, positive]


KINDS = ("binary", "multiclass", "real", "none")
UNLABELLED = -1
ONE_CLASS = ("out", "in")


@dataclass(frozen=True, eq=False)
class Labels:
    """Labels of n samples, with their groups, folds and other columns.

    `y` holds int64 codes into `classes`, `UNLABELLED` (−1) for samples outside the task, or float64 for real labels,
    NaN outside the task. The kind ``"none"`` marks unlabelled members of one class, for one-class and unsupervised
    solvers.
    """

    ids: Ids  # length n: The ids of the samples
    # shape (n,): int64 codes into `classes`, `UNLABELLED` (-1) for samples outside the task; or float64 for real
    # labels, NaN for samples outside the task
    y: Ints | Floats
    kind: str  # ``"none"``: unlabelled members of one class, for one-class and unsupervised solvers
    # Names of the classes; (negative, positive) if binary, `ONE_CLASS` if none, empty if real
    classes: tuple[str, ...] = ()
    groups: npt.NDArray[np.str_ | np.int64] | None = None  # shape (n,): Samples of one group stay in one fold
    folds: npt.NDArray[np.str_] | None = None  # shape (n,): Predefined folds
    # shape (n,): Samples of a development part: a training set that has some is validated on them alone
    dev: Bools | None = None
    chromosome: npt.NDArray[np.str_] | None = None  # shape (n,): The chromosome of each sample, and its strand there
    strand: npt.NDArray[np.str_] | None = None  # shape (n,): The chromosome of each sample, and its strand there
    position: Ints | None = None  # shape (n,): Position of each sample on its chromosome

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
        """Return the labels of some of the samples."""
        chosen = np.arange(len(self))[rows]
        columns: dict[str, Any] = {name: getattr(self, name) for name in ("y", *SAMPLE_COLUMNS)}
        taken: dict[str, Any] = {name: None if column is None else column[chosen] for name, column in columns.items()}
        return Labels([self.ids[i] for i in chosen], kind=self.kind, classes=self.classes, **taken)

    def digest(self) -> str:
        """Return a hexadecimal digest of the data for learning: labels, classes, groups, development part."""
        groups = None if self.groups is None else self.groups.tolist()
        digest = hashlib.blake2b(canonical_json([self.kind, self.classes, groups]).encode(), digest_size=16)
        digest.update(self.y.tobytes())
        if self.dev is not None:
            digest.update(self.dev.tobytes())
        return digest.hexdigest()

    def used(self) -> Bools:
        """Return a mask of the samples that have a label, bool (n,)."""
        return ~np.isnan(self.y) if self.kind == "real" else self.y != UNLABELLED

    @property
    def by_chromosome(self) -> bool:
        """Whether the groups are whole chromosomes."""
        if self.groups is None or self.chromosome is None:
            return False
        return self.groups.dtype.kind == "U" and np.array_equal(self.groups, self.chromosome)

    def signs(self) -> Floats:
        """Return the binary labels as signs −1 and +1, float64 (n,); NaN for unused samples."""
        if self.kind != "binary":
            raise LabelError(f"{self.kind} labels have no signs", remedy="use binary labels")
        return np.where(self.y == UNLABELLED, np.nan, 2.0 * self.y - 1.0)

    def targets(self) -> Ints | Floats | None:
        """Return the targets for solvers: signs, class codes or numbers, NaN if unlabelled; None without labels."""
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


MOST_NAMED = 12
"""Number of classes or folds above which they are not all named."""


def what_it_learns(kind: str, counts: Mapping[str, int], n: int, unit: str) -> str:
    """Return the classes, the positive one first, with the number of samples of each; or what else is learned.

    >>> what_it_learns("binary", {"decoy": 400, "donor": 200}, 600, "sequences")
    'donor (positive, 200 sequences) against decoy (400)'
    """
    if kind == "binary":
        (negative, others), (positive, own) = counts.items()
        return f"{positive} (positive, {own:,} {unit}) against {negative} ({others:,})"
    if kind == "multiclass":
        each = [f"{name} ({count:,})" for name, count in counts.items()]
        some = ", ".join(each[:MOST_NAMED]) + ", …" * (len(each) > MOST_NAMED)
        return f"{len(each)} classes of {n:,} {unit}: {some}"
    return f"{n:,} {unit}, {'a number each' if kind == 'real' else 'without labels'}"


SAMPLE_COLUMNS = tuple(field.name for field in fields(Labels))[4:]


def check_labels(labels: Labels) -> None:
    """Check labels read from a file: valid class codes, and one value for each sample in every column.

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
    order: Sequence[str] | None = None,
    file: PathLike | None = None,
    **columns: Any,
) -> Labels:
    """Return Labels from one text for each sample; an empty text excludes the sample from the task.

    >>> from seqkern.sequences.labels import make_labels
    >>> make_labels(["a", "b", "c"], ["yes", "no", ""]).names()
    ['yes', 'no', '']
    >>> make_labels(["a", "b", "c"], ["helix", "strand", "coil"], positive="helix").classes
    ('not helix', 'helix')
    """
    texts = ["" if value is None else str(value).strip() for value in values]
    with naming(file):
        if kind == "real":
            return Labels(ids, real_labels(ids, texts), "real", (), **columns)
        if kind == "none":
            return Labels(ids, np.ones(len(ids)), "none", ONE_CLASS, **columns)
        wanted = None if classes is None else [str(name) for name in classes]
        named = None if positive is None else str(positive)
        return Labels(ids, *_classes(ids, texts, kind, named, wanted, order), **columns)


def _classes(
    ids: Ids,
    texts: list[str],
    kind: str | None,
    positive: str | None,
    wanted: list[str] | None,
    order: Sequence[str] | None,
) -> tuple[Ints, str, tuple[str, ...]]:
    """Return (y, kind, classes) of labels that are names of classes."""
    texts = one_spelling(texts, [*(wanted or ()), *([] if positive is None else [positive])])
    found = set(texts) - {""}
    if wanted is None and not (order and len(found) == 2):
        refuse_unknown(texts, positive, POSITIVE_NAMES)
    names = sorted(found, key=by_value) if wanted is None else list(wanted)
    strangers = found - set(names)
    for name, text in zip(ids, texts, strict=True):
        if text in strangers:
            problem = f"label {text!r} is not one of the classes"
            raise LabelError(problem, record=name, remedy=f"the classes are: {', '.join(names)}")
    if kind is None and wanted is None:
        refuse_bounds(ids, texts)
        refuse_written_numbers(ids, texts, found)
    if len(found) < 2:
        remedy = "give at least two classes; check the column or field of the labels"
        raise LabelError(f"only one class: {', '.join(found) or 'no labels'}", remedy=remedy)
    if positive is not None:
        return _against_rest(texts, positive, names)
    if kind == "binary" and len(names) != 2:
        problem = f"{len(names)} classes, but a binary task has two"
        raise LabelError(problem, remedy="choose the positive class with positive (--positive)")
    kind = kind or ("binary" if len(names) == 2 else "multiclass")
    if kind == "binary" and wanted is None:
        names = _negative_first(names, order)
    elif kind == "binary" and names[0].lower() in POSITIVE_NAMES and names[1].lower() not in POSITIVE_NAMES:
        names.reverse()
    codes = {name: code for code, name in enumerate(names)} | {"": UNLABELLED}
    return np.array([codes[text] for text in texts], dtype=np.int64), kind, tuple(names)


def _against_rest(values: list[str], positive: str, classes: list[str]) -> tuple[Ints, str, tuple[str, str]]:
    """Return (y, kind, classes) of one class against the rest."""
    if positive not in classes:
        problem = f"no sample of the positive class {positive!r}"
        raise LabelError(problem, remedy=f"the classes are: {', '.join(classes)}")
    rest = [name for name in classes if name != positive]
    alike = next((name for name in rest if name.casefold() == positive.casefold()), None)
    if alike is not None:  # its samples would silently become negatives
        raise LabelError(
            f"the classes {alike!r} and {positive!r} differ only in case, and {positive!r} is the positive class",
            remedy="write them alike if they are one class, else rename one",
        )
    y = np.array([UNLABELLED if value == "" else int(value == positive) for value in values], dtype=np.int64)
    return y, "binary", (rest[0] if len(rest) == 1 else f"not {positive}", positive)


def natural_key(text: object) -> list[tuple[int, str] | str]:
    """Return a sort key that puts ``a.4.1`` before ``a.26.1``.

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
