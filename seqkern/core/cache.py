"""The user's cache folder."""

import os
from pathlib import Path


def cache_dir() -> Path:
    """Return the folder for downloads: ``seqkern`` in XDG_CACHE_HOME, by default in ``~/.cache``."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "seqkern"
