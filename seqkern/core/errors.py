"""Errors with remedies, and the damaged files that become one of them.

Every error that a user can correct is a subclass of `SeqkernError` and of a builtin, prints as one line
(``file: record 'id': problem; remedy``), and keeps each part as an attribute.
"""

from __future__ import annotations

import contextlib
import difflib
import itertools
import os
import shlex
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from seqkern.core.types import PathLike


LONGEST = {"file": 400, "record": 200, "problem": 600, "remedy": 700}
"""Number of characters shown of each part of a message; longer parts, such as a damaged line, are cut in the middle."""
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

    def __init__(self, problem: str, *, line: int | None = None, **where: Any) -> None:
        super().__init__(problem, **where)
        self.line = line


class GramError(SeqkernError, ValueError):
    """A Gram matrix that does not belong to the data, or is unusable."""


class TooLargeError(GramError):
    """A Gram matrix that does not fit into memory.

    `more` says how to get more memory. `without` says what to train instead, without such a matrix (see
    `Solver.without_matrix`); None if the solver is not known.

    >>> TooLargeError("needs 800 MB", more="raise the limit").more
    'raise the limit'
    """

    def __init__(self, problem: str, *, more: str = "", **where: Any) -> None:
        super().__init__(problem, **where)
        self.more = more
        self.without: str | None = None

    def suggest(self, without: str) -> None:
        """Add an alternative method that needs no such matrix to the remedy; empty text adds nothing."""
        self.without = without
        if without:
            self.remedy = f"{self.remedy}, or {without}"


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
    owner = kind.removeprefix("parameter of ")
    problem = f"unknown {kind} {name!r}" if owner == kind else f"{owner} has no parameter {name!r}"
    return ParameterError(problem, remedy=remedy)


def check_known(kind: str, names: Iterable[object], known: Collection[Any] | Mapping[Any, Any]) -> None:
    """Raise the error of `unknown_name` for the first name that is not known.

    >>> check_known("solver", ["csvc"], ["csvc", "nusvc"])
    """
    for name in names:
        if name not in known:
            raise unknown_name(kind, name, known)


ALSO_CALLED = {
    "csvc": "svm svc",
    "gapped_kmer": "gkm gkmsvm lsgkm",
    "spectrum": "kmer",
    "weighted_degree": "wd",
    "shifted_weighted_degree": "wds",
    "smith_waterman": "sw",
    "local_alignment": "la",
}
"""Names in other programs of solvers and kernels."""


def _nearest(name: str, choices: list[str]) -> str | None:
    """Return the choice that was probably meant: in other case, as another program names it, or similarly spelt."""
    for choice in choices:
        if name.lower() in (choice.lower(), *ALSO_CALLED.get(choice, "").split()):
            return choice
    return next(iter(difflib.get_close_matches(name, choices, n=1, cutoff=0.5)), None)


# Uniform errors for damaged files: any exception of a loader becomes one line with file and remedy.
#
# Damaged bytes can make a loader fail anywhere, with any exception: a missing key, a list in place of a number, text
# that is not UTF-8. `damaged` turns all of them into one error, so that loaders need no checks of their own.

PROBLEM = "is not a seqkern file, or is corrupted"
REMEDY = "create it again"
LONGEST_REASON = 200
MOST_NAMES = 10_000
"""Number of names in a folder among which one like that of a missing file is looked for."""


def unreadable(
    path: PathLike | None,
    error: OSError,
    remedy: str = "check the path and its permissions",
    kind: type[SeqkernError] = FileError,
) -> SeqkernError:
    """Return the error for an OSError raised while reading; `remedy` is for an existing file.

    >>> print(unreadable("plan.json", IsADirectoryError(21, "Is a directory")))
    plan.json: cannot be read: Is a directory; check the path and its permissions
    >>> print(unreadable("plan.json", FileNotFoundError(2, "No such file or directory")))
    plan.json: no such file; check the path
    """
    if isinstance(error, FileNotFoundError):
        return kind("no such file", file=path, remedy=near_file(path))
    return kind(f"cannot be read: {error.strerror or error}", file=path, remedy=remedy)


def near_file(path: PathLike | None) -> str:
    """Return the remedy for a missing file: a file of nearly this name, or one whose name has it before a space."""
    folder, name = os.path.split(os.fspath(path or ""))
    with contextlib.suppress(OSError, ValueError), os.scandir(folder or ".") as entries:
        names = [entry.name for entry in itertools.islice(entries, MOST_NAMES) if not entry.name.startswith(".")]
        spaced = sorted(one for one in names if name and one.startswith(f"{name} "))
        for one in spaced or difflib.get_close_matches(name, names, n=1, cutoff=0.7):
            return f"did you mean {shlex.quote(os.path.join(folder, one))}?"
    return "check the path"


@contextlib.contextmanager
def reading(path: PathLike | None, remedy: str = "check the path and its permissions") -> Iterator[None]:
    """Turn an OSError of the body into the error of `unreadable`; seqkern's own errors pass.

    >>> with reading("plan.json"):
    ...     raise PermissionError(13, "Permission denied")
    Traceback (most recent call last):
        ...
    seqkern.core.errors.FileError: plan.json: cannot be read: Permission denied; check the path and its permissions
    """
    try:
        yield
    except OSError as error:
        if isinstance(error, SeqkernError):
            raise
        raise unreadable(path, error, remedy) from error


@contextlib.contextmanager
def naming(file: PathLike | None = None, record: str | int | None = None) -> Iterator[None]:
    """Name the file and the record in errors of the body that name none.

    >>> with naming("labels.tsv", "d1"):
    ...     raise LabelError("label '?' is not a number")
    Traceback (most recent call last):
        ...
    seqkern.core.errors.LabelError: labels.tsv: record 'd1': label '?' is not a number
    """
    try:
        yield
    except SeqkernError as error:
        error.file = file if error.file is None else error.file
        error.record = record if error.record is None else error.record
        raise


@contextlib.contextmanager
def damaged(
    path: PathLike, problem: str = PROBLEM, remedy: str = REMEDY, error: type[SeqkernError] = FileError
) -> Iterator[None]:
    """Turn any exception raised while a file is loaded into one error that names the file and the remedy.

    Errors that already name a file pass unchanged; the problem is added to other seqkern errors. An unreadable file
    always gives a FileError.

    >>> with damaged("plan.json", "is not a plan"):
    ...     cost = {}["grams"]
    Traceback (most recent call last):
        ...
    seqkern.core.errors.FileError: plan.json: is not a plan; create it again
    """
    try:
        yield
    except SeqkernError as found:
        if found.file is not None:
            raise
        where = "" if found.record is None else f" record {str(found.record)!r}"
        raise error(f"{problem}:{where} {found.problem}", file=path, remedy=remedy) from found
    except OSError as found:
        if found.errno is None:  # raised by a parser, not by the system
            raise error(problem, file=path, remedy=remedy) from found
        raise unreadable(path, found) from found
    except ImportError:  # of an optional package: nothing is wrong with the file
        raise
    except MemoryError as found:
        raise FileError(
            "needs more memory than there is, or is corrupted", file=path, remedy=f"free memory, or {remedy}"
        ) from found
    except Exception as found:
        # only the checks of loaders say what a user understands: "3 parts, but 2 are there"
        reason = f": {found}"[:LONGEST_REASON] if type(found) is ValueError and str(found) else ""
        raise error(f"{problem}{reason}", file=path, remedy=remedy) from found


def check_texts(values: Any, name: str) -> list[str]:
    """Return a list read from a file; raise ValueError unless it is a list of texts.

    >>> check_texts(["d1", 2], "ids")
    Traceback (most recent call last):
        ...
    ValueError: ids are not a list of texts
    """
    if not isinstance(values, list) or not all(type(value) is str for value in values):
        raise ValueError(f"{name} are not a list of texts")
    return values


def check_counts(counts: Any) -> dict[str, int]:
    """Return a dict read from a file; raise ValueError unless it maps text to numbers.

    >>> check_counts({"masked letters": 3})
    {'masked letters': 3}
    """
    if not isinstance(counts, dict) or not all(type(count) is int for count in counts.values()):
        raise ValueError("the effects of reading are not numbers by name")
    return counts
