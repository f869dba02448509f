"""One page for each kernel and solver: from their tables and docstrings, and docs/reference/kernels.yaml."""

import functools
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
from seqkern.solvers.contract import Solver
from seqkern.solvers.layers import LAYERS

DOCS = Path(__file__).resolve().parent.parent
NOTES = DOCS / "reference" / "kernels.yaml"

CALLS = {
    "kernel": "__call__, fit, fit_transform, transform, diagonal, plan, spec, get_params, set_params, state",
    "solver": "fit, predict, decision_function, score, spec, get_params, set_params, state",
    "layer": "fit, predict, spec, get_params, set_params",
}
"""What users call of each class, most of it inherited."""
GIVEN_BY_SOME = {name: name for name in ("probabilities", "leave_one_out", "exemplars")} | {"variances": "_variances"}
"""Methods of solvers that return None, unless a class overrides what the dict names."""


def pages(folder: Path) -> dict[str, str]:
    """Return the pages by file name; pictures are drawn into `folder`."""
    notes = yaml.safe_load(NOTES.read_text(encoding="utf-8"))
    found = {}
    for name, cls in KERNELS.classes.items():
        found[f"kernel-{name}.rst"] = kernel_page(name, cls, notes.get(name, {}), folder)
    for name, cls in SOLVERS.classes.items():
        found[f"solver-{name}.rst"] = class_page(name, cls, "seqkern.solvers", "solver")
    for name, cls in LAYERS.classes.items():
        found[f"layer-{name}.rst"] = class_page(name, cls, "seqkern.solvers.layers", "layer")
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


def class_page(name: str, cls: Any, module: str, kind: str) -> str:
    """Return the page of a solver or layer: when to use it, and its docstring."""
    use = uses().get(name, "")
    rows = properties(f"{use[:1].upper()}{use[1:]}." if use else "", name, kind)
    command = f":On the command line: ``seqkern solvers {name}``\n"
    return f"{rst.title(name)}\n{rows}{command}\n{autoclass(module, cls, kind)}"


def autoclass(module: str, cls: Any, kind: str) -> str:
    """Return the directive for a class with the methods that users call, inherited ones too."""
    calls = [call for call in CALLS[kind].split(", ") if hasattr(cls, call)]
    if kind == "solver":
        calls += [call for call, own in GIVEN_BY_SOME.items() if getattr(cls, own) is not getattr(Solver, own)]
    methods = "".join(f"   .. automethod:: {call}\n" for call in calls)
    return f".. autoclass:: {module}.{cls.__name__}\n\n   .. rubric:: Methods\n\n{methods}"


def properties(use: str, name: str, kind: str) -> str:
    """Return when to use a class, and links to the classes that this names."""
    pages = {"kernel": KERNELS.classes, "solver": SOLVERS.classes, "layer": LAYERS.classes}
    named = [word for word in dict.fromkeys(re.findall(r"`(\w+)`", use)) if word != name and word in pages[kind]]
    links = ", ".join(f":doc:`{word} <{kind}-{word}>`" for word in named)
    literal = re.sub(r"`([^`]+)`", r"``\1``", use)
    return (f":When to use: {literal}\n" if use else "") + (f":See also: {links}\n" if links else "")


@functools.cache
def uses() -> dict[str, str]:
    """Return when to use each solver and layer, the last column of the tables in docs/solvers.md."""
    tables = (DOCS / "solvers.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \|.*\| ([^|]+) \|$", tables, re.MULTILINE)
    links = re.compile(r" \(\[[^]]*\]\([^)]*\)\)|\[([^]]*)\]\([^)]*\)")
    return {name: links.sub(r"\1", text) for name, text in rows}


def kernel_page(name: str, cls: Any, note: dict[str, Any], folder: Path) -> str:
    """Return the page of a kernel."""
    parts = [rst.title(name), rst.escape(getattr(cls, "summary", "")), ""]
    documentation = inspect.getdoc(cls) or ""
    formula = note.get("formula") or first_formula(documentation)
    if formula:
        parts.append(f".. math::\n\n{textwrap.indent(formula.strip(), '   ')}\n")
    rows = [("Properties", rst.escape(traits(cls)))]
    rows.append(("On the command line", f"``seqkern kernels {name}``"))
    parts += [properties(note.get("use", ""), name, "kernel") + "".join(f":{key}: {value}\n" for key, value in rows)]
    drawn = pictures.draw(name, note, folder)
    if drawn:
        file, caption = drawn
        parts.append(f".. figure:: {file}\n   :width: 20em\n   :alt: Gram matrix of {name}\n\n   {caption}\n")
    return "\n".join(parts) + f"\n{autoclass('seqkern.kernels', cls, 'kernel')}"


def first_formula(documentation: str) -> str:
    """Return the first displayed formula of a docstring, or nothing."""
    found = re.search(r"^( *)\.\. math::(.*\n(?:\1 .*\n|\n)*)", documentation + "\n", re.MULTILINE)
    return re.sub(r"\s*\n\s*", " ", found[2].strip()) if found and found[2].split() else ""
