"""``seqkern solvers``: list solvers, selectors, the scaler and layers with their parameters, or show one in full."""

from __future__ import annotations

import argparse
from typing import Any

from seqkern.cli.listing import entry, in_full

EXAMPLE = "seqkern solvers psvc"
MORE_EXAMPLES = ("seqkern solvers golub",)
SCALER = "scaler"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.add_argument(
        "name",
        nargs="?",
        help=f"show this solver, feature selector, layer or the {SCALER} in full (default: list all)",
    )


def run(args: argparse.Namespace) -> None:
    """Print the list, or one solver, selector, layer or the scaler in full."""
    # imported here to keep --help fast
    from seqkern.core.errors import unknown_name
    from seqkern.solvers.layers.chain import LAYERS
    from seqkern.solvers.selection.selectors.scaling import ExpressionScaler
    from seqkern.solvers.selection.selectors.selector_specs import SELECTORS
    from seqkern.solvers.solver_specs import SOLVERS

    known = {**SOLVERS.classes, **SELECTORS.classes, SCALER: ExpressionScaler, **LAYERS.classes}
    if args.name:
        if args.name not in known:
            raise unknown_name("solver", args.name, known)
        print(in_full(known[args.name], args.name))
        if args.name in SOLVERS.classes:
            print(f"\n{_taken(known[args.name])}; {_targets(known[args.name])}")
        return
    print("Solvers. In a configuration: {solver: csvc, C: [0.1, 1]}; a list is a grid. On the command line: csvc:C=1.")
    print("A parameter that is itself a solver takes a name, binary=csvc, or a specification in parentheses,")
    print("binary=(csvc:C=1). seqkern solvers NAME shows one in full.\n")
    for cls in SOLVERS.classes.values():
        grid = ", ".join(f"{name} in {values}" for name, values in cls.default_grid().items())
        print(entry(cls, f"{_taken(cls)}; {_targets(cls)}", *([f"searched by default: {grid}"] if grid else [])))
    print("Feature selectors, for the solver selected. Configuration: selector: {selector: golub}; command line:")
    print("selected:selector=golub,predictor=csvc or selector=(psvm:ranking=leave_one_out).\n")
    for cls in SELECTORS.classes.values():
        print(entry(cls, _targets(cls)))
    print("The scaler of the solver selected. Configuration: scaler: {normalize: log, floor: 20}; command line:")
    print("scaler=quantile, or the whole solver as JSON.\n")
    print(entry(ExpressionScaler, name=SCALER))
    print(
        "Layers after a solver, most for residues of chains. Configuration of the solver: layers: [{layer: structure,"
    )
    print("window: 15}, …]; command line: --layers structure:window=15 segments.\n")
    for cls in LAYERS.classes.values():
        print(entry(cls))


def _taken(cls: Any) -> str:
    """Return one line on the kernel input that a solver accepts."""
    # imported here to keep --help fast
    from seqkern.solvers.solver_specs import TAKES

    if isinstance(cls.input, str):
        return f"input: {TAKES[cls.input]}"
    return "input: as for its base solver" if cls.nested_solvers() else f"input: {TAKES['gram']} or {TAKES['features']}"


def _targets(cls: Any) -> str:
    """Return one line on the labels that a class learns from."""
    kinds = {"none": "none (unsupervised)", "real": "real (regression)"}
    return "labels: " + ", ".join(kinds.get(kind, kind) for kind in cls.targets)
