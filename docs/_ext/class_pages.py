"""One page for each kernel and solver: from their tables and docstrings, and docs/reference/kernels.yaml."""

import inspect
import re
import textwrap
from pathlib import Path
from typing import Any

import pictures
import rst
import yaml

from seqkern.cli.listing import summary, traits
from seqkern.kernels import KERNELS
from seqkern.solvers import SOLVERS
from seqkern.solvers.layers import LAYERS

NOTES = Path(__file__).resolve().parent.parent / "reference" / "kernels.yaml"


def pages(folder: Path) -> dict[str, str]:
    """Return the pages by file name; pictures are drawn into `folder`."""
    notes = yaml.safe_load(NOTES.read_text(encoding="utf-8"))
    found = {}
    for name, cls in KERNELS.classes.items():
        found[f"kernel-{name}.rst"] = kernel_page(name, cls, notes.get(name, {}), folder)
    for name, cls in SOLVERS.classes.items():
        found[f"solver-{name}.rst"] = class_page(name, cls, "seqkern.solvers")
    for name, cls in LAYERS.classes.items():
        found[f"layer-{name}.rst"] = class_page(name, cls, "seqkern.solvers.layers")
    found["kernels.rst"] = index(
        "Kernels",
        "Each kernel with its formula, its complexity, its paper and its Gram matrix on a few simulated sequences. "
        ":doc:`../../howto/choose_kernel` helps to choose one.",
        "kernel",
        KERNELS.classes,
    )
    text = "Each solver in full. :doc:`../../solvers` says what each minimises, and when to use it."
    solvers = index("Solvers", text, "solver", SOLVERS.classes)
    layers = index("Layers", "Layers follow a solver, for residues of a chain.", "layer", LAYERS.classes)
    found["solver-pages.rst"] = solvers + "\n" + layers.replace("====", "----")
    return found


def index(title: str, text: str, kind: str, classes: dict[str, Any]) -> str:
    """Return a page that lists classes with the first sentence about each."""
    rows = [
        (f":doc:`{name} <{kind}-{name}>`", rst.escape(getattr(cls, "summary", "") or summary(cls)))
        for name, cls in classes.items()
    ]
    names = [f"{kind}-{name}" for name in classes]
    return f"{rst.title(title)}\n{text}\n\n{rst.table(('name', 'what it is'), rows, '25 75')}\n{rst.toctree(names)}"


def class_page(name: str, cls: Any, module: str) -> str:
    """Return the page of a class: its docstring."""
    return f"{rst.title(name)}\n.. autoclass:: {module}.{cls.__name__}\n"


def kernel_page(name: str, cls: Any, note: dict[str, Any], folder: Path) -> str:
    """Return the page of a kernel."""
    parts = [rst.title(name), rst.escape(getattr(cls, "summary", "")), ""]
    documentation = inspect.getdoc(cls) or ""
    formula = note.get("formula") or first_formula(documentation)
    if formula:
        parts.append(f".. math::\n\n{textwrap.indent(formula.strip(), '   ')}\n")
    rows = [("Properties", rst.escape(traits(cls)))]
    rows.append(("On the command line", f"``seqkern kernels {name}``"))
    parts += ["".join(f":{key}: {value}\n" for key, value in rows)]
    drawn = pictures.draw(name, note, folder)
    if drawn:
        file, caption = drawn
        parts.append(f".. figure:: {file}\n   :width: 20em\n   :alt: Gram matrix of {name}\n\n   {caption}\n")
    return "\n".join(parts) + f"\n.. autoclass:: seqkern.kernels.{cls.__name__}\n"


def first_formula(documentation: str) -> str:
    """Return the first displayed formula of a docstring, or nothing."""
    found = re.search(r"^( *)\.\. math::(.*\n(?:\1 .*\n|\n)*)", documentation + "\n", re.MULTILINE)
    return re.sub(r"\s*\n\s*", " ", found[2].strip()) if found and found[2].split() else ""
