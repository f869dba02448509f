"""``seqkern kernels``: list the kernels and Gram transforms with their parameters, or one of them in full."""

from __future__ import annotations

import argparse
import inspect
from typing import TYPE_CHECKING, Any

from seqkern.cli.listing import entry, in_full

if TYPE_CHECKING:
    from seqkern.kernels.kernel import Kernel

EXAMPLE = "seqkern kernels spectrum"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments.

    Parameters
    ----------
    parser : ArgumentParser
        That of the verb alone.
    """
    parser.add_argument("name", nargs="?", help="show this kernel or transform in full (default: list all)")


def run(args: argparse.Namespace) -> None:
    """Print the list, or one kernel in full.

    Parameters
    ----------
    args : Namespace
        What `add_arguments` declares, with the values given.
    """
    # loaded when the verb runs: its help needs none of it
    from seqkern.gram.transforms import TRANSFORMS
    from seqkern.kernels import KERNELS

    if args.name in TRANSFORMS.names:
        print(in_full(TRANSFORMS.get(args.name)))
    elif args.name:
        cls = KERNELS.get(args.name)
        print(f"{in_full(cls)}\n\n{traits(cls)}")
    else:
        print("Kernels. In a config {kernel: spectrum, k: 3}, on the command line spectrum:k=3; sums with +.\n")
        for cls in KERNELS.classes.values():
            print(entry(cls, traits(cls)))
        print("Gram transforms, fitted on the training part: transforms: [centre] in a kernel's config entry. Those")
        print("against negative eigenvalues also by the key repair: clip, flip, shift or empirical_map.\n")
        for cls in TRANSFORMS.classes.values():
            print(entry(cls))


def traits(cls: type[Kernel]) -> str:
    """Return as one line what a kernel takes, whether it is positive semi-definite, whether it learns.

    Parameters
    ----------
    cls : type of Kernel
        None of its instances is asked.

    Returns
    -------
    str

    Examples
    --------
    >>> from seqkern.kernels import SpectrumKernel
    >>> traits(SpectrumKernel)
    'takes sequences; positive semi-definite'
    """
    takes = _of_class(cls, "accepts") or "what the kernels inside it take"
    definite = {
        True: "positive semi-definite",
        False: "not positive semi-definite",
        None: "positive semi-definite if its parameters, or the kernels inside it, make it so",
    }
    learns = {
        True: ["learns from the training part"],
        False: [],
        None: ["learns from the training part if a kernel inside it, or a parameter, does"],
    }
    words = [definite[_of_class(cls, "positive_semidefinite")], *learns[_of_class(cls, "data_dependent")]]
    return "; ".join([f"takes {takes}", *words])


def _of_class(cls: type, name: str) -> Any:
    """Return a class attribute, or None where it is a property: known of an instance only."""
    value = inspect.getattr_static(cls, name)
    return None if isinstance(value, property) else value
