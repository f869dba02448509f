"""The finished parts of an output, in a folder beside it, until they are joined."""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from seqkern.core.archive import atomic_write, canonical_json
from seqkern.core.errors import FileError
from seqkern.core.interruption import remove_tree
from seqkern.core.part import Part
from seqkern.core.text_files import file_sha256
from seqkern.core.types import PathLike

NOTE = "part.json"
"""Written last, so that a part with it is complete."""
JOINED = "joined.json"
"""Written when the output is complete, before the parts are removed: a killed run goes on with that."""
NAME = re.compile(r"(\d+)-of-(\d+)")
CHUNK = 1 << 20


class PartFolder:
    """The folder ``OUTPUT.parts``, with a folder ``3-of-7`` for each part.

    Parameters
    ----------
    output : path-like
        The file that is made in parts.
    identity : dict of str to str
        What the output depends on: digests by a word for each, such as ``model``.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     parts = PartFolder(f"{folder}/scores.tsv", {"model": "5f2b"})
    ...     for number, text in ((1, "a 0.5 "), (2, "b 0.1")):
    ...         file = parts.path(Part(number, 2)) / "scores.tsv"
    ...         file.parent.mkdir(parents=True)
    ...         _ = file.write_text(text)
    ...         parts.finish(Part(number, 2), {"records": 1})
    ...     _, notes = parts.complete()
    ...     b"".join(parts.content("scores.tsv", len(notes))), notes
    (b'a 0.5 b 0.1', [{'records': 1}, {'records': 1}])
    """

    def __init__(self, output: PathLike, identity: Mapping[str, str]) -> None:
        self.output = Path(output)
        self.folder = self.output.with_name(f"{self.output.name}.parts")
        self.identity = dict(identity)

    def path(self, part: Part) -> Path:
        """Return the folder of a part.

        Parameters
        ----------
        part : Part
            Which one.

        Returns
        -------
        Path
        """
        return self.folder / f"{part.number}-of-{part.of}"

    def is_finished(self, part: Part) -> bool:
        """Return whether a part is complete and made of the same input.

        Parameters
        ----------
        part : Part
            Which one.

        Returns
        -------
        bool
        """
        found = self._note(part)
        return found is not None and found["identity"] == self.identity

    def lock(self, part: Part) -> Path:
        """Return the folder that whoever makes a part holds.

        Parameters
        ----------
        part : Part
            Which one.

        Returns
        -------
        Path
        """
        return self.folder / f".{self.path(part).name}"

    def begin(self, part: Part) -> Path:
        """Return the empty folder of a part.

        Parameters
        ----------
        part : Part
            Which one; what an earlier run has left of it is removed.

        Returns
        -------
        Path
        """
        path = self.path(part)
        (self.folder / JOINED).unlink(missing_ok=True)
        (path / NOTE).unlink(missing_ok=True)
        remove_tree(path)
        return path

    def finish(self, part: Part, notes: Mapping[str, Any]) -> None:
        """Mark a part as complete.

        Parameters
        ----------
        part : Part
            Whose files have been written.
        notes : mapping
            Anything JSON can hold, for those who join the parts.
        """
        names = self._names(part)
        with atomic_write(self.path(part) / NOTE, "w") as file:
            file.write(canonical_json({"identity": self.identity, "names": names, "notes": dict(notes)}))

    def complete(self) -> tuple[list[str], list[Any]]:
        """Return what the parts have written, once all of them are there.

        Returns
        -------
        names : list of str
            Of the files in the folder of each part.
        notes : list, one for each part
            As given to `finish`.

        Raises
        ------
        FileError
            If a part is missing, or made of other input.
        """
        numbers = self._numbers()
        if not numbers and self.output.is_file():
            raise FileError(
                "no part of it is left, so it may be joined already",
                file=self.output,
                remedy="keep it, or make the parts with --part I/N again",
            )
        if not numbers:
            raise FileError("no part has been made", file=self.output, remedy="make the parts with --part I/N first")
        problems = []
        for of in sorted(numbers, key=lambda of: (-numbers[of], of)):
            notes = [self._note(Part(number, of)) for number in range(1, of + 1)]
            problem = self._problem(notes, of)
            if problem is None:
                return self._names(Part(1, of)), [note["notes"] for note in notes if note is not None]
            problems.append(problem)
        raise problems[0]

    def content(self, name: str, of: int) -> Iterator[bytes]:
        """Yield the bytes of a file of all parts, in order.

        Parameters
        ----------
        name : str
            Of the file.
        of : int
            Number of parts.

        Yields
        ------
        bytes
        """
        for number in range(1, of + 1):
            with open(self.path(Part(number, of)) / name, "rb") as file:
                while data := file.read(CHUNK):
                    yield data

    def is_joined(self) -> bool:
        """Return whether these parts have been joined, and the output has not been changed since.

        Returns
        -------
        bool
        """
        try:
            found = json.loads((self.folder / JOINED).read_text("utf-8"))
            stamps = {name: file_stamp(self.output.with_name(name)) for name in found["files"]}
            return bool(found == {"identity": self.identity, "files": stamps})
        except (OSError, ValueError, RecursionError, TypeError, KeyError, FileError):
            return False

    def clear(self, names: Iterable[str]) -> None:
        """Remove all parts; `is_joined` is true until the last is gone.

        Parameters
        ----------
        names : iterable of str
            Of the files made of them, beside the output.
        """
        if not self.is_joined():
            stamps = {name: file_stamp(self.output.with_name(name)) for name in names}
            with contextlib.suppress(FileError), atomic_write(self.folder / JOINED, "w") as file:  # or the disk is full
                file.write(canonical_json({"identity": self.identity, "files": stamps}))
        with contextlib.suppress(OSError):
            for path in self.folder.iterdir():
                if path.is_dir():
                    remove_tree(path, ignore_errors=False)
            for path in self.folder.glob(f".{JOINED}.*"):  # of a killed run
                path.unlink()
            (self.folder / JOINED).unlink(missing_ok=True)

    def _numbers(self) -> dict[int, int]:
        """Return how many parts there are of each number of parts."""
        counts: dict[int, int] = {}
        for path in self.folder.glob(f"*/{NOTE}"):
            if match := NAME.fullmatch(path.parent.name):
                counts[int(match[2])] = counts.get(int(match[2]), 0) + 1
        return counts

    def _note(self, part: Part) -> Any:
        """Return what `finish` has written, or None."""
        try:
            found = json.loads((self.path(part) / NOTE).read_text("utf-8"))
        except (OSError, ValueError, RecursionError):
            return None
        if not isinstance(found, dict) or not {"identity", "names", "notes"} <= found.keys():
            return None
        # another process may have begun the same part just before this note was written
        return found if found["names"] and found["names"] == self._names(part) else None

    def _names(self, part: Part) -> list[str]:
        """Return the names of the files of a part."""
        return sorted(path.name for path in self.path(part).glob("*") if path.name != NOTE)

    def _problem(self, notes: list[Any], of: int) -> FileError | None:
        """Return what keeps the parts from being joined."""
        for number, note in enumerate(notes, start=1):
            part = Part(number, of)
            if note is None:
                missing = sum(one is None for one in notes)
                problem = f"part {part} is missing" + f", and {missing - 1} more" * (missing > 1)
            elif note["identity"] != self.identity:
                keys = [key for key in self.identity if note["identity"].get(key) != self.identity[key]]
                problem = f"part {part} was made with other {' and '.join(keys)}"
            else:
                continue
            return FileError(problem, file=self.output, remedy=f"make it with --part {part}")
        return None


def file_stamp(path: PathLike) -> str:
    """Return a text that changes with a large file: its size, and the time of the last change.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    str

    Raises
    ------
    FileError
        If it is missing.
    """
    try:
        found = os.stat(path)
    except OSError as error:
        raise FileError("no such file", file=path, remedy="check the path") from error
    return f"{found.st_size} {found.st_mtime_ns}"


def files_digest(paths: list[Any]) -> str:
    """Return a text that changes with the content of files.

    Parameters
    ----------
    paths : list of path-like
        The files.

    Returns
    -------
    str
    """
    return " ".join(file_sha256(path) for path in paths)
