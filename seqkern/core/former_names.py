"""Public packages by their names of 0.2.0, for one release: ``from seqkern.folds import …`` warns, and works."""

import functools
import importlib
import importlib.util
import sys
import warnings
from typing import Any

FORMER = {
    "audit": "report",
    "datasets": "study",
    "explain": "methods",
    "folds": "evaluation",
    "layers": "solvers.layers",
    "models": "methods",
    "motifs": "genomics",
    "residues": "formats",
    "similarity": "sequences",
}


class FormerNames:
    """A finder of the packages in `FORMER`, and the loader of one."""

    def __init__(self, package: str = "") -> None:
        self.package = package

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """Return the spec of a package with a former name; None for others."""
        new = FORMER.get(name.removeprefix("seqkern.")) if name.startswith("seqkern.") else None
        if new is None:
            return None
        warnings.warn(f"{name} is now seqkern.{new}; the former name goes in 0.4", DeprecationWarning, stacklevel=2)
        return importlib.util.spec_from_loader(name, FormerNames(f"seqkern.{new}"))  # type: ignore[arg-type]

    def create_module(self, spec: Any) -> None:
        """Leave the new module to Python."""

    def exec_module(self, module: Any) -> None:
        """Let the module take its names from the new package."""
        found = importlib.import_module(self.package)
        module.__getattr__, module.__all__ = functools.partial(getattr, found), getattr(found, "__all__", [])


def install() -> None:
    """Find former names where no module is found."""
    sys.meta_path.append(FormerNames())
