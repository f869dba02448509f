"""Profiles that were built before: in memory, and on disk under the digest of all that they depend on.

The folder is ``profiles`` in the cache of seqkern (``seqkern`` in XDG_CACHE_HOME, by default in ``~/.cache``). It may
be deleted at any time; what is missing or damaged is built again.
"""

from collections import OrderedDict
from pathlib import Path
from threading import Lock

from seqkern.core.archive import load_archive, save_archive
from seqkern.core.errors import FileError

MOST_BYTES = 1 << 26


class Memory:
    """What was used latest, up to so many bytes."""

    def __init__(self):
        self._found, self._bytes, self._lock = OrderedDict(), 0, Lock()

    def get(self, key):
        """Return what was kept under a key, or None."""
        with self._lock:
            if key in self._found:
                self._found.move_to_end(key)
            return self._found.get(key)

    def put(self, key, found):
        """Keep (probabilities, number of relatives), and forget what was not used for longest."""
        with self._lock:
            if key not in self._found:
                self._found[key] = found
                self._bytes += found[0].nbytes
            while self._bytes > MOST_BYTES:
                self._bytes -= self._found.popitem(last=False)[1][0].nbytes

    def clear(self):
        """Forget everything."""
        with self._lock:
            self._found.clear()
            self._bytes = 0


MEMORY = Memory()


class ProfileCache:
    """Probabilities of profiles, float32 (letters, 20), and numbers of relatives, by key.

    Parameters
    ----------
    folder : path-like, optional
        By default that of the cache; made when something is put in.
    """

    def __init__(self, folder=None):
        from seqkern.core.cache import cache_dir

        self.folder = cache_dir() / "profiles" if folder is None else Path(folder)
        self.writable = True

    def get(self, key, length):
        """Return (probabilities, number of relatives) of a sequence of `length` letters, or None."""
        known = MEMORY.get(key)
        if known is not None:
            return known
        try:
            header, arrays = load_archive(self._path(key))
        except FileError:
            return None
        profile = arrays.get("profile")
        if not isinstance(header, dict) or profile is None or profile.shape != (length, 20):
            return None
        found = profile, int(header.get("relatives", 0))
        MEMORY.put(key, found)
        return found

    def put(self, key, found):
        """Keep (probabilities, number of relatives); a folder that cannot be written to is left alone."""
        MEMORY.put(key, found)
        if self.writable:
            try:
                save_archive(self._path(key), {"relatives": found[1]}, {"profile": found[0]})
            except FileError:
                self.writable = False

    def _path(self, key):
        return self.folder / key[:2] / f"{key}.npz"
