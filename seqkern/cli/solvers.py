"""``seqkern solvers``: list the solvers with their parameters, or one of them in full."""

from .listing import entry, in_full

EXAMPLE = "seqkern solvers psvc"


def add_arguments(parser):
    """Add the verb's arguments."""
    parser.add_argument("name", nargs="?", help="show this solver in full (default: list all)")


def run(args):
    """Print the list, or one solver in full."""
    from ..solvers import SOLVERS

    if args.name:
        print(in_full(SOLVERS.get(args.name)))
        return
    print("Solvers. In a config {solver: csvc, C: [0.1, 1]}, on the command line csvc:C=1; a list is a grid.\n")
    for cls in SOLVERS.classes.values():
        targets = "learns " + ", ".join(cls.targets) + " labels"
        grid = ", ".join(f"{name} in {values}" for name, values in cls.default_grid().items())
        print(entry(cls, targets, *([f"searched by default: {grid}"] if grid else [])))
