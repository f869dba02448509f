"""The folder of a result: repeating a command replaces its own, another command's is left alone."""

from __future__ import annotations

import argparse
import contextlib
import json
from collections.abc import Iterator
from pathlib import Path

from seqkern.core.errors import FileError

MARK = ".seqkern.json"
"""In the folder: the command that wrote it."""
NEITHER = ("run", "version", "output", "threads", "overwrite", "top")
"""What makes no other result."""


def add_overwrite(parser: argparse.ArgumentParser) -> None:
    """Add the option that lets a folder be replaced.

    Parameters
    ----------
    parser : ArgumentParser
        The parser of the verb.
    """
    parser.add_argument(
        "--overwrite",
        action="store_true",
        help="write into a folder that holds other files or the result of another command (default: refuse)",
    )


def check_result_folder(args: argparse.Namespace) -> None:
    """Raise an error, before any work, for a folder with other files or with the result of another command.

    Parameters
    ----------
    args : Namespace
        The parsed arguments of the verb, with ``output`` and those of `add_overwrite`.

    Raises
    ------
    FileError
        If there are such files, unless they may be replaced.
    """
    folder = Path(args.output)
    if args.overwrite or not folder.is_dir():
        return
    # hidden files are ours, such as a killed run's lock, or those of a file manager (.DS_Store)
    if all(path.name.startswith(".") for path in folder.iterdir()):
        return
    mark = folder / MARK
    if not mark.exists():
        raise FileError("holds other files", file=folder, remedy="name a new folder, or add --overwrite")
    with contextlib.suppress(OSError, ValueError):
        if json.loads(mark.read_text(encoding="utf-8")) == _command(args):
            return
    raise FileError(
        "holds the result of another command", file=folder, remedy="name a new folder, or add --overwrite to replace it"
    )


@contextlib.contextmanager
def result_folder(args: argparse.Namespace) -> Iterator[None]:
    """Hold the folder alone, and note in it which command writes it; the note goes if that fails before any file.

    Parameters
    ----------
    args : Namespace
        As for `check_result_folder`.

    Yields
    ------
    None
    """
    # imported here to keep --help fast
    from seqkern.core.archive import atomic_write, canonical_json
    from seqkern.core.locks import LOCK, alone_in

    folder = Path(args.output).absolute()
    made = [parent for parent in (folder, *folder.parents) if not parent.exists()]
    with alone_in(folder):
        with atomic_write(folder / MARK, "w") as file:
            file.write(canonical_json(_command(args)) + "\n")
        for left in folder.glob(".*.tmp"):  # by a run that was killed
            left.unlink(missing_ok=True)
        try:
            yield
        except BaseException:
            if not any(path.name not in (MARK, LOCK) for path in folder.iterdir()):
                (folder / MARK).unlink()
            with contextlib.suppress(OSError):
                for path in made:  # folders with other content stay
                    path.rmdir()
            raise


def _command(args: argparse.Namespace) -> dict[str, str]:
    """Return the verb and the options that determine the result, as text."""
    return {name: repr(value) for name, value in sorted(vars(args).items()) if name not in NEITHER}
