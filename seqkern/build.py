"""The digest of this build: new code, new digest, so that a workflow reruns what older code made."""

import hashlib
from functools import cache
from pathlib import Path

from . import __version__
from .resource_files import CHECKOUT, resource_files

CODE = {".py", ".pyi", ".so", ".pyd", ".css", ".html", ".js"}


@cache
def build_digest():
    """Return 12 hexadecimal digits over every module (source and compiled) and resource file of the package."""
    root = Path(__file__).parent
    files = {path.relative_to(root).as_posix(): path for path in root.rglob("*") if path.suffix in CODE}
    # under one name wherever they lie: installed in the package, in a checkout beside it
    files |= {f"{folder}/{path.name}": path for folder in CHECKOUT for path in resource_files(folder)}
    digest = hashlib.blake2b(__version__.encode(), digest_size=6)
    for name in sorted(files):
        content = files[name].read_bytes()
        digest.update(f"{name} {len(content)} ".encode())
        digest.update(content)
    return digest.hexdigest()
