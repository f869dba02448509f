"""The digest of this build: it changes with the code, so that a workflow recomputes the results of older code.

Compiled modules count by their bytes: another compiler, or other flags, may round differently. ``setup.py`` builds the
same bytes in any folder, so that installations and checkouts of one commit, built by the same tools, agree.
"""

import hashlib
from functools import cache

from seqkern import __version__
from seqkern.core.resource_files import CHECKOUT, PACKAGE, resource_files

CODE = {".py", ".pyi", ".so", ".pyd", ".css", ".html", ".js"}


@cache
def build_digest() -> str:
    """Return 12 hexadecimal digits over every module (source and compiled) and resource file of the package."""
    places = {path.relative_to(PACKAGE): path for path in PACKAGE.rglob("*") if path.suffix in CODE}
    # resource files have other places in a checkout, but the same names here
    files = {place.as_posix(): path for place, path in places.items() if place.parts[0] not in CHECKOUT}
    files |= {f"{folder}/{path.name}": path for folder in CHECKOUT for path in resource_files(folder)}
    digest = hashlib.blake2b(__version__.encode(), digest_size=6)
    for name in sorted(files):
        content = files[name].read_bytes()
        digest.update(f"{name} {len(content)} ".encode())
        digest.update(content)
    return digest.hexdigest()
