"""Words that people write where a label is unknown: taken for a class, they would be learned silently."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from seqkern.core.errors import LabelError
from seqkern.core.types import PathLike

UNKNOWN = frozenset(["na", "n/a", "#n/a", "<na>", "nan", "nil", "?", "??", ".", "--", "unk", "undetermined", "missing"])
"""Never classes, in any case; but `SODIUM` is one."""
SODIUM = "Na"
UNLABELLED = frozenset(["unknown", "unlabelled", "unlabeled", "unannotated"])
"""Of two classes the one that holds positives too (solver positive_unlabelled); no class beside two others."""
NEITHER = frozenset(["none", "null"])
"""Classes in many data sets (neither site, no signal, null alleles), unless they join others under another name."""
MINUS = "-"
"""A class beside one such as ``+``."""


def is_unknown(text: str) -> bool:
    """Return whether a label is a word that stands for an unknown one, whatever the other labels are.

    Parameters
    ----------
    text : str
        A label.

    Returns
    -------
    bool

    Examples
    --------
    >>> [text for text in ("NA", "nan", "?", "Na", "none", "donor") if is_unknown(text)]
    ['NA', 'nan', '?']
    """
    return text != SODIUM and text.lower() in UNKNOWN


def refuse_unknown(values: list[str], positive: str | None, plus: Collection[str], file: PathLike | None) -> None:
    """Raise LabelError for labels that stand for unknown ones, and would become a class.

    Parameters
    ----------
    values : list of str
        The labels; an empty one is none.
    positive : str or None
        The positive class, if it is known: any name. All others join as the negative one.
    plus : collection of str
        Names of classes, in small letters, that make ``-`` a class.
    file : path-like or None
        Where the labels come from, for the message.

    Raises
    ------
    LabelError
        With the most frequent of these words, and how often it occurs.

    Examples
    --------
    >>> refuse_unknown(["+", "-"], None, ("+",), None)
    >>> refuse_unknown(["donor", "none", "decoy"], None, ("+",), None)
    >>> refuse_unknown(["donor", "none", "decoy"], "donor", ("+",), None)
    Traceback (most recent call last):
        ...
    seqkern.core.errors.LabelError: 1 label is 'none'; leave it empty if the label is unknown, or rename the class
    """
    counts = Counter(value for value in values if value)
    several, paired = len(counts) > 2, any(name.lower() in plus for name in counts)

    def refused(name: str) -> bool:
        if name == MINUS:
            return not paired
        word = name.lower()
        return is_unknown(name) or (several and (word in UNLABELLED or (word in NEITHER and positive is not None)))

    found = [(count, name) for name, count in counts.items() if name != positive and refused(name)]
    if found:
        count, name = max(found)
        what, it = ("label is", "it") if count == 1 else ("labels are", "them")
        raise LabelError(
            f"{count} {what} {name!r}",
            file=file,
            remedy=f"leave {it} empty if the label is unknown, or rename the class",
        )
