"""``seqkern solvers``: list solvers, selectors, the scaler and layers with their parameters, or one of them in full."""

from __future__ import annotations

import argparse
from typing import Any

from seqkern.cli.listing import entry, in_full

EXAMPLE = "seqkern solvers psvc"
MORE_EXAMPLES = ("seqkern solvers golub",)
SCALER = "scaler"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments.

    Parameters
    ----------
    parser : ArgumentParser
        That of the verb alone.
    """
    parser.add_argument(
        "name",
        nargs="?",
        help=f"show this solver, selector of features, layer or the {SCALER} in full (default: list all)",
    )


def run(args: argparse.Namespace) -> None:
    """Print the list, or one solver, selector, layer or the scaler in full.

    Parameters
    ----------
    args : Namespace
        What `add_arguments` declares, with the values given.
    """
    # loaded when the verb runs: its help needs none of it
    from seqkern.core.errors import unknown_name
    from seqkern.layers import LAYERS
    from seqkern.solvers import SOLVERS
    from seqkern.solvers.selection.selectors import SELECTORS, ExpressionScaler

    known = {**SOLVERS.classes, **SELECTORS.classes, SCALER: ExpressionScaler, **LAYERS.classes}
    if args.name:
        if args.name not in known:
            raise unknown_name("solver", args.name, known)
        print(in_full(known[args.name], args.name))
        if args.name in SOLVERS.classes:
            print(f"\n{_taken(known[args.name])}; {_targets(known[args.name])}")
        return
    print("Solvers. In a config {solver: csvc, C: [0.1, 1]}, on the command line csvc:C=1; a list is a grid. A")
    print("parameter that holds a solver takes its name, binary=csvc, or its text in parentheses, binary=(csvc:C=1).\n")
    for cls in SOLVERS.classes.values():
        grid = ", ".join(f"{name} in {values}" for name, values in cls.default_grid().items())
        print(entry(cls, f"{_taken(cls)}; {_targets(cls)}", *([f"searched by default: {grid}"] if grid else [])))
    print(
        "Selectors of features, for the solver selected. In a config selector: {selector: golub}, on the command line"
    )
    print("selected:selector=golub,predictor=csvc or selector=(psvm:ranking=leave_one_out).\n")
    for cls in SELECTORS.classes.values():
        print(entry(cls, _targets(cls)))
    print("The scaler of the solver selected. In a config scaler: {normalize: log, floor: 20}, on the command line")
    print("scaler=quantile, or all of the solver as JSON.\n")
    print(entry(ExpressionScaler, name=SCALER))
    print("Layers after a solver, most for residues of chains. In a config layers: [{layer: structure, window: 15}, …]")
    print("of the solver's entry, on the command line --layers structure:window=15 segments.\n")
    for cls in LAYERS.classes.values():
        print(entry(cls))


def _taken(cls: Any) -> str:
    """Return as one line what a solver takes of a kernel."""
    # loaded when the verb runs: its help needs none of it
    from seqkern.solvers.solver_specs import TAKES

    if isinstance(cls.input, str):
        return f"takes {TAKES[cls.input]}"
    return (
        "takes what the solver inside it takes"
        if cls.nested_solvers()
        else f"takes {TAKES['gram']} or {TAKES['features']}"
    )


def _targets(cls: Any) -> str:
    """Return as one line which labels a class learns."""
    return "learns " + ", ".join(cls.targets) + " labels"
