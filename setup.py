"""Find the compiled modules: every ``seqkern/**/_*.pyx`` is one extension, and nothing else needs to be told.

C headers (``_*.h``) beside a module, or in the folder above, may be included by it. Cython's memoryview code, which
would be 25,000 lines in each module, is compiled once (``seqkern._cyutility``). ``SEQKERN_DEBUG=1`` builds with
bounds checks and warnings, ``SEQKERN_TRACE=seqkern/solvers`` the modules of that folder so that `coverage` sees their
lines. With ``CYTHON_CACHE_DIR``, what Cython makes of the same source is taken from that folder.

The same sources, compiler and flags give the same bytes in any folder: results are kept by a digest of these files
(`seqkern.core.package_files`), and a reinstallation must not make a study run again.
"""

import multiprocessing
import os
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

DEBUG = os.environ.get("SEQKERN_DEBUG") == "1"
TRACE = os.environ.get("SEQKERN_TRACE")
# One rounding for each operation, so that the numbers do not depend on the vector width; roots without errno.
FLOATS = ["-ffp-contract=off", "-fno-math-errno"]
SHARED = "seqkern._cyutility"


def extensions():
    """Return one Extension for each compiled twin, and one for the code of Cython that they share."""
    flags = [*FLOATS, *(["-O1", "-g", "-Wall", "-Wextra"] if DEBUG else ["-O3", "-g0"])]
    for source in sorted(Path("seqkern").rglob("_*.pyx")):
        folders = [folder for folder in source.parents if "seqkern" in folder.parts]
        headers = sorted(path for folder in folders for path in folder.glob("_*") if path.suffix in (".h", ".pxd"))
        yield Extension(
            ".".join(source.with_suffix("").parts),
            [str(source)],
            depends=[str(header) for header in headers],
            include_dirs=[str(folder) for folder in folders],
            extra_compile_args=flags,
            define_macros=[("CYTHON_TRACE_NOGIL", "1")] if TRACE and Path(TRACE) in source.parents else [],
        )
    # no kernel's loop runs in it
    yield Extension(SHARED, [f"{SHARED.replace('.', '/')}.c"], extra_compile_args=["-O1", "-g0"])


class BuildExtensions(build_ext):
    """Leave the folder of Python's own libraries, which no module here needs, out of the modules."""

    def build_extensions(self):
        """Compile and link all modules."""
        linker = getattr(self.compiler, "linker_so", None)
        if linker:
            self.compiler.linker_so = [word for word in linker if not word.startswith(("-Wl,-rpath,", "-Wl,-rpath="))]
        super().build_extensions()


setup(
    cmdclass={"build_ext": BuildExtensions},
    ext_modules=cythonize(
        list(extensions()),
        cache="CYTHON_CACHE_DIR" in os.environ,
        # other ways to start a process import this file again
        nthreads=os.cpu_count() if multiprocessing.get_start_method() == "fork" else 0,
        compiler_directives={
            "language_level": 3,
            "boundscheck": DEBUG,
            "wraparound": False,
            "initializedcheck": DEBUG,
            "cdivision": True,
            "freethreading_compatible": True,
            "linetrace": bool(TRACE),
        },
        shared_utility_qualified_name=SHARED,
    ),
    options={"build_ext": {"parallel": os.cpu_count()}},
)
