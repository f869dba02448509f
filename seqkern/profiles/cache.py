"""Cached profiles: in memory, and on disk under the digest of everything they depend on.

The folder is ``profiles`` in the cache of seqkern (``seqkern`` in XDG_CACHE_HOME, by default in ``~/.cache``). It may
be deleted at any time; missing or corrupted profiles are built again.
"""

from collections import OrderedDict
from pathlib import Path
from threading import Lock

import numpy as np
import numpy.typing as npt

from seqkern.core.archive import load_archive, save_archive
from seqkern.core.cache import cache_dir
from seqkern.core.errors import FileError
from seqkern.core.types import PathLike

MOST_BYTES = 1 << 26

Found = tuple[npt.NDArray[np.float32], int]
"""Probabilities, float32 (residues, 20), and the number of homologs behind them."""


class Memory:
    """The most recently used profiles, up to `MOST_BYTES` bytes.

    Examples
    --------
    >>> memory = Memory()
    >>> memory.put("1abc", (np.full((5, 20), 0.05, dtype=np.float32), 12))
    >>> memory.get("1abc")[1], memory.get("2xyz")
    (12, None)
    """

    def __init__(self) -> None:
        self._found: OrderedDict[str, Found] = OrderedDict()
        self._bytes, self._lock = 0, Lock()

    def get(self, key: str) -> Found | None:
        """Return the profile under a key.

        Parameters
        ----------
        key : str
            The key of a profile.

        Returns
        -------
        tuple of ndarray and int, or None
            Probabilities and the number of homologs; None if the key is unknown.
        """
        with self._lock:
            if key in self._found:
                self._found.move_to_end(key)
            return self._found.get(key)

    def put(self, key: str, found: Found) -> None:
        """Store a profile, and drop the least recently used ones.

        Parameters
        ----------
        key : str
            The key of the profile.
        found : tuple of ndarray and int
            Probabilities, float32 (residues, 20), and the number of homologs.
        """
        with self._lock:
            if key not in self._found:
                self._found[key] = found
                self._bytes += found[0].nbytes
            while self._bytes > MOST_BYTES:
                self._bytes -= self._found.popitem(last=False)[1][0].nbytes

    def clear(self) -> None:
        """Remove all profiles."""
        with self._lock:
            self._found.clear()
            self._bytes = 0


MEMORY = Memory()


class ProfileCache:
    """Profiles on disk: probabilities, float32 (residues, 20), and numbers of homologs, by key.

    Parameters
    ----------
    folder : path-like, optional
        Default: ``profiles`` in the cache of seqkern; created when needed.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from seqkern.profiles.cache import ProfileCache
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     cache = ProfileCache(folder)
    ...     cache.put("ab12", (np.full((7, 20), 0.05, dtype=np.float32), 3))
    ...     probabilities, relatives = cache.get("ab12", length=7)
    >>> probabilities.shape, relatives
    ((7, 20), 3)
    """

    def __init__(self, folder: PathLike | None = None) -> None:
        self.folder = cache_dir() / "profiles" if folder is None else Path(folder)
        self.writable = True

    def get(self, key: str, length: int) -> Found | None:
        """Return the profile of a sequence.

        Parameters
        ----------
        key : str
            The key of the profile.
        length : int
            Residues of the sequence.

        Returns
        -------
        tuple of ndarray and int, or None
            Probabilities, float32 (length, 20), and the number of homologs; None if there is no usable
            profile.
        """
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

    def put(self, key: str, found: Found) -> None:
        """Store a profile; do nothing if the folder is not writable.

        Parameters
        ----------
        key : str
            The key of the profile.
        found : tuple of ndarray and int
            Probabilities, float32 (residues, 20), and the number of homologs.
        """
        MEMORY.put(key, found)
        if self.writable:
            try:
                save_archive(self._path(key), {"relatives": found[1]}, {"profile": found[0]})
            except FileError:
                self.writable = False

    def _path(self, key: str) -> Path:
        return self.folder / key[:2] / f"{key}.npz"
