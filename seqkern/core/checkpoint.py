"""Checkpoints of long jobs: after an interruption, only missing pieces are computed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from seqkern.core.archive import atomic_write, load_archive, save_archive
from seqkern.core.errors import FileError, SeqkernError
from seqkern.core.interruption import remove_tree

if TYPE_CHECKING:
    from seqkern.core.types import Arrays, PathLike


_kept = False


def note_kept() -> None:
    """Note that results of this job are kept for the next run."""
    global _kept
    _kept = True


def forget_kept() -> bool:
    """Return whether results were kept since the last call.

    >>> note_kept()
    >>> forget_kept(), forget_kept()
    (True, False)
    """
    global _kept
    was, _kept = _kept, False
    return was


class Checkpoint:
    """A folder of JSON values, or arrays, by key, kept until the job is done.

    `identity` is the text of everything that the values depend on besides their keys; values of another identity are
    ignored.
    """

    def __init__(self, folder: PathLike, identity: str) -> None:
        self.folder = Path(folder)
        self.identity = identity

    def _path(self, key: str) -> Path:
        digest = hashlib.blake2b(f"{self.identity}\n{key}".encode(), digest_size=16).hexdigest()
        return self.folder / f"{digest}.json"

    def get(self, key: str) -> Any:
        """Return a stored value; None if nothing was stored, or the value is corrupted."""
        try:
            found = json.loads(self._path(key).read_text(encoding="utf-8"))
        except (FileNotFoundError, NotADirectoryError, ValueError, RecursionError):
            return None
        note_kept()
        return found

    def put(self, key: str, value: Any) -> None:
        """Store a value."""
        text = json.dumps(value)
        for left in reversed(range(3)):
            try:
                with atomic_write(self._path(key), "w") as file:
                    file.write(text)
                break
            except FileError as error:  # another process that is done has just removed the folder
                if not isinstance(error.__cause__, FileNotFoundError) or not left:
                    raise
        note_kept()

    def get_arrays(self, key: str, wanted: Callable[[str], bool] = lambda name: True) -> Arrays | None:
        """Return stored arrays, all or the `wanted` ones; None if nothing was stored, or they are corrupted."""
        try:
            _, found = load_archive(self._path(key).with_suffix(".npz"), wanted=wanted)
        except FileError:
            return None
        note_kept()
        return found

    def put_arrays(self, key: str, arrays: Arrays) -> None:
        """Store arrays."""
        save_archive(self._path(key).with_suffix(".npz"), None, arrays)
        note_kept()

    def within(self, identity: str) -> Checkpoint:
        """Return a checkpoint in the same folder, for values that also depend on `identity`."""
        return Checkpoint(self.folder, f"{self.identity}\n{identity}")

    def clear(self) -> None:
        """Remove all stored values."""
        remove_tree(self.folder)


class CheckpointFolder:
    """The folder of a job's finished pieces: removed when the job is done, or fails in a way that would recur.

    A folder of None keeps nothing.
    """

    def __init__(self, folder: PathLike | None) -> None:
        self.folder = None if folder is None else Path(folder)

    def under(self, identity: str) -> Checkpoint | None:
        """Return the checkpoint of the pieces; None if nothing is kept."""
        return None if self.folder is None else Checkpoint(self.folder, identity)

    def clear(self) -> None:
        """Remove the folder."""
        if self.folder is not None:
            remove_tree(self.folder)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if isinstance(error, SeqkernError):
            self.clear()
