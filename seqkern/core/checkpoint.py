"""Finished pieces of a long job, kept until the job is done: killed and restarted, it redoes only what is missing."""

import hashlib
import json
import shutil
from pathlib import Path

from seqkern.core.archive import atomic_write


class Checkpoint:
    """A folder of JSON values by key.

    Parameters
    ----------
    folder : path-like
        Made when the first value is put, removed by `clear`.
    identity : str
        Everything the values depend on besides their keys; values of another identity are not found.
    """

    def __init__(self, folder, identity):
        self.folder = Path(folder)
        self.identity = identity

    def _path(self, key):
        digest = hashlib.blake2b(f"{self.identity}\n{key}".encode(), digest_size=16).hexdigest()
        return self.folder / f"{digest}.json"

    def get(self, key):
        """Return the value put under `key`, or None."""
        try:
            return json.loads(self._path(key).read_text(encoding="utf-8"))
        except (FileNotFoundError, NotADirectoryError, json.JSONDecodeError):
            return None

    def put(self, key, value):
        """Keep a JSON-serialisable `value` under `key`."""
        with atomic_write(self._path(key), "w") as file:
            json.dump(value, file)

    def clear(self):
        """Remove everything that was kept."""
        shutil.rmtree(self.folder, ignore_errors=True)
