"""Exceptions that carry the problem, its place and the remedy.

Every error that a user can correct is a subclass of `SeqkernError` and of a builtin, prints as one line
(``file: record 'id': problem; remedy``), and keeps each part as an attribute.
"""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from seqkern.core.types import PathLike

LONGEST = {"file": 400, "record": 200, "problem": 600, "remedy": 700}
"""Characters of the parts of a message that are shown; of longer ones, such as a damaged file's line, both ends."""
LONGEST_LINE = 2000


class SeqkernError(Exception):
    """The base class of all errors that a user can correct."""

    def __init__(
        self, problem: str, *, file: PathLike | None = None, record: str | int | None = None, remedy: str | None = None
    ) -> None:
        super().__init__(problem)
        self.problem = problem
        self.file = file
        self.record = record
        self.remedy = remedy

    line: int | None = None
    """The line of the file; only errors about a study's configuration have one."""

    def __str__(self) -> str:
        record = None if self.record is None else repr(str(self.record))
        given = {"file": self.file, "record": record, "problem": self.problem, "remedy": self.remedy}
        shown = {part: one_line("" if text is None else text) for part, text in given.items()}
        if sum(map(len, shown.values())) > sum(LONGEST.values()):
            shown = {part: one_line(text, LONGEST[part]) for part, text in shown.items()}
        line = "" if self.line is None else f"line {self.line} of "
        where = [f"{line}{shown['file']}"] if self.file is not None else []
        where += [f"record {shown['record']}"] if record is not None else []
        return ": ".join([*where, shown["problem"]]) + (f"; {shown['remedy']}" if self.remedy else "")

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self.problem, self.file, self.record, self.remedy)


def one_line(text: object, longest: int = LONGEST_LINE) -> str:
    """Return a text without line breaks and control characters, shortened in the middle to `longest` characters.

    >>> one_line("a" * 50, 11)
    'aaaa … aaaa'
    """
    line, half = " ".join(str(text).split()), (longest - 3) // 2
    if len(line) > longest:  # of a text of millions of characters, only the ends are shown
        return f"{_printable(line[:half])[:half]} … {_printable(line[-half:])[-half:]}"
    shown = _printable(line)
    return shown if len(shown) <= longest else f"{shown[:half]} … {shown[-half:]}"


def _printable(text: str) -> str:
    r"""Return a text with control characters and bytes that are not UTF-8 as escapes.

    They may come from a file, and a terminal would obey them.

    >>> print(_printable("id \x1b[31m"))
    id \x1b[31m
    """
    if text.isprintable():
        return text
    hidden = ("Cc", "Cs")
    return "".join(c.encode("unicode_escape").decode() if unicodedata.category(c) in hidden else c for c in text)


def _rebuild(
    cls: type[SeqkernError], problem: str, file: PathLike | None, record: str | None, remedy: str | None
) -> SeqkernError:
    return cls(problem, file=file, record=record, remedy=remedy)


class SequenceError(SeqkernError, ValueError):
    """An unusable sequence or FASTA record."""


class PolicyError(SequenceError):
    """A sequence that the kernel would accept if its parameter `policy` were ``"zero"``."""

    policy: str


class ShortError(PolicyError):
    """A sequence shorter than the k-mers of the kernel."""

    policy = "short"


class ZeroDiagonalError(PolicyError):
    """A sequence whose kernel value with itself is not positive, for a normalised kernel."""

    policy = "zero_diagonal"


class LetterError(SequenceError):
    """A letter outside the alphabet."""


class LabelError(SeqkernError, ValueError):
    """Labels, groups or positions that do not match the sequences or the task."""


class FoldError(SeqkernError, ValueError):
    """Folds that are impossible or do not match the data."""


class ParameterError(SeqkernError, ValueError):
    """An invalid parameter of a kernel, solver or function, or an unknown name."""


class NoKmersError(ParameterError):
    """A kernel without k-mers to compare."""


class ConfigError(SeqkernError, ValueError):
    """A configuration that does not match the schema.

    >>> print(ConfigError("unknown key 'fast'", file="config.yaml", line=3, remedy="did you mean fasta?"))
    line 3 of config.yaml: unknown key 'fast'; did you mean fasta?
    """

    def __init__(
        self,
        problem: str,
        *,
        file: PathLike | None = None,
        record: str | None = None,
        remedy: str | None = None,
        line: int | None = None,
    ) -> None:
        super().__init__(problem, file=file, record=record, remedy=remedy)
        self.line = line

    def __reduce__(self) -> tuple[Any, ...]:
        return (*super().__reduce__(), {"line": self.line})


class GramError(SeqkernError, ValueError):
    """A Gram matrix that does not belong to the data, or is unusable."""


class TooLargeError(GramError):
    """A Gram matrix that does not fit into memory.

    `more` says how to get more memory. `without` says what to train instead, without such a matrix (see
    `Solver.without_matrix`); None if the solver is not known.

    >>> TooLargeError("needs 800 MB", more="raise the limit").more
    'raise the limit'
    """

    def __init__(
        self,
        problem: str,
        *,
        file: PathLike | None = None,
        record: str | None = None,
        remedy: str | None = None,
        more: str = "",
    ) -> None:
        super().__init__(problem, file=file, record=record, remedy=remedy)
        self.more = more
        self.without: str | None = None

    def suggest(self, without: str) -> None:
        """Add an alternative method that needs no such matrix to the remedy; empty text adds nothing."""
        self.without = without
        if without:
            self.remedy = f"{self.remedy}, or {without}"

    def __reduce__(self) -> tuple[Any, ...]:
        return (*super().__reduce__(), {"more": self.more, "without": self.without})


class MappingError(SeqkernError, MemoryError):
    """A file too large to be mapped within the address space that the process may use."""


class ModelError(SeqkernError, ValueError):
    """A model file that cannot be used."""


class FileError(SeqkernError, OSError):
    """A file that cannot be read or written."""


def unknown_name(kind: str, name: object, choices: Iterable[str]) -> ParameterError:
    """Return a ParameterError for a name that is not one of `choices`, with the nearest choice.

    >>> print(unknown_name("kernel", "spektrum", ["mismatch", "spectrum"]))
    unknown kernel 'spektrum'; did you mean 'spectrum'? choose from: mismatch, spectrum
    """
    choices = sorted(choices)
    hint = f"did you mean {near!r}? " if (near := _nearest(str(name), choices)) else ""
    remedy = f"{hint}choose from: {', '.join(choices)}" if choices else "remove it (there are no choices)"
    return ParameterError(f"unknown {kind} {name!r}", remedy=remedy)


ALSO_CALLED = {"svm": "csvc", "svc": "csvc"}
"""Names that other programs give to what has another name here."""


def _nearest(name: str, choices: list[str]) -> str | None:
    """Return the choice that was probably meant: in other case, as another program names it, or similarly spelt."""
    lower = name.lower()
    same = next((choice for choice in choices if choice.lower() == lower), ALSO_CALLED.get(lower))
    if same in choices:
        return same
    return next(iter(difflib.get_close_matches(name, choices, n=1, cutoff=0.5)), None)
