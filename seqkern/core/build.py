"""The digest of this build: it changes with the code, so that a workflow recomputes the results of older code."""

import hashlib
from functools import cache

from seqkern import __version__
from seqkern.core.resource_files import CHECKOUT, PACKAGE, resource_files

CODE = {".py", ".pyi", ".so", ".pyd", ".css", ".html", ".js"}


@cache
def build_digest() -> str:
    """Return 12 hexadecimal digits over every module (source and compiled) and resource file of the package."""
    files = {path.relative_to(PACKAGE).as_posix(): path for path in PACKAGE.rglob("*") if path.suffix in CODE}
    # under one name in an installation and in a checkout
    files |= {f"{folder}/{path.name}": path for folder in CHECKOUT for path in resource_files(folder)}
    digest = hashlib.blake2b(__version__.encode(), digest_size=6)
    for name in sorted(files):
        content = files[name].read_bytes()
        digest.update(f"{name} {len(content)} ".encode())
        digest.update(content)
    return digest.hexdigest()
