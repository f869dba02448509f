"""What is in a folder."""

import re
from pathlib import Path

Tree = dict[str, bytes]


def tree(folder: Path) -> Tree:
    """Return the bytes of all files in a folder; random parts of names are left out."""
    found = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return {_plain_name(path.relative_to(folder)): path.read_bytes() for path in found}


def _plain_name(path: Path) -> str:
    return re.sub(r"[0-9a-f]{32}|(?<=\.)[a-z0-9_]{8}(?=\.tmp)", "*", str(path))


def state_of(folder: Path) -> int:
    """Return a number that changes with what is in a folder, empty folders included."""
    folders = [_plain_name(path.relative_to(folder)) for path in folder.rglob("*") if path.is_dir()]
    return hash((*sorted(folders), *tree(folder).items()))
