"""Finished pieces of a long job, kept until the job is done: killed and restarted, it redoes only what is missing."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seqkern.core.archive import atomic_write

if TYPE_CHECKING:
    from seqkern.core.types import PathLike


class Checkpoint:
    """A folder of JSON values by key.

    Parameters
    ----------
    folder : path-like
        Made when the first value is put, removed by `clear`.
    identity : str
        Everything the values depend on besides their keys; values of another identity are not found.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     done = Checkpoint(folder, identity="spectrum:k=3")
    ...     done.put("fold1", {"auc": 0.91})
    ...     done.get("fold1"), done.get("fold2"), Checkpoint(folder, identity="spectrum:k=4").get("fold1")
    ({'auc': 0.91}, None, None)
    """

    def __init__(self, folder: PathLike, identity: str) -> None:
        self.folder = Path(folder)
        self.identity = identity

    def _path(self, key: str) -> Path:
        digest = hashlib.blake2b(f"{self.identity}\n{key}".encode(), digest_size=16).hexdigest()
        return self.folder / f"{digest}.json"

    def get(self, key: str) -> Any:
        """Return a value that was kept.

        Parameters
        ----------
        key : str
            That under which it was put.

        Returns
        -------
        object
            None where nothing was put, or what was is damaged.
        """
        try:
            return json.loads(self._path(key).read_text(encoding="utf-8"))
        except (FileNotFoundError, NotADirectoryError, json.JSONDecodeError):
            return None

    def put(self, key: str, value: Any) -> None:
        """Keep a value.

        Parameters
        ----------
        key : str
            What finds it again, under the same identity.
        value : object
            What JSON can hold.

        Raises
        ------
        FileError
            If it cannot be written.
        """
        with atomic_write(self._path(key), "w") as file:
            json.dump(value, file)

    def clear(self) -> None:
        """Remove everything that was kept."""
        shutil.rmtree(self.folder, ignore_errors=True)
