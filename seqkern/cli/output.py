"""The output of a verb: its table, or its folder."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from seqkern.core.errors import FileError
from seqkern.core.standard_output import is_standard_output, standard_output, table_on_standard_output

if TYPE_CHECKING:
    from seqkern.core.types import PathLike


def is_packed(output: PathLike) -> bool:
    """Return whether an output file is to be compressed by bgzip.

    Parameters
    ----------
    output : path-like
        Its name.

    Returns
    -------
    bool
    """
    return str(output).endswith((".gz", ".bgz"))


def print_output(output: PathLike) -> None:
    """Print the name of a file that was written; nothing for standard output.

    Parameters
    ----------
    output : path-like
        The file.
    """
    if not is_standard_output(output):
        print(output)


@contextlib.contextmanager
def output_writer(output: PathLike | None) -> Iterator[Callable[[str], object]]:
    """Yield a function that writes text to a file that appears when complete; to ``.gz`` compressed by bgzip.

    Parameters
    ----------
    output : path-like or None
        None or ``"-"``: standard output.

    Yields
    ------
    callable
        Takes text.
    """
    # imported here to keep --help fast
    from seqkern.core.archive import atomic_write

    if output is None or is_standard_output(output):
        out = standard_output()
        yield out.write
        out.flush()
    elif is_packed(output):
        # imported here to keep --help fast
        from seqkern.genome.bgzip import BgzipWriter

        with atomic_write(output) as file:
            packed = BgzipWriter(file)
            yield packed.write
            packed.finish()
    else:
        with atomic_write(output, "w") as file:
            yield file.write


def add_spreadsheet_safe(parser: argparse.ArgumentParser) -> None:
    """Add the option that protects the cells of tables.

    Parameters
    ----------
    parser : ArgumentParser
        The parser of the verb.
    """
    parser.add_argument(
        "--spreadsheet-safe",
        action="store_true",
        help="in tables, write ' before names that begin with =, +, - or @, which a spreadsheet would run as formulas "
        "(default: names unchanged)",
    )


def tell_formulas(ids: Iterable[str], args: argparse.Namespace) -> bool:
    """Print a note, unless ``--spreadsheet-safe`` is given, if a spreadsheet would run an id as a formula.

    Parameters
    ----------
    ids : iterable of str
        The ids of the table.
    args : Namespace
        The parsed arguments of a verb with ``--spreadsheet-safe``.

    Returns
    -------
    bool
        Whether the note was printed.
    """
    # imported here to keep --help fast
    from seqkern.core.tsv import FORMULA

    if args.spreadsheet_safe:
        return False
    first = next((name for name in ids if not name[:1].isalnum() and FORMULA.match(name)), None)
    if first is not None:
        print(
            f"seqkern: the id {first!r} is a formula to a spreadsheet; add --spreadsheet-safe for tables that are "
            "opened in one",
            file=sys.stderr,
        )
    return first is not None


ONE_TABLE = ("predict", "variants", "sites", "genes", "background", "motifs", "plan")
"""Verbs that write one text, which ``-o -`` sends to standard output."""
FOLDERS = ("datasets", "folds", "baseline", "evaluate", "cv", "importance", "discover", "effects", "report", "explain")
"""Verbs that write several files into a folder."""


OUTPUTS = ("output", "table", "plot", "features", "contributions", "cost")
"""Options that name a file to be written."""
REPLACED = ("extend",)
"""Options that name an input which the output may replace: it is read whole before."""


@contextlib.contextmanager
def checked_output(args: argparse.Namespace) -> Iterator[None]:
    """Refuse an output that cannot be meant; with ``-o -`` send what a verb prints to standard error.

    Parameters
    ----------
    args : Namespace
        The parsed arguments of a verb.

    Yields
    ------
    None

    Raises
    ------
    FileError
        For a file that is an input too; for a verb of several files: standard output, a file, or a folder that holds
        the current one.
    """
    output = getattr(args, "output", None)
    piped = output is not None and is_standard_output(output)
    if output is not None and not piped and args.verb in FOLDERS:
        _check_folder(Path(output))
    _check_no_input(args)
    if not piped:
        yield
        return
    if args.verb not in ONE_TABLE:
        what = "a file that is not text" if args.verb in ("train", "gram", "grammar") else "several files"
        raise FileError(f"{args.verb} writes {what}, not to standard output", remedy="name it: -o NAME")
    with table_on_standard_output():
        yield


def _check_no_input(args: argparse.Namespace) -> None:
    """Raise FileError if a file to be written is one that is read."""
    given = vars(args)
    outputs = [given[name] for name in OUTPUTS if isinstance(given.get(name), str) and os.path.isfile(given[name])]
    inputs = [value for name, value in given.items() if name not in OUTPUTS + REPLACED]
    for output in outputs:
        for value in inputs:
            for path in value if isinstance(value, list) else [value]:
                if isinstance(path, str) and os.path.isfile(path) and os.path.samefile(path, output):
                    raise FileError("would be overwritten, but is an input", file=output, remedy="name another output")


def _check_folder(folder: Path) -> None:
    """Raise FileError for a file, and for a folder that nobody means to fill: the current one, or one around it."""
    if folder.is_file():
        raise FileError("is a file, but several files are written", file=folder, remedy="name a new folder")
    here = Path.cwd()
    if folder.resolve() in (here, *here.parents):
        raise FileError(
            "is the current folder or one around it; several files are written",
            file=folder,
            remedy="name a new folder, such as -o results",
        )
