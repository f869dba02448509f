"""The folder of a result: repeating a command replaces its own, another command's is left alone."""

from __future__ import annotations

import argparse
import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from seqkern.core.errors import FileError

MARK = ".seqkern.json"
"""In the folder: the command that wrote it, and its files."""
FINISHED = ".finished"
"""In the folder: finished pieces of a command that was stopped."""
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
        help="write into a folder that holds other files, which stay, or the result of another command, which is "
        "removed (default: refuse)",
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
    if not (folder / MARK).exists():
        raise FileError("holds other files", file=folder, remedy="name a new folder, or add --overwrite")
    if _read_mark(folder)[0] == _command(args):
        return
    raise FileError(
        "holds the result of another command", file=folder, remedy="name a new folder, or add --overwrite to replace it"
    )


@contextlib.contextmanager
def result_folder(args: argparse.Namespace) -> Iterator[None]:
    """Hold the folder alone, and note in it which command writes it; the note goes if that fails before any file.

    The files that another command wrote there go first, those of an earlier run of this one that it did not write again
    go at last: whatever was killed meanwhile, all are of one run. Those of the user stay.

    Parameters
    ----------
    args : Namespace
        As for `check_result_folder`.

    Yields
    ------
    None

    Raises
    ------
    FileError
        If another process has written its result there meanwhile, unless it may be replaced.
    """
    # imported here to keep --help fast
    from seqkern.core.archive import noting_files
    from seqkern.core.interruption import remove_tree
    from seqkern.core.litter import SUFFIX, remove_dead
    from seqkern.core.locks import alone_in

    folder = Path(args.output).absolute()
    with alone_in(folder):
        check_result_folder(args)
        command, files = _read_mark(folder)
        if command != _command(args):
            for name in files:
                (folder / name).unlink(missing_ok=True)
            files = []
        for left in folder.glob(f".*{SUFFIX}"):  # by a run that was killed
            remove_dead(left)
        _write_mark(folder, args, files)
        home, written = folder.resolve(), set[str]()

        def note(path: Path) -> None:
            if path.parent.resolve() == home and not path.name.startswith("."):
                written.add(path.name)
                if path.name not in files:
                    files.append(path.name)
                    _write_mark(folder, args, files)

        try:
            with noting_files(note):
                yield
        except BaseException:
            if not any(not path.name.startswith(".") for path in folder.iterdir()):
                (folder / MARK).unlink()
            raise
        for name in set(files) - written:
            (folder / name).unlink(missing_ok=True)
        _write_mark(folder, args, sorted(written))
        remove_tree(folder / FINISHED)


def _read_mark(folder: Path) -> tuple[Any, list[str]]:
    """Return the command that wrote a folder, and the names of those of its files that are there."""
    with contextlib.suppress(OSError, ValueError, RecursionError, KeyError, TypeError):
        mark = json.loads((folder / MARK).read_text(encoding="utf-8"))
        here = {path.name for path in folder.iterdir() if path.is_file()}  # a name in a file is never a path
        return mark["command"], [name for name in mark["files"] if name in here and not name.startswith(".")]
    return None, []


def _write_mark(folder: Path, args: argparse.Namespace, files: list[str]) -> None:
    """Note the command and its files."""
    # imported here to keep --help fast
    from seqkern.core.archive import atomic_write, canonical_json

    with atomic_write(folder / MARK, "w") as file:
        file.write(canonical_json({"command": _command(args), "files": files}) + "\n")


def _command(args: argparse.Namespace) -> dict[str, str]:
    """Return the verb and the options that determine the result, as text."""
    return {name: repr(value) for name, value in sorted(vars(args).items()) if name not in NEITHER}
