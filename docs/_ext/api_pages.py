"""The Python API: the public names of each package, from its stub `__init__.pyi`."""

import importlib
import re
from pathlib import Path

import rst

import seqkern
from seqkern.kernels import KERNELS
from seqkern.solvers import SOLVERS
from seqkern.solvers.layers import LAYERS

PACKAGES = {
    "seqkern": "Reading sequences",
    "seqkern.kernels": "Kernels: making them from text, and as steps of pipelines",
    "seqkern.gram": "Gram matrices, in memory and on disk",
    "seqkern.gram.transforms": "Transforms of a Gram matrix, fitted on training data",
    "seqkern.solvers": "Solvers: making them from text; selectors of features",
    "seqkern.solvers.layers": "Layers after a solver, for residues of a chain",
    "seqkern.evaluation": "Splits into training and test sets; scores, intervals and tests",
    "seqkern.study": "Data sets of a study, and its configuration as typed objects",
    "seqkern.methods": "Methods, models and explanations of decisions",
}
# public functions of packages without a stub
MODULES = {
    "seqkern.simulate": ("Simulated data", ["simulate", "write_simulated"]),
    "seqkern.core": ("Tables", ["tsv.read_tsv"]),
}


def pages() -> dict[str, str]:
    """Return the page by file name."""
    have_pages = {*KERNELS.class_names(), *SOLVERS.class_names(), *LAYERS.class_names()}
    text = (
        rst.title("Python API")
        + "\nEach public class and function, with its parameters and an example that the test suite runs. Classes of "
        "kernels are under :doc:`kernels`, those of solvers under :doc:`solver-pages`.\n"
    )
    for package, about in PACKAGES.items():
        names = [name for name in public(package) if name not in have_pages and documented(package, name)]
        text += section(package, about, [f"{package}.{name}" for name in names])
    for package, (about, names) in MODULES.items():
        text += section(package, about, [f"{package}.{name}" for name in names])
    return {"api.rst": text}


def section(package: str, about: str, names: list[str]) -> str:
    """Return a heading with the table of a package."""
    entries = "".join(f"   {name}\n" for name in names)
    return f"\n{rst.title(f'``{package}``', '-')}\n{about}.\n\n.. autosummary::\n   :toctree: api\n\n{entries}"


def public(package: str) -> list[str]:
    """Return the names that a stub exports."""
    folder = Path(seqkern.__file__).parent.joinpath(*package.split(".")[1:])
    return re.findall(r"^from \.\S+ import \w+ as (\w+)$", (folder / "__init__.pyi").read_text("utf-8"), re.MULTILINE)


def documented(package: str, name: str) -> bool:
    """Return whether a name is a class or a function: tables of classes are documented by their entries."""
    return callable(getattr(importlib.import_module(package), name))
