"""Profiles that were built before: in memory, and on disk under the digest of all that they depend on.

The folder is ``profiles`` in the cache of seqkern (``seqkern`` in XDG_CACHE_HOME, by default in ``~/.cache``). It may
be deleted at any time; what is missing or damaged is built again.
"""

from collections import OrderedDict
from pathlib import Path
from threading import Lock

from ..archive import load_archive, save_archive
from ..errors import FileError

MOST_BYTES = 1 << 26
MEMORY, LOCK = OrderedDict(), Lock()


class ProfileCache:
    """Probabilities of profiles, float32 (letters, 20), and numbers of relatives, by key.

    Parameters
    ----------
    folder : path-like, optional
        By default that of the cache; made when something is put in.
    """

    def __init__(self, folder=None):
        from ..datasets.public import cache_dir

        self.folder = cache_dir() / "profiles" if folder is None else Path(folder)
        self.writable = True

    def get(self, key, length):
        """Return (probabilities, number of relatives) of a sequence of `length` letters, or None."""
        with LOCK:
            if key in MEMORY:
                MEMORY.move_to_end(key)
                return MEMORY[key]
        try:
            header, arrays = load_archive(self._path(key))
        except FileError:
            return None
        profile = arrays.get("profile")
        if not isinstance(header, dict) or profile is None or profile.shape != (length, 20):
            return None
        found = profile, int(header.get("relatives", 0))
        _remember(key, found)
        return found

    def put(self, key, found):
        """Keep (probabilities, number of relatives); a folder that cannot be written to is left alone."""
        _remember(key, found)
        if self.writable:
            try:
                save_archive(self._path(key), {"relatives": found[1]}, {"profile": found[0]})
            except FileError:
                self.writable = False

    def _path(self, key):
        return self.folder / key[:2] / f"{key}.npz"


def _remember(key, found):
    """Keep something in memory, and forget what was not used for longest."""
    with LOCK:
        MEMORY[key] = found
        while sum(profile.nbytes for profile, _ in MEMORY.values()) > MOST_BYTES:
            MEMORY.popitem(last=False)
