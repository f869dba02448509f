"""A text file written block by block: a run that was killed goes on after its last complete block.

Until it is complete, the text is in ``.NAME.part`` beside the file, and ``.NAME.part.json`` says how much of it counts,
and for which job. Only one process at a time writes there; a second one with the same output, and a device or pipe, are
written as by `atomic_write`.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TextIO

from seqkern.core.archive import atomic_write, check_writable, unwritable
from seqkern.core.checkpoint import note_kept
from seqkern.core.errors import FileError, SeqkernError
from seqkern.core.file_kinds import ANY

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

INTERVAL = 5.0
"""Seconds from one record of the complete blocks to the next: a short run leaves nothing."""


class PartFile:
    r"""A file in progress.

    Parameters
    ----------
    write : callable
        Takes text.
    file : text file object, optional
        Where `write` writes, if complete blocks are recorded.
    state : path-like, optional
        Where the complete blocks are recorded; default: nowhere.
    identity : callable, optional
        Returns the text that names the job: everything that its output depends on.
    complete : int
        The number of blocks that a former run has written, and this one shall not write.

    Examples
    --------
    >>> import io
    >>> part = PartFile(io.StringIO().write)
    >>> part.write("id\tdecision\n")
    >>> part.end_block()
    >>> part.complete
    0
    """

    def __init__(
        self,
        write: Callable[[str], object],
        file: TextIO | None = None,
        state: Path | None = None,
        identity: Callable[[], str] = str,
        complete: int = 0,
    ) -> None:
        self.complete = complete
        self._write, self._file, self._state, self._identity = write, file, state, identity
        self._ended = complete, 0 if file is None else file.tell()  # blocks, and their bytes
        self._recorded = time.monotonic(), complete

    def write(self, text: str) -> None:
        """Write some text of a block.

        Parameters
        ----------
        text : str
            The text.
        """
        self._write(text)

    def end_block(self) -> None:
        """End a block: a later run goes on behind it."""
        if self._file is None:
            return
        self._file.flush()
        self._ended = self._ended[0] + 1, os.fstat(self._file.fileno()).st_size
        if time.monotonic() - self._recorded[0] >= INTERVAL:
            self.record()

    def record(self) -> None:
        """Record how many blocks are complete."""
        blocks, size = self._ended
        if self._file is None or self._state is None or blocks == self._recorded[1]:
            return
        os.fsync(self._file.fileno())
        with atomic_write(self._state, "w") as file:
            json.dump({"identity": self._identity(), "blocks": blocks, "bytes": size}, file)
        self._recorded = time.monotonic(), blocks
        note_kept()


@contextlib.contextmanager
def resumable_write(path: str | Path, identity: Callable[[], str] | None) -> Iterator[PartFile]:
    r"""Open a file that is written in blocks; it gets its name when complete.

    Parameters
    ----------
    path : path-like
        The file to write; its folder is created if missing.
    identity : callable or None
        Returns the text that names the job; called only where there is something to resume. None if the job cannot be
        resumed.

    Yields
    ------
    PartFile
        The caller skips its first `complete` blocks, and ends each other one.

    Raises
    ------
    FileError
        If the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with resumable_write(f"{folder}/a.tsv", lambda: "model, sequences") as part:
    ...         part.write("id\n")
    ...     print(Path(folder, "a.tsv").read_text(), end="")
    id
    """
    path = Path(path)
    check_writable(path)
    made = [folder for folder in path.absolute().parents if not folder.exists()]
    unfinished = path.with_name(f".{path.name}.part")
    held = _hold(unfinished) if identity is not None and not _is_special(path) else None
    if identity is None or held is None:
        with atomic_write(path, "w") as file:
            yield PartFile(file.write)
        return
    state = path.with_name(f"{unfinished.name}.json")
    part = _opened(held, state, identity)
    try:
        yield part
        held.flush()
        os.replace(unfinished, path)
        state.unlink(missing_ok=True)
        made = []
    except SeqkernError:  # another run would fail in the same way
        state.unlink(missing_ok=True)
        raise
    except OSError as error:
        raise unwritable(path, error) from error
    except BaseException:
        with contextlib.suppress(Exception):  # such as a full disk
            part.record()
        raise
    finally:
        with contextlib.suppress(OSError):
            if not state.exists():
                unfinished.unlink(missing_ok=True)
                for folder in made:  # folders with other content stay
                    folder.rmdir()
        with contextlib.suppress(OSError):  # what a full disk did not take is of no use
            held.close()


def _is_special(path: Path) -> bool:
    """Return whether a path is a device or pipe."""
    return path.exists() and not path.is_file()


def _hold(path: Path) -> TextIO | None:
    """Return a file open for writing, locked and not truncated; None where another process has it."""
    if fcntl is None:
        return None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError:
        return None
    file = os.fdopen(handle, "r+", encoding="utf-8", errors="backslashreplace", newline="\n")
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.fstat(handle).st_ino == os.stat(path).st_ino:
            return file
    except OSError:
        pass
    file.close()  # another process has it, or has just renamed it
    return None


def _opened(file: TextIO, state: Path, identity: Callable[[], str]) -> PartFile:
    """Return the PartFile behind the complete blocks of a former run of the same job; else an empty one."""
    size = complete = 0
    found: Any = None
    with contextlib.suppress(FileError):
        found = ANY.load_json(state)
    if isinstance(found, dict) and found.get("identity") == identity():
        counts: list[Any] = [found.get("bytes"), found.get("blocks")]
        if all(type(count) is int and count >= 0 for count in counts) and counts[0] <= os.fstat(file.fileno()).st_size:
            size, complete = counts
    if not complete:
        state.unlink(missing_ok=True)
    file.seek(size)
    file.truncate()
    return PartFile(file.write, file, state, identity, complete)
