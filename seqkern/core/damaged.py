"""Uniform errors for damaged files: any exception of a loader becomes one line with file and remedy.

Damaged bytes can make a loader fail anywhere, with any exception: a missing key, a list in place of a number, text
that is not UTF-8. `damaged` turns all of them into one error, so that loaders need no checks of their own.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from seqkern.core.errors import FileError, SeqkernError

if TYPE_CHECKING:
    from seqkern.core.types import PathLike

PROBLEM = "is not a seqkern file, or is corrupted"
REMEDY = "create it again"
LONGEST_REASON = 200


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
        return kind("no such file", file=path, remedy="check the path")
    return kind(f"cannot be read: {error.strerror or error}", file=path, remedy=remedy)


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
